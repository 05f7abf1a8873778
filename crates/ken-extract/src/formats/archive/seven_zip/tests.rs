//! Archives made by p7zip.

use ken_core::{Kind, Reason};

use super::*;
use crate::Passwords;
use crate::detect::Detected;
use crate::testing::{Extracted, run_limited, survives};

const DETECTED: Detected = Detected {
    media_type: "application/x-7z-compressed",
    kind: Kind::Archive,
};
const SOLID: &[u8] = include_bytes!("../../../../tests/data/archive/solid.7z");
const PPMD: &[u8] = include_bytes!("../../../../tests/data/archive/ppmd.7z");
const ENCRYPTED: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted.7z");
const NAMES: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted-names.7z");

fn found_within(limits: &Limits, bytes: &[u8]) -> Extracted {
    run_limited(extract, DETECTED, "a.7z", bytes, limits)
}

fn found(bytes: &[u8]) -> Extracted {
    found_within(&Limits::default(), bytes)
}

fn with_passwords(passwords: &[&str]) -> Limits {
    Limits {
        passwords: Passwords::new(passwords.iter().map(|&p| p.to_owned())),
        ..Limits::default()
    }
}

fn names(found: &Extracted) -> Vec<&str> {
    found.members.iter().map(|m| m.ipath.as_str()).collect()
}

fn reason(document: &ken_core::Document) -> Option<Reason> {
    document.failure.as_ref().map(|failure| failure.reason())
}

#[test]
fn members_of_a_solid_archive_are_read() {
    let found = found(SOLID);
    assert!(found.own().failure.is_none(), "{:?}", found.own());
    let expected = ["letters/größe.txt", "letters/spring.txt", "numbers.txt"];
    assert_eq!(
        names(&found),
        [&expected[..], &["letters/nothing.txt"]].concat()
    );
    let spring = &found.members[1];
    assert_eq!(spring.name, "spring.txt");
    assert_eq!(spring.modified, Some(1_714_979_290));
    assert!(spring.bytes.starts_with(b"The sevenotter"));
    assert!(found.members[2].bytes.ends_with(b"400\n"));
    assert!(found.members[3].bytes.is_empty());
}

#[test]
fn other_methods_are_known() {
    let found = found(PPMD);
    assert!(found.own().failure.is_none(), "{:?}", found.own());
    assert_eq!(names(&found), ["letters/spring.txt", "numbers.txt"]);
}

#[test]
fn without_a_password_names_are_found() {
    for limits in [Limits::default(), with_passwords(&["wrong"])] {
        let found = found_within(&limits, ENCRYPTED);
        assert!(found.members.is_empty());
        let ipaths: Vec<_> = found.documents.iter().map(|d| d.ipath.as_str()).collect();
        assert_eq!(ipaths, ["secret.txt", ""]);
        assert_eq!(reason(&found.documents[0]), Some(Reason::Encrypted));
        let found = found_within(&limits, NAMES);
        assert_eq!(found.documents.len(), 1);
        assert_eq!(reason(found.own()), Some(Reason::Encrypted));
    }
}

#[test]
fn passwords_are_tried() {
    let limits = with_passwords(&["wrong", "hunter2"]);
    for archive in [ENCRYPTED, NAMES] {
        let found = found_within(&limits, archive);
        assert!(found.own().failure.is_none(), "{:?}", found.own());
        let secret = found.members.iter().find(|m| m.name == "secret.txt");
        assert!(secret.unwrap().bytes.starts_with(b"sevensecret"));
    }
}

#[test]
fn members_that_are_too_large_are_passed_over() {
    let limits = Limits {
        max_member_bytes: 100,
        ..Limits::default()
    };
    let found = found_within(&limits, SOLID);
    assert_eq!(found.members.len(), 3);
    assert_eq!(found.documents[0].ipath.as_str(), "numbers.txt");
    assert_eq!(reason(&found.documents[0]), Some(Reason::Limit));
}

#[test]
fn bombs_are_stopped() {
    let limits = Limits {
        max_expansion: 0,
        ..Limits::default()
    };
    // 2 MiB of zeros; one MiB is allowed.
    let bomb = include_bytes!("../../../../tests/data/hostile/zeros.7z");
    let found = found_within(&limits, bomb);
    assert_eq!(reason(found.own()), Some(Reason::Limit));
    assert!(found.members.len() < 2);
}

#[test]
fn damage_loses_what_is_behind_it_only() {
    let mut bytes = SOLID.to_vec();
    // Damages the last member of the block, within the numbers.
    bytes[300] ^= 0xff;
    let found = found(&bytes);
    assert_eq!(
        names(&found)[..2],
        ["letters/größe.txt", "letters/spring.txt"]
    );
    let damaged = &found.documents[0];
    assert_eq!(damaged.ipath.as_str(), "numbers.txt");
    assert_eq!(reason(damaged), Some(Reason::Malformed));
}

#[test]
fn a_decoder_that_failed_is_not_asked_again() {
    let found = found(include_bytes!("../../../../tests/data/hostile/damaged.7z"));
    assert!(found.own().failure.is_none());
    let failed = found.documents.iter().filter(|d| reason(d).is_some());
    assert_eq!(failed.count(), 3);
}

#[test]
fn hostile_bytes_are_survived() {
    for archive in [SOLID, PPMD, NAMES] {
        survives(extract, DETECTED, "a.7z", archive);
    }
}
