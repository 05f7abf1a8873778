//! Looking up terms from many threads, as Minion's authors measured their dictionary.
//!
//! `bench/run dictionary` starts it beside programs of the same sort for Xapian and Lucene; all
//! print one object of JSON a line. The look-up is that of ken's queries.
//!
//! ```text
//! dictionary export INDEX FIELD TERMS        write the terms of a field, one a line
//! dictionary grow TERMS N INDEX NEW_TERMS    N terms: those, and pairs of them; index them
//! dictionary sample TERMS HITS HALF          10,000 terms; half of them, and as many absent ones
//! dictionary run INDEX FIELD TERMS HITS HALF THREADS…   ken, and a plain fst of the same terms
//! dictionary loop INDEX FIELD HITS THREADS ROUNDS       only look up, for strace and perf
//! ```

#![allow(clippy::print_stdout, clippy::disallowed_methods, missing_docs)] // a program of its own

use std::collections::HashSet;
use std::io::{BufRead, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use ken_core::{Document, Field, Ipath, Kind, Location, Pattern};
use ken_engine::{FileState, Record, Sink, Source, TermList};
use ken_index::{Snapshot, Writer, WriterOptions};
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const SAMPLE: usize = 10_000;
/// Look-ups of one measurement, over all threads.
const LOOKUPS: usize = 4_000_000;
/// Values of one document of the index that is grown.
const VALUES: usize = 9_000;

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["export", index, field, terms] => export(index, field, terms),
        ["grow", terms, count, index, new] => grow(terms, number(count), index, new),
        ["sample", terms, hits, half] => sample(terms, hits, half),
        ["run", index, field, terms, hits, half, threads @ ..] => {
            let threads: Vec<usize> = threads.iter().map(|text| number(text)).collect();
            run(
                index,
                field,
                terms,
                &[("hits", hits), ("half", half)],
                &threads,
            );
        }
        ["loop", index, field, hits, threads, rounds] => {
            let snapshot = Snapshot::open(Path::new(index)).unwrap();
            let field = Field::from_name(field).unwrap();
            let look_up = |term: &str| snapshot.terms().n_documents_with(field, term).unwrap() > 0;
            throughput(&look_up, &lines(hits), number(threads), number(rounds));
        }
        // `cargo test` and `cargo bench` start it without arguments.
        _ => println!("see bench/README.md: bench/run dictionary"),
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap()
}

fn lines(path: &str) -> Vec<String> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    file.lines().map(Result::unwrap).collect()
}

fn write_lines<'a>(path: &str, lines: impl Iterator<Item = &'a str>) {
    let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    file.flush().unwrap();
}

fn export(index: &str, field: &str, terms: &str) {
    let snapshot = Snapshot::open(Path::new(index)).unwrap();
    let list = TermList {
        fields: &[Field::from_name(field).unwrap()],
        pattern: &Pattern::Prefix(String::new()),
        limits: None,
        by_field: false,
    };
    let mut file = BufWriter::new(std::fs::File::create(terms).unwrap());
    let start = Instant::now();
    let mut count = 0;
    let mut each = |term: ken_engine::TermCount<'_>| {
        count += 1;
        writeln!(file, "{}", term.term).unwrap();
        ControlFlow::Continue(())
    };
    snapshot.terms().list(&list, &mut each).unwrap();
    file.flush().unwrap();
    println!(
        "{}",
        json!({"exported": count, "seconds": start.elapsed().as_secs_f64()})
    );
}

/// Makes an index of as many terms: the real ones, and pairs of them as identifiers have them.
fn grow(terms: &str, count: usize, index: &str, new: &str) {
    let real = lines(terms);
    let mut all: HashSet<String> = real.iter().take(count).cloned().collect();
    let mut random = Random(1);
    while all.len() < count {
        let mut word = || &real[random.below(real.len())];
        all.insert(format!("{}_{}", word(), word()));
    }
    let mut all: Vec<String> = all.into_iter().collect();
    // Sorted first, so that the order does not depend on the set's own.
    all.sort_unstable();
    write_lines(new, all.iter().map(String::as_str));
    random.shuffle(&mut all);
    let options = WriterOptions {
        memory_bytes: 512 << 20,
        threads: 1,
    };
    let writer = Writer::open(Path::new(index), options).unwrap();
    for (at, values) in all.chunks(VALUES).enumerate() {
        let path = format!("/{at}");
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        for value in values {
            document.add_text(Field::Msgid, value);
        }
        let record = Record {
            location: Location {
                path: path.clone().into(),
                ipath: Ipath::root(),
            },
            key: writer.meta().hasher.key(Path::new(&path)),
            state: Some(FileState {
                token: ken_core::Token::from_number(1),
                identity: 1,
            }),
            document,
        };
        writer.add(record).unwrap();
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
}

fn sample(terms: &str, hits: &str, half: &str) {
    let terms = lines(terms);
    let mut random = Random(2);
    let mut some: Vec<&str> = Vec::with_capacity(SAMPLE);
    while some.len() < SAMPLE {
        some.push(&terms[random.below(terms.len())]);
    }
    write_lines(hits, some.iter().copied());
    // Absent terms are real ones with a letter changed, so that a look-up goes some way.
    let mut changed: Vec<String> = Vec::with_capacity(SAMPLE / 2);
    while changed.len() < SAMPLE / 2 {
        let mut letters: Vec<char> = terms[random.below(terms.len())].chars().collect();
        let at = random.below(letters.len());
        letters[at] = char::from(b'a' + random.below(26) as u8);
        let word: String = letters.into_iter().collect();
        if terms.binary_search(&word).is_err() {
            changed.push(word);
        }
    }
    let present = some.iter().copied().take(SAMPLE / 2);
    write_lines(half, present.chain(changed.iter().map(String::as_str)));
}

fn run(index: &str, field: &str, terms: &str, sets: &[(&str, &str)], threads: &[usize]) {
    let snapshot = Snapshot::open(Path::new(index)).unwrap();
    let field = Field::from_name(field).unwrap();
    let look_up = |term: &str| snapshot.terms().n_documents_with(field, term).unwrap() > 0;
    let segments = snapshot.statistics().unwrap().segments;
    let terms = lines(terms);
    let facts = |program: &str, n| json!({"program": program, "segments": n, "terms": terms.len()});
    measure(&facts("ken", segments), &look_up, sets, threads);
    let numbered = terms.iter().enumerate();
    let map = tantivy_fst::Map::from_iter(numbered.map(|(at, term)| (term, at as u64))).unwrap();
    let in_map = |term: &str| map.get(term).is_some();
    measure(&facts("fst", 1), &in_map, sets, threads);
}

/// Measures a way to look up with each number of threads, and prints what it found.
fn measure(
    facts: &serde_json::Value,
    look_up: &(dyn Fn(&str) -> bool + Sync),
    sets: &[(&str, &str)],
    threads: &[usize],
) {
    for (set, path) in sets {
        let terms = lines(path);
        let found = terms.iter().filter(|term| look_up(term)).count();
        // Once more, now that everything is open.
        let region = Region::new(ALLOCATOR);
        let again = terms.iter().filter(|term| look_up(term)).count();
        let allocations = region.change().allocations;
        assert_eq!(found, again);
        for n in threads {
            let rounds = (LOOKUPS / SAMPLE / n).max(1);
            let rate = throughput(look_up, &terms, *n, rounds);
            let latency = latencies(look_up, &terms, *n);
            let mut line = facts.clone();
            line["set"] = json!(set);
            line["found"] = json!(found);
            line["allocations"] = json!(allocations);
            line["threads"] = json!(n);
            line["lookups_per_second"] = json!(rate.per_second);
            line["cpu_ns"] = json!(rate.cpu_ns);
            line["mean_ns"] = json!(latency.0);
            line["p99_ns"] = json!(latency.1);
            println!("{line}");
        }
    }
}

struct Rate {
    per_second: f64,
    /// Time on a processor of one look-up.
    cpu_ns: f64,
}

/// Lets each thread look up all terms in an order of its own, over and over.
fn throughput(
    look_up: &(dyn Fn(&str) -> bool + Sync),
    terms: &[String],
    threads: usize,
    rounds: usize,
) -> Rate {
    let barrier = Barrier::new(threads);
    let one = &|seed| {
        let order = shuffled(terms, seed);
        barrier.wait();
        let (start, cpu) = (Instant::now(), cpu_ns());
        let mut found = 0;
        for _ in 0..rounds {
            found += order.iter().filter(|term| look_up(term)).count();
        }
        std::hint::black_box(found);
        (start, Instant::now(), cpu_ns() - cpu)
    };
    let measured: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|seed| scope.spawn(move || one(seed)))
            .collect();
        running.into_iter().map(|of| of.join().unwrap()).collect()
    });
    // From the first start to the last end: all threads are under way by then.
    let start = measured.iter().map(|of| of.0).min().unwrap();
    let end = measured.iter().map(|of| of.1).max().unwrap();
    let wall = (end - start).as_secs_f64();
    let cpu: f64 = measured.iter().map(|of| of.2).sum();
    let lookups = (threads * rounds * terms.len()) as f64;
    Rate {
        per_second: (lookups / wall).round(),
        cpu_ns: (cpu / lookups).round(),
    }
}

/// Returns mean and 99th percentile of single look-ups, by the clock, reading which is part of it.
fn latencies(
    look_up: &(dyn Fn(&str) -> bool + Sync),
    terms: &[String],
    threads: usize,
) -> (f64, u64) {
    let barrier = Barrier::new(threads);
    let one = &|seed| {
        let order = shuffled(terms, seed);
        let mut times = Vec::with_capacity(order.len());
        barrier.wait();
        for term in order {
            let start = Instant::now();
            std::hint::black_box(look_up(term));
            times.push(start.elapsed().as_nanos() as u64);
        }
        times
    };
    let mut all: Vec<u64> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|seed| scope.spawn(move || one(seed)))
            .collect();
        running
            .into_iter()
            .flat_map(|of| of.join().unwrap())
            .collect()
    });
    all.sort_unstable();
    let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
    (mean.round(), all[all.len() * 99 / 100])
}

fn shuffled(terms: &[String], seed: usize) -> Vec<&str> {
    let mut order: Vec<&str> = terms.iter().map(String::as_str).collect();
    Random(seed as u64 + 100).shuffle(&mut order);
    order
}

/// Returns the time that this thread has been on a processor; 0 where the kernel does not say.
fn cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    first.unwrap_or(0.0)
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

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
