//! Clients that others wrote: the official SDKs for Rust and for Python.

use std::path::Path;

use crate::needs;
use crate::world::{Run, World};

/// Returns the program of the virtual environment that `scripts/python-peers` makes.
fn python() -> Option<&'static Path> {
    let python = Path::new(concat!(
        env!("CARGO_TARGET_TMPDIR"),
        "/python-peers/venv/bin/python"
    ));
    let has_sdk = || {
        let mut command = std::process::Command::new(python);
        let run = command.args(["-c", "import mcp.client.stdio"]).output();
        run.is_ok_and(|run| run.status.success())
    };
    needs::met("mcp-sdk", has_sdk()).then_some(python)
}

#[test]
fn the_official_client_for_python_uses_all_tools() {
    let Some(python) = python() else {
        return;
    };
    let world = World::new();
    world.write("a.txt", "the melon\n");
    world.index_docs();
    let script = world.home().join("client.py");
    fs_err::write(&script, include_str!("client.py")).unwrap();
    let mut command = world.around(python.to_str().unwrap());
    let run = command.arg(&script).output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{out}{err}");
    assert_eq!(out, "search grep read list status\nok\n", "{err}");
}

#[test]
fn the_official_client_for_rust_speaks_both_eras() {
    let client = Path::new(concat!(
        env!("CARGO_TARGET_TMPDIR"),
        "/mcp-client/debug/mcp-client"
    ));
    if !needs::met("rmcp", client.is_file()) {
        return;
    }
    let world = World::new();
    world.write("a.txt", "the melon\n");
    world.index_docs();
    let ken = world.command(["mcp", "--in", "docs"]);
    let mut command = world.around(client.to_str().unwrap());
    let run = Run::of(
        command
            .arg(ken.get_program())
            .args(ken.get_args())
            .output()
            .unwrap(),
    );
    assert_eq!(
        run.text(),
        "handshake 2025-11-25\ndiscovery 2026-07-28\n",
        "{}",
        run.err
    );
    assert_eq!(run.code, 0);
}
