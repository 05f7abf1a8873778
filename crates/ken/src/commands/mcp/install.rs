//! What to add to the settings of a client, so that it starts the server.

use std::path::{Path, absolute};

use ken_search::scope::Scope;
use serde_json::json;

use crate::cli::{AgentClient, Global};
use crate::failure::{Failure, Kind};

/// Returns what makes a client start the server for a scope, with a line about where it belongs.
pub(super) fn text(client: AgentClient, global: &Global, scope: &Scope) -> Result<String, Failure> {
    let program = text_of(&std::env::current_exe()?)?;
    let arguments = arguments(global, scope)?;
    let all = || std::iter::once(&program).chain(&arguments);
    let shell = || all().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let entry = json!({ "command": program, "args": arguments });
    Ok(match client {
        AgentClient::Claude => {
            format!(
                "Run this:\n\nclaude mcp add --scope user ken -- {}\n",
                shell()
            )
        }
        AgentClient::Codex => format!(
            "Run this:\n\ncodex mcp add ken -- {}\n\nor add this to ~/.codex/config.toml:\n\n[mcp_servers.ken]\ncommand = {}\nargs = {}\n",
            shell(),
            json!(program),
            json!(arguments),
        ),
        AgentClient::VsCode => {
            let mut entry = entry;
            entry["type"] = "stdio".into();
            settings(
                ".vscode/mcp.json, or what the command \"MCP: Open User Configuration\" opens",
                &json!({ "servers": { "ken": entry } }),
            )
        }
        AgentClient::Cursor => settings(
            "~/.cursor/mcp.json",
            &json!({ "mcpServers": { "ken": entry } }),
        ),
        AgentClient::Zed => settings(
            "~/.config/zed/settings.json",
            &json!({ "context_servers": { "ken": entry } }),
        ),
        AgentClient::Emacs => {
            let words: Vec<String> = arguments
                .iter()
                .map(|word| json!(word).to_string())
                .collect();
            format!(
                "Add this to your init file, with mcp.el installed:\n\n(with-eval-after-load 'mcp-hub\n  (add-to-list 'mcp-hub-servers\n               '(\"ken\" . (:command {} :args ({})))))\n",
                json!(program),
                words.join(" "),
            )
        }
    })
}

fn settings(file: &str, value: &serde_json::Value) -> String {
    format!("Add this to {file}:\n\n{value:#}\n")
}

fn arguments(global: &Global, scope: &Scope) -> Result<Vec<String>, Failure> {
    let mut arguments = Vec::new();
    for (option, path) in [("--data", &global.data), ("--config", &global.config)] {
        if let Some(path) = path {
            arguments.extend([option.to_owned(), text_of(&absolute(path)?)?]);
        }
    }
    for set in &global.set {
        arguments.extend(["--set".to_owned(), set.clone()]);
    }
    arguments.push("mcp".to_owned());
    let folders = scope.folders.iter().map(|path| ("--in", path));
    for (option, path) in folders.chain(scope.excluded.iter().map(|path| ("--exclude", path))) {
        arguments.extend([option.to_owned(), text_of(path)?]);
    }
    if scope.mail {
        arguments.push("--mail".to_owned());
    }
    Ok(arguments)
}

/// Returns a path as text: settings of clients hold nothing else.
fn text_of(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let message = format!(
            "\"{}\" is not UTF-8, so no client can name it",
            path.display()
        );
        Failure::new(Kind::Usage, message)
    })
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
