//! Indexes in other formats: those of earlier versions, which are kept in `tests/indexes`, and one of a later version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::world::{World, assert_counts};

/// The root of the kept indexes.
const COVERED: &str = "/home/anna/documents";
/// The oldest format that is read.
const OLDEST: u64 = 12;

/// Returns the kept indexes, by format.
fn kept() -> BTreeMap<u64, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/indexes");
    let entries = fs_err::read_dir(folder).unwrap();
    let format = |path: &Path| -> Option<u64> {
        let name = path.file_name()?.to_str()?.strip_prefix("format-")?;
        name.strip_suffix(".tar.gz")?.parse().ok()
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some((format(&path)?, path)))
        .collect()
}

fn format_of(text: &str) -> u64 {
    let (_, rest) = text.split_once("\\\"format\\\":").unwrap();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

/// Returns the format that this program writes.
fn current() -> u64 {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    format_of(&world.commit_text())
}

fn unpack(archive: &Path, world: &World) {
    fs_err::create_dir_all(world.data()).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(world.data());
    assert!(tar.status().unwrap().success());
}

/// Changes the list of segments, and removes its checksum, which would be wrong.
fn edit(world: &World, from: &str, to: &str) {
    let path = world.data().join("index/meta.json");
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    let text = text.split("\n#").next().unwrap().replace(from, to);
    fs_err::write(path, text).unwrap();
}

fn assert_refused(world: &World, format: u64) {
    let found = format!(
        "has format {format}, but this program reads format {}",
        current()
    );
    let before = world.data_files();
    for command in [
        &["search", "otter"][..],
        &["index"],
        &["index", "--dry-run", "--full"],
        &["status"],
    ] {
        let run = world.ken(command);
        assert_eq!(run.code, 2, "{command:?}");
        assert!(run.err.contains(&found), "{command:?}: {}", run.err);
        assert!(run.err.contains("ken index --full"), "{}", run.err);
    }
    let after = world.data_files();
    for (path, file) in before {
        assert_eq!(after.get(&path), Some(&file), "{path:?} was written");
    }
    // Without an index the answer comes from the scan.
    let grep = world.ken(["grep", "otter", "docs"]);
    assert_eq!(grep.code, 0, "{}", grep.err);
}

#[test]
fn a_mistake_leaves_an_index_of_another_format_as_it_is() {
    let kept = kept();
    let (format, archive) = kept.iter().find(|(format, _)| **format < OLDEST).unwrap();
    let world = World::new();
    world.write("new.txt", "another otter");
    unpack(archive, &world);
    let run = world.ken(["index", "--full", "--forget", "/no/such/root"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("/no/such/root"), "{}", run.err);
    assert_refused(&world, *format);
}

#[test]
fn indexes_of_earlier_formats_are_refused_and_made_anew() {
    let kept = kept();
    assert!(kept.keys().filter(|format| **format < OLDEST).count() > 3);
    for (format, archive) in kept.iter().filter(|(format, _)| **format < OLDEST) {
        let world = World::new();
        world.write("new.txt", "another otter");
        unpack(archive, &world);
        assert_eq!(format_of(&world.commit_text()), *format);
        let docs = fs_err::canonicalize(world.docs()).unwrap();
        edit(&world, COVERED, docs.to_str().unwrap());
        assert_refused(&world, *format);
        let summary = world.index(&["--full"]);
        assert_counts(&summary, &[("added", 1)]);
        assert_eq!(world.found("otter"), ["new.txt"]);
        assert_eq!(world.ken(["check"]).code, 0);
        assert_counts(&world.index(&[]), &[("unchanged", 1)]);
    }
}

#[test]
fn an_index_of_a_later_format_is_refused_too() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    let current = current();
    let format = |number: u64| format!("\\\"format\\\":{number}");
    edit(&world, &format(current), &format(current + 1));
    assert_refused(&world, current + 1);
    assert_counts(&world.index(&["--full"]), &[("added", 1)]);
    assert_eq!(world.found("otter"), ["a.txt"]);
}

/// Indexes that earlier versions wrote in this format, or in formats that are read as well, are searched.
#[test]
fn kept_indexes_of_this_format_and_the_last_answer() {
    let kept = kept();
    let current = current();
    assert!(kept.contains_key(&current));
    for archive in kept.range(OLDEST..).map(|(_, archive)| archive) {
        let world = World::new();
        unpack(archive, &world);
        assert_eq!(world.hits("otter").len(), 3);
        assert_eq!(world.hits("from:anna subject:otter").len(), 1);
        assert_eq!(world.hits("\"swims in the river\"").len(), 1);
        let paths = world.ken(["search", "--paths", "otter ext:c"]);
        assert_eq!(paths.text(), format!("{COVERED}/otter.c\n"));
        let hit = world.hit("heronsreach");
        let text = hit["snippet"]["text"].as_str().unwrap();
        assert!(
            text.ends_with("the last line tells of Heronsreach"),
            "{text}"
        );
        assert_eq!(world.hits("\"Heronsreach\"C").len(), 1);
        assert_eq!(world.hits("\"heronsreach\"C").len(), 0);
        assert_eq!(world.hits("\"the USA today\"").len(), 1);
        assert_eq!(world.hits("👍").len(), 1);

        let docs = fs_err::canonicalize(world.docs()).unwrap();
        edit(&world, COVERED, docs.to_str().unwrap());
        world.write("new.txt", "another otter");
        let failed = world.ken(["status", "--failed", "--json"]);
        let failure: Json = serde_json::from_str(failed.text()).unwrap();
        assert_eq!(failure["cause"]["kind"], "damaged", "{failure}");
        assert_counts(&world.index(&[]), &[("added", 1), ("gone", 6)]);
        assert_eq!(format_of(&world.commit_text()), current);
        let again = world.index(&[]);
        assert_counts(&again, &[("unchanged", 1)]);
        assert_eq!(again["committed"], false);
        assert!(world.found("otter").contains(&"new.txt".to_owned()));
    }
}
