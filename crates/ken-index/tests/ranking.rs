//! The order of hits by relevance: among equals, by words close together, by age.

use std::path::Path;

use ken_core::{Document, Field, Ipath, Kind, Location, Pattern, Plan, Ranking, Span, Word};
use ken_engine::{Collapse, FileState, Hit, Record, Request, Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};
use proptest::prelude::*;
use tempfile::TempDir;

const DAY: i64 = 86_400;

/// A path, a text, a date.
type Row = (String, String, i64);

/// Each list of rows in a segment of its own.
fn index(segments: &[Vec<Row>]) -> (TempDir, Snapshot) {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions {
        memory_bytes: 30 << 20,
        threads: 1,
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    for rows in segments {
        for (path, text, date) in rows {
            let mut document = Document::new(Ipath::default(), "text/plain", Kind::Document);
            document.add_number(Field::Date, *date);
            document.body.clone_from(text);
            let record = Record {
                location: Location {
                    path: path.into(),
                    ipath: Ipath::default(),
                },
                key: writer.meta().hasher.key(Path::new(path)),
                state: Some(FileState {
                    token: ken_core::Token::from_number(7),
                    identity: 8,
                }),
                document,
            };
            writer.add(record).unwrap();
        }
        writer.commit(&writer.meta().clone()).unwrap();
    }
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    (folder, snapshot)
}

fn row(path: &str, text: &str, date: i64) -> Row {
    (path.to_owned(), text.to_owned(), date)
}

fn words(text: &str) -> Vec<Plan> {
    let word = |word: &str| {
        let pattern = Pattern::Term(word.to_owned());
        Plan::Word(Word::new(None, Span::Match(pattern)))
    };
    text.split(' ').map(word).collect()
}

fn paths(snapshot: &dyn Source, request: &Request<'_>) -> Vec<String> {
    let hits = snapshot.find(request).unwrap().hits;
    let path = |hit: &Hit| snapshot.location(hit.address).unwrap().path;
    let paths = hits.iter().map(path);
    paths.map(|path| path.display().to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Documents of the same text come by their paths, in whatever segment and order they stand.
    #[test]
    fn equals_come_by_their_paths(
        documents in prop::collection::vec((0..4_usize, any::<u16>(), 0..3_usize), 1..60),
        limit in 1..20_usize,
        is_any: bool,
    ) {
        let texts = ["red", "red green red blue", "green blue green blue sky sky sky"];
        let mut segments = vec![Vec::new(); 4];
        for (number, (segment, path, text)) in documents.iter().enumerate() {
            segments[*segment].push(row(&format!("/{path:05}-{number}"), texts[*text], 0));
        }
        segments.retain(|rows| !rows.is_empty());
        let (_folder, snapshot) = index(&segments);
        let list = if is_any { Plan::Or } else { Plan::And };
        for plan in [list(words("red green blue")), list(words("green blue")), Plan::All] {
            let all = Request::new(&plan);
            let found = snapshot.find(&all).unwrap().hits;
            let scores: Vec<f32> = found.iter().map(|hit| hit.score.unwrap()).collect();
            prop_assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
            let paths_of_all = paths(&snapshot, &all);
            for pair in scores.iter().zip(&paths_of_all).collect::<Vec<_>>().windows(2) {
                prop_assert!(pair[0].0 > pair[1].0 || pair[0].1 < pair[1].1, "{pair:?}");
            }
            for offset in [0, 7] {
                let page = paths(&snapshot, &Request { offset, limit, ..all });
                let expected = paths_of_all.iter().skip(offset).take(limit);
                prop_assert_eq!(page, expected.cloned().collect::<Vec<_>>());
            }
        }
    }
}

/// What cannot be among the best is passed over only where nobody asks how many documents there are.
#[test]
fn the_best_are_the_same_if_they_are_not_counted() {
    let mut segments = vec![Vec::new(); 3];
    for number in 0..900_usize {
        let text = ["red ", "green ", "blue sky ", "red green "];
        let text: String = (0..number * 13 % 17 + 1)
            .map(|word| text[(number + word * word) % 4])
            .collect();
        segments[number % 3].push(row(&format!("/{number:03}"), &text, 0));
    }
    let (_folder, snapshot) = index(&segments);
    let term = |word: &str| Pattern::Term(word.to_owned());
    let phrase = Span::Phrase(vec![(0, term("red")), (1, term("green"))]);
    let phrase = Plan::Word(Word::new(None, phrase));
    for plan in [
        phrase.clone(),
        Plan::Or(words("red sky")),
        Plan::And(words("red green")),
        Plan::And([words("sky"), vec![phrase]].concat()),
    ] {
        let counted = Request {
            limit: 10,
            ..Request::new(&plan)
        };
        let all = snapshot.find(&counted).unwrap();
        let best = snapshot
            .find(&Request {
                counted: false,
                ..counted
            })
            .unwrap();
        assert_eq!(best.hits, all.hits, "{plan}");
        assert!(best.hits.len() == 10 && all.total > 100, "{plan}");
        assert!((10..all.total).contains(&best.total), "{plan}");
    }
}

/// Groups of many hits are found in one pass, which must show what going through all hits shows.
#[test]
fn large_groups_show_their_best() {
    let mut segments = vec![Vec::new(); 3];
    for number in 0..300_usize {
        let text = format!("{}green", "red ".repeat(number * 7 % 5 + 1));
        let path = format!("/box{}", number % 6);
        segments[number % 3].push((path, text, 0));
    }
    for rest in 0..200 {
        segments[0].push(row(&format!("/rest{rest}"), "blue sky", 0));
    }
    let (_folder, snapshot) = index(&segments);
    let plan = Plan::Or(words("red"));
    let all = Request::new(&plan);
    let mut expected = paths(&snapshot, &all);
    let mut seen = std::collections::HashSet::new();
    expected.retain(|path| seen.insert(path.clone()));
    for limit in [1, 4, usize::MAX] {
        let request = Request {
            collapse: Some(Collapse::File),
            limit,
            ..all
        };
        let found = snapshot.find(&request).unwrap();
        assert_eq!((found.total, found.groups), (300, 6));
        assert!(found.hits.iter().all(|hit| hit.more == 49));
        let shown: Vec<_> = expected.iter().take(limit).cloned().collect();
        assert_eq!(paths(&snapshot, &request), shown);
    }
}

/// Three documents of the same words, in each of which they stand differently.
fn three() -> Vec<Vec<Row>> {
    let far = "tax one two three four five six seven eight nine ten report";
    let near = "one two three tax four report five six seven eight nine ten";
    let side = "one two three four five six seven report tax eight nine ten";
    let rest = |n| row(&format!("/rest{n}"), "one two three four five", 0);
    vec![
        vec![row("/a-far", far, 0), row("/b-near", near, 0)],
        vec![row("/c-side", side, 0), rest(1), rest(2), rest(3)],
    ]
}

#[test]
fn words_close_together_count_more() {
    let (_folder, snapshot) = index(&three());
    for plan in [
        Plan::And(words("tax report")),
        Plan::Or(words("tax report")),
    ] {
        let request = Request::new(&plan);
        assert_eq!(paths(&snapshot, &request), ["/c-side", "/b-near", "/a-far"]);
        let one = Request {
            limit: 1,
            ..request
        };
        assert_eq!(paths(&snapshot, &one), ["/c-side"]);
    }
    let without = Ranking {
        proximity: 0.0,
        ..Ranking::default()
    };
    let snapshot = snapshot.with_ranking(without);
    let plan = Plan::And(words("tax report"));
    let equals = paths(&snapshot, &Request::new(&plan));
    assert_eq!(equals, ["/a-far", "/b-near", "/c-side"]);
}

#[test]
fn a_word_is_not_close_to_itself() {
    let twice = row("/b", "tax tax one two three four five six", 0);
    let apart = row("/a", "tax one two three four five six tax", 0);
    let (_folder, snapshot) = index(&[vec![twice, apart]]);
    let mut forms = Word::new(None, Span::Match(Pattern::Term("taxes".to_owned())));
    let form = Word::new(None, Span::Match(Pattern::Term("tax".to_owned())));
    forms.forms.extend(form.forms.clone());
    let plan = Plan::Or(vec![Plan::Word(form), Plan::Word(forms)]);
    assert_eq!(paths(&snapshot, &Request::new(&plan)), ["/a", "/b"]);
}

#[test]
fn newer_documents_count_a_little_more() {
    let now = 20_000 * DAY;
    let of = |path: &str, age| row(path, "tax report", now - age * DAY);
    let (_folder, snapshot) = index(&[
        vec![of("/old", 4000), of("/year", 365), of("/tomorrow", -1)],
        vec![of("/today", 0), row("/best", "tax tax report", 0)],
    ]);
    let plan = Plan::Or(words("tax"));
    let request = Request {
        now: Some(now),
        ..Request::new(&plan)
    };
    let expected = ["/best", "/today", "/tomorrow", "/year", "/old"];
    assert_eq!(paths(&snapshot, &request), expected);
    let timeless = paths(&snapshot, &Request::new(&plan));
    assert_eq!(timeless, ["/best", "/old", "/today", "/tomorrow", "/year"]);
    // As much as was asked for: all of it today, half of it after a year.
    let hits = snapshot.find(&request).unwrap().hits;
    let share = |hit: &Hit| hit.boosts.recency / (hit.score.unwrap() - hit.boosts.recency);
    let recency = Ranking::default().recency;
    assert!((share(&hits[1]) - recency).abs() < 1e-4);
    assert!((share(&hits[3]) - recency / 2.0).abs() < 1e-4);
}

#[test]
fn function_words_hardly_count_even_if_words_have_no_forms() {
    let about = |n| row(&format!("/about{n}"), "report of the garden society", 0);
    let rest = |n| row(&format!("/rest{n}"), "of the garden society", 0);
    let asks = row("/asks", "what of the garden society", 0);
    let rows = (0..4).map(about).chain((0..4).map(rest)).chain([asks]);
    let (_folder, snapshot) = index(&[rows.collect()]);
    let snapshot = snapshot.with_stemming(&[]).unwrap();
    let plan = Plan::Or(words("what report"));
    let found = paths(&snapshot, &Request::new(&plan));
    assert_eq!(found.last().unwrap(), "/asks");
    let alone = Plan::Or(words("what"));
    assert_eq!(paths(&snapshot, &Request::new(&alone)), ["/asks"]);
}

#[test]
fn explanations_name_every_part() {
    let (_folder, snapshot) = index(&three());
    let plan = Plan::And(words("tax report"));
    let request = Request {
        now: Some(DAY),
        ..Request::new(&plan)
    };
    let best = snapshot.find(&request).unwrap().hits[0];
    let explanation = snapshot.explain(&plan, &best).unwrap();
    for part in ["words close together", "being new", "word {exact \\\"tax"] {
        assert!(explanation.contains(part), "{part} in {explanation}");
    }
    let first = explanation.split("\"value\": ").nth(1).unwrap();
    let total: f32 = first.split(',').next().unwrap().parse().unwrap();
    assert!((total - best.score.unwrap()).abs() < 1e-6, "{explanation}");
}

/// A document with the word itself comes before documents with other forms of it, however often these have them and
/// however long it is.
#[test]
fn one_word_comes_before_its_other_forms() {
    let long = format!("{} authority", "text ".repeat(4000));
    let mut rows = vec![row("/z-word", &long, 0)];
    rows.extend((0..20).map(|n| row(&format!("/{n:02}-form"), &"authorities ".repeat(50), 0)));
    rows.extend((0..20).map(|n| row(&format!("/{n:02}-other"), "something else", 0)));
    let (_folder, snapshot) = index(&[rows]);
    let word = |pattern| Plan::Word(Word::new(None, Span::Match(pattern)));
    let plan = word(Pattern::Stem("authority".to_owned()));
    let request = Request::new(&plan);
    let found = paths(&snapshot, &request);
    assert_eq!(found.len(), 21);
    assert_eq!(found[0], "/z-word");
    let uncounted = Request {
        counted: false,
        limit: 5,
        ..request
    };
    assert_eq!(paths(&snapshot, &uncounted), found[..5]);
    let off = snapshot.with_ranking(Ranking {
        literal: 0.0,
        ..Ranking::default()
    });
    assert_ne!(paths(&off, &request)[0], "/z-word");
}
