//! Tests of the reader of sections.

use ken_core::{Cause, Document, Field, Kind, Reason, Value};

use super::*;
use crate::Limits;
use crate::detect::{Detected, detect};
use crate::testing::{run, run_limited, survives};

const DETECTED: Detected = Detected {
    media_type: "application/onenote",
    kind: Kind::Document,
};
const DESKTOP: &[u8] = include_bytes!("../../../../tests/data/office/sample.one");
const ONLINE: &[u8] = include_bytes!("../../../../tests/data/office/online.one");
const BOTH: [&[u8]; 2] = [DESKTOP, ONLINE];

fn texts(document: &Document, field: Field) -> Vec<&str> {
    let values = document.fields.iter().filter(|(known, _)| *known == field);
    let texts = values.filter_map(|(_, value)| match value {
        Value::Text(text) => Some(text.as_str()),
        Value::Number(_) => None,
    });
    texts.collect()
}

#[test]
fn pages_have_their_text_in_the_order_of_the_section() {
    for section in BOTH {
        let found = run(extract, DETECTED, "a.one", section);
        let own = found.own();
        assert!(own.failure.is_none(), "{:?}", own.failure);
        assert_eq!(
            own.body,
            "Kelp 森 survey\n\
             The quayside holdfast grows\n\
             Indented otterquay\n\
             Ansi café\n\
             Report at the station\n\
             https://kelp.example/seaweed\n\
             tidepool\tfourteen\n\
             tides.txt\n\
             scanned limpetword\n\
             A drawing of barnacles\u{c}\
             Second page without a title"
        );
        assert_eq!(own.number(Field::Pages), Some(2));
    }
}

#[test]
fn fields_are_those_of_section_and_pages() {
    for section in BOTH {
        let found = run(extract, DETECTED, "a.one", section);
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("Expedition notes"));
        assert_eq!(
            texts(own, Field::Headings),
            ["Kelp 森 survey", "Second page"]
        );
        assert_eq!(texts(own, Field::Author), ["Runa Eide", "Tor Vik"]);
        assert_eq!(texts(own, Field::Keywords), ["Fieldwork"]);
        // 2021-02-03 and 2022-05-06.
        assert_eq!(own.number(Field::Created), Some(1_612_310_400));
        assert_eq!(own.number(Field::Date), Some(1_651_795_200));
    }
}

#[test]
fn files_on_pages_are_members() {
    for section in BOTH {
        let found = run(extract, DETECTED, "a.one", section);
        assert_eq!(found.members.len(), 1);
        assert_eq!(found.members[0].name, "tides.txt");
        assert_eq!(found.members[0].bytes, b"Springtide at the narrows");
    }
}

#[test]
fn files_above_the_limit_are_found_by_name() {
    let limits = Limits {
        max_member_bytes: 10,
        ..Limits::default()
    };
    let found = run_limited(extract, DETECTED, "a.one", DESKTOP, &limits);
    assert!(found.members.is_empty());
    let failed = found.documents.iter().filter(|file| file.failure.is_some());
    assert_eq!(failed.count(), 1);
    assert!(found.own().failure.is_none());
}

#[test]
fn sections_are_known_by_their_bytes() {
    for section in BOTH {
        let detected = detect(&Input::bytes_of("", section)).unwrap();
        assert_eq!(detected.media_type, DETECTED.media_type);
    }
}

/// Returns the sample with the number of every node of one kind replaced.
fn with_nodes(from: u32, to: u32) -> Vec<u8> {
    let mut bytes = DESKTOP.to_vec();
    for at in 0..bytes.len() - 4 {
        let header = u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        // Nodes of the sample have 24 to 70 bytes.
        if header & 0x3ff == from
            && header >> 31 == 1
            && (24..70).contains(&(header >> 10 & 0x1fff))
        {
            bytes[at..at + 4].copy_from_slice(&(header & !0x3ff | to).to_le_bytes());
        }
    }
    bytes
}

#[test]
fn a_section_without_its_list_of_pages_gives_those_that_are_there() {
    let found = run(extract, DETECTED, "a.one", &with_nodes(0x004, 0x3fe));
    assert!(
        found.own().body.contains("holdfast"),
        "{}",
        found.own().body
    );
    assert!(found.own().body.contains("walrusword"));
}

#[test]
fn a_section_with_a_password_is_encrypted() {
    // The manifest of each space has a key.
    let found = run(extract, DETECTED, "a.one", &with_nodes(0x014, 0x07c));
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Encrypted);
}

#[test]
fn sections_of_2003_are_recognised() {
    let found = run(extract, DETECTED, "a.one", &[0x30; 2000]);
    let failure = found.own().failure.as_ref().unwrap();
    let what = "OneNote before 2007".into();
    assert_eq!(failure.cause, Cause::Unsupported { what });
}

#[test]
fn damaged_sections_keep_what_is_whole() {
    for section in BOTH {
        let cut = &section[..section.len() * 3 / 4];
        let found = run(extract, DETECTED, "a.one", cut);
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
    }
}

#[test]
fn lists_that_lead_back_to_themselves_end() {
    let mut bytes = DESKTOP.to_vec();
    let root = usize::try_from(u64::from_le_bytes(*bytes[172..].first_chunk().unwrap())).unwrap();
    let n_bytes = u32::from_le_bytes(*bytes[180..].first_chunk().unwrap()) as usize;
    let reference: Vec<u8> = bytes[172..184].to_vec();
    bytes[root + n_bytes - 20..root + n_bytes - 8].copy_from_slice(&reference);
    let found = run(extract, DETECTED, "a.one", &bytes);
    assert!(found.own().body.contains("holdfast"));
    assert!(found.own().failure.is_some());
}

#[test]
fn hostile_sections_end_with_a_document() {
    for section in BOTH {
        survives(extract, DETECTED, "a.one", section);
    }
}
