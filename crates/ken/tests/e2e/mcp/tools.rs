//! What the five tools answer.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::json;

use super::{Client, meta};
use crate::mail::message;
use crate::samples::tar;
use crate::serve::{self, Server};
use crate::world::World;

/// Returns a home with documents, mail and source code.
fn world() -> World {
    let world = World::new();
    world.write(
        "notes/wifi.md",
        "# Home\n\nThe guest wifi password is correct-horse-battery.\n",
    );
    world.write(
        "src/walk.rs",
        "/// Walks folders.\nfn walk() {\n    let melon = 1;\n}\n",
    );
    world.write(
        "letters/lease.txt",
        "Lease\n\nThe deposit is 2,400 euros.\n",
    );
    world.write("pages.txt", "first page\n\u{c}second page\n");
    let flight = message(
        1,
        &[],
        "Subject: Flights to Lisbon\n",
        "We leave on Friday at nine.",
    );
    world.write("mail/cur/1:2,S", flight);
    world.write("mail/new/.keep", "");
    world.index_docs();
    world
}

/// Returns the identifier of the first hit.
fn id(text: &str) -> String {
    let at = text.find("id ").unwrap_or_else(|| panic!("{text}"));
    text[at + 3..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn questions_in_plain_words_find_documents() {
    let world = world();
    let mut client = Client::with(&world, &["--in", "docs", "--mail"]);
    for (question, path) in [
        ("What is the guest wifi password?", "docs/notes/wifi.md:3"),
        (
            "how much was the lease's deposit (in euros)?",
            "docs/letters/lease.txt",
        ),
        ("flights: to Lisbon", "docs/mail/cur/1:2,S"),
        ("walk.rs", "docs/src/walk.rs"),
        ("\"unbalanced quote deposit", "docs/letters/lease.txt"),
    ] {
        let text = client.tool("search", json!({ "query": question }));
        let first = text.lines().nth(1).unwrap_or_default();
        assert!(
            first.starts_with(&format!("1. {path}")),
            "{question}: {text}"
        );
    }
    let none = client.tool("search", json!({ "query": "quetzalcoatl" }));
    assert!(none.starts_with("Nothing was found."), "{none}");
    // Where nothing follows, nothing is said about it.
    assert!(!none.contains("not instructions"), "{none}");
    let some = client.tool("search", json!({ "query": "deposit quetzalcoatl" }));
    let first = some.lines().next().unwrap();
    assert!(
        first.contains("No document contains: quetzalcoatl.")
            && first.contains("Names of files and what is between ["),
        "{some}"
    );
    let typed = client.tool("search", json!({ "query": "walk", "type": "source" }));
    assert!(typed.starts_with("1 hit."), "{typed}");
    let wrong = client.failing("search", json!({ "query": "walk", "in": "elsewhere" }));
    assert!(
        wrong.contains("docs (letters, mail, notes, src)"),
        "{wrong}"
    );
}

#[test]
fn what_was_found_is_read_by_id_path_and_place() {
    let world = world();
    let mut client = Client::start(&world);
    let found = client.tool("search", json!({ "query": "deposit" }));
    let whole = client.tool("read", json!({ "id": id(&found) }));
    assert!(whole.contains("3\tThe deposit is 2,400 euros."), "{whole}");
    assert!(
        whole.contains(" · stamp ") && whole.contains("3 lines"),
        "{whole}"
    );
    for path in [
        "docs/letters/lease.txt",
        "letters/lease.txt",
        "letters/lease.txt:3",
    ] {
        let text = client.tool("read", json!({ "path": path }));
        assert!(text.contains("2,400"), "{text}");
    }
    let part = client.tool("read", json!({ "path": "src/walk.rs", "lines": "2-3" }));
    assert!(
        part.contains("2\tfn walk() {\n3\t") && !part.contains("Walks"),
        "{part}"
    );
    let page = client.tool("read", json!({ "path": "pages.txt, p. 2" }));
    assert!(
        page.contains("--- page 2") && !page.contains("--- page 1"),
        "{page}"
    );
    let around = client.tool(
        "read",
        json!({ "path": "notes/wifi.md", "around": "password?" }),
    );
    assert!(
        around.contains("1 match.") && around.contains("correct-horse"),
        "{around}"
    );
    let similar = client.failing("read", json!({ "path": "letters/leese.txt" }));
    assert!(
        similar.contains("perhaps docs/letters/lease.txt"),
        "{similar}"
    );
    for (path, part, number, why) in [
        ("pages.txt", "pages", "3-5", "the document has 2 pages"),
        ("src/walk.rs", "lines", "9-", "the document has 4 lines"),
        ("src/walk.rs", "pages", "2", "the document has 1 page"),
    ] {
        let beyond = client.failing("read", json!({ "path": path, part: number }));
        assert!(beyond.contains(why), "{beyond}");
    }
    client.failing("read", json!({ "id": "0123456789abcdef" }));
    client.failing("read", json!({}));

    world.write("letters/lease.txt", "Lease\n\nThe deposit is gone.\n");
    let changed = client.tool("read", json!({ "id": id(&found) }));
    assert!(
        changed.contains("has changed since it was indexed"),
        "{changed}"
    );
    world.write("new.txt", "one\ntwo\n");
    let live = client.tool("read", json!({ "path": "new.txt:2" }));
    assert!(
        live.contains("not in the index") && live.contains("2\ttwo"),
        "{live}"
    );
}

#[test]
fn attachments_and_members_are_listed_with_what_holds_them() {
    let world = World::new();
    let header = "Subject: Figures\nTo: Bob <bob@x.org>\nCc: Carol <carol@x.org>\nContent-Type: multipart/mixed; boundary=b\n";
    let part = "--b\n\nHello\n--b\nContent-Disposition: attachment; filename=figures.txt\n\nthe platypus\n--b--\n";
    world.write("a.eml", message(1, &[], header, part));
    let mailbox: String = (1..=30)
        .map(|id| {
            let text = message(id, &[], &format!("Subject: Letter {id}\n"), "melon");
            format!("From x Mon Mar  3 10:00:00 2025\n{text}\n")
        })
        .collect();
    world.write("old.mbox", mailbox);
    world.write("box.tar", tar(&[("letters/lease.txt", "the deposit")]));
    world.index_docs();
    let mut client = Client::with(&world, &["--in", "docs", "--mail"]);

    let text = client.tool("read", json!({ "path": "a.eml" }));
    for line in [
        "To: Bob <bob@x.org>\n",
        "Cc: Carol <carol@x.org>\n",
        "Date: 2025-03-03T10:00:01Z\n",
        "Attachment: docs/a.eml|1 · figures.txt · text/plain · id ",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let (_, attachment) = text.split_once("Attachment: ").unwrap();
    let attached = client.tool("read", json!({ "id": id(attachment) }));
    assert!(attached.contains("the platypus"), "{attached}");

    let text = client.tool("read", json!({ "path": "old.mbox" }));
    assert!(text.contains("no text of its own"), "{text}");
    assert_eq!(text.matches("Member: docs/old.mbox|").count(), 20, "{text}");
    assert!(
        text.contains("Member: docs/old.mbox|20 · Letter 20 · id "),
        "{text}"
    );
    let (_, query) = text.split_once("10 more members: search with ").unwrap();
    let query = query.lines().next().unwrap();
    let found = client.tool("search", json!({ "query": query, "limit": 100 }));
    assert!(found.contains("docs/old.mbox|"), "{query}: {found}");
    // An answer of few characters has what fits.
    let short = client.tool("read", json!({ "path": "old.mbox", "max_chars": 1_000 }));
    assert!(
        short.contains("Member: docs/old.mbox|1 ") && short.contains("more members"),
        "{short}"
    );

    let text = client.tool("read", json!({ "path": "box.tar" }));
    assert!(
        text.contains("Member: docs/box.tar|letters/lease.txt"),
        "{text}"
    );
    let rest = client.tool("read", json!({ "path": "a.eml", "around": "hello" }));
    assert!(!rest.contains("Attachment: "), "{rest}");
}

#[test]
fn long_texts_are_read_in_parts() {
    let world = World::new();
    let lines: Vec<String> = (1..=3_000)
        .map(|n| format!("line {n} of the text"))
        .collect();
    world.write("long.txt", lines.join("\n"));
    world.index_docs();
    let mut client = Client::start(&world);
    let mut from = 1;
    for _ in 0..100 {
        let call = json!({ "path": "long.txt", "lines": format!("{from}-"), "max_chars": 9_000 });
        let text = client.tool("read", call);
        assert!(text.chars().count() <= 9_000);
        assert!(text.contains(&format!("{from}\tline {from} of")), "{text}");
        let Some((_, next)) = text.rsplit_once("Next: read with lines ") else {
            assert!(text.contains("3000\tline 3000"), "{text}");
            return;
        };
        from = next.split('-').next().unwrap().parse().unwrap();
    }
    panic!("the text does not end");
}

#[test]
fn grep_is_exact_and_live() {
    let world = world();
    let mut client = Client::start(&world);
    let found = client.tool("grep", json!({ "pattern": "mel.n" }));
    assert!(found.starts_with("1 matching line in 1 place."), "{found}");
    assert!(found.contains("docs/src/walk.rs\n") && found.contains("3:    let melon = 1;"));
    world.write("src/new.rs", "fn melon() {}\n");
    let found = client.tool("grep", json!({ "pattern": "melon", "mode": "count" }));
    assert!(found.contains("docs/src/new.rs: 1") && found.contains("docs/src/walk.rs: 1"));
    let globbed = client.tool(
        "grep",
        json!({ "pattern": "melon", "glob": "new*", "mode": "files" }),
    );
    assert!(
        globbed.contains("new.rs") && !globbed.contains("walk.rs"),
        "{globbed}"
    );
    let documents = client.tool("grep", json!({ "pattern": "(?i)page", "documents": true }));
    assert!(documents.contains("docs/pages.txt, p. "), "{documents}");
    let around = client.tool(
        "grep",
        json!({ "pattern": "melon", "in": "docs/src", "context": 1 }),
    );
    assert!(around.contains("2-fn walk() {"), "{around}");
    let wrong = client.failing("grep", json!({ "pattern": "(" }));
    assert!(wrong.contains("unclosed group"), "{wrong}");
}

#[test]
fn grep_goes_on_where_it_ended() {
    let world = World::new();
    for file in 0..6 {
        let lines = (0..50).map(|line| format!("other\nmelon f{file}n{line}x\n"));
        world.write(format!("{file}.txt"), lines.collect::<String>());
    }
    world.index_docs();
    let mut client = Client::start(&world);
    for (mode, context, limit, n_all) in [
        ("lines", 0, 200, 300),
        ("lines", 2, 200, 300),
        ("lines", 0, 7, 300),
        ("files", 0, 4, 6),
        ("count", 0, 4, 6),
    ] {
        let (mut offset, mut found): (usize, Vec<String>) = (0, Vec::new());
        loop {
            let call = json!({ "pattern": "melon", "mode": mode, "context": context, "limit": limit,
                "offset": offset, "max_chars": 1_500 });
            let text = client.tool("grep", call);
            assert!(
                text.starts_with("300 matching lines in 6 places."),
                "{text}"
            );
            let is_meant = |line: &&str| match mode {
                "lines" => line.contains(":melon f"),
                _ => line.starts_with("docs/"),
            };
            found.extend(text.lines().filter(is_meant).map(str::to_owned));
            let Some((_, next)) = text.rsplit_once("grep with offset ") else {
                break;
            };
            let next: usize = next.trim_end_matches('.').parse().unwrap();
            assert!(next > offset, "{text}");
            offset = next;
        }
        assert_eq!(found.len(), n_all, "{mode} {context} {limit}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), n_all, "{mode} {context} {limit}");
    }
    let beyond = client.tool("grep", json!({ "pattern": "melon", "offset": 300 }));
    assert_eq!(beyond, "300 matching lines in 6 places.");
}

#[test]
fn lists_and_status_count_what_is_visible() {
    let world = world();
    let mut client = Client::with(&world, &["--in", "docs", "--mail"]);
    let types = client.tool("list", json!({ "what": "types" }));
    assert!(
        types.contains("1 message") && types.contains("1 source"),
        "{types}"
    );
    let folders = client.tool("list", json!({ "what": "folders" }));
    assert!(folders.contains("docs/letters"), "{folders}");
    let years = client.tool("list", json!({ "what": "years", "query": "lisbon" }));
    assert!(years.contains("1 2025"), "{years}");
    let threads = client.tool("list", json!({ "what": "threads" }));
    assert!(
        threads.contains("1 2025-03-03 Flights to Lisbon"),
        "{threads}"
    );
    let words = client.tool("list", json!({ "what": "words", "query": "depo" }));
    assert!(words.contains("1 deposit"), "{words}");
    client.failing("list", json!({ "what": "colours" }));
    let status = client.tool("status", json!({}));
    assert!(
        status.contains("Mail: visible") && status.contains("Documents: 5"),
        "{status}"
    );
}

#[test]
fn answers_are_never_longer_than_wanted() {
    let world = World::new();
    for n in 0..60 {
        let body = "melon and other words of a passage that is long enough. ".repeat(40);
        world.write(
            format!("{n}/{}.txt", "name".repeat(40)),
            format!("{n} {body}\n"),
        );
    }
    world.index_docs();
    let mut client = Client::start(&world);
    for max_chars in [1_000, 1_500, 12_000] {
        for (tool, mut arguments) in [
            ("search", json!({ "query": "melon", "limit": 100 })),
            ("grep", json!({ "pattern": "melon", "context": 3 })),
            ("grep", json!({ "pattern": "melon", "mode": "files" })),
            (
                "read",
                json!({ "path": format!("1/{}.txt", "name".repeat(40)) }),
            ),
            ("list", json!({ "what": "folders", "limit": 500 })),
            ("status", json!({})),
        ] {
            arguments["max_chars"] = max_chars.into();
            let text = client.tool(tool, arguments.clone());
            assert!(
                text.chars().count() <= max_chars,
                "{tool} {arguments}: {text}"
            );
            // Each fence that opens closes.
            let n_open = text
                .lines()
                .filter(|line| line.starts_with('[') && line.len() == 9);
            let n_closed = text
                .lines()
                .filter(|line| line.ends_with(']') && line.len() == 9);
            assert_eq!(
                n_open.count(),
                n_closed.count(),
                "{tool} {arguments}: {text}"
            );
        }
    }
    for max_chars in [0, 999] {
        let text = client.failing(
            "search",
            json!({ "query": "melon", "max_chars": max_chars }),
        );
        assert_eq!(text, "max_chars must be at least 1000");
    }
    let first = client.tool("search", json!({ "query": "melon", "max_chars": 2_000 }));
    assert!(first.contains("search with offset"), "{first}");
}

#[test]
fn an_index_that_comes_later_is_seen() {
    let world = World::new();
    world.write("a.txt", "melon");
    let mut client = Client::start(&world);
    assert!(
        client
            .failing("search", json!({ "query": "melon" }))
            .contains("ken index")
    );
    assert!(client.tool("status", json!({})).contains("none yet"));
    assert!(
        client
            .tool("grep", json!({ "pattern": "melon" }))
            .contains("a.txt")
    );
    assert!(
        client
            .tool("read", json!({ "path": "a.txt" }))
            .contains("1\tmelon")
    );
    world.index_docs();
    assert!(
        client
            .tool("search", json!({ "query": "melon" }))
            .starts_with("1 hit.")
    );
    world.write("b.txt", "melon too");
    world.index_docs();
    assert!(
        client
            .tool("search", json!({ "query": "melon" }))
            .starts_with("2 hits.")
    );
}

/// Sends a request to the socket of `ken serve`, and returns the status and the body.
fn post(world: &World, address: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(world.data().join("ken.sock")).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (
        head.split(' ').nth(1).unwrap().parse().unwrap(),
        body.to_owned(),
    )
}

#[test]
fn the_socket_answers_one_request_at_a_time() {
    let world = serve::world();
    world.write("in/a.txt", "melon");
    world.write("out/b.txt", "melon");
    let _server = Server::start(&world);
    world.ken(["search", "--fresh", "melon", "-c"]);
    let address = format!("/mcp?in={}", world.docs().join("in").display());
    let call = |version: Option<&str>| {
        let mut params = json!({ "name": "search", "arguments": { "query": "melon" } });
        if let Some(version) = version {
            params["_meta"] = meta(version);
        }
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    };
    let (status, body) = post(&world, &address, "", &call(None));
    assert!(
        status == 200 && body.contains("a.txt") && !body.contains("b.txt"),
        "{body}"
    );
    let headers =
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: search\r\n";
    let (status, body) = post(&world, &address, headers, &call(Some("2026-07-28")));
    assert!(
        status == 200 && body.contains("\"resultType\":\"complete\""),
        "{body}"
    );
    for (address, headers, body, expected) in [
        ("/mcp", "", call(None), 400),
        (
            &*address,
            "Origin: http://evil.example\r\n",
            call(None),
            403,
        ),
        (&address, "", call(Some("2026-07-28")), 400),
        (&address, headers, call(Some("2027-01-01")), 400),
        (&address, "", "{".to_owned(), 400),
        // Without what `_meta` must have.
        (
            &address,
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#.to_owned(),
            400,
        ),
        (
            &address,
            "",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            202,
        ),
    ] {
        assert_eq!(
            post(&world, address, headers, &body).0,
            expected,
            "{address} {body}"
        );
    }
}
