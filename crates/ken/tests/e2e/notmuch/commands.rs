//! The commands of notmuch: the same ones are answered by ken and by the real notmuch.

use super::{Notmuch, both};

/// Commands that only read, and print the same on both.
const ASKED: &[&[&str]] = &[
    &["search", "*"],
    &["search", "--sort=oldest-first", "*"],
    &["search", "--output=messages", "*"],
    &["search", "--output=files", "from:me"],
    &["search", "--output=files", "--duplicate=2", "from:me"],
    &["search", "--output=tags", "*"],
    &["search", "--output=threads", "--format=json", "*"],
    &["search", "--format=json", "budget"],
    &["search", "--format=sexp", "budget"],
    &["search", "--format=json", "--format-version=1", "okapi"],
    &["search", "--format=text0", "--output=messages", "*"],
    &["search", "--offset=1", "--limit=1", "*"],
    &["search", "--offset=-1", "*"],
    &["search", "subject:plan", "and", "tag:unread"],
    &[
        "search",
        "--query=sexp",
        "(and (from carol) (not (tag unread)))",
    ],
    &[
        "search",
        "sexp:\"(and (from carol) (not (tag unread)))\"",
        "or",
        "from:dave",
    ],
    &["count", "sexp:\"(folder \"\"inbox\"\")\""],
    &["count", "*"],
    &["count", "--output=threads", "*"],
    &["count", "--output=files", "*"],
    &["count", "tag:replied"],
    &["count", "folder:inbox"],
    &["count", "path:archive"],
    &["count", "thread:{from:carol}"],
    &["address", "--output=sender", "--sort=oldest-first", "*"],
    &["address", "--output=recipients", "--sort=oldest-first", "*"],
    &[
        "address",
        "--output=address",
        "--deduplicate=no",
        "--sort=oldest-first",
        "*",
    ],
    &[
        "address",
        "--format=json",
        "--sort=oldest-first",
        "from:bob or from:carol",
    ],
    &["show", "--format=json", "budget"],
    &["show", "--format=sexp", "budget"],
    &["show", "--format=json", "--entire-thread=false", "from:bob"],
    &["show", "--format=json", "--body=false", "*"],
    &[
        "show",
        "--format=json",
        "--format-version=2",
        "id:c1@example.org",
    ],
    &[
        "show",
        "--format=json",
        "--include-html",
        "id:c1@example.org",
    ],
    &["show", "--format=json", "--part=2", "id:c1@example.org"],
    &["show", "--format=json", "--unthreaded", "okapi or pangolin"],
    &["show", "*"],
    &["show", "--format=mbox", "from:anna"],
    &["show", "--format=raw", "id:a2@example.org"],
    &["show", "--part=2", "id:c1@example.org"],
    &["show", "--part=4", "id:c1@example.org"],
    &["reply", "id:a1@example.org"],
    &["reply", "--reply-to=sender", "id:a1@example.org"],
    &["reply", "--format=headers-only", "id:a3@example.org"],
    &["reply", "--format=json", "id:a3@example.org"],
    &["reply", "--format=sexp", "id:a2@example.org"],
    // What bower asks, but for the numbers of threads.
    &["search", "--format=json", "--limit=300", "--", "tag:unread"],
    &[
        "search",
        "--format=json",
        "--output=messages",
        "--exclude=all",
        "--",
        "tag:unread",
        "-tag:deleted",
        "thread:{from:carol}",
    ],
    &[
        "search",
        "--format=json",
        "--output=messages",
        "--",
        "thread:{from:carol}",
        "-tag:sent",
        "-tag:replied",
        "-tag:deleted",
        "-tag:draft",
    ],
    &[
        "search",
        "--format=text",
        "--output=tags",
        "--exclude=all",
        "*",
    ],
    &[
        "show",
        "--format=json",
        "--exclude=false",
        "--",
        "thread:{from:carol}",
    ],
    &[
        "show",
        "--format=json",
        "--part=0",
        "--body=false",
        "--",
        "id:a1@example.org",
    ],
    &[
        "show",
        "--format=json",
        "--part=0",
        "--",
        "id:a1@example.org",
    ],
    &[
        "show",
        "--format=json",
        "--decrypt",
        "--part=2",
        "--",
        "id:c1@example.org",
    ],
    &[
        "show",
        "--format=json",
        "--verify",
        "--part=3",
        "--",
        "id:c1@example.org",
    ],
    &[
        "show",
        "--format=raw",
        "--part=4",
        "--",
        "id:c1@example.org",
    ],
    &["count", "--", "tag:unread"],
    &["config", "get", "user.name"],
    &["config", "get", "user.other_email"],
    &["config", "get", "search.exclude_tags"],
    &["--version"],
];

#[test]
fn questions_have_the_answers_of_notmuch() {
    let (ken, real) = both();
    let Some(real) = real else {
        return;
    };
    for asked in ASKED {
        let (ours, theirs) = (ken.prints_plainly(asked), real.prints_plainly(asked));
        assert!(!theirs.is_empty(), "{asked:?}");
        if asked.iter().any(|word| ["--format=json"].contains(word)) {
            let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(json(&ours), json(&theirs), "{asked:?}");
        }
        assert_eq!(ours, theirs, "{asked:?}");
    }
}

#[test]
fn a_message_without_an_identifier_gets_that_of_notmuch() {
    let (ken, real) = both();
    let both = [Some(&ken), real.as_ref()].into_iter().flatten();
    for notmuch in both {
        let file = "From: Eve <eve@example.org>\nSubject: No name\nDate: Fri, 09 Jan 2026 10:00:00 +0000\n\nText.\n";
        notmuch.world.write("Mail/inbox/new/9.a.host", file);
        notmuch.prints(&["new"]);
        let id = "id:notmuch-sha1-a6268a9cded8498c27ecfe1694841815b917aa51\n";
        assert_eq!(
            notmuch.prints(&["search", "--output=messages", "from:eve"]),
            id
        );
        notmuch.prints(&["tag", "+kept", "from:eve"]);
        assert_eq!(notmuch.prints(&["count", "tag:kept", id.trim()]), "1\n");
    }
}

#[test]
fn names_that_lead_to_each_other_end() {
    let ken = Notmuch::ken();
    ken.prints(&["config", "set", "query.loop", "sexp:\"(query loop)\""]);
    let run = ken.run(&["count", "query:loop"]);
    assert_eq!(run.code, 1, "{}", run.text());
    assert!(run.err.contains("nested too deeply"), "{}", run.err);
}

#[test]
fn a_restore_names_what_it_does_not_find() {
    let (ken, real) = both();
    let both = [Some(&ken), real.as_ref()].into_iter().flatten();
    for notmuch in both {
        let dump =
            "+x -- id:nobody@example.org\n+x -- tag:x\n+x -- id:a b\n+kept -- id:a1@example.org\n";
        let run = notmuch.feed(&["restore"], dump);
        let expected = "Warning: cannot apply tags to missing message: nobody@example.org\n\
            Warning: not an id query: tag:x (skipping)\n\
            Warning: cannot parse query: id:a b (skipping)\n";
        assert_eq!((run.code, run.err.as_str()), (0, expected));
        assert_eq!(notmuch.prints(&["count", "tag:kept"]), "1\n");
    }
}

#[test]
fn tags_are_given_and_taken() {
    let ken = Notmuch::ken();
    assert_eq!(ken.prints(&["tag", "+todo", "-inbox", "budget"]), "");
    assert_eq!(ken.prints(&["count", "tag:todo"]), "4\n");
    assert_eq!(ken.prints(&["count", "not", "tag:inbox"]), "4\n");
    let batch = ken.feed(&["tag", "--batch"], "# done\n-todo +a%20b -- from:bob\n");
    assert_eq!(batch.code, 0, "{}", batch.err);
    assert_eq!(ken.prints(&["count", "tag:\"a b\""]), "1\n");
    assert_eq!(ken.run(&["tag", "todo"]).code, 1);
    let wrong = ken.feed(&["tag", "--batch"], "+a\n");
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (1, "Warning: no query string [+a]\n")
    );
    // A message with a tag that excludes it is found only by that tag.
    ken.prints(&["tag", "+spam", "from:bob"]);
    assert_eq!(ken.prints(&["count", "pangolin"]), "0\n");
    assert_eq!(ken.prints(&["count", "--exclude=false", "pangolin"]), "1\n");
    assert_eq!(ken.prints(&["count", "tag:spam", "pangolin"]), "1\n");
}

#[test]
fn flags_of_files_and_tags_agree() {
    let ken = Notmuch::ken();
    let of = |id: &str| ken.prints(&["search", "--output=tags", &format!("id:{id}@example.org")]);
    assert_eq!(of("b2"), "flagged\ninbox\n");
    assert_eq!(of("c1"), "attachment\ninbox\nunread\n");
    ken.prints(&["tag", "-unread", "+replied", "id:a1@example.org"]);
    assert!(ken.maildir().join("inbox/cur/1.a.host:2,RS").is_file());
    let inbox = ken.maildir().join("inbox/cur");
    fs_err::rename(inbox.join("4.a.host:2,FS"), inbox.join("4.a.host:2,P")).unwrap();
    assert!(
        ken.prints(&["new"])
            .ends_with("No new mail. Detected 1 file rename.\n")
    );
    assert_eq!(of("b2"), "inbox\npassed\nunread\n");
    assert_eq!(ken.prints(&["new"]), "No new mail.\n");
}

#[test]
fn messages_come_and_go() {
    let ken = Notmuch::ken();
    fs_err::remove_file(ken.maildir().join("inbox/cur/2.a.host:2,S")).unwrap();
    fs_err::remove_file(ken.maildir().join("archive/9")).unwrap();
    ken.world.write("Mail/inbox/note", "no message");
    let new = ken.run(&["new"]);
    assert!(
        new.text()
            .ends_with("No new mail. Removed 1 message. Detected 1 file rename.\n"),
        "{}",
        new.text()
    );
    assert!(
        new.err.contains("Note: Ignoring non-mail file: "),
        "{}",
        new.err
    );
    // The message that is gone joined the others, and still does.
    assert_eq!(ken.prints(&["count", "--output=threads", "budget"]), "1\n");
    let text = "From: new@example.org\nSubject: Fresh\nMessage-ID: <n1@example.org>\n\nzebra\n";
    let hooks = ken.maildir().join(".notmuch/hooks");
    fs_err::create_dir_all(&hooks).unwrap();
    let hook = hooks.join("post-insert");
    fs_err::write(&hook, "#!/bin/sh\ntouch \"$HOME/hooked\"\n").unwrap();
    let mut permissions = fs_err::metadata(&hook).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs_err::set_permissions(&hook, permissions).unwrap();
    let inserted = ken.feed(
        &[
            "insert",
            "--folder=sent",
            "--create-folder",
            "+mine",
            "-unread",
        ],
        text,
    );
    assert_eq!(inserted.code, 0, "{}", inserted.err);
    assert!(ken.world.home().join("hooked").is_file());
    let files = ken.prints(&["search", "--output=files", "tag:mine", "zebra"]);
    assert!(
        files.contains("/Mail/sent/cur/") && files.ends_with(":2,S\n"),
        "{files}"
    );
    assert_eq!(ken.feed(&["insert"], "no message").code, 1);
    assert_eq!(ken.feed(&["insert", "--folder=../x"], text).code, 1);
}

#[test]
fn reading_again_takes_nothing_else_in() {
    let ken = Notmuch::ken();
    ken.prints(&["config", "set", "new.ignore", "spam"]);
    let message = |id: &str| {
        format!("From: a@example.org\nSubject: {id}\nMessage-ID: <{id}@example.org>\n\nwombat\n")
    };
    ken.world.write("Mail/inbox/new/20.a.host", message("late"));
    ken.world.write("Mail/spam/21", message("spam"));
    ken.prints(&["reindex", "id:a1@example.org"]);
    assert_eq!(ken.prints(&["count", "wombat"]), "0\n");
    let new = ken.prints(&["new"]);
    assert!(
        new.ends_with("Added 1 new message to the database.\n"),
        "{new}"
    );
    assert_eq!(
        ken.prints(&["search", "--output=messages", "tag:inbox and wombat"]),
        "id:late@example.org\n"
    );
}

#[test]
fn a_dump_gives_all_tags_back() {
    let (ken, real) = both();
    ken.prints(&["tag", "+a b", "budget"]);
    ken.prints(&[
        "config",
        "set",
        "--database",
        "query.plan",
        "budget and tag:inbox",
    ]);
    assert_eq!(ken.prints(&["count", "query:plan"]), "4\n");
    let dump = ken.prints(&["dump"]);
    assert!(
        dump.starts_with("#notmuch-dump batch-tag:3 config,properties,tags\n"),
        "{dump}"
    );
    ken.prints(&["tag", "--remove-all", "+other", "*"]);
    let restored = ken.feed(&["restore"], &dump);
    assert_eq!((restored.code, restored.err.as_str()), (0, ""));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&ken.prints(&["dump"])), sorted(&dump));
    let packed = ken.world.home().join("dump.gz").display().to_string();
    ken.prints(&["dump", "--gzip", "--output", &packed]);
    ken.prints(&["tag", "+later", "*"]);
    ken.prints(&["restore", "--input", &packed]);
    assert_eq!(ken.prints(&["count", "tag:later"]), "0\n");
    if let Some(real) = real {
        let restored = real.feed(&["restore"], &dump);
        assert_eq!(restored.code, 0, "{}", restored.err);
        assert_eq!(sorted(&real.prints(&["dump"])), sorted(&dump));
    }
}

#[test]
fn settings_are_read_and_written() {
    let ken = Notmuch::ken();
    ken.prints(&["config", "set", "new.tags", "fresh", "unread"]);
    assert_eq!(
        ken.prints(&["config", "get", "new.tags"]),
        "fresh\nunread\n"
    );
    let text = fs_err::read_to_string(ken.config()).unwrap();
    assert!(text.starts_with("# my mail\n[database]\npath="), "{text}");
    assert!(text.contains("[new]\ntags=fresh;unread;\n"), "{text}");
    let list = ken.prints(&["config", "list"]);
    assert!(
        list.contains("\nuser.primary_email=me@example.com\n"),
        "{list}"
    );
    ken.world.write(
        "Mail/new.eml",
        "From: a@x\nSubject: x\nMessage-ID: <x@x>\n\nx\n",
    );
    ken.prints(&["new", "--quiet"]);
    assert_eq!(ken.prints(&["count", "tag:fresh"]), "1\n");
    let none = ken.run(&["--config=/nonesuch", "count"]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("notmuch setup"), "{}", none.err);
}

#[test]
fn revisions_and_numbers_of_threads_lead_to_messages() {
    let ken = Notmuch::ken();
    let revision = || {
        let text = ken.prints(&["count", "--lastmod", "*"]);
        let fields: Vec<&str> = text.trim_end().split('\t').collect();
        (fields[1].to_owned(), fields[2].parse::<u64>().unwrap())
    };
    let (uuid, before) = revision();
    ken.prints(&["tag", "+later", "from:dave"]);
    let (same, after) = revision();
    assert!(uuid == same && after > before);
    let query = format!("lastmod:{}..", before + 1);
    assert_eq!(
        ken.prints(&["search", "--output=messages", &query]),
        "id:b2@example.org\n"
    );
    ken.prints(&["count", &format!("--uuid={uuid}"), "*"]);
    assert_eq!(ken.run(&["count", "--uuid=other", "*"]).code, 1);
    // Messages that are read again have one new revision, however many they are.
    ken.prints(&["reindex", "*"]);
    assert_eq!(revision().1, after + 1);
    let all = ken.prints(&["count", &format!("lastmod:{}..", after + 1)]);
    assert_eq!(
        (all.as_str(), ken.prints(&["count", &query]).as_str()),
        ("6\n", "6\n")
    );
    assert_eq!(ken.prints(&["count", &format!("lastmod:..{after}")]), "0\n");
    ken.prints(&["reindex", "from:dave", "or", "from:carol"]);
    assert_eq!(revision().1, after + 2);
    assert_eq!(
        ken.prints(&["count", &format!("lastmod:{}..", after + 2)]),
        "2\n"
    );
    let thread = ken.prints(&["search", "--output=threads", "pangolin"]);
    assert_eq!(ken.prints(&["count", thread.trim_end()]), "4\n");
    assert_eq!(ken.prints(&["count", "thread:0123456789abcdef"]), "0\n");
}

#[test]
fn other_versions_of_output_are_refused() {
    let ken = Notmuch::ken();
    assert_eq!(ken.run(&["search", "--format-version=0", "*"]).code, 20);
    assert_eq!(ken.run(&["search", "--format-version=6", "*"]).code, 21);
    let wrong = ken.run(&["show", "--nonesuch", "*"]);
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (1, "Unrecognized option: --nonesuch\n")
    );
}
