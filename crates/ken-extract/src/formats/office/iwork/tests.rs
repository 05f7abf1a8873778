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

/// Returns a field with a number, and one with bytes.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

fn bytes(field: u8, value: &[u8]) -> Vec<u8> {
    let mut encoded = match field {
        ..16 => vec![field << 3 | 2],
        _ => vec![(field << 3 | 2) | 0x80, field >> 4],
    };
    encoded.extend([value.len() as u8 | 0x80, (value.len() >> 7) as u8]);
    encoded.extend(value);
    encoded
}

fn reference(field: u8, id: u8) -> Vec<u8> {
    bytes(field, &number(1, id))
}

fn object(id: u8, kind: u16, message: &[Vec<u8>]) -> Vec<u8> {
    let message = message.concat();
    let varint = |field: u8, value: usize| vec![field << 3, value as u8 | 0x80, (value >> 7) as u8];
    let part = [varint(1, kind.into()), varint(3, message.len())].concat();
    let header = [number(1, id), bytes(2, &part)].concat();
    [vec![header.len() as u8], header, message].concat()
}

/// Returns a file of objects, packed.
fn iwa(objects: &[Vec<u8>]) -> Vec<u8> {
    let chunk = snap::raw::Encoder::new()
        .compress_vec(&objects.concat())
        .unwrap();
    let length = (chunk.len() as u32).to_le_bytes();
    [&[0], &length[..3], &chunk].concat()
}

fn cell(kind: u8, flags: u32, fields: &[&[u8]]) -> Vec<u8> {
    [
        &[5, kind, 0, 0, 0, 0, 0, 0],
        &flags.to_le_bytes()[..],
        &fields.concat(),
    ]
    .concat()
}

/// Returns a row whose cells are in these columns.
fn row(number_of_row: u8, cells: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let (mut buffer, mut offsets) = (Vec::new(), vec![-1_i16; 8]);
    for (column, cell) in cells {
        offsets[*column] = (buffer.len() / 4) as i16;
        buffer.extend(cell);
    }
    let offsets: Vec<u8> = offsets.into_iter().flat_map(i16::to_le_bytes).collect();
    let row = [
        number(1, number_of_row),
        bytes(6, &buffer),
        bytes(7, &offsets),
        number(8, 1),
    ];
    bytes(5, &row.concat())
}

/// Returns a workbook with two sheets and two tables, whose rows and texts are in files of their own.
fn workbook() -> Vec<u8> {
    let table = |name: &[u8], tiles: &[(u8, u8)], texts: u8, styled: u8| {
        let tile = |(at, id): &(u8, u8)| bytes(1, &[number(1, *at), reference(2, *id)].concat());
        let tiles = [
            tiles.iter().map(tile).collect::<Vec<_>>().concat(),
            number(2, 100),
        ]
        .concat();
        let store = [bytes(3, &tiles), reference(4, texts), reference(17, styled)].concat();
        vec![bytes(4, &store), bytes(8, name)]
    };
    let text = |key: u8, text: &[u8]| bytes(3, &[number(1, key), bytes(3, text)].concat());
    let mut decimal = [0; 16];
    (decimal[0], decimal[14], decimal[15]) = (125, 0x3e, 0xb0);
    let document = [
        object(
            1,
            2,
            &[bytes(1, b"Fares"), reference(2, 3), reference(2, 9)],
        ),
        object(2, 2, &[bytes(1, b"Crew"), reference(2, 4)]),
        object(3, 6000, &[reference(2, 5)]),
        object(4, 6000, &[reference(2, 6)]),
        object(5, 6001, &table(b"Ferries", &[(1, 11), (0, 10)], 20, 21)),
        object(6, 6001, &table(b"", &[(0, 12)], 20, 0)),
        object(7, 2001, &[bytes(3, b"in a box")]),
        object(8, 2001, &[bytes(3, "with\u{2028}styles".as_bytes())]),
    ];
    let tiles = [
        object(
            10,
            6002,
            &[
                row(
                    4,
                    &[
                        (2, cell(10, 1, &[&decimal])),
                        (4, cell(6, 2, &[&1_f64.to_le_bytes()])),
                    ],
                ),
                row(
                    0,
                    &[
                        (1, cell(3, 8, &[&[1, 0, 0, 0]])),
                        (2, cell(9, 0x10, &[&[7, 0, 0, 0]])),
                    ],
                ),
            ],
        ),
        object(
            11,
            6002,
            &[row(
                0,
                &[(0, cell(5, 6, &[&[0; 8], &86_400_f64.to_le_bytes()]))],
            )],
        ),
        object(12, 6002, &[row(9, &[(0, cell(3, 8, &[&[2, 0, 0, 0]]))])]),
    ];
    let lists = [
        object(20, 6005, &[text(1, b"two\nlines"), reference(4, 22)]),
        object(22, 6011, &[text(2, b"Nemo")]),
        object(
            21,
            6005,
            &[bytes(3, &[number(1, 7), reference(9, 23)].concat())],
        ),
        object(23, 6218, &[reference(1, 8)]),
        object(24, 6005, &[text(1, b"of no table")]),
    ];
    zip_of(&[
        ("Index/Document.iwa", &iwa(&document)),
        ("Index/Tables/Tile.iwa", &iwa(&tiles)),
        ("Index/Tables/DataList.iwa", &iwa(&lists)),
    ])
}

#[test]
fn values_of_tables_stay_in_their_columns() {
    let found = found("numbers", &workbook());
    assert_eq!(found.own().failure, None);
    assert_eq!(
        found.own().body,
        "Fares\nFerries\n\ttwo lines\twith styles\n\t\t-12.5\t\tTRUE\n2001-01-02\u{c}Crew\nNemo\nin a box\n\
         of no table"
    );
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
    let samples = [PAGES, NUMBERS, KEYNOTE, &workbook()];
    let types = FORMAT.media_types.iter().chain([&FORMAT.media_types[1]]);
    for (media_type, bytes) in types.zip(samples) {
        let kind = Kind::Document;
        survives(extract, Detected { media_type, kind }, "a", bytes);
    }
}
