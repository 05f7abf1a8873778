//! Tests of the reader of PowerPoint presentations.

use ken_core::{Cause, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::formats::office::art;
use crate::structure::compound::rebuild::compound_of;
use crate::testing::{Extracted, run, survives};

const POWERPOINT: Detected = Detected {
    media_type: "application/vnd.ms-powerpoint",
    kind: Kind::Presentation,
};

const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.ppt");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, POWERPOINT, "a.ppt", bytes)
}

#[test]
fn slides_are_pages_with_their_notes() {
    let found = found(SAMPLE);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(own.text(Field::Title), Some("Dovekie talk"));
    assert_eq!(own.text(Field::Author), Some("Signe Holm"));
    assert_eq!(own.number(Field::Pages), Some(2));
    assert_eq!(
        own.body,
        "Little auks\nA raft of aukletsund birds\nTell them of Größe and Привет\u{c}\
         Second slide\nThe end"
    );
}

#[test]
fn the_text_of_powerpoint_95_is_in_a_stream_of_its_own() {
    let text = b"Grebes\r\rA raft of \x93grebewater\x94\x0bbirds\r\rSecond slide\r\r";
    let of_95 = compound_of(&[
        (
            "PowerPoint Document",
            &[3, 0, 0, 0, 0xff, 0xff, 0, 0, 0x10, 0, 0, 0],
        ),
        ("Text_Content", text),
    ]);
    let found = found(&of_95);
    assert_eq!(found.own().failure, None);
    assert_eq!(
        found.own().body,
        "Grebes\nA raft of \u{201c}grebewater\u{201d}\nbirds\nSecond slide"
    );
}

#[test]
fn the_text_of_powerpoint_95_shows_its_code_page() {
    let text = b"\xcf\xf0\xe5\xe7\xe5\xed\xf2\xe0\xf6\xe8\xff \xee \xef\xf2\xe8\xf6\xe0\xf5\r\xc2\xf2\xee\xf0\xee\xe9 \xf1\xeb\xe0\xe9\xe4";
    let found = found(&compound_of(&[
        ("PowerPoint Document", &[3, 0, 0, 0]),
        ("Text_Content", text),
    ]));
    assert_eq!(found.own().body, "Презентация о птицах\nВторой слайд");
}

#[test]
fn powerpoint_4_is_recognised() {
    let found = found(&compound_of(&[("PP40", b"text")]));
    let failure = found.own().failure.as_ref().unwrap();
    let what = "PowerPoint 4".into();
    assert_eq!(failure.cause, Cause::Unsupported { what });
}

fn record(version: u16, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = version.to_le_bytes().to_vec();
    record.extend(kind.to_le_bytes());
    record.extend((data.len() as u32).to_le_bytes());
    record.extend(data);
    record
}

fn slide(text: &[u8]) -> Vec<u8> {
    record(15, record::SLIDE, &record(0, record::TEXT_BYTES, text))
}

fn user(token: u32) -> Vec<u8> {
    let mut user = vec![0; 12];
    user.extend(token.to_le_bytes());
    user.extend([0xff; 4]);
    user
}

#[test]
fn without_tables_all_slides_are_read() {
    let stream = [slide(b"first"), slide(b"*"), slide(b"caf\xe9\rtwo")].concat();
    let found = found(&compound_of(&[("PowerPoint Document", &stream)]));
    assert_eq!(found.own().body, "first\u{c}\u{c}café\ntwo");
}

#[test]
fn a_file_for_two_versions_is_read_as_the_newer_one() {
    let found = found(&compound_of(&[
        ("PowerPoint Document", b"of PowerPoint 95"),
        ("PP97_DUALSTORAGE/PowerPoint Document", &slide(b"first")),
    ]));
    assert_eq!(found.own().body, "first");
}

#[test]
fn masters_links_and_comments_are_read() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let string = |instance: u16, text: &str| record(instance << 4, record::STRING, &wide(text));
    let text = |text: &[u8]| record(0, record::TEXT_BYTES, text);
    let prompt = record(
        15,
        record::SHAPE,
        &[
            record(
                15,
                record::SHAPE_DATA,
                &record(0, record::PLACEHOLDER, &[0; 8]),
            ),
            text(b"Click to edit"),
        ]
        .concat(),
    );
    let logo = record(15, record::SHAPE, &text(b"our logo"));
    let master = record(15, record::MAIN_MASTER, &[prompt, logo].concat());
    let atom = [&[0; 12][..], &7_u32.to_le_bytes(), &[0; 8]].concat();
    let comment = record(
        15,
        record::COMMENT,
        &[string(0, "Ina"), string(1, "nice"), string(2, "I")].concat(),
    );
    let slide = record(
        15,
        record::SLIDE,
        &[
            record(0, record::SLIDE_ATOM, &atom),
            text(b"slide"),
            comment,
        ]
        .concat(),
    );
    let listed = |part: u32, id: u32| {
        let data = [&part.to_le_bytes()[..], &[0; 8], &id.to_le_bytes(), &[0; 4]].concat();
        record(0, record::SLIDE_PERSIST, &data)
    };
    let link = record(
        15,
        record::LINK,
        &[string(0, "label"), string(1, "https://example.org")].concat(),
    );
    let document = record(
        15,
        record::DOCUMENT,
        &[
            record(
                15,
                record::SLIDE_LIST,
                &[listed(2, 256), listed(3, 257)].concat(),
            ),
            record(0x1f, record::SLIDE_LIST, &listed(4, 7)),
            record(15, record::LINKS, &link),
        ]
        .concat(),
    );
    let mut stream = Vec::new();
    let mut table = (4_u32 << 20 | 1).to_le_bytes().to_vec();
    for part in [&document, &slide, &slide, &master] {
        table.extend((stream.len() as u32).to_le_bytes());
        stream.extend(part);
    }
    let at = stream.len() as u32;
    stream.extend(record(0, record::PERSIST_TABLE, &table));
    let edit = [0, 0, 0, at, 1].map(u32::to_le_bytes).concat();
    stream.extend(record(0, record::USER_EDIT, &edit));
    let found = found(&compound_of(&[("PowerPoint Document", &stream)]));
    assert_eq!(found.own().failure, None);
    assert_eq!(
        found.own().body,
        "slide\nIna: nice\nour logo\u{c}slide\nIna: nice\nhttps://example.org"
    );
}

/// A presentation of a slide with a shape that shows the first picture, and stands for the object `shown`.
fn with_object(shown: u32, object: &[u8]) -> Extracted {
    const PICTURE: &[u8] = include_bytes!("../../../../tests/data/drawing/pump.emf");
    let numbers = |numbers: &[u32]| -> Vec<u8> {
        numbers.iter().copied().flat_map(u32::to_le_bytes).collect()
    };
    let atom = record(0, record::OBJECT_REFERENCE, &numbers(&[shown]));
    let shape = [
        art::tests::table(1, "Plan of the pumps"),
        record(15, record::SHAPE_DATA, &atom),
    ];
    let slide = record(
        15,
        record::SLIDE,
        &record(15, record::SHAPE, &shape.concat()),
    );
    let listed = record(0, record::SLIDE_PERSIST, &numbers(&[2, 0, 0, 256, 0]));
    let object_atom = record(0, record::OBJECT_ATOM, &numbers(&[0, 0, 7, 0, 3, 0]));
    let embedded = record(15, record::EMBEDDED, &object_atom);
    let place = record(2, record::PICTURE_PLACE, &[&[0; 28][..], &[0; 8]].concat());
    let pictures = record(15, record::PICTURES, &place);
    let group = record(15, record::ART_GROUP, &pictures);
    let document = [
        record(15, record::SLIDE_LIST, &listed),
        record(15, record::LINKS, &embedded),
        record(15, record::DRAWING_GROUP, &group),
    ];
    let document = record(15, record::DOCUMENT, &document.concat());
    let mut stream = Vec::new();
    let mut table = numbers(&[3 << 20 | 1]);
    for part in [&document, &slide, &record(0, OBJECT, object)] {
        table.extend((stream.len() as u32).to_le_bytes());
        stream.extend(part);
    }
    let at = stream.len() as u32;
    stream.extend(record(0, record::PERSIST_TABLE, &table));
    stream.extend(record(0, record::USER_EDIT, &numbers(&[0, 0, 0, at, 1])));
    let mut head = vec![0; 16 + 34];
    head[16 + 32] = 0xfe;
    let picture = record(0x3d40, 0xf01a, &[&head, PICTURE].concat());
    found(&compound_of(&[
        ("PowerPoint Document", &stream),
        ("Pictures", &picture),
    ]))
}

#[test]
fn pictures_of_objects_count_if_the_object_is_not_read() {
    const DESCRIPTION: &str = "Plan of the pumps";
    let with_picture = format!("{DESCRIPTION}\nPump house north\nValve closed");
    let inner = compound_of(&[("WordDocument", b"x")]);
    let read = with_object(7, &inner);
    assert_eq!(read.members.len(), 1);
    assert_eq!(read.own().body, DESCRIPTION);
    // The picture of another object, and of one that only its program can read.
    assert_eq!(with_object(8, &inner).own().body, with_picture);
    let unknown = with_object(7, &compound_of(&[("Private", b"x")]));
    assert_eq!(unknown.own().body, with_picture);
}

#[test]
fn encrypted_files_say_so() {
    let stream = slide(b"noise");
    let file = compound_of(&[
        ("PowerPoint Document", &stream),
        ("Current User", &user(0xf3d1_c4df)),
    ]);
    let found = found(&file);
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Encrypted
    );
    assert_eq!(found.own().body, "");
}

#[test]
fn embedded_objects_are_members() {
    use std::io::Write;
    let inner = compound_of(&[("WordDocument", b"x")]);
    let mut packed = (inner.len() as u32).to_le_bytes().to_vec();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&inner).unwrap();
    packed.extend(encoder.finish().unwrap());
    let stream = [
        slide(b"a"),
        record(0x10, OBJECT, &packed),
        record(0x10, OBJECT, b"\0\0\0\0xx"),
    ]
    .concat();
    let found = found(&compound_of(&[("PowerPoint Document", &stream)]));
    assert_eq!(found.members.len(), 1);
    assert_eq!(found.members[0].bytes, inner);
    for damaged in [
        // A wrong checksum, no length, no packing, a wrong length.
        [&packed[..packed.len() - 4], b"xxxx"].concat(),
        packed[4..].to_vec(),
        inner.clone(),
        [&[9, 0, 0, 0], &packed[4..]].concat(),
    ] {
        let stream = [slide(b"a"), record(0x10, OBJECT, &damaged)].concat();
        let found = self::found(&compound_of(&[("PowerPoint Document", &stream)]));
        assert_eq!(found.members[0].bytes, inner);
    }
    assert_eq!(
        found.documents[0].failure.as_ref().unwrap().reason(),
        Reason::Malformed
    );
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, POWERPOINT, "a.ppt", SAMPLE);
    let mut deep = Vec::new();
    for _ in 0..2000 {
        deep = record(15, record::SLIDE, &deep);
    }
    let stream = [slide(b"before"), deep].concat();
    let found = found(&compound_of(&[("PowerPoint Document", &stream)]));
    let failure = found.own().failure.as_ref();
    assert_eq!(failure.map(|f| f.reason()), Some(Reason::Limit));
    assert_eq!(found.own().body, "before\u{c}");
}
