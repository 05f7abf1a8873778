//! Sidecars: the picture gets their fields, and a change of either reads the picture again.

use crate::world::{World, assert_counts};

/// The start of a JPEG file, which is enough to recognise it.
const PICTURE: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9";

/// Returns a sidecar with a keyword.
pub(crate) fn xmp(keyword: &str) -> String {
    format!(
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
         <dc:subject><rdf:Bag><rdf:li>{keyword}</rdf:li></rdf:Bag></dc:subject>\
         </rdf:Description></rdf:RDF></x:xmpmeta>"
    )
}

fn album() -> World {
    let world = World::new();
    world.write("a.jpg", PICTURE);
    world.write("a.jpg.xmp", xmp("otter"));
    world.write("b.jpg", PICTURE);
    world.write("b.txt", "notes");
    world.write("b.XMP", xmp("badger"));
    world.write("c.jpg", PICTURE);
    world.index_docs();
    world
}

#[test]
fn a_picture_is_found_by_its_sidecar() {
    let world = album();
    assert_eq!(world.found("keywords:otter type:image"), ["a.jpg"]);
    let badgers = world.found("keywords:badger -ext:xmp");
    assert_eq!(badgers, ["b.jpg"], "of b.txt nothing is known");
    assert_counts(&world.index(&[]), &[("unchanged", 6)]);
}

#[test]
fn a_change_of_the_sidecar_is_one_of_the_picture() {
    let world = album();
    let pictures = |keyword: &str| world.found(&format!("keywords:{keyword} type:image"));
    world.write("a.jpg.xmp", xmp("stoat"));
    assert_counts(&world.index(&[]), &[("changed", 2), ("unchanged", 4)]);
    assert_eq!(pictures("stoat"), ["a.jpg"]);
    assert!(pictures("otter").is_empty());

    world.write("c.xmp", xmp("weasel"));
    let counts = [("added", 1), ("changed", 1), ("unchanged", 5)];
    assert_counts(&world.index(&[]), &counts);
    assert_eq!(pictures("weasel"), ["c.jpg"]);

    world.remove("a.jpg.xmp");
    let counts = [("gone", 1), ("changed", 1), ("unchanged", 5)];
    assert_counts(&world.index(&[]), &counts);
    assert!(pictures("stoat").is_empty());
    assert_counts(&world.index(&[]), &[("unchanged", 6)]);
}

#[test]
fn a_picture_moves_with_its_sidecar_or_is_read_without_it() {
    let world = album();
    world.rename("a.jpg", "new/a.jpg");
    world.rename("a.jpg.xmp", "new/a.jpg.xmp");
    world.rename("b.jpg", "new/b.jpg");
    let summary = world.index(&[]);
    // b.jpg moved without its sidecar, so it counts as another file.
    let counts = [("moved", 2), ("added", 1), ("gone", 1), ("unchanged", 3)];
    assert_counts(&summary, &counts);
    assert_eq!(world.found("keywords:otter type:image"), ["new/a.jpg"]);
    assert!(world.hits("keywords:badger type:image").is_empty());
    assert_counts(&world.index(&[]), &[("unchanged", 6)]);
}

#[test]
fn a_database_is_read_with_its_log() {
    for isolate in ["auto", "all"] {
        let world = World::new();
        world.configure(&format!("[extract]\nisolate = \"{isolate}\"\n"));
        world.add_fixture("database/live.sqlite");
        world.index_docs();
        assert_eq!(world.found("otter"), ["live.sqlite"]);

        world.add_fixture("database/live.sqlite-wal");
        let counts = [("added", 1), ("changed", 1), ("failed", 0)];
        assert_counts(&world.index(&[]), &counts);
        assert_eq!(world.found("badger stoat"), ["live.sqlite"]);
        assert!(world.hits("otter").is_empty(), "that was changed");
        assert_counts(&world.index(&[]), &[("unchanged", 2)]);
        let extracted = world.ken(["extract", "docs/live.sqlite"]);
        assert!(extracted.text().contains("stoat"), "{}", extracted.text());

        world.remove("live.sqlite-wal");
        assert_counts(&world.index(&[]), &[("gone", 1), ("changed", 1)]);
        assert_eq!(world.found("otter"), ["live.sqlite"]);
    }
}
