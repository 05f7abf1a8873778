//! A reader follows commits, and a search with limits ends early and says so.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{OPTIONS, add, found, term};
use ken_core::{Field, Form, Glob, GlobPart, Pattern, Plan, Span, Word, Written};
use ken_engine::{Error, Limits, Request, Sink, Source};
use ken_index::{Reader, Snapshot, Writer};

fn commit(writer: &dyn Sink) {
    writer.commit(&writer.meta().clone()).unwrap();
}

fn otter() -> Plan {
    term(Field::Body, "otter")
}

#[test]
fn a_reader_notices_a_commit_and_keeps_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let reader = Reader::new(folder.path());
    assert!(matches!(reader.snapshot(), Err(Error::Missing(_))));

    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/a", "a", "otter");
    commit(&writer);
    let first = reader.snapshot().unwrap();
    assert_eq!(found(&*first, &otter()), ["/a"]);
    assert!(Arc::ptr_eq(&first, &reader.snapshot().unwrap()));

    add(&writer, "/b", "b", "otter");
    commit(&writer);
    let second = reader.snapshot().unwrap();
    assert_eq!(found(&*second, &otter()), ["/a", "/b"]);
    assert_eq!(found(&*first, &otter()), ["/a"]);
    writer.close().unwrap();
}

#[test]
fn a_commit_that_cannot_be_opened_leaves_the_former_one() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/a", "a", "otter");
    commit(&writer);
    writer.close().unwrap();
    let reader = Reader::new(folder.path());
    reader.snapshot().unwrap();
    let committed = reader.committed_at();
    assert!(committed.is_some());

    let file = folder.path().join("meta.json");
    let content = fs_err::read(&file).unwrap();
    fs_err::write(&file, "no commit").unwrap();
    assert!(reader.snapshot().is_err());
    assert_eq!(reader.committed_at(), committed);
    fs_err::write(&file, content).unwrap();
    assert_eq!(found(&*reader.snapshot().unwrap(), &otter()), ["/a"]);
}

#[test]
fn threads_share_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let reader = Reader::new(folder.path());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ask = || {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                if let Ok(snapshot) = reader.snapshot() {
                    let n = found(&*snapshot, &otter()).len();
                    assert!(n >= most, "a commit was seen and then an older one");
                    most = n;
                }
            }
        };
        let threads = [scope.spawn(ask), scope.spawn(ask)];
        for number in 0..8 {
            add(&writer, &format!("/{number}"), "a", "otter");
            commit(&writer);
        }
        assert_eq!(found(&*reader.snapshot().unwrap(), &otter()).len(), 8);
        done.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    writer.close().unwrap();
}

/// Two commits take turns as the last one while a snapshot is opened.
#[test]
fn the_number_of_a_snapshot_is_that_of_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let last = folder.path().join("meta.json");
    let mut commits = Vec::new();
    for number in 1..=2 {
        add(&writer, &format!("/{number}"), "a", "otter");
        commit(&writer);
        let snapshot = Snapshot::open(folder.path()).unwrap();
        assert_eq!(snapshot.n_documents(), number);
        commits.push((snapshot.commit(), fs_err::read(&last).unwrap()));
    }
    writer.close().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let new = folder.path().join("new");
            for (_, content) in commits.iter().cycle() {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                fs_err::write(&new, content).unwrap();
                fs_err::rename(&new, &last).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        for _ in 0..400 {
            let snapshot = Snapshot::open(folder.path()).unwrap();
            let number = commits.iter().position(|of| of.0 == snapshot.commit());
            let n_documents = number.map(|number| number as u64 + 1);
            if n_documents != Some(snapshot.n_documents()) {
                is_done.store(true, Ordering::Relaxed);
            }
            assert_eq!(n_documents, Some(snapshot.n_documents()));
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

/// Plans of each way in which documents are found, all of which find each document of [`searched`].
fn plans() -> Vec<Plan> {
    let word = |span| {
        Plan::Word(Word {
            field: None,
            forms: vec![Form::literal(span)],
        })
    };
    let otter = || Pattern::Term("otter".to_owned());
    let written = Pattern::Written(Written {
        terms: Box::new(otter()),
        text: Glob(vec![GlobPart::Literal("otter".to_owned())]),
        case: true,
        diacritics: false,
    });
    let phrase = Span::Phrase(vec![(0, otter()), (1, Pattern::Prefix("riv".to_owned()))]);
    vec![
        Plan::All,
        self::otter(),
        word(Span::Match(otter())),
        word(phrase.clone()),
        Plan::Span {
            field: Field::Body,
            span: phrase,
        },
        Plan::Match {
            field: Field::Body,
            pattern: written,
        },
        Plan::Match {
            field: Field::Body,
            pattern: Pattern::Regex("ott.r".to_owned()),
        },
    ]
}

fn searched(check: impl Fn(&dyn Source, &Plan)) {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    for number in 0..300 {
        add(&writer, &format!("/{number}"), "a", "otter river");
    }
    commit(&writer);
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    plans().iter().for_each(|plan| check(&snapshot, plan));
}

fn with<'a>(plan: &'a Plan, limits: &'a Arc<Limits>) -> Request<'a> {
    Request {
        limits: Some(limits),
        limit: 10,
        ..Request::new(plan)
    }
}

#[test]
fn a_search_whose_time_is_over_says_that_it_is_incomplete() {
    searched(|snapshot, plan| {
        let limits = Arc::new(Limits::new(Some(Instant::now()), None));
        let answer = snapshot.find(&with(plan, &limits)).unwrap();
        assert!(!answer.complete, "{plan}");
        assert!(answer.total < 300, "{plan}: {}", answer.total);
    });
}

#[test]
fn a_cancelled_search_says_that_it_is_incomplete() {
    searched(|snapshot, plan| {
        let cancel = Arc::new(AtomicBool::new(true));
        let limits = Arc::new(Limits::new(None, Some(cancel)));
        assert!(!snapshot.find(&with(plan, &limits)).unwrap().complete);
    });
}

#[test]
fn a_search_within_its_time_is_complete() {
    searched(|snapshot, plan| {
        let later = Instant::now() + Duration::from_secs(3600);
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = Arc::new(Limits::new(Some(later), Some(cancel)));
        let limited = snapshot.find(&with(plan, &limits)).unwrap();
        let free = Request {
            limit: 10,
            ..Request::new(plan)
        };
        let free = snapshot.find(&free).unwrap();
        assert!(limited.complete && free.complete);
        assert_eq!((limited.total, free.total), (300, 300), "{plan}");
        assert_eq!(limited.hits, free.hits, "{plan}");
    });
}
