//! Every question that the server answers, asked by somebody who may not read a file: nothing of it is in any answer.

use serde_json::{Value, json};

use super::{READER, ask, ask_as_owner, send, set, socket, world, write};
use crate::serve::Server;
use crate::world::World;

/// Words of the hidden files that no question has.
const MARKS: [&str; 6] = [
    "quokka",
    "hidden-name",
    "hidden-folder",
    "secretext",
    "wombat@",
    "numbat",
];

const MAIL: &str = "From: Wombat <wombat@example.org>\nTo: b@example.org\nSubject: zebrafish numbat\n\
    Message-ID: <numbat@example.org>\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nX-Label: quokkatag\n\nzebrafish quokka\n";

/// A world with hidden files, and the identifiers of two of them.
fn hidden(more: &str) -> (World, Vec<String>) {
    let world = world(more);
    write(
        &world,
        "hidden-folder/hidden-name.secretext",
        0o600,
        "zebrafish quokka quokkas sail",
    );
    write(&world, "hidden-folder/mail.eml", 0o600, MAIL);
    write(&world, "open.txt", 0o644, "zebra fish and kangaroo sails");
    set(&world.docs().join("hidden-folder"), 0o700);
    world.index_docs();
    (world, Vec::new())
}

fn ids(world: &World) -> Vec<String> {
    let (_, found) = ask_as_owner(world, "/api/v1/search?q=zebrafish");
    let found: Value = serde_json::from_str(&found).unwrap();
    let hits = found["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns whether an answer has something of the hidden files.
fn tells(body: &str) -> Option<&'static str> {
    let body = body.to_lowercase();
    MARKS.into_iter().find(|mark| body.contains(mark))
}

#[test]
fn no_face_shows_what_somebody_may_not_read() {
    let (world, _) = hidden("");
    let _server = Server::start(&world);
    let ids = ids(&world);
    assert_eq!(ids.len(), 2);
    let folder = world.docs().display().to_string();
    let mut questions: Vec<String> = [
        "/api/v1/search?q=zebrafish",
        "/api/v1/search?q=*&facet=ext&facet=type&facet=author&facet=dir&facet=mime&facet=tag&facet=keywords",
        "/api/v1/search?q=zebrafish&text=whole&relax=always",
        "/api/v1/search?q=quokkaz&suggest=true",
        "/api/v1/search?q=quok&prefix_last=true",
        "/api/v1/search?q=sail&field=title&field=path&field=author&explain=true",
        "/api/v1/search?q=-kangaroo",
        "/api/v1/search?q=NOT+kangaroo&sort=size",
        "/api/v1/search?q=thread:numbat@example.org",
        "/api/v1/search?q=thread:(zebrafish)",
        "/api/v1/search?q=size:0..&group=content&sort=date",
        "/api/v1/terms?q=*",
        "/api/v1/terms?q=*&field=ext",
        "/api/v1/terms?q=*&field=author&by_field=true",
        "/api/v1/terms?q=quok*",
        "/api/v1/complete?prefix=quok",
        "/api/v1/threads?q=zebrafish",
        "/api/v1/contacts?pattern=wom",
        "/api/v1/contacts?q=zebrafish",
        "/api/v1/tags",
        "/api/v1/overview",
        "/api/v1/status",
        "/api/v1/events",
        "/api/v1/grep?pattern=quokk.",
        "/api/v1/grep?pattern=sail&context=3",
        "/api/v1/grep?pattern=sail&documents=true",
        "/json?query=zebrafish",
        "/csv?query=zebrafish",
        "/?q=zebrafish",
        "/?q=quokkaz",
        "/?q=size:0..&table=1",
        "/?q=zebrafish&fragment=results",
        "/?q=zebrafish&fragment=facets",
        "/?q=kangaroo",
        "/",
        "/status",
        "/saved",
    ]
    .map(str::to_owned)
    .into();
    for id in &ids {
        for part in [
            "",
            "/text",
            "/places?q=zebrafish",
            "/members",
            "/original",
            "/picture",
            "/words",
        ] {
            questions.push(format!("/api/v1/documents/{id}{part}"));
        }
        for page in [
            "/?doc=ID",
            "/?doc=ID&fragment=preview",
            "/?doc=ID&fragment=sheet",
            "/document?doc=ID",
        ] {
            questions.push(page.replace("ID", id));
        }
        for page in [
            "/picture?doc=ID",
            "/thumbnail?doc=ID",
            "/?like=ID",
            "/?q=kangaroo&doc=ID",
        ] {
            questions.push(page.replace("ID", id));
        }
    }
    for address in [
        "hidden-folder/hidden-name.secretext",
        "hidden-folder/mail.eml",
    ] {
        questions.push(format!("/api/v1/search?like={folder}/{address}"));
    }
    let mut n_telling = 0;
    for question in &questions {
        if !question.contains("/events") {
            n_telling += usize::from(tells(&ask_as_owner(&world, question).1).is_some());
        }
        let (status, body) = ask(&world, READER, question);
        assert!(
            matches!(status, 200 | 400 | 403 | 404 | 410),
            "{question}: {status} {body}"
        );
        // The address of the question is in some answers.
        let body = body
            .replace(question.as_str(), "")
            .replace(&format!("{folder}/hidden-folder"), "");
        let told = tells(&body);
        let is_asked = told.is_some_and(|mark| question.contains(mark));
        assert!(
            told.is_none() || is_asked,
            "{question} tells {told:?}: {body}"
        );
    }
    assert!(
        n_telling > 30,
        "the owner is told by {n_telling} of {}",
        questions.len()
    );
}

#[test]
fn expressions_are_found_in_files_that_somebody_may_read() {
    let (world, _) = hidden("");
    let _server = Server::start(&world);
    let lines = |body: &str| -> Vec<Value> {
        body.split(['\r', '\n'])
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(Value::is_object)
            .collect()
    };
    let (status, body) = ask(&world, READER, "/api/v1/grep?pattern=sail");
    assert_eq!(status, 200, "{body}");
    let of: Vec<_> = lines(&body)
        .iter()
        .map(|event| event["type"].clone())
        .collect();
    assert_eq!(of, ["begin", "match", "end"], "{body}");
    let folder = world.docs().display().to_string();
    for (path, expected) in [
        ("", 200),
        ("/open.txt", 200),
        ("/hidden-folder", 400),
        ("/missing", 400),
    ] {
        let (status, body) = ask(
            &world,
            READER,
            &format!("/api/v1/grep?pattern=sail&in={folder}{path}"),
        );
        assert_eq!(status, expected, "{path}: {body}");
    }
}

#[test]
fn expressions_are_found_in_what_was_indexed() {
    let (world, _) = hidden("");
    let _server = Server::start(&world);
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    // No file is opened, since a path may lead to another one by then.
    fs_err::write(world.docs().join("open.txt"), "regatta").unwrap();
    for (pattern, is_found) in [("kangaroo", true), ("regatta", false)] {
        for more in ["", "&documents=true", "&documents=false"] {
            let path = format!("/api/v1/grep?pattern={pattern}{more}");
            let (status, body) = ask(&world, READER, &path);
            assert_eq!(status, 200, "{body}");
            assert_eq!(body.contains("open.txt"), is_found, "{path}: {body}");
        }
    }
}

#[test]
fn nothing_is_searched_for_who_may_read_nothing() {
    let world = world("");
    write(&world, "own.txt", 0o600, "kangaroo");
    world.index_docs();
    let _server = Server::start(&world);
    // A command that searched something would fail at this folder, and say so.
    fs_err::remove_dir_all(world.docs()).unwrap();
    for pattern in ["kangaroo", "."] {
        let path = format!("/api/v1/grep?pattern={pattern}");
        assert_eq!(ask(&world, READER, &path), (200, String::new()));
    }
    let (status, _) = ask(&world, READER, "/api/v1/grep?pattern=(");
    assert_eq!(status, 400);
}

#[test]
fn totals_and_refusals_say_nothing_either() {
    let (world, _) = hidden("");
    let _server = Server::start(&world);
    let ids = ids(&world);
    let total = |person: &str, query: &str| {
        let (_, body) = ask(
            &world,
            person,
            &format!("/api/v1/search?q={query}&count=true"),
        );
        serde_json::from_str::<Value>(&body).unwrap()["total"].clone()
    };
    for (query, expected) in [
        ("zebrafish", 0),
        ("size:0..", 1),
        ("*", 1),
        ("NOT+kangaroo", 0),
        ("is:duplicate", 0),
    ] {
        assert_eq!(total(READER, query), expected, "{query}");
    }
    let missing = ids[0].chars().rev().collect::<String>();
    let answer = |id: &str| {
        let (status, body) = ask(&world, READER, &format!("/api/v1/documents/{id}"));
        (status, body.replace(id, "ID"))
    };
    assert_eq!(answer(&ids[0]), answer(&missing), "hidden is as missing");
}

#[test]
fn nothing_about_the_server_is_for_others() {
    let (world, _) = hidden("");
    let _server = Server::start(&world);
    let person = [
        format!("X-Person: {READER}"),
        "Content-Type: application/json".to_owned(),
    ];
    let index = json!({ "add": [{ "path": world.docs() }] }).to_string();
    for (method, path, body) in [
        ("GET", "/api/v1/status", ""),
        ("GET", "/api/v1/overview", ""),
        ("GET", "/api/v1/events", ""),
        ("GET", "/status", ""),
        ("POST", "/api/v1/pause", ""),
        ("POST", "/api/v1/resume", ""),
        ("POST", "/api/v1/fresh", r#"{"seconds":1}"#),
        ("POST", "/api/v1/index", &index),
        ("POST", "/api/v1/vouch", r#"{"paths":["/"]}"#),
        ("POST", "/api/v1/web", ""),
        ("POST", "/login", "password=x"),
        ("POST", "/logout", ""),
        ("POST", "/open", r#"{"id":"x"}"#),
        ("POST", "/mcp?in=/", "{}"),
    ] {
        let (status, answer) = send(&socket(&world), method, path, &person, body);
        assert_eq!(status, 403, "{path}: {answer}");
    }
}

#[test]
fn scores_and_saved_queries_are_for_the_user_of_the_server() {
    let world = world("[queries]\nmerger = \"okapi\"\n");
    write(&world, "one.txt", 0o644, "okapi");
    world.index_docs();
    let _server = Server::start(&world);
    let search = "/api/v1/search?q=okapi";
    assert!(ask_as_owner(&world, search).1.contains("\"score\":"));
    assert!(ask(&world, READER, search).1.contains("one.txt"));
    assert!(!ask(&world, READER, search).1.contains("\"score\":"));
    for path in ["/", "/saved"] {
        assert!(ask_as_owner(&world, path).1.contains("merger"), "{path}");
        assert!(!ask(&world, READER, path).1.contains("merger"), "{path}");
    }
    let named = "/api/v1/search?q=query%3Amerger";
    assert!(ask_as_owner(&world, named).1.contains("one.txt"));
    assert!(!ask(&world, READER, named).1.contains("one.txt"));
}
