//! Tests of handmade documents; see `tests/data/iwork/README.md`.

use ken_core::{Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::testing::{Extracted, run, survives};

const PAGES: &[u8] = include_bytes!("../../../../tests/data/iwork/letter.pages");
const NUMBERS: &[u8] = include_bytes!("../../../../tests/data/iwork/budget.numbers");
const KEYNOTE: &[u8] = include_bytes!("../../../../tests/data/iwork/talk.key");

fn found(program: &str, bytes: &[u8]) -> Extracted {
    let mut types = FORMAT.media_types.iter();
    let media_type = types.find(|name| name.ends_with(program)).unwrap();
    let kind = Kind::Document;
    run(extract, Detected { media_type, kind }, "a", bytes)
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        std::io::Write::write_all(&mut writer, content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn text_of_pages_is_read() {
    let found = found("pages", PAGES);
    assert!(found.own().failure.is_none(), "{:?}", found.own());
    let lines: Vec<&str> = found.own().body.lines().collect();
    let expected = [
        "The pagespuffin writes a letter,",
        "with a second line,",
        "a break and an object",
        ".",
        "Another page.",
    ];
    assert_eq!(
        lines.iter().map(|line| line.trim()).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn sheets_tables_and_cells_of_numbers_are_read() {
    let body = found("numbers", NUMBERS).own().body.clone();
    let expected = "Sheet of a Größe\nTable of fares\nFerry tickets\nThe numbersnarwhal pays";
    assert_eq!(body.trim(), expected);
}

#[test]
fn slides_are_sections_in_their_order() {
    let body = found("keynote", KEYNOTE).own().body.clone();
    let slides: Vec<&str> = body.split('\x0c').map(str::trim).collect();
    let expected = [
        "",
        "The keynotekoala talks\nsaid by its notes",
        "The last slide\na note",
    ];
    assert_eq!(slides, expected);
}

#[test]
fn old_documents_hand_on_their_preview() {
    let old = zip_of(&[("index.xml", b"<x/>"), (PREVIEW, b"%PDF-1.4")]);
    let found = found("pages", &old);
    assert!(found.own().failure.is_none());
    assert_eq!(found.members[0].ipath.as_str(), PREVIEW);
    assert_eq!(found.members[0].bytes, b"%PDF-1.4");
}

#[test]
fn damage_is_reported_and_the_rest_is_read() {
    let whole = b"\0\x08\0\0\x06\x14broken\0\xff\0\0rest";
    let damaged = zip_of(&[("Index/Document.iwa", whole)]);
    let found = found("pages", &damaged);
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
}

#[test]
fn hostile_bytes_are_survived() {
    for (media_type, bytes) in FORMAT.media_types.iter().zip([PAGES, NUMBERS, KEYNOTE]) {
        let kind = Kind::Document;
        survives(extract, Detected { media_type, kind }, "a", bytes);
    }
}
