//! Answers stay right when times lie: files with equal stamps that change places, inodes that are used again, and
//! clocks of whole seconds; on file systems of several kinds.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::places::{KINDS, Kind, Place};
use crate::world::{World, assert_counts};

const FILES: usize = 60;
/// After this time a change is visible, however coarse the clock.
const SETTLED: Duration = Duration::from_millis(2100);

/// Fills two folders with files of equal sizes and, mostly, equal times.
fn write_twins(world: &World) {
    for folder in ["a", "b"] {
        fs_err::create_dir_all(world.docs().join(folder)).unwrap();
    }
    for number in 0..FILES {
        for (folder, word) in [("a", "otter"), ("b", "stoat")] {
            let text = format!("{word} number {number:03}\n");
            fs_err::write(world.docs().join(format!("{folder}/{number}.txt")), text).unwrap();
        }
    }
}

fn grep(world: &World, more: &[&str], word: &str) -> Vec<String> {
    let run = world.ken(
        ["grep", "-l", "--sort=path"]
            .iter()
            .chain(more)
            .chain(&[word, "docs"]),
    );
    run.lines().into_iter().map(str::to_owned).collect()
}

fn assert_exact(world: &World, words: &[&str], when: &str) {
    for word in words {
        assert_eq!(
            grep(world, &[], word),
            grep(world, &["--no-index"], word),
            "{word}, {when}"
        );
    }
}

fn swap(world: &World, one: &str, other: &str) {
    world.rename(one, "between");
    world.rename(other, one);
    world.rename("between", other);
}

#[test]
fn folders_that_change_places_are_seen() {
    for place in KINDS.into_iter().filter_map(Place::new) {
        let world = place.world();
        write_twins(&world);
        std::thread::sleep(SETTLED);
        world.index_docs();
        swap(&world, "a", "b");
        assert_exact(&world, &["otter", "stoat"], "before the run");
        assert_counts(&world.index(&[]), &[("changed", 2 * FILES as u64)]);
        assert_exact(&world, &["otter", "stoat"], "after the run");
        assert_eq!(world.hits("otter dir:docs/b").len(), FILES);
        assert_counts(&world.index(&[]), &[("unchanged", 2 * FILES as u64)]);
    }
}

#[test]
fn a_link_that_leads_elsewhere_is_seen() {
    let world = World::new();
    write_twins(&world);
    let there = world.home().join("there");
    fs_err::rename(world.docs(), &there).unwrap();
    fs_err::create_dir(world.docs()).unwrap();
    let link = world.docs().join("link");
    fs_err::os::unix::fs::symlink(there.join("a"), &link).unwrap();
    world.index(&["--follow", "docs"]);
    fs_err::remove_file(&link).unwrap();
    fs_err::os::unix::fs::symlink(there.join("b"), &link).unwrap();
    assert_eq!(grep(&world, &["--follow"], "stoat").len(), FILES);
    world.index(&[]);
    assert_eq!(world.hits("stoat").len(), FILES);
    assert!(world.hits("otter").is_empty());
}

/// Writes the files of a version of a package, all with the same time.
fn unpack(folder: &Path, version: &str) {
    fs_err::create_dir_all(folder).unwrap();
    for number in 0..FILES {
        let path = folder.join(format!("{number}.txt"));
        fs_err::write(&path, format!("version {version} {number:03}\n")).unwrap();
        let file = fs_err::File::options().append(true).open(&path).unwrap();
        file.file().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
}

#[test]
fn an_inode_that_is_used_again_is_another_file() {
    for place in KINDS.into_iter().filter_map(Place::new) {
        let world = place.world();
        unpack(&world.docs().join("pkg-1.0"), "one");
        world.index_docs();
        fs_err::remove_dir_all(world.docs().join("pkg-1.0")).unwrap();
        unpack(&world.docs().join("pkg-1.1"), "two");
        world.index(&[]);
        assert_exact(&world, &["one", "two"], "after the run");
        assert_eq!(world.hits("two").len(), FILES);
        assert!(world.hits("one").is_empty());
    }
}

#[test]
fn a_file_that_was_changed_in_place_and_renamed_is_read() {
    let world = World::new();
    unpack(&world.docs(), "one");
    world.index_docs();
    unpack(&world.docs(), "two");
    (0..FILES)
        .for_each(|number| world.rename(&format!("{number}.txt"), &format!("new {number}.txt")));
    world.index(&[]);
    assert_eq!(world.hits("two").len(), FILES);
    assert!(world.hits("one").is_empty());
}

/// Changes a file through a mapping: the first byte at once, the rest of the first line when told, and ends when told.
const MAPPING: &str = r#"
import mmap, sys
with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
    mapping[0:1] = b"O"
    for text in (b"Otter", b"stoat"):
        mapping[0:5] = text
        print(flush=True)
        sys.stdin.readline()
"#;

#[test]
fn a_file_that_is_written_through_a_mapping_is_seen() {
    for place in [Kind::Usual, Kind::Memory]
        .into_iter()
        .filter_map(Place::new)
    {
        let world = place.world();
        let path = world.write("a.txt", "otter\n".repeat(500));
        let mut writer = Command::new("python3")
            .args(["-c", MAPPING])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut go_on = || writeln!(writer.stdin.as_mut().unwrap()).unwrap();
        lines.next().unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        world.index_docs();
        go_on();
        lines.next().unwrap().unwrap();
        assert_exact(
            &world,
            &["Otter", "stoat"],
            "after a write that moves no time",
        );
        go_on();
        assert!(writer.wait().unwrap().success());
        assert_counts(&world.index(&[]), &[("changed", 1)]);
        assert_eq!(world.hits("stoat").len(), 1);
        assert_counts(&world.index(&[]), &[("unchanged", 1)]);
    }
}

#[test]
fn a_lazy_run_reads_a_racy_file_again_and_looks_nowhere_else() {
    let world = World::new();
    let path = world.write("busy/a.txt", "otter\n".repeat(500));
    world.write("busy/below/c.txt", "marten");
    world.write("calm/b.txt", "badger");
    // Folders that changed within two seconds before a run may have changed after it.
    std::thread::sleep(Duration::from_millis(2200));
    let mut writer = Command::new("python3")
        .args(["-c", MAPPING])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut go_on = || writeln!(writer.stdin.as_mut().unwrap()).unwrap();
    lines.next().unwrap().unwrap();
    world.index_docs();
    go_on();
    lines.next().unwrap().unwrap();
    for name in ["calm/b.txt", "busy/below/c.txt"] {
        world.write(name, "numbat");
    }
    let counts = [("changed", 1), ("unchanged", 2)];
    assert_counts(&world.index(&["--lazy"]), &counts);
    assert_eq!(
        (world.hits("stoat").len(), world.hits("numbat").len()),
        (1, 0)
    );
    go_on();
    assert!(writer.wait().unwrap().success());
    assert_counts(&world.index(&[]), &[("changed", 3)]);
}

#[test]
fn a_change_in_the_second_of_the_reading_is_seen() {
    let Some(place) = Place::new(Kind::Seconds) else {
        return;
    };
    let world = place.world();
    let mut next = 0;
    for _ in 0..5 {
        world.write("a.txt", "otter");
        world.index_docs();
        // As many bytes, soon after.
        let words = ["stoat", "okapi"];
        next = 1 - next;
        world.write("a.txt", words[next]);
        assert_exact(&world, &["otter", words[next]], "right after the run");
        world.index(&[]);
        assert_eq!(world.hits(words[next]).len(), 1);
        assert_exact(&world, &["otter", words[next]], "after the next run");
    }
    std::thread::sleep(SETTLED);
    assert_counts(&world.index(&[]), &[("changed", 1)]);
    assert_counts(&world.index(&[]), &[("unchanged", 1)]);
}
