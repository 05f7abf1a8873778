//! `notmuch`: ken under another name. If the real notmuch is installed, both get the same commands.

mod commands;
mod emacs;
mod mutt;
mod secrets;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::needs;
use crate::world::{Run, World};

/// Messages by the path of their file.
const MAIL: [(&str, &str); 7] = [
    (
        "inbox/new/1.a.host",
        "From: Anna Example <anna@example.org>\nTo: Me <me@example.com>, \"Doe, Bob\" <bob@example.org>\n\
         Cc: team@example.org\nSubject: Budget plan\nMessage-ID: <a1@example.org>\n\
         Date: Mon, 05 Jan 2026 10:00:00 +0000\n\nThe albatross budget.\n",
    ),
    (
        "inbox/cur/2.a.host:2,S",
        "From: Bob <bob@example.org>\nTo: Anna Example <anna@example.org>\nCc: me@example.com\n\
         Subject: Re: Budget plan\nMessage-ID: <a2@example.org>\nIn-Reply-To: <a1@example.org>\n\
         References: <a1@example.org>\nDate: Tue, 06 Jan 2026 10:00:00 +0100\n\nI agree, pangolin.\n",
    ),
    (
        "inbox/cur/3.a.host:2,RS",
        "From: Carol <carol@example.org>\nTo: list@lists.example.org\nSubject: Re: Budget plan\n\
         Message-ID: <a3@example.org>\nIn-Reply-To: <a2@example.org>\n\
         References: <a1@example.org> <a2@example.org>\n\
         Date: Wed, 07 Jan 2026 10:00:00 +0200\nReply-To: Carol C <cc@example.org>\n\nThird, quokka.\n",
    ),
    (
        "inbox/cur/4.a.host:2,FS",
        "From: Dave <dave@example.org>\nTo: me@example.com\nSubject: Orphan reply\n\
         Message-ID: <b2@example.org>\nIn-Reply-To: <b1@example.org>\n\
         Date: Thu, 08 Jan 2026 10:00:00 +0000\n\nOrphan text okapi.\n",
    ),
    (
        "inbox/cur/7.a.host:2,",
        "From: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>\nTo: me@example.com\nSubject: Attached\n\
         Message-ID: <c1@example.org>\nDate: Sat, 10 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nsee attached\n\
         --b\nContent-Type: text/html\n\n<p>page</p>\n\
         --b\nContent-Type: application/octet-stream\n\
         Content-Disposition: attachment; filename=\"table.bin\"\n\
         Content-Transfer-Encoding: base64\n\nAAEC\n--b--\n",
    ),
    (
        "archive/8",
        "From: Me <me@example.com>\nTo: Anna Example <anna@example.org>\n\
         Subject: Re: Budget plan (was: x)\nMessage-ID: <a4@example.org>\n\
         In-Reply-To: <a1@example.org>\nDate: Thu, 08 Jan 2026 12:00:00 +0000\n\nMy reply.\n",
    ),
    // The same message once more.
    (
        "archive/9",
        "From: Me <me@example.com>\nTo: Anna Example <anna@example.org>\n\
         Subject: Re: Budget plan (was: x)\nMessage-ID: <a4@example.org>\n\
         In-Reply-To: <a1@example.org>\nDate: Thu, 08 Jan 2026 12:00:00 +0000\n\nMy reply.\n",
    ),
];

/// A program that acts as notmuch, with mail of its own.
struct Notmuch {
    world: World,
    program: PathBuf,
}

impl Notmuch {
    /// Returns ken under the name `notmuch`, with mail that is taken in.
    fn ken() -> Self {
        let world = World::new();
        let program = world.home().join("bin/notmuch");
        fs_err::create_dir_all(program.parent().unwrap()).unwrap();
        fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ken"), &program).unwrap();
        Self::with_mail(world, program)
    }

    /// Returns the real notmuch, if it is installed in the version that ken presents.
    fn real() -> Option<Self> {
        let output = Command::new("notmuch").arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        (version == "notmuch 0.37\n").then(|| Self::with_mail(World::new(), "notmuch".into()))
    }

    fn with_mail(world: World, program: PathBuf) -> Self {
        for (name, text) in MAIL {
            world.write(format!("Mail/{name}"), text);
        }
        let notmuch = Self { world, program };
        for part in ["cur", "new", "tmp"] {
            fs_err::create_dir_all(notmuch.maildir().join("inbox").join(part)).unwrap();
        }
        let config = format!(
            "# my mail\n[database]\npath={}\n[user]\nname=Me\nprimary_email=me@example.com\n\
             other_email=me@work.example;\n[search]\nexclude_tags=deleted;spam\n",
            notmuch.maildir().display()
        );
        fs_err::write(notmuch.config(), config).unwrap();
        let new = notmuch.run(&["new"]);
        assert_eq!(new.code, 0, "{}", new.err);
        assert!(
            new.text()
                .ends_with("Added 6 new messages to the database.\n"),
            "{}",
            new.text()
        );
        notmuch
    }

    fn maildir(&self) -> PathBuf {
        self.world.docs().join("Mail")
    }

    fn config(&self) -> PathBuf {
        self.world.home().join("notmuch-config")
    }

    fn command(&self) -> Command {
        let home = self.world.home();
        let mut command = Command::new(&self.program);
        command.current_dir(home).stdin(Stdio::null());
        command
            .env_clear()
            .env("HOME", home)
            .env("TZ", "UTC")
            .env("PATH", "/usr/bin:/bin");
        command.env("NOTMUCH_CONFIG", self.config());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// Runs a command that reads standard input.
    fn feed(&self, args: &[&str], input: &str) -> Run {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may refuse before it reads.
        _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Run::of_child(child)
    }

    /// Returns what a command prints; it must succeed.
    fn prints(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        run.text().to_owned()
    }

    /// Returns the same without what differs between two worlds: numbers of threads, and paths.
    fn prints_plainly(&self, args: &[&str]) -> String {
        let text = self.prints(args);
        let text = text.replace(&self.maildir().display().to_string(), "MAIL");
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
            let length = rest[at..].find(|c: char| !c.is_ascii_hexdigit());
            let end = at + length.unwrap_or(rest.len() - at);
            plain.push_str(&rest[..at]);
            plain.push_str(if end - at == 16 {
                "NUMBER"
            } else {
                &rest[at..end]
            });
            rest = &rest[end..];
        }
        plain + rest
    }
}

/// Returns ken and the real notmuch, if that is installed.
fn both() -> (Notmuch, Option<Notmuch>) {
    let real = Notmuch::real();
    needs::met("notmuch", real.is_some());
    (Notmuch::ken(), real)
}
