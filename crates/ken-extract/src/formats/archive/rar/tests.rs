//! Tests of archives from the writer of `rars`; `unar` and `bsdtar` read them in the same way.

use ken_core::{Document, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::testing::{Extracted, run_limited, survives};

const DETECTED: Detected = Detected {
    media_type: "application/vnd.rar",
    kind: Kind::Archive,
};
const SOLID: &[u8] = include_bytes!("../../../../tests/data/archive/solid.rar");
const VERSION4: &[u8] = include_bytes!("../../../../tests/data/archive/version4.rar");
const ENCRYPTED4: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted4.rar");
const ENCRYPTED5: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted5.rar");
const NAMES: &[u8] = include_bytes!("../../../../tests/data/archive/encrypted-names.rar");
/// Two members of 1 MiB of zeros.
const ZEROS: &[u8] = include_bytes!("../../../../tests/data/hostile/zeros.rar");

fn found_within(limits: &Limits, bytes: &[u8]) -> Extracted {
    run_limited(extract, DETECTED, "a.rar", bytes, limits)
}

fn with_passwords(passwords: &[&str]) -> Limits {
    Limits {
        passwords: crate::Passwords::new(passwords.iter().map(|&p| p.to_owned())),
        ..Limits::default()
    }
}

fn names(found: &Extracted) -> Vec<&str> {
    found.members.iter().map(|m| m.ipath.as_str()).collect()
}

fn reason(document: &Document) -> Option<Reason> {
    document.failure.as_ref().map(|failure| failure.reason())
}

#[test]
fn members_of_a_solid_archive_are_read() {
    let found = found_within(&Limits::default(), SOLID);
    let own = found.own();
    assert!(own.failure.is_none(), "{own:?}");
    assert_eq!(own.text(Field::Description), Some("Letters of a raracara"));
    let expected = ["letters/spring.txt", "letters/größe.txt", "numbers.txt"];
    assert_eq!(names(&found), expected);
    let spring = &found.members[0];
    assert_eq!(spring.name, "spring.txt");
    assert_eq!(spring.modified, Some(1_714_979_290));
    assert!(spring.bytes.starts_with(b"The raracoon"));
    assert!(found.members[2].bytes.ends_with(b"400\n"));
}

#[test]
fn old_archives_are_read() {
    let found = found_within(&Limits::default(), VERSION4);
    assert!(found.own().failure.is_none(), "{:?}", found.own());
    assert_eq!(names(&found), ["letters/spring.txt", "numbers.txt"]);
    assert!(found.members[0].bytes.starts_with(b"The raravolvo"));
    assert_eq!(found.members[0].modified, Some(1_714_979_290));
}

#[test]
fn without_a_password_names_are_found() {
    for limits in [Limits::default(), with_passwords(&["wrong"])] {
        for archive in [ENCRYPTED4, ENCRYPTED5] {
            let found = found_within(&limits, archive);
            assert!(found.members.is_empty());
            let [secret, own] = &found.documents[..] else {
                panic!("{:?}", found.documents);
            };
            assert_eq!(secret.ipath.as_str(), "secret.txt");
            assert_eq!(reason(secret), Some(Reason::Encrypted));
            assert_eq!(reason(own), None);
        }
        let found = found_within(&limits, NAMES);
        assert_eq!(found.documents.len(), 1);
        assert_eq!(reason(found.own()), Some(Reason::Encrypted));
    }
}

#[test]
fn passwords_are_tried() {
    for archive in [ENCRYPTED4, ENCRYPTED5, NAMES] {
        let found = found_within(&with_passwords(&["wrong", "hunter2"]), archive);
        assert!(found.own().failure.is_none(), "{:?}", found.own());
        assert!(found.members[0].bytes.starts_with(b"rarsecret"));
    }
}

#[test]
fn members_that_are_too_large_are_passed_over() {
    let limits = Limits {
        max_member_bytes: 40,
        ..Limits::default()
    };
    for (archive, too_large, other) in [
        (SOLID, "letters/spring.txt", "letters/größe.txt"),
        (VERSION4, "numbers.txt", "letters/spring.txt"),
    ] {
        let found = found_within(&limits, archive);
        assert_eq!(names(&found), [other]);
        assert_eq!(found.documents[0].ipath.as_str(), too_large);
        assert_eq!(reason(&found.documents[0]), Some(Reason::Limit));
        assert_eq!(reason(found.own()), None);
    }
}

#[test]
fn bombs_are_stopped() {
    let limits = Limits {
        max_expansion: 0,
        ..Limits::default()
    };
    // One MiB is allowed.
    let found = found_within(&limits, ZEROS);
    assert_eq!(names(&found), ["z1.txt"]);
    assert_eq!(found.documents[0].ipath.as_str(), "z2.txt");
    assert_eq!(reason(&found.documents[0]), Some(Reason::Limit));
}

#[test]
fn damage_loses_one_member_only() {
    let mut bytes = VERSION4.to_vec();
    let at = memchr::memmem::find(&bytes, b"spring.txt").unwrap() + 14;
    bytes[at] ^= 0xff;
    let found = found_within(&Limits::default(), &bytes);
    assert_eq!(names(&found), ["numbers.txt"]);
    assert_eq!(found.documents[0].ipath.as_str(), "letters/spring.txt");
    assert_eq!(reason(&found.documents[0]), Some(Reason::Malformed));
}

#[test]
fn hostile_bytes_are_survived() {
    for archive in [SOLID, VERSION4, NAMES] {
        survives(extract, DETECTED, "a.rar", archive);
    }
}
