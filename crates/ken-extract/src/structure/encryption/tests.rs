//! Tests of encrypted documents: real files, and hostile parameters.

use ken_core::{Cause, Document, Failure, Reason};

use crate::structure::compound::rebuild::compound_of;
use crate::structure::package::tests::zip_of;
use crate::{Input, Limits, Passwords, extract_all};

const AGILE: &[u8] = include_bytes!("../../../tests/data/encrypted.docx");

/// Extracts a file and returns its own document.
fn own(name: &str, bytes: &[u8], passwords: &[&str]) -> Document {
    let limits = Limits {
        passwords: Passwords::new(passwords.iter().map(|&p| p.to_owned())),
        ..Limits::default()
    };
    let mut own = None;
    extract_all(
        &mut Input::bytes_of(name, bytes),
        &limits,
        &mut |document| {
            if document.ipath.is_root() {
                own = Some(document);
            }
        },
    );
    own.unwrap()
}

fn failure(document: &Document) -> &Failure {
    document.failure.as_ref().expect("a failure")
}

macro_rules! sample {
    ($name:literal) => {
        (
            $name,
            &include_bytes!(concat!("../../../tests/data/encrypted/encrypted-", $name))[..],
        )
    };
}

#[test]
fn documents_are_read_by_the_password_that_fits() {
    let agile = ("agile.docx", AGILE);
    for ((name, bytes), word) in [
        (agile, "quokkaberg"),
        (sample!("standard.xlsx"), "zwiebelhafen"),
        (sample!("rc4.doc"), "curlewbrook"),
        (sample!("rc4.xls"), "zwiebelhafen"),
        (sample!("cryptoapi.doc"), "curlewbrook"),
        (sample!("cryptoapi.xls"), "zwiebelhafen"),
        (sample!("cryptoapi.ppt"), "aukletsund"),
        (sample!("xor.xls"), "zwiebelhafen"),
        (sample!("aes.odt"), "numbatfell"),
        (sample!("blowfish.odt"), "numbatfell"),
        (sample!("argon2.odt"), "numbatfell"),
    ] {
        let read = own(name, bytes, &["wrong", "hunter2"]);
        assert_eq!(read.failure, None, "{name}");
        assert!(read.body.contains(word), "{name}: {}", read.body);
        for passwords in [&[][..], &["wrong"]] {
            let locked = own(name, bytes, passwords);
            assert_eq!(locked.body, "", "{name}");
            let tried = !passwords.is_empty();
            assert_eq!(failure(&locked).cause, Cause::Password { tried }, "{name}");
        }
    }
}

#[test]
fn protected_workbooks_need_no_password() {
    let bytes = include_bytes!("../../../tests/data/encrypted/velvet.xls");
    let read = own("a.xls", bytes, &[]);
    assert_eq!(read.failure, None);
    assert!(read.body.contains("zwiebelhafen"));
}

#[test]
fn what_is_inside_decides_the_type() {
    for name in ["a.xlsx", "a", "a.docx"] {
        let read = own(name, AGILE, &["hunter2"]);
        assert!(read.media_type.ends_with("wordprocessingml.document"));
        assert!(read.body.contains("quokkaberg"), "{name}");
    }
}

#[test]
fn rounds_of_hashing_are_bounded() {
    let info = |rounds: &str| {
        let key = "cipherAlgorithm='AES' cipherChaining='ChainingModeCBC' keyBits='256' \
                   hashAlgorithm='SHA512' saltValue='AAAAAAAAAAAAAAAAAAAAAA=='";
        let sealed = "A".repeat(64);
        let xml = format!(
            "<encryption><keyData {key}/><keyEncryptors><p:encryptedKey {key} \
             spinCount='{rounds}' encryptedVerifierHashInput='{sealed}' \
             encryptedVerifierHashValue='{sealed}' encryptedKeyValue='{sealed}'/>\
             </keyEncryptors></encryption>"
        );
        let info = [b"\x04\0\x04\0\x40\0\0\0", xml.as_bytes()].concat();
        compound_of(&[("EncryptionInfo", &info), ("EncryptedPackage", &[0; 64])])
    };
    let found = own("a.docx", &info("4000000000"), &["a"]);
    assert_eq!(failure(&found).reason(), Reason::Limit);
    assert!(format!("{:?}", failure(&found)).contains("rounds of hashing"));
    let found = own("a.docx", &info("1"), &["a"]);
    assert_eq!(failure(&found).reason(), Reason::Encrypted);
}

/// Returns a package whose content requests this key derivation.
fn sealed_odt(derivation: &str) -> Vec<u8> {
    let manifest = format!(
        "<m:manifest><m:file-entry m:full-path='content.xml'><m:encryption-data \
         m:checksum-type='SHA1/1K' m:checksum='AAAA'><m:algorithm m:algorithm-name='Blowfish CFB' \
         m:initialisation-vector='AAAAAAAAAAA='/><m:key-derivation {derivation} \
         m:salt='AAAAAAAAAAAAAAAAAAAAAA=='/></m:encryption-data></m:file-entry></m:manifest>"
    );
    let mimetype = b"application/vnd.oasis.opendocument.text";
    zip_of(&[
        ("mimetype", mimetype),
        ("content.xml", b"noise"),
        ("META-INF/manifest.xml", manifest.as_bytes()),
    ])
}

#[test]
fn derivations_of_keys_are_bounded() {
    let pbkdf2 = "m:key-derivation-name='PBKDF2' m:iteration-count=";
    let argon2 = "m:key-derivation-name='urn:x:argon2id' l:argon2-lanes='1' l:argon2-iterations=";
    for (derivation, reason) in [
        (format!("{pbkdf2}'4000000000'"), Reason::Limit),
        (format!("{pbkdf2}'10'"), Reason::Encrypted),
        (
            format!("{argon2}'1' l:argon2-memory='4000000000'"),
            Reason::Limit,
        ),
        (
            format!("{argon2}'4000000000' l:argon2-memory='1024'"),
            Reason::Limit,
        ),
        (
            format!("{argon2}'1' l:argon2-memory='64'"),
            Reason::Encrypted,
        ),
        (
            format!("{argon2}'0' l:argon2-memory='0'"),
            Reason::Malformed,
        ),
        (
            "m:key-derivation-name='magic'".to_owned(),
            Reason::Encrypted,
        ),
    ] {
        let found = own("a.odt", &sealed_odt(&derivation), &["a"]);
        assert_eq!(failure(&found).reason(), reason, "{derivation}");
    }
}

#[test]
fn damaged_encryption_is_a_failure_and_nothing_else() {
    for (_, bytes) in [
        sample!("aes.odt"),
        sample!("standard.xlsx"),
        sample!("rc4.doc"),
        sample!("cryptoapi.xls"),
        sample!("xor.xls"),
        sample!("cryptoapi.ppt"),
    ] {
        for n in 0..10 {
            let mut damaged = bytes.to_vec();
            let at = damaged.len() * n / 10;
            damaged[at] ^= 0xff;
            own("a", &damaged, &["hunter2"]);
            own("a", &damaged[..at], &["hunter2"]);
        }
    }
}
