//! The texts that an index keeps, as they are read again.

mod common;

use common::{OPTIONS, add, found, term};
use ken_core::{Field, Glob, GlobPart, Order, Pattern, Plan, Written};
use ken_engine::{Error, Sink, Source};
use ken_index::{Snapshot, Writer};

/// Words that do not compress, with a name at the end: stored in pieces.
fn large_body(name: &str) -> String {
    let number = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n << 7);
    let words: Vec<String> = (1..60_000).map(|n| format!("{:x}", number(n))).collect();
    words.join(" ") + " We " + name
}

#[test]
fn large_bodies_are_read_as_others() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    for (path, name) in [("/d/a", "Polish"), ("/d/b", "polish")] {
        add(&writer, path, "", &large_body(name));
    }
    add(&writer, "/d/c", "", "a small one, Polish");
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let form = |text: &str| Plan::Match {
        field: Field::Body,
        pattern: Pattern::Written(Written {
            terms: Box::new(Pattern::Term("polish".to_owned())),
            text: Glob(vec![GlobPart::Literal(text.to_owned())]),
            case: true,
            diacritics: false,
        }),
    };
    assert_eq!(found(&snapshot, &form("Polish")), ["/d/a", "/d/c"]);
    assert_eq!(found(&snapshot, &form("polish")), ["/d/b"]);
    let hits = snapshot.run(&term(Field::Body, "polish"), Order::default(), 0, 10);
    for hit in hits.unwrap().hits {
        let several = snapshot.documents(&[hit.address]).unwrap().pop().unwrap();
        let by_threads = snapshot.document_by(hit.address, 3).unwrap();
        let (without, in_place) = snapshot.document_and_body(hit.address, 3).unwrap();
        let body = snapshot.document(hit.address).unwrap().document.body;
        assert!(
            [
                large_body("Polish"),
                large_body("polish"),
                "a small one, Polish".to_owned()
            ]
            .contains(&body)
        );
        assert_eq!(
            [several.document.body, by_threads.document.body],
            [body.clone(), body.clone()]
        );
        assert_eq!(
            (without.document.body.as_str(), in_place.as_str()),
            ("", &*body)
        );
    }
}

#[test]
fn a_body_stays_while_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let bodies = [
        "größe 本文 книга".to_owned(),
        String::new(),
        large_body("ä"),
    ];
    for (number, body) in bodies.iter().enumerate() {
        add(&writer, &format!("/d/{number}"), "alike", body);
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let hits = snapshot.run(&term(Field::Title, "alike"), Order::default(), 0, 10);
    let read = hits.unwrap().hits.into_iter().map(|hit| {
        let (stored, body) = snapshot.document_and_body(hit.address, 2).unwrap();
        (stored.location.path, body)
    });
    let read: std::collections::BTreeMap<_, _> = read.collect();
    let found: Vec<&str> = read.values().map(ken_engine::Body::as_str).collect();
    assert_eq!(found, bodies);
}

#[test]
fn a_damaged_stored_text_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/d/a", "", &large_body("Polish"));
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let files = fs_err::read_dir(folder.path()).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let store = files.find(|path| path.extension().is_some_and(|of| of == "store"));
    let store = store.unwrap();
    let mut bytes = fs_err::read(&store).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs_err::write(&store, bytes).unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let hit = snapshot.run(&term(Field::Body, "polish"), Order::default(), 0, 1);
    let error = snapshot.document(hit.unwrap().hits[0].address).err();
    assert!(error.as_ref().is_some_and(Error::is_damage), "{error:?}");
}
