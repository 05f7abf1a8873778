//! `ken serve` answers on its socket: a search can wait for what changed before it, and runs by hand are handed over.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::serve::{Server, world};
use crate::world::World;

fn count(world: &World, query: &str) -> String {
    let run = world.ken(["search", "--fresh", query, "-c"]);
    assert!(run.err.is_empty(), "{}", run.err);
    run.text().to_owned()
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output().unwrap();
    user.stdout == b"0\n"
}

fn ask(world: &World, request: &str) -> String {
    let mut stream = UnixStream::connect(world.data().join("ken.sock")).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Asks as any client of HTTP may, and returns the status and the object.
fn post(world: &World, path: &str, body: &Value) -> (String, Value) {
    let body = body.to_string();
    let length = body.len();
    let head = "Host: ken\r\nConnection: close";
    let answer = ask(
        world,
        &format!("POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"),
    );
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().to_owned();
    (status, serde_json::from_str(body).unwrap())
}

#[test]
fn a_search_waits_for_what_was_changed_before_it() {
    let world = world();
    let server = Server::start(&world);
    for n in 0..20 {
        world.write(format!("a/{n}/new.txt"), format!("melon number{n}"));
        assert_eq!(count(&world, &format!("number{n}")), "1\n");
        world.rename(&format!("a/{n}"), &format!("b{n}"));
        assert_eq!(count(&world, &format!("number{n} dir:b{n}")), "1\n");
        world.write(format!("b{n}/new.txt"), format!("changed{n}"));
        assert_eq!(count(&world, &format!("changed{n}")), "1\n");
    }
    // A file that changes all the time is not taken at once, but for one who waits it is.
    for n in 0..12 {
        world.write("hot.log", format!("line{n}"));
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(count(&world, &format!("line{n}")), "1\n");
    }
    // A program that keeps a file open.
    let mut open = fs_err::File::create(world.docs().join("open.log")).unwrap();
    for n in 0..5 {
        writeln!(open, "entry{n}").unwrap();
        assert_eq!(count(&world, &format!("entry{n}")), "1\n");
    }
    world.write(".kenignore", "b3\n");
    assert_eq!(count(&world, "changed3"), "0\n");
    assert_eq!(count(&world, "changed4"), "1\n");
    world.remove(".kenignore");
    assert_eq!(count(&world, "changed3"), "1\n");
    let status = server.status();
    assert_eq!(status["pending"], 0);
    assert!(
        status["complete_seconds_ago"].as_f64() < Some(1.0),
        "{status}"
    );
    server.converges();
}

#[test]
fn a_search_is_fresh_also_without_a_server_and_where_nothing_is_watched() {
    let world = world();
    world.write("later.txt", "a later pear");
    assert_eq!(world.ken(["search", "pear", "-c"]).text(), "0\n");
    assert_eq!(count(&world, "pear"), "1\n");
    let _server = Server::start_with(&world, &["--max-watches", "1"]);
    for n in 0..5 {
        world.write(format!("a/b/{n}.txt"), format!("quince{n}"));
        assert_eq!(count(&world, &format!("quince{n}")), "1\n");
    }
    let none = World::new();
    let run = none.ken(["search", "--fresh", "x"]);
    assert_eq!(
        (run.code, run.err.contains("hint: ken index")),
        (2, true),
        "{}",
        run.err
    );
}

#[test]
fn a_pause_is_said_to_who_would_wait() {
    let world = world();
    let _server = Server::start(&world);
    assert_eq!(count(&world, "one"), "1\n");
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    let run = world.ken(["search", "--fresh", "one"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.err,
        "ken: indexing is paused; ken index --resume continues it\nhint: ken status shows what is pending\n"
    );
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    assert_eq!(count(&world, "one"), "1\n");
}

#[test]
fn a_run_by_hand_is_handed_over() {
    let world = world();
    let server = Server::start(&world);
    assert_eq!(count(&world, "one"), "1\n");
    let other = world.home().join("elsewhere");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("first.txt"), "a first lemon").unwrap();
    let run = world.ken([Path::new("index"), Path::new("--json"), &other]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let summary = run.objects().pop().unwrap();
    assert_eq!(
        (&summary["event"], &summary["added"]),
        (&json!("summary"), &json!(1))
    );
    assert_eq!(world.ken(["search", "lemon", "-c"]).text(), "1\n");
    // The new root is watched.
    fs_err::write(other.join("second.txt"), "a second lemon").unwrap();
    assert_eq!(count(&world, "lemon"), "2\n");
    // A root that is away keeps its documents.
    let away = world.home().join("away");
    fs_err::rename(&other, &away).unwrap();
    assert_eq!(count(&world, "lemon"), "2\n");
    fs_err::rename(&away, &other).unwrap();
    assert_eq!(count(&world, "lemon"), "2\n");
    let run = world.ken([Path::new("index"), Path::new("--forget"), &other]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(world.ken(["search", "lemon", "-c"]).text(), "0\n");
    // The settings are those of now.
    world.configure("[[folder]]\npath = \"~/docs\"\nfields.author = \"Anna\"\n");
    assert_eq!(world.ken(["index", "-q"]).code, 0);
    assert_eq!(count(&world, "author:anna one"), "1\n");
    world.write("after.txt", "after the settings changed");
    assert_eq!(count(&world, "author:anna after"), "1\n");
    // What the server would do otherwise is done by the command itself.
    world.write("dry.txt", "a dry fig");
    let dry = world.ken(["index", "--dry-run", "--json"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    let missing = world.ken(["index", "/no/such/folder"]);
    assert_eq!(missing.code, 2);
    server.converges();
}

/// Starts a run that reads all of 300 files again, and stops it after a while.
fn stop(world: &World, options: &[&str], signal: &str, wait: u64) {
    let mut child = world.spawn([&["index", "--full", "-q"], options].concat());
    std::thread::sleep(Duration::from_millis(wait));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap();
}

/// Runs of this kind work alone beside a server.
const ALONE: [&str; 2] = ["--commit-seconds", "0.01"];

#[test]
fn a_run_that_is_stopped_leaves_nothing_out() {
    let world = world();
    for n in 0..300 {
        let text = format!("otter {n} ").repeat(5_000);
        world.write(format!("many/{}/{n}.txt", n % 7), text);
    }
    // Commits in which some files are missing, since they are being read.
    world.configure("commit_seconds = 0.01\n");
    world.index_docs();
    let server = Server::start(&world);
    assert_eq!(count(&world, "otter"), "300\n");
    for (options, signal) in [
        (&[][..], "-INT"),
        (&[], "-KILL"),
        (&ALONE, "-INT"),
        (&ALONE, "-KILL"),
    ] {
        for wait in [60, 150, 300] {
            stop(&world, options, signal, wait);
            assert_eq!(count(&world, "otter"), "300\n", "{options:?} {signal}");
        }
        // The server finds out by itself, too.
        stop(&world, options, signal, 200);
        let found = || world.ken(["search", "otter", "-c"]).text().to_owned();
        server.until("all files are back", || found() == "300\n");
    }
    server.converges();
}

#[test]
fn tags_are_handed_over() {
    let world = world();
    let message = "From: a@example.org\nMessage-ID: <1@example.org>\nSubject: figs\n\nA basket.\n";
    world.write("mail/cur/1.host:2,S", message);
    world.write("mail/new/keep", "");
    let _server = Server::start(&world);
    assert_eq!(count(&world, "subject:figs"), "1\n");
    let run = world.ken(["mail", "tag", "+todo", "subject:figs"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(world.ken(["search", "tag:todo", "-c"]).text(), "1\n");
}

#[test]
fn any_client_may_ask_but_only_the_user() {
    let world = world();
    let server = Server::start(&world);
    assert_eq!(count(&world, "one"), "1\n");
    let socket = world.data().join("ken.sock");
    let metadata = fs_err::metadata(&socket).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    world.write("asked.txt", "an asked plum");
    let (status, answer) = post(&world, "/api/v1/fresh", &json!({"seconds": 30}));
    assert_eq!(status, "200", "{answer}");
    assert_eq!(world.ken(["search", "plum", "-c"]).text(), "1\n");
    for (path, body, expected) in [
        ("/api/v1/fresh", json!({"seconds": "soon"}), "400"),
        ("/api/v1/status", json!({}), "405"),
        ("/api/v1/elsewhere", json!({}), "404"),
    ] {
        let (status, answer) = post(&world, path, &body);
        assert_eq!(status, expected);
        assert!(answer["error"].is_string(), "{answer}");
    }
    // As another user, if this one may become one.
    if is_root() {
        let text =
            format!("import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect({socket:?})\n");
        let nobody = Command::new("setpriv")
            .args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "python3",
                "-c",
                &text,
            ])
            .output();
        if let Ok(nobody) = nobody {
            assert!(!nobody.status.success(), "another user gets in");
        }
    }
    let run = server.end();
    assert_eq!(run.code, 0);
    assert!(!socket.exists(), "the socket goes with the server");
}

#[test]
fn a_socket_that_a_dead_server_left_is_replaced() {
    let world = world();
    let server = Server::start(&world);
    server.signal("-KILL");
    drop(server);
    assert!(world.data().join("ken.sock").exists());
    world.write("dead.txt", "a dead date");
    assert_eq!(count(&world, "date"), "1\n");
    let server = Server::start(&world);
    world.write("alive.txt", "another date");
    assert_eq!(count(&world, "date"), "2\n");
    // A server that is stopped holds nobody for long.
    server.signal("-STOP");
    let run = world.ken(["status"]);
    assert_eq!(run.code, 0);
    server.signal("-CONT");
    assert_eq!(count(&world, "date"), "2\n");
}
