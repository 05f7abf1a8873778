//! Unchanged files that are read again: other extractors, other fields of the folder, failures that are
//! tried again.

use crate::samples::tar;
use crate::world::{World, assert_counts};

/// Changes the last commit, so that the files were read by another version of an extractor, or without
/// it.
fn forge(world: &World, extractor: &str, version: Option<u32>) {
    let meta = world.data().join("index/meta.json");
    let text = world.commit_text();
    let key = format!(r#"\"{extractor}\":"#);
    let (before, rest) = text.split_once(&key).unwrap();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let forged = match version {
        Some(version) => format!("{before}{key}{version}{rest}"),
        None => format!("{before}{}", rest.strip_prefix(',').unwrap()),
    };
    fs_err::write(&meta, forged).unwrap();
}

fn collection() -> World {
    let world = World::new();
    world.add_fixture("pdf/encrypted-password.pdf");
    world.add_fixture("sample.docx");
    world.write(
        "inside.tar",
        tar(&[("a.pdf", "%PDF-1.4"), ("b.txt", "otter")]),
    );
    world.write("broken.pdf", "%PDF-1.4");
    world.write("a.txt", "badger");
    world.write("blob", [0, 1, 2, 3, 255]);
    world.index_docs();
    world
}

#[test]
fn a_changed_extractor_reads_its_files_again() {
    let world = collection();
    assert_eq!(world.index(&[])["committed"], false);
    forge(&world, "PDF", Some(0));
    let run = world.ken(["index", "--dry-run", "--json"]);
    assert_eq!(run.summary()["changed"], 3);
    world.write("a.txt", "changed badger");
    let summary = world.index(&[]);
    assert_counts(&summary, &[("changed", 4), ("unchanged", 2)]);
    assert_eq!(summary["stale"], 3);
    let summary = world.index(&[]);
    assert_counts(&summary, &[("unchanged", 6)]);
    assert_eq!(summary["stale"], 0);
    assert_eq!(summary["committed"], false);
    assert_eq!(
        world.found("otter OR badger"),
        ["a.txt", "inside.tar|b.txt"]
    );
}

#[test]
fn a_new_extractor_reads_files_found_by_name_only() {
    let world = collection();
    forge(&world, "Word", None);
    // The document, and the file of unknown type.
    assert_counts(&world.index(&[]), &[("changed", 2), ("unchanged", 4)]);
    assert_counts(&world.index(&[]), &[("unchanged", 6)]);
}

#[test]
fn compressed_files_are_known_by_their_name() {
    let world = World::new();
    // The file holds a compressed archive; the text has the type of the content.
    world.add_fixture("archive/folders.zip");
    world.add_fixture("archive/gzip.txt.gz");
    world.write("a.txt", "otter");
    world.index_docs();
    forge(&world, "compressed", Some(7));
    assert_counts(&world.index(&[]), &[("changed", 2), ("unchanged", 1)]);
}

#[test]
fn a_moved_file_is_read_if_its_extractor_changed() {
    let world = World::new();
    world.write("a.txt", "otter badger");
    let limit = |bytes: u32| format!("extract.max_text_bytes={bytes}");
    world.index(&["docs", "--set", &limit(5)]);
    world.rename("a.txt", "b.txt");
    // A lower limit is no reason to read a file again; a higher limit is one.
    assert_counts(&world.index(&["--set", &limit(3)]), &[("moved", 1)]);
    assert_eq!(world.found("otter"), ["b.txt"], "it is not read again");
    forge(&world, "plain text and source code", Some(0));
    world.rename("b.txt", "c.txt");
    assert_counts(&world.index(&["--set", &limit(3)]), &[("moved", 1)]);
    assert_eq!(world.found("ott"), ["c.txt"]);
    world.rename("c.txt", "d.txt");
    assert_counts(&world.index(&[]), &[("moved", 1)]);
    assert_eq!(world.found("badger"), ["d.txt"]);
    assert!(world.failed().is_empty());
}

#[test]
fn a_limit_that_memory_lowers_names_the_memory() {
    let world = World::new();
    world.write("long.txt", "otter ".repeat(1 << 20) + "badger");
    world.index(&["docs", "--memory", "64M"]);
    let run = world.ken(["status", "--failed"]);
    let failed = run.text();
    let said = "only the first 4194304 bytes of text are searchable \
                (extract.max_text_bytes, lowered by --memory 64M)";
    assert!(failed.contains(said), "{failed}");
    assert!(failed.contains("raise --memory"), "{failed}");
    let cause = &world.ken(["status", "--failed", "--json"]).objects()[0]["cause"];
    let limit = &cause["limit"];
    assert_eq!(limit["setting"], "extract.max_text_bytes");
    assert_eq!(limit["in_force"], 4 << 20);
    assert_eq!(limit["set_by"]["memory"], 64 << 20);
    // The setting alone changes nothing, but the memory does.
    let set = [
        "--memory",
        "64M",
        "--set",
        "extract.max_text_bytes=99999999",
    ];
    assert_counts(&world.index(&set), &[("unchanged", 1)]);
    let more = world.index(&["--memory", "512M"]);
    assert_counts(&more, &[("changed", 1)]);
    assert!(world.failed().is_empty());
    assert_eq!(world.found("badger"), ["long.txt"]);
}

#[test]
fn files_of_an_absent_root_are_read_when_it_is_back() {
    let world = collection();
    let other = world.home().join("other");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("c.pdf"), "%PDF-1.4").unwrap();
    world.index(&["other"]);
    forge(&world, "PDF", Some(0));
    let away = world.home().join("away");
    fs_err::rename(&other, &away).unwrap();
    let counts = [("changed", 3), ("unchanged", 3), ("kept", 1)];
    assert_counts(&world.index(&[]), &counts);
    assert_counts(&world.index(&[]), &[("unchanged", 6), ("kept", 1)]);
    fs_err::rename(&away, &other).unwrap();
    assert_counts(&world.index(&[]), &[("changed", 1), ("unchanged", 6)]);
    assert_counts(&world.index(&[]), &[("unchanged", 7)]);
}

#[test]
fn failures_are_tried_again_when_asked() {
    let world = collection();
    assert_counts(&world.index(&[]), &[("unchanged", 6)]);
    let summary = world.index(&["--retry-failed"]);
    assert_counts(&summary, &[("changed", 3), ("unchanged", 3)]);
    assert_eq!(world.failed().len(), 3);
}

#[test]
fn folders_give_fields_and_the_nearest_counts() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.write("papers/b.txt", "otter");
    world.write("papers/own/c.md", "---\nauthor: Clara\n---\notter");
    world.write("papers/own/d.tar", tar(&[("e.txt", "otter")]));
    let configured = |authors: [&str; 2]| {
        world.configure(&format!(
            "[[folder]]\npath = \"~/docs/papers\"\nfields.author = \"{}\"\n\
             [[folder]]\npath = \"~/docs/papers/own\"\n\
             fields = {{ author = \"{}\", keywords = [\"mine\", \"rare\"] }}\n",
            authors[0], authors[1]
        ));
    };
    world.index_docs();
    configured(["Anna", "Berta"]);
    assert_counts(&world.index(&[]), &[("changed", 3), ("unchanged", 1)]);
    assert_eq!(world.found("author:anna"), ["papers/b.txt"]);
    let own = [
        "papers/own/c.md",
        "papers/own/d.tar",
        "papers/own/d.tar|e.txt",
    ];
    assert_eq!(world.found("author:berta"), own);
    assert_eq!(world.found("keywords:rare"), own);
    assert_eq!(world.found("author:clara"), ["papers/own/c.md"]);

    configured(["Anna", "Doris"]);
    assert_counts(&world.index(&[]), &[("changed", 2), ("unchanged", 2)]);
    assert!(world.hits("author:berta").is_empty());
    world.rename("papers/b.txt", "b.txt");
    assert_counts(&world.index(&[]), &[("moved", 1), ("unchanged", 3)]);
    assert!(world.hits("author:anna").is_empty(), "it left the folder");
    assert_counts(&world.index(&[]), &[("unchanged", 4)]);

    world.configure("[[folder]]\npath = \"~/docs\"\nfields.pages = \"3\"\n");
    let run = world.ken(["index"]);
    assert_eq!(run.code, 2);
    let message = "\"pages\" is not a field that a folder can set\nhint: one of title, author";
    assert!(run.err.contains(message), "{}", run.err);
}
