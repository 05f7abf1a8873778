//! Resources that run out or disappear during a run: the run reports it, the earlier index answers, and the next
//! run ends with the answers of a fresh one.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use super::Ending;
use crate::crash::{Tree, assert_converged, documents};
use crate::needs;
use crate::world::{Run, World};

const SEED: u64 = 3;

/// Returns whether this machine can mount folders for the programs of a single command.
pub(crate) fn may_mount() -> bool {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", "mount -t tmpfs none /tmp"]);
    command.output().is_ok_and(|output| output.status.success())
}

/// Runs a script that may mount, in the home folder; `ken` is the program.
fn script(world: &World, text: &str) -> Run {
    let mut command = world.around("unshare");
    command.args(["-rm", "sh", "-euc", text]);
    Run::of(command.output().unwrap())
}

fn index(world: &World) -> Run {
    let run = world.ken(["--data", "data", "index", "-q", "--threads=2", "docs"]);
    assert_eq!(run.code, 0, "{}", run.err);
    run
}

#[test]
fn a_full_disk_leaves_the_last_commit() {
    if !needs::met("mount", may_mount()) {
        return;
    }
    let mut tree = Tree::new(SEED, 60);
    index(&tree.world);
    let before = documents(&tree.world, "data");
    tree.edit();
    for _ in 0..40 {
        tree.edit();
    }
    let world = &tree.world;
    // The size is a number of whole pages.
    let sizes = world.files_below("data").into_iter();
    let n_bytes: u64 = sizes
        .map(|(_, metadata)| metadata.len().next_multiple_of(4096))
        .sum();
    let mut n_full = 0;
    // The size of the index, and up to three times as much, for merging and two commits at once.
    for part in [2, 4, 8, 12, 16, 24, 48] {
        let kilobytes = n_bytes * (16 + part) / 16 / 1024 + 8;
        let _ = fs_err::remove_dir_all(world.home().join("after"));
        let run = script(
            world,
            &format!(
                "mkdir -p small before.out && mount -t tmpfs -o size={kilobytes}k none small
                 cp -a data/. small/
                 code=0; $ken --data small index -q --commit-bytes=8k docs 2>error || code=$?
                 cat error; echo code $code
                 $ken --data small search -n0 --json '*' >before.json
                 if cmp -s data/index/meta.json small/index/meta.json; then echo nothing committed; fi
                 $ken --data small check --json >check.json || true
                 mount -o remount,size=1g small
                 $ken --data small index -q docs
                 cp -a small after"
            ),
        );
        assert_eq!(run.code, 0, "{part}: {} {}", run.text(), run.err);
        if run.text().contains("code 2\n") {
            n_full += 1;
            assert!(run.text().contains("No space left"), "{}", run.text());
        }
        // Everything that was committed before the disk was full can be read.
        let left = fs_err::read_to_string(world.home().join("before.json")).unwrap();
        let n_left = left.lines().count();
        if run.text().ends_with("nothing committed\n") {
            assert_eq!(n_left, before.len(), "{part}: {left}");
        }
        // A commit may come between the deletion of a file's documents and their replacement.
        assert!(n_left >= before.len() / 2, "{part}: {left}");
        let check = fs_err::read_to_string(world.home().join("check.json")).unwrap();
        let summary: Value = serde_json::from_str(check.lines().last().unwrap()).unwrap();
        assert_eq!(summary["index"]["damaged"], 0, "{part}: {check}");
        assert_eq!(summary["doubled"], 0, "{part}: {check}");
        fs_err::rename(world.home().join("data"), world.home().join("saved")).unwrap();
        fs_err::rename(world.home().join("after"), world.home().join("data")).unwrap();
        assert_converged(world, SEED);
        fs_err::remove_dir_all(world.home().join("data")).unwrap();
        fs_err::rename(world.home().join("saved"), world.home().join("data")).unwrap();
    }
    assert!(n_full > 1, "the disk was full {n_full} times");
}

#[test]
fn a_data_folder_that_cannot_be_written_can_be_read() {
    if !needs::met("mount", may_mount()) {
        return;
    }
    let world = World::new();
    world.write("a.txt", "otter");
    index(&world);
    world.write("b.txt", "otter");
    let run = script(
        &world,
        "mount --bind data data && mount -o remount,ro,bind data
         $ken --data data search -l otter
         $ken --data data grep -c otter docs --sort path
         code=0; $ken --data data check -q || code=$?; echo check $code
         code=0; $ken --data data index 2>&1 || code=$?; echo index $code",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let text = run.text();
    assert!(text.contains("docs/b.txt:1\n"), "{text}");
    assert!(
        text.contains("check 1\n") && text.contains("index 2\n"),
        "{text}"
    );
    assert!(
        text.contains("Read-only file system") && text.contains("data/ken.lock"),
        "{text}"
    );
}

/// With few open files, a run either completes or reports the cause. No file is taken for unreadable.
#[test]
fn few_open_files_cost_no_document() {
    let mut tree = Tree::new(SEED, 40);
    index(&tree.world);
    let (mut n_failed, mut n_done) = (0, 0);
    for limit in [8, 12, 16, 20, 24, 32, 48, 96] {
        tree.edit();
        let world = &tree.world;
        let mut command = world.around("sh");
        command.args([
            "-c",
            &format!("ulimit -n {limit}; exec \"$ken\" --data data index -q --threads=2 docs"),
        ]);
        let run = Run::of(command.output().unwrap());
        match run.code {
            0 => n_done += 1,
            2 => {
                n_failed += 1;
                assert!(run.err.contains("open files"), "{limit}: {}", run.err);
            }
            code => panic!("{limit}: {code} {}", run.err),
        }
        index(world);
        assert_converged(world, SEED);
    }
    assert!(n_failed > 0 && n_done > 0, "{n_failed} {n_done}");
}

/// A search keeps only a part of the allowed files open, and finds as much with few.
#[test]
fn few_open_files_hide_no_hit() {
    let world = World::new();
    for number in 0..30 {
        world.write(format!("{number}.txt"), "otter");
        // Each run makes a segment, until some are merged.
        index(&world);
    }
    for limit in [16, 24, 64, 512] {
        let mut command = world.around("sh");
        let search = "exec \"$ken\" --data data search --count otter";
        command.args(["-c", &format!("ulimit -n {limit}; {search}")]);
        let run = Run::of(command.output().unwrap());
        assert_eq!((run.code, run.text()), (0, "30\n"), "{limit}: {}", run.err);
    }
}

/// Without more threads, the existing ones do the work, or the run reports the cause. It never waits for
/// threads that do not exist.
#[test]
fn few_threads_are_enough() {
    let mut tree = Tree::new(SEED, 40);
    let mut n_done = 0;
    for kilobytes in [100_000, 300_000, 600_000, 1_000_000, 4_000_000] {
        tree.edit();
        let world = &tree.world;
        let mut command = world.around("timeout");
        let script = format!(
            "ulimit -v {kilobytes}; exec \"$ken\" --data data index -q --extract-threads=1000 docs"
        );
        command.args(["60", "sh", "-c", &script]);
        let run = Run::of(command.output().unwrap());
        assert_ne!(run.code, 124, "{kilobytes}: the run hangs");
        n_done += usize::from(run.code == 0);
        index(world);
        assert_converged(world, SEED);
    }
    assert!(n_done > 0);
}

#[test]
fn a_root_that_goes_and_comes_back_is_whole() {
    let mut tree = Tree::new(SEED, 200);
    index(&tree.world);
    for round in 0..4 {
        tree.edit();
        let world = &tree.world;
        let run = world.spawn(["--data", "data", "index", "-q", "--full", "--threads=2"]);
        std::thread::sleep(Duration::from_millis(20 + 30 * round));
        let away = world.home().join("away");
        fs_err::rename(world.docs(), &away).unwrap();
        let run = Run::of_child(run);
        assert!(run.code == 0 || run.code == 2, "{}", run.err);
        let gone = world.ken(["--data", "data", "index"]);
        assert!(
            gone.err.contains("what the index knows of it is kept"),
            "{}",
            gone.err
        );
        assert!(!documents(world, "data").is_empty());
        fs_err::rename(&away, world.docs()).unwrap();
        index(world);
        assert_converged(world, SEED);
    }
}

#[test]
fn files_that_change_while_they_are_read_are_right_in_the_end() {
    let tree = Tree::new(SEED, 120);
    let world = &tree.world;
    let names: Vec<_> = tree
        .names
        .iter()
        .filter(|name| name.ends_with(".txt"))
        .collect();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let change = || {
            let mut random = Rng::with_seed(9);
            let docs = world.docs();
            while !ended.load(Ordering::Relaxed) {
                let path = docs.join(names[random.usize(..names.len())]);
                let other = path.with_extension("moved");
                match random.usize(..5) {
                    0 => {
                        let _ = fs_err::rename(&path, &other);
                    }
                    1 => {
                        let _ = fs_err::rename(&other, &path);
                    }
                    2 => {
                        let file = fs_err::OpenOptions::new().write(true).open(&path);
                        let _ = file.and_then(|file| file.set_len(random.usize(..500) as u64));
                    }
                    3 => {
                        let _ = fs_err::remove_file(&path);
                    }
                    _ => {
                        let text = "heron crane otter ".repeat(random.usize(..2000));
                        let _ = fs_err::write(&path, text);
                    }
                }
            }
        };
        scope.spawn(change);
        let _ending = Ending(&ended);
        for _ in 0..6 {
            let run = world.ken(["--data", "data", "index", "-q", "--threads=3", "docs"]);
            assert!(run.code == 0 || run.code == 2, "{}", run.err);
        }
    });
    index(world);
    assert_converged(world, SEED);
}
