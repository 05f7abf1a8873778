//! Clients that misbehave, or go away.

use serde_json::{Value, json};

use super::Client;
use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write("a.txt", "melon");
    world.index_docs();
    world
}

#[test]
fn no_line_ends_or_stalls_the_server() {
    let world = world();
    let mut client = Client::start(&world);
    let deep = "[".repeat(200_000);
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(3 << 20));
    let zero = b"\0\xff\xfe";
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"search","arguments":{arguments}}}}}"#
        )
    };
    for (line, code) in [
        (deep.as_bytes(), Some(-32700)),
        (long.as_bytes(), Some(-32600)),
        (zero, Some(-32700)),
        (b"[]", Some(-32600)),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"nothing"}"#,
            Some(-32601),
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
            Some(-32602),
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm"}}"#,
            Some(-32602),
        ),
        (call("[]").as_bytes(), Some(-32602)),
        (call(r#"{"query":7}"#).as_bytes(), None),
        (call(r#"{"query":"a","limit":-1}"#).as_bytes(), None),
        (call(r#"{"query":"a","unknown":1}"#).as_bytes(), None),
        (call(r#"{"query":"a\u0000"}"#).as_bytes(), None),
        (
            call(&json!({ "query": "a".repeat(20_000) }).to_string()).as_bytes(),
            None,
        ),
        (
            call(&json!({ "query": "(".repeat(9_000) }).to_string()).as_bytes(),
            None,
        ),
    ] {
        client.say(line);
        let answer = client.hear();
        match code {
            Some(code) => assert_eq!(answer["error"]["code"], code, "{answer}"),
            None => assert_eq!(answer["result"]["isError"], true, "{answer}"),
        }
    }
    // Neither an answer nor news of the client, nor an empty line, is answered.
    client.say(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    client.say(br#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#);
    client.say(b"");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.end().code, 0);
}

#[test]
fn calls_before_the_end_of_input_are_answered() {
    let world = world();
    let mut client = Client::start(&world);
    for id in 0..20 {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "search", "arguments": { "query": "melon" } } });
        client.say(call.to_string().as_bytes());
    }
    let run = client.end();
    assert_eq!((run.code, run.text().lines().count()), (0, 20));
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let world = world();
    let mut client = Client::start(&world);
    for number in 0..10 {
        let id = format!("c{number}");
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "grep", "arguments": { "pattern": "melon" } } });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
            "requestId": id, "reason": "changed my mind" } });
        // In one piece, so that the call cannot end before.
        client.say(format!("{call}\n{cancel}").as_bytes());
    }
    assert!(
        client
            .tool("search", json!({ "query": "melon" }))
            .starts_with("1 hit.")
    );
    let run = client.end();
    assert_eq!((run.code, run.text()), (0, ""));
}

#[test]
fn a_thousand_calls_leave_nothing_behind() {
    let world = world();
    let mut client = Client::start(&world);
    let mut round = |n_calls: usize| {
        for number in 0..n_calls {
            let (name, arguments): (&str, Value) = match number % 5 {
                0 => ("search", json!({ "query": "melon" })),
                1 => ("read", json!({ "path": "a.txt" })),
                2 => ("list", json!({ "what": "types" })),
                3 => ("search", json!({ "query": "what is it?" })),
                _ if number % 50 == 4 => ("grep", json!({ "pattern": "melon" })),
                _ => ("status", json!({})),
            };
            client.tool(name, arguments);
        }
        client.size()
    };
    round(200);
    let (memory, descriptors) = round(200);
    let (later, descriptors_later) = round(1_000);
    assert!(later < memory + 2_048, "{memory} kB became {later} kB");
    assert_eq!(descriptors, descriptors_later);
}
