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
    index_with(segments, &|_, _| {})
}

/// As [`index`]; `each` completes documents by their path.
fn index_with(segments: &[Vec<Row>], each: &dyn Fn(&str, &mut Document)) -> (TempDir, Snapshot) {
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
            each(path, &mut document);
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
        vec![
            of("/old", 4000),
            of("/year", 365),
            of("/tomorrow", -1),
            of("/next-year", -365),
        ],
        vec![of("/today", 0), row("/best", "tax tax report", 0)],
    ]);
    let plan = Plan::Or(words("tax"));
    let request = Request {
        now: Some(now),
        ..Request::new(&plan)
    };
    // Nothing is of next year.
    let expected = [
        "/best",
        "/today",
        "/tomorrow",
        "/year",
        "/old",
        "/next-year",
    ];
    assert_eq!(paths(&snapshot, &request), expected);
    let timeless = paths(&snapshot, &Request::new(&plan));
    let expected = [
        "/best",
        "/next-year",
        "/old",
        "/today",
        "/tomorrow",
        "/year",
    ];
    assert_eq!(timeless, expected);
    // As much as was asked for: all of it today, half of it after a year.
    let hits = snapshot.find(&request).unwrap().hits;
    let share = |hit: &Hit| hit.boosts.recency / (hit.score.unwrap() - hit.boosts.recency);
    let recency = Ranking::default().recency;
    assert!((share(&hits[1]) - recency).abs() < 1e-4);
    assert!((share(&hits[3]) - recency / 2.0).abs() < 1e-4);
    // Each second of a day gives the same scores.
    for seconds in [1, 40_000, DAY - 1] {
        let later = Request {
            now: Some(now + seconds),
            ..Request::new(&plan)
        };
        assert_eq!(snapshot.find(&later).unwrap().hits, hits, "{seconds}");
    }
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

/// Where any of the words is enough, a question with one word that says something is a query of one word.
#[test]
fn function_words_do_not_hide_which_form_is_meant() {
    let long = format!("{} authority", "text ".repeat(4000));
    let mut rows = vec![row("/z-word", &long, 0)];
    let forms = "what is of the authorities ".repeat(50);
    rows.extend((0..20).map(|n| row(&format!("/{n:02}-form"), &forms, 0)));
    rows.extend((0..20).map(|n| row(&format!("/{n:02}-other"), "something else", 0)));
    let (_folder, snapshot) = index(&[rows]);
    let word = |text: &str| {
        let pattern = Pattern::Stem(text.to_owned());
        Plan::Word(Word::new(None, Span::Match(pattern)))
    };
    let serving = |text| Plan::Weight(0.01, Box::new(word(text)));
    let mut parts: Vec<Plan> = ["what", "is", "of", "the"].map(serving).to_vec();
    parts.push(word("authority"));
    let plan = Plan::Or(parts);
    assert_eq!(paths(&snapshot, &Request::new(&plan))[0], "/z-word");
}

/// The words as the query has them come before the words anywhere, however often.
#[test]
fn words_side_by_side_come_first() {
    let apart = "security of the rent and a deposit ".repeat(30);
    let long = format!(
        "{} the security deposit is due {0}",
        "text about something else ".repeat(800)
    );
    let mut rows: Vec<Row> = (0..200)
        .map(|n| row(&format!("/{n:03}"), &apart, 0))
        .collect();
    rows.push(row("/z-phrase", &long, 0));
    rows.push(row(
        "/z-turned",
        &long.replace("security deposit", "deposit security"),
        0,
    ));
    rows.extend((0..300).map(|n| row(&format!("/other{n}"), "something else", 0)));
    let (one, other) = rows.split_at(250);
    let (_folder, snapshot) = index(&[one.to_vec(), other.to_vec()]);
    for plan in [
        Plan::And(words("security deposit")),
        Plan::Or(words("security deposit")),
        Plan::And(words("the security deposit")),
    ] {
        let request = Request::new(&plan);
        assert_eq!(paths(&snapshot, &request)[0], "/z-phrase", "{plan}");
        let page = Request {
            limit: 1,
            counted: false,
            ..request
        };
        assert_eq!(paths(&snapshot, &page), ["/z-phrase"], "{plan}");
        assert_eq!(snapshot.find(&request).unwrap().total, 202);
    }
    let plan = Plan::And(words("security deposit"));
    let best = snapshot.find(&Request::new(&plan)).unwrap().hits[0];
    let explanation = snapshot.explain(&plan, &best).unwrap();
    assert!(
        explanation.contains("the words side by side"),
        "{explanation}"
    );
    let off = snapshot.with_ranking(Ranking {
        phrase: 0.0,
        ..Ranking::default()
    });
    assert_ne!(paths(&off, &Request::new(&plan))[0], "/z-phrase");
}

/// A document that is named after what is asked for comes before a text that has it often.
#[test]
fn names_of_documents_count() {
    let often = "the hygrometer shows a value ".repeat(40);
    let mut rows: Vec<Row> = (0..20)
        .map(|n| row(&format!("/{n:02}"), &often, 0))
        .collect();
    rows.push(row("/y-title", "a short letter", 0));
    rows.push(row("/z-name", "another letter", 0));
    rows.extend((0..50).map(|n| row(&format!("/other{n}"), "something else", 0)));
    let (_folder, snapshot) = index_with(&[rows], &|path, document| match path {
        "/y-title" => document.add_text(Field::Title, "Reading of my old hygrometer by the window"),
        "/z-name" => document.add_text(Field::Filename, "hygrometer 2024.txt"),
        _ => {}
    });
    let plan = Plan::And(words("hygrometer"));
    let request = Request::new(&plan);
    let mut first = paths(&snapshot, &request)[..2].to_vec();
    first.sort();
    assert_eq!(first, ["/y-title", "/z-name"]);
    let off = snapshot.with_ranking(Ranking {
        named: 0.0,
        ..Ranking::default()
    });
    assert_ne!(paths(&off, &request)[0], "/y-title");
}

/// The name of a folder has a word where the query allows it, unless most documents are below it.
#[test]
fn folders_have_words() {
    let mut rows = vec![
        row("/home/patents/a", "inverted lists", 0),
        row("/home/My Patents/b", "inverted lists", 0),
        row("/home/letters/c", "the patents of inverted lists", 0),
        row("/home/letters/d", "inverted lists", 0),
    ];
    rows.extend((0..20).map(|n| row(&format!("/home/{n}/e"), "something else", 0)));
    let (_folder, snapshot) = index(&[rows]);
    let found = |text: &str, folders: bool| {
        let words = words(text).into_iter().map(|word| match word {
            Plan::Word(word) => Plan::Word(Word { folders, ..word }),
            other => other,
        });
        let plan = Plan::And(words.collect());
        paths(&snapshot, &Request::new(&plan))
    };
    assert_eq!(found("inverted patents", false), ["/home/letters/c"]);
    let with_folders = ["/home/letters/c", "/home/My Patents/b", "/home/patents/a"];
    assert_eq!(found("inverted patents", true), with_folders);
    // A word that only a folder has.
    assert_eq!(found("inverted letters", true).len(), 2);
    assert_eq!(found("inverted home", true), [""; 0]);
}

#[test]
fn preferred_words_select_nothing() {
    let rows = vec![
        row("/a", "tax report", 0),
        row("/b", "tax report of the year", 0),
        row("/c", "the year", 0),
    ];
    let (_folder, snapshot) = index(&[rows]);
    let prefer = |text: &str| {
        words(text)
            .into_iter()
            .map(|word| Plan::Prefer(Box::new(word)))
    };
    let plan = Plan::And(
        words("tax report")
            .into_iter()
            .chain(prefer("year"))
            .collect(),
    );
    let request = Request::new(&plan);
    assert_eq!(paths(&snapshot, &request), ["/b", "/a"]);
    assert_eq!(snapshot.find(&request).unwrap().total, 2);
    let alone = Plan::And(prefer("year").collect());
    assert_eq!(paths(&snapshot, &Request::new(&alone)), ["/c", "/b", "/a"]);
}

/// Bulk mail and generated files come after others that are as good.
#[test]
fn bulk_comes_behind() {
    let rows = vec![
        row("/a-bulk", "tax report tax report", 0),
        row("/b-generated", "tax report tax report", 0),
        row("/c", "tax report and more", 0),
        row("/d", "something else", 0),
    ];
    let (_folder, snapshot) = index_with(&[rows], &|path, document| match path {
        "/a-bulk" => document.add_text(Field::Is, "bulk"),
        "/b-generated" => document.add_text(Field::Is, "generated"),
        _ => {}
    });
    let plan = Plan::And(words("tax report"));
    let request = Request::new(&plan);
    assert_eq!(
        paths(&snapshot, &request),
        ["/c", "/a-bulk", "/b-generated"]
    );
    let off = snapshot.with_ranking(Ranking {
        bulk: 0.0,
        ..Ranking::default()
    });
    assert_eq!(paths(&off, &request)[2], "/c");
}

/// Versions of one text are one hit among the best, and pages fit together.
#[test]
fn near_copies_take_one_place() {
    let text = |seed: usize| -> String {
        let word = |n: usize| format!("word{} ", (seed + 1) * (n + 7) * (n + 3) % 4099);
        "licence ".to_owned() + &(0..600).map(word).collect::<String>()
    };
    let mut segments = vec![Vec::new(); 2];
    for number in 0..30 {
        for version in 0..5 {
            let text = text(number).replacen("word", &format!("changed{version} "), 2);
            let path = format!("/{number:02}-{version}");
            segments[version % 2].push(row(&path, &text, 0));
        }
    }
    let (_folder, snapshot) = index(&segments);
    let plan = Plan::And(words("licence"));
    let all = Request::new(&plan);
    let similar = Request {
        collapse: Some(Collapse::Similar),
        ..all
    };
    let found = snapshot.find(&similar).unwrap();
    assert_eq!((found.total, found.groups), (150, 30));
    assert!(found.hits.iter().all(|hit| hit.more == 4));
    assert_eq!(snapshot.find(&all).unwrap().hits.len(), 150);
    let page = |offset| Request {
        offset,
        limit: 10,
        ..similar
    };
    let pages = [0, 10, 20, 30].map(|offset| paths(&snapshot, &page(offset)));
    assert_eq!(pages.concat(), paths(&snapshot, &similar));
    let n_groups = [0, 10, 20, 30].map(|offset| snapshot.find(&page(offset)).unwrap().groups);
    assert_eq!(n_groups, [30; 4]);
}
