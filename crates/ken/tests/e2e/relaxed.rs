//! All words, then most words: what is found if no document has all words of a query.

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write(
        "network.txt",
        "The password of the wifi for guests is hunter2. Ask the front desk.",
    );
    world.write("printer.txt", "The printer has wifi too.");
    world.write("plan.txt", "Guests arrive on Monday, with a draft.");
    for number in 0..6 {
        world.write(
            format!("{number}.txt"),
            "What is the sense of something else entirely?",
        );
    }
    world.index_docs();
    world
}

/// Returns the names of the hits, and the line about missing words.
fn asked(world: &World, query: &[&str]) -> (Vec<String>, String, i32) {
    let arguments = [&["search", "--fields", "filename"], query].concat();
    let run = world.ken(arguments);
    let text = String::from_utf8(run.out.clone()).unwrap();
    let names = text.lines().map(str::to_owned).collect();
    (names, run.err.clone(), run.code)
}

#[test]
fn a_word_that_serves_the_sentence_is_not_required_beside_a_phrase() {
    let world = World::new();
    world.write("sign.txt", "Guest wifi: ask at desk 4.");
    world.index_docs();
    let found = |query: &str| asked(&world, &[query]).0.len();
    assert_eq!(found("the \"guest wifi\""), 1);
    assert_eq!(found("what is \"guest wifi\""), 1);
    // A filter is no word: nothing else is asked for.
    assert_eq!(found("the ext:txt"), 0);
}

#[test]
fn a_question_in_plain_words_is_answered() {
    let world = world();
    // Words that only serve the sentence need not match.
    let (names, said, code) = asked(&world, &["what is the wifi password"]);
    assert_eq!((names, code), (vec!["network.txt".to_owned()], 0));
    assert_eq!(said, "");
    let (names, said, code) = asked(&world, &["what is the guest wifi password"]);
    assert_eq!(
        (names.len(), names[0].as_str(), code),
        (3, "network.txt", 0)
    );
    assert_eq!(
        said,
        "ken: only one document matches all words. The other hits have some of them; \
         join words with AND to require all.\n"
    );
    let (names, said, _) = asked(&world, &["guest wifi zebra"]);
    assert_eq!(names, ["network.txt"]);
    assert!(said.contains(" (\"zebra\" is in no document)."), "{said}");
    let (names, said, _) = asked(&world, &["wifi password arrive"]);
    assert_eq!((names.len(), names[0].as_str()), (3, "network.txt"));
    assert!(said.contains("hits have some of them"), "{said}");
    let (mut names, said, _) = asked(&world, &["printer arrive"]);
    names.sort();
    assert_eq!(names, ["plan.txt", "printer.txt"]);
    assert!(said.contains("have some of them"), "{said}");
}

#[test]
fn what_was_demanded_still_holds() {
    let world = world();
    let nothing = |query: &[&str]| {
        let (names, said, code) = asked(&world, query);
        assert_eq!((names.len(), code), (0, 1), "{query:?}: {said}");
    };
    nothing(&["--all", "guest wifi zebra"]);
    nothing(&["zebra"]);
    nothing(&["zebra yak"]);
    nothing(&["guest AND zebra"]);
    nothing(&["--syntax", "mu", "guest zebra"]);
    nothing(&["--lenient", "guest zebra"]);
    nothing(&["\"guest zebra\""]);
    nothing(&["title:zebra wifi"]);
    nothing(&["\"guest zebra\" wifi desk"]);
    nothing(&["zebr* wifi desk"]);
    // Excluded words and filters also hold for these answers.
    let (names, ..) = asked(&world, &["guests", "zebra", "-draft"]);
    assert_eq!(names, ["network.txt"]);
    let (names, ..) = asked(&world, &["guests zebra filename:plan"]);
    assert_eq!(names, ["plan.txt"]);
    let count = world.ken(["search", "--count", "guest zebra"]);
    assert_eq!((count.out.as_slice(), count.code), (&b"0\n"[..], 1));
    let facets = world.ken(["search", "--facets", "ext", "guest zebra"]);
    assert_eq!(facets.code, 1);
}

#[test]
fn the_words_of_a_field_are_words_and_a_saved_query_is_what_it_says() {
    let world = world();
    assert!(
        world
            .ken(["search", "--save", "strict", "guest AND wifi"])
            .code
            == 0
    );
    assert!(world.ken(["search", "--save", "plain", "guest wifi"]).code == 0);
    let (names, ..) = asked(&world, &["filename:(network txt) password zebra"]);
    assert_eq!(names, ["network.txt"]);
    let (names, ..) = asked(&world, &["query:plain zebra"]);
    assert_eq!(names, ["network.txt"]);
    for query in [
        "query:strict password zebra",
        "filename:(network OR plan) password zebra",
    ] {
        assert_eq!(asked(&world, &[query]).2, 1, "{query}");
    }
}

/// The answer does not depend on the page.
#[test]
fn pages_of_few_hits_fit_together() {
    let world = world();
    for number in 0..4 {
        world.write(
            format!("all{number}.txt"),
            format!("guest wifi password {number}"),
        );
    }
    world.index_docs();
    let query = "guest wifi password";
    let (whole, ..) = asked(&world, &[query]);
    assert_eq!(whole.len(), 7);
    let pages =
        ["0", "2", "4", "6"].map(|offset| asked(&world, &["-n2", "--offset", offset, query]).0);
    assert_eq!(pages.concat(), whole);
}

/// A long list and another order than relevance have only documents with all words, if there are any.
#[test]
fn lists_for_programs_are_strict() {
    let world = world();
    for options in [&["--limit", "51"][..], &["--sort", "date"], &["--paths"]] {
        let run = world.ken([&["search"], options, &["guest wifi password"]].concat());
        assert!(run.text().contains("network.txt"), "{options:?}");
        assert!(!run.text().contains("printer.txt"), "{options:?}");
    }
}

#[test]
fn programs_learn_how_the_answer_came_about() {
    let world = world();
    let run = world.ken(["search", "--json", "guest wifii password"]);
    let objects = run.objects();
    let answer = objects
        .iter()
        .find(|object| object.get("matched").is_some());
    let answer = answer.unwrap();
    assert_eq!(answer["matched"], "most");
    assert_eq!(answer["missing"], serde_json::json!(["wifii"]));
    let suggested = &objects.last().unwrap()["did_you_mean"][0]["query"];
    assert!(suggested.as_str().unwrap().ends_with(" wifi password"));
    let few = world
        .ken(["search", "--json", "guest wifi password"])
        .objects();
    let answer = few.iter().find(|object| object.get("matched").is_some());
    assert_eq!(answer.unwrap()["with_all"], 1);
    let strict = world.ken(["search", "--json", "guest password"]);
    assert!(
        strict
            .objects()
            .iter()
            .all(|object| object.get("matched").is_none())
    );
    assert_eq!(strict.err, "");
}
