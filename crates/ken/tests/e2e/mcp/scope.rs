//! What is outside of the scope does not exist.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::Client;
use crate::mail::message;
use crate::samples::fixture;
use crate::world::World;

/// A word that only documents outside have.
const SECRET: &str = "zanzibarium";

/// Returns a home with a secret at each place that is not visible from `docs/in`.
fn world() -> World {
    let world = World::new();
    let secret = format!("{SECRET} the plan. Author {SECRET}\n");
    world.write("in/open.txt", "an open text");
    world.write("in/not/hidden-name.txt", &secret);
    world.write("in-other/beside-name.txt", &secret);
    world.write("out/outer-name.txt", &secret);
    world.write("out/copy-a.txt", "a copy of the same text");
    world.write("in/copy-b.txt", "a copy of the same text");
    symlink("../out", world.docs().join("in/link")).unwrap();
    symlink("../out/outer-name.txt", world.docs().join("in/file-link")).unwrap();
    world.write(
        "in/mail/cur/1:2,S",
        message(1, &[], &format!("Subject: {SECRET} mail-name\n"), SECRET),
    );
    world.write("in/mail/new/.keep", "");
    world.write(
        "in/single.eml",
        message(2, &[1], &format!("Subject: {SECRET}\n"), SECRET),
    );
    world.write(
        "in/box",
        format!(
            "From x Mon Mar  3 10:00:00 2025\n{}",
            message(3, &[1], "", SECRET)
        ),
    );
    world.write("in/attachments.eml", fixture("mail/attachments.eml"));
    world.index_docs();
    // Some files come later: live tools see them without the index.
    world.write("in/not/later-name.txt", &secret);
    world.write(
        "in/later.eml",
        message(4, &[], &format!("Subject: {SECRET}\n"), SECRET),
    );
    world.write("in/mail/cur/5:2,S", message(5, &[], "", SECRET));
    world
}

/// Returns calls of all kinds about a word.
fn calls(word: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![("status", json!({}))];
    let queries = [
        word.to_owned(),
        format!("{}*", &word[..5]),
        format!("{word}x"),
        format!("\"{word} the\""),
        format!("thread:({word})"),
        format!("thread:(msgid:1@x.org) OR {word}"),
        format!("filename:*name* OR {word}"),
        "is:duplicate OR has:attachment OR type:message".to_owned(),
        "*".to_owned(),
        format!("NOT {word}"),
        format!("open {word}"),
    ];
    for query in queries {
        calls.push(("search", json!({ "query": query, "limit": 100 })));
        for what in ["folders", "types", "authors", "years", "threads"] {
            calls.push(("list", json!({ "what": what, "query": query })));
        }
    }
    calls.push((
        "list",
        json!({ "what": "words", "query": &word[..5], "limit": 500 }),
    ));
    for mode in ["lines", "files", "count"] {
        for documents in [false, true] {
            for glob in ["*", "**/*name*", "/**", "../**"] {
                calls.push(("grep", json!({ "pattern": &word[..8], "mode": mode, "documents": documents, "glob": glob, "context": 5 })));
            }
        }
    }
    for folder in [
        "..",
        "/",
        "docs/out",
        "in/not",
        "docs/in/link",
        "in/../out",
        "docs/in-other",
        "~",
    ] {
        calls.push(("grep", json!({ "pattern": &word[..8], "in": folder })));
        calls.push(("search", json!({ "query": word, "in": folder })));
    }
    calls
}

/// Returns whether a text tells something of what is outside, besides the words of the question.
fn tells(text: &str, question: &Value) -> bool {
    let asked = question.to_string();
    let names = [
        "hidden-name",
        "beside-name",
        "outer-name",
        "later-name",
        "mail-name",
    ];
    text.contains("the plan")
        || names.iter().any(|name| text.contains(name))
        || text.contains(SECRET) && !asked.contains(SECRET)
        || text.contains(&format!("{SECRET} ("))
}

#[test]
fn nothing_tells_of_what_is_outside() {
    let world = world();
    let mut client = Client::with(&world, &["--in", "docs/in", "--exclude", "docs/in/not"]);
    for (tool, arguments) in calls(SECRET) {
        let (text, _) = client.call(tool, arguments.clone());
        assert!(!tells(&text, &arguments), "{tool} {arguments}: {text}");
        let is_about_it = arguments["query"] == SECRET || arguments["pattern"] == SECRET[..8];
        let is_nothing = ["Nothing", "no such folder", "not visible", "words, at"];
        if is_about_it {
            assert!(
                is_nothing.iter().any(|part| text.contains(part)),
                "{tool} {arguments}: {text}"
            );
        }
    }
    // Whether a file is there and outside, or not there, looks the same.
    let absent = client.failing("read", json!({ "path": "docs/in/nowhere.txt" }));
    for path in [
        "docs/out/outer-name.txt",
        "/etc/passwd",
        "docs/in/../out/outer-name.txt",
        "docs/in/link/outer-name.txt",
        "docs/in/file-link",
        "docs/in/not/hidden-name.txt",
        "docs/in/not/later-name.txt",
        "docs/in/mail/cur/1:2,S",
        "docs/in/mail/cur/5:2,S",
        "docs/in/single.eml",
        "docs/in/later.eml",
        "docs/in/box",
        "docs/in/box|1",
        "docs/in/attachments.eml",
    ] {
        let text = client.failing("read", json!({ "path": path }));
        assert_eq!(text, absent, "{path}");
    }
    // Identifiers of documents outside are those of nothing.
    for hit in world
        .hits(SECRET)
        .iter()
        .chain(&world.hits("is:attachment"))
    {
        client.failing("read", json!({ "id": hit["id"] }));
    }
    let status = client.tool("status", json!({}));
    assert!(status.contains("Documents: 2 (2 document)"), "{status}");
    assert!(!status.contains("in/not"), "{status}");
}

#[test]
fn what_is_inside_is_all_there() {
    let world = world();
    let mut client = Client::with(&world, &["--in", "docs", "--mail"]);
    let lines = client.tool("grep", json!({ "pattern": SECRET }));
    for name in [
        "hidden-name",
        "beside-name",
        "outer-name",
        "later-name",
        "single.eml",
        "later.eml",
        "in/box",
    ] {
        assert!(lines.contains(name), "{name}: {lines}");
    }
    let words = client.tool("list", json!({ "what": "words", "query": "zanzi" }));
    assert!(words.contains(SECRET), "{words}");
    let below = client.tool("search", json!({ "query": SECRET, "in": "docs/out" }));
    assert!(below.contains("outer-name"), "{below}");
}
