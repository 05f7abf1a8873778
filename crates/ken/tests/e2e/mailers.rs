//! `--syntax mu` and `--syntax notmuch`: if these programs are installed, they and ken find the same messages
//! in the same mail.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::needs;
use crate::world::World;

/// Folder and name of a file, and its sender, recipient, Cc, subject, date and text.
const MESSAGES: [[&str; 8]; 5] = [
    [
        "inbox/cur",
        "1:2,S",
        "Anna Knuth <anna@example.org>",
        "Bob Lamport <bob@example.com>",
        "team@example.net",
        "Budget meeting",
        "Mon, 03 Mar 2025 10:00:00 +0000",
        "Please look at the budget report.\nThe floor is wooden.",
    ],
    [
        "inbox/cur",
        "2:2,RS",
        "Bob Lamport <bob@example.com>",
        "Anna Knuth <anna@example.org>",
        "chloe@example.net",
        "Re: Budget meeting",
        "Tue, 04 Mar 2025 09:00:00 +0000",
        "The report is complete. Walls and floor.",
    ],
    [
        "inbox/new",
        "3",
        "Chloe Elan <chloe@example.net>",
        "dev@lists.example.org",
        "anna@example.org",
        "reindeer in the snow",
        "Wed, 05 Mar 2025 09:00:00 +0000",
        "About the reindeer, and moss.",
    ],
    [
        "lists/running/cur",
        "4:2,FS",
        "Anna Knuth <anna@example.org>",
        "run@lists.example.org",
        "bob@example.com",
        "Running in winter",
        "Fri, 01 May 2020 12:00:00 +0200",
        "We ran; a budget of hundred.",
    ],
    [
        "Sent Items/cur",
        "5:2,S",
        "Anna Knuth <anna@example.org>",
        "Bob Lamport <bob@example.com>",
        "x@example.net",
        "Lorem ipsum",
        "Sat, 10 Jan 2026 08:00:00 +0000",
        "lorem dolor",
    ],
];

fn store(world: &World) -> PathBuf {
    for (number, message) in MESSAGES.iter().enumerate() {
        let [folder, name, from, to, cc, subject, date, text] = message;
        // One message is long, for queries by size.
        let text = text.repeat(if *name == "5:2,S" { 2000 } else { 1 });
        let source = format!(
            "From: {from}\nTo: {to}\nCc: {cc}\nSubject: {subject}\nDate: {date}\n\
             Message-ID: <m{number}@example.org>\n\n{text}\n"
        );
        world.write(format!("{folder}/{name}"), source);
        let folder = world.docs().join(folder);
        for sibling in ["cur", "new", "tmp"] {
            std::fs::create_dir_all(folder.with_file_name(sibling)).unwrap();
        }
    }
    world.index_docs();
    world.docs()
}

fn ours(world: &World, syntax: &str, query: &str) -> BTreeSet<String> {
    let run = world.ken(["search", "--syntax", syntax, "-l", "--", query]);
    assert!(run.code < 2, "{query}: {}", run.err);
    run.lines().iter().map(|line| (*line).to_owned()).collect()
}

fn theirs(output: &Output) -> BTreeSet<String> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Returns whether another program is installed.
fn is_installed(name: &str) -> bool {
    needs::met(name, Path::new("/usr/bin").join(name).exists())
}

/// Queries for which mu and ken find the same messages.
const MU: [&str; 66] = [
    "budget",
    "BUDGET",
    "budget report",
    "budget or reindeer",
    "budget and not report",
    "not budget",
    "not budget and report",
    "budget xor report",
    "lorem or budget report",
    "budget and report xor lorem",
    "budget not report",
    "(budget or lorem) and not report",
    "lorem OR budget AND report",
    "\"budget report\"",
    "\"report budget\"",
    "subject:\"budget meeting\"",
    "bud*",
    "subject:bud*",
    "/bu.g/",
    "subject:/meet.*/",
    "from:anna",
    "f:anna@example.org",
    "to:bob",
    "cc:anna",
    "contact:chloe",
    "recip:anna",
    "from:\"Anna Knuth\"",
    "body:floor",
    "b:walls",
    "s:re",
    "date:2025",
    "date:2025..",
    "date:..2020",
    "date:20250303..20250304",
    "d:2025-03-03..2025-03-03",
    "date:2025-03-04T08:00..2025-03-04T10:00",
    "size:10k..",
    "size:..1k",
    "maildir:/inbox",
    "m:/lists/running",
    "maildir:/lists",
    "maildir:\"/Sent Items\"",
    "msgid:m1@example.org",
    "i:m2@example.org or i:m3@example.org",
    "message-id:m1@example.org",
    "maildir:/running/",
    "maildir:/^.lists.*g$/",
    "maildir:/inb.x/",
    "flag:seen",
    "flag:replied",
    "g:f",
    "flag:new",
    "g:u",
    "flag:draft or flag:trashed or flag:passed",
    "nosuchword",
    "subject:/budget.meeting/",
    "subject:/Büdget/",
    "from:/Anna.*example/",
    "cc:/team.*net$/",
    "/lamport/",
    "body:/^wal.s$/",
    "body:/budget.report/",
    "m:/INBOX",
    "maildir:/lists/Runn*",
    "date:2026..2025",
    "size:2m..10k",
];

#[test]
fn mu_finds_the_same() {
    if !is_installed("mu") {
        return;
    }
    let world = World::new();
    let store = store(&world);
    let home = format!("--muhome={}", world.home().join("mu").display());
    let mu = |arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/mu");
        command
            .env("HOME", world.home())
            .env("TZ", "UTC")
            .args(arguments);
        command.output().unwrap()
    };
    let maildir = format!("--maildir={}", store.display());
    assert!(mu(&["init", &home, &maildir]).status.success());
    assert!(mu(&["index", &home]).status.success());
    let mut found = 0;
    for query in MU {
        let expected = theirs(&mu(&["find", &home, "-f", "l", query]));
        found += expected.len();
        assert_eq!(ours(&world, "mu", query), expected, "{query}");
    }
    assert!(found > 60, "{found}");
}

/// Queries for which notmuch and ken find the same messages.
const NOTMUCH: [&str; 107] = [
    "*",
    "budget",
    "budget report",
    "budget or reindeer",
    "budget and not report",
    "not budget",
    "not budget report",
    "lorem or not budget report",
    "budget xor report",
    "budget and report xor lorem",
    "budget -report",
    "report -(budget lorem)",
    "(budget or lorem) and not report",
    "\"budget report\"",
    "budget ADJ report",
    "report ADJ budget",
    "budget NEAR/2 report",
    "walls near floor",
    "bud*",
    "subject:bud*",
    "subject:budget",
    "subject:\"budget meeting\"",
    "subject:\"(meeting budget)\"",
    "subject:\"(budget or snow)\"",
    "subject:budget subject:reindeer",
    "subject:budget and subject:re",
    "from:anna from:bob",
    "from:anna -to:bob",
    "from:\"anna knuth\"",
    "from:anna@example.org",
    "to:bob",
    "to:chloe",
    "to:anna to:dev",
    "body:floor",
    "date:2025",
    "date:2025..",
    "date:..2020",
    "date:2025-03-03..2025-03-04",
    "date:2025-03-03 date:2026",
    "date:@1740996000..@1741000000",
    "1740996000..1741000000",
    "id:m1@example.org id:m2@example.org",
    "mid:/m[12]/",
    "folder:inbox",
    "folder:inbox folder:lists/running budget",
    "path:lists/**",
    "folder:\"Sent Items\"",
    "folder:/^lists$/",
    "folder:/running/",
    "folder:/^lists|Sent/",
    "folder:\"/^.*/(running|x)$/\"",
    "path:/inbox.cur/",
    "path:/^lists/",
    "path:lists",
    "path:inbox/cur",
    "path:lists/running/cur",
    "tag:/un/",
    "is:/re/",
    "1740996000..",
    "mimetype:text*",
    "tag:unread tag:flagged",
    "tag:unread is:flagged",
    "tag:unread and tag:flagged",
    "id:m1@example.org mid:m2@example.org",
    "folder:inbox path:lists/**",
    "thread:{from:bob} thread:{from:chloe}",
    "thread:\"{subject:\"\"budget meeting\"\"}\"",
    "to:bob to:team",
    "date:03-03-2025",
    "date:3/4/2025",
    "date:5.3.25",
    "date:03-2025",
    "date:3/2025",
    "date:mar-2025",
    "date:4mar2025",
    "date:9:00_2025-03-04",
    "date:3/3/2025_10am..4.3.2025_9:00_+0000",
    "date:..120000_3_mar_2025",
    "date:mar/2025",
    "date:2025/mar",
    "date:3/mar/2025",
    "date:4/mar/2025..",
    "date:mon_3_mar_2025",
    "date:2025_mar_4",
    "date:2025_march",
    "date:4._march_2025",
    "date:mar_4,2025",
    "date:2025-03-03_24:00..",
    "date:2025 date:2020",
    "date:2026 date:2025..2025",
    "date:2025.. date:2025",
    "date:2025..! date:2026",
    "date:2025..! date:2026..",
    "1740996000..1741000000 1768032000..",
    "1740996000..1741000000 date:2026..",
    "1740996000..1741000000 date:2025",
    "budget%",
    "subject:/Budget.meeting/",
    "subject:/budget.meeting/",
    "subject:\"/budget meeting/\"",
    "subject:/^Re:.*g$/",
    "subject:\"/^Re: B/\"",
    "from:/Anna.*example/",
    "from:/anna.Knuth/",
    "from:/^Anna/",
    "from:/^Anna/ from:/^Chloe/",
    "not subject:/Budget/",
];

/// Queries for folders, some of which are no Maildirs, and for messages without a subject.
const FOLDERS: [&str; 12] = [
    "folder:archive",
    "folder:archive/2025",
    "folder:archive/2014",
    "folder:inbox folder:archive",
    "folder:lists/running",
    "folder:/^archive/",
    "folder:/^archive$/",
    "folder:/2014/",
    "folder:/running/ and folder:/lists/",
    "subject:\"\"",
    "from:\"\"",
    "date:2014-01-02_08:59:00+01:00..02-Jan-2014_08:01:00+0000",
];

#[test]
fn notmuch_finds_the_same() {
    if !is_installed("notmuch") {
        return;
    }
    let world = World::new();
    let store = store(&world);
    let configuration = world.home().join("notmuch");
    let text = format!(
        "[database]\npath={}\n[user]\nprimary_email=x@example.org\n",
        store.display()
    );
    std::fs::write(&configuration, text).unwrap();
    let notmuch = |arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/notmuch");
        command
            .env("HOME", world.home())
            .env("NOTMUCH_CONFIG", &configuration);
        command.env("TZ", "UTC").args(arguments).output().unwrap()
    };
    assert!(notmuch(&["new"]).status.success());
    // The database of notmuch is among the messages.
    let mut found = 0;
    for query in NOTMUCH {
        let expected = theirs(&notmuch(&["search", "--output=files", query]));
        found += expected.len();
        assert_eq!(ours(&world, "notmuch", query), expected, "{query}");
    }
    assert!(found > 60, "{found}");
    for name in ["archive/6", "archive/2014/7", "8"] {
        let source = format!(
            "From: Dora <dora@example.org>\n{}Message-ID: <{name}@x.org>\n\
             Date: Thu, 02 Jan 2014 08:00:00 +0000\n\nan elk\n",
            if name == "8" {
                ""
            } else {
                "Subject: old moose\n"
            }
        );
        world.write(name, source);
    }
    world.index_docs();
    assert!(notmuch(&["new"]).status.success());
    for query in FOLDERS {
        let expected = theirs(&notmuch(&["search", "--output=files", query]));
        assert_eq!(ours(&world, "notmuch", query), expected, "{query}");
    }
}

#[test]
fn only_messages_are_found() {
    let world = World::new();
    world.write("note.txt", "the budget report");
    let store = store(&world);
    for syntax in ["mu", "notmuch"] {
        let found = ours(&world, syntax, "budget report");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found
                .iter()
                .all(|path| Path::new(path).starts_with(store.join("inbox")))
        );
        assert!(ours(&world, syntax, "budget tag:nothing").is_empty());
    }
    let run = world.ken([
        "search",
        "--syntax",
        "recoll",
        "-c",
        "budget OR lorem report",
    ]);
    assert_eq!(run.text(), "3\n");
}

#[test]
fn what_they_ask_can_be_explained() {
    let world = World::new();
    store(&world);
    let personal = ["flag:personal", "maildir:/running/ flag:personal"];
    let mu = MU.iter().chain(&personal).map(|query| ("mu", query));
    for (syntax, query) in mu.chain(NOTMUCH.iter().map(|query| ("notmuch", query))) {
        let own = "mail.addresses=[\"anna@example.org\"]";
        let arguments = [
            "--set",
            own,
            "search",
            "--syntax",
            syntax,
            "--explain",
            "--",
            query,
        ];
        let run = world.ken(arguments);
        assert!(run.code < 2, "{query}: {}", run.err);
        assert!(run.text().contains("plan "), "{query}: {}", run.text());
    }
}
