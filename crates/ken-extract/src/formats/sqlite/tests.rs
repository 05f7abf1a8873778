//! Databases made by SQLite 3.40.

use ken_core::{Kind, Reason};

use super::*;
use crate::Limits;
use crate::detect::Detected;
use crate::testing::{Found, run, run_limited, survives};

const DETECTED: Detected = Detected {
    media_type: "application/vnd.sqlite3",
    kind: Kind::Data,
};
const NOTES: &[u8] = include_bytes!("../../../tests/data/database/notes.sqlite");
const UTF16: &[u8] = include_bytes!("../../../tests/data/database/utf16.sqlite");

fn found(bytes: &[u8]) -> Found {
    run(extract, DETECTED, "a.sqlite", bytes)
}

#[test]
fn tables_are_sections_of_text() {
    let found = found(NOTES);
    let own = found.own();
    assert!(own.failure.is_none(), "{:?}", own.failure);
    assert_eq!(own.number(Field::Pages), Some(4));
    let sections: Vec<&str> = own.body.split('\x0c').collect();
    assert_eq!(sections.len(), 4);
    assert_eq!(
        sections[0],
        "notes\nGroceries\tThe sqlitesquid buys Käse.\nEmpty\n"
    );
    // Many pages, with inner ones.
    let lines: Vec<&str> = sections[1].lines().collect();
    assert_eq!(lines.len(), 151);
    assert_eq!(lines[1], "https://example.org/1\tPage 1");
    assert_eq!(lines[150], "https://example.org/150\tPage 150");
    // A text on overflow pages.
    assert_eq!(sections[2].lines().nth(1).unwrap().len(), 2_008);
    assert!(sections[2].ends_with("overflowox\n"));
    // A table without row numbers, whose inner pages hold rows.
    let mut keys: Vec<&str> = sections[3].lines().skip(1).collect();
    assert_eq!(keys.len(), 100);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 100);
    assert!(keys.contains(&"key 0077\tvalue of 77"));
}

#[test]
fn other_encodings_and_page_sizes_are_read() {
    let found = found(UTF16);
    assert!(found.own().failure.is_none());
    assert_eq!(found.own().body, "notes\nThe wideurchin, größer\n");
}

#[test]
fn text_ends_at_its_limit() {
    let limits = Limits {
        max_text_bytes: 1_000,
        ..Limits::default()
    };
    let found = run_limited(extract, DETECTED, "a.sqlite", NOTES, &limits);
    assert_eq!(found.own().body.len(), 1_000);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason, Reason::Limit);
}

#[test]
fn pages_in_a_circle_are_read_once() {
    let mut bytes = UTF16.to_vec();
    // The root of the table becomes an inner page whose last child is itself.
    let page = 512;
    bytes[page..page + 12].copy_from_slice(&[5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2]);
    let found = found(&bytes);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason, Reason::Malformed);
    assert_eq!(found.own().body, "notes\n");
}

#[test]
fn what_is_no_database_is_told() {
    let found = found(b"something encrypted");
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason, Reason::Malformed);
}

#[test]
fn hostile_bytes_are_survived() {
    survives(extract, DETECTED, "a.sqlite", UTF16);
    survives(extract, DETECTED, "a.sqlite", NOTES);
}

#[test]
fn cells_that_share_a_record_are_read_a_few_times() {
    let mut bytes = NOTES.to_vec();
    bytes.truncate(100);
    bytes[16..18].copy_from_slice(&512_u16.to_be_bytes());
    bytes.resize(512, 0);
    // A leaf, of which all cells are at the same place.
    let mut leaf = vec![13, 0, 0, 0, 200, 0, 0, 0];
    leaf.extend([1_u8, 154].repeat(200));
    leaf.resize(410, 0);
    leaf.extend([100, 1]);
    leaf.resize(512, 1);
    bytes.extend(leaf);
    let input = Input::bytes_of("a.sqlite", &bytes);
    let mut pages = Pages::open(&input, &bytes[..HEADER_BYTES]).unwrap();
    let mut n_rows = 0;
    pages
        .rows(2, 1000, &mut |_| {
            n_rows += 1;
            true
        })
        .unwrap();
    assert!((20..50).contains(&n_rows), "{n_rows}");
    assert!(pages.into_failure().is_some());
}
