//! `ken mcp`, as a client of the protocol sees it.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values")]

mod foreign;
mod hostile;
mod injections;
mod scope;
mod scope_cases;
mod tools;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::world::{Run, World};

/// A client that speaks to the server by lines.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    n_asked: u64,
}

impl Client {
    /// Starts a server for the folder of documents.
    pub(crate) fn start(world: &World) -> Self {
        Self::with(world, &["--in", "docs"])
    }

    pub(crate) fn with(world: &World, options: &[&str]) -> Self {
        let mut command = world.command(["mcp"].iter().chain(options));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            n_asked: 0,
        }
    }

    /// Writes a line as it is.
    pub(crate) fn say(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Reads the next answer.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    /// Asks, and returns the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(request.to_string().as_bytes());
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool, and returns its text and whether it is an error.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        );
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
        (text, result["isError"].as_bool().unwrap())
    }

    /// Calls a tool that succeeds.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(name, arguments);
        assert!(!is_error, "{text}");
        text
    }

    /// Calls a tool that fails.
    pub(crate) fn failing(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(name, arguments);
        assert!(is_error, "{text}");
        text
    }

    /// Returns a figure of the process in kilobytes, and the number of its descriptors.
    pub(crate) fn size(&self) -> (u64, usize) {
        let process = format!("/proc/{}", self.child.id());
        let status = fs_err::read_to_string(Path::new(&process).join("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon"));
        let memory = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        let descriptors = fs_err::read_dir(Path::new(&process).join("fd")).unwrap();
        (memory.unwrap(), descriptors.count())
    }

    /// Ends the input, and returns how the server ended.
    pub(crate) fn end(mut self) -> Run {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        self.child.stdout = None;
        let mut run = Run::of_child(self.child);
        run.out = rest.into_bytes();
        run
    }
}

/// Returns the `_meta` of a request of the second era.
pub(crate) fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn clients_with_a_handshake_are_answered() {
    let world = World::new();
    let mut client = Client::start(&world);
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let answer = client.ask("initialize", json!({ "protocolVersion": asked }));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["capabilities"], json!({ "tools": {} }));
        assert_eq!(result["serverInfo"]["name"], "ken");
    }
    client.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 5);
    assert_eq!(tools["result"].get("ttlMs"), None);
    assert_eq!(
        client.ask("resources/list", json!({}))["error"]["code"],
        -32601
    );
    assert_eq!(client.end().code, 0);
}

#[test]
fn clients_without_a_handshake_are_answered() {
    let world = World::new();
    let mut client = Client::start(&world);
    let modern = json!({ "_meta": meta("2026-07-28") });
    let discovered = client.ask("server/discover", modern.clone());
    let result = &discovered["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64());
    let listed = client.ask("tools/list", modern.clone());
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_u64());
    assert_eq!(listed, {
        let mut again = client.ask("tools/list", modern.clone());
        again["id"] = listed["id"].clone();
        again
    });
    // What belongs to the first era only is no method of the second.
    assert_eq!(client.ask("ping", modern)["error"]["code"], -32601);
    let unsupported = client.ask("tools/list", json!({ "_meta": meta("1900-01-01") }));
    assert_eq!(unsupported["error"]["code"], -32022);
    assert_eq!(unsupported["error"]["data"]["supported"][0], "2026-07-28");
    let mut incomplete = meta("2026-07-28");
    incomplete
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/clientCapabilities");
    let refused = client.ask("tools/list", json!({ "_meta": incomplete }));
    assert_eq!(refused["error"]["code"], -32602);
}

#[test]
fn each_client_is_told_what_to_add() {
    let world = World::new();
    let folder = world.docs().join("it's \"mine\" & yours");
    fs_err::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let options = ["mcp", "--in", folder, "--mail", "--install"];
    let told = |client: &str| world.ken(options.iter().chain([&client])).text().to_owned();
    let program = world
        .command([""; 0])
        .get_program()
        .to_str()
        .unwrap()
        .to_owned();
    let expected = json!(["mcp", "--in", folder, "--mail"]);

    // Each block is read as its program reads it.
    for (client, key) in [
        ("vscode", "servers"),
        ("cursor", "mcpServers"),
        ("zed", "context_servers"),
    ] {
        let text = told(client);
        let block: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let entry = &block[key]["ken"];
        assert_eq!(
            (&entry["args"], &entry["command"]),
            (&expected, &json!(program))
        );
        assert_eq!(entry.get("type").is_some(), client == "vscode");
    }
    for (client, begin) in [
        ("claude", "claude mcp add --scope user ken -- "),
        ("codex", "codex mcp add ken -- "),
    ] {
        let text = told(client);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(begin))
            .unwrap();
        let script = format!("printf '%s\\n' {line}");
        let words = Run::of(world.around("sh").args(["-c", &script]).output().unwrap());
        let words: Vec<&str> = words.text().lines().collect();
        assert_eq!(json!(words[1..]), expected, "{text}");
        assert_eq!(words[0], program);
    }
    let codex = told("codex");
    let (_, block) = codex.split_once("[mcp_servers.ken]\n").unwrap();
    let args = block.lines().find_map(|line| line.strip_prefix("args = "));
    assert_eq!(
        serde_json::from_str::<Value>(args.unwrap()).unwrap(),
        expected
    );
    let emacs = told("emacs");
    let quoted = json!(folder).to_string();
    assert!(
        emacs.contains("mcp-hub-servers") && emacs.contains(&quoted),
        "{emacs}"
    );
}

#[test]
fn a_repository_is_the_default_and_nothing_else() {
    let world = World::new();
    let run = world.ken(["mcp"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--in"), "{}", run.err);
    assert_eq!(world.ken(["mcp", "--in", "nowhere"]).code, 2);
    fs_err::create_dir_all(world.docs().join("src/.git")).unwrap();
    world.write("src/a.txt", "melon");
    let mut command = world.command(["mcp"]);
    command.current_dir(world.docs().join("src"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "grep", "arguments": { "pattern": "melon" } } });
    writeln!(child.stdin.take().unwrap(), "{call}").unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert!(run.text().contains("a.txt"), "{}", run.text());
}
