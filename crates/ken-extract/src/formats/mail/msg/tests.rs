//! Tests of the reader of Outlook's messages.

use ken_core::{Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::structure::compound::rebuild::compound_of;
use crate::testing::{Extracted, run, survives};

const OUTLOOK: Detected = Detected {
    media_type: "application/vnd.ms-outlook",
    kind: Kind::Message,
};

/// The file is created by [`sample`]: no program on Linux writes such files.
const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.msg");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, OUTLOOK, "a.msg", bytes)
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns a stream of numeric properties, after a header of `header` bytes.
fn numbers(header: usize, values: &[(u16, u16, u64)]) -> Vec<u8> {
    let mut stream = vec![0; header];
    for (tag, kind, value) in values {
        stream.extend(kind.to_le_bytes());
        stream.extend(tag.to_le_bytes());
        stream.extend([0; 4]);
        stream.extend(value.to_le_bytes());
    }
    stream
}

#[test]
fn the_code_page_of_text_is_found() {
    let subject = |declared: &[(u16, u16, u64)], subject: &[u8]| {
        let file = compound_of(&[
            ("__properties_version1.0", &numbers(32, declared)),
            ("__nameid_version1.0/__substg1.0_00020102", b""),
            ("__substg1.0_0037001E", subject),
        ]);
        let found = found(&file);
        found
            .own()
            .text(Field::Title)
            .unwrap_or_default()
            .to_owned()
    };
    let cyrillic = b"\xce\xf2\xf7\xb8\xf2 \xe7\xe0 \xe3\xee\xe4";
    for declared in [
        &[(tag::CODE_PAGE, 3, 1251)][..],
        // KOI8-R, in which the message was sent; Russian; nothing at all.
        &[(tag::INTERNET_CODE_PAGE, 3, 20866)],
        &[(tag::INTERNET_CODE_PAGE, 3, 65001), (tag::LOCALE, 3, 0x419)],
        &[(tag::LOCALE, 3, 0x409)],
        &[],
    ] {
        assert_eq!(subject(declared, cyrillic), "Отчёт за год", "{declared:?}");
    }
    let japanese = encoding_rs::SHIFT_JIS.encode("会議の議事録について").0;
    assert_eq!(subject(&[], &japanese), "会議の議事録について");
    assert_eq!(
        subject(&[(tag::CODE_PAGE, 3, 1252)], b"Gr\xfc\xdfe"),
        "Grüße"
    );
    assert_eq!(subject(&[], b"Gr\xfc\xdfe"), "Grüße");
}

/// Returns the content of `sample.msg`.
fn sample() -> Vec<u8> {
    let time = 133_536_834_000_000_000;
    let top = numbers(32, &[(0x39, 0x40, time), (0x3ffd, 3, 1251)]);
    let to = numbers(8, &[(0xc15, 3, 1)]);
    let copy = numbers(8, &[(0xc15, 3, 2)]);
    let file = numbers(8, &[(0x3705, 3, 1)]);
    let message = numbers(8, &[(0x3705, 3, 5)]);
    let inner = numbers(24, &[]);
    let text = |text: &str| wide(text);
    let parts: Vec<(&str, Vec<u8>)> = vec![
        ("__properties_version1.0", top),
        ("__nameid_version1.0/__substg1.0_00020102", Vec::new()),
        ("__substg1.0_001A001F", text("IPM.Note")),
        ("__substg1.0_0037001F", text("Gruß from the guillemotfjord")),
        ("__substg1.0_0C1A001F", text("Åse Lie")),
        ("__substg1.0_0C1F001E", b"/O=EXCHANGE/CN=ASE".to_vec()),
        ("__substg1.0_5D01001F", text("ase@example.org")),
        ("__substg1.0_1035001F", text("<guillemot.1@example.org>")),
        (
            "__substg1.0_1000001E",
            b"\xcf\xf0\xe8\xe2\xe5\xf2,\r\nthe razorbill nests here.\r\n".to_vec(),
        ),
        ("__recip_version1.0_#00000000/__properties_version1.0", to),
        (
            "__recip_version1.0_#00000000/__substg1.0_3001001F",
            text("Bo Ek"),
        ),
        (
            "__recip_version1.0_#00000000/__substg1.0_39FE001F",
            text("bo@example.org"),
        ),
        ("__recip_version1.0_#00000001/__properties_version1.0", copy),
        (
            "__recip_version1.0_#00000001/__substg1.0_3001001E",
            b"\xc0\xed\xed\xe0".to_vec(),
        ),
        (
            "__attach_version1.0_#00000000/__properties_version1.0",
            file,
        ),
        (
            "__attach_version1.0_#00000000/__substg1.0_3707001F",
            text("puffin notes.txt"),
        ),
        (
            "__attach_version1.0_#00000000/__substg1.0_37010102",
            b"The puffinberg colony.\n".to_vec(),
        ),
        (
            "__attach_version1.0_#00000001/__properties_version1.0",
            message,
        ),
        (
            "__attach_version1.0_#00000001/__substg1.0_3001001F",
            text("An older message"),
        ),
        (
            "__attach_version1.0_#00000001/__substg1.0_3701000D/__properties_version1.0",
            inner,
        ),
        (
            "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_0037001F",
            text("Older"),
        ),
        (
            "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_10130102",
            b"<html><body><p>About the kittiwakeholm</p></body></html>".to_vec(),
        ),
    ];
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(path, bytes)| (*path, &**bytes))
        .collect();
    compound_of(&parts)
}

#[test]
fn fields_and_body_are_those_of_the_message() {
    assert_eq!(sample(), SAMPLE);
    let found = found(SAMPLE);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(own.text(Field::Title), Some("Gruß from the guillemotfjord"));
    assert_eq!(own.text(Field::Author), Some("Åse Lie <ase@example.org>"));
    assert_eq!(own.text(Field::To), Some("Bo Ek <bo@example.org>"));
    assert_eq!(own.text(Field::Cc), Some("Анна"));
    assert_eq!(own.text(Field::Msgid), Some("guillemot.1@example.org"));
    assert_eq!(own.number(Field::Date), Some(1_709_209_800));
    assert_eq!(own.body, "Привет,\nthe razorbill nests here.\n");
}

#[test]
fn attachments_and_messages_are_members() {
    let found = found(SAMPLE);
    let members: Vec<_> = found
        .members
        .iter()
        .map(|member| (member.ipath.as_str(), &*member.name))
        .collect();
    assert_eq!(
        members,
        [("1", "puffin notes.txt"), ("2", "An older message")]
    );
    assert!(found.members.iter().all(|member| member.is_attachment));
    assert_eq!(found.members[0].bytes, b"The puffinberg colony.\n");
    let inner = run(extract, OUTLOOK, "", &found.members[1].bytes);
    assert_eq!(inner.own().text(Field::Title), Some("Older"));
    assert_eq!(inner.own().body.trim(), "About the kittiwakeholm");
}

#[test]
fn a_body_may_be_compressed_rtf() {
    let rtf = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\x0a\xf3\
                \x20hel\x09\0\x20bw\x05\xb0ld}\x0a\x80\x0f\xa0";
    let file = compound_of(&[
        ("__properties_version1.0", &numbers(32, &[])),
        ("__substg1.0_10090102", rtf),
    ]);
    assert_eq!(found(&file).own().body, "hello world");
}

#[test]
fn encrypted_messages_say_so() {
    let file = compound_of(&[
        ("__properties_version1.0", &numbers(32, &[])),
        ("__substg1.0_001A001F", &wide("IPM.Note.SMIME")),
        ("__substg1.0_0037001F", &wide("Secret")),
    ]);
    let found = found(&file);
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Encrypted
    );
    assert_eq!(found.own().text(Field::Title), Some("Secret"));
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, OUTLOOK, "a.msg", SAMPLE);
}
