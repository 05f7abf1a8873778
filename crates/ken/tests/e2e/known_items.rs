//! The score card: queries for known documents in a small mixed folder.
//!
//! `known_items/scores.txt` holds the rank of each document, so a change of ranking is a diff of this
//! file. `UPDATE_SCORES=1 cargo test -p ken --test e2e known_items` renews it.

use std::fmt::Write as _;
use std::path::Path;

use crate::world::World;

/// The last rank that is counted.
const DEPTH: usize = 20;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known_items")
}

/// Writes the files of the corpus: each starts with a line `=== path`.
fn write(world: &World, corpus: &str) {
    for file in corpus.split("=== ").skip(1) {
        let (name, content) = file.split_once('\n').unwrap();
        let path = world.write(name, content);
        assert!(path.exists());
        // All files have the same age, so that it does not influence the ranks.
        world.set_modified(name, 1_780_000_000);
    }
}

/// Returns the rank of the document among the hits, from 1; hits of the same score share a rank.
fn rank(world: &World, query: &str, wanted: &str) -> Option<usize> {
    let limit = DEPTH.to_string();
    let run = world.ken(["search", "--any", "--json", "-n", &limit, "--", query]);
    assert!(run.code < 2, "{query}: {}", run.err);
    let wanted = world.docs().join(wanted);
    let hits = run.objects();
    let scores = hits.iter().filter_map(|hit| {
        let path = Path::new(hit["path"].as_str()?);
        Some((path == wanted, hit["score"].as_f64()?))
    });
    let scores: Vec<(bool, f64)> = scores.collect();
    let (_, own) = scores.iter().find(|(is_wanted, _)| *is_wanted)?;
    let better = scores.iter().filter(|(_, score)| *score > own + 1e-4);
    Some(better.count() + 1)
}

#[test]
fn the_score_card_is_as_it_was() {
    let read = |name| fs_err::read_to_string(folder().join(name)).unwrap();
    let world = World::new();
    // One segment, since the distribution over several segments slightly changes the weights.
    world.configure("threads = 1");
    write(&world, &read("corpus.txt"));
    world.index_docs();
    let queries = read("queries.tsv");
    let queries: Vec<_> = queries
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    assert!(queries.len() >= 60);
    let (mut first, mut first_five, mut reciprocal) = (0.0, 0.0, 0.0);
    let mut card = String::new();
    for (query, wanted) in &queries {
        let rank = rank(&world, query, wanted);
        let shown = rank.map_or("-".to_owned(), |rank| rank.to_string());
        writeln!(card, "{shown}\t{query}\t{wanted}").unwrap();
        first += f64::from(u8::from(rank == Some(1)));
        first_five += f64::from(u8::from(rank.is_some_and(|rank| rank <= 5)));
        reciprocal += rank.map_or(0.0, |rank| 1.0 / rank as f64);
    }
    let n = queries.len() as f64;
    let (first, first_five, reciprocal) = (first / n, first_five / n, reciprocal / n);
    writeln!(
        card,
        "recall@1 {first:.3}  recall@5 {first_five:.3}  MRR {reciprocal:.3}"
    )
    .unwrap();
    let golden = folder().join("scores.txt");
    if std::env::var_os("UPDATE_SCORES").is_some() {
        fs_err::write(&golden, &card).unwrap();
    }
    let expected = fs_err::read_to_string(&golden).unwrap_or_default();
    assert!(
        card == expected,
        "ranks changed; if for the better, UPDATE_SCORES=1 writes them:\n{card}"
    );
}
