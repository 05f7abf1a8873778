//! Tests of mailboxes that are edited between runs, against indexes made from scratch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use ken_core::{Document, Field, Ipath, Order, Plan, Root, Value};
use ken_engine::{MessageId, Scope, Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};
use proptest::prelude::*;

use super::options;
use crate::{Ngrams, Options, Progress, RootChange, Summary, update};

/// A message in the mailbox: its subject, its structure, and its state.
#[derive(Clone, Debug, PartialEq)]
struct Letter {
    subject: u32,
    kind: usize,
    state: &'static str,
}

impl Letter {
    fn text(&self) -> String {
        let Self { subject, state, .. } = self;
        let mut text = String::from("From anna@example.org Fri Jan 31 12:34:56 2003\n");
        // One kind does not have the form of a mailbox, and one was sent without a date.
        if self.kind == 4 {
            text = "From anna 12:34 Jan 2003\n".to_owned();
        }
        if self.kind != 3 {
            text.push_str("Date: Thu, 30 Jan 2003 10:00:00 +0000\n");
        }
        let _ = write!(
            text,
            "From: Anna <anna@example.org>\nMessage-ID: <{subject}@x>\nSubject: s{subject}\n{state}"
        );
        text.push_str(match self.kind {
            1 => concat!(
                "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n",
                "text\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; ",
                "filename=a.txt\n\nattached\n--b--\n\n"
            ),
            2 => "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\nsecret\n--b--\n\n",
            _ => "\nSome words.\n\n>From here on quoted.\n\n",
        });
        text
    }

    /// Returns the number of documents of the message.
    fn n_documents(&self) -> u64 {
        // The encrypted part is attached.
        1 + u64::from(self.kind == 1)
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Append(usize),
    Remove(usize),
    Swap(usize, usize),
    Mark(usize, &'static str),
    Replace(usize),
    Cut(usize),
    Clear,
}

fn edits() -> impl Strategy<Value = Edit> {
    let at = 0..8_usize;
    prop_oneof![
        4 => (0..5_usize).prop_map(Edit::Append),
        1 => at.clone().prop_map(Edit::Remove),
        1 => (at.clone(), at.clone()).prop_map(|(a, b)| Edit::Swap(a, b)),
        2 => (at.clone(), prop_oneof![Just("Status: RO\n"), Just("Status: O\n"), Just("")])
            .prop_map(|(at, state)| Edit::Mark(at, state)),
        1 => at.clone().prop_map(Edit::Replace),
        1 => at.prop_map(Edit::Cut),
        1 => Just(Edit::Clear),
    ]
}

/// A mailbox with its index.
struct World {
    folder: tempfile::TempDir,
    /// Its name says whether it is compressed.
    name: &'static str,
    letters: Vec<Letter>,
    next: u32,
}

const NAMES: [&str; 2] = ["all.mbox", "all.mbox.gz"];

impl World {
    fn new() -> Self {
        Self::named(NAMES[0])
    }

    fn named(name: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("mail")).unwrap();
        let mut world = Self {
            folder,
            name,
            letters: Vec::new(),
            next: 0,
        };
        (0..5).for_each(|kind| world.edit(&Edit::Append(kind)));
        world
    }

    fn edit(&mut self, edit: &Edit) {
        let n = self.letters.len().max(1);
        self.next += 1;
        match *edit {
            Edit::Append(kind) => self.letters.push(Letter {
                subject: self.next,
                kind,
                state: "",
            }),
            Edit::Swap(a, b) if !self.letters.is_empty() => self.letters.swap(a % n, b % n),
            Edit::Remove(at) if !self.letters.is_empty() => drop(self.letters.remove(at % n)),
            Edit::Cut(at) => self.letters.truncate(at),
            Edit::Clear => self.letters.clear(),
            Edit::Mark(at, state) => {
                let letter = self.letters.get_mut(at % n);
                letter.into_iter().for_each(|letter| letter.state = state);
            }
            Edit::Replace(at) => {
                let letter = self.letters.get_mut(at % n);
                letter
                    .into_iter()
                    .for_each(|letter| letter.subject = self.next);
            }
            Edit::Swap(..) | Edit::Remove(_) => {}
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mail").join(self.name)
    }

    fn write(&self) {
        let text: String = self.letters.iter().map(Letter::text).collect();
        self.write_bytes(text.as_bytes());
    }

    fn write_bytes(&self, bytes: &[u8]) {
        if self.name == NAMES[0] {
            return fs_err::write(self.path(), bytes).unwrap();
        }
        let file = fs_err::File::create(self.path()).unwrap();
        let mut encoder = GzEncoder::new(file, Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap();
    }

    fn options(&self, data: &str) -> Options {
        options(&self.folder.path().join(data), 64 << 20)
    }

    fn update(&self, options: &Options) -> Summary {
        let add = RootChange::Add(Root::new(self.folder.path().join("mail")));
        update(options, &[add], &Progress::default(), &|_| ()).unwrap()
    }

    /// Returns the documents of an index, without the values that differ between indexes.
    fn documents(&self, data: &str) -> BTreeMap<String, (Document, bool)> {
        let snapshot = Snapshot::open(&self.folder.path().join(data).join("index")).unwrap();
        let found = snapshot.run(&Plan::All, Order::default(), 0, usize::MAX);
        let documents = found.unwrap().hits.into_iter().map(|hit| {
            let stored = snapshot.document(hit.address).unwrap();
            let mut document = stored.document;
            let key = |(field, value): &(Field, Value)| format!("{field:?} {value:?}");
            document.fields.sort_by_key(key);
            let failure = document.failure.iter_mut();
            failure.for_each(|failure| failure.elapsed_ms = 0);
            document.content = document.content.map(|_| 0);
            // If the exact position is unknown, the message is searched for.
            let has_span = document.span.take().is_some();
            (stored.location.to_string(), (document, has_span))
        });
        let documents: Vec<_> = documents.collect();
        let n_documents = documents.len();
        let documents: BTreeMap<_, _> = documents.into_iter().collect();
        assert_eq!(documents.len(), n_documents, "none is there twice");
        documents
    }

    /// Updates the index and compares it with one made from scratch. Returns how many documents
    /// were written.
    fn check(&self, options: &Options, name: &str) -> u64 {
        let written = self.update(options).documents;
        self.update(&self.options(name));
        assert_eq!(self.documents("data"), self.documents(name));
        written
    }
}

#[test]
fn an_appended_mailbox_costs_its_new_messages() {
    for name in NAMES {
        let mut world = World::named(name);
        let mut options = world.options("data");
        options.ngrams = Ngrams::Text;
        world.write();
        // One has an attachment, and the mailbox is a document too.
        assert_eq!(world.check(&options, "first"), 5 + 1 + 1);
        world.edit(&Edit::Append(0));
        world.write();
        // The message without a time of delivery may be a different one later.
        assert_eq!(world.check(&options, "second"), 1 + 1 + 1);
        world.edit(&Edit::Append(1));
        world.write();
        assert_eq!(world.check(&options, "third"), 2 + 1 + 1);
        world.edit(&Edit::Mark(1, "Status: RO\n"));
        world.write();
        assert_eq!(world.check(&options, "fourth"), 2 + 1 + 1);
        options.full = true;
        assert_eq!(world.update(&options).documents, 7 + 2 + 1);
    }
}

/// Returns an archive of one message, with the number of a message of the mailbox.
fn archive() -> Vec<u8> {
    let message = b"From: b@example.org\nMessage-ID: <other@x>\nSubject: other\n\nAnother one.\n";
    let mut header = tar::Header::new_ustar();
    header.set_size(message.len() as u64);
    header.set_cksum();
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, "2", &message[..]).unwrap();
    archive.into_inner().unwrap()
}

#[test]
fn what_is_no_mailbox_any_more_is_gone_whole() {
    for name in NAMES {
        let world = World::named(name);
        let options = world.options("data");
        for (other, n_documents) in [(b"%PDF-1.4\n".to_vec(), 1), (archive(), 2)] {
            world.write();
            world.update(&options);
            assert!(world.documents("data").len() > 2);
            world.write_bytes(&other);
            world.check(&options, "fresh");
            assert_eq!(world.documents("data").len(), n_documents);
        }
        world.write();
        assert_eq!(world.check(&options, "again"), 5 + 1 + 1);
    }
}

#[test]
fn a_stopped_run_leaves_nothing_half() {
    let mut world = World::new();
    let options = world.options("data");
    world.write();
    world.update(&options);
    world.edit(&Edit::Mark(1, "Status: RO\n"));
    world.write();
    let progress = Progress::default();
    update(&options, &[], &progress, &|_| progress.cancel()).unwrap();
    world.check(&options, "fresh");
}

/// A mail program writes while a run reads, so only a part of the last message is there.
#[test]
fn a_mailbox_that_was_read_half_is_completed() {
    let world = World::new();
    let options = world.options("data");
    let text: String = world.letters.iter().map(Letter::text).collect();
    for end in [
        40,
        text.len() / 3,
        text.len() / 2,
        text.len() - 30,
        text.len() - 1,
    ] {
        fs_err::write(world.path(), &text[..end]).unwrap();
        world.check(&options, &format!("half{end}"));
        fs_err::write(world.path(), &text).unwrap();
        world.check(&options, &format!("whole{end}"));
    }
}

#[test]
fn a_mailbox_whose_run_was_killed_is_read_whole() {
    let mut world = World::new();
    let options = world.options("data");
    world.write();
    world.update(&options);
    // The state after a commit in the middle of a run: the file's own document waits for the last
    // message, and one message has only a part.
    let path = fs_err::canonicalize(world.path()).unwrap();
    let writer = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(&world.folder.path().join("data/index"), writer).unwrap();
    let meta = writer.meta().clone();
    let key = meta.hasher.key(&path);
    writer.delete(key, Scope::Own);
    writer.delete(
        key,
        Scope::Message(MessageId::of(&Ipath::from_joined("2"), 1)),
    );
    writer.commit(&meta).unwrap();
    writer.close().unwrap();
    world.edit(&Edit::Append(0));
    world.write();
    assert_eq!(world.check(&options, "fresh"), 6 + 1 + 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// After any edits of a mailbox, the index equals one made from scratch, and unchanged messages
    /// with the same number are not written again.
    #[test]
    fn an_edited_mailbox_is_indexed_as_if_anew(
        name in proptest::sample::select(&NAMES[..]),
        rounds in proptest::collection::vec(proptest::collection::vec(edits(), 1..3), 1..5),
    ) {
        let mut world = World::named(name);
        let options = world.options("data");
        world.write();
        world.update(&options);
        for (round, edits) in rounds.iter().enumerate() {
            let before = world.letters.clone();
            edits.iter().for_each(|edit| world.edit(edit));
            world.write();
            let written = world.check(&options, &format!("fresh{round}"));
            let letters = world.letters.iter().enumerate();
            let is_written = |(at, letter): &(usize, &Letter)| {
                letter.kind == 4 || before.get(*at) != Some(letter)
            };
            let expected: u64 = letters.filter(is_written).map(|(_, letter)| letter.n_documents()).sum();
            // An empty mailbox is no mailbox.
            if !before.is_empty() && !world.letters.is_empty() && written > 0 {
                prop_assert_eq!(written, expected + 1);
            }
        }
    }
}
