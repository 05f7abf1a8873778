//! Tests with records written by hand; files of programs are in `tests/data/drawing`.

use ken_core::Kind;

use super::*;
use crate::detect::Detected;
use crate::testing::{run, survives};

const EMF: Detected = Detected {
    media_type: "image/emf",
    kind: Kind::Image,
};
const WMF: Detected = Detected {
    media_type: "image/wmf",
    kind: Kind::Image,
};

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn record(kind: u32, mut data: Vec<u8>) -> Vec<u8> {
    data.resize(data.len().next_multiple_of(4), 0);
    [words(&[kind, data.len() as u32 + 8]), data].concat()
}

fn enhanced(records: &[Vec<u8>]) -> Vec<u8> {
    let mut header = vec![0; 80];
    header[32..36].copy_from_slice(b" EMF");
    [record(1, header), records.concat(), record(14, vec![0; 12])].concat()
}

/// Returns a record that draws a text with advances of ten for each character.
fn text(place: (u32, u32), flags: u32, text: &str) -> Vec<u8> {
    let mut units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let n = units.len() as u32 / 2;
    units.resize(units.len().next_multiple_of(4), 0);
    let head = words(&[
        0, 0, 0, 0, 1, 0, 0, place.0, place.1, n, 76, flags, 0, 0, 0, 0,
    ]);
    let widths = words(&[76 + units.len() as u32]);
    record(
        84,
        [head, widths, units, words(&vec![10; n as usize])].concat(),
    )
}

fn body(detected: Detected, bytes: &[u8]) -> String {
    let found = run(extract, detected, "a", bytes);
    assert_eq!(found.own().failure, None);
    found.own().body.clone()
}

#[test]
fn pieces_are_joined_by_their_places() {
    let picture = enhanced(&[
        text((0, 0), 0, "Pum"),
        text((30, 0), 0, "p"),
        text((50, 0), 0, "house"),
        text((0, 40), 0, "Valve"),
        text((0, 80), 0x10, "glyphs"),
    ]);
    assert_eq!(body(EMF, &picture), "Pump house\nValve");
    survives(extract, EMF, "a.emf", &picture);
}

#[test]
fn letters_that_stand_wide_are_words_if_blanks_are_drawn() {
    let letters = |blank: &str| {
        enhanced(&[
            text((0, 0), 0, "T"),
            text((14, 0), 0, blank),
            text((28, 0), 0, "A"),
            text((43, 0), 0, "n"),
        ])
    };
    assert_eq!(body(EMF, &letters(" ")), "T An");
    assert_eq!(body(EMF, &letters("o")), "T o A n");
}

#[test]
fn transforms_move_texts() {
    let shift = |dx: f32, dy: f32| {
        let numbers = [1.0_f32, 0.0, 0.0, 1.0, dx, dy].map(f32::to_bits);
        record(35, words(&numbers))
    };
    let picture = enhanced(&[
        shift(0.0, 0.0),
        text((0, 0), 0, "one"),
        shift(30.0, 0.0),
        text((0, 0), 0, "word"),
        shift(0.0, 100.0),
        text((0, 0), 0, "below"),
    ]);
    assert_eq!(body(EMF, &picture), "oneword\nbelow");
}

#[test]
fn texts_of_the_newer_records_count_if_there_are_no_others() {
    let string: Vec<u8> = "Plus".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let data = [words(&[0, 0, 4, 0, 0, 0, 0]), string].concat();
    let size = data.len() as u32;
    let plus = [
        &0x401c_u16.to_le_bytes()[..],
        &[0, 0],
        &words(&[size + 12, size]),
        &data,
    ]
    .concat();
    let comment = [words(&[plus.len() as u32 + 4]), b"EMF+".to_vec(), plus].concat();
    let plus = record(70, comment);
    assert_eq!(body(EMF, &enhanced(std::slice::from_ref(&plus))), "Plus");
    let both = enhanced(&[plus, text((0, 0), 0, "Old")]);
    assert_eq!(body(EMF, &both), "Old");
}

#[test]
fn older_metafiles_have_the_code_page_of_their_font() {
    let short = |function: u16, data: Vec<u8>| {
        let n_words = data.len() as u32 / 2 + 3;
        [words(&[n_words]), function.to_le_bytes().to_vec(), data].concat()
    };
    let mut font = vec![0; 18];
    font[13] = 204;
    let bytes = [
        b"\x01\0\x09\0\0\x03".to_vec(),
        vec![0; 12],
        short(0x02fc, vec![0; 8]),
        short(0x02fb, font),
        short(0x012d, vec![1, 0]),
        short(0x0521, b"\x04\0\xcd\xe0\xf1\xee\x05\0\x06\0".to_vec()),
        short(
            0x0a32,
            b"\x30\0\x06\0\x04\0\0\0Pump\x0a\0\x0a\0\x0a\0\x0a\0".to_vec(),
        ),
        short(0, Vec::new()),
    ]
    .concat();
    assert_eq!(body(WMF, &bytes), "Насо\nPump");
    survives(extract, WMF, "a.wmf", &bytes);
}
