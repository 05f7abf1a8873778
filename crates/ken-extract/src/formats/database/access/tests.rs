//! Tests of the reader of databases of Access.

use std::io::Read;

use flate2::read::GzDecoder;
use ken_core::{Kind, Reason};

use super::*;
use crate::detect::{Detected, detect};
use crate::testing::{Extracted, run, survives};

const DETECTED: Detected = Detected {
    media_type: "application/x-msaccess",
    kind: Kind::Data,
};
const OF_2000: &[u8] = include_bytes!("../../../../tests/data/database/lights.mdb.gz");
const OF_2010: &[u8] = include_bytes!("../../../../tests/data/database/lights.accdb.gz");
const OF_97: &[u8] = include_bytes!("../../../../tests/data/database/lights-97.mdb");

fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Extracted {
    run(extract, DETECTED, "a.mdb", bytes)
}

#[test]
fn tables_have_their_columns_and_rows() {
    for sample in [OF_2000, OF_2010] {
        let found = read(&unpacked(sample));
        let own = found.own();
        assert!(own.failure.is_none(), "{:?}", own.failure);
        let (lights, keepers) = own.body.split_once('\u{c}').unwrap();
        let mut lines = keepers.lines();
        assert_eq!(lines.next(), Some("Keepers"));
        assert_eq!(lines.next(), Some("Keeper\tSince\tShare\tKey"));
        assert_eq!(lines.next(), Some("turnstone0\t0\t0.25"));
        assert_eq!(lines.next_back(), Some("turnstone299\t299\t299.25"));
        assert_eq!(lines.count(), 298);
        let lines: Vec<&str> = lights.lines().collect();
        assert_eq!(lines[0], "Lighthouses");
        assert_eq!(
            lines[1],
            "Id\tName\tRemark\tHeight\tLit\tBuilt\tCost\tCode\tPage"
        );
        assert_eq!(
            lines[2],
            "1\tStøtt fyr\tA short remark about the gannetrock\t27.5\t\t1880-07-01\t12500.5\tNO-1\tthe light https://light.example/1"
        );
        assert!(lines[3].starts_with("2\tĎáblice\tlongmemo begins keeper0 "));
        assert!(lines[3].contains(" longmemo ends with sandpiper\t"));
        assert_eq!(lines[3].split('\t').nth(5), Some("2001-02-03 14:05:06"));
        assert_eq!(lines[4], "3\t灯台\t東京湾の灯台\t-3.25\t\t\t-0.25\tJP");
        assert!(lines[5].starts_with("5\tMiddle\tmiddlememo wave0 "));
        // The row grew after others had filled its page.
        assert!(lights.contains("moved dunlin"), "{lights}");
        assert!(!own.body.contains("plover"));
        assert_eq!(own.number(Field::Pages), Some(2));
    }
}

#[test]
fn rows_of_access_97_are_read() {
    let found = read(OF_97);
    let own = found.own();
    assert!(own.failure.is_none(), "{:?}", own.failure);
    let lines: Vec<&str> = own.body.lines().collect();
    assert_eq!(lines[0], "Ptáci");
    assert_eq!(lines[1], "Číslo\tJméno\tPoznámka\tDen\tMísto");
    assert_eq!(
        lines[2],
        "1\tŽluťoučký kůň\tkrátká poznámka\t2000-01-01\tĎáblice"
    );
    assert_eq!(
        lines[3],
        format!("2\tLong row\t\t\t{} at the end", "x".repeat(140))
    );
    let row = format!(
        "3\t{}\t{}\t1900-01-01 12:00:00\tbeyond two jumps",
        "y".repeat(190),
        "z".repeat(300)
    );
    assert_eq!(lines[4], row);
    assert!(lines[5].starts_with("4\tChain\tdlouhá zpráva vlna0 "));
    assert!(lines[5].contains(" konec rybárium\t"));
    assert!(lines[5].ends_with("\tfar"));
    assert_eq!(lines.len(), 6);
}

#[test]
fn databases_are_known_by_their_bytes() {
    for bytes in [OF_97.to_vec(), unpacked(OF_2000), unpacked(OF_2010)] {
        let detected = detect(&Input::bytes_of("", &bytes)).unwrap();
        assert_eq!(detected, DETECTED);
    }
}

#[test]
fn pages_that_are_mixed_with_a_key_are_read() {
    let mut bytes = unpacked(OF_2000);
    let key = 0x1234_5678_u32;
    pages::mix([0xc7, 0xda, 0x39, 0x6b], &mut bytes[0x18..0x18 + 126]);
    bytes[0x3e..0x42].copy_from_slice(&key.to_le_bytes());
    pages::mix([0xc7, 0xda, 0x39, 0x6b], &mut bytes[0x18..0x18 + 126]);
    for (number, page) in (0_u32..).zip(bytes.chunks_exact_mut(4096)).skip(1) {
        pages::mix((key ^ number).to_le_bytes(), page);
    }
    assert!(read(&bytes).own().body.contains("gannetrock"));
    // Since 2007 such a key goes with a password.
    bytes[0x14] = 3;
    let found = read(&bytes);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Encrypted);
}

#[test]
fn damaged_databases_keep_what_is_whole() {
    let bytes = unpacked(OF_2000);
    let found = read(&bytes[..bytes.len() - 3 * 4096]);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
    assert!(found.own().body.contains("gannetrock"));
}

#[test]
fn a_long_text_that_leads_back_to_itself_ends() {
    let bytes = unpacked(OF_2000);
    let text: Vec<u8> = "longmemo begins"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let at = memchr::memmem::find(&bytes, &text).unwrap();
    let (page, in_page) = (at / 4096, at % 4096);
    // The row begins with the reference to the next one, before the text and its mark.
    let pages = Pages::open(&bytes).unwrap();
    let places = pages.places(&bytes[page * 4096..][..4096]);
    let row = places
        .iter()
        .position(|place| (place.start..place.end).contains(&in_page))
        .unwrap();
    let start = page * 4096 + places[row].start;
    let mut hostile = bytes.clone();
    hostile[start..start + 4].copy_from_slice(&((page << 8 | row) as u32).to_le_bytes());
    let found = read(&hostile);
    assert_eq!(found.own().body.matches("longmemo begins").count(), 1);
}

#[test]
fn reading_ends_when_it_costs_too_much() {
    let pages = Pages::open(OF_97).unwrap();
    assert!(pages.page(CATALOG, pages::DEFINITION).is_some());
    assert!(pages.spend(OF_97.len() as u64 * 16 - 2048).is_some());
    assert!(!pages.is_spent());
    assert!(pages.page(CATALOG, pages::DEFINITION).is_none());
    assert!(pages.is_spent());
}

#[test]
fn hostile_databases_end_with_a_document() {
    for bytes in [OF_97.to_vec(), unpacked(OF_2000)] {
        survives(extract, DETECTED, "a.mdb", &bytes);
    }
}
