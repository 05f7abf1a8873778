//! Every plan finds what its definition says: compared with a slow reading of random documents.

use std::collections::BTreeSet;
use std::path::Path;

use ken_core::{
    Bound, Document, Field, Form, Glob, GlobPart, Ipath, Kind, Order, Pattern, Plan, Span, Word,
};
use ken_engine::{Hit, Request, Scope};
use proptest::prelude::*;
use regex_automata::meta::Regex;

use crate::{Index, New, add};

const WORDS: [&str; 8] = ["a", "ab", "abc", "b", "ba", "bca", "c", "ca"];

/// So many documents have folders whose names are words: none has more than a third of the documents below it.
const ENOUGH_FOR_FOLDERS: usize = 12;

/// The words of a document, and the name of its folder.
struct Body {
    words: Vec<&'static str>,
    folder: &'static str,
}

/// Puts the document at a place among so many into a folder.
fn folder(number: usize, n_documents: usize) -> &'static str {
    let is_word = n_documents >= ENOUGH_FOR_FOLDERS;
    let names = WORDS.get(number % (2 * WORDS.len()));
    names.filter(|_| is_word).unwrap_or(&"elsewhere")
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let word = || prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        4 => word().prop_map(Pattern::Term),
        1 => "[abc]{0,2}".prop_map(Pattern::Prefix),
        1 => ("[abc]{0,2}", "[abc]{0,2}").prop_map(|(from, to)| {
            let end = |end: String| match end.as_str() {
                "" => Bound::Unbounded,
                _ => Bound::Included(end),
            };
            Pattern::Range(end(from), end(to))
        }),
        1 => prop::collection::vec(
            prop_oneof![
                "[abc]".prop_map(GlobPart::Literal),
                Just(GlobPart::Many),
                Just(GlobPart::One),
                any::<bool>().prop_map(|negated| GlobPart::Class { negated, ranges: vec![('b', 'c')] }),
            ],
            1..4
        )
        .prop_map(|parts| {
            let mut glob = Glob(Vec::new());
            parts.into_iter().for_each(|part| glob.push(part));
            Pattern::Glob(glob)
        }),
        1 => prop::sample::select(vec!["b", "^a", "c$", "^.$", "a.*a|^b", "x"])
            .prop_map(|regex| Pattern::Regex(regex.to_owned())),
        1 => (word(), 1..=2_u8).prop_map(|(word, distance)| Pattern::Fuzzy(word, distance)),
        1 => prop::collection::vec(word(), 1..3).prop_map(Pattern::Any),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    let single = || pattern().prop_map(Span::Match);
    let phrase = || {
        prop::collection::vec((0..2_u32, pattern()), 2..4).prop_map(|terms| {
            let mut at = 0;
            let offset_of = |(number, (step, pattern)): (usize, _)| {
                at += if number == 0 { 0 } else { step };
                (at, pattern)
            };
            Span::Phrase(terms.into_iter().enumerate().map(offset_of).collect())
        })
    };
    let operand = move || {
        prop_oneof![
            3 => single(),
            1 => phrase(),
            1 => prop::collection::vec(single(), 2..3).prop_map(Span::Any),
        ]
    };
    prop_oneof![
        operand(),
        (
            prop::collection::vec(operand(), 2..4),
            0..4_u32,
            any::<bool>()
        )
            .prop_map(|(parts, slop, ordered)| Span::Near {
                parts,
                slop,
                ordered
            }),
    ]
}

/// A word of one or two forms, in one field or in all.
fn word() -> impl Strategy<Value = Word> {
    let form = || {
        (span(), 1..3_u8).prop_map(|(span, weight)| Form {
            span,
            weight: f32::from(weight),
            derived: false,
        })
    };
    let field = prop::sample::select(vec![None, Some(Field::Body)]);
    let forms = prop::collection::vec(form(), 1..3);
    (field, forms, any::<bool>()).prop_map(|(field, forms, folders)| Word {
        folders: folders && field.is_none(),
        field,
        forms,
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let field = Field::Body;
    let leaf = prop_oneof![
        1 => pattern().prop_map(move |pattern| Plan::Match { field, pattern }),
        1 => span().prop_map(move |span| Plan::Span { field, span }),
        4 => word().prop_map(Plan::Word),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let both = || prop::collection::vec(inner.clone(), 2..3);
        prop_oneof![
            both().prop_map(Plan::And),
            (both(), inner.clone()).prop_map(|(mut parts, filter)| {
                parts.push(Plan::Filter(Box::new(filter)));
                Plan::And(parts)
            }),
            (both(), inner.clone()).prop_map(|(mut parts, preferred)| {
                parts.push(Plan::Prefer(Box::new(preferred)));
                Plan::And(parts)
            }),
            both().prop_map(Plan::Or),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Plan::Xor(Box::new(a), Box::new(b))),
            inner.clone().prop_map(|part| Plan::Not(Box::new(part))),
            inner.prop_map(|part| Plan::Weight(2.0, Box::new(part))),
        ]
    })
}

fn holds(plan: &Plan, body: &Body) -> bool {
    match plan {
        Plan::Word(word) => word.forms.iter().any(|form| {
            let is_name = word.folders
                && matches!(&form.span, Span::Match(Pattern::Term(term)) if term == body.folder);
            is_name || !ranges_of(&form.span, body).is_empty()
        }),
        Plan::Filter(part) => holds(part, body),
        Plan::Match { pattern, .. } => body.words.iter().any(|word| means(pattern, word)),
        Plan::Span { span, .. } => !ranges_of(span, body).is_empty(),
        Plan::And(parts) => {
            let mut required = parts.iter().filter(|part| !matches!(part, Plan::Prefer(_)));
            required.all(|part| holds(part, body))
        }
        Plan::Or(parts) => parts.iter().any(|part| holds(part, body)),
        Plan::Xor(a, b) => holds(a, body) != holds(b, body),
        Plan::Not(part) => !holds(part, body),
        Plan::Weight(_, part) => holds(part, body),
        plan => panic!("{plan} is not made here"),
    }
}

fn means(pattern: &Pattern, word: &str) -> bool {
    match pattern {
        Pattern::Term(term) | Pattern::Stem(term) => word == term,
        Pattern::Any(terms) => terms.iter().any(|term| term == word),
        Pattern::Prefix(prefix) => word.starts_with(prefix.as_str()),
        Pattern::Range(from, to) => {
            let above = match from {
                Bound::Included(from) => word >= from.as_str(),
                _ => true,
            };
            let below = match to {
                Bound::Included(to) => word <= to.as_str() || word.starts_with(to.as_str()),
                _ => true,
            };
            above && below
        }
        Pattern::Glob(glob) => Regex::new(&glob.to_regex()).unwrap().is_match(word),
        Pattern::Name(glob) => Regex::new(&glob.to_plain_regex()).unwrap().is_match(word),
        Pattern::Regex(regex) => Regex::new(regex).unwrap().is_match(word),
        Pattern::Written(_)
        | Pattern::Border
        | Pattern::Address(_)
        | Pattern::Whole(_)
        | Pattern::Folder(_) => panic!("{pattern} is not made here"),
        Pattern::Fuzzy(term, distance) => {
            edits(term.as_bytes(), word.as_bytes()) <= usize::from(*distance)
        }
    }
}

/// The edits between two words, of which none touches what another made (optimal string
/// alignment), by trying all.
fn edits(a: &[u8], b: &[u8]) -> usize {
    match (a, b) {
        ([], rest) | (rest, []) => rest.len(),
        ([x, a_rest @ ..], [y, b_rest @ ..]) => {
            let kept = edits(a_rest, b_rest) + usize::from(x != y);
            let mut best = kept.min(edits(a_rest, b) + 1).min(edits(a, b_rest) + 1);
            if let ([x, y, a_rest @ ..], [v, w, b_rest @ ..]) = (a, b)
                && (x, y) == (w, v)
            {
                best = best.min(edits(a_rest, b_rest) + 1);
            }
            best
        }
    }
}

/// All stretches, not only the shortest.
fn ranges_of(span: &Span, body: &Body) -> Vec<(u32, u32)> {
    let words = &body.words;
    let n = words.len() as u32;
    match span {
        Span::Match(pattern) => (0..n)
            .filter(|at| means(pattern, words[*at as usize]))
            .map(|at| (at, at + 1))
            .collect(),
        Span::Any(parts) => parts
            .iter()
            .flat_map(|part| ranges_of(part, body))
            .collect(),
        Span::Phrase(terms) => {
            let length = terms.last().unwrap().0 + 1;
            let fits = |start: &u32| {
                terms.iter().all(|(at, pattern)| {
                    let word = words.get((start + at) as usize);
                    word.is_some_and(|word| means(pattern, word))
                })
            };
            (0..n).filter(fits).map(|at| (at, at + length)).collect()
        }
        Span::Near {
            parts,
            slop,
            ordered,
        } => {
            let mut chosen: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
            for part in parts {
                let ranges = ranges_of(part, body);
                chosen = chosen
                    .iter()
                    .flat_map(|before| {
                        ranges.iter().map(move |range| {
                            let mut all = before.clone();
                            all.push(*range);
                            all
                        })
                    })
                    .collect();
            }
            chosen.retain(|all| {
                let covered: u32 = all.iter().map(|(start, end)| end - start).sum();
                let start = all.iter().map(|range| range.0).min().unwrap();
                let end = all.iter().map(|range| range.1).max().unwrap();
                let in_order = all.windows(2).all(|two| two[0].1 <= two[1].0);
                (!ordered || in_order) && (end - start).saturating_sub(covered) <= *slop
            });
            chosen.iter().map(|all| (all[0].0, all[0].1)).collect()
        }
    }
}

/// Writes the bodies in two commits, and deletes the first.
fn write(index: &dyn Index, bodies: &[Body]) {
    let writer = index.sink(2);
    for (number, body) in bodies.iter().enumerate() {
        let path = format!("/{}/{number}", body.folder);
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.body = body.words.join(" ");
        add(&*writer, &path, document, true);
        if number == bodies.len() / 2 {
            writer.commit(&writer.meta().clone()).unwrap();
        }
    }
    let first = Path::new("/").join(bodies[0].folder).join("0");
    writer.delete(writer.meta().hasher.key(&first), Scope::File);
    writer.commit(&writer.meta().clone()).unwrap();
}

/// Random plans find, in random documents, what the definition says.
pub fn plans_find_what_their_definition_says(new: New<'_>) {
    let body = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..9);
    let bodies = prop::collection::vec(body, 2..30);
    let plans = prop::collection::vec(plan(), 100);
    let config = ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(bodies in bodies, plans in plans)| {
        let n_documents = bodies.len();
        let bodies: Vec<Body> = bodies
            .into_iter()
            .enumerate()
            .map(|(number, words)| Body { words, folder: folder(number, n_documents) })
            .collect();
        let index = new();
        write(&*index, &bodies);
        let snapshot = index.source();
        for plan in &plans {
            let found = snapshot.run(plan, Order::default(), 0, 1000).unwrap();
            let paths: BTreeSet<String> = found
                .hits
                .iter()
                .map(|hit| snapshot.location(hit.address).unwrap().path.display().to_string())
                .collect();
            let expected: BTreeSet<String> = (1..bodies.len())
                .filter(|number| holds(plan, &bodies[*number]))
                .map(|number| format!("/{}/{number}", bodies[number].folder))
                .collect();
            let words: Vec<_> = bodies.iter().map(|body| &body.words).collect();
            prop_assert_eq!(&paths, &expected, "{} in {:?}", plan, words);
            prop_assert_eq!(found.total, expected.len());
            // The best few are the first of all, with the same total.
            let few = snapshot.run(plan, Order::default(), 1, 3).unwrap();
            prop_assert_eq!(few.total, expected.len());
            let scores = |hits: &[Hit]| -> Vec<f32> {
                hits.iter().skip(1).take(3).filter_map(|hit| hit.score).collect()
            };
            let all = scores(&found.hits);
            prop_assert_eq!(few.hits.len(), all.len());
            for (score, hit) in all.iter().zip(&few.hits) {
                let close = (score - hit.score.unwrap_or(0.0)).abs() <= score.abs() * 1e-4;
                prop_assert!(close, "{}: {:?} of {:?}", plan, few.hits, found.hits);
            }
            // Without counting the answer is the same.
            let request = Request { offset: 1, limit: 3, counted: false, ..Request::new(plan) };
            let uncounted = snapshot.find(&request).unwrap();
            prop_assert_eq!(&uncounted.hits, &few.hits, "{}", plan);
            // All are looked at in any case, as they are few.
            prop_assert_eq!(uncounted.total, expected.len(), "{}", plan);
            // The engine's own explanation of alternatives asserts, in debug builds, what does not
            // hold for documents that one of them lacks.
            let is_leaf = matches!(plan, Plan::Match { .. } | Plan::Span { .. } | Plan::Word(_));
            for hit in found.hits.iter().filter(|_| is_leaf) {
                prop_assert!(snapshot.explain(plan, hit).is_ok(), "{}", plan);
            }
        }
    });
}

/// A regular expression that is wrong, or takes too much memory, is an error.
pub fn expressions_that_are_wrong_or_too_large_are_errors(new: New<'_>) {
    let index = new();
    let bodies = ["a", "b"].map(|word| Body {
        words: vec![word],
        folder: "elsewhere",
    });
    write(&*index, &bodies);
    let snapshot = index.source();
    for regex in ["a(", "(\\w{99}){99}"] {
        let plan = Plan::Match {
            field: Field::Body,
            pattern: Pattern::Regex(regex.to_owned()),
        };
        let error = snapshot.run(&plan, Order::default(), 0, 10).unwrap_err();
        assert!(error.to_string().len() > 10, "{error}");
    }
}
