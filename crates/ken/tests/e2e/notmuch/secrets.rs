//! Encrypted messages, with keys of GnuPG in the home folder of the test.

use std::process::{Command, Stdio};

use super::Notmuch;

/// A program that acts as notmuch for somebody who has a key.
struct Receiver(Notmuch);

impl Receiver {
    fn new() -> Self {
        let receiver = Self(Notmuch::ken());
        let home = receiver.0.world.home().join(".gnupg");
        fs_err::create_dir(&home).unwrap();
        let owner = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs_err::set_permissions(&home, owner).unwrap();
        let key = [
            "--quick-generate-key",
            "me@example.com",
            "future-default",
            "default",
        ];
        receiver.gpg(&[&["--batch", "--passphrase", ""], &key[..]].concat());
        receiver
    }

    fn gpg(&self, arguments: &[&str]) {
        let output = Command::new("gpg")
            .args(arguments)
            .env("HOME", self.0.world.home())
            .current_dir(self.0.world.home())
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("gpg, which scripts/setup installs: {error}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gpg {arguments:?}: {error}");
    }

    /// Writes an encrypted message whose real subject is inside.
    fn receive(&self) {
        let home = self.0.world.home();
        let inside = "Subject: Real subject\nContent-Type: text/plain; protected-headers=v1\n\nThe secret wombat.\n";
        fs_err::write(home.join("inside"), inside).unwrap();
        let to = ["--recipient", "me@example.com", "--trust-model", "always"];
        self.gpg(&[&["--batch", "--armor", "--encrypt"], &to[..], &["inside"]].concat());
        let cipher = fs_err::read_to_string(home.join("inside.asc")).unwrap();
        let message = format!(
            "From: Ann <ann@example.org>\nTo: me@example.com\nSubject: ...\nMessage-ID: <e1@example.org>\n\
             Date: Sun, 11 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
             Content-Type: multipart/encrypted; protocol=\"application/pgp-encrypted\"; boundary=b\n\n--b\n\
             Content-Type: application/pgp-encrypted\n\nVersion: 1\n\n--b\n\
             Content-Type: application/octet-stream\n\n{cipher}\n--b--\n"
        );
        fs_err::write(self.0.maildir().join("inbox/new/9.a.host"), message).unwrap();
    }

    /// Returns how many messages have the word that is inside.
    fn finds(&self) -> String {
        self.0.prints(&["count", "wombat"])
    }

    fn shows(&self, arguments: &[&str]) -> bool {
        let shown = [&["show"], arguments, &["id:e1@example.org"]].concat();
        self.0.prints(&shown).contains("The secret wombat.")
    }

    fn properties(&self) -> String {
        let dump = self.0.prints(&["dump", "--include=properties", "*"]);
        let lines = dump.lines().filter(|line| line.starts_with("#= "));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Ends the processes that GnuPG started in its home folder.
impl Drop for Receiver {
    fn drop(&mut self) {
        let mut end = Command::new("gpgconf");
        let end = end.args(["--kill", "all"]);
        let _ = end.env("HOME", self.0.world.home()).status();
    }
}

#[test]
fn encrypted_messages_are_indexed_if_the_user_wants_it() {
    let receiver = Receiver::new();
    receiver.receive();
    receiver.0.prints(&["new"]);
    assert_eq!(
        (receiver.finds(), receiver.properties()),
        ("0\n".into(), String::new())
    );
    assert!(!receiver.shows(&[]) && receiver.shows(&["--decrypt=true"]));

    receiver
        .0
        .prints(&["reindex", "--decrypt=nostash", "tag:encrypted"]);
    assert_eq!(receiver.finds(), "1\n");
    assert_eq!(
        receiver.0.prints(&["count", "subject:\"real subject\""]),
        "1\n"
    );
    assert_eq!(
        receiver.properties(),
        "#= e1@example.org index.decryption=success"
    );
    // No session key is kept.
    assert!(!receiver.shows(&[]));

    receiver.0.prints(&[
        "reindex",
        "--decrypt=false",
        "property:index.decryption=success",
    ]);
    assert_eq!(
        (receiver.finds(), receiver.properties()),
        ("0\n".into(), String::new())
    );

    // The session key, kept, opens the message without the secret key.
    assert!(receiver.shows(&["--decrypt=stash"]));
    assert_eq!(receiver.finds(), "1\n");
    assert!(
        receiver.properties().contains(" session-key=9%3a"),
        "{}",
        receiver.properties()
    );
    fs_err::remove_dir_all(receiver.0.world.home().join(".gnupg/private-keys-v1.d")).unwrap();
    assert!(receiver.shows(&[]) && !receiver.shows(&["--decrypt=false"]));
    receiver.0.prints(&["reindex", "*"]);
    assert_eq!(receiver.finds(), "1\n");
    // Tags that the user gave stay through all of this.
    assert_eq!(
        receiver
            .0
            .prints(&["count", "tag:encrypted and tag:unread"]),
        "1\n"
    );

    receiver.0.prints(&["reindex", "--decrypt=false", "*"]);
    assert!(!receiver.properties().contains("session-key"));
    receiver
        .0
        .prints(&["reindex", "--decrypt=true", "tag:encrypted"]);
    assert_eq!(receiver.finds(), "0\n");
    assert_eq!(
        receiver.properties(),
        "#= e1@example.org index.decryption=failure"
    );
}
