//! Workers of real runs that are stopped, killed or starved: the run continues and loses no other file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::samples::{fixture, pdf};
use crate::world::{Run, World};

/// The number of files in a folder whose extraction takes long enough to find a worker at it.
const FILES: usize = 400;

fn pdfs() -> World {
    let world = World::new();
    let pages = vec!["the otter swims in the river"; 40];
    for n in 0..FILES {
        let content = pdf(&format!("Report {n}"), "Anna", &pages);
        world.write(format!("{n}.pdf"), content);
    }
    world
}

/// Returns the children of a process.
fn children(parent: u32) -> Vec<u32> {
    let entries = fs_err::read_dir("/proc").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything.
    let rest = &stat[stat.rfind(')')? + 2..];
    rest.split(' ').nth(1)?.parse().ok()
}

fn lives(pid: u32) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits for something that happens soon.
#[track_caller]
fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(pid: u32, name: &str) {
    let arguments = [format!("-{name}"), pid.to_string()];
    Command::new("/bin/kill").args(arguments).status().unwrap();
}

/// Returns whether a process runs `ken worker`. Between its start and `exec` it looks like its parent.
fn is_worker(pid: u32) -> bool {
    let line = fs_err::read(format!("/proc/{pid}/cmdline"));
    line.is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(b"worker"))
}

/// Indexes with one thread, acts on the first worker of the run, and returns the summary.
fn disturbed(world: &World, settings: &[&str], disturb: &dyn Fn(u32)) -> Value {
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let child = world.spawn(settings.chain(["index", "--json", "--threads", "1", "docs"]));
    let parent = child.id();
    let worker = soon(|| children(parent).into_iter().find(|pid| is_worker(*pid)));
    disturb(worker);
    let run = Run::of_child(child);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        !Path::new(&format!("/proc/{worker}")).exists(),
        "not reaped"
    );
    run.summary()
}

#[test]
fn a_worker_that_stands_still_costs_one_file() {
    let world = pdfs();
    // Longer than a file takes on a busy machine.
    let deadline = ["extract.file_seconds=4"];
    let summary = disturbed(&world, &deadline, &|worker| signal(worker, "STOP"));
    assert_eq!(summary["added"], FILES);
    assert_eq!(summary["failed"], 1);
    let failed = world.failed();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed.values().next().unwrap(), "timeout");
    assert_eq!(world.hits("otter").len(), FILES - 1);
    assert_eq!(world.hits("ext:pdf").len(), FILES, "found by name");
    let run = world.ken(["status", "--failed", "--json"]);
    let failure = &run.objects()[0];
    assert!(failure["seconds"].as_f64().unwrap() >= 4.0);
    assert_eq!(failure["extractor"], "PDF");
    let remedy = failure["remedy"].as_str().unwrap();
    assert!(remedy.contains("extract.file_seconds"), "{remedy}");
    // The default limit is higher, so the file is tried again.
    let summary = world.index(&[]);
    assert_eq!(
        (&summary["changed"], &summary["failed"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn a_worker_that_dies_costs_one_file_at_most() {
    let world = pdfs();
    let summary = disturbed(&world, &[], &|worker| signal(worker, "KILL"));
    assert_eq!(summary["added"], FILES);
    let failed = world.failed();
    assert!(failed.len() < 2, "{failed:?}");
    // A worker that dies before it has its limits counts as not started.
    let known = ["crashed", "unreadable"];
    assert!(
        failed
            .values()
            .all(|reason| known.contains(&reason.as_str())),
        "{failed:?}"
    );
    assert_eq!(world.hits("otter").len(), FILES - failed.len());
}

#[test]
fn ctrl_c_reaches_no_worker() {
    let world = pdfs();
    // Of all processes only ken itself is in the group that gets the signals of a terminal.
    disturbed(&world, &[], &|worker| {
        let stat = fs_err::read_to_string(format!("/proc/{worker}/stat")).unwrap();
        let rest = &stat[stat.rfind(')').unwrap() + 2..];
        assert_eq!(rest.split(' ').nth(2).unwrap(), worker.to_string());
    });
    assert!(world.failed().is_empty());
}

#[test]
fn a_worker_that_cannot_be_started_is_tried_again_by_the_next_run() {
    let world = World::new();
    world.write("a.pdf", pdf("T", "A", &["the otter swims"]));
    // A shell that allows its programs hardly more descriptors than ken itself needs.
    let outcome = |descriptors: u32| {
        let script = format!(
            "ulimit -n {descriptors}; exec '{}' index --json --threads 1 docs",
            env!("CARGO_BIN_EXE_ken")
        );
        let mut command = Command::new("/bin/sh");
        command.current_dir(world.home()).args(["-c", &script]);
        command
            .env_clear()
            .env("HOME", world.home())
            .env("XDG_DATA_HOME", world.home().join("data"))
            .env("XDG_CONFIG_HOME", world.home().join("config"));
        command.output().unwrap()
    };
    let starved = (8..64).find(|descriptors| {
        outcome(*descriptors);
        fs_err::exists(world.data().join("index")).unwrap()
            && world
                .ken(["status", "--failed"])
                .text()
                .contains("no worker can be started")
    });
    assert!(starved.is_some(), "no such limit");
    let summary = world.index(&[]);
    assert_eq!(
        (&summary["changed"], &summary["failed"]),
        (&1.into(), &0.into())
    );
    assert_eq!(world.found("otter"), ["a.pdf"]);
}

#[test]
fn a_file_that_needs_too_much_memory_is_reported() {
    let world = World::new();
    let path = world.write("large.pdf", pdf("T", "A", &["x"]));
    let file = fs_err::File::options().append(true).open(path).unwrap();
    file.file().set_len(200 << 20).unwrap();
    world.write("small.pdf", pdf("T", "A", &["the otter swims"]));
    let limit = format!("extract.worker_memory={}", 150 << 20);
    let run = world.ken(["--set", &limit, "index", "--json", "docs"]);
    assert_eq!(run.summary()["failed"], 1, "{}", run.err);
    assert_eq!(world.failed()["large.pdf"], "limit");
    assert_eq!(world.found("otter"), ["small.pdf"]);
    let run = world.ken(["status", "--failed"]);
    assert!(
        run.text().contains("raise extract.worker_memory"),
        "{}",
        run.text()
    );
}

#[test]
fn workers_have_nothing_and_end_with_their_parent() {
    let world = pdfs();
    let secret = world.home().join("secret");
    fs_err::write(&secret, "x").unwrap();
    // A shell whose descriptor 9 is open, as some terminals leave it.
    let script = format!(
        "exec 9<'{}'; exec '{}' index -q docs",
        secret.display(),
        env!("CARGO_BIN_EXE_ken")
    );
    let mut command = Command::new("/bin/sh");
    command.current_dir(world.home()).args(["-c", &script]);
    let data = world.data();
    command
        .env_clear()
        .env("HOME", world.home())
        .env("KEN_DATA", data);
    let mut child = command.spawn().unwrap();
    let worker = soon(|| {
        let workers = children(child.id());
        // The last preparation: after it the worker is in its sandbox.
        workers
            .into_iter()
            .find(|pid| status(*pid, "Seccomp:") == "2")
    });
    signal(worker, "STOP");
    assert_eq!(status(worker, "NoNewPrivs:"), "1");
    assert_eq!(
        fs_err::read(format!("/proc/{worker}/environ")).unwrap(),
        b""
    );
    let open: Vec<PathBuf> = fs_err::read_dir(format!("/proc/{worker}/fd"))
        .unwrap()
        .map(|entry| fs_err::read_link(entry.unwrap().path()).unwrap())
        .collect();
    assert!(!open.contains(&secret), "{open:?}");
    let docs = world.docs();
    let files = open.iter().filter(|path| path.starts_with(&docs));
    assert!(files.count() <= 1, "{open:?}");
    assert!(open.len() < 8, "{open:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    soon(|| (!lives(worker)).then_some(()));
}

fn status(pid: u32, key: &str) -> String {
    let text = fs_err::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_default().trim().to_owned()
}

#[test]
fn every_format_reads_the_same_inside_the_sandbox() {
    let world = World::new();
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../ken-extract/tests/data"
    ));
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.file_name().unwrap().to_str().unwrap();
                world.write(name, fs_err::read(&path).unwrap());
            }
        }
    }
    let outcome = |isolate: &str| {
        let setting = format!("extract.isolate={isolate}");
        let data = world.home().join(isolate);
        let data = data.to_str().unwrap();
        let run = world.ken(["--set", &setting, "--data", data, "index", "--json", "docs"]);
        assert_eq!(run.code, 0, "{}", run.err);
        let ask = ["search", "--json", "--limit=0", "--sort=path", "size:>=0"];
        let hits = world.ken(["--data", data].iter().chain(&ask)).objects();
        let hits = hits.into_iter().map(|mut hit| {
            // Each index names its documents in its own way.
            hit.as_object_mut().unwrap().remove("id");
            hit.to_string()
        });
        let hits: Vec<_> = hits.collect();
        let failed = world.ken(["--data", data, "status", "--failed", "--json"]);
        let failures = failed.objects().into_iter().map(|mut failure| {
            failure.as_object_mut().unwrap().remove("seconds");
            failure.to_string()
        });
        (hits, failures.collect::<Vec<_>>())
    };
    let (hits, failures) = outcome("none");
    assert!(hits.len() > 100);
    assert_eq!(outcome("all"), (hits, failures));
}

#[test]
fn the_command_worker_is_not_for_people() {
    let world = World::new();
    world.write("a.pdf", fixture("pdf/encrypted-empty-password.pdf"));
    let run = world.ken(["worker"]);
    assert_eq!((run.code, run.text()), (2, ""));
    assert!(
        run.err.contains("ken starts its workers itself"),
        "{}",
        run.err
    );
    let run = world.ken(["--set", "extract.isolate=some", "extract", "docs/a.pdf"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("one of auto, all, none"), "{}", run.err);
}
