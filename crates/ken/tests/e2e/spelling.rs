//! "Did you mean": what is suggested when a query finds little.

use crate::world::World;

/// The suggestions of `ken search --json`: queries with the number of their documents.
fn suggested(world: &World, query: &str) -> Vec<(String, u64)> {
    let run = world.ken(["search", "--json", "--", query]);
    assert!(run.code < 2, "{}", run.err);
    let objects = run.objects();
    let last = objects.last().map(|object| object["did_you_mean"].clone());
    let list = last
        .and_then(|list| list.as_array().cloned())
        .unwrap_or_default();
    let suggestion = |of: &serde_json::Value| {
        let query = of["query"].as_str().unwrap().to_owned();
        (query, of["documents"].as_u64().unwrap())
    };
    list.iter().map(suggestion).collect()
}

#[test]
fn misspelt_words_are_shown_with_counts() {
    let world = World::new();
    for number in 0..3 {
        world.write(format!("{number}.txt"), "the annual budget of the database");
    }
    world.write("one.txt", "gudget");
    world.write("two.md", "# Öffentlichkeit\n\na report");
    world.index_docs();
    let one = |query: &str, documents| vec![(query.to_owned(), documents)];
    // The most frequent of the equally near words.
    assert_eq!(suggested(&world, "bugdet anual"), one("budget annual", 3));
    assert_eq!(suggested(&world, "data base"), one("database", 3));
    assert_eq!(
        suggested(&world, "annualbudget"),
        one("\"annual budget\"", 3)
    );
    assert_eq!(
        suggested(&world, "title:offentlichkiet"),
        one("title:offentlichkeit", 1)
    );
    // A word like no other, words that no document has together, a known word, and a field without suggestions.
    for query in ["xylophone", "bugdet report", "budget", "ext:txr"] {
        assert_eq!(suggested(&world, query), [], "{query}");
    }
    let run = world.ken(["search", "--explain", "bugdet"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "ken: did you mean budget  (3 documents)\n")
    );
}
