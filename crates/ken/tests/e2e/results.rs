//! Which hits `ken search` shows: order, duplicates, groups, counts, locations, similar documents, fields.

use serde_json::Value;

use crate::world::World;

const MAIL: &str = "From: Anna <anna@example.org>\nTo: bert@example.org\nSubject: Okapi\n\
Date: Mon, 1 Jan 2024 12:00:00 +0000\nMessage-ID: <1@example.org>\nMIME-Version: 1.0\n\
Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n\
The okapi is enclosed.\n--b\nContent-Type: text/plain; name=note.txt\n\
Content-Disposition: attachment; filename=note.txt\n\nan okapi eats leaves\n--b--\n";

const FROM: &str = "From anna@example.org Mon Jan  1 12:00:00 2024\n";

/// A note, a duplicate of it, and a message with the note, which is in a mailbox twice.
fn zoo() -> World {
    let world = World::new();
    world.write("notes/note.txt", "an okapi eats leaves");
    world.write("notes/old/copy.md", "an okapi eats leaves");
    world.write("notes/tapir.txt", "a tapir, no okapi");
    world.write("mail/box.mbox", format!("{FROM}{MAIL}\n{FROM}{MAIL}\n"));
    for (name, modified) in [
        ("notes/note.txt", 1_577_880_000),
        ("notes/old/copy.md", 1_609_459_200),
        ("notes/tapir.txt", 1_612_137_600),
    ] {
        world.set_modified(name, modified);
    }
    world.index_docs();
    world
}

fn json(world: &World, args: &[&str]) -> Vec<Value> {
    let run = world.ken(["search", "--json"].iter().chain(args));
    assert!(run.code < 2, "{args:?}: {}", run.err);
    run.objects()
}

fn locations(world: &World, args: &[&str]) -> Vec<String> {
    json(world, args)
        .iter()
        .map(|hit| world.location(hit))
        .collect()
}

fn counts(world: &World, args: &[&str]) -> Vec<(String, u64)> {
    let docs = world.docs();
    let docs = docs.to_str().unwrap();
    let count = |object: &Value| {
        let value = object["value"].as_str().unwrap();
        (value.replace(docs, "."), object["count"].as_u64().unwrap())
    };
    json(world, args).iter().map(count).collect()
}

#[test]
fn any_field_sorts_and_what_has_none_comes_last() {
    let world = zoo();
    let sorted = |args: &[&str]| locations(&world, &[&["okapi", "-is:member"], args].concat());
    assert_eq!(
        sorted(&["--sort", "filename"]),
        ["notes/old/copy.md", "notes/note.txt", "notes/tapir.txt"]
    );
    assert_eq!(
        sorted(&["--sort", "name", "--reverse"]),
        ["notes/tapir.txt", "notes/note.txt", "notes/old/copy.md"]
    );
    let by_author = locations(&world, &["okapi", "--sort", "from"]);
    assert_eq!(by_author[0], "mail/box.mbox|1");
    assert_eq!(by_author.last().unwrap(), "notes/tapir.txt");
    let run = world.ken(["search", "okapi", "--sort", "body"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("known are relevance, path, title"),
        "{}",
        run.err
    );
}

#[test]
fn copies_are_shown_once_and_counted() {
    let world = zoo();
    let all = locations(&world, &["leaves", "--sort", "path"]);
    assert_eq!(all.len(), 4, "{all:?}");
    let hits = json(&world, &["leaves", "--unique", "--sort", "path"]);
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0]["more"], 3);
    let run = world.ken(["search", "leaves", "--unique"]);
    assert!(
        run.text().contains("    and 3 more of the same content\n"),
        "{}",
        run.text()
    );
    assert_eq!(
        world.ken(["search", "-c", "--unique", "okapi"]).text(),
        "3\n"
    );

    let mut copies = all;
    // The messages are also duplicates of each other.
    copies.extend(["mail/box.mbox|1".to_owned(), "mail/box.mbox|2".to_owned()]);
    copies.sort();
    assert_eq!(world.found("is:duplicate"), copies);

    // A moved file remains a duplicate.
    world.rename("notes/note.txt", "notes/moved.txt");
    world.remove("notes/old/copy.md");
    world.index_docs();
    assert_eq!(json(&world, &["leaves", "--unique"])[0]["more"], 2);
    world.remove("mail/box.mbox");
    world.index_docs();
    assert!(world.found("is:duplicate").is_empty());
}

#[test]
fn parts_are_shown_with_their_message_or_file() {
    let world = zoo();
    let grouped = |by: &str| -> Vec<(String, u64)> {
        let hits = json(&world, &["okapi", "--sort", "path", "--group", by]);
        let of = |hit: &Value| (world.location(hit), hit["more"].as_u64().unwrap());
        hits.iter().map(of).collect()
    };
    let of = |at: &str, more| (at.to_owned(), more);
    let rest = [
        of("notes/note.txt", 0),
        of("notes/old/copy.md", 0),
        of("notes/tapir.txt", 0),
    ];
    let messages = [of("mail/box.mbox|1", 1), of("mail/box.mbox|2", 1)];
    assert_eq!(grouped("message"), [&messages[..], &rest].concat());
    assert_eq!(
        grouped("file"),
        [&[of("mail/box.mbox|1", 3)][..], &rest].concat()
    );
    assert_eq!(json(&world, &["okapi", "--group", "none"]).len(), 7);
    let page = locations(
        &world,
        &["okapi", "--group=file", "--sort=path", "--offset=1", "-n2"],
    );
    assert_eq!(page, ["notes/note.txt", "notes/old/copy.md"]);
}

#[test]
fn all_hits_are_counted_by_fields() {
    let world = zoo();
    let count = |facet: &str, more: &[&str]| {
        counts(&world, &[&["okapi", "--facets", facet], more].concat())
    };
    let is = |values: &[(&str, u64)]| -> Vec<(String, u64)> {
        values
            .iter()
            .map(|(value, n)| ((*value).to_owned(), *n))
            .collect()
    };
    assert_eq!(count("type", &[]), is(&[("document", 5), ("message", 2)]));
    assert_eq!(count("dir", &[]), is(&[("./mail", 4), ("./notes", 3)]));
    let deep = is(&[("./mail", 4), ("./notes", 2), ("./notes/old", 1)]);
    assert_eq!(count("dir", &["--depth", "2"]), deep);
    assert_eq!(count("dir", &["--depth", "0"]), is(&[(".", 7)]));
    assert_eq!(count("author", &[]), is(&[("Anna <anna@example.org>", 2)]));
    assert_eq!(count("ext", &["-n1"]), is(&[("txt", 4)]));
    let years = count("year", &["-is:member"]);
    assert_eq!(years, is(&[("2021", 2), ("2020", 1)]));
    let months = count("modified.month", &["-is:member"]);
    assert_eq!(
        months,
        is(&[("2021-02", 1), ("2021-01", 1), ("2020-01", 1)])
    );
    let both = json(&world, &["okapi", "--facets", "type,lang"]);
    assert!(both.iter().any(|object| object["facet"] == "type"));
    let run = world.ken(["search", "--facets", "type,size"]);
    assert!(
        run.text().starts_with("type\n        5  document\n"),
        "{}",
        run.text()
    );
    assert!(
        run.text().contains("size\n        8  0..1k\n"),
        "{}",
        run.text()
    );
    assert_eq!(world.ken(["search", "absent", "--facets", "type"]).code, 1);
}

#[test]
fn all_passages_of_a_document_are_shown_in_order() {
    let world = World::new();
    let filler = "other words stand here\n".repeat(20);
    let text: String = (0..500).map(|n| format!("okapi {n}\n{filler}")).collect();
    world.write("long.txt", text);
    world.write(
        "pages.txt",
        "first page\u{c}an okapi here\u{c}and the okapi there",
    );
    world.write("box.mbox", format!("{FROM}{MAIL}\n{FROM}{MAIL}\n"));
    world.index_docs();
    let lines: Vec<u64> = json(&world, &["okapi", "--in", "docs/long.txt"])
        .iter()
        .map(|hit| hit["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, (0..500).map(|n| n * 21 + 1).collect::<Vec<_>>());
    let run = world.ken(["search", "okapi", "--in", "docs/pages.txt"]);
    let path = world.docs().join("pages.txt");
    let expected = format!(
        "{}\n    p. 2: an okapi here\n    p. 3: and the okapi there\n",
        path.display()
    );
    assert_eq!(run.text(), expected);
    let phrase = json(
        &world,
        &["\"here okapi 77 other\"", "--in", "docs/long.txt"],
    );
    assert_eq!(phrase.len(), 1, "{phrase:?}");

    let parts = json(&world, &["okapi", "--in", "docs/box.mbox"]);
    let ipaths: Vec<_> = parts
        .iter()
        .map(|hit| hit["ipath"].as_str().unwrap())
        .collect();
    assert_eq!(ipaths.len(), 4);
    assert!(ipaths[0] == "1" && ipaths[2] == "2", "{ipaths:?}");
    let mail = format!("{}|2", world.docs().join("box.mbox").display());
    assert_eq!(json(&world, &["enclosed", "--in", &mail]).len(), 1);
    assert_eq!(
        json(&world, &["okapi", "--in", "docs/long.txt", "-n3"]).len(),
        3
    );
    assert_eq!(
        world
            .ken(["search", "absent", "--in", "docs/long.txt"])
            .code,
        1
    );
    let run = world.ken(["search", "okapi", "--in", "docs/none.txt"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("is not in the index"), "{}", run.err);
}

#[test]
fn similar_documents_are_found_without_the_document_itself() {
    let world = World::new();
    world.write(
        "pie.txt",
        "apple pie with cinnamon, butter, sugar and flour",
    );
    world.write(
        "cake.txt",
        "a cake of butter, sugar, flour and eggs with cinnamon",
    );
    world.write(
        "engine.txt",
        "the piston and the crankshaft of a diesel engine",
    );
    world.write("motor.txt", "a diesel motor with a crankshaft");
    world.index_docs();
    assert_eq!(
        locations(&world, &["--like", "docs/pie.txt"])[0],
        "cake.txt"
    );
    let engines = locations(&world, &["--like", "docs/motor.txt"]);
    assert_eq!(engines[0], "engine.txt");
    assert!(!engines.contains(&"motor.txt".to_owned()));
    let narrowed = locations(&world, &["--like", "docs/motor.txt", "filename:cake"]);
    assert!(narrowed.len() <= 1 && !narrowed.contains(&"engine.txt".to_owned()));
    let outside = world.home().join("new.txt");
    fs_err::write(&outside, "my crankshaft is broken").unwrap();
    let found = locations(&world, &["--like", outside.to_str().unwrap()]);
    assert!(found.contains(&"engine.txt".to_owned()) && found.contains(&"motor.txt".to_owned()));
    let run = world.ken(["search", "--like", "docs/none.txt"]);
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn fields_are_printed_as_asked() {
    let world = zoo();
    let run = world.ken([
        "search",
        "okapi",
        "--sort=path",
        "--fields",
        "rank,date,from,title,ipath,mime,ext",
        "-n1",
    ]);
    let expected = "1\t2024-01-01T12:00:00Z\tAnna <anna@example.org>\tOkapi\t1\tmessage/rfc822\t\n";
    assert_eq!(run.text(), expected);
    let run = world.ken(["search", "tapir", "--fields", "snippet,line,size,dir", "-0"]);
    let folder = world.docs().join("notes");
    assert_eq!(
        run.text(),
        format!("a tapir, no okapi\t1\t17\t{}\0", folder.display())
    );
    let run = world.ken(["search", "tapir", "--fields", "nothing"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("known are rank, score"), "{}", run.err);
}

#[test]
fn several_snippets_of_a_hit_are_shown() {
    let world = World::new();
    let filler = "other words stand here and there\n".repeat(30);
    world.write(
        "a.txt",
        format!("an okapi\n{filler}one more okapi\n{filler}okapi, okapi!"),
    );
    world.index_docs();
    let hits = json(&world, &["okapi", "--snippets", "3"]);
    let snippets = hits[0]["snippets"].as_array().unwrap();
    assert_eq!(snippets.len(), 3);
    assert_eq!(hits[0]["snippet"], snippets[0]);
    assert_eq!(snippets[0]["line"], 63, "the densest first");
    let run = world.ken(["search", "okapi", "--snippets", "2"]);
    let text = run.text();
    assert!(
        text.contains("\n    63: ") && text.contains("\n    1: "),
        "{text}"
    );
}
