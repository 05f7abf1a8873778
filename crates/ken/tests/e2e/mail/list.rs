//! `ken mail list`, duplicates of messages, and attachments.

use super::message;
use crate::world::World;

/// A thread of three messages, one of which has a duplicate in another folder, and a single message.
fn copies() -> World {
    let world = World::new();
    let plan = "Subject: The plan\n";
    world.write("inbox/cur/1:2,S", message(1, &[], plan, "a tapir"));
    world.write("inbox/cur/2:2,F", message(2, &[1], plan, "a numbat"));
    world.write("all/cur/2:2,S", message(2, &[1], plan, "a numbat"));
    world.write("inbox/cur/3:2,S", message(3, &[1, 2], plan, "a dugong"));
    world.write("inbox/cur/9:2,S", message(9, &[], plan, "a numbat"));
    world.index_docs();
    world
}

fn ids(world: &World, args: &[&str]) -> Vec<String> {
    let all = [&["mail", "list", "--json"], args].concat();
    let objects = world.ken(all).objects();
    let id = |object: &serde_json::Value| object["id"].as_str().unwrap()[..1].to_owned();
    objects.iter().map(id).collect()
}

#[test]
fn copies_are_left_out_and_threads_added_if_asked() {
    let world = copies();
    assert_eq!(ids(&world, &["numbat"]), ["9", "2", "2"]);
    assert_eq!(ids(&world, &["--skip-dups", "numbat"]), ["9", "2"]);
    assert_eq!(
        ids(&world, &["--skip-dups", "-n", "1", "--reverse", "numbat"]),
        ["2"]
    );
    let related = ["--include-related", "dugong"];
    assert_eq!(ids(&world, &related), ["3", "2", "2", "1"]);
    let both = [
        "--skip-dups",
        "--include-related",
        "--reverse",
        "is:flagged",
    ];
    assert_eq!(ids(&world, &both), ["1", "2", "3"]);
    // The duplicate that the query finds is listed.
    let all = [&["mail", "list", "--json"], &both[..]].concat();
    let flagged = &world.ken(all).objects()[1];
    assert_eq!(flagged["is"], serde_json::json!(["unread", "flagged"]));
    assert_eq!(flagged["matched"], true);
    assert_eq!(ids(&world, &["nobody-wrote-this"]), Vec::<String>::new());

    let run = world.ken(["mail", "list", "--include-related", "--skip-dups", "dugong"]);
    let lines = run.lines();
    assert_eq!(lines[0], "2025-03-03  * Anna  The plan");
    assert_eq!(lines.len(), 3);
    assert_eq!(world.ken(["mail", "list", "nobody-wrote-this"]).code, 1);
}

#[test]
fn other_commands_leave_copies_out_too() {
    let world = copies();
    let threads = |args: &[&str]| {
        world
            .ken([&["mail", "threads", "--json"], args].concat())
            .objects()
    };
    assert_eq!(threads(&["tapir"])[0]["total"], 4);
    let thread = &threads(&["--skip-dups", "is:flagged"])[0];
    assert_eq!(
        (&thread["total"], &thread["matched"]),
        (&3.into(), &1.into())
    );
    let shown = |args: &[&str]| {
        world
            .ken([&["mail", "show", "--json"], args].concat())
            .objects()
            .len()
    };
    assert_eq!(shown(&["numbat"]), 3);
    assert_eq!(shown(&["--skip-dups", "numbat"]), 2);
    assert_eq!(shown(&["--skip-dups", "--thread", "tapir"]), 3);
}

#[test]
fn what_a_forwarded_message_carries_is_listed_and_saved_by_its_number() {
    let world = World::new();
    let file = |name: &str, text: &str| {
        format!("Content-Disposition: attachment; filename=\"{name}\"\n\n{text}\n")
    };
    let multipart = |boundary: &str, parts: &[String]| {
        let parts: Vec<String> = parts
            .iter()
            .map(|part| format!("--{boundary}\n{part}"))
            .collect();
        format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary={boundary}\n\n{}--{boundary}--\n",
            parts.concat()
        )
    };
    let innermost = multipart("c", &["\nlast\n".into(), file("deep.txt", "a quokka")]);
    let inner = format!(
        "From: Bob <bob@x.org>\nSubject: Forwarded\n{}",
        multipart(
            "b",
            &[
                "\nsee below\n".into(),
                file("near.txt", "a tapir"),
                format!("Content-Type: message/rfc822\n\nSubject: Deeper\n{innermost}"),
            ]
        )
    );
    let outer = multipart(
        "a",
        &[
            "\nfyi\n".into(),
            file("first.txt", "a numbat"),
            format!("Content-Type: message/rfc822\n\n{inner}"),
            file("last.txt", "a dugong"),
        ],
    );
    world.write(
        "inbox/cur/1:2,S",
        format!("From: a@x.org\nSubject: Outer\n{outer}"),
    );
    world.index_docs();
    let shown = &world
        .ken(["mail", "show", "--json", "subject:outer"])
        .objects()[0];
    let parts: Vec<_> = shown["parts"].as_array().unwrap().iter().collect();
    let numbers: Vec<_> = parts
        .iter()
        .map(|part| part["number"].as_str().unwrap())
        .collect();
    assert_eq!(numbers, ["1", "2", "2.1", "2.2", "2.2.1", "3"]);
    assert_eq!(parts[4]["name"], "deep.txt");
    let text = world.ken(["mail", "show", "subject:outer"]);
    assert!(text.text().contains("2.2.1 deep.txt"), "{}", text.text());
    let deep = world.ken(["mail", "show", "--part", "2.2.1", "quokka"]);
    assert_eq!(deep.text().trim(), "a quokka");
    let none = world.ken(["mail", "show", "--part", "4", "quokka"]);
    assert_eq!(none.code, 2);
    assert!(
        none.err.contains("it has 1, 2, 2.1, 2.2, 2.2.1, 3"),
        "{}",
        none.err
    );

    // Conditions on the message and on its parts must all hold.
    for (query, expected) in [
        ("subject:outer part:(quokka filename:deep)", 1),
        ("subject:outer part:(quokka filename:near)", 0),
        ("subject:outer part:(fyi)", 0),
        ("subject:outer -part:(quokka)", 0),
        ("part:(subject:deeper)", 1),
        ("part:(nobody-wrote-this)", 0),
    ] {
        assert_eq!(world.hits(query).len(), expected, "{query}");
    }
    let mu = ["search", "--syntax", "mu", "--count"];
    for (query, expected) in [
        ("subject:outer file:deep.txt", "1"),
        ("subject:outer embed:quokka", "1"),
        ("subject:outer not file:deep.txt", "0"),
        ("from:bob", "0"),
    ] {
        let run = world.ken([&mu[..], &[query]].concat());
        assert_eq!(run.text().trim(), expected, "{query}");
    }

    let folder = world.home().join("saved");
    let to = folder.to_str().unwrap();
    let saved = world.ken(["mail", "save", "--to", to, "--part", "2.1", "subject:outer"]);
    assert_eq!(saved.text(), format!("{to}/near.txt\n"));
    assert_eq!(
        world
            .ken(["mail", "save", "--to", to, "--name", "txt$", "*"])
            .lines()
            .len(),
        4
    );
}
