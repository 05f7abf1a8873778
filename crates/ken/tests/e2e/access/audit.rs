//! A line for each question, and no answer without it.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{READER, ask, ask_as_owner, send, set, socket, world, write};
use crate::serve::Server;

#[test]
fn each_question_is_noted_before_it_is_answered() {
    let world = world("audit = \"~/audit.jsonl\"\n");
    write(&world, "one.txt", 0o644, "apple");
    world.index_docs();
    let _server = Server::start(&world);
    let search = "/api/v1/search?q=apple";
    assert_eq!(ask(&world, READER, search).0, 200);
    assert_eq!(ask_as_owner(&world, search).0, 200);
    let person = [
        format!("X-Person: {READER}"),
        "Content-Type: application/json".to_owned(),
    ];
    let body = r#"{"query":"app\nle"}"#;
    assert_eq!(
        send(&socket(&world), "POST", "/api/v1/search", &person, body).0,
        200
    );
    assert_eq!(ask(&world, READER, "/?q=apple").0, 200);
    assert_eq!(ask(&world, READER, "/api/v1/documents/xyz").0, 404);
    assert_eq!(ask(&world, READER, "/assets/none").0, 404);
    let file = world.home().join("audit.jsonl");
    let text = fs_err::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |key: &str| {
        lines
            .iter()
            .map(|line| line[key].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("query"),
        [
            "apple".into(),
            "apple".into(),
            "app\nle".into(),
            "apple".into(),
            Value::Null
        ]
    );
    assert_eq!(of("hits")[..2], [Value::from(1), 1.into()]);
    assert_eq!(of("hits")[3], 1);
    assert_eq!(of("status"), [200, 200, 200, 200, 404].map(Value::from));
    assert_eq!(of("user")[..2], [READER.into(), Value::Null]);
    assert_eq!(
        of("from")[..2],
        ["proxy".into(), "socket".into()] as [Value; 2]
    );
    assert_eq!(lines[0]["address"], search);
    let mode = fs_err::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    set(&file, 0o644);
    let (status, body) = ask(&world, READER, search);
    assert_eq!(status, 503, "{body}");
    assert!(!body.contains("one.txt"));
    set(&file, 0o600);
    fs_err::remove_file(&file).unwrap();
    assert_eq!(ask(&world, READER, search).0, 200, "as after a rotation");
    fs_err::remove_file(&file).unwrap();
    fs_err::create_dir(&file).unwrap();
    assert_eq!(ask(&world, READER, search).0, 503);
}

#[test]
fn what_is_refused_is_noted_and_nothing_is_cut() {
    let world = world("audit = \"~/audit.jsonl\"\n");
    write(&world, "one.txt", 0o644, "apple");
    world.index_docs();
    let _server = Server::start(&world);
    let long = "x".repeat(8_000);
    let padded = format!("/api/v1/search?q={long}&q=apple");
    assert_eq!(ask(&world, READER, &padded).0, 414);
    let person = [format!("X-Person: {READER}")];
    let body = format!("{{{}\"query\":\"apple\"}}", " ".repeat(8_000));
    let shared = socket(&world);
    assert_eq!(
        send(&shared, "POST", "/api/v1/search", &person, &body).0,
        413
    );
    let twice = "/api/v1/search?q=pear&q=apple";
    assert_eq!(ask(&world, READER, twice).0, 200);
    assert_eq!(
        send(&shared, "GET", "/api/v1/search?q=claim", &[], "").0,
        403
    );
    assert_eq!(ask(&world, READER, "/api/v1/status").0, 403);
    let text = fs_err::read_to_string(world.home().join("audit.jsonl")).unwrap();
    let lines = text.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.map(Result::unwrap).collect();
    let status: Vec<&Value> = lines.iter().map(|line| &line["status"]).collect();
    assert_eq!(status, [414, 413, 200, 403, 403]);
    assert_eq!(
        lines[2]["query"], "apple",
        "of two values the last one counts"
    );
    assert_eq!(lines[3]["address"], "/api/v1/search?q=claim");
    assert_eq!(lines[3]["from"], "shared socket");
}
