//! Tests that a search which ends early finds a subset of the full result, for any query and any
//! time of the end.

use std::collections::HashSet;

use ken_core::{Document, FileKey, Folders, Form, Glob, GlobPart, Ipath, Kind, Location, Written};

use ken_engine::{Collapse, Request, Response, Sink, Source};

use super::*;
use crate::limits::Limits;
use crate::{DocAddress, Record, Snapshot, Writer, WriterOptions};

const N_DOCUMENTS: u64 = 300;

/// Opens an index of one segment, in which every document has "otter" and every second one "otter
/// river", each half in its own file.
pub(super) fn opened(folder: &std::path::Path) -> Snapshot {
    let options = WriterOptions {
        memory_bytes: 30 << 20,
        threads: 1,
    };
    let writer = Writer::open(folder, options).unwrap();
    for number in 0..N_DOCUMENTS {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.add_text(Field::To, &format!("Ann <ann@{number}.org>"));
        document.body = match number % 2 {
            0 => "otter river",
            _ => "otter",
        }
        .to_owned();
        let record = Record {
            location: Location::file(std::path::Path::new(&format!("/{number}/a.txt"))),
            key: FileKey(number % 2),
            state: None,
            document,
        };
        writer.add(record).unwrap();
    }
    writer.commit(writer.meta()).unwrap();
    writer.close().unwrap();
    Snapshot::open(folder).unwrap()
}

fn find(snapshot: &Snapshot, plan: &Plan, limits: Option<Limits>) -> Response {
    let limits = limits.map(Arc::new);
    let request = Request {
        limits: limits.as_ref(),
        ..Request::new(plan)
    };
    snapshot.find(&request).unwrap()
}

fn body(pattern: Pattern) -> Plan {
    let field = Field::Body;
    Plan::Match { field, pattern }
}

fn otter() -> Pattern {
    Pattern::Term("otter".to_owned())
}

fn river() -> Pattern {
    Pattern::Regex("riv.r".to_owned())
}

fn word(span: Span) -> Plan {
    let forms = vec![Form::literal(span)];
    Plan::Word(Word {
        field: None,
        forms,
        folders: false,
    })
}

fn not(plan: Plan) -> Plan {
    Plan::Not(Box::new(plan))
}

/// Returns plans that find every second document, or every document, if no limit ends them.
fn subtracted() -> Vec<Plan> {
    let span = Span::Phrase(vec![(0, otter()), (1, river())]);
    let written = body(Pattern::Written(Written {
        terms: Box::new(Pattern::Term("river".to_owned())),
        text: Glob(vec![GlobPart::Literal("river".to_owned())]),
        case: true,
        diacritics: false,
    }));
    let field = Field::Body;
    let phrase = Plan::Span {
        field,
        span: span.clone(),
    };
    let mut plans = Vec::new();
    for part in [body(river()), written, phrase, word(span)] {
        plans.push(not(part.clone()));
        plans.push(Plan::And(vec![
            word(Span::Match(otter())),
            not(part.clone()),
        ]));
        plans.push(Plan::And(vec![body(otter()), not(part.clone())]));
        plans.push(not(Plan::And(vec![Plan::All, not(part.clone())])));
        let xor = Plan::Xor(Box::new(body(otter())), Box::new(part));
        plans.push(not(xor.clone()));
        plans.push(xor);
    }
    plans
}

#[test]
fn what_is_subtracted_is_never_found() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = opened(folder.path());
    for plan in subtracted() {
        let addresses = |found: &Response| -> HashSet<DocAddress> {
            found.hits.iter().map(|hit| hit.address).collect()
        };
        let truth = find(&snapshot, &plan, None);
        assert_eq!(truth.total as u64, N_DOCUMENTS / 2, "{plan}");
        let mut is_complete = false;
        for n_questions in 0.. {
            let found = find(&snapshot, &plan, Some(Limits::after(n_questions)));
            assert!(addresses(&found).is_subset(&addresses(&truth)), "{plan}");
            assert!(found.total <= truth.total, "{plan}");
            is_complete = found.complete;
            if is_complete {
                break;
            }
        }
        assert!(is_complete);
    }
}

#[test]
fn everything_that_takes_long_asks_whether_it_must_end() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = opened(folder.path());
    let field = Field::To;
    let folders = Folders {
        expression: ".".to_owned(),
        all_mail: None,
        is_maildir: false,
    };
    for plan in [
        Plan::Match {
            field,
            pattern: Pattern::Address(vec!["ann".to_owned()]),
        },
        Plan::Match {
            field,
            pattern: Pattern::Folder(folders),
        },
        Plan::Match {
            field: Field::Path,
            pattern: Pattern::Regex("a.txt".to_owned()),
        },
        Plan::Thread(Box::new(Plan::All)),
    ] {
        assert_eq!(find(&snapshot, &plan, None).total as u64, N_DOCUMENTS);
        // The first check precedes the segment.
        let found = find(&snapshot, &plan, Some(Limits::after(1)));
        assert_eq!((found.total, found.complete), (0, false), "{plan}");
    }
}

#[test]
fn the_best_of_each_group_is_looked_for_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = opened(folder.path());
    let limits = Arc::new(Limits::after(1));
    let request = Request {
        collapse: Some(Collapse::File),
        limits: Some(&limits),
        ..Request::new(&Plan::All)
    };
    let found = snapshot.find(&request).unwrap();
    assert_eq!((found.groups, found.hits.len()), (2, 0));
    assert!(!found.complete);
}
