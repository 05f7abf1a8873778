//! `mu`: ken under another name. If the real mu and mu4e are installed, both get the same commands.

mod commands;
mod mu4e;
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::needs;
use crate::world::{Run, World};

/// Messages by the path of their file.
const MAIL: [(&str, &str); 9] = [
    (
        "inbox/new/1.a.host",
        "From: Anna Example <anna@example.org>\n\
         To: Me <me@example.com>, \"Doe, Bob\" <bob@example.org>\nCc: team@example.org\n\
         Subject: Budget plan\nMessage-ID: <a1@example.org>\n\
         Date: Mon, 05 Jan 2026 10:00:00 +0000\n\nThe albatross budget.\n",
    ),
    (
        "inbox/cur/2.a.host:2,S",
        "From: Bob <bob@example.org>\nTo: Anna Example <anna@example.org>\nCc: me@example.com\n\
         Subject: Re: Budget plan\nMessage-ID: <a2@example.org>\nIn-Reply-To: <a1@example.org>\n\
         References: <a1@example.org>\nDate: Tue, 06 Jan 2026 10:00:00 +0000\n\nI agree, pangolin.\n",
    ),
    (
        "inbox/cur/3.a.host:2,RS",
        "From: Carol <carol@example.org>\nTo: list@lists.example.org\nSubject: Re: Budget plan\n\
         Message-ID: <a3@example.org>\nReferences: <a1@example.org> <a2@example.org>\n\
         List-Id: The list <list.example.org>\nX-Label: work money\nX-Priority: 1\n\
         Date: Wed, 07 Jan 2026 10:00:00 +0200\nReply-To: Carol C <cc@example.org>\n\n\
         Third, quokka.\n",
    ),
    (
        "inbox/cur/4.a.host:2,FS",
        "From: Dave <dave@example.org>\nTo: me@example.com\nSubject: Orphan reply\n\
         Message-ID: <b2@example.org>\nIn-Reply-To: <b1@example.org>\n\
         Date: Thu, 08 Jan 2026 10:00:00 +0000\n\nOrphan text okapi.\n",
    ),
    (
        "inbox/cur/5.a.host:2,S",
        "From: Eve <eve@example.org>\nTo: me@example.com\nSubject: Orphan reply two\n\
         Message-ID: <b3@example.org>\nIn-Reply-To: <b1@example.org>\nReferences: <b1@example.org>\n\
         Date: Fri, 09 Jan 2026 10:00:00 +0000\n\nOrphan text two okapi.\n",
    ),
    (
        "inbox/cur/7.a.host:2,",
        "From: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>\nTo: me@example.com\nSubject: Attached\n\
         Message-ID: <c1@example.org>\nDate: Sat, 10 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nsee attached\n\
         --b\nContent-Type: text/plain; name=\"notes.txt\"\n\
         Content-Disposition: attachment; filename=\"notes.txt\"\n\nThe narwhal is inside.\n\
         --b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\"table.csv\"\n\n\
         a,b\n1,2\n--b--\n",
    ),
    (
        "sent/cur/9.a.host:2,S",
        "From: Me <me@example.com>\nTo: Anna Example <anna@example.org>\n\
         Subject: Re: Budget plan (was: x)\nMessage-ID: <a4@example.org>\n\
         In-Reply-To: <a1@example.org>\nDate: Thu, 08 Jan 2026 12:00:00 +0000\n\nMy reply.\n",
    ),
    (
        "inbox/cur/10.a.host:2,S",
        "From: x@example.org\nTo: me@example.com\nSubject: Delete me\nMessage-ID: <d1@example.org>\n\
         Date: Mon, 12 Jan 2026 10:00:00 +0000\n\nx\n",
    ),
    // A folder named as in Maildir++.
    (
        ".Lists.rust/cur/11.a.host:2,S",
        "From: f@example.org\nTo: rust@lists.example.org\nSubject: Borrowing \"quoted\" \\ text\n\
         Message-ID: <f1@example.org>\nDate: Tue, 13 Jan 2026 10:00:00 +0000\n\ncapybara\n",
    ),
];

/// A program that acts as mu, with mail of its own.
struct Mu {
    world: World,
    program: PathBuf,
}

impl Mu {
    /// Returns ken under the name `mu`, with indexed mail.
    fn ken() -> Self {
        Self::ken_in(World::new())
    }

    /// Returns ken as it presents itself as a version of mu.
    fn ken_as(version: &str) -> Self {
        let world = World::new();
        world.configure(&format!("[mu]\nversion = \"{version}\"\n"));
        Self::ken_in(world)
    }

    fn ken_in(world: World) -> Self {
        let program = world.home().join("mu");
        fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ken"), &program).unwrap();
        Self::with_mail(world, program)
    }

    /// Returns the real mu, if it is installed in the version that ken presents.
    fn real() -> Option<Self> {
        let output = Command::new("mu").arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        if !version.contains("version 1.8.13\n") {
            return None;
        }
        Some(Self::with_mail(World::new(), "mu".into()))
    }

    fn with_mail(world: World, program: PathBuf) -> Self {
        for (name, text) in MAIL {
            world.write(format!("Mail/{name}"), text);
        }
        for folder in ["inbox", "sent", "trash", "archive", "drafts", ".Lists.rust"] {
            for part in ["cur", "new", "tmp"] {
                let folder = world.docs().join("Mail").join(folder).join(part);
                fs_err::create_dir_all(folder).unwrap();
            }
        }
        let mu = Self { world, program };
        let maildir = format!("--maildir={}", mu.maildir().display());
        let init = mu.run(&["init", &maildir, "--my-address=me@example.com"]);
        assert_eq!(init.code, 0, "{}", init.err);
        let index = mu.run(&["index", "--quiet"]);
        assert_eq!(index.code, 0, "{}", index.err);
        mu
    }

    fn maildir(&self) -> PathBuf {
        self.world.docs().join("Mail")
    }

    fn home(&self) -> PathBuf {
        self.world.home().join("muhome")
    }

    fn command(&self) -> Command {
        let home = self.world.home();
        let mut command = Command::new(&self.program);
        command
            .env("HOME", home)
            .env("MUHOME", self.home())
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .current_dir(home);
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let output = self.command().args(arguments).output().unwrap();
        Run::of(output)
    }

    /// Returns the output without the path of the test's folder.
    fn text(&self, arguments: &[&str]) -> String {
        let home = self.world.home().display().to_string();
        self.run(arguments).text().replace(&home, "")
    }

    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut waiting = vec![self.maildir()];
        while let Some(folder) = waiting.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    let below = path.strip_prefix(self.maildir()).unwrap();
                    files.push(below.display().to_string());
                }
            }
        }
        files.sort();
        files
    }
}

/// Stands for the path of a message in printed output.
fn path_of(maildir: &Path, name: &str) -> String {
    maildir.join(name).display().to_string()
}

/// Command lines for which mu and ken print the same.
const SAME: [&[&str]; 23] = [
    &["find", "budget"],
    &["find", "okapi", "or", "quokka"],
    &[
        "find",
        "flag:unread",
        "--fields",
        "d f g i l m p r s t v x z c h",
    ],
    &[
        "find",
        "",
        "--fields",
        "i",
        "--sortfield=date",
        "--reverse",
        "--maxnum=3",
    ],
    &["find", "", "--fields", "i s", "--sortfield=size"],
    &[
        "find",
        "--threads",
        "--include-related",
        "okapi or quokka or attached",
    ],
    &["find", "--threads", "--reverse", "budget"],
    &["find", "maildir:/inbox", "--fields", "s (m)"],
    &["find", "maildir:/.Lists.rust", "--fields", "l"],
    &["find", "prio:high", "--fields", "s"],
    &["find", "flag:attach", "--fields", "s"],
    &["find", "from:bob", "--format=xml"],
    &["find", "date:20260108..20260109", "--fields", "i"],
    &["find", "budget", "--summary-len=2"],
    &["find", "msgid:a3@example.org", "--fields", "i x v p"],
    &["find", "nothing-at-all"],
    &["find", "--format=nope", "x", "--quiet"],
    &["cfind", "bob"],
    &["cfind", "--format=mutt-alias", "anna"],
    &["cfind", "--format=csv", "--personal", "anna"],
    &["cfind", "--format=wl", "carol@"],
    &["cfind", "nobody"],
    &["cfind", "--format=org-contact", "dave"],
];

#[test]
fn what_is_printed_is_what_mu_prints() {
    let ken = Mu::ken();
    let mu = Mu::real();
    if !needs::met("mu-1.8.13", mu.is_some()) {
        return;
    }
    let mu = mu.unwrap();
    for arguments in SAME {
        let (ours, theirs) = (ken.run(arguments), mu.run(arguments));
        assert_eq!(ours.code, theirs.code, "{arguments:?}: {}", ours.err);
        if theirs.code == 0 {
            assert_eq!(ken.text(arguments), mu.text(arguments), "{arguments:?}");
        }
    }
}

#[test]
fn messages_are_found_and_printed() {
    let mu = Mu::ken();
    let run = mu.run(&[
        "find",
        "--threads",
        "--include-related",
        "quokka",
        "--fields",
        "i s",
    ]);
    let expected = [
        "a1@example.org Budget plan",
        "\\-> a2@example.org Re: Budget plan",
        "  \\-> a3@example.org Re: Budget plan",
        "/-> a4@example.org Re: Budget plan (was: x)",
    ];
    assert_eq!(run.lines(), expected);
    let run = mu.run(&["find", "--analyze", "subject:budget"]);
    let text = run.text();
    for part in [
        "query: subject:budget\n",
        "ken's query: ",
        "plan: (",
        "type \"message\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = mu.run(&["find", "embed:narwhal", "--fields", "i"]);
    assert_eq!(run.lines(), ["c1@example.org"], "by what is attached to it");
    let run = mu.run(&["find", "--format=json2", "capybara"]);
    let json: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(json[0]["subject"], "Borrowing \"quoted\" \\ text");
    assert_eq!(json[0]["maildir"], "/.Lists.rust");
    let run = mu.run(&["find", "--format=sexp", "budget", "--maxnum=1"]);
    assert!(
        run.text().contains(":flags (new unread personal)"),
        "{}",
        run.text()
    );
    assert_eq!(mu.run(&["find", "nothing-at-all"]).code, 4);
    assert_eq!(mu.run(&["cfind", "nobody"]).code, 2);
    assert_eq!(mu.run(&["find"]).code, 1);
    assert_eq!(mu.run(&["find", "("]).code, 1);
    let version = mu.run(&["--version"]);
    assert!(
        version
            .text()
            .starts_with("mu (mail indexer/searcher) version 1.8.13\n")
    );
}

#[test]
fn links_lead_to_what_was_found() {
    let mu = Mu::ken();
    let links = mu.world.home().join("links");
    let linksdir = format!("--linksdir={}", links.display());
    for (query, count) in [("budget", 4), ("okapi", 2)] {
        let run = mu.run(&["find", "--format=links", &linksdir, "--clearlinks", query]);
        assert_eq!(run.code, 0, "{}", run.err);
        let entries = ["cur", "new"].map(|part| fs_err::read_dir(links.join(part)).unwrap());
        let targets = entries.into_iter().flatten();
        let targets = targets.map(|entry| fs_err::read_link(entry.unwrap().path()).unwrap());
        let targets: Vec<PathBuf> = targets.collect();
        assert_eq!(targets.len(), count, "{query}");
        assert!(
            targets
                .iter()
                .all(|target| target.starts_with(mu.maildir()))
        );
    }
    assert!(links.join(".noindex").is_file());
}

#[test]
fn messages_are_shown_and_taken_apart() {
    let mu = Mu::ken();
    let path = path_of(&mu.maildir(), "inbox/cur/7.a.host:2,");
    let view = mu.run(&["view", &path]);
    let expected = "From: Jürgen <j@example.org>\nTo: me@example.com\nSubject: Attached\n\
        Date: Sat Jan 10 10:00:00 2026\nAttachments: notes.txt, table.csv\nsee attached\n";
    assert_eq!(view.text(), expected);
    assert_eq!(
        mu.run(&["verify", &path]).lines(),
        ["no signed parts found"]
    );
    let parts = mu.run(&["extract", &path]);
    assert!(
        parts
            .text()
            .contains("  3 table.csv text/csv [attachment] (7 bytes)\n")
    );
    let folder = mu.world.home().join("parts");
    fs_err::create_dir(&folder).unwrap();
    let target = format!("--target-dir={}", folder.display());
    assert_eq!(mu.run(&["extract", "-a", &target, &path]).code, 0);
    let saved = fs_err::read_to_string(folder.join("notes.txt")).unwrap();
    assert_eq!(saved.trim_end(), "The narwhal is inside.");
    assert_eq!(
        mu.run(&["extract", "-a", &target, &path]).code,
        1,
        "it is there already"
    );
    assert_eq!(
        mu.run(&["extract", "--overwrite", &target, &path, "TABLE"])
            .code,
        0
    );
}

#[test]
fn messages_are_moved_on_the_command_line() {
    let mu = Mu::ken();
    let path = path_of(&mu.maildir(), "inbox/new/1.a.host");
    let dry = mu.run(&["move", "--dry-run", "--flags=+S-N", &path, "/archive"]);
    let expected = path_of(&mu.maildir(), "archive/cur/1.a.host:2,S");
    assert_eq!(dry.lines(), [expected.as_str()]);
    assert!(Path::new(&path).is_file());
    let run = mu.run(&["move", "--flags=+S-N", &path, "/archive"]);
    assert_eq!(run.lines(), [expected.as_str()]);
    let found = mu.run(&["find", "maildir:/archive", "--fields", "l"]);
    assert_eq!(found.lines(), [expected.as_str()], "the index knows it");
    assert_eq!(mu.run(&["move", &expected, "/nowhere"]).code, 1);
    assert_eq!(
        mu.run(&["mkdir", &path_of(&mu.maildir(), "nowhere")]).code,
        0
    );
    assert_eq!(mu.run(&["move", &expected, "/nowhere"]).code, 0);
}

#[test]
fn files_are_taken_in_and_forgotten_one_by_one() {
    let mu = Mu::ken();
    let path = mu.world.write(
        "Mail/inbox/new/20.a.host",
        "From: new@example.org\nSubject: Just arrived\nMessage-ID: <n1@x>\n\naardvark\n",
    );
    let name = path.to_str().unwrap();
    assert_eq!(mu.run(&["add", name]).code, 0);
    assert_eq!(
        mu.run(&["find", "aardvark", "--fields", "i"]).lines(),
        ["n1@x"]
    );
    assert_eq!(mu.run(&["remove", name]).code, 1, "it is there");
    fs_err::remove_file(&path).unwrap();
    assert_eq!(mu.run(&["remove", name]).code, 0);
    assert_eq!(mu.run(&["find", "aardvark"]).code, 4);
    assert_eq!(mu.run(&["add", name]).code, 1);
}

#[test]
fn labels_are_kens_tags() {
    let mu = Mu::ken();
    assert_eq!(
        mu.run(&["labels", "update", "--labels=+todo -work", "quokka"])
            .code,
        0
    );
    assert_eq!(mu.run(&["labels", "list"]).lines(), ["money", "todo"]);
    assert_eq!(
        mu.run(&["find", "label:todo", "--fields", "i x"]).lines(),
        ["a3@example.org money,todo"]
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let name = file.path().to_str().unwrap();
    assert_eq!(
        mu.run(&["labels", "export", name]).text(),
        format!("{name}\n")
    );
    let exported = fs_err::read_to_string(name).unwrap();
    assert!(exported.starts_with(";; version:0 @ "), "{exported}");
    assert!(
        exported.contains("\nmessage-id:a3@example.org\nlabels:money,todo\n"),
        "{exported}"
    );
    assert_eq!(mu.run(&["labels", "clear", "quokka"]).code, 0);
    assert_eq!(mu.run(&["find", "label:todo"]).code, 4);
    let dry = mu.run(&["labels", "import", "--dry-run", name]);
    assert!(
        dry.text().contains("a3@example.org: money,todo"),
        "{}",
        dry.text()
    );
    assert_eq!(mu.run(&["find", "label:todo"]).code, 4);
    assert_eq!(mu.run(&["labels", "import", name]).code, 0);
    assert_eq!(mu.run(&["find", "label:todo"]).lines().len(), 1);
    assert_eq!(mu.run(&["labels"]).code, 1);
}

#[test]
fn mail_is_a_root_of_kens_own_index_without_a_home_of_mu() {
    let world = World::new();
    for (name, text) in MAIL {
        world.write(format!("Mail/{name}"), text);
    }
    world.write("notes/a.txt", "the albatross of the notes");
    // No shell replaces a tilde behind a sign.
    let run = world.ken(["mu", "init", "--maildir=~/docs/Mail", "--quiet"]);
    assert_eq!(run.code, 0, "{}", run.err);
    world.index(&["docs/notes"]);
    let run = world.ken(["mu", "find", "albatross", "--fields", "s"]);
    assert_eq!(run.lines(), ["Budget plan"], "mail, and no other file");
    assert_eq!(world.found("albatross").len(), 2);
    let run = world.ken(["mu", "info"]);
    assert!(
        run.text().contains("| messages in store | 9 "),
        "{}",
        run.text()
    );
}
