//! Tests with books made by hand; books of programs are in `tests/data/office`.

use ken_core::{Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::testing::{Extracted, run, survives};

const BOOK: Detected = Detected {
    media_type: "application/x-mobipocket-ebook",
    kind: Kind::Document,
};

/// Returns a database of these records.
fn database(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"Short_title".to_vec();
    bytes.resize(60, 0);
    bytes.extend(b"BOOKMOBI");
    bytes.resize(76, 0);
    bytes.extend((records.len() as u16).to_be_bytes());
    let mut at = 78 + 8 * records.len();
    for record in records {
        bytes.extend((at as u32).to_be_bytes());
        bytes.extend([0; 4]);
        at += record.len();
    }
    bytes.extend(records.concat());
    bytes
}

/// Returns a header with properties, for so many records of text.
fn header(compression: u16, n_records: u16, trailing: u16) -> Vec<u8> {
    let mut bytes = vec![0; 16 + 232];
    let mut set = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    set(0, &compression.to_be_bytes());
    set(8, &n_records.to_be_bytes());
    set(16, b"MOBI");
    set(20, &232_u32.to_be_bytes());
    set(28, &65001_u32.to_be_bytes());
    set(36, &6_u32.to_be_bytes());
    set(128, &0x40_u32.to_be_bytes());
    set(242, &trailing.to_be_bytes());
    let mut exth = Vec::new();
    let values: [(u32, &str); 5] = [
        (100, "Ina Falk"),
        (503, "The whole title"),
        (105, "river, boat"),
        (524, "de"),
        (106, "2024-03-01"),
    ];
    for (kind, value) in values {
        exth.extend(kind.to_be_bytes());
        exth.extend((value.len() as u32 + 8).to_be_bytes());
        exth.extend(value.as_bytes());
    }
    bytes.extend(b"EXTH");
    bytes.extend((exth.len() as u32 + 12).to_be_bytes());
    bytes.extend(5_u32.to_be_bytes());
    bytes.extend(exth);
    bytes
}

fn extracted(bytes: &[u8]) -> Extracted {
    run(extract, BOOK, "a.mobi", bytes)
}

#[test]
fn text_and_properties_of_a_book() {
    let first = b"<html><body><h1>One</h1><p>Gr\xc3\xb6\xc3\x9fe\x80\x31".to_vec();
    let bytes = database(&[
        header(2, 2, 0),
        first,
        b"</p><mbp:pagebreak/><p>second</p></body></html>".to_vec(),
    ]);
    let found = extracted(&bytes);
    let own = found.own();
    assert_eq!(own.text(Field::Title), Some("The whole title"));
    assert_eq!(own.text(Field::Author), Some("Ina Falk"));
    assert_eq!(own.text(Field::Keywords), Some("river"));
    assert_eq!(own.text(Field::Lang), Some("de"));
    assert_eq!(own.number(Field::Date), Some(1_709_251_200));
    assert_eq!(
        own.failure.as_ref().map(|f| f.reason()),
        Some(Reason::Malformed),
        "{:?}",
        own.body
    );
    survives(extract, BOOK, "a.mobi", &bytes);
}

#[test]
fn breaks_of_pages_are_chapters_and_trailing_bytes_are_no_text() {
    let bytes = database(&[
        header(1, 2, 0b11),
        b"<html><body><h1>One</h1><p>first\x00xx\x83".to_vec(),
        b"</p><mbp:pagebreak/><p>second</p></body></html>\x00\x81".to_vec(),
    ]);
    let own = extracted(&bytes).own().clone();
    assert_eq!(own.failure, None);
    assert_eq!(own.body, "One\nfirst\u{c}second");
    assert_eq!(own.text(Field::Headings), Some("One"));
}

#[test]
fn phrases_of_a_dictionary_are_unpacked() {
    // Codes of eight bits, of which the largest stands for the first phrase.
    let mut codes = b"HUFF\0\0\0\x18".to_vec();
    codes.extend(24_u32.to_be_bytes());
    codes.extend((24_u32 + 1024).to_be_bytes());
    codes.resize(24, 0);
    for _ in 0..256 {
        codes.extend((8_u32 | 0x80 | 255 << 8).to_be_bytes());
    }
    codes.extend([0; 256]);
    let mut phrases = b"CDIC\0\0\0\x10".to_vec();
    phrases.extend(2_u32.to_be_bytes());
    phrases.extend(1_u32.to_be_bytes());
    phrases.extend([0, 4, 0, 12]);
    phrases.extend([0x80, 6]);
    phrases.extend(b"<p>abc");
    phrases.extend([0, 2, 255, 255]);
    let mut head = header(17480, 1, 0);
    head[112..116].copy_from_slice(&2_u32.to_be_bytes());
    head[116..120].copy_from_slice(&2_u32.to_be_bytes());
    let bytes = database(&[head, vec![255, 254], codes, phrases]);
    let own = extracted(&bytes).own().clone();
    assert_eq!(own.failure, None);
    assert_eq!(own.body, "abc\nabc\nabc");
    survives(extract, BOOK, "a.mobi", &bytes);
}

#[test]
fn books_of_palmdoc_are_plain_text() {
    let mut head = vec![0; 16];
    head[1] = 2;
    head[9] = 1;
    let bytes = database(&[head, b"a book\xe4\xe4\n".to_vec()]);
    let own = extracted(&bytes).own().clone();
    assert_eq!(own.body.trim(), "a book d d");
    assert_eq!(own.text(Field::Title), Some("Short_title"));
}

#[test]
fn protected_books_keep_their_properties() {
    let mut head = header(2, 0, 0);
    head[13] = 2;
    let own = extracted(&database(&[head])).own().clone();
    assert_eq!(
        own.failure.as_ref().map(|f| f.reason()),
        Some(Reason::Encrypted)
    );
    assert_eq!(own.text(Field::Author), Some("Ina Falk"));
}
