//! `ken tag`: tags of documents, which stay when files change, move, or are read again.

use serde_json::Value;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write("receipts/tap.txt", "a receipt for a tap\n");
    world.write("receipts/boiler.txt", "a receipt for a boiler\n");
    world.write("receipts/odd\nname.txt", "a receipt with an odd name\n");
    world.write("letter.txt", "a letter about the boiler\n");
    world.write(
        "mail/1.eml",
        "From: ann@example.org\nMessage-ID: <1@example.org>\nSubject: receipt\n\nA receipt by mail.\n",
    );
    let mut archive = tar::Builder::new(Vec::new());
    for name in ["one.txt", "two.txt"] {
        let text = format!("a receipt in {name}");
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, name, text.as_bytes())
            .unwrap();
    }
    world.write("more.tar", archive.into_inner().unwrap());
    world.index_docs();
    world
}

/// Returns the addresses of what a query finds, without the folder of documents, in order.
fn found(world: &World, query: &str) -> Vec<String> {
    let run = world.ken(["search", "--json", "-n0", "--sort", "path", query]);
    let docs = format!("{}/", world.docs().display());
    let address = |hit: Value| {
        let path = hit["path"].as_str().unwrap().replace(&docs, "");
        match hit["ipath"].as_str() {
            Some(ipath) if !ipath.is_empty() => format!("{path}|{ipath}"),
            _ => path,
        }
    };
    run.objects().into_iter().map(address).collect()
}

fn tag(world: &World, arguments: &[&str]) -> i32 {
    let run = world.ken([&["tag"], arguments].concat());
    assert!(run.code < 2, "{}", run.err);
    run.code
}

const RECEIPTS: [&str; 6] = [
    "mail/1.eml",
    "more.tar|one.txt",
    "more.tar|two.txt",
    "receipts/boiler.txt",
    "receipts/odd\nname.txt",
    "receipts/tap.txt",
];

#[test]
fn what_a_query_finds_is_tagged() {
    let world = world();
    assert_eq!(tag(&world, &["+tax", "+to do", "receipt"]), 0);
    assert_eq!(found(&world, "tag:tax"), RECEIPTS);
    assert_eq!(
        found(&world, "tag:\"to do\" boiler"),
        ["receipts/boiler.txt"]
    );
    assert_eq!(tag(&world, &["-tax", "+paid", "boiler", "tag:tax"]), 0);
    assert_eq!(found(&world, "tag:paid"), ["receipts/boiler.txt"]);
    assert_eq!(found(&world, "tag:tax").len(), 5);
    let listed = world.ken(["tag", "--list"]);
    assert_eq!(
        listed.text(),
        "       6  to do\n       5  tax\n       1  paid\n"
    );
    // Nothing is found, so nothing is tagged.
    assert_eq!(tag(&world, &["+tax", "quagga"]), 1);
    for wrong in [&["tag", "receipt"][..], &["tag", "+tax"], &["tag"]] {
        assert_eq!(world.ken(wrong).code, 2, "{wrong:?}");
    }
    // The same log as that of messages, which is exported.
    let log = fs_err::read_to_string(world.data().join("tags")).unwrap();
    assert!(log.contains("+tax +to%20do -- id:1@example.org\n"), "{log}");
    assert!(log.contains("more.tar|one.txt"), "{log}");
    let exported = world.ken(["mail", "tag", "--export"]);
    assert!(exported.text().contains("id:1@example.org"));
}

#[test]
fn tags_stay_when_files_change_move_and_are_read_again() {
    let world = world();
    tag(&world, &["+tax", "receipt"]);
    world.write("receipts/tap.txt", "an edited receipt for a tap\n");
    world.rename("receipts/boiler.txt", "old/heating.txt");
    world.rename("more.tar", "old/more.tar");
    world.rename("mail/1.eml", "mail/2.eml");
    assert_eq!(world.index_docs()["moved"], 3);
    let expected = [
        "mail/2.eml",
        "old/heating.txt",
        "old/more.tar|one.txt",
        "old/more.tar|two.txt",
        "receipts/odd\nname.txt",
        "receipts/tap.txt",
    ];
    assert_eq!(found(&world, "tag:tax"), expected);
    // What comes to an old path is another file.
    world.write("receipts/boiler.txt", "another boiler\n");
    for arguments in [&["index", "-q"][..], &["index", "-q", "--full"]] {
        assert_eq!(world.ken(arguments).code, 0);
        assert_eq!(found(&world, "tag:tax"), expected, "{arguments:?}");
    }
    // An index that is made from nothing.
    fs_err::remove_dir_all(world.data().join("index")).unwrap();
    world.index_docs();
    assert_eq!(found(&world, "tag:tax"), expected);
    // A move into another type is read, and has its tags.
    world.rename("old/heating.txt", "old/heating.md");
    world.index_docs();
    assert_eq!(found(&world, "tag:tax heating"), ["old/heating.md"]);
    // A file that was away has its tags again.
    world.remove("receipts/tap.txt");
    world.index_docs();
    world.write("receipts/tap.txt", "the receipt came back\n");
    world.index_docs();
    assert_eq!(found(&world, "tag:tax came"), ["receipts/tap.txt"]);
    assert_eq!(world.ken(["check"]).code, 0);
}
