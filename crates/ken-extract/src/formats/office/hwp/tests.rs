//! Tests with records and parts written by hand; files of programs are in `tests/data/office`.

use std::io::Write;

use ken_core::{Field, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::structure::compound::rebuild::compound_of;
use crate::structure::package::tests::zip_of;
use crate::testing::{Extracted, run, survives};

const HWP: Detected = Detected {
    media_type: "application/x-hwp",
    kind: Kind::Document,
};

fn record(kind: u32, level: u32, data: &[u8]) -> Vec<u8> {
    let header = kind | level << 10 | (data.len() as u32) << 20;
    [&header.to_le_bytes()[..], data].concat()
}

fn units(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn paragraph(level: u32, text: &[u8]) -> Vec<u8> {
    [record(66, level, &[0; 22]), record(67, level + 1, text)].concat()
}

fn control(level: u32, id: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut id = *id;
    id.reverse();
    record(71, level, &[&id[..], data].concat())
}

fn cell(column: u16, row: u16) -> Vec<u8> {
    let mut data = vec![0; 16];
    data[8..10].copy_from_slice(&column.to_le_bytes());
    data[10..12].copy_from_slice(&row.to_le_bytes());
    record(72, 2, &data)
}

fn section() -> Vec<u8> {
    let anchored: Vec<u8> = [
        units("본문"),
        vec![11, 0],
        vec![0; 12],
        vec![11, 0],
        units("!"),
    ]
    .concat();
    let link = units("https\\://example.org;1;0;0;");
    let n = (link.len() as u16 / 2).to_le_bytes();
    [
        paragraph(0, &units("First\tx")),
        paragraph(0, &anchored),
        control(1, b"tbl ", &[]),
        cell(0, 0),
        paragraph(2, &units("a")),
        cell(1, 0),
        paragraph(2, &units("b")),
        cell(0, 1),
        paragraph(2, &units("c")),
        control(1, b"fn  ", &[]),
        record(72, 2, &[0; 8]),
        paragraph(2, &units("note")),
        control(1, b"head", &[]),
        record(72, 2, &[0; 8]),
        paragraph(2, &units("our header")),
        control(1, b"%hlk", &[&[0; 5][..], &n, &link].concat()),
        paragraph(0, &units("last")),
    ]
    .concat()
}

const BODY: &str = "First!x\n본문!\na\tb\nc\nnote\nhttps://example.org\nlast\nour header";

fn file(flags: u32, storage: &str, section: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 256];
    header[36..40].copy_from_slice(&flags.to_le_bytes());
    compound_of(&[
        ("FileHeader", &header),
        (&format!("{storage}/Section0"), section),
        (
            &format!("{storage}/Section10"),
            &paragraph(0, &units("ten")),
        ),
        (&format!("{storage}/Section2"), &paragraph(0, &units("two"))),
    ])
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn extracted(bytes: &[u8]) -> Extracted {
    run(extract, HWP, "a.hwp", bytes)
}

#[test]
fn paragraphs_tables_and_notes_are_read() {
    // A tab takes the units of a control.
    let tab = [vec![9, 0], vec![0; 14]].concat();
    let first = [units("First"), tab, units("x")].concat();
    let section = [
        paragraph(0, &first),
        section()[paragraph(0, &units("First\tx")).len()..].to_vec(),
    ]
    .concat();
    let found = extracted(&file(0, "BodyText", &section));
    assert_eq!(found.own().failure, None);
    let (own, rest) = found.own().body.split_once("our header").unwrap();
    assert_eq!(
        format!("{own}our header"),
        BODY.replace("First!x", "First\tx")
            .replace("\nour header", "\ntwo\nten\nour header")
    );
    assert_eq!(rest, "");
}

#[test]
fn sections_may_be_compressed() {
    let text = paragraph(0, &units("packed"));
    let mut header = vec![0; 256];
    header[36] = 1;
    let bytes = compound_of(&[
        ("FileHeader", &header),
        ("BodyText/Section0", &deflated(&text)),
    ]);
    assert_eq!(extracted(&bytes).own().body, "packed");
    survives(extract, HWP, "a.hwp", &bytes);
}

#[test]
fn documents_for_distribution_are_decrypted() {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let mut head = [7_u8; 256];
    head[..4].copy_from_slice(&[1, 2, 3, 4]);
    // What is hidden does not matter, so long as both sides find the same.
    let mut text = paragraph(0, &units("for all to read"));
    text.resize(text.len().next_multiple_of(16), 0);
    let probe = [record(28, 0, &head), vec![0; 16]].concat();
    let zero = distributed::decrypted(&probe).unwrap();
    assert_ne!(zero, [0; 16]);
    let cipher = aes::Aes128::new_from_slice(&distributed::key(&head)).unwrap();
    for block in text.as_chunks_mut::<16>().0 {
        cipher.encrypt_block(block.into());
    }
    let stream = [record(28, 0, &head), text].concat();
    let mut header = vec![0; 256];
    header[36] = 4;
    let bytes = compound_of(&[("FileHeader", &header), ("ViewText/Section0", &stream)]);
    assert_eq!(extracted(&bytes).own().body, "for all to read");
}

#[test]
fn what_cannot_be_read_says_why() {
    let reason = |bytes: &[u8]| extracted(bytes).own().failure.as_ref().map(|f| f.reason());
    assert_eq!(reason(&file(2, "BodyText", b"")), Some(Reason::Encrypted));
    assert_eq!(reason(&file(0, "Other", b"")), Some(Reason::Malformed));
    assert_eq!(
        reason(&file(0, "BodyText", &section()[..100])),
        Some(Reason::Malformed)
    );
    assert!(reason(b"HWP Document File V3.00").is_some());
    survives(extract, HWP, "a.hwp", &file(0, "BodyText", &section()));
}

#[test]
fn sections_in_xml_are_read() {
    let package = zip_of(&[
        ("mimetype", b"application/hwp+zip"),
        (
            "Contents/content.hpf",
            "<opf:package><opf:metadata><opf:title>제목</opf:title><opf:meta name='creator'>Ina</opf:meta>\
             <opf:meta name='lastsaveby'>Bo</opf:meta><opf:meta name='ModifiedDate'>2024-03-01T10:00:00Z\
             </opf:meta></opf:metadata></opf:package>"
                .as_bytes(),
        ),
        (
            "Contents/section0.xml",
            "<hs:sec><hp:p><hp:run><hp:secPr><hp:t>no</hp:t></hp:secPr><hp:ctrl><hp:header><hp:subList>\
             <hp:p><hp:run><hp:t>our header</hp:t></hp:run></hp:p></hp:subList></hp:header></hp:ctrl>\
             <hp:t>본<hp:tab/>문</hp:t></hp:run><hp:run><hp:t><hp:deleteBegin/>gone<hp:deleteEnd/>!</hp:t>\
             <hp:ctrl><hp:footNote><hp:subList><hp:p><hp:run><hp:t>note</hp:t></hp:run></hp:p>\
             </hp:subList></hp:footNote></hp:ctrl><hp:t> more</hp:t></hp:run></hp:p>\
             <hp:p><hp:run><hp:tbl><hp:tr><hp:tc><hp:subList><hp:p><hp:run><hp:t>a</hp:t></hp:run></hp:p>\
             </hp:subList></hp:tc><hp:tc><hp:subList><hp:p><hp:run><hp:t>b</hp:t></hp:run></hp:p>\
             </hp:subList></hp:tc></hp:tr></hp:tbl></hp:run></hp:p>\
             <hp:p><hp:run><hp:ctrl><hp:fieldBegin type='HYPERLINK'><hp:parameters><hp:stringParam \
             name='Path'>https://example.org</hp:stringParam></hp:parameters></hp:fieldBegin></hp:ctrl>\
             <hp:t>here</hp:t></hp:run></hp:p></hs:sec>"
                .as_bytes(),
        ),
        ("Contents/section1.xml", b"<s><p><t>second</t></p></s>"),
    ]);
    let hwpx = Detected {
        media_type: "application/hwp+zip",
        kind: Kind::Document,
    };
    let found = run(HWPX.extract, hwpx, "a.hwpx", &package);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(
        own.body,
        "본\t문! more\nnote\na\tb\nhere\nhttps://example.org\nsecond\nour header"
    );
    assert_eq!(own.text(Field::Title), Some("제목"));
    assert_eq!(own.text(Field::Author), Some("Ina"));
    assert_eq!(own.number(Field::Date), Some(1_709_287_200));
    survives(HWPX.extract, hwpx, "a.hwpx", &package);
}
