//! Tests of zip archives; those from other programs are in `tests/data/archive`.

use std::io::{Cursor, Write};

use ken_core::{Field, Kind, Reason};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{MEDIA_TYPES, extract};
use crate::detect::Detected;
use crate::testing::{Extracted, run, run_limited, survives};
use crate::{Limits, Passwords};

const ZIP: Detected = Detected {
    media_type: MEDIA_TYPES[0],
    kind: Kind::Archive,
};

fn zip_with(method: CompressionMethod, members: &[(&str, &[u8])]) -> Vec<u8> {
    let options = SimpleFileOptions::default().compression_method(method);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(CompressionMethod::Deflated, members)
}

/// Replaces every occurrence of some bytes by other bytes of the same length.
fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let offsets: Vec<usize> = (0..=bytes.len() - from.len())
        .filter(|&at| bytes[at..].starts_with(from))
        .collect();
    assert!(!offsets.is_empty());
    for at in offsets {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

fn found(bytes: &[u8]) -> Extracted {
    run(extract, ZIP, "a.zip", bytes)
}

fn ipaths(found: &Extracted) -> Vec<&str> {
    found.members.iter().map(|m| m.ipath.as_str()).collect()
}

/// Returns the member path and reason of each failure, with the archive's own failure last and an
/// empty path.
fn failures(found: &Extracted) -> Vec<(&str, Reason)> {
    let failed = |d: &'_ ken_core::Document| d.failure.as_ref().map(|f| f.reason());
    found
        .documents
        .iter()
        .filter_map(|d| Some((d.ipath.as_str(), failed(d)?)))
        .collect()
}

#[test]
fn members_are_labelled_by_their_path() {
    let found = found(&zip_of(&[
        ("docs/a.txt", b"one"),
        ("../../etc/b|c", b"two"),
    ]));
    assert_eq!(ipaths(&found), ["docs/a.txt", "../../etc/b\\|c"]);
    assert_eq!(found.members[0].name, "a.txt");
    assert_eq!(found.members[0].bytes, b"one");
    assert_eq!(failures(&found), []);
    assert_eq!(found.own().body, "");
}

/// Makes an archive whose members have these names, without any flag, and the field of Info-ZIP for
/// names in UTF-8 if `unicode` is given with the name that its checksum is of.
fn zip_named(names: &[&[u8]], unicode: Option<(&[u8], &str)>) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let mut extra = Vec::new();
    if let Some((of, name)) = unicode {
        extra.extend(0x7075_u16.to_le_bytes());
        extra.extend((5 + name.len() as u16).to_le_bytes());
        extra.push(1);
        extra.extend(crc32fast::hash(of).to_le_bytes());
        extra.extend(name.as_bytes());
    }
    for name in names {
        let at = bytes.len() as u32;
        let mut header = vec![0; 22];
        header.extend((name.len() as u16).to_le_bytes());
        header.extend((extra.len() as u16).to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&header);
        bytes.extend([name, &extra[..]].concat());
        directory.extend(b"PK\x01\x02\0\0");
        directory.extend(&header);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend([name, &extra[..]].concat());
    }
    let (at, n_bytes) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([(names.len() as u16).to_le_bytes(); 2].concat());
    bytes.extend([n_bytes.to_le_bytes(), at.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn names_are_in_the_charset_of_all_of_them() {
    let short = b"\xd5\xd5.txt";
    let long = b"\xbb\xe1\xd2\xe9\xbc\xcd\xd2\xaa\xce\xc4\xbc\xfe.txt";
    let found_names = found(&zip_named(&[short, long], None));
    assert_eq!(ipaths(&found_names), ["照.txt", "会议纪要文件.txt"]);
    assert_eq!(found_names.members[0].name, "照.txt");
    let found_names = found(&zip_named(&[b"Gr\x94\xe1e", b"a", "ñ".as_bytes()], None));
    assert_eq!(ipaths(&found_names), ["Größe", "a", "ñ"]);
}

#[test]
fn the_field_for_names_in_utf8_counts_if_it_is_of_this_name() {
    for (of, shown) in [(&b"Gr\x94\xe1e"[..], "Größe 世界"), (b"old name", "Größe")] {
        let found = found(&zip_named(&[b"Gr\x94\xe1e"], Some((of, "Größe 世界"))));
        assert_eq!(ipaths(&found), [shown]);
    }
}

#[test]
fn every_method_of_other_makers_is_read() {
    for method in [
        CompressionMethod::Stored,
        CompressionMethod::Deflated,
        CompressionMethod::Bzip2,
        CompressionMethod::Zstd,
    ] {
        let found = found(&zip_with(method, &[("a", &b"reindeer ".repeat(1000))]));
        assert_eq!(found.members[0].bytes.len(), 9000, "{method}");
    }
}

#[test]
fn times_are_kept_and_folders_skipped() {
    let bytes = include_bytes!("../../../../tests/data/archive/folders.zip");
    let found = found(bytes);
    assert_eq!(
        ipaths(&found),
        ["letters/größe.txt", "letters/spring.txt", "backup.tar.gz"]
    );
    assert_eq!(found.members[0].modified, Some(1_714_979_290));
}

#[test]
fn dos_times_are_taken_for_utc() {
    let time = zip::DateTime::from_date_and_time(2024, 5, 6, 7, 8, 10).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(time);
    writer.start_file("a", options).unwrap();
    let found = found(&writer.finish().unwrap().into_inner());
    assert_eq!(found.members[0].modified, Some(1_714_979_290));
}

#[test]
fn encrypted_members_are_found_by_name() {
    let found = found(include_bytes!(
        "../../../../tests/data/archive/encrypted.zip"
    ));
    assert_eq!(failures(&found), [("secret.txt", Reason::Encrypted)]);
    assert_eq!(found.documents[0].text(Field::Filename), Some("secret.txt"));
    assert_eq!(ipaths(&found), ["open.txt"]);
}

#[test]
fn passwords_are_tried() {
    let archives: [(&[u8], &str, &str, usize); 2] = [
        (
            include_bytes!("../../../../tests/data/archive/encrypted.zip"),
            "secret.txt",
            "secretseal",
            // The old encryption accepts one of 256 wrong passwords; the checksum detects it.
            600,
        ),
        (
            include_bytes!("../../../../tests/data/archive/encrypted-aes.zip"),
            "aes.txt",
            "aessecret",
            3,
        ),
    ];
    let limits = |passwords: &[&str]| Limits {
        passwords: Passwords::new(passwords.iter().map(|&p| p.to_owned())),
        ..Limits::default()
    };
    for (archive, name, word, n_wrong) in archives {
        let found = run_limited(
            extract,
            ZIP,
            "a.zip",
            archive,
            &limits(&["wrong", "hunter2"]),
        );
        assert_eq!(failures(&found), []);
        let secret = found.members.iter().find(|m| m.name == name).unwrap();
        assert!(String::from_utf8_lossy(&secret.bytes).contains(word));
        let wrong: Vec<String> = (0..n_wrong).map(|n| format!("wrong {n}")).collect();
        let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
        let found = run_limited(extract, ZIP, "a.zip", archive, &limits(&wrong));
        assert_eq!(failures(&found), [(name, Reason::Encrypted)]);
    }
}

#[test]
fn a_damaged_member_spoils_no_other() {
    let stored = zip_with(
        CompressionMethod::Stored,
        &[("a", b"aaaa"), ("b", b"reindeer"), ("c", b"cccc")],
    );
    let found = found(&replaced(stored, b"reindeer", b"reinfear"));
    assert_eq!(ipaths(&found), ["a", "c"]);
    assert_eq!(failures(&found), [("b", Reason::Malformed)]);
}

#[test]
fn unknown_methods_are_found_by_name() {
    let mut bytes = zip_with(CompressionMethod::Stored, &[("a", b"aaaa"), ("b", b"bbbb")]);
    // The method is at offset 8 of a local header and 10 of a central one.
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[8] = 98;
    bytes[central + 10] = 98;
    let found = found(&bytes);
    assert_eq!(ipaths(&found), ["b"]);
    assert_eq!(failures(&found), [("a", Reason::Malformed)]);
}

#[test]
fn duplicate_names_stay_apart() {
    let bytes = zip_of(&[("same.txt", b"one"), ("diff.txt", b"two")]);
    let found = found(&replaced(bytes, b"diff.txt", b"same.txt"));
    assert_eq!(ipaths(&found), ["same.txt", "same.txt#2"]);
    assert_eq!(found.members[1].bytes, b"two");
    assert_eq!(found.members[1].name, "same.txt");
}

#[test]
fn names_in_code_page_437_are_read() {
    let bytes = zip_of(&[("gr__e.txt", b"one")]);
    let found = found(&replaced(bytes, b"gr__e", b"gr\x94\xe1e"));
    assert_eq!(ipaths(&found), ["größe.txt"]);
}

#[test]
fn large_members_are_found_by_name() {
    let limits = Limits {
        max_member_bytes: 100,
        ..Limits::default()
    };
    let bytes = zip_of(&[("large", &[b'x'; 101]), ("small", &[b'x'; 100])]);
    let found = run_limited(extract, ZIP, "a.zip", &bytes, &limits);
    assert_eq!(ipaths(&found), ["small"]);
    assert_eq!(failures(&found), [("large", Reason::Limit)]);
}

#[test]
fn sizes_that_lie_are_found_out() {
    // The size is in both the local and the central header; 4000 = 0x0fa0.
    let bytes = zip_of(&[("a", &[b'x'; 4000]), ("b", b"bbbb")]);
    for lie in [b"\x10\0\0\0", b"\xff\xff\xff\x00", b"\xfe\xff\xff\xff"] {
        let found = found(&replaced(bytes.clone(), b"\xa0\x0f\0\0", lie));
        assert_eq!(ipaths(&found), ["b"], "{lie:?}");
        assert_eq!(failures(&found).len(), 1, "{lie:?}");
    }
}

#[test]
fn a_member_that_expands_too_much_is_not_read() {
    let limits = Limits {
        max_expansion: 100,
        ..Limits::default()
    };
    let bytes = zip_of(&[("zeros", &vec![0; 4 << 20]), ("b", b"bbbb")]);
    let found = run_limited(extract, ZIP, "a.zip", &bytes, &limits);
    assert_eq!(ipaths(&found), ["b"]);
    assert_eq!(failures(&found), [("zeros", Reason::Limit)]);
}

/// Many members that share one content (Fifield's bomb, without its escape of headers).
#[test]
fn overlapping_members_end_at_the_limit() {
    let zeros = vec![0; 1 << 20];
    let names: Vec<String> = (0..200).map(|n| format!("{n:03}")).collect();
    let mut members: Vec<(&str, &[u8])> = vec![("all", &zeros)];
    members.extend(names.iter().map(|name| (name.as_str(), &b""[..])));
    let mut bytes = zip_of(&members);
    let central: Vec<usize> = (0..bytes.len() - 4)
        .filter(|&at| bytes[at..].starts_with(b"PK\x01\x02"))
        .collect();
    for &at in &central[1..] {
        // Method, checksum, sizes and offset of the first member.
        bytes.copy_within(central[0] + 10..central[0] + 28, at + 10);
        bytes.copy_within(central[0] + 42..central[0] + 46, at + 42);
    }
    let limits = Limits {
        max_expansion: 1000,
        ..Limits::default()
    };
    let found = run_limited(extract, ZIP, "a.zip", &bytes, &limits);
    let allowed = (1 << 20) + 1000 * bytes.len();
    assert!(found.members.len() > 2 && found.members.len() <= allowed / zeros.len() + 1);
    assert_eq!(failures(&found), [("", Reason::Limit)]);
}

#[test]
fn members_are_found_whatever_is_damaged_of_the_directory() {
    let whole = zip_of(&[("a", b"aaaa"), ("b", b"bbbb"), ("c", b"cccc")]);
    let entries: Vec<usize> = (0..whole.len())
        .filter(|&at| whole[at..].starts_with(b"PK\x01\x02"))
        .collect();
    for damaged in entries.iter().copied().chain([whole.len() - 22]) {
        let mut bytes = whole.clone();
        bytes[damaged] = 0;
        let found = found(&bytes);
        assert_eq!(ipaths(&found), ["a", "b", "c"], "{damaged}");
        assert_eq!(failures(&found), [("", Reason::Malformed)]);
    }
    let found = found(&whole[..entries[0] - 3]);
    assert_eq!(ipaths(&found), ["a", "b", "c"]);
    assert_eq!(failures(&found), [("", Reason::Malformed)]);
}

/// Returns an archive with one member in a method that no current program writes.
fn packed_by(method: u8, flags: u8, packed: &[u8], content: &[u8]) -> Vec<u8> {
    let stored = zip_with(CompressionMethod::Stored, &[("a", packed)]);
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let mut zip = stored.clone();
    let entry = memchr::memmem::find(&stored, b"PK\x01\x02").unwrap();
    for at in [0, entry + 2] {
        zip[at + 6] = flags;
        zip[at + 8] = method;
        zip[at + 14..at + 18].copy_from_slice(&crc.sum().to_le_bytes());
        zip[at + 22..at + 26].copy_from_slice(&(content.len() as u32).to_le_bytes());
    }
    zip
}

/// Packs numbers of some bits each, the lowest bits first.
fn bits(numbers: impl IntoIterator<Item = (u32, u32)>) -> Vec<u8> {
    let mut bits = Vec::new();
    for (number, n_bits) in numbers {
        bits.extend((0..n_bits).map(|bit| number >> bit & 1));
    }
    let byte = |bits: &[u32]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | *bit) as u8;
    bits.chunks(8).map(byte).collect()
}

/// Each encoder writes literals only.
#[test]
fn old_methods_are_read() {
    let content = b"the quagga of the old archive";
    let letters = || content.iter().map(|&letter| u32::from(letter));
    let shrunk = bits(letters().map(|letter| (letter, 9)));
    let no_followers = std::iter::repeat_n((0, 6), 256);
    let reduced = bits(no_followers.chain(letters().map(|letter| (letter, 8))));
    // Two trees of 64 codes of six bits.
    let trees = [3, 0xf5, 0xf5, 0xf5, 0xf5].repeat(2);
    let literals = letters().flat_map(|letter| [(1, 1), (letter, 8)]);
    let imploded = [trees, bits(literals)].concat();
    for (method, packed) in [(1, shrunk), (2, reduced), (6, imploded)] {
        let found = found(&packed_by(method, 0, &packed, content));
        assert_eq!(failures(&found), [], "{method}");
        assert_eq!(found.members[0].bytes, content, "{method}");
    }
}

#[test]
fn archives_under_other_names_are_read() {
    let archive = zip_of(&[("inside.txt", b"words")]);
    for name in [
        "a.kmz",
        "a.whl",
        "a.egg",
        "a.nupkg",
        "a.cbz",
        "a.ipa",
        "a.npz",
        "a.kra",
        "a.ora",
        "a.apk",
        "a.jar",
        "a.xpi",
        "a.maff",
        "a.asice",
        "a.unknown",
        "a.txt",
        "a",
    ] {
        let mut bodies = Vec::new();
        let mut input = crate::Input::bytes_of(name, &archive);
        crate::extract_all(&mut input, &Limits::default(), &mut |document| {
            bodies.push(document.body);
        });
        assert_eq!(bodies, ["words", ""], "{name}");
    }
}

#[test]
fn new_methods_are_read() {
    for (zip, word) in [
        (
            &include_bytes!("../../../../tests/data/archive/lzma.zip")[..],
            "ziplemming",
        ),
        (
            include_bytes!("../../../../tests/data/archive/xz.zip"),
            "zipxerus",
        ),
        (
            include_bytes!("../../../../tests/data/archive/ppmd.zip"),
            "zippademelon",
        ),
    ] {
        let found = found(zip);
        assert_eq!(failures(&found), [], "{word}");
        let text = String::from_utf8_lossy(&found.members[0].bytes).into_owned();
        assert!(text.contains(word), "{text}");
        survives(extract, ZIP, "a.zip", zip);
    }
}

#[test]
fn hostile_bytes_are_survived() {
    survives(
        extract,
        ZIP,
        "a.zip",
        include_bytes!("../../../../tests/data/archive/folders.zip"),
    );
    survives(
        extract,
        ZIP,
        "a.zip",
        include_bytes!("../../../../tests/data/archive/encrypted.zip"),
    );
    survives(extract, ZIP, "a.zip", &zip_of(&[("a", &[b'x'; 5000])]));
}
