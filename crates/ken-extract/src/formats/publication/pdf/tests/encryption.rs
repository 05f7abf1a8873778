//! Tests of encrypted files.

use super::*;

fn with_passwords(file: &[u8], passwords: &[&str]) -> Extracted {
    let limits = Limits {
        passwords: Passwords::new(passwords.iter().map(|&password| password.to_owned())),
        ..Limits::default()
    };
    run_limited(extract, PDF, "locked.pdf", file, &limits)
}

#[test]
fn the_owner_password_opens_files() {
    let files: [&[u8]; 3] = [
        include_bytes!("../../../../../tests/data/pdf/encrypted-password.pdf"),
        include_bytes!("../../../../../tests/data/pdf/encrypted-rc4-40.pdf"),
        include_bytes!("../../../../../tests/data/pdf/encrypted-rc4-128.pdf"),
    ];
    for file in files {
        for passwords in [["wrong", "owner"], ["wrong", "user"]] {
            let found = with_passwords(file, &passwords);
            assert_eq!(found.own().failure, None);
            assert_eq!(found.own().body.trim(), "Open secret");
        }
        let found = with_passwords(file, &["wrong"]);
        let failure = found.own().failure.as_ref().expect("encrypted");
        assert_eq!(failure.cause, Cause::Password { tried: true });
    }
}

/// A file whose attachment is encrypted with an unknown password.
fn attachment_only(streams: &str, encrypt: &str) -> Sample {
    let mut sample = Sample::pages(&["BT /F1 10 Tf 50 700 Td (open text) Tj ET"]);
    sample.catalog = "/Names<</EmbeddedFiles<</Names[(a) 101 0 R]>>>>".into();
    let (o, u) = ("11".repeat(32), "22".repeat(32));
    let dict = format!(
        "<</Filter/Standard/V 4/R 4/Length 128/P -4/O<{o}>/U<{u}>/EFF/StdCF{streams}\
         /CF<</StdCF<</AuthEvent/EFOpen/CFM/AESV2/Length 16>>>>>>"
    );
    sample.trailer = format!("/ID[<00><00>]/Encrypt {encrypt}");
    sample.objects = vec![
        dict.clone(),
        "<</Type/Filespec/F(secret.txt)/EF<</F 102 0 R>>>>".into(),
        stream(
            "/Filter[/Crypt]/DecodeParms[<</Name/StdCF>>]",
            "0123456789abcdef",
        ),
    ];
    if encrypt.is_empty() {
        sample.trailer.push_str(&dict);
    }
    sample
}

#[test]
fn a_file_opens_of_which_only_the_attachments_are_encrypted() {
    let identity = "/StmF/Identity/StrF/Identity";
    for sample in [
        attachment_only(identity, "100 0 R"),
        attachment_only("", "100 0 R"),
        attachment_only(identity, ""),
    ] {
        let found = sample.found();
        assert_eq!(found.own().body, "open text");
        assert_eq!(found.own().failure, None);
        let [member, _] = &found.documents[..] else {
            panic!("{:?}", found.documents);
        };
        let failure = member.failure.as_ref().expect("encrypted");
        assert_eq!(failure.cause, Cause::Password { tried: false });
        assert!(found.members.is_empty());
    }
    let found = attachment_only("/StmF/StdCF/StrF/StdCF", "100 0 R").found();
    let failure = found.own().failure.as_ref().expect("encrypted");
    assert_eq!(failure.cause, Cause::Password { tried: false });
}

#[test]
fn a_file_for_the_key_of_a_recipient_says_so() {
    let mut sample = Sample::pages(&[""]);
    sample.trailer = "/ID[<00><00>]/Encrypt 100 0 R".into();
    sample.objects = vec!["<</Filter/Adobe.PubSec/V 4/SubFilter/adbe.pkcs7.s5>>".into()];
    let found = sample.found();
    let failure = found.own().failure.as_ref().expect("encrypted");
    let how = ken_core::Encryption::Key;
    assert_eq!(failure.cause, Cause::Encrypted { how });
}

#[test]
fn passwords_may_have_letters_beyond_ascii() {
    let owner = include_bytes!("../../../../../tests/data/pdf/encrypted-owner-latin.pdf");
    let user = include_bytes!("../../../../../tests/data/pdf/encrypted-nfc.pdf");
    // The accent is a character of its own, as some keyboards write it.
    for (file, password) in [
        (&owner[..], "gr\u{f6}\u{df}e"),
        (user, "caf\u{e9}"),
        (user, "cafe\u{301}"),
    ] {
        let found = with_passwords(file, &[password]);
        assert_eq!(found.own().failure, None, "{password}");
        assert_eq!(found.own().body.trim(), "Open secret");
    }
}
