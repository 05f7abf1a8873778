//! Clients that others wrote: the official SDK for Python.

use std::path::Path;

use crate::needs;
use crate::world::World;

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
fn the_official_client_uses_all_tools() {
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
