//! Mailboxes that change: what stays in the index, and messages that are read from their offset.

use std::process::Command;

use crate::mail::message;
use crate::world::World;

const FROM: &str = "From anna@x.org Mon Mar  3 10:00:00 2025\n";

fn letter(id: u32, header: &str, body: &str) -> String {
    format!("{FROM}{}\n", message(id, &[], header, body))
}

fn mailbox(n: u32) -> String {
    (1..=n)
        .map(|id| letter(id, &format!("Subject: s{id}\n"), &format!("an animal{id}")))
        .collect()
}

#[test]
fn an_appended_mailbox_costs_its_new_messages_and_keeps_tags() {
    let world = World::new();
    let text = mailbox(40);
    world.write("old.mbox", &text);
    assert_eq!(world.index_docs()["documents"], 41);
    world.ken(["mail", "tag", "+kept", "animal7"]);
    world.write("old.mbox", text.clone() + &letter(41, "", "a tapir"));
    assert_eq!(world.index(&[])["documents"], 2);
    assert_eq!(world.hits("type:message").len(), 41);
    assert_eq!(world.hit("tag:kept")["ipath"], "7");
    assert_eq!(world.hit("tapir")["ipath"], "41");

    // A mail program marks a message as read. The messages behind it have other offsets and stay.
    let marked = text.replace("Subject: s9\n", "Subject: s9\nStatus: RO\n");
    world.write("old.mbox", &marked);
    assert_eq!(world.index(&[])["documents"], 2);
    assert_eq!(world.hit("is:seen")["ipath"], "9");
    assert!(world.hits("tapir").is_empty());
    let last = world.ken(["mail", "show", "--raw", "msgid:40@x.org"]);
    assert!(last.text().ends_with("an animal40\n"), "{}", last.err);

    // A message in the middle is removed. The messages behind it have other numbers.
    let cut = marked.replace(&letter(30, "Subject: s30\n", "an animal30"), "");
    world.write("old.mbox", &cut);
    assert_eq!(world.index(&[])["documents"], 1 + 10);
    assert!(world.hits("animal30").is_empty());
    assert_eq!(world.hits("type:message").len(), 39);
}

#[test]
fn a_message_is_read_from_its_offset_while_the_mailbox_grows() {
    let world = World::new();
    let text = mailbox(40);
    let path = world.write("old.mbox", &text);
    world.index_docs();
    let raw = |id: u32| world.ken(["mail", "show", "--raw", &format!("msgid:{id}@x.org")]);
    let grown = text.clone() + &letter(41, "", "a tapir");
    for changed in [
        grown,
        // Some more words in a header before the message.
        text.replace("Subject: s9\n", "Subject: s9\nStatus: RO\n"),
        text.replace("an animal3\n", "\n"),
    ] {
        std::fs::write(&path, changed).unwrap();
        let run = raw(20);
        assert!(run.text().ends_with("an animal20\n"), "{}", run.err);
    }
    // Another message is at this offset.
    std::fs::write(&path, text.replace("an animal20", "an aardvark")).unwrap();
    let run = raw(20);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("has changed since it was indexed"),
        "{}",
        run.err
    );
}

#[test]
fn a_compressed_mailbox_is_one_too() {
    for (program, name) in [("gzip", "old.mbox.gz"), ("xz", "old.mbox.xz")] {
        let world = World::new();
        let write = |text: &str| {
            let path = world.write("old.mbox", text);
            let run = Command::new(program).arg("-f").arg(path).status();
            assert!(run.unwrap().success());
        };
        let raw = |id: u32| world.ken(["mail", "show", "--raw", &format!("msgid:{id}@x.org")]);
        write(&mailbox(40));
        assert_eq!(world.index_docs()["documents"], 41);
        write(&(mailbox(40) + &letter(41, "", "a tapir")));
        // From its old offset, in a file that has grown since.
        let run = raw(20);
        assert!(run.text().ends_with("an animal20\n"), "{}", run.err);
        assert_eq!(world.index(&[])["documents"], 2, "{name}");
        assert_eq!(world.hits("type:message").len(), 41);
        assert!(raw(41).text().ends_with("a tapir\n"));
        write(&mailbox(3));
        assert_eq!(raw(20).code, 2);
        assert_eq!(world.index(&[])["documents"], 1);
        assert_eq!(world.hits("type:message").len(), 3);
    }
}

#[test]
fn what_grep_says_of_a_mailbox_that_grew_is_what_is_in_it() {
    let world = World::new();
    let text = mailbox(20);
    world.write("old.mbox", &text);
    world.index(&["docs", "--set", "ngrams=all"]);
    world.write("old.mbox", text + &letter(41, "", "a tapir"));
    let summary = world.index(&["--set", "ngrams=all"]);
    assert_eq!(summary["documents"], 2);
    for pattern in ["animal1[0-9]", "tapir", "animal7", "quokka"] {
        for more in [&[][..], &["--documents"], &["--trust-index"]] {
            let found = |mode: &[&str]| {
                let arguments = [&["grep", pattern, "docs"], more, mode].concat();
                world.ken(arguments).text().to_owned()
            };
            let indexed = found(&[]);
            assert_eq!(indexed, found(&["--no-index"]), "{pattern} {more:?}");
            assert_eq!(indexed.is_empty(), pattern == "quokka");
        }
    }
    let run = world.ken(["grep", "--explain", "-c", "quokka", "docs"]);
    assert!(run.err.contains("1 excluded"), "{}", run.err);
    let run = world.ken(["grep", "--explain", "--documents", "-c", "quokka", "docs"]);
    assert!(run.err.contains("0 scanned"), "{}", run.err);
}

#[test]
fn many_messages_that_are_tagged_at_once_are_there_once() {
    let world = World::new();
    world.write("old.mbox", mailbox(300));
    // A message that contains another one. Both have an identifier, and are written together.
    let outer = format!(
        "From: a@x.org\nMessage-ID: <outer@x.org>\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\
         Content-Disposition: attachment\n\n{}\n--b--\n",
        message(999, &[], "Subject: inner\n", "an inner one")
    );
    world.write("inbox/cur/1:2,", &outer);
    // A duplicate.
    world.write(
        "inbox/cur/2:2,",
        message(7, &[], "Subject: s7\n", "an animal7"),
    );
    world.index_docs();
    let n_documents = world.hits("*").len();
    let log = world.home().join("tags");
    let lines: Vec<String> = (1..=300)
        .map(|id| id.to_string())
        .chain(["outer".into(), "999".into()])
        .map(|id| format!("+all -- id:{id}@x.org\n"))
        .collect();
    std::fs::write(&log, lines.concat()).unwrap();
    let run = world.ken(["mail", "tag", "--import", log.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(world.hits("tag:all").len(), 300 + 1 + 2);
    assert_eq!(world.hits("*").len(), n_documents);
    assert_eq!(world.ken(["mail", "tag", "-all", "*"]).code, 0);
    assert_eq!(
        world.hits("tag:all").len(),
        1,
        "an attached one is not meant"
    );
    assert_eq!(world.hits("*").len(), n_documents);
    assert_eq!(world.index(&[])["documents"], 0);
}
