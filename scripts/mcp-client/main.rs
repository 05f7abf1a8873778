//! Calls each tool of a server with `rmcp`, the official SDK for Rust, in both eras of the protocol:
//! mcp-client PROGRAM ARGUMENTS…
//!
//! The server must have a document `a.txt` with the word "melon". `scripts/setup` builds it for
//! the tests.

use std::error::Error;

use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let modern = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    for (era, lifecycle) in [
        ("handshake", ClientLifecycleMode::Initialize),
        ("discovery", modern),
    ] {
        let version = tools(&command, lifecycle).await?;
        println!("{era} {version}");
    }
    Ok(())
}

/// Calls all tools, and returns the version of the protocol that was agreed on.
async fn tools(
    command: &[String],
    lifecycle: ClientLifecycleMode,
) -> Result<String, Box<dyn Error>> {
    let (program, arguments) = command.split_first().ok_or("no program")?;
    let mut server = Command::new(program);
    server.args(arguments);
    let transport = TokioChildProcess::new(server)?;
    let client = serve_client_with_lifecycle(ClientConfig::default(), transport, lifecycle).await?;
    let listed = client.list_all_tools().await?;
    let names: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
    if names != ["search", "grep", "read", "list", "status"] {
        return Err(format!("{names:?}").into());
    }
    for (name, arguments, expected) in [
        ("search", json!({ "query": "where is the melon?" }), "a.txt"),
        ("grep", json!({ "pattern": "mel.n" }), "melon"),
        ("read", json!({ "path": "a.txt" }), "melon"),
        ("list", json!({ "what": "types" }), "1 document"),
        ("status", json!({}), "Documents: 1"),
    ] {
        let Value::Object(arguments) = arguments else {
            continue;
        };
        let call = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = client.call_tool(call).await?;
        let text = result
            .content
            .first()
            .and_then(|content| content.as_text())
            .map(|text| text.text.clone());
        let text = text.ok_or_else(|| format!("{name}: {result:?}"))?;
        if result.is_error == Some(true) || !text.contains(expected) {
            return Err(format!("{name}: {text}").into());
        }
    }
    // A mistake is told to the model, not thrown at the client.
    let wrong = client
        .call_tool(CallToolRequestParams::new("search"))
        .await?;
    if wrong.is_error != Some(true) {
        return Err(format!("{wrong:?}").into());
    }
    let version = client
        .peer_info()
        .map(|info| info.protocol_version.to_string());
    client.cancel().await?;
    version.ok_or_else(|| "no version was agreed on".into())
}
