//! Mail as a user searches it: states, threads, tags, people.

mod custom_fields;
mod hits;
mod list;
mod mh;
mod verify;

use crate::world::{World, assert_counts};

/// Returns a message.
pub(crate) fn message(id: u32, answers: &[u32], header: &str, body: &str) -> String {
    let references: Vec<String> = answers.iter().map(|id| format!("<{id}@x.org>")).collect();
    let references = match references.is_empty() {
        true => String::new(),
        false => format!("References: {}\n", references.join(" ")),
    };
    format!(
        "From: Anna <anna@x.org>\nMessage-ID: <{id}@x.org>\n{references}{header}\
         Date: Mon, 3 Mar 2025 10:00:{:02} +0000\n\n{body}\n",
        id % 60
    )
}

#[test]
fn the_state_of_a_message_follows_its_name_without_reading_it_again() {
    let world = World::new();
    world.write("inbox/new/1.a", message(1, &[], "", "the pangolin"));
    world.write("inbox/cur/2.a:2,FS", message(2, &[], "", "the quokka"));
    world.index_docs();
    let count = |query: &str| world.hits(query).len();
    assert_eq!(count("is:unread"), 1);
    assert_eq!(count("flag:new pangolin"), 1);
    assert_eq!(count("is:flagged is:seen quokka"), 1);
    assert_eq!(count("maildir:/inbox"), 2);

    world.rename("inbox/new/1.a", "inbox/cur/1.a:2,RS");
    assert_counts(&world.index(&[]), &[("moved", 1), ("unchanged", 1)]);
    assert_eq!(count("is:unread"), 0);
    assert_eq!(count("is:new"), 0);
    assert_eq!(count("is:replied is:seen pangolin"), 1);
}

#[test]
fn messages_are_found_by_the_types_of_their_parts() {
    let world = World::new();
    let page = "Content-Type: multipart/alternative; boundary=b\n";
    let parts = "--b\n\nheron\n--b\nContent-Type: text/html\n\n<p>heron\n--b--\n";
    world.write("page.eml", message(1, &[], page, parts));
    world.write("plain.eml", message(2, &[], "", "heron"));
    world.index_docs();
    assert_eq!(world.found("has:text/html"), ["page.eml"]);
    assert_eq!(world.found("has:text/plain heron").len(), 2);
    let mu = world.ken(["search", "--syntax", "mu", "-l", "mime:text/html"]);
    assert_eq!(mu.lines().len(), 1);
    assert!(mu.text().ends_with("page.eml\n"), "{}", mu.text());
}

#[test]
fn threads_are_found_from_any_of_their_messages() {
    let world = World::new();
    // The first message is missing, and an answer arrived before the message that it answers.
    world.write("inbox/cur/1:2,", message(3, &[2], "", "a numbat"));
    world.write(
        "inbox/cur/2:2,",
        message(2, &[1], "Subject: plan\n", "a tapir"),
    );
    world.write("inbox/cur/3:2,", message(4, &[1], "", "a dugong"));
    world.write("inbox/cur/4:2,", message(9, &[8], "", "a numbat"));
    world.index_docs();
    for query in [
        "thread:3@x.org",
        "thread:<1@x.org>",
        "thread:(tapir)",
        "thread:(subject:plan OR dugong)",
    ] {
        assert_eq!(world.hits(query).len(), 3, "{query}");
    }
    assert_eq!(world.hits("thread:(tapir) numbat").len(), 1);
    assert_eq!(world.hits("-thread:(tapir) numbat").len(), 1);
    assert_eq!(world.hits("references:1@x.org").len(), 2);
    assert!(world.hits("thread:7@x.org").is_empty());
}

#[test]
fn what_a_message_says_of_itself_is_found() {
    let world = World::new();
    let header = "X-Priority: 1 (Highest)\nX-Label: to-do\nReply-To: Bob <bob@x.org>\n\
                  To: Carol <carol@x.org>, dave@x.org\n";
    world.write("inbox/cur/1:2,", message(1, &[], header, "x"));
    world.write(
        "inbox/cur/2:2,",
        message(2, &[], "Cc: Dave <dave@x.org>\n", "y"),
    );
    world.index_docs();
    for (query, expected) in [
        ("prio:high", 1),
        ("prio:normal", 1),
        ("prio:low", 0),
        ("tag:to-do", 1),
        ("replyto:*bob*", 1),
        ("recip:dave", 2),
        ("recip:anna", 0),
        ("contact:anna", 2),
        ("to:\"carol x org dave\"", 0),
    ] {
        assert_eq!(world.hits(query).len(), expected, "{query}");
    }
}

/// Three messages of one thread in a mailbox and a Maildir, and a message of another thread.
fn threads() -> World {
    let world = World::new();
    let to_bob = "To: Bob <bob@x.org>\nSubject: The plan\n";
    world.write("inbox/cur/1:2,S", message(1, &[], to_bob, "a tapir"));
    let answer = "To: Anna <anna@x.org>\nSubject: Re: The plan\n";
    let second = message(2, &[1], answer, "a numbat")
        .replace("Anna <anna@x.org>\nMess", "Bob <bob@x.org>\nMess");
    let third = message(3, &[1, 2], answer, "a dugong");
    let separator = "From anna@x.org Mon Mar  3 10:00:00 2025\n";
    world.write(
        "old.mbox",
        format!("{separator}{second}\n{separator}{third}"),
    );
    world.write(
        "inbox/new/4",
        message(9, &[], "Subject: Other\n", "a quokka"),
    );
    world.index_docs();
    world
}

#[test]
fn tags_are_given_taken_and_survive_the_index() {
    let world = threads();
    let n_hits = |query: &str| world.hits(query).len();
    assert_eq!(
        world
            .ken(["mail", "tag", "+todo", "+a b", "--", "thread:(tapir)"])
            .code,
        0
    );
    assert_eq!(n_hits("tag:todo"), 3);
    assert_eq!(n_hits("tag:\"a b\""), 3);
    assert_eq!(
        world.ken(["mail", "tag", "-todo", "+done", "numbat"]).code,
        0
    );
    assert_eq!((n_hits("tag:todo"), n_hits("tag:done")), (2, 1));
    assert_eq!(n_hits("tag:done numbat"), 1, "the text is still found");
    assert_eq!(
        world.ken(["mail", "tag", "+x", "nothing-of-the-sort"]).code,
        1
    );
    assert_eq!(world.ken(["mail", "tag", "tapir"]).code, 2);

    // The log decides. A new index reads it, and so does another index that imports it.
    let export = world.ken(["mail", "tag", "--export"]);
    assert!(
        export.text().contains("+a%20b +done -- id:2@x.org\n"),
        "{}",
        export.text()
    );
    std::fs::remove_dir_all(world.data().join("index")).unwrap();
    world.index_docs();
    assert_eq!((n_hits("tag:todo"), n_hits("tag:done")), (2, 1));
    let data = world.data();
    let listed = world.ken(["--data", data.to_str().unwrap(), "mail", "tag", "--list"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    let other = threads();
    let file = other.write("../tags.txt", export.text());
    let run = other.ken(["mail", "tag", "--import", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(other.ken(["mail", "tag", "--export"]).text(), export.text());

    // Tags that a list of notmuch does not name are gone, as after `notmuch restore`.
    other.ken(["mail", "tag", "+late", "-todo", "msgid:1@x.org"]);
    let run = other.ken(["mail", "tag", "--import", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(other.ken(["mail", "tag", "--export"]).text(), export.text());
    let one = other.write("../one.txt", "+only -- id:2@x.org\n -- id:3@x.org\n");
    other.ken(["mail", "tag", "--import", one.to_str().unwrap()]);
    let expected =
        "#notmuch-dump batch-tag:3 tags\n+todo +a%20b -- id:1@x.org\n+only -- id:2@x.org\n";
    assert_eq!(other.ken(["mail", "tag", "--export"]).text(), expected);
    other.ken(["mail", "tag", "--import", file.to_str().unwrap()]);

    // Also in mu's form, whose labels have no commas.
    world.ken(["mail", "tag", "+x,y", "msgid:2@x.org"]);
    let labels = world.ken(["mail", "tag", "--export", "--format", "mu"]);
    assert!(labels.err.contains("1 tags are left out"), "{}", labels.err);
    let lines = "old.mbox\nmessage-id:2@x.org\nlabels:a b,done\n\n";
    assert!(labels.text().contains(lines), "{}", labels.text());
    let third = threads();
    let file = third.write("../labels.txt", labels.text());
    let run = third.ken(["mail", "tag", "--import", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(third.ken(["mail", "tag", "--export"]).text(), export.text());
    let list = other.ken(["mail", "tag", "--list"]);
    assert_eq!(
        list.lines()[0].split_whitespace().collect::<Vec<_>>(),
        ["3", "a", "b"]
    );
}

#[test]
fn a_message_that_is_tagged_and_renamed_keeps_its_tag() {
    let world = threads();
    world.ken(["mail", "tag", "+keep", "tapir"]);
    world.rename("inbox/cur/1:2,S", "inbox/cur/1:2,FS");
    assert_counts(&world.index(&[]), &[("moved", 1), ("unchanged", 2)]);
    assert_eq!(world.hits("tag:keep is:flagged tapir").len(), 1);
    // Changed content is read again, and its tags stay.
    let text = message(1, &[], "Subject: New\n", "an axolotl");
    world.write("inbox/cur/1:2,FS", text);
    world.index(&[]);
    assert_eq!(world.hits("tag:keep axolotl").len(), 1);
}

#[test]
fn threads_are_listed_and_drawn() {
    let world = threads();
    let list = world.ken(["mail", "threads", "from:anna"]);
    let lines = list.lines();
    assert_eq!(lines.len(), 2, "{}", list.text());
    assert!(
        lines[0].contains("[1/1]  Anna  Other  (new unread)"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].contains("[2/3]  Anna, Bob  The plan"),
        "{}",
        lines[1]
    );
    let tree = world.ken(["mail", "threads", "--tree", "dugong"]);
    let rows: Vec<_> = tree.lines()[1..]
        .iter()
        .map(|line| &line["  2025-03-03".len()..])
        .collect();
    assert_eq!(
        rows,
        ["  Anna  The plan", "    Bob", "*     Anna"],
        "{}",
        tree.text()
    );
    let json = world.ken(["mail", "threads", "--json", "dugong"]).objects();
    assert_eq!(json[0]["total"], 3);
    assert_eq!(json[0]["messages"][2]["level"], 2);
    assert_eq!(json[0]["messages"][2]["ipath"], "2");
    assert_eq!(world.ken(["mail", "threads", "nobody-wrote-this"]).code, 1);
}

#[test]
fn messages_are_shown_from_wherever_they_are() {
    let world = threads();
    let shown = world.ken(["mail", "show", "dugong"]);
    for line in [
        "From: Anna <anna@x.org>",
        "Subject: Re: The plan",
        "a dugong",
    ] {
        assert!(shown.lines().contains(&line), "{line} in {}", shown.text());
    }
    let raw = world.ken(["mail", "show", "--raw", "msgid:3@x.org"]);
    assert!(raw.text().starts_with("From: Anna"), "{}", raw.text());
    assert!(raw.text().contains("References: <1@x.org> <2@x.org>"));
    let headers = world.ken(["mail", "show", "--headers", "msgid:3@x.org"]);
    assert!(
        headers.text().contains("References: <1@x.org>"),
        "{}",
        headers.text()
    );
    let thread = world
        .ken(["mail", "show", "--thread", "--json", "tapir"])
        .objects();
    let bodies: Vec<_> = thread
        .iter()
        .map(|one| one["body"].as_str().unwrap().trim())
        .collect();
    assert_eq!(bodies, ["a tapir", "a numbat", "a dugong"]);
    let by_path = world.docs().join("old.mbox");
    let both = world
        .ken(["mail", "show", "--json", by_path.to_str().unwrap()])
        .objects();
    assert_eq!(both.len(), 2);
    assert_eq!(world.ken(["mail", "show", "nobody-wrote-this"]).code, 1);
}

#[test]
fn attached_files_are_saved_under_names_that_stay_in_the_folder() {
    let world = World::new();
    world.add_fixture("mail/attachments.eml");
    let evil = "From: a@x.org\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n\
                --b\nContent-Disposition: attachment; filename=\"../../evil.txt\"\n\nx\n--b--\n";
    world.write("evil.eml", evil);
    world.index_docs();
    let folder = world.home().join("saved");
    std::fs::create_dir(&folder).unwrap();
    let to = folder.to_str().unwrap();
    let run = world.ken(["mail", "save", "--to", to, "*"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["café.csv", "evil.txt", "pangolin notes.txt"]);
    let csv = std::fs::read_to_string(folder.join("café.csv")).unwrap();
    assert_eq!(csv, "animal,count\nquokka,3\n");
    // No file is overwritten; an option names the output.
    world.ken(["mail", "save", "--to", to, "--name", "\\.csv$", "*"]);
    assert!(folder.join("café-2.csv").exists());
    assert!(!folder.join("evil-2.txt").exists());
    let part = world.ken(["mail", "show", "--part", "2", "albatross"]);
    assert_eq!(part.text(), csv);
    // A word in an attached file leads to its message, but not if it is excluded.
    let by_part = world.ken(["mail", "show", "--json", "quokka"]).objects();
    assert_eq!(by_part[0]["fields"]["title"], "Minutes of the meeting");
    assert_eq!(world.ken(["mail", "show", "-quokka", "albatross"]).code, 0);
    assert_eq!(world.ken(["mail", "show", "quokka", "-pangolin"]).code, 1);
    assert_eq!(world.hits("thread:(quokka)").len(), 1);
    // A link in the folder is replaced, not followed, and no file of this run is overwritten.
    let outside = world.write("../outside.txt", "mine");
    std::fs::remove_file(folder.join("evil.txt")).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("evil.txt")).unwrap();
    world.write("evil2.eml", evil.replace("\n\nx\n", "\n\ny\n"));
    world.index(&[]);
    world.ken([
        "mail",
        "save",
        "--to",
        to,
        "--overwrite",
        "--name",
        "evil",
        "*",
    ]);
    let saved =
        ["evil.txt", "evil-2.txt"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    let mut saved = saved.map(|text| text.trim().to_owned());
    saved.sort();
    assert_eq!(saved, ["x", "y"]);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine");
}

#[test]
fn a_mailbox_that_changed_is_not_read_by_old_numbers() {
    let world = threads();
    let path = world.docs().join("old.mbox");
    let text = std::fs::read_to_string(&path).unwrap();
    let second = text.rfind("From anna@x.org").unwrap();
    std::fs::write(&path, &text[second..]).unwrap();
    let run = world.ken(["mail", "show", "--raw", "msgid:2@x.org"]);
    assert_eq!(run.code, 2, "{}", run.text());
    assert!(
        run.err.contains("has changed since it was indexed"),
        "{}",
        run.err
    );
    world.index(&[]);
    let raw = world.ken(["mail", "show", "--raw", "msgid:3@x.org"]);
    assert!(raw.text().contains("a dugong"), "{}", raw.err);
}

#[test]
fn a_log_of_tags_may_be_replaced() {
    let world = threads();
    world.ken(["mail", "tag", "+a", "tapir"]);
    world.ken(["mail", "tag", "+b", "numbat"]);
    let n_hits = |query: &str| world.hits(query).len();
    let log = world.data().join("tags");
    // Longer than the old log, and without a common start.
    std::fs::write(
        &log,
        "+c -- id:3@x.org\n+c -- id:9@x.org\n+c -- id:1@x.org\n",
    )
    .unwrap();
    world.index(&[]);
    assert_eq!(
        (n_hits("tag:a"), n_hits("tag:b"), n_hits("tag:c")),
        (0, 0, 3)
    );
    std::fs::remove_file(&log).unwrap();
    world.index(&[]);
    assert_eq!(n_hits("tag:c"), 0);
    world.ken(["mail", "tag", "+d", "tapir"]);
    assert_eq!(n_hits("tag:d"), 1);
    // A last line that was typed without a line end counts too.
    let by_hand = format!("{}+e -- id:9@x.org", std::fs::read_to_string(&log).unwrap());
    std::fs::write(&log, by_hand).unwrap();
    world.ken(["mail", "tag", "+f", "tapir"]);
    assert_eq!((n_hits("tag:d tag:f"), n_hits("tag:e")), (1, 1));
}

#[test]
fn folders_of_mail_inside_of_one_are_not_hidden() {
    let world = World::new();
    world.write("Mail/cur/1:2,", message(1, &[], "", "the pangolin"));
    world.write("Mail/new/2", message(2, &[], "", "the pangolin"));
    world.write("Mail/.Sent/cur/3:2,S", message(3, &[], "", "the pangolin"));
    world.write("Mail/.cache/x", "the pangolin");
    world.write(".Other/cur/4:2,", message(4, &[], "", "the pangolin"));
    world.index_docs();
    assert_eq!(world.hits("pangolin").len(), 3);
    assert_eq!(world.hits("maildir:.Sent").len(), 1);
}

#[test]
fn contacts_are_those_of_the_messages() {
    let world = threads();
    let contacts = world.ken(["mail", "contacts"]);
    assert_eq!(contacts.lines(), ["Anna <anna@x.org>", "Bob <bob@x.org>"]);
    assert_eq!(
        world.ken(["mail", "contacts", "bob@"]).lines(),
        ["Bob <bob@x.org>"]
    );
    assert_eq!(world.ken(["mail", "contacts", "--after", "2026"]).code, 1);
    assert_eq!(world.ken(["mail", "contacts", "--personal"]).code, 2);
    world.configure("[mail]\naddresses = [\"bob@x.org\"]\n");
    assert_eq!(world.hits("is:personal").len(), 2);
    let json = world
        .ken(["mail", "contacts", "--personal", "--json", "anna"])
        .objects();
    assert_eq!(json[0]["count"], 5);
    assert_eq!(json[0]["personal"], true);
    let alias = world.ken(["mail", "contacts", "--format", "mutt-alias", "bob"]);
    assert_eq!(alias.text(), "alias bob Bob <bob@x.org>\n");
    world.write(
        "inbox/cur/90:2,S",
        message(90, &[], "Reply-To: Carl <carl@x.org>\n", "answer there"),
    );
    world.index(&[]);
    let where_to = world.ken(["mail", "contacts", "carl"]);
    assert_eq!(where_to.lines(), ["Carl <carl@x.org>"]);
}

#[test]
fn a_message_in_an_archive_with_a_sidecar_is_shown_raw() {
    let world = World::new();
    let text = message(1, &[], "", "the pangolin");
    let mut header = tar::Header::new_ustar();
    header.set_size(text.len() as u64);
    header.set_cksum();
    let mut archive = tar::Builder::new(Vec::new());
    archive
        .append_data(&mut header, "1.eml", text.as_bytes())
        .unwrap();
    world.write("old.tar", archive.into_inner().unwrap());
    world.write("old.tar.xmp", "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>");
    world.index_docs();
    let raw = || world.ken(["mail", "show", "--raw", "pangolin"]);
    assert_eq!(raw().text(), text, "{}", raw().err);
    world.write("old.tar.xmp", "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" />");
    assert_eq!(raw().code, 2, "it changed since");
}

#[test]
fn own_addresses_are_compared_whole_or_by_an_expression() {
    let world = World::new();
    let to = |id: u32, who: &str| message(id, &[], &format!("To: {who}\n"), "x");
    let many: Vec<String> = (0..200).map(|n| format!("p{n}@x.org")).collect();
    for (name, text) in [
        ("1", to(1, "Ann <Ann@X.org>")),
        ("2", to(2, "mary.ann@x.org")),
        ("3", to(3, "ann@x.org.net, carl@y.org")),
        ("4", to(4, "\"ann@x.org\" <other@y.org>")),
        ("5", to(5, &format!("{}, ann@x.org", many.join(", ")))),
        ("6", message(6, &[], "Cc: ann+list@x.org\n", "x")),
        ("7", message(7, &[], "Bcc: Ann <ann@x.org>\n", "x")),
    ] {
        world.write(format!("inbox/cur/{name}:2,"), text);
    }
    world.index_docs();
    let personal = |addresses: &str, query: &str| {
        world.configure(&format!("[mail]\naddresses = [{addresses}]\n"));
        let mut ids: Vec<String> = (world.hits(query).iter())
            .map(|hit| hit["fields"]["msgid"].as_str().unwrap()[..1].to_owned())
            .collect();
        ids.sort();
        ids.concat()
    };
    assert_eq!(personal("'ann@x.org'", "is:personal"), "157");
    assert_eq!(personal("'ann@x.org'", "-is:personal"), "2346");
    assert_eq!(personal("'/^ann[+@].*x[.]org$/'", "is:personal"), "1567");
    assert_eq!(personal("'carl@y.org', 'OTHER@y.org'", "is:personal"), "34");
    assert_eq!(personal("", "is:personal"), "");
    world.configure("[mail]\naddresses = ['/(/']\n");
    let run = world.ken(["search", "is:personal"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("mail.addresses: \"/(/\""), "{}", run.err);
}

#[test]
fn a_lazy_run_looks_at_folders_that_changed() {
    let world = World::new();
    for number in 0..5 {
        let path = format!("inbox/cur/{number}:2,");
        world.write(path, message(number, &[], "", "the pangolin"));
    }
    world.write("old/cur/9:2,", message(9, &[], "", "the pangolin"));
    world.index_docs();
    let counts = |args: &[&str]| {
        let summary = world.index(args);
        ["added", "changed", "moved", "gone", "unchanged"]
            .map(|name| summary[name].as_u64().unwrap())
    };
    // Folders that changed within two seconds before a run may have changed after it.
    std::thread::sleep(std::time::Duration::from_millis(2200));
    world.write("inbox/cur/5:2,", message(5, &[], "", "the pangolin"));
    assert_eq!(counts(&["--lazy"]), [1, 0, 0, 0, 6]);
    std::thread::sleep(std::time::Duration::from_millis(2200));
    world.write("inbox/cur/5:2,", message(5, &[], "", "the quokka"));
    world.write("old/cur/8:2,", message(8, &[], "", "the pangolin"));
    world.remove("old/cur/9:2,");
    world.rename("inbox/cur/0:2,", "inbox/cur/0:2,S");
    world.rename("inbox/cur/1:2,", "old/cur/1:2,");
    // In changed folders all changes are found, even a file that was changed in place.
    assert_eq!(counts(&["--lazy"]), [1, 1, 2, 1, 3]);
    assert_eq!(world.hits("quokka").len(), 1);
    std::thread::sleep(std::time::Duration::from_millis(2200));
    world.write("notes.txt", "x");
    std::thread::sleep(std::time::Duration::from_millis(2200));
    world.index(&[]);
    world.write("old/cur/8:2,", message(8, &[], "", "the numbat"));
    // A change of a file in place does not change its folder.
    assert_eq!(counts(&["--lazy"]), [0, 0, 0, 0, 8]);
    assert!(world.hits("numbat").is_empty());
    // A moved folder has old times, but it is visited since its parent changed.
    world.rename("inbox", "newbox");
    assert_eq!(counts(&["--lazy"]), [0, 1, 5, 0, 2]);
    assert_eq!(world.hits("maildir:/newbox").len(), 5);
    assert_eq!(world.hits("numbat").len(), 1);
}

#[test]
fn folders_marked_noupdate_stay_as_they_are() {
    let world = World::new();
    world.write("old/cur/1:2,", message(1, &[], "", "the pangolin"));
    world.write("inbox/cur/2:2,", message(2, &[], "", "the pangolin"));
    world.index_docs();
    world.write("old/.noupdate", "");
    world.write("old/cur/3:2,", message(3, &[], "", "the quokka"));
    world.remove("old/cur/1:2,");
    let why = world.ken(["status", "--why", "docs/old/cur/1:2,"]);
    assert!(
        why.text().contains("in the index as it was") && why.text().contains("keeps it"),
        "{}",
        why.text()
    );
    let summary = world.index(&[]);
    assert_eq!(summary["gone"], 0);
    assert_eq!(
        (world.hits("pangolin").len(), world.hits("quokka").len()),
        (2, 0)
    );
    world.index(&["--full"]);
    assert_eq!(
        (world.hits("pangolin").len(), world.hits("quokka").len()),
        (1, 1)
    );
    std::fs::remove_dir_all(world.data().join("index")).unwrap();
    world.index_docs();
    assert_eq!(world.hits("quokka").len(), 1, "a new index has it");
}

#[test]
fn every_order_and_durability_ends_the_same() {
    for args in [
        &["--order", "path", "--durability", "off"][..],
        &[
            "--order",
            "mtime",
            "--durability",
            "normal",
            "--commit-bytes",
            "1k",
        ],
        &[
            "--order",
            "inode",
            "--durability",
            "full",
            "--commit-seconds",
            "0.01",
        ],
    ] {
        let world = World::new();
        for number in 0..40 {
            world.write(
                format!("cur/{number}:2,"),
                message(number, &[], "", "the pangolin"),
            );
        }
        let docs = world.docs();
        let mut all = vec!["index", docs.to_str().unwrap()];
        all.extend(args);
        let run = world.ken(&all);
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(world.hits("pangolin").len(), 40);
        assert_eq!(world.index(&[])["unchanged"], 40);
    }
}

#[test]
fn no_phrase_matches_over_two_parts_of_a_message() {
    let world = World::new();
    world.write(
        "parts.eml",
        "From: a@x.org\nTo: b@x.org\nSubject: Two parts\nDate: Mon, 03 Mar 2025 12:00:00 +0000\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\n\nthe last okapi\n\
         --b\n\nzoo of tapirs\n--b--\n",
    );
    world.index_docs();
    let n_hits = |query: &str| world.hits(query).len();
    assert_eq!(n_hits("okapi zoo"), 1);
    assert_eq!(n_hits("\"last okapi\""), 1);
    assert_eq!(n_hits("\"zoo of tapirs\""), 1);
    assert_eq!(n_hits("\"okapi zoo\""), 0);
    // Nor after the message is written again from its own data.
    world.ken(["mail", "tag", "+x", "*"]);
    world.rename("parts.eml", "moved.eml");
    world.index_docs();
    assert_eq!(n_hits("okapi zoo"), 1);
    assert_eq!(n_hits("\"okapi zoo\""), 0);
}
