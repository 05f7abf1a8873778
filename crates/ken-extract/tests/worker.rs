//! Hostile workers: each harms its own file and nothing else.
//!
//! Processes, sandbox and limits are the real ones; only the parser is replaced, by one that does
//! what the file's name says (`tests/worker/hostile.rs`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ken_core::{Cause, Crash, Document, Failure, Ipath, Reader, Reason};
use ken_extract::worker::Landlock;
use ken_extract::{Extractor, Input, Isolate, Limits, Member, Options};

const PDF: &[u8] = include_bytes!("data/pdf/encrypted-empty-password.pdf");

fn options(limits: Limits) -> Options {
    Options {
        limits,
        isolate: Isolate::Auto,
        worker: Some(PathBuf::from(env!("CARGO_BIN_EXE_ken-hostile-worker"))),
        helpers: None,
    }
}

fn limits() -> Limits {
    Limits {
        file_time: Duration::from_secs(20),
        worker_memory: 256 << 20,
        max_members: 1_000,
        ..Limits::default()
    }
}

/// Returns the documents of a file that is taken for a PDF; the file's own is the last.
fn extract(extractor: &Extractor<'_>, name: &str) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut input = Input::bytes_of(name, PDF);
    extractor.extract_all(&mut input, &mut |document| documents.push(document));
    documents
}

fn failure(documents: &[Document]) -> &Failure {
    let own = documents.last().unwrap();
    assert!(own.ipath.is_root());
    assert_eq!(own.media_type, "application/pdf");
    assert!(own.text(ken_core::Field::Filename).is_some());
    own.failure.as_ref().expect("a failure")
}

#[track_caller]
fn assert_fails(extractor: &Extractor<'_>, name: &str, reason: Reason, detail: &str) {
    let documents = extract(extractor, name);
    let failure = failure(&documents);
    assert_eq!(failure.reason(), reason, "{name}: {failure:?}");
    assert!(
        format!("{failure:?}").contains(detail),
        "{name}: {failure:?}"
    );
}

#[test]
fn what_the_sandbox_forbids_kills_the_worker() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    let sandbox = extractor.sandbox().unwrap().unwrap();
    assert!(sandbox.seccomp && sandbox.memory_limit);
    for name in [
        "open", "look", "connect", "datagram", "execute", "thread", "kill",
    ] {
        assert_fails(&extractor, name, Reason::Crashed, "Forbidden");
    }
    // Only the file is lost.
    let good = extract(&extractor, "good.pdf");
    assert_eq!(good.last().unwrap().failure, None);
    assert!(!good.last().unwrap().body.is_empty());
    assert_ne!(sandbox.landlock.name(), "");
    assert_eq!(
        sandbox.missing().is_empty(),
        sandbox.landlock == Landlock::Full
    );
}

#[test]
fn crashes_are_distinguished() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    assert_fails(&extractor, "abort", Reason::Crashed, "Signal(6)");
    assert_fails(&extractor, "panic", Reason::Crashed, "said: \"");
    assert_fails(&extractor, "exit", Reason::Crashed, "Ended");
    assert_fails(
        &extractor,
        "allocate",
        Reason::Limit,
        "setting: WorkerMemory, in_force: 268435456",
    );
}

#[test]
fn last_words_are_of_the_file_that_is_read() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    assert_eq!(extract(&extractor, "mutter")[0].failure, None);
    // A worker that has delivered documents is not replaced for another attempt.
    let documents = extract(&extractor, "members-then-abort");
    let crashed = Cause::Crashed {
        reader: Reader::Parser("PDF".into()),
        how: Crash::Signal(6),
        said: String::new(),
    };
    assert_eq!(failure(&documents).cause, crashed);
}

#[test]
fn a_worker_that_hangs_is_stopped_in_time() {
    let options = options(Limits {
        file_time: Duration::from_millis(300),
        ..limits()
    });
    let extractor = Extractor::new(&options);
    let started = Instant::now();
    let documents = extract(&extractor, "hang");
    let failure = failure(&documents);
    assert_eq!(failure.reason(), Reason::TimedOut);
    assert!(format!("{failure:?}").contains("setting: FileSeconds, in_force: 300"));
    assert!((300..10_000).contains(&failure.elapsed_ms));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn lies_are_not_believed() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    for (name, message) in [
        ("garbage", "no such message"),
        ("huge", "too long"),
        ("flood", "more parts than the limits allow"),
    ] {
        assert_fails(&extractor, name, Reason::Crashed, message);
    }
    // A part with a path elsewhere, which is allowed only if there is an elsewhere.
    let mut found = Vec::new();
    let mut input = Input::member(Member {
        ipath: Ipath::root().child("mail").child("1"),
        name: "escape".into(),
        bytes: PDF.to_vec(),
        ..Member::default()
    });
    extractor.extract_all(&mut input, &mut |document| found.push(document));
    assert_eq!(found.len(), 1, "{found:?}");
    let failure = found[0].failure.as_ref().unwrap();
    assert!(
        format!("{failure:?}").contains("not inside its file"),
        "{failure:?}"
    );
}

#[test]
fn a_file_has_one_own_document_even_if_the_worker_sends_more() {
    let options = options(limits());
    let documents = extract(&Extractor::new(&options), "itself");
    assert_eq!(documents.len(), 1);
}

#[test]
fn what_members_expand_to_is_counted_here() {
    let options = options(limits());
    let documents = extract(&Extractor::new(&options), "bomb");
    let failure = failure(&documents);
    assert_eq!(failure.reason(), Reason::Limit);
    assert!(
        format!("{failure:?}").contains("MaxExpansion"),
        "{failure:?}"
    );
    assert!((10..80).contains(&documents.len()), "{}", documents.len());
}

#[test]
fn what_was_delivered_before_a_crash_stays() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    extract(&extractor, "good.pdf");
    let documents = extract(&extractor, "members-then-abort");
    let texts = documents.iter().filter(|document| document.body == "stoat");
    assert_eq!(texts.count(), 3, "{documents:?}");
    assert_eq!(failure(&documents).reason(), Reason::Crashed);
}

#[test]
fn a_program_that_is_none_is_a_failure_of_each_file() {
    let options = Options {
        worker: Some(PathBuf::from("/nowhere/ken")),
        ..options(limits())
    };
    let extractor = Extractor::new(&options);
    assert!(extractor.sandbox().is_err());
    assert_fails(&extractor, "good.pdf", Reason::Unreadable, "StartWorker");
    let options = Options {
        isolate: Isolate::None,
        ..options
    };
    let documents = extract(&Extractor::new(&options), "hang");
    assert_eq!(documents[0].failure, None, "parsed in this process");
}

#[test]
fn a_worker_serves_many_files_and_is_replaced_when_it_has_grown() {
    let options = options(limits());
    let extractor = Extractor::new(&options);
    let served = || extract(&extractor, "served").pop().unwrap().body;
    assert_eq!(served(), "1");
    extract(&extractor, "good.pdf");
    assert_eq!(served(), "3");
    let leaked = extract(&extractor, "leak");
    assert_eq!(leaked.last().unwrap().failure, None);
    assert_eq!(served(), "1");
}
