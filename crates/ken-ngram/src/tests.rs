//! Tests of an n-gram segment from its creation to its answers.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use regex_syntax::ParserBuilder;

use crate::{Builder, Bytes, Covers, Need, NgramSet, Pieces, Segment, Version, merge};

const WHOLE: Covers = Covers {
    start: true,
    whole: true,
    text: false,
};

fn version(number: usize) -> Version {
    Version {
        // Keys are hashes.
        key: (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        stamp: 7,
    }
}

/// Returns a segment of these texts, numbered from `first`.
fn built(texts: &[String], first: usize) -> Vec<u8> {
    let mut builder = Builder::default();
    let mut ngrams = NgramSet::default();
    for (number, text) in (first..).zip(texts) {
        ngrams.clear();
        ngrams.add(text.as_bytes());
        let path = format!("/texts/{number}");
        builder.add(version(number), Path::new(&path), "", WHOLE, &ngrams);
    }
    builder.finish(Vec::new()).unwrap()
}

fn open(bytes: Vec<u8>) -> Segment {
    let bytes: Bytes = Box::new(bytes);
    Segment::open(bytes).unwrap()
}

fn need(pattern: &str) -> Need {
    let mut parser = ParserBuilder::new().utf8(false).multi_line(true).build();
    Need::of(&parser.parse(pattern).unwrap())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn path_of(segment: &Segment, doc: u32) -> Option<PathBuf> {
    segment.names().path(doc).map(Path::to_path_buf)
}

/// Returns the numbers of the texts that may match.
fn found(segment: &Segment, pattern: &str) -> Vec<String> {
    let candidates = segment.candidates(&need(pattern));
    let docs = (0..segment.n_docs()).filter(|doc| candidates.contains(*doc));
    docs.map(|doc| path_of(segment, doc).unwrap().display().to_string())
        .collect()
}

#[test]
fn names_are_read_in_any_order() {
    let texts = vec![String::new(); 100];
    let segment = open(built(&texts, 0));
    let mut names = segment.names();
    let ascending = 0..100;
    let with_gaps = (0..100).step_by(7);
    let again = [99, 99, 98, 16, 15, 17, 0, 32, 47, 48];
    for doc in ascending.chain(with_gaps).chain(again) {
        let path = format!("/texts/{doc}");
        assert_eq!(names.path(doc), Some(Path::new(&path)));
    }
    assert_eq!(names.path(100), None);
    assert_eq!(names.path(5), Some(Path::new("/texts/5")));
}

#[test]
fn what_is_needed_is_found() {
    let texts = texts(&["frobnicate the widget", "FROB widgets", "gadgets", "αβγ"]);
    let segment = open(built(&texts, 0));
    assert_eq!(found(&segment, "widget"), ["/texts/0", "/texts/1"]);
    assert_eq!(found(&segment, "frob.*widget"), ["/texts/0"]);
    assert_eq!(found(&segment, "(?i)frob"), ["/texts/0", "/texts/1"]);
    assert_eq!(found(&segment, "nicate|adgets"), ["/texts/0", "/texts/2"]);
    assert_eq!(found(&segment, r"\p{Greek}"), ["/texts/3"]);
    assert_eq!(found(&segment, ".").len(), 4);
    assert!(found(&segment, "zzzzz").is_empty() && found(&segment, "[a&&b]").is_empty());
}

#[test]
fn of_very_many_strings_any_may_be_there() {
    let segment = open(built(&texts(&["quux", "zork", "frob"]), 0));
    let words = (0..5000_u32).map(|n| format!("{:08x}", n.wrapping_mul(0x9e37_79b1)));
    let words: Vec<_> = words.collect();
    assert!(found(&segment, &words[..4000].join("|")).is_empty());
    assert_eq!(found(&segment, &words.join("|")).len(), 3);
    let also = format!("zork.*({})", words.join("|"));
    assert_eq!(
        found(&segment, &also),
        ["/texts/1"],
        "what is looked up counts"
    );
}

#[test]
fn of_more_documents_more_strings_are_looked_up() {
    let texts: Vec<_> = (0..20_000).map(|n| format!("{n:05}")).collect();
    let segment = open(built(&texts, 0));
    let words: Vec<_> = (10_000..15_000).map(|n| format!("{n}x")).collect();
    assert_eq!(segment.candidates(&need(&words.join("|"))).n(), 0);
}

#[test]
fn documents_are_known_by_file_and_stamp() {
    let texts: Vec<_> = (0..1000).map(|number| format!("text {number}")).collect();
    let segment = open(built(&texts, 0));
    for number in 0..1000 {
        let rows: Vec<_> = segment.of(version(number).key).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].version, version(number));
        assert_eq!((rows[0].doc as usize, rows[0].covers), (number, WHOLE));
        let path = path_of(&segment, rows[0].doc).unwrap();
        assert_eq!(path, Path::new(&format!("/texts/{number}")));
    }
    for key in [version(1000).key, 0, u64::MAX] {
        assert_eq!(segment.of(key).count(), 0);
    }
}

#[test]
fn merged_files_keep_what_is_of_use() {
    let first = texts(&["alpha quux", "beta", "gamma quux"]);
    let second = texts(&["quux quux", "delta"]);
    let segments = [
        open(built(&first, 0)),
        open(built(&second, 3)),
        open(built(&second, 3)),
    ];
    let keep = |of: Version| of != version(2);
    let merged = open(merge(&segments, &keep, 2, Vec::new()).unwrap());
    assert_eq!(merged.n_docs(), 4, "one gone, two written twice");
    assert_eq!(found(&merged, "quux"), ["/texts/0", "/texts/3"]);
    assert_eq!(merged.of(version(2).key).count(), 0);
    let none = open(merge(&[], &keep, 2, Vec::new()).unwrap());
    assert_eq!((none.n_docs(), found(&none, "quux").len()), (0, 0));
}

#[test]
fn what_was_read_anew_is_added_by_a_merge() {
    let segments = [
        open(built(&texts(&["alpha", "quux"]), 0)),
        open(built(&texts(&["beta", "frob"]), 0)),
    ];
    let merged = open(merge(&segments, &|_| true, 2, Vec::new()).unwrap());
    assert_eq!(merged.n_docs(), 2);
    for (pattern, path) in [
        ("alpha", "/texts/0"),
        ("beta", "/texts/0"),
        ("quux", "/texts/1"),
        ("frob", "/texts/1"),
    ] {
        assert_eq!(found(&merged, pattern), [path]);
    }
}

/// Returns the numbers of the texts among a thousand that may match.
fn of_a_thousand(text: impl Fn(usize) -> String, pattern: &str) -> Vec<u32> {
    let texts: Vec<String> = (0..1000).map(text).collect();
    let segment = open(built(&texts, 0));
    let regex = regex_automata::meta::Regex::new(pattern).unwrap();
    let candidates = segment.candidates(&need(pattern));
    for (doc, text) in (0..).zip(&texts) {
        assert!(
            candidates.contains(doc) || !regex.is_match(text),
            "{pattern} in {text}"
        );
    }
    candidates.iter().collect()
}

#[test]
fn choices_are_of_all_that_have_one_of_them() {
    // Few, and so many that they are stored as bits.
    for every in [500, 90, 7] {
        let text = |n: usize| match n % every {
            0 => format!("zorkmid {n}"),
            1 => format!("frobnicate {n}"),
            _ => format!("nothing {n}"),
        };
        let expected = (0..1000).filter(|n| n % every < 2);
        let expected: Vec<u32> = expected.map(|n| n as u32).collect();
        assert_eq!(of_a_thousand(text, "frobnicate|zorkmid|quux"), expected);
    }
}

#[test]
fn many_strings_of_which_each_is_rare_narrow() {
    // Two hundred, each in one of a hundred texts: if their numbers were added, all texts would
    // have one.
    let text = |n: usize| match n % 4 {
        0 => (0..8)
            .map(|k| format!("<{:02x}{}> ", (n / 4 + 31 * k) % 200, n % 2))
            .collect(),
        _ => format!("text {n} without any"),
    };
    let words: Vec<String> = (0..200).map(|word| format!("<{word:02x}[01]>")).collect();
    let found = of_a_thousand(text, &words.join("|"));
    assert_eq!(found.len(), 250);
}

#[test]
fn patterns_beside_each_other_are_looked_up_as_well_as_one() {
    let words = ["zqwvxkqj", "vbczdbwj", "fzbxffxv", "dbzwqcwq", "kjwqhxzz"];
    for n in 1..=words.len() {
        let patterns = words[..n].iter().map(|word| format!("(?i:{word}\\d)"));
        let pattern = patterns.collect::<Vec<_>>().join("|");
        let text = |n: usize| format!("{}{}", words[n % 5], if n < 5 { "7" } else { "-" });
        let found = of_a_thousand(text, &pattern);
        assert!(found.len() < 500, "{n} patterns: {}", found.len());
    }
}

#[test]
fn files_of_documents_that_are_not_covered_leave_nothing_out() {
    let mut ngrams = NgramSet::default();
    let mut noise = Vec::new();
    let mut random = fastrand::Rng::with_seed(1);
    while ngrams.ngrams().is_some() {
        noise.clear();
        noise.extend((0..1 << 20).map(|_| random.u8(1..)));
        ngrams.add(&noise);
    }
    let mut builder = Builder::default();
    builder.add(version(0), Path::new("/noise"), "", WHOLE, &ngrams);
    let segment = open(builder.finish(Vec::new()).unwrap());
    assert_eq!(
        segment.of(version(0).key).next().unwrap().covers,
        Covers::default()
    );
}

#[test]
fn a_list_that_is_shorter_than_it_says_takes_none_from_others() {
    let texts = texts(&["quux"; 300]);
    let mut damaged = built(&texts[..100], 0);
    // `quux` has two lists of 100 bits each; now their first document is beyond the last one.
    damaged[..26].fill(0xff);
    let segments = [open(damaged), open(built(&texts[100..], 100))];
    let merged = open(merge(&segments, &|_| true, 1, Vec::new()).unwrap());
    let found = found(&merged, "quux");
    assert!((100..300).all(|number| found.contains(&format!("/texts/{number}"))));
}

/// Returns a segment of some small texts, and of a large one in pieces.
fn with_pieces() -> Vec<u8> {
    let mut builder = Builder::default();
    for number in 0..20 {
        let mut ngrams = NgramSet::default();
        ngrams.add(format!("text {number} of quux").as_bytes());
        let path = format!("/texts/{number}");
        builder.add(version(number), Path::new(&path), "", WHOLE, &ngrams);
    }
    let mut ngrams = NgramSet::default();
    let mut pieces = Pieces::with_ngrams(1 << 20);
    for number in 0..9 {
        let line = format!("line {number} of zork\n").repeat(1000);
        pieces.add(line.as_bytes(), &mut ngrams);
    }
    pieces.end(&mut ngrams);
    assert!(pieces.pieces().len() > 3);
    builder.add(version(20), Path::new("/large"), "", WHOLE, &ngrams);
    builder.pieces(&pieces);
    builder.finish(Vec::new()).unwrap()
}

#[test]
fn no_changed_byte_makes_an_answer_wrong() {
    let bytes = with_pieces();
    let sound = open(bytes.clone());
    let needs = ["quux", "line 5 ", "text 7|zork", "text 1[0-9]"].map(need);
    let expected = needs.each_ref().map(|need| sound.candidates(need));
    let rows_of = |segment: &Segment, number| segment.of(version(number).key).collect::<Vec<_>>();
    let pieces_of = |segment: &Segment, doc| segment.pieces(doc).collect::<Vec<_>>();
    let mut n_damaged = 0;
    for at in 0..bytes.len() {
        for change in [1 << (at % 8), 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            let Some(segment) = Segment::open(Box::new(bytes)) else {
                continue;
            };
            assert!(!segment.is_sound(), "{at}");
            for (need, expected) in needs.iter().zip(&expected) {
                let found = segment.candidates(need);
                assert!(expected.iter().all(|doc| found.contains(doc)), "{at}");
            }
            for number in 0..21 {
                let rows = rows_of(&segment, number);
                assert!(rows.is_empty() || rows == rows_of(&sound, number), "{at}");
            }
            for doc in 0..sound.n_docs() {
                let pieces = pieces_of(&segment, doc);
                assert!(
                    pieces.is_empty() || pieces == pieces_of(&sound, doc),
                    "{at}"
                );
                let path = path_of(&segment, doc);
                assert!(path.is_none() || path == path_of(&sound, doc), "{at}");
            }
            n_damaged += usize::from(segment.is_damaged());
        }
    }
    assert!(
        n_damaged > bytes.len(),
        "{n_damaged} of {}",
        2 * bytes.len()
    );
}

#[test]
fn segments_of_the_former_format_are_read() {
    let bytes = built(&texts(&["quux", "zork"]), 0);
    // As they were: without sums, and with a checksum of everything.
    let numbers: Vec<u64> = bytes[bytes.len() - 88..]
        .chunks(8)
        .map(|number| u64::from_le_bytes(number.try_into().unwrap()))
        .collect();
    let mut former = bytes[..numbers[7] as usize].to_vec();
    for number in numbers[..7].iter().chain([&numbers[8]]) {
        former.extend_from_slice(&number.to_le_bytes());
    }
    former.extend_from_slice(&u64::from(crc32fast::hash(&former)).to_le_bytes());
    former.extend_from_slice(b"kengram3");
    let segment = open(former.clone());
    assert!(segment.is_sound() && segment.has_sound_rows());
    assert_eq!(found(&segment, "quux"), ["/texts/0"]);
    let merged = merge(&[segment], &|_| true, 1, Vec::new()).unwrap();
    assert_eq!(merged, bytes);
    former[0] ^= 1;
    assert!(!open(former).is_sound());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn what_is_left_out_does_not_match(
        pattern in r"(\(\?i\))?([a-c]{2,6}|\[a-c\]|\.|(\(abc\|c[d-e]{2}a?\|\)|the |[kS]|ß)(\*|\+|\?|)){1,5}",
        texts in prop::collection::vec(r"([a-eA-E]{1,6}|abc|the | |kK|ſ|ß|\n){0,20}", 1..40),
    ) {
        let Ok(regex) = regex_automata::meta::Regex::new(&pattern) else { return Ok(()) };
        let segment = open(built(&texts, 0));
        let candidates = segment.candidates(&need(&pattern));
        for (doc, text) in (0..).zip(&texts) {
            prop_assert!(candidates.contains(doc) || !regex.is_match(text.as_bytes()));
        }
    }

    #[test]
    fn merged_files_are_as_if_they_were_built_at_once(
        texts in prop::collection::vec(r"([a-eA-E]{1,6}|abc|the | |αβ|\n){0,20}", 0..40),
        part: prop::sample::Index,
        n_twice in 0..3_usize,
    ) {
        // Some are in both segments.
        let end = part.index(texts.len() + 1);
        let start = end.saturating_sub(n_twice);
        let segments = [open(built(&texts[..end], 0)), open(built(&texts[start..], start))];
        for threads in [1, 3] {
            let merged = merge(&segments, &|_| true, threads, Vec::new()).unwrap();
            prop_assert_eq!(merged, built(&texts, 0));
        }
    }

    #[test]
    fn damaged_files_are_survived(
        at: prop::sample::Index,
        // With any byte, or with the largest possible number.
        damage in prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            Just(vec![0xff, 0xff, 0xff, 0xff, 0x0f]),
        ],
        cut: prop::sample::Index,
    ) {
        let texts: Vec<_> = (0..100).map(|number| format!("text {number} of quux")).collect();
        let mut bytes = built(&texts, 0);
        let offset = at.index(bytes.len() - damage.len());
        bytes[offset..offset + damage.len()].copy_from_slice(&damage);
        for bytes in [bytes[..cut.index(bytes.len())].to_vec(), bytes] {
            let Some(segment) = Segment::open(Box::new(bytes)) else { continue };
            found_any(&segment);
            let sound: Vec<_> = (100..110).map(|number| format!("{number} more quux")).collect();
            let segments = [segment, open(built(&sound, 100))];
            let merged = open(merge(&segments, &|_| true, 2, Vec::new()).unwrap());
            let candidates = merged.candidates(&need("quux"));
            for number in 100..110 {
                let docs: Vec<_> = merged.of(version(number).key).map(|row| row.doc).collect();
                prop_assert!(docs.len() == 1 && candidates.contains(docs[0]));
            }
        }
    }
}

fn found_any(segment: &Segment) {
    let candidates = segment.candidates(&need("text|quux 7"));
    for doc in 0..segment.n_docs().min(1000) {
        candidates.contains(doc);
        path_of(segment, doc);
    }
    for number in 0..100 {
        segment.of(version(number).key).count();
    }
}
