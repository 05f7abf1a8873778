//! Circumstances of a run: little memory, a clock that was set back, folders that it temporarily may not
//! read.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Ending;
use crate::crash::{Tree, assert_converged, documents};
use crate::samples::{mbox, tar};
use crate::world::{Run, World};

const SEED: u64 = 5;
/// A user other than root, for whom permissions hold.
const NOBODY: u32 = 65_534;

/// Returns the memory that a process has now and does not share, in bytes, as the system counts it.
fn own_memory(process: u32) -> Option<u64> {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Indexes the documents; returns the maximum memory of the program that it does not share, in bytes.
fn most_memory(world: &World, options: &[&str]) -> (Run, u64) {
    let arguments = ["index", "--json", "docs"].iter().chain(options);
    let run = world.spawn(arguments);
    let (process, ended) = (run.id(), AtomicBool::new(false));
    let look = || {
        let mut most = 0;
        while !ended.load(Ordering::Relaxed) {
            most = most.max(own_memory(process).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    };
    let (run, most) = std::thread::scope(|scope| {
        let looking = scope.spawn(look);
        let ending = Ending(&ended);
        let run = Run::of_child(run);
        drop(ending);
        (run, looking.join().unwrap())
    });
    assert_eq!(run.code, 0, "{}", run.err);
    println!("{} MiB", most >> 20);
    assert!(most > 16 << 20, "it was looked at in time");
    (run, most)
}

/// With any input, a run takes no more memory than the setting allows, apart from the program's own.
#[test]
fn memory_is_what_was_given() {
    /// Tables of the program, memory that the allocator keeps, and the n-grams of one large text on each thread.
    const BESIDE: u64 = 32 << 20;
    const GIVEN: u64 = 128 << 20;

    let world = World::new();
    let line = |number: usize| {
        format!(
            "{} otter {number:x} river{}\n",
            number * 7919,
            number % 9973
        )
    };
    let text: String = (0..450_000).map(line).collect();
    assert!(text.len() > 10 << 20);
    for number in 0..4 {
        world.write(format!("large{number}.txt"), &text[number..]);
    }
    world.write("large.html", format!("<p>{}", text.replace('\n', "<br>\n")));
    let members = [("a.txt", &text[..]), ("b.txt", &text), ("c.txt", &text)];
    world.write("large.tar", tar(&members));
    let many: Vec<String> = (0..8_000).map(line).collect();
    world.write("many.mbox", mbox(&many));
    let names: Vec<String> = (0..8_000).map(|number| format!("{number}.txt")).collect();
    let small: Vec<_> = names
        .iter()
        .zip(&many)
        .map(|(name, text)| (&name[..], &text[..]))
        .collect();
    world.write("many.tar", tar(&small));
    let (run, most) = most_memory(&world, &["--memory=128M", "--threads=2"]);
    assert!(run.summary()["documents"].as_u64() > Some(16_000));
    assert!(most < GIVEN + BESIDE, "{} MiB", most >> 20);
    // The text that was left out for lack of memory is reported.
    let failed = world.failed();
    assert_eq!(failed["large0.txt"], "limit", "{failed:?}");
    assert_eq!(world.hits("otter filename:large0").len(), 1);
}

/// Threads hold unpacked content one after the other if memory does not suffice for all of it.
#[test]
fn large_parts_of_files_take_turns() {
    const GIVEN: u64 = 256 << 20;
    const MAILBOXES: usize = 6;

    let world = World::new();
    let line = format!("{}\n", "A".repeat(76));
    let attachment = line.repeat(22 << 20 >> 6);
    let mailbox = format!(
        "From anna@example.org Wed Jan  7 08:00:00 2026\n\
         From: anna@example.org\nSubject: numbers\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n\
         --b\nContent-Type: application/octet-stream; name=a.bin\n\
         Content-Disposition: attachment; filename=a.bin\n\
         Content-Transfer-Encoding: base64\n\n{attachment}--b--\n"
    );
    for number in 0..MAILBOXES {
        world.write(format!("{number}.mbox"), &mailbox);
    }
    let (run, most) = most_memory(&world, &["--memory=256M", "--threads=8"]);
    let n_documents = run.summary()["documents"].as_u64();
    assert_eq!(n_documents, Some(3 * MAILBOXES as u64), "{}", run.text());
    // Half is for segments, which are almost empty here. All threads together would take more than the rest.
    assert!(most < GIVEN / 4 * 3, "{} MiB", most >> 20);
}

/// The clock is a month ahead in one run and right in the next. No changed file is taken for unchanged.
#[test]
fn a_clock_that_was_set_back_hides_no_change() {
    let mut tree = Tree::new(SEED, 40);
    let index = ["--data", "data", "index", "-q", "--threads=2", "docs"];
    // With a false clock, a wait for a point in time may last for decades.
    let mut ahead = tree.world.around("timeout");
    ahead
        .args(["120", "faketime", "-f", "+30d", env!("CARGO_BIN_EXE_ken")])
        .args(index);
    let run = Run::of(ahead.output().unwrap());
    assert_eq!(run.code, 0, "{}", run.err);
    let completed = |world: &World| -> String {
        let status = world.ken(["--data", "data", "status", "--json"]);
        status.objects()[0]["completed"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = completed(&tree.world);
    for lazily in [true, false, true] {
        for _ in 0..15 {
            tree.edit();
        }
        let lazy = lazily.then_some("--lazy");
        let run = tree
            .world
            .ken(["--data", "data", "index", "-q"].into_iter().chain(lazy));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(completed(&tree.world) < before, "the clock went back");
        assert_converged(&tree.world, SEED);
    }
}

/// Folders and files lose and regain their permissions during runs. Their documents stay, and in the end the
/// index equals a fresh one.
#[test]
fn permissions_that_change_cost_no_document() {
    let tree = Tree::new(SEED, 120);
    let world = &tree.world;
    let give_all_to = |owner: u32| {
        let mut chown = Command::new("chown");
        chown
            .arg("-R")
            .arg(format!("{owner}:{owner}"))
            .arg(world.home());
        assert!(chown.status().unwrap().success());
    };
    let is_root = chown(world.home(), Some(0), Some(0)).is_ok();
    let run = |arguments: &[&str]| {
        let mut command = world.around(if is_root { "setpriv" } else { "env" });
        if is_root {
            command.args([format!("--reuid={NOBODY}"), "--clear-groups".to_owned()]);
        }
        command.arg(env!("CARGO_BIN_EXE_ken")).args(arguments);
        Run::of(command.output().unwrap())
    };
    let index = ["--data", "data", "index", "-q", "--threads=2", "docs"];
    if is_root {
        give_all_to(NOBODY);
    }
    let first = run(&index);
    assert_eq!(first.code, 0, "{}", first.err);
    let files = || -> BTreeSet<String> {
        let found = documents(world, "data").into_iter();
        found.map(|hit| hit["path"].to_string()).collect()
    };
    let before = files();
    assert_eq!(before.len(), tree.names.len());
    let ended = AtomicBool::new(false);
    let paths: Vec<_> = world
        .files_below("docs")
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    let folders: Vec<_> = paths.iter().filter_map(|path| path.parent()).collect();
    let set = |open: bool| {
        let mode = |of: u32| Permissions::from_mode(if open { of } else { 0 });
        for path in folders.iter().filter(|folder| **folder != world.docs()) {
            let _ = fs_err::set_permissions(path, mode(0o755));
        }
        for path in paths.iter().step_by(3) {
            let _ = fs_err::set_permissions(path, mode(0o644));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut open = false;
            while !ended.load(Ordering::Relaxed) {
                set(open);
                open = !open;
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        // This also happens if an assertion fails, since the scope waits for the other thread.
        let _ending = Ending(&ended);
        for number in 0..6 {
            let full = ["--data", "data", "index", "-q", "--threads=2", "--full"];
            let outcome = run(if number % 2 == 0 { &index } else { &full });
            assert!(
                outcome.code == 0 || outcome.err.contains("ermission denied"),
                "{}",
                outcome.err
            );
            // A file without permission is found by its name. A file in a folder without permission is found as before.
            assert_eq!(files(), before);
        }
    });
    set(true);
    let last = run(&index);
    assert_eq!(last.code, 0, "{}", last.err);
    if is_root {
        give_all_to(0);
    }
    assert_converged(world, SEED);
}
