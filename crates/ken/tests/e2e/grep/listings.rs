//! Folders that did not change are not listed again: what the index keeps of them, and when it cannot be used.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::needs;
use crate::world::World;

/// Returns an empty home folder on a file system of which an index keeps listings; none if there is none. The
/// temporary folder of a container is often on an overlay, which may change without its times.
fn world() -> Option<World> {
    let mut folders = [
        std::env::temp_dir(),
        "/dev/shm".into(),
        env!("CARGO_TARGET_TMPDIR").into(),
    ]
    .into_iter();
    let folder = folders.find(|folder| {
        let mut stat = Command::new("stat");
        let kind = stat.args(["-f", "-c", "%T"]).arg(folder).output();
        kind.is_ok_and(|kind| kind.status.success() && kind.stdout != b"overlayfs\n")
    });
    needs::met("listings", folder.is_some()).then(|| World::below(&folder.unwrap()))
}

/// Returns an indexed tree with listings of its folders. A folder that changed within two seconds before a run has
/// none, as it may have changed after the run.
fn indexed() -> Option<World> {
    let world = world()?;
    for number in 0..50 {
        world.write(format!("{number}/old.txt"), format!("otter {number}\n"));
        world.write(format!("{number}/deep/.hidden"), "a hidden otter\n");
        // If all files match, the index is not used.
        (0..10).for_each(|other| _ = world.write(format!("{number}/{other}"), "a badger\n"));
    }
    thread::sleep(Duration::from_millis(2200));
    world.index_docs();
    let listings = fs_err::metadata(world.data().join("index/listings")).unwrap();
    assert_eq!(listings.mode() & 0o077, 0);
    Some(world)
}

fn files(world: &World, more: &[&str]) -> Vec<String> {
    // Another code sorts paths during the walk.
    let args = ["grep", "-l", "-uu", "otter"];
    let run = world.ken(args.iter().chain(more));
    assert_eq!((run.code, &*run.err), (0, ""));
    let mut files: Vec<_> = run.lines().into_iter().map(str::to_owned).collect();
    files.sort();
    files
}

/// Returns the number of folders below `docs` that a search lists, as `strace` sees it; none if `strace` cannot run.
fn n_listed(world: &World, how: &str) -> Option<usize> {
    n_listed_by(Command::new("strace"), world, how)
}

/// The same as above on one core.
fn n_listed_on_one_core(world: &World, how: &str) -> Option<usize> {
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", "0", "strace"]);
    n_listed_by(pinned, world, how)
}

fn n_listed_by(mut traced: Command, world: &World, how: &str) -> Option<usize> {
    let flags = [
        "-f",
        "-y",
        "-qq",
        "-e",
        "trace=getdents64",
        "-e",
        "signal=none",
    ];
    let ken = world.command(["grep", "-l", "-uu", how, "otter", "docs"]);
    traced
        .args(flags)
        .arg(ken.get_program())
        .args(ken.get_args());
    let set = ken
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    traced.env_clear().envs(set).current_dir(world.home());
    let output = traced
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let docs = world.docs().display().to_string();
    let trace = String::from_utf8_lossy(&output.stderr).into_owned();
    let calls = trace
        .lines()
        .filter_map(|line| line.split_once("getdents64("));
    let folders = calls.filter_map(|(_, call)| call.split(['<', '>']).nth(1));
    let listed: BTreeSet<_> = folders.filter(|path| path.starts_with(&docs)).collect();
    Some(listed.len())
}

#[test]
fn only_folders_that_changed_are_listed() {
    let Some(world) = indexed() else {
        return;
    };
    world.write("0/new.txt", "a new otter\n");
    let n_listed_of_all = n_listed(&world, "--no-index");
    if !needs::met("ptrace", n_listed_of_all.is_some()) {
        return;
    }
    assert_eq!(n_listed_of_all, Some(101));
    assert_eq!(n_listed(&world, "--hidden"), Some(1));
    // The command does not ask for one thread; the machine has only one core.
    let n_listed = n_listed_on_one_core(&world, "--hidden");
    if needs::met("taskset", n_listed.is_some()) {
        assert_eq!(n_listed, Some(1));
        assert_eq!(n_listed_on_one_core(&world, "-j1"), Some(101));
    }
}

#[test]
fn a_search_sees_every_change_of_a_folder_that_is_not_listed() {
    let Some(world) = indexed() else {
        return;
    };
    assert_eq!(files(&world, &["docs"]).len(), 100);
    world.write("0/new.txt", "a new otter\n");
    world.write("1/deep/new.txt", "a new otter\n");
    world.write("new/new.txt", "a new otter\n");
    world.write("2/old.txt", "something else\n");
    world.remove("3/old.txt");
    world.rename("4/old.txt", "4/other.txt");
    world.rename("5", "5 away");
    world.rename("6", "5");
    world.rename("7/deep", "8/deeper");
    fs_err::remove_dir_all(world.docs().join("9")).unwrap();
    world.write("9", "an otter where a folder was\n");
    let found = files(&world, &["docs"]);
    assert_eq!(found, files(&world, &["docs", "--no-index"]));
    assert_eq!(found.len(), 100 + 3 - 1 - 1 - 1);

    // From another folder, and by a relative path.
    fs_err::os::unix::fs::symlink(world.docs(), world.home().join("link")).unwrap();
    let by_link = files(&world, &["link/", "docs/10/"]);
    assert_eq!(by_link, files(&world, &["link/", "docs/10/", "--no-index"]));
}

#[test]
fn a_damaged_list_of_folders_is_found_and_made_anew() {
    let Some(world) = indexed() else {
        return;
    };
    let path = world.data().join("index/listings");
    let mut bytes = fs_err::read(&path).unwrap();
    let name = bytes
        .windows(4)
        .position(|window| window == b"old.")
        .unwrap();
    bytes[name] ^= 1;
    fs_err::write(&path, &bytes).unwrap();
    assert_eq!(files(&world, &["docs"]).len(), 100, "that folder is listed");
    let run = world.ken(["check"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.text().contains("index/listings"), "{}", run.text());
    let run = world.ken(["check", "--repair"]);
    assert!(run.code < 2, "{}", run.err);
    assert_eq!(world.ken(["check", "-q"]).code, 0);
    assert_eq!(files(&world, &["docs"]).len(), 100);
    assert!(path.exists());
}
