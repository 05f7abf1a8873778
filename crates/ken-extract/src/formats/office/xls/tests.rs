//! Tests of the reader of Excel workbooks.

use ken_core::{Field, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::formats::office::art;
use crate::structure::compound::rebuild::compound_of;
use crate::testing::{Extracted, run, survives};

const EXCEL: Detected = Detected {
    media_type: "application/vnd.ms-excel",
    kind: Kind::Spreadsheet,
};

const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.xls");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, EXCEL, "a.xls", bytes)
}

#[test]
fn sheets_are_pages_of_rows_as_they_are_displayed() {
    let found = found(SAMPLE);
    let own = found.own();
    assert_eq!(own.failure, None);
    for text in [
        "Crossings\nDate\tHarbour\tFare\tShare\tWhen\n\
         01.03.2024\tzwiebelhafen\t1,234.50 €\t12.5%\t2024-03-01 18:30\n2\tTRUE\n",
        "Harbour closed in winter",
        "\u{c}Crew\n\tCaptain Nemo",
    ] {
        assert!(own.body.contains(text), "{text}: {}", own.body);
    }
    assert_eq!(own.number(Field::Pages), Some(2));
    assert_eq!(own.text(Field::Title), Some("Ferry budget"));
    assert_eq!(own.text(Field::Author), Some("Erik Ahlgren"));
}

#[test]
fn excel_5_has_code_pages() {
    let records = [
        record(0x809, &[0, 5, 5, 0]),
        record(0x42, &1251_u16.to_le_bytes()),
        record(0x41e, b"\xa4\0\x040.00"),
        record(0xe0, b"\0\0\xa4\0"),
        record(0x85, b"\0\0\0\0\0\0\x01\xcf"),
        record(0x0a, b""),
        record(0x809, &[0, 5, 16, 0]),
        record(0x204, b"\0\0\0\0\0\0\x02\0\xe4\xe0"),
        record(0x203, &[&[0; 6][..], &1.5_f64.to_le_bytes()].concat()),
        record(0x1c, b"\0\0\0\0\x04\0note"),
        record(0x0a, b""),
    ];
    let body_of = |records: &[Vec<u8>]| {
        let found = found(&compound_of(&[("Book", &records.concat())]));
        assert_eq!(found.own().failure, None);
        found.own().body.clone()
    };
    assert_eq!(body_of(&records), "П\nда\t1.50\nnote");
    // Excel 97, saving for Excel 95, gives the sheets its own version.
    let mut records = records;
    records[6] = begin(16);
    assert_eq!(body_of(&records), "П\nда\t1.50\nnote");
}

fn record(number: u16, data: &[u8]) -> Vec<u8> {
    let mut record = number.to_le_bytes().to_vec();
    record.extend((data.len() as u16).to_le_bytes());
    record.extend(data);
    record
}

fn workbook(records: &[Vec<u8>]) -> Vec<u8> {
    compound_of(&[("Workbook", &records.concat())])
}

/// Returns the start of a part of this kind in BIFF8.
fn begin(kind: u8) -> Vec<u8> {
    record(0x809, &[0, 6, kind, 0])
}

#[test]
fn descriptions_of_pictures_stand_below_their_sheet() {
    let found = found(&workbook(&[
        begin(5),
        record(0x0a, b""),
        begin(16),
        record(0xec, &art::tests::table(1, "Map of the harbour")),
        record(0x204, b"\0\0\0\0\0\0\x02\0\0ab"),
        record(0x0a, b""),
    ]));
    assert_eq!(found.own().body, "ab\nMap of the harbour");
}

#[test]
fn strings_go_on_in_the_next_record() {
    let mut strings = vec![0; 8];
    // Eight-bit at first, wide after the break, with a formatting run; then another string.
    strings.extend(b"\x05\0\x08\x01\0ab");
    let more = b"\x01\x3a\x04\x3b\x04\x3c\x04\0\0\0\0\x02\0\0xy";
    let cell = |row: u8, string: u8| record(0xfd, &[row, 0, 0, 0, 0, 0, string, 0, 0, 0]);
    let file = workbook(&[
        begin(5),
        record(0x85, b"\0\0\0\0\0\0\x01\0S"),
        record(0xfc, &strings),
        record(0x3c, more),
        record(0x0a, b""),
        begin(16),
        cell(0, 0),
        cell(0, 1),
        cell(1, 9),
        record(0x0a, b""),
    ]);
    let found = found(&file);
    assert_eq!(found.own().failure, None);
    assert_eq!(found.own().body, "S\nabклм\txy");
}

#[test]
fn cells_of_all_sorts() {
    let formula = |result: [u8; 8]| record(0x06, &[&[0; 6][..], &result, &[0; 8]].concat());
    let file = workbook(&[
        begin(5),
        record(0x0a, b""),
        begin(16),
        record(0x203, &[&[0; 6][..], &1.5_f64.to_le_bytes()].concat()),
        record(
            0x27e,
            &[&[0; 6][..], &((1234_u32 << 2) | 3).to_le_bytes()].concat(),
        ),
        record(
            0xbd,
            &[0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 14, 0, 0, 0, 1, 0],
        ),
        record(0x205, &[0, 0, 0, 0, 0, 0, 7, 1]),
        formula([0, 0, 0, 0, 0, 0, 0xff, 0xff]),
        record(0x207, b"\x04\0\0text"),
        formula([1, 0, 1, 0, 0, 0, 0xff, 0xff]),
        formula(2.0_f64.to_le_bytes()),
        record(0x204, b"\x01\0\0\0\0\0\x02\0\0no"),
        // A comment, and a chart inside the sheet whose cells are a copy.
        record(0x1b6, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
        record(0x3c, b"\0hi"),
        begin(32),
        record(0x100d, b"\0\0\x05\0chart"),
        record(0x203, &[&[0; 6][..], &9.0_f64.to_le_bytes()].concat()),
        record(0x0a, b""),
        record(0x0a, b""),
    ]);
    let found = found(&file);
    assert_eq!(
        found.own().body,
        "1.5\t12.34\t2\t3\t#DIV/0!\ttext\tTRUE\t2\nno\nhi\nchart"
    );
}

#[test]
fn what_is_not_in_cells_is_read_too() {
    let text_box = |number: u8, text: &[u8]| {
        let object = [0x15, 0, 0x12, 0, 0x19, 0, number, 0];
        let mut shape = vec![0; 18];
        shape[10] = text.len() as u8;
        [
            record(0x5d, &object),
            record(0x1b6, &shape),
            record(0x3c, &[b"\0", text].concat()),
        ]
        .concat()
    };
    let rule = [
        &[0x83, 0, 0, 0][..],
        b"\x01\0\0\0\x01\0\0\0\x06\0\0Choose\x01\0\0\0",
        b"\x0b\0\0\0\x17\x08\0red\0blue",
    ];
    let file = workbook(&[
        begin(5),
        record(0x18, b"\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0Umsatz"),
        record(0x18, b"\x0e\0\0\x05\0\0\0\0\0\0\0\0\0\0\0Click"),
        record(0x18, b"\x20\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x06"),
        record(0x0a, b""),
        begin(16),
        record(0x204, b"\0\0\0\0\0\0\x04\0\0cell"),
        text_box(1, b"check"),
        text_box(2, b"box"),
        record(0x1c, b"\0\0\0\0\0\0\x01\0\x03\0\0Ina"),
        record(0x1be, &rule.concat()),
        record(0x0a, b""),
    ]);
    let found = found(&file);
    assert_eq!(found.own().failure, None);
    assert_eq!(
        found.own().body,
        "cell\nIna: check\nbox\nChoose\nred\nblue\nUmsatz"
    );
}

#[test]
fn encrypted_files_say_so() {
    let found = found(&workbook(&[
        begin(5),
        record(0x2f, b"\x01\0"),
        record(0x85, b"junk"),
    ]));
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Encrypted
    );
    assert_eq!(found.own().body, "");
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, EXCEL, "a.xls", SAMPLE);
}
