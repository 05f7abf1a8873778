//! `ken check`: what it finds, and how it repairs.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::crash::{Tree, documents};
use crate::world::{Run, World};

const INDEX: [&str; 5] = ["index", "--commit-bytes=20k", "--threads=2", "-q", "docs"];

fn index(world: &World, data: &str) {
    let run = world.ken(["--data", data].iter().chain(&INDEX));
    assert_eq!(run.code, 0, "{}", run.err);
}

/// Returns the files of the index that hold documents or n-grams, by their segment.
fn parts(data: &std::path::Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut parts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for folder in ["index", "index/ngrams"] {
        for entry in fs_err::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_file() && !stem.starts_with('.') && stem != "meta" {
                parts.entry(stem).or_default().push(path);
            }
        }
    }
    parts
}

fn flip(path: &std::path::Path) {
    flip_at(path, 1, 3);
}

fn flip_at(path: &std::path::Path, part: usize, of: usize) {
    let mut bytes = fs_err::read(path).unwrap();
    let at = bytes.len() * part / of;
    bytes[at] ^= 4;
    fs_err::write(path, bytes).unwrap();
}

#[test]
fn a_sound_index_is_said_to_be() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.write(".b.txt", "otter");
    world.index_docs();
    let run = world.ken(["check"]);
    assert_eq!((run.code, &*run.err), (0, ""));
    let lines = run.lines();
    assert!(lines[0].ends_with(": checksums OK"), "{lines:?}");
    assert_eq!(lines[1], "documents  1: no duplicates");
    assert_eq!(lines[2], "files      1 unchanged");
    assert_eq!(lines[3], "left out   1: 1 hidden");
    assert_eq!(world.ken(["check", "-q"]).out, b"");
    let no_index = World::new().ken(["check"]);
    assert_eq!(no_index.code, 2);
    assert!(
        no_index.err.contains("there is no index"),
        "{}",
        no_index.err
    );
}

#[test]
fn what_changed_since_is_named() {
    let world = World::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        world.write(name, "otter");
    }
    world.index_docs();
    world.write("a.txt", "stoat");
    world.write("d.txt", "otter stoat");
    world.remove("b.txt");
    let run = world.ken(["check"]);
    assert_eq!(run.code, 1);
    let docs = world.docs();
    let changed = format!("changed \"{}\"\n", docs.join("a.txt").display());
    let new = format!("new \"{}\"\n", docs.join("d.txt").display());
    assert!(run.text().starts_with(&(changed + &new)), "{}", run.text());
    assert!(
        run.text()
            .contains("files      1 unchanged, 1 changed, 1 new, 1 gone\n")
    );

    let objects = world.ken(["check", "--json"]).objects();
    assert_eq!(objects[0]["event"], "changed");
    let summary = objects.last().unwrap();
    assert_eq!(summary["sound"], false);
    assert_eq!(summary["files"]["gone"], 1);

    assert_eq!(world.ken(["check", "--repair"]).code, 0);
    assert_eq!(world.found("stoat"), ["a.txt", "d.txt"]);
    assert_eq!(world.ken(["check", "--json"]).objects()[0]["sound"], true);
}

#[test]
fn files_that_are_gone_are_named() {
    for extension in ["idx", "pos", "store"] {
        let world = World::new();
        world.write("a.txt", "otter");
        world.index_docs();
        let mut parts = parts(&world.data()).into_values().flatten();
        let is_it = |path: &PathBuf| path.extension().is_some_and(|of| of == extension);
        let gone = parts.find(is_it).unwrap();
        fs_err::remove_file(&gone).unwrap();
        let run = world.ken(["check"]);
        let finding = format!("damaged \"{}\": it is gone", gone.display());
        assert_eq!(
            (run.code, run.text().contains(&finding)),
            (1, true),
            "{}",
            run.text()
        );
        assert_eq!(world.ken(["check", "--repair", "-q"]).code, 0);
        assert_eq!(world.found("otter"), ["a.txt"]);
    }
}

#[test]
fn a_repair_that_waits_says_for_what() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    world.write("b.txt", "otter");
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    let mut run = world.spawn(["check", "--repair", "-q"]);
    let mut line = String::new();
    let mut errors = BufReader::new(run.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    assert_eq!(
        line,
        "ken: indexing is paused; ken index --resume continues it\n"
    );
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    assert_eq!(Run::of_child(run).code, 0);
    assert_eq!(world.found("otter"), ["a.txt", "b.txt"]);
}

#[test]
fn whatever_is_damaged_is_found_and_made_again() {
    let tree = Tree::new(5, 60);
    let world = &tree.world;
    index(world, "data");
    index(world, "fresh");
    let expected = documents(world, "fresh");
    let data = world.home().join("data");
    let n_parts = parts(&data).len();
    assert!(n_parts > 4, "{n_parts}");
    let check = |how: &[&str]| world.ken(["--data", "data", "check"].iter().chain(how));
    for number in 0..n_parts {
        // Each repair writes new files.
        let parts = parts(&data);
        let Some((_, files)) = parts.iter().nth(number % parts.len()) else {
            continue;
        };
        let file = &files[number % files.len()];
        flip(file);
        let found = check(&[]);
        assert_eq!(found.code, 1, "{} {}", file.display(), found.err);
        let named = format!("damaged \"{}\"", file.display());
        assert!(found.text().contains(&named), "{}", found.text());
        let run = check(&["--repair"]);
        assert_eq!(
            run.code,
            0,
            "{}: {} {}",
            file.display(),
            run.text(),
            run.err
        );
        assert_eq!(documents(world, "data"), expected, "{}", file.display());
        let grep = |how: &[&str]| {
            let args = [
                "--data",
                "data",
                "grep",
                "-c",
                "--sort=path",
                "otter",
                "docs",
            ];
            world.ken(args.iter().chain(how)).out
        };
        assert!(
            grep(&["--trust-index"]) == grep(&["--no-index"]),
            "{}",
            file.display()
        );
    }
}

#[test]
fn a_damaged_list_of_segments_is_said_to_be() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    let list = world.data().join("index/meta.json");
    flip(&list);
    for args in [&["check"][..], &["search", "otter"], &["index"]] {
        let run = world.ken(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains("the checksum of meta.json"), "{}", run.err);
        assert!(
            run.err.contains("\nhint: ken index --full FOLDER"),
            "{}",
            run.err
        );
    }
    // At any offset but those of the roots, which are near the end of the file.
    for part in 1..=8 {
        let run = world.ken(["check", "--repair"]);
        assert_eq!(run.code, 0, "{} {}", run.text(), run.err);
        assert!(run.err.contains("ken rebuilt the index"), "{}", run.err);
        assert_eq!(world.found("otter"), ["a.txt"]);
        flip_at(&list, part, 10);
    }
    assert_eq!(world.ken(["check", "--repair"]).code, 0);
    let grep = world.ken(["grep", "--explain", "stoat", "docs"]);
    assert!(
        grep.err.contains("1 excluded"),
        "its n-grams are of use: {}",
        grep.err
    );

    // The roots cannot be read any more.
    fs_err::write(&list, "torn").unwrap();
    let run = world.ken(["check", "--repair"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("\nhint: ken index --full FOLDER"),
        "{}",
        run.err
    );
}
