//! Limits: every kind of request ends soon after a limit is reached, with a part of what it finds otherwise.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use ken_core::{Document, Field, Form, Ipath, Kind, Order, Pattern, Plan, SortKey, Span, Word};
use ken_engine::{Collapse, DocAddress, FacetBy, Limits, Request, Source, TermList};

use crate::{Index, New, add};

const N_MESSAGES: usize = 1000;

/// Returns a word that only one message has.
fn own(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
    format!("own{}{}{}", letter(2), letter(1), letter(0))
}

/// Writes messages of one thread, each with a word and an address of its own.
fn written(new: New<'_>) -> (Box<dyn Index>, Arc<dyn Source>) {
    let index = new();
    let writer = index.sink(1);
    for number in 0..N_MESSAGES {
        let mut document = Document::new(Ipath::root(), "message/rfc822", Kind::Message);
        document.body = format!("all {}", own(number));
        document.add_text(Field::Msgid, &format!("{number}@x"));
        document.add_text(Field::Author, &format!("{number}@example.org"));
        document.add_text(Field::References, "first@x");
        add(&*writer, &format!("/{number}"), document, true);
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let source = index.source();
    (index, source)
}

type Limit<'a> = Option<&'a Arc<Limits>>;

/// A kind of request: returns what it finds within limits. A longer list is the result of a longer search.
type Ask = Box<dyn Fn(&dyn Source, Limit<'_>) -> Vec<String>>;

fn body(pattern: Pattern) -> Plan {
    let field = Field::Body;
    Plan::Match { field, pattern }
}

/// A search for a plan, by which the response says that it is complete as the limits do.
fn find(plan: Plan, order: Order, collapse: Option<Collapse>) -> Ask {
    Box::new(move |source, limits| {
        let request = Request {
            order,
            collapse,
            limits,
            ..Request::new(&plan)
        };
        let found = source.find(&request).unwrap();
        assert_eq!(found.complete, is_complete(limits), "{plan}");
        let location = |address: DocAddress| source.location(address).unwrap().to_string();
        let hits = found.hits.iter();
        hits.map(|hit| location(hit.address)).collect()
    })
}

fn facets(source: &dyn Source, limits: Limit<'_>) -> Vec<String> {
    let request = Request {
        limits,
        ..Request::new(&Plan::All)
    };
    let by = [FacetBy::Values(Field::Author)];
    let counts = source.facets(&request, &by).unwrap();
    let values = counts.into_iter().flatten();
    values.map(|(value, _)| format!("{value:?}")).collect()
}

fn listed(source: &dyn Source, limits: Limit<'_>, pattern: &Pattern) -> Vec<String> {
    let list = TermList {
        fields: &[Field::Body],
        pattern,
        by_field: false,
        limits,
    };
    let mut terms = Vec::new();
    let mut each = |count: ken_engine::TermCount<'_>| {
        terms.push(count.term.to_owned());
        ControlFlow::Continue(())
    };
    source.terms().list(&list, &mut each).unwrap();
    terms
}

fn threads(source: &dyn Source, limits: Limit<'_>) -> Vec<String> {
    let first = source.run(&body(Pattern::Term(own(0))), Order::default(), 0, 1);
    let first = first.unwrap().hits[0].address;
    let found = source.mail().threads(&[first], limits).unwrap();
    found.iter().map(|at| format!("{at:?}")).collect()
}

fn seen(source: &dyn Source, limits: Limit<'_>) -> Vec<String> {
    let seen = source.mail().seen(&Plan::All, &[Field::Author], limits);
    seen.unwrap().into_iter().map(|seen| seen.value).collect()
}

fn frequent(source: &dyn Source, limits: Limit<'_>, pattern: &Pattern) -> Vec<String> {
    let terms = source.terms();
    let (found, _) = terms
        .frequent(Field::Body, pattern, usize::MAX, limits)
        .unwrap();
    found.into_iter().map(|(term, _)| term).collect()
}

fn similar(source: &dyn Source, limits: Limit<'_>) -> Vec<String> {
    let all = ["al", "alle", "allo", "ale"].iter();
    let terms = source.terms();
    let found = all.flat_map(|word| {
        terms
            .similar(&[Field::Body], word, usize::MAX, limits)
            .unwrap()
    });
    found.map(|similar| similar.term).collect()
}

fn expand(source: &dyn Source, limits: Limit<'_>) -> Vec<String> {
    let stem = Span::Match(Pattern::Stem("all".to_owned()));
    let word = Plan::Word(Word {
        field: None,
        forms: vec![Form::literal(stem)],
    });
    vec![source.expand(&word, limits).unwrap().to_string()]
}

fn is_complete(limits: Limit<'_>) -> bool {
    !limits.is_some_and(|limits| limits.ended_early())
}

/// Returns the kinds of requests that look at many documents or terms, each with its name.
fn long() -> Vec<(&'static str, Ask)> {
    let relevance = Order::default();
    let by = |key| Order {
        key,
        reverse: false,
    };
    let all = || body(Pattern::Prefix("own".to_owned()));
    let none = || Pattern::Regex("own.*5$".to_owned());
    let thread = Plan::Thread(Box::new(body(Pattern::Term(own(0)))));
    vec![
        ("prefix", find(all(), relevance, None)),
        ("by path", find(all(), by(SortKey::Path), None)),
        (
            "by author",
            find(all(), by(SortKey::Field(Field::Author)), None),
        ),
        ("collapsed", find(all(), relevance, Some(Collapse::File))),
        ("thread", find(thread, relevance, None)),
        ("no match", find(body(none()), relevance, None)),
        (
            "no fuzzy match",
            find(
                body(Pattern::Fuzzy("ownzzzz".to_owned(), 2)),
                relevance,
                None,
            ),
        ),
        (
            "terms",
            Box::new(|source, limits| listed(source, limits, &Pattern::Prefix(String::new()))),
        ),
        (
            "no term",
            Box::new(move |source, limits| listed(source, limits, &none())),
        ),
        (
            "frequent terms",
            Box::new(|source, limits| frequent(source, limits, &Pattern::Prefix("own".to_owned()))),
        ),
        (
            "no frequent term",
            Box::new(move |source, limits| frequent(source, limits, &none())),
        ),
        ("threads", Box::new(threads)),
    ]
}

/// Returns the kinds of requests that read columns or single terms.
fn short() -> Vec<(&'static str, Ask)> {
    vec![
        ("all", find(Plan::All, Order::default(), None)),
        (
            "term",
            find(
                body(Pattern::Term("all".to_owned())),
                Order::default(),
                None,
            ),
        ),
        ("facets", Box::new(facets)),
        ("values seen", Box::new(seen)),
        ("similar", Box::new(similar)),
        ("expand", Box::new(expand)),
    ]
}

/// A limit that is reached before a request begins leaves it nothing but what costs nothing, and the request says so.
pub fn a_deadline_and_a_cancellation_end_every_kind_of_request(new: New<'_>) {
    let (_index, source) = written(new);
    for (name, ask) in long().into_iter().chain(short()) {
        let whole = ask(&*source, None);
        let cancelled = Arc::new(AtomicBool::new(true));
        for limits in [
            Limits::new(Some(Instant::now()), None),
            Limits::new(None, Some(cancelled)),
        ] {
            let limits = Arc::new(limits);
            let found = ask(&*source, Some(&limits));
            assert!(limits.ended_early(), "{name}");
            assert!(found.len() <= 1 || found.len() < whole.len(), "{name}");
        }
    }
}

/// A request that looks at many documents or terms asks for its limits while it does, whether it finds some or none. What it
/// has found until then is a part of the whole.
pub fn requests_ask_for_their_limits_often(new: New<'_>) {
    let (_index, source) = written(new);
    for (name, ask) in long().into_iter().chain(short()) {
        let whole: BTreeSet<String> = ask(&*source, None).into_iter().collect();
        let mut n_asked = 0;
        loop {
            let limits = Arc::new(Limits::after(n_asked));
            let found: BTreeSet<String> = ask(&*source, Some(&limits)).into_iter().collect();
            if !limits.ended_early() {
                assert_eq!(found, whole, "{name}");
                break;
            }
            // An expanded plan has fewer forms, and is not a part of the whole.
            assert!(found.is_subset(&whole) || name == "expand", "{name}");
            n_asked = n_asked * 3 / 2 + 1;
        }
        let is_long = long().iter().any(|(long, _)| *long == name);
        assert!(!is_long || n_asked > 8, "{name} asks {n_asked} times");
    }
}

/// Once it is cancelled, a listing of terms hands on few others.
pub fn the_end_of_a_listing_comes_soon(new: New<'_>) {
    let (_index, source) = written(new);
    let cancel = Arc::new(AtomicBool::new(false));
    let limits = Arc::new(Limits::new(None, Some(Arc::clone(&cancel))));
    let list = TermList {
        fields: &[Field::Body],
        pattern: &Pattern::Prefix(String::new()),
        by_field: false,
        limits: Some(&limits),
    };
    let mut n_terms = 0;
    let mut each = |_: ken_engine::TermCount<'_>| {
        n_terms += 1;
        cancel.store(n_terms >= 10, Relaxed);
        ControlFlow::Continue(())
    };
    source.terms().list(&list, &mut each).unwrap();
    assert!((10..500).contains(&n_terms), "{n_terms}");
    assert!(limits.ended_early());
}
