//! Mail as a user searches it: states, threads, tags, people.

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
fn threads_are_found_from_any_of_their_messages() {
    let world = World::new();
    // The root is missing, and an answer came before what it answers.
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
