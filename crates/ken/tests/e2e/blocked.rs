//! A file system that does not answer stops neither a run nor a search, and a signal ends both.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::places::{Kind, Place};
use crate::serve::Server;
use crate::web;
use crate::world::{Run, World, assert_counts};

/// Longer than ken waits for anything here.
const LONG: Duration = Duration::from_secs(60);

/// Returns a place of FUSE, and a home folder elsewhere whose `docs` is there.
fn blocked() -> Option<(Place, World)> {
    let place = Place::new(Kind::Fuse)?;
    let world = World::new();
    for name in ["a.txt", "b.txt", "c.txt", "sub/d.txt"] {
        let path = place.folder().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, format!("otter {name}\n")).unwrap();
    }
    Some((place, world))
}

/// Runs a command, which must end by itself.
fn run(mut command: Command) -> Run {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + LONG;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Run::of(child.wait_with_output().unwrap())
}

fn index(world: &World, place: &Place) -> Run {
    let folder = place.folder().to_str().unwrap();
    run(world.command(["index", "--json", "--set", "extract.file_seconds=2", folder]))
}

fn failed(world: &World) -> String {
    let run = world.ken(["status", "--failed"]);
    String::from_utf8(run.out).unwrap()
}

#[test]
fn a_file_whose_bytes_do_not_come_is_timed_out_and_tried_again() {
    let Some((place, world)) = blocked() else {
        return;
    };
    for operation in ["read", "open"] {
        place.rules(&format!("{operation} b.txt HANG\n"));
        let summary = index(&world, &place).summary();
        assert_eq!(summary["failed"], 1);
        let list = failed(&world);
        assert!(
            list.contains("b.txt") && list.contains("did not answer within 2 s"),
            "{list}"
        );
        assert!(world.hits("otter").len() >= 3);
        place.rules("");
        let summary = index(&world, &place).summary();
        assert_counts(&summary, &[("changed", 1), ("unchanged", 3)]);
        assert_eq!(summary["failed"], 0);
        assert_eq!(world.hits("otter").len(), 4);
        fs_err::write(place.folder().join("b.txt"), format!("otter {operation}\n")).unwrap();
    }
}

#[test]
fn a_walk_goes_on_past_what_does_not_answer() {
    let Some((place, world)) = blocked() else {
        return;
    };
    assert_eq!(index(&world, &place).code, 0);
    for (rule, silent) in [
        ("getattr b.txt HANG\n", "b.txt"),
        ("readdir sub HANG\n", "sub"),
    ] {
        place.rules(rule);
        let run = index(&world, &place);
        assert_eq!(run.code, 2, "{}", run.err);
        assert_eq!(
            (&run.summary()["gone"], &run.summary()["errors"]),
            (&0.into(), &1.into())
        );
        assert!(
            run.err.contains(silent) && run.err.contains("timed out"),
            "{}",
            run.err
        );
        place.rules("");
    }
    assert_eq!(world.hits("otter").len(), 4);
    // The root itself.
    place.rules("readdir / HANG\n");
    let run = index(&world, &place);
    assert_counts(&run.summary(), &[("kept", 4)]);
}

#[test]
fn many_silent_roots_take_no_longer_than_one() {
    let Some((place, world)) = blocked() else {
        return;
    };
    // One after the other, they would take longer than `run` waits.
    let roots: Vec<_> = (0..7)
        .map(|n| place.folder().join(format!("silent{n}")))
        .collect();
    for root in &roots {
        fs_err::create_dir(root).unwrap();
        fs_err::write(root.join("a.txt"), "otter\n").unwrap();
    }
    let index = || {
        let mut command = world.command(["index", "--json"]);
        command.args(&roots);
        run(command)
    };
    assert_counts(&index().summary(), &[("added", 7)]);
    place.rules("readdir silent HANG\n");
    assert_counts(&index().summary(), &[("kept", 7)]);
}

#[test]
fn a_client_cannot_name_a_root_that_holds_up_the_server() {
    let Some((place, world)) = blocked() else {
        return;
    };
    world.write("fruit.txt", "one quince");
    world.index_docs();
    let server = Server::start(&world);
    let page = web::page(&world);
    place.rules("getattr / HANG\nreaddir / HANG\n");
    let body = format!("{{\"add\":[\"{}\"]}}", place.folder().display());
    let headers = [
        format!("Authorization: Bearer {}", page.token),
        format!("Content-Length: {}", body.len()),
        "Content-Type: application/json".to_owned(),
    ];
    let headers = headers.each_ref().map(String::as_str);
    let (status, _, answer) = page.ask_with("POST", "/api/v1/index", &headers, &body);
    assert!(
        status == 400 && answer.contains("its file system does not answer"),
        "{answer}"
    );
    assert_eq!(server.status()["swept"], 0);
}

#[test]
fn a_search_names_what_does_not_answer() {
    let Some((place, world)) = blocked() else {
        return;
    };
    let folder = place.folder().to_str().unwrap();
    for (rule, silent, n_found) in [
        ("read b.txt HANG\n", "b.txt", 3),
        ("getattr b.txt HANG\n", "b.txt", 3),
        ("readdir sub HANG\n", "sub", 3),
    ] {
        place.rules(rule);
        let run = run(world.command(["grep", "-l", "otter", folder]));
        assert_eq!(
            (run.code, run.lines().len()),
            (2, n_found),
            "{rule}{}",
            run.err
        );
        assert!(
            run.err.contains(silent) && run.err.contains("timed out"),
            "{}",
            run.err
        );
    }
}

#[test]
fn a_signal_ends_a_run_that_waits() {
    let Some((place, world)) = blocked() else {
        return;
    };
    let folder = place.folder().to_str().unwrap();
    for (rule, signal) in [
        ("read b.txt HANG\n", "TERM"),
        ("getattr b.txt HANG\n", "INT"),
    ] {
        place.rules(rule);
        let child = world.spawn(["index", folder]);
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Instant::now();
        let kill = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let output: Output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(
            sent.elapsed() < Duration::from_secs(5),
            "{:?}",
            sent.elapsed()
        );
        place.rules("");
    }
    let summary = index(&world, &place).summary();
    assert_eq!(summary["failed"], 0);
    assert_eq!(world.hits("otter").len(), 4);
}
