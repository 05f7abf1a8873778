//! The score card: queries that each mean a known document, in a home of mail, documents and source code.
//!
//! `bench/lib/home.py` makes the home; here it has fewer files than in `bench/run known`, which
//! asks Recoll as well. `known_items/scores.txt` holds the rank at which each document is found, so
//! a change of ranking is a diff of it. `UPDATE_SCORES=1 cargo test -p ken-cli --test e2e known_items`
//! writes it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::layout::workspace;
use crate::world::World;

/// The last rank that is looked at.
const DEPTH: &str = "20";
/// The share of the files not written by hand that the home has.
const SHARE: &str = "0.2";
const N_THREADS: usize = 2;

/// A query, the kind of query it is, and the documents of which one is meant.
struct Query<'a> {
    class: &'a str,
    words: &'a str,
    wanted: Vec<&'a str>,
}

/// How well the queries of a class are answered.
#[derive(Default)]
struct Score {
    n_queries: usize,
    n_first: usize,
    n_first_five: usize,
    n_missing: usize,
    reciprocal: f64,
}

#[test]
fn the_score_card_is_as_it_was() {
    let world = World::new();
    // One segment: how documents are spread over several changes their weights a little.
    world.configure("threads = 1");
    fill(&world.docs());
    world.index_docs();
    let queries = fs_err::read_to_string(folder().join("queries.tsv")).unwrap();
    let queries: Vec<Query<'_>> = queries.lines().map(Query::read).collect();
    assert!(queries.len() >= 150);
    for path in queries.iter().flat_map(|query| &query.wanted) {
        assert!(world.docs().join(path).exists(), "{path}");
    }
    let card = card(&queries, &ranks(&world, &queries));
    let golden = folder().join("scores.txt");
    if std::env::var_os("UPDATE_SCORES").is_some() {
        fs_err::write(&golden, &card).unwrap();
    }
    let expected = fs_err::read_to_string(&golden).unwrap_or_default();
    assert!(
        card == expected,
        "ranks changed; if for the better, UPDATE_SCORES=1 writes them:\n{}",
        changes(&expected, &card)
    );
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known_items")
}

/// Makes the home.
fn fill(home: &Path) {
    let status = Command::new("python3")
        .args(["-B", "-m", "lib.home"])
        .args([home.as_os_str(), SHARE.as_ref()])
        .current_dir(workspace().join("bench"))
        .status()
        .expect("python3, which scripts/setup installs");
    assert!(status.success());
}

impl<'a> Query<'a> {
    fn read(line: &'a str) -> Self {
        let mut cells = line.split('\t');
        Self {
            class: cells.next().unwrap(),
            words: cells.next().unwrap(),
            wanted: cells.collect(),
        }
    }

    /// Returns the rank of the first document that is meant.
    fn rank(&self, world: &World) -> Option<usize> {
        let run = world.ken(["search", "--json", "-n", DEPTH, "--", self.words]);
        assert!(run.code < 2, "{}: {}", self.words, run.err);
        let mut hits = run.objects();
        hits.retain(|object| object["path"].is_string());
        let is_wanted = |location: String| self.wanted.contains(&location.as_str());
        let position = hits.iter().position(|hit| is_wanted(world.location(hit)))?;
        Some(position + 1)
    }
}

/// Returns the rank of each query.
fn ranks(world: &World, queries: &[Query<'_>]) -> Vec<Option<usize>> {
    let chunks = queries.chunks(queries.len().div_ceil(N_THREADS));
    thread::scope(|scope| {
        let ask = |chunk: &'_ [Query<'_>]| chunk.iter().map(|query| query.rank(world)).collect();
        let threads: Vec<_> = chunks
            .map(|chunk| scope.spawn(move || -> Vec<_> { ask(chunk) }))
            .collect();
        let answers = threads.into_iter().map(|thread| thread.join().unwrap());
        answers.flatten().collect()
    })
}

/// Writes the figures of each class, then the rank of each query.
fn card(queries: &[Query<'_>], ranks: &[Option<usize>]) -> String {
    let mut classes: Vec<&str> = queries.iter().map(|query| query.class).collect();
    classes.dedup();
    classes.push("all");
    let mut card = "class      queries  first  first five    MRR  not found\n".to_owned();
    for class in classes {
        let mut score = Score::default();
        for (query, rank) in queries.iter().zip(ranks) {
            if class == "all" || class == query.class {
                score.add(*rank);
            }
        }
        score.write(class, &mut card);
    }
    card.push('\n');
    for (query, rank) in queries.iter().zip(ranks) {
        let rank = rank.map_or("-".to_owned(), |rank| rank.to_string());
        writeln!(card, "{rank}\t{}\t{}", query.class, query.words).unwrap();
    }
    card
}

impl Score {
    fn add(&mut self, rank: Option<usize>) {
        self.n_queries += 1;
        self.n_first += usize::from(rank == Some(1));
        self.n_first_five += usize::from(rank.is_some_and(|rank| rank <= 5));
        self.n_missing += usize::from(rank.is_none());
        self.reciprocal += rank.map_or(0.0, |rank| 1.0 / rank as f64);
    }

    fn write(&self, class: &str, card: &mut String) {
        let share = |count: f64| count / self.n_queries as f64;
        let (n_queries, n_missing) = (self.n_queries, self.n_missing);
        let first = share(self.n_first as f64);
        let first_five = share(self.n_first_five as f64);
        let mrr = share(self.reciprocal);
        writeln!(
            card,
            "{class:9} {n_queries:8}  {first:5.3}  {first_five:10.3}  {mrr:5.3}  {n_missing:9}"
        )
        .unwrap();
    }
}

/// Returns the lines that differ, marked with - and +.
fn changes(expected: &str, card: &str) -> String {
    let lines = |text: &str, other: &str, mark: char| -> String {
        let is_new = |line: &&str| !other.lines().any(|known| known == *line);
        let marked = text.lines().filter(is_new);
        marked.map(|line| format!("{mark} {line}\n")).collect()
    };
    lines(expected, card, '-') + &lines(card, expected, '+')
}
