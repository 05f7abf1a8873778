//! Several spellings of one thing, which find each other.

use crate::world::World;

/// Indexes each text as a document of its own.
fn world_of(texts: &[&str]) -> World {
    let world = World::new();
    for (number, text) in texts.iter().enumerate() {
        world.write(format!("{number}.txt"), format!("the words {text} today\n"));
    }
    world.index_docs();
    world
}

#[test]
fn spellings_find_each_other_both_ways() {
    for spellings in [
        &["U.S.A", "U.S.A.", "USA"][..],
        &["Ph.D.", "PhD", "phd"],
        &["С.Ш.А.", "США"],
        &["v2.10.0-rc1", "2.10.0-rc1"],
        &["utf-8", "utf8", "UTF‑8", "utf_8"],
        &["H.264", "H264", "h-264"],
        &["covid-19", "covid19", "COVID 19"],
        &["iso-8859-1", "iso8859-1", "ISO 8859-1"],
        &["x86-64", "x86_64"],
        &[
            "₹1,00,000",
            "100000",
            "1,00,000",
            "100,000",
            "100 000",
            "100'000",
        ],
        &["US$1,000", "$1,000", "1000", "1\u{202f}000"],
        &["Wi-Fi", "wifi", "WiFi", "Wi‑Fi"],
        &["e-mail", "email", "E‐Mail"],
        &["TCP/IP", "tcpip", "TCPIP"],
        &["R&D", "RD"],
        &["O'Brien", "O’Brien", "obrien"],
        &["п'ять", "пʼять", "п’ять"],
        &["❤️", "❤"],
    ] {
        let world = world_of(spellings);
        for query in spellings {
            assert_eq!(
                world.found(query).len(),
                spellings.len(),
                "{query} of {spellings:?}"
            );
        }
    }
}

#[test]
fn two_words_find_the_one_that_they_are() {
    let world = world_of(&["Wi-Fi", "wifi", "wi fi", "1 000 000", "1000000"]);
    assert_eq!(world.found("wi fi").len(), 3);
    assert_eq!(world.found("1 000 000").len(), 2);
    assert_eq!(world.found("1000000").len(), 2);
}

#[test]
fn phrases_go_on_behind_an_acronym() {
    let world = world_of(&[
        "the U.S.A.",
        "the USA",
        "the U.S.A",
        "J.R.R. Tolkien",
        "J. R. R. Tolkien",
    ]);
    for query in [
        "\"the USA today\"",
        "\"the U.S.A. today\"",
        "\"the usa today\"",
    ] {
        assert_eq!(world.found(query).len(), 3, "{query}");
    }
    for query in ["\"J.R.R. Tolkien today\"", "\"J. R. R. Tolkien today\""] {
        assert_eq!(world.found(query).len(), 2, "{query}");
    }
    let world = world_of(&["U. S. A.", "U.S.A.", "USA"]);
    assert_eq!(world.found("USA").len(), 2);
    for query in ["U.S.A.", "\"U. S. A.\"", "\"U. S. A. today\""] {
        assert_eq!(world.found(query).len(), 3, "{query}");
    }
    assert_eq!(world.found("\"the A.U.S. today\"").len(), 0);
    assert_eq!(world.found("A.U.S.").len(), 0);
}

#[test]
fn other_things_are_not_found() {
    let world = world_of(&[
        "2024-03-05",
        "20240305",
        "a 1",
        "A1",
        "n-1",
        "don t",
        "1.5",
        "15",
    ]);
    for (query, found) in [
        ("2024-03-05", "0.txt"),
        ("20240305", "1.txt"),
        ("A1", "3.txt"),
        ("1.5", "6.txt"),
        ("15", "7.txt"),
    ] {
        assert_eq!(world.found(query), [found], "{query}");
    }
}

#[test]
fn the_spelling_of_the_query_ranks_first() {
    let world = World::new();
    world.write("other.txt", "utf-8 utf-8 utf-8");
    world.write(
        "same.txt",
        "a long text that has many other words besides, and once the word utf8",
    );
    world.index_docs();
    let hits = world.hits("utf8");
    let first = &hits[0];
    assert_eq!(hits.len(), 2);
    assert!(
        first["path"].as_str().unwrap().ends_with("same.txt"),
        "{first}"
    );
}

#[test]
fn emoji_are_words() {
    let world = World::new();
    world.write("a.txt", "great👍");
    world.write("b.txt", "well done 👍🏽!");
    world.write("c.txt", "👨‍👩‍👧 in 🇩🇪, step 1️⃣");
    world.write("d.txt", "great news");
    world.index_docs();
    for (query, expected) in [
        ("👍", &["a.txt", "b.txt"][..]),
        ("👍🏽", &["b.txt"]),
        ("great", &["a.txt", "d.txt"]),
        ("great👍", &["a.txt"]),
        ("👨‍👩‍👧", &["c.txt"]),
        ("👨", &[]),
        ("🇩🇪", &["c.txt"]),
        ("🇫🇷", &[]),
        ("1️⃣", &["c.txt"]),
        ("step 1", &["c.txt"]),
    ] {
        let mut found = world.found(query);
        found.sort();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn a_possessive_and_its_word_find_each_other() {
    let world = World::new();
    world.write("a.txt", "the floor is clean");
    world.write("b.txt", "the floor's edge");
    world.write("c.txt", "the floorʼs edge");
    world.write("d.txt", "the floors’ edges");
    world.write("e.txt", "l'arbre dans dell’arte");
    world.write("f.txt", "un arbre, arte");
    world.index_docs();
    for query in ["floor's", "floor’s", "floors'", "floorʼs", "floor"] {
        assert_eq!(world.found(query).len(), 4, "{query}");
    }
    for query in ["l'arbre", "arbre", "dell'arte", "arte"] {
        assert_eq!(world.found(query).len(), 2, "{query}");
    }
    assert_eq!(world.found("\"floor's\"").len(), 2);
}

#[test]
fn an_unknown_word_has_no_forms_of_another_language() {
    let world = World::new();
    let english = "This is the story of a line that was drawn by the people who have lived in the house with a chair";
    let catalan =
        "Aquesta és la història de les persones que han viscut en una casa amb moltes altres coses";
    let spanish =
        "Esta es la historia de las personas que han vivido en una casa con muchas otras cosas";
    for number in 0..6 {
        world.write(format!("en{number}.txt"), english);
        world.write(format!("ca{number}.txt"), catalan);
        world.write(format!("es{number}.txt"), spanish);
    }
    world.index_docs();
    let langs =
        world.found("lang:ca").len() + world.found("lang:es").len() + world.found("lang:en").len();
    assert_eq!(langs, 18);
    assert_eq!(world.found("linus").len(), 0);
    assert_eq!(world.found("chaos").len(), 0);
    // Forms of the same language are still found.
    assert_eq!(world.found("lined").len(), 6);
    assert_eq!(world.found("viviendo").len(), 6);
    assert_eq!(world.found("historias").len(), 12);
}

#[test]
fn words_of_one_stem_and_other_meanings_are_apart() {
    let world = World::new();
    world.write("a.txt", "the author wrote");
    world.write("b.txt", "the authority decided");
    world.write("c.txt", "many authors and authorities");
    world.index_docs();
    assert_eq!(world.found("author").len(), 2);
    assert_eq!(world.found("authority").len(), 2);
}
