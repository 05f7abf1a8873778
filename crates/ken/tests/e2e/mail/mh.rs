//! Folders of MH: their messages, and the states in `.mh_sequences`.

use super::message;
use crate::world::{World, assert_counts};

/// Four messages in a folder of MH, and a file with a number that is not a message.
fn folder() -> World {
    let world = World::new();
    for (number, word) in [(1, "pangolin"), (2, "quokka"), (3, "numbat"), (10, "tapir")] {
        let text = message(number, &[], "Subject: x\n", &format!("the {word}"));
        world.write(format!("Mail/inbox/{number}"), text);
    }
    world.write("Mail/.mh_sequences", "unseen: 2024\n");
    world.write("Mail/2024", "no message, but notes of a year\n");
    world.write(
        "Mail/inbox/.mh_sequences",
        "cur: 3\nunseen: 2-3 10\nflagged: 3\n",
    );
    world.index_docs();
    world
}

#[test]
fn messages_are_found_and_have_the_state_of_their_sequences() {
    let world = folder();
    let count = |query: &str| world.hits(query).len();
    for (query, expected) in [
        ("type:message", 4),
        ("is:unread", 3),
        ("is:seen pangolin", 1),
        ("is:flagged is:unread numbat", 1),
        ("is:replied", 0),
        ("dir:inbox", 4),
        ("notes", 1),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    let raw = world.ken(["mail", "show", "--raw", "numbat"]);
    assert!(raw.text().contains("the numbat"), "{}", raw.err);
}

#[test]
fn only_messages_of_which_something_else_is_said_are_written_again() {
    let world = folder();
    assert_counts(&world.index(&[]), &[("unchanged", 5)]);
    // A mail program writes the file in place after one message was read and one answered.
    world.write(
        "Mail/inbox/.mh_sequences",
        "unseen: 2-3\nflagged: 3\nreplied: 1\n",
    );
    assert_counts(
        &world.index(&["--lazy"]),
        &[("changed", 2), ("unchanged", 3)],
    );
    assert_eq!(world.hits("is:unread").len(), 2);
    assert_eq!(world.hits("is:replied is:seen pangolin").len(), 1);
    assert_counts(&world.index(&[]), &[("unchanged", 5)]);

    // Renumbering keeps the states of a message.
    world.rename("Mail/inbox/10", "Mail/inbox/4");
    assert_counts(&world.index(&[]), &[("moved", 1), ("unchanged", 4)]);
    assert_eq!(world.hits("is:seen tapir").len(), 1);

    // The message was refiled; in its old folder it was unread.
    world.rename("Mail/inbox/2", "Mail/inbox/5");
    assert_counts(
        &world.index(&[]),
        &[("gone", 1), ("added", 1), ("unchanged", 4)],
    );
    assert_eq!(world.hits("is:seen quokka").len(), 1);

    world.remove("Mail/inbox/.mh_sequences");
    assert_counts(&world.index(&[]), &[("changed", 4), ("unchanged", 1)]);
    assert_eq!(world.hits("is:unread OR is:seen").len(), 0);
}
