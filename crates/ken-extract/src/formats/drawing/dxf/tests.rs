//! Tests with pairs written by hand; drawings of programs are in `tests/data/drawing`.

use ken_core::{Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::testing::{run, survives};

const DXF: Detected = Detected {
    media_type: "image/vnd.dxf",
    kind: Kind::Image,
};

const PAIRS: &[(i32, &str)] = &[
    (0, "SECTION"),
    (2, "HEADER"),
    (9, "$ACADVER"),
    (1, "AC1015"),
    (9, "$DWGCODEPAGE"),
    (3, "ANSI_1251"),
    (9, "$TITLE"),
    (1, "Bridge plan"),
    (9, "$LASTSAVEDBY"),
    (1, "Ina Falk"),
    (0, "ENDSEC"),
    (0, "SECTION"),
    (2, "TABLES"),
    (0, "LAYER"),
    (2, "0"),
    (0, "LAYER"),
    (2, "Walls"),
    (0, "ENDSEC"),
    (0, "SECTION"),
    (2, "ENTITIES"),
    (0, "TEXT"),
    (8, "Walls"),
    (1, "Kitchen 45%%d"),
    (0, "MTEXT"),
    (3, "{\\fArial|b0;Ground "),
    (1, "floor}\\Psecond line"),
    (0, "DIMENSION"),
    (1, "<>"),
    (0, "ATTRIB"),
    (2, "TAG"),
    (1, "Door 7"),
    (0, "MULTILEADER"),
    (304, "See note"),
    (0, "ENDSEC"),
    (0, "EOF"),
];

const BODY: &str = "Kitchen 45°\nGround floor\nsecond line\nDoor 7\nSee note\nWalls";

fn in_lines() -> Vec<u8> {
    let lines = PAIRS
        .iter()
        .map(|(code, value)| format!("{code:3}\r\n{value}\r\n"));
    lines.collect::<String>().into_bytes()
}

fn in_binary() -> Vec<u8> {
    let mut bytes = b"AutoCAD Binary DXF\r\n\x1a\0".to_vec();
    for (code, value) in PAIRS {
        bytes.extend((*code as u16).to_le_bytes());
        bytes.extend(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

#[test]
fn texts_layers_and_properties_are_read_in_both_forms() {
    for bytes in [in_lines(), in_binary()] {
        let found = run(extract, DXF, "a.dxf", &bytes);
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, BODY);
        assert_eq!(found.own().text(Field::Title), Some("Bridge plan"));
        assert_eq!(found.own().text(Field::Author), Some("Ina Falk"));
        survives(extract, DXF, "a.dxf", &bytes);
    }
}

#[test]
fn texts_are_in_the_code_page_of_the_drawing() {
    let mut bytes = in_lines();
    let at = memchr::memmem::find(&bytes, b"Kitchen").unwrap();
    bytes[at..at + 7].copy_from_slice(b"\xca\xf3\xf5\xed\xff !");
    assert!(
        run(extract, DXF, "a.dxf", &bytes)
            .own()
            .body
            .starts_with("Кухня ! 45°")
    );
}

#[test]
fn a_drawing_that_is_cut_off_keeps_its_texts() {
    let bytes = in_lines();
    let cut = &bytes[..bytes.len() - 30];
    let found = run(extract, DXF, "a.dxf", cut);
    let failure = found.own().failure.as_ref();
    assert_eq!(
        failure.map(|failure| failure.reason()),
        Some(Reason::Malformed)
    );
    assert!(found.own().body.starts_with("Kitchen"));
}
