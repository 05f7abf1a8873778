//! Measures how long queries take in one process: hundreds of each kind, made from the contents of the index.
//!
//! `bench/run latency` starts it.
//!
//! ```text
//! latency sample INDEX COUNT    write queries: kind, order and query, separated by tabs
//! latency run INDEX QUERIES   run them; one object of JSON for each kind
//! ```

#![allow(clippy::print_stdout, clippy::disallowed_methods, missing_docs)] // a program of its own

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::tz::TimeZone;
use ken_core::{Field, Order, Pattern, Plan, SortKey};
use ken_engine::{FacetBy, Request, Source, TermList};
use ken_index::Snapshot;
use ken_search::parse::parse;
use ken_search::plan::{Context, plan};
use ken_search::snippet::{self, Finder};
use serde_json::json;

/// Classes of terms by the number of documents.
const CLASSES: [(&str, std::ops::Range<u64>); 3] = [
    ("rare", 2..20),
    ("common", 200..2_000),
    ("frequent", 20_000..u64::MAX),
];
/// The number of times that each query runs; the median counts.
const ROUNDS: usize = 5;
const PAGE: usize = 10;

fn main() {
    let args: Vec<String> = std::env::args().filter(|a| a != "--bench").collect();
    let args: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    match args.as_slice() {
        ["sample", index, count] => sample(Path::new(index), count.parse().unwrap()),
        ["run", index, queries] => run(Path::new(index), queries),
        // `cargo test` and `cargo bench` start it without arguments.
        _ => println!("see bench/README.md: bench/run latency"),
    }
}

fn sample(index: &Path, count: usize) {
    let snapshot = Snapshot::open(index).unwrap();
    let mut random = Random(3);
    let classes = terms_by_class(&snapshot, Field::Body);
    let titles: Vec<String> = terms_by_class(&snapshot, Field::Title).concat();
    let texts = texts(&snapshot, count, &mut random);
    for number in 0..count {
        let class = number % CLASSES.len();
        let word = random.pick(&classes[class]).clone();
        let other = random.pick(&classes[2]);
        let name = CLASSES[class].0;
        let ask = |kind: &str, order: &str, query: String| println!("{kind}\t{order}\t{query}");
        ask(&format!("term, {name}"), "relevance", word.clone());
        let words: Vec<&str> = random.pick(&texts).split(' ').collect();
        let at = random.below(words.len() - 3);
        let (a, b) = (
            words[at],
            words[at + 2 + random.below(words.len() - at - 2)],
        );
        ask("two words", "relevance", format!("{a} {b}"));
        ask(
            "phrase",
            "relevance",
            format!("\"{} {}\"", words[at], words[at + 1]),
        );
        let start: String = word.chars().take(3 + random.below(3)).collect();
        ask("prefix", "relevance", format!("{start}*"));
        ask("wildcard", "relevance", wildcard(&word, &mut random));
        ask("fuzzy", "relevance", format!("{word}~"));
        ask(
            "field",
            "relevance",
            format!("title:{}", random.pick(&titles)),
        );
        let year = 2000 + random.below(20);
        ask(
            "date range",
            "relevance",
            format!("{other} date:{year}..{}", year + 1),
        );
        ask("sort by date", "date", other.clone());
        ask("facets", "facets", word);
    }
}

/// Returns the words of a field in classes by the number of documents.
fn terms_by_class(snapshot: &dyn Source, field: Field) -> [Vec<String>; 3] {
    let mut classes = [const { Vec::new() }; 3];
    let list = TermList {
        fields: &[field],
        pattern: &Pattern::Prefix(String::new()),
        limits: None,
        by_field: false,
    };
    let mut each = |count: ken_engine::TermCount<'_>| {
        let letters = count.term.chars().count();
        let is_word = (3..15).contains(&letters) && count.term.chars().all(char::is_alphabetic);
        let class = CLASSES
            .iter()
            .position(|(_, n)| n.contains(&count.documents));
        if let Some(class) = class.filter(|_| is_word) {
            classes[class].push(count.term.to_owned());
        }
        ControlFlow::Continue(())
    };
    snapshot.terms().list(&list, &mut each).unwrap();
    classes
}

/// Returns stretches of text, of words and spaces only, from documents all over the index.
fn texts(snapshot: &dyn Source, count: usize, random: &mut Random) -> Vec<String> {
    let every = Request {
        order: Order {
            key: SortKey::Path,
            reverse: false,
        },
        ..Request::new(&Plan::All)
    };
    let found = snapshot.find(&every).unwrap();
    let mut texts = Vec::new();
    while texts.len() < count {
        let hit = random.pick(&found.hits);
        let body = snapshot.document(hit.address).unwrap().document.body;
        let words = body.split(|c: char| !c.is_alphabetic());
        let words: Vec<&str> = words
            .filter(|word| word.chars().count() > 2)
            .take(200)
            .collect();
        if words.len() > 20 {
            texts.push(words.join(" "));
        }
    }
    texts
}

/// Returns a word with a star or a question mark instead of some letters, but never the first three.
fn wildcard(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = (1 + random.below(letters.len().max(3) - 2)).min(letters.len() - 1);
    letters[at] = if random.below(2) == 0 { '*' } else { '?' };
    letters.into_iter().collect::<String>() + "e"
}

fn run(index: &Path, queries: &str) {
    let text = std::fs::read_to_string(queries).unwrap();
    let snapshot = Snapshot::open(index).unwrap();
    let context = Context {
        now: jiff::Timestamp::now(),
        zone: TimeZone::system(),
        month_first: false,
        home: None,
        cwd: PathBuf::from("/"),
        mail_root: None,
        own_addresses: Vec::new(),
        roots: Vec::new(),
        analyze: |field, text, each| ken_index::analysis::analyze(field, text, each),
        synonyms: std::sync::Arc::default(),
    };
    let mut kinds: BTreeMap<&str, Vec<Timed>> = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, '\t');
        let (kind, order, query) = (
            parts.next().unwrap(),
            parts.next().unwrap(),
            parts.next().unwrap(),
        );
        kinds
            .entry(kind)
            .or_default()
            .push(ask(&snapshot, &context, order, query));
    }
    for (kind, timed) in kinds {
        report(kind, timed, snapshot.n_documents());
    }
}

struct Timed {
    query: String,
    /// From the text of the query to the numbers of its ten best documents.
    found_ms: f64,
    /// The same, with these documents and their snippets.
    shown_ms: f64,
    total: usize,
}

fn ask(snapshot: &dyn Source, context: &Context, order: &str, query: &str) -> Timed {
    let (mut found_ms, mut shown_ms, mut total) = (Vec::new(), Vec::new(), 0);
    // The first round is not measured: it brings pages of the index into memory.
    for _ in 0..=ROUNDS {
        let start = Instant::now();
        let tree = parse(query).unwrap();
        let plan = snapshot.expand(&plan(&tree, context), None).unwrap();
        let key = if order == "date" {
            SortKey::DATE
        } else {
            SortKey::Relevance
        };
        let request = Request {
            order: Order {
                key,
                reverse: false,
            },
            limit: PAGE,
            ..Request::new(&plan)
        };
        let found = snapshot.find(&request).unwrap();
        if order == "facets" {
            let by = [FacetBy::Values(Field::Type), FacetBy::Values(Field::Ext)];
            std::hint::black_box(snapshot.facets(&request, &by).unwrap());
        }
        found_ms.push(start.elapsed().as_secs_f64() * 1e3);
        let finder = Finder::new(snippet::matchers(&plan, Field::Body), context.analyze);
        for hit in &found.hits {
            let stored = snapshot.document(hit.address).unwrap();
            let body = &stored.document.body;
            let settings = snippet::Settings::default();
            std::hint::black_box(finder.fragments(body, settings));
        }
        shown_ms.push(start.elapsed().as_secs_f64() * 1e3);
        total = found.total;
    }
    Timed {
        query: query.to_owned(),
        found_ms: median(&mut found_ms[1..]),
        shown_ms: median(&mut shown_ms[1..]),
        total,
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn report(kind: &str, mut timed: Vec<Timed>, documents: u64) {
    let at = |values: &[f64], share: usize| values[(values.len() - 1) * share / 100];
    let mut shown: Vec<f64> = timed.iter().map(|of| of.shown_ms).collect();
    shown.sort_by(f64::total_cmp);
    timed.sort_by(|a, b| a.found_ms.total_cmp(&b.found_ms));
    let found: Vec<f64> = timed.iter().map(|of| of.found_ms).collect();
    let slowest = timed.last().unwrap();
    let empty = timed.iter().filter(|of| of.total == 0).count();
    let line = json!({
        "kind": kind, "documents": documents, "questions": timed.len(), "empty": empty,
        "median_ms": at(&found, 50), "p99_ms": at(&found, 99), "max_ms": slowest.found_ms,
        "shown_median_ms": at(&shown, 50), "shown_p99_ms": at(&shown, 99),
        "slowest": slowest.query, "slowest_total": slowest.total,
    });
    println!("{line}");
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
