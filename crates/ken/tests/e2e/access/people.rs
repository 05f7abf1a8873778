//! Who finds what, and who is refused.

use std::io::Write;
use std::os::unix::fs::chown;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err::OpenOptions;
use fs_err::os::unix::fs::OpenOptionsExt;
use serde_json::Value;

use super::{
    READER, ask, ask_as_owner, found_by, fresh, names, send, set, settings, socket, world, write,
};
use crate::needs;
use crate::serve::Server;
use crate::sidecar::xmp;
use crate::world::{World, assert_counts};

#[test]
fn people_find_what_they_may_read() {
    let world = world("");
    write(&world, "open/all.txt", 0o644, "apple for all");
    write(&world, "open/own.txt", 0o600, "apple of one");
    write(&world, "closed/hidden.txt", 0o644, "apple behind a folder");
    set(&world.docs().join("closed"), 0o700);
    world.index_docs();
    let _server = Server::start(&world);
    assert_eq!(found_by(&world, READER, "apple"), ["all.txt"]);
    let (_, all) = ask_as_owner(&world, "/api/v1/search?q=apple&sort=path");
    assert_eq!(names(&all), ["hidden.txt", "all.txt", "own.txt"]);
    assert_eq!(
        world.found("apple").len(),
        3,
        "who owns the index reads all of it"
    );
}

#[test]
fn a_change_of_rights_of_files_and_folders_is_taken_in() {
    let world = world("");
    let file = write(&world, "a/one.txt", 0o600, "apple");
    write(&world, "b/two.txt", 0o644, "apple");
    world.index_docs();
    set(&file, 0o644);
    let server = Server::start(&world);
    fresh(&server, &world);
    assert_eq!(found_by(&world, READER, "apple"), ["one.txt", "two.txt"]);
    set(&world.docs().join("b"), 0o700);
    fresh(&server, &world);
    assert_eq!(found_by(&world, READER, "apple"), ["one.txt"]);
    set(&world.docs().join("b"), 0o755);
    set(&file, 0o640);
    fresh(&server, &world);
    assert_eq!(found_by(&world, READER, "apple"), ["two.txt"]);
}

#[test]
fn what_others_may_read_is_what_the_file_has() {
    let world = world("");
    let file = write(&world, "one.txt", 0o600, "apple");
    world.set_modified("one.txt", 1_000_000_000);
    world.index_docs();
    // Another content with the same size, time of modification and inode, as a new file with the inode of an old one has.
    fs_err::write(&file, "lemon").unwrap();
    world.set_modified("one.txt", 1_000_000_000);
    set(&file, 0o644);
    assert_counts(&world.index(&[]), &[("changed", 1)]);
    let _server = Server::start(&world);
    assert_eq!(found_by(&world, READER, "apple"), [""; 0]);
    assert_eq!(found_by(&world, READER, "lemon"), ["one.txt"]);
}

#[test]
fn a_sidecar_is_shown_to_those_who_may_read_it() {
    let world = world("");
    write(&world, "one.jpg", 0o644, "no picture");
    let sidecar = write(&world, "one.jpg.xmp", 0o600, &xmp("quokka"));
    world.index_docs();
    let server = Server::start(&world);
    let of_picture = |word: &str| found_by(&world, READER, &format!("{word}+ext:jpg"));
    assert_eq!(of_picture("one"), ["one.jpg"]);
    assert_eq!(of_picture("keywords:quokka"), [""; 0]);
    set(&sidecar, 0o644);
    fresh(&server, &world);
    assert_eq!(of_picture("keywords:quokka"), ["one.jpg"]);
}

#[test]
fn a_private_sidecar_stays_private_when_rights_are_noted_later() {
    let world = World::new();
    set(world.home(), 0o755);
    set(&world.docs(), 0o755);
    write(&world, "one.jpg", 0o644, "no picture");
    write(&world, "one.jpg.xmp", 0o600, &xmp("quokka"));
    write(&world, "a/two.jpg", 0o644, "no picture");
    write(&world, "a/two.jpg.xmp", 0o600, &xmp("quokka"));
    set(&world.docs().join("a"), 0o700);
    world.index_docs();
    world.configure(&settings(&world));
    world.index_docs();
    let server = Server::start(&world);
    let found = || found_by(&world, READER, "keywords:quokka");
    assert_eq!(found(), [""; 0], "the index was made before");
    // In a folder that nobody else may enter, picture and sidecar have the same readers.
    set(&world.docs().join("a"), 0o755);
    fresh(&server, &world);
    assert_eq!(found_by(&world, READER, "ext:jpg"), ["two.jpg", "one.jpg"]);
    assert_eq!(found(), [""; 0], "the folder was opened");
    // The same of a folder with another name.
    set(&world.docs().join("a"), 0o700);
    fresh(&server, &world);
    fs_err::rename(world.docs().join("a"), world.docs().join("b")).unwrap();
    set(&world.docs().join("b"), 0o755);
    fresh(&server, &world);
    assert_eq!(found_by(&world, READER, "ext:jpg"), ["two.jpg", "one.jpg"]);
    assert_eq!(found(), [""; 0], "the folder was renamed");
    let (_, own) = ask_as_owner(&world, "/api/v1/search?q=keywords:quokka+ext:jpg");
    assert_eq!(names(&own), [""; 0], "the words belong to the sidecars");
}

#[test]
fn a_run_notes_who_may_read_what_and_then_nothing() {
    let world = World::new();
    for folder in ["a", "b"] {
        write(&world, &format!("{folder}/x.txt"), 0o644, "apple");
    }
    assert_counts(&world.index_docs(), &[("added", 2)]);
    world.configure("[access]\nenforce = true\n");
    assert_counts(&world.index(&[]), &[("changed", 2)]);
    assert_counts(&world.index(&[]), &[("unchanged", 2)]);
    set(&world.docs().join("a"), 0o700);
    assert_counts(&world.index(&[]), &[("changed", 1), ("unchanged", 1)]);
    assert_counts(&world.index(&[]), &[("unchanged", 2)]);
    // Expressions are found as before.
    let grep = world.ken(["grep", "--stats", "apple", "docs"]);
    assert_eq!(
        grep.lines()
            .iter()
            .filter(|line| line.contains("apple"))
            .count(),
        2
    );
}

#[test]
fn an_index_without_rights_shows_nothing() {
    let world = world("");
    write(&world, "one.txt", 0o644, "apple");
    let run = world.ken(["--set", "access.enforce=false", "index", "-q", "docs"]);
    assert_eq!(run.code, 2, "a socket for others needs rights: {}", run.err);
    let settings = fs_err::read_to_string(world.home().join("config/ken/config.toml")).unwrap();
    fs_err::remove_file(world.home().join("config/ken/config.toml")).unwrap();
    world.index_docs();
    world.configure(&settings);
    // The server has compared nothing yet, and later it has.
    let run = world.ken(["index", "--pause"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let server = Server::start(&world);
    assert_eq!(found_by(&world, READER, "apple"), [""; 0]);
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    server.until("the files are compared", || {
        found_by(&world, READER, "apple") == ["one.txt"]
    });
    let run = server.end();
    assert!(run.err.contains("does not say who may read"), "{}", run.err);
}

#[test]
fn what_is_shown_is_looked_at_again() {
    let world = world("");
    let file = write(&world, "one.txt", 0o644, "apple");
    world.index_docs();
    let _server = Server::start(&world);
    assert_eq!(found_by(&world, READER, "apple"), ["one.txt"]);
    let (_, found) = ask(&world, READER, "/api/v1/search?q=apple");
    let found: Value = serde_json::from_str(&found).unwrap();
    let id = found["hits"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    set(&file, 0o600);
    assert_eq!(found_by(&world, READER, "apple"), [""; 0]);
    for part in ["", "/text", "/original", "/members"] {
        let (status, body) = ask(&world, READER, &format!("/api/v1/documents/{id}{part}"));
        assert_eq!(status, 404, "{part}: {body}");
    }
}

#[test]
fn nobody_gets_nothing() {
    let world = world("");
    write(&world, "one.txt", 0o644, "apple");
    world.index_docs();
    let _server = Server::start(&world);
    let search = "/api/v1/search?q=apple";
    let person = |name: &str| format!("X-Person: {name}");
    let shared = socket(&world);
    for headers in [
        vec![],
        vec![person("")],
        vec![person("no-such-person")],
        vec![person(READER), person("root")],
        vec![person("nobody, root")],
    ] {
        let (status, body) = send(&shared, "GET", search, &headers, "");
        assert_eq!(status, 403, "{headers:?}: {body}");
    }
    // The header is a claim anywhere else.
    let private = world.data().join("ken.sock");
    let (status, body) = send(&private, "GET", search, &[person(READER)], "");
    assert_eq!(status, 403, "{body}");
    let page = crate::web::page(&world);
    let bearer = format!("Authorization: Bearer {}", page.token);
    assert_eq!(page.ask("GET", search, &[&bearer]).0, 200);
    assert_eq!(page.ask("GET", search, &[&bearer, &person("root")]).0, 403);
    assert_eq!(page.ask("GET", search, &[&person("root")]).0, 401);
}

#[test]
fn the_system_says_who_is_at_a_socket() {
    let is_root = nix::unistd::geteuid().is_root();
    let has = |program| Command::new(program).arg("--version").output().is_ok();
    let has_all = needs::met("root", is_root)
        && needs::met("setpriv", has("setpriv"))
        && needs::met("curl", has("curl"));
    if !has_all {
        return;
    }
    let user = |name: &str| nix::unistd::User::from_name(name).unwrap().unwrap();
    let ids = |name: &str| (user(name).uid.as_raw(), user(name).gid.as_raw());
    let (anna, bob, other) = (ids("daemon"), ids("bin"), ids(READER));
    let world = world("");
    for (name, (uid, gid), mode) in [
        ("of-anna", anna, 0o600),
        ("of-bob", bob, 0o600),
        ("of-group", (bob.0, anna.1), 0o640),
        ("of-all", anna, 0o644),
        ("not-of-bob", bob, 0o044),
    ] {
        let path = write(&world, &format!("{name}.txt"), mode, "apple");
        chown(&path, Some(uid), Some(gid)).unwrap();
    }
    world.index_docs();
    let _server = Server::start(&world);
    let ask = |(uid, gid): (u32, u32)| {
        let ids = [format!("--reuid={uid}"), format!("--regid={gid}")];
        let output = Command::new("setpriv")
            .args(ids)
            .args(["--clear-groups", "curl", "-s", "--unix-socket"])
            .arg(socket(&world))
            .arg("http://ken/api/v1/search?q=apple&sort=path")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let found = |ids| names(&ask(ids));
    assert_eq!(
        found(anna),
        [
            "not-of-bob.txt",
            "of-all.txt",
            "of-anna.txt",
            "of-group.txt"
        ]
    );
    assert_eq!(found(bob), ["of-all.txt", "of-bob.txt", "of-group.txt"]);
    assert_eq!(found(other), ["not-of-bob.txt", "of-all.txt"]);
    let refused = ask((50_001, 50_001));
    assert!(refused.contains("does not know this person"), "{refused}");
}

/// The list of groups is a pipe that nobody writes to, as a directory on a machine that does not answer.
#[test]
fn a_directory_that_does_not_answer_stops_nobody_else() {
    let is_root = nix::unistd::geteuid().is_root();
    let has_views = Command::new("unshare")
        .args(["--mount", "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !needs::met("root", is_root) || !needs::met("views", has_views) {
        return;
    }
    let world = world("");
    write(&world, "one.txt", 0o644, "apple");
    world.index_docs();
    let pipe = world.home().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let ken = world.command(["serve"]);
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "sh",
            "-c",
            "mount --bind \"$1\" /etc/group; shift; exec \"$@\"",
            "sh",
        ])
        .arg(&pipe)
        .arg(ken.get_program())
        .args(ken.get_args())
        .env_clear()
        .envs(
            ken.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .current_dir(world.home())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let _server = Server::of(&world, command.spawn().unwrap());
    let search = "/api/v1/search?q=apple";
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ask(&world, READER, search));
        std::thread::sleep(Duration::from_millis(300));
        let (status, body) = ask_as_owner(&world, search);
        assert_eq!((status, names(&body)), (200, vec!["one.txt".to_owned()]));
        assert!(!waiting.is_finished());
        let (status, body) = waiting.join().unwrap();
        assert_eq!(status, 503, "{body}");
        assert!(body.contains("does not say who asks"), "{body}");
    });
    // It answers now. Who waits in `open` may be interrupted between the two halves of this, so it is said again.
    let is_known = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_known.load(Ordering::Relaxed) {
                let pipe = OpenOptions::new()
                    .write(true)
                    .custom_flags(nix::libc::O_NONBLOCK)
                    .open(&pipe);
                let _ = pipe.and_then(|mut pipe| pipe.write_all(b"nogroup:x:65534:\n"));
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let start = Instant::now();
        while ask(&world, READER, search).0 != 200 && start.elapsed() < Duration::from_secs(60) {}
        is_known.store(true, Ordering::Relaxed);
    });
    assert_eq!(found_by(&world, READER, "apple"), ["one.txt"]);
}
