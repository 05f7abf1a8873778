//! Tests of signed documents; those of OpenSSL are in `tests/data/archive`.

use ken_core::{Kind, Reason};

use super::*;
use crate::detect::{Detected, detect};
use crate::structure::ber::STRING;
use crate::testing::{Extracted, run, survives};

const SIGNED: &[u8] = include_bytes!("../../../../tests/data/archive/signed.xml.p7m");
const TEXT: &[u8] = include_bytes!("../../../../tests/data/archive/signed-text.xml.p7m");
const ENCRYPTED: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted.p7m");
const CMS: Detected = Detected {
    media_type: "application/pkcs7-mime",
    kind: Kind::Archive,
};

fn found(name: &str, bytes: &[u8]) -> Extracted {
    run(extract, CMS, name, bytes)
}

fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = (content.len() as u16).to_be_bytes();
    [&[tag, 0x82], &length[..], &content].concat()
}

#[test]
fn the_content_is_a_member_and_the_signer_a_field() {
    let base64: Vec<u8> = TEXT
        .split(|&b| b == b'\n')
        .filter(|line| !line.starts_with(b"-"))
        .flatten()
        .copied()
        .collect();
    for bytes in [SIGNED, TEXT, &base64] {
        let found = found("f.xml.P7M", bytes);
        assert_eq!(found.own().failure, None);
        assert_eq!(found.members[0].name, "f.xml");
        assert_eq!(found.members[0].ipath.as_str(), "f.xml");
        let text = String::from_utf8_lossy(&found.members[0].bytes);
        assert!(text.contains("signedstoat"), "{text}");
        let author = found.own().text(Field::Author);
        assert_eq!(author, Some("Lucia Ermellino <lucia@example.org>"));
        assert!(found.own().number(Field::Date) > Some(1_700_000_000));
    }
}

#[test]
fn signed_documents_are_recognised_by_content_and_name() {
    for (name, bytes) in [
        ("x", SIGNED),
        ("x.bin", SIGNED),
        ("x.txt", TEXT),
        ("x.p7m", TEXT),
        ("x.p7m", b"MIIFuwYJ"),
        ("x", ENCRYPTED),
    ] {
        let detected = detect(&Input::bytes_of(name, bytes)).unwrap();
        assert_eq!(detected.media_type, CMS.media_type, "{name}");
    }
}

#[test]
fn content_that_is_cut_off_is_read_as_far_as_it_goes() {
    let end = memchr::memmem::find(SIGNED, b"</Causale>").unwrap();
    let found = found("f.xml.p7m", &SIGNED[..end]);
    assert!(found.members[0].bytes.ends_with(b"signedstoat"));
    let failure = found.own().failure.as_ref();
    assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
}

#[test]
fn what_is_encrypted_or_no_document_says_so() {
    let reason = |bytes| {
        found("a.p7m", bytes)
            .own()
            .failure
            .as_ref()
            .map(|f| f.reason())
    };
    assert_eq!(reason(ENCRYPTED), Some(Reason::Encrypted));
    assert_eq!(reason(b"no base64"), Some(Reason::Malformed));
    assert_eq!(reason(b""), Some(Reason::Malformed));
}

#[test]
fn a_signed_part_of_a_message_is_a_message() {
    let kind = element(IDENTIFIER, &[b"\x2a"]);
    let string = element(STRING, &[b"Content-Type: text/plain\r\n\r\nstoat"]);
    let encapsulated = element(SEQUENCE, &[&kind, &element(EXPLICIT_0, &[&string])]);
    let data = element(SEQUENCE, &[b"\x02\x01\x01\x31\0", &encapsulated, b"\x31\0"]);
    let signed = element(
        SEQUENCE,
        &[
            &element(IDENTIFIER, &[oid::SIGNED]),
            &element(EXPLICIT_0, &[&data]),
        ],
    );
    let found = found("smime.p7m", &signed);
    assert_eq!(found.members[0].declared_type.as_deref(), Some(MESSAGE));
}

#[test]
fn a_document_with_a_time_stamp_is_unwrapped() {
    let info = element(
        SEQUENCE,
        &[
            b"\x02\x01\x01\x06\x01\x2a\x30\0\x02\x01\x05",
            &element(TIME, &[b"20240229120000Z"]),
        ],
    );
    let string = element(EXPLICIT_0, &[&element(STRING, &[&info])]);
    let token = element(
        SEQUENCE,
        &[
            b"\x02\x01\x03\x31\0",
            &element(SEQUENCE, &[b"\x06\x01\x2a", &string]),
            b"\x31\0",
        ],
    );
    let token = element(
        SEQUENCE,
        &[
            &element(IDENTIFIER, &[oid::SIGNED]),
            &element(EXPLICIT_0, &[&token]),
        ],
    );
    let stamp = element(SEQUENCE, &[&token]);
    let about = element(
        SEQUENCE,
        &[
            b"\x01\x01\0",
            &element(UTF8, &[b"note.txt"]),
            &element(IA5, &[b"text/plain"]),
        ],
    );
    let data = element(
        SEQUENCE,
        &[
            b"\x02\x01\x01",
            &about,
            &element(STRING, &[b"the stamped stoat"]),
            &element(EXPLICIT_0, &[&stamp]),
        ],
    );
    let file = element(
        SEQUENCE,
        &[
            &element(IDENTIFIER, &[oid::TIME_STAMPED]),
            &element(EXPLICIT_0, &[&data]),
        ],
    );
    let found = found("a.tsd", &file);
    assert_eq!(found.own().failure, None);
    assert_eq!(found.members[0].name, "note.txt");
    assert_eq!(found.members[0].bytes, b"the stamped stoat");
    assert_eq!(
        found.members[0].declared_type.as_deref(),
        Some("text/plain")
    );
    assert_eq!(found.own().number(Field::Date), Some(1_709_208_000));
    survives(extract, CMS, "a.tsd", &file);
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, CMS, "a.p7m", SIGNED);
    survives(extract, CMS, "a.p7m", TEXT);
}
