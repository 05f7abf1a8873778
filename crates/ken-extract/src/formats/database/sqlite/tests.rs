//! Tests of databases from SQLite 3.40.

use ken_core::{Document, Kind, Reason};

use super::*;
use crate::Limits;
use crate::detect::Detected;
use crate::testing::{Extracted, run, run_limited, survives};

const DETECTED: Detected = Detected {
    media_type: "application/vnd.sqlite3",
    kind: Kind::Data,
};
const NOTES: &[u8] = include_bytes!("../../../../tests/data/database/notes.sqlite");
const UTF16: &[u8] = include_bytes!("../../../../tests/data/database/utf16.sqlite");
const LIVE: &[u8] = include_bytes!("../../../../tests/data/database/live.sqlite");
const LOG: &[u8] = include_bytes!("../../../../tests/data/database/live.sqlite-wal");
/// Size of a frame of the log.
const FRAME_BYTES: usize = 24 + 512;

fn found(bytes: &[u8]) -> Extracted {
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
    // Many pages, including inner ones.
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
    assert_eq!(failure.reason(), Reason::Limit);
}

#[test]
fn pages_in_a_circle_are_read_once() {
    let mut bytes = UTF16.to_vec();
    // The root of the table becomes an inner page whose last child is itself.
    let page = 512;
    bytes[page..page + 12].copy_from_slice(&[5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2]);
    let found = found(&bytes);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
    assert_eq!(found.own().body, "notes\n");
}

#[test]
fn what_is_no_database_is_reported() {
    let found = found(b"something encrypted");
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
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
    // A leaf whose cells are all at the same offset.
    let mut leaf = vec![13, 0, 0, 0, 200, 0, 0, 0];
    leaf.extend([1_u8, 154].repeat(200));
    leaf.resize(410, 0);
    leaf.extend([100, 1]);
    leaf.resize(512, 1);
    bytes.extend(leaf);
    let input = Input::bytes_of("a.sqlite", &bytes);
    let mut pages = Pages::open(&input, None, &bytes[..HEADER_BYTES]).unwrap();
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

fn found_with(bytes: &[u8], log: &[u8]) -> Document {
    let mut found = Extracted::default();
    let limits = Limits::default();
    let mut input = Input::bytes_of("a.sqlite", bytes).with_log(Input::bytes_of("", log));
    let mut output = Output::new(&input, DETECTED, &limits, &mut found);
    let result = extract(&mut input, &mut output);
    output.finish(result.err().map(Into::into));
    found.own().clone()
}

#[test]
fn committed_pages_of_the_log_count() {
    let document = found_with(LIVE, LOG);
    assert_eq!(document.failure, None);
    let sections: Vec<&str> = document.body.split('\x0c').collect();
    let lines: Vec<&str> = sections[0].lines().collect();
    let expected = ["notes", "the changed badger", "the second heron"];
    assert_eq!(lines[..3], expected);
    assert_eq!(lines.len(), 3 + 40);
    assert_eq!(lines[42], "entry 39 of the marten");
    assert_eq!(sections[1], "later\na stoat\n");
    // A database that is not written at all yet.
    assert_eq!(found_with(b"", LOG).body, document.body);
}

#[test]
fn logs_of_other_machines_are_read() {
    let mut log = LOG.to_vec();
    log[3] |= 1;
    let mut sums = [0_u32; 2];
    let mut sum_of = |bytes: &[u8]| {
        for word in bytes.as_chunks().0 {
            let sum = sums[0].wrapping_add(u32::from_be_bytes(*word));
            sums = [sums[1], sum.wrapping_add(sums[1])];
        }
        (u64::from(sums[0]) << 32 | u64::from(sums[1])).to_be_bytes()
    };
    let sum = sum_of(&log[..24]);
    log[24..32].copy_from_slice(&sum);
    for frame in log[32..].chunks_exact_mut(FRAME_BYTES) {
        sum_of(&frame[..8]);
        let sum = sum_of(&frame[24..]);
        frame[16..24].copy_from_slice(&sum);
    }
    assert_eq!(found_with(LIVE, &log), found_with(LIVE, LOG));
}

#[test]
fn what_is_not_committed_does_not_count() {
    let first_only = "notes\nthe changed badger\nthe second heron\n";
    let before = "notes\nthe first otter\nthe second heron\n";
    let with = |log: &[u8]| found_with(LIVE, log).body;
    assert_eq!(with(&LOG[..LOG.len() - 1]), first_only);
    assert_eq!(with(&LOG[..32 + 2 * FRAME_BYTES]), first_only);
    assert_eq!(with(&LOG[..32 + FRAME_BYTES - 1]), before);
    // Frames of an earlier log, and damaged ones.
    for at in [32 + FRAME_BYTES + 8, 32 + FRAME_BYTES + 100] {
        let mut log = LOG.to_vec();
        log[at] ^= 1;
        assert_eq!(with(&log), first_only);
    }
    for at in [3, 8, 16, 24] {
        let mut log = LOG.to_vec();
        log[at] ^= 2;
        assert_eq!(with(&log), before, "{at}");
    }
    assert_eq!(with(b""), before);
}

#[test]
fn a_log_with_other_pages_belongs_to_another_database() {
    let mut bytes = LIVE.to_vec();
    bytes[16..18].copy_from_slice(&1024_u16.to_be_bytes());
    let without_first = &LOG[..32 + FRAME_BYTES];
    let expected = found(&bytes).own().body.clone();
    assert_eq!(found_with(&bytes, without_first).body, expected);
}

#[test]
fn hostile_logs_are_survived() {
    let extract = |input: &mut Input<'_>, output: &mut Output<'_>| {
        let log = input.range(0, usize::MAX)?.into_owned();
        let mut input = Input::bytes_of("a.sqlite", LIVE).with_log(Input::bytes_of("", &log));
        extract(&mut input, output)
    };
    survives(extract, DETECTED, "a.sqlite-wal", LOG);
}
