//! Indexes one file: opens it, deletes its documents from the index, extracts it, and adds its own
//! document last, as the mark of a finished file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use ken_core::{Document, Failure, Field, FileKey, Ipath, Location, Stamp, Token, may_pass};
use ken_engine::MessageId;
use ken_extract::Input;
use ken_walk::{Availability, Settled};

use super::access::term;
use super::counts::Made;
use super::job::{FileJob, lock};
use super::remote::Opened;
use super::sink::PoolSink;
use super::{Pool, Thread};
use crate::budget::Share;
use crate::guest::Guest;
use crate::mailbox::KnownMailbox;
use crate::ngrams::FileNgrams;
use crate::progress::Stage;

impl Pool<'_> {
    /// Reads a file. Returns false if its documents stay in the index because its root became
    /// unavailable.
    pub(super) fn file(
        &self,
        path: PathBuf,
        stamp: Stamp,
        made: Made,
        share: Option<Share>,
        thread: &Thread<'_>,
    ) -> bool {
        self.progress.set_current(&path);
        let key = self.hasher.key(&path);
        let mut opened = self.open(&path, &stamp);
        if let Some(guest) = self.guest {
            let own = opened.as_mut().ok().and_then(Option::as_mut);
            match own.and_then(|own| Some((Guest::stamp(&stamp, &own.stamp)?, own))) {
                Some((of_run, own)) => own.stamp = of_run,
                None => {
                    guest.leave(&path);
                    self.counts.take_back(made);
                    return true;
                }
            }
        }
        let mut mailbox = None;
        if made != Made::Added {
            if matches!(opened, Ok(None)) && self.is_root_away(&path) {
                self.counts.keep(made);
                self.progress.files_done.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            if let (Made::Changed, Err(error)) = (made, &opened)
                && self.fails_as_before(key, &stamp, error)
            {
                self.counts.take_back(made);
                self.progress.files_done.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            let opened = opened.as_ref().ok().and_then(Option::as_ref);
            mailbox = self.delete_what_changes(&path, key, opened);
        }
        match opened {
            Ok(Some(opened)) => {
                let (file, own) = (opened.file, opened.stamp);
                let n_bytes = own.size;
                let (attached, class) = (opened.attached, opened.class.as_ref());
                let attached =
                    attached.unwrap_or_else(|| self.attached(&file, &path, stamp.sidecar, class));
                let stamp = Stamp {
                    sidecar: attached.stamp,
                    mh: stamp.mh,
                    ..own
                };
                let job = FileJob {
                    state: self.state(&stamp),
                    class: class.map(term),
                    path,
                    key,
                    made,
                    stamp,
                    try_again: AtomicBool::new(attached.try_again),
                    attached: Mutex::new(attached),
                    pending: AtomicUsize::new(1),
                    has_parts: AtomicBool::new(false),
                    own: Mutex::new(None),
                    ngrams: Mutex::new(None),
                    mailbox: mailbox.map(Mutex::new),
                };
                self.extract_file(&file, job, share, thread);
                self.progress
                    .bytes_done
                    .fetch_add(n_bytes, Ordering::Relaxed);
            }
            // The file is gone since the walk, or no longer a regular file.
            Ok(None) => {}
            // The wait may have been cut short.
            Err(_) if self.progress.is_cancelled() => {
                self.counts.take_back(made);
                self.errors.note(self.documents.take_back(key));
            }
            Err(error) => self.unreadable(&path, stamp, &error),
        }
        self.progress.files_done.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Returns whether the index says of a file what this error says. A file that stays unreadable is tried by every
    /// run, which must not cost a commit.
    fn fails_as_before(&self, key: FileKey, stamp: &Stamp, error: &io::Error) -> bool {
        let cause = self.cause(stamp, error);
        let is_alike = |document: &Document| {
            let failure = document.failure.as_ref();
            failure.is_some_and(|failure| failure.cause == cause)
                && document.number(Field::Size) == i64::try_from(stamp.size).ok()
        };
        let known = self.prepared.snapshot.as_ref().map(|snapshot| {
            let addresses = snapshot.files().documents_of(key)?;
            let [address] = addresses[..] else {
                return Ok::<_, ken_engine::Error>(false);
            };
            Ok(is_alike(&snapshot.document(address)?.document))
        });
        !self.prepared.reads_otherwise() && matches!(known, Some(Ok(true)))
    }

    /// Returns whether the root of a file, or the file system mounted there, became unavailable
    /// since the walk.
    fn is_root_away(&self, path: &Path) -> bool {
        let root = ken_walk::covering(&self.prepared.roots, path);
        root.is_some_and(|root| ken_walk::availability(root) != Availability::Available)
    }

    /// Deletes the documents of a file that is read again, except messages of a mailbox that may
    /// stay.
    fn delete_what_changes(
        &self,
        path: &Path,
        key: FileKey,
        opened: Option<&Opened>,
    ) -> Option<KnownMailbox> {
        let known = match opened {
            Some(Opened {
                file, stamp, class, ..
            }) => {
                let class = class.as_ref().map(term);
                KnownMailbox::of(self.prepared, path, key, file, stamp.size, class.as_deref())
            }
            None => Ok(None),
        };
        let known = known.unwrap_or_else(|error| {
            self.errors.note(Err(error));
            None
        });
        self.errors.note(match known {
            Some(_) => self.documents.delete_own(key),
            None => self.documents.delete(key),
        });
        known
    }

    /// Takes memory for a file, unless its share was taken before.
    fn memory_for(&self, job: &FileJob, share: Option<Share>) -> Share {
        let mailbox = job.mailbox.as_ref();
        let messages = mailbox.map_or(0, |known| lock(known).memory_bytes());
        if let (Some(share), 0) = (share, messages) {
            return share;
        }
        let held = self.held_bytes(&job.path, job.stamp.size);
        let _waiting = self.progress.rest(Stage::Memory);
        self.inputs.take(held.saturating_add(messages))
    }

    fn extract_file(&self, file: &File, job: FileJob, share: Option<Share>, thread: &Thread<'_>) {
        let stamp = job.stamp;
        let _share = self.memory_for(&job, share);
        let log = lock(&job.attached).log.take();
        let job = Arc::new(job);
        let mut input = Input::at(&job.path, file, stamp.size);
        if let Some((log, size)) = &log {
            input = input.with_log(Input::file("", log, *size));
        }
        self.ngrams
            .begin(&mut thread.own_ngrams.borrow_mut(), &mut input, file);
        self.extract(&mut input, &job, thread);
        if let Some(known) = &job.mailbox {
            let known = std::mem::take(&mut *lock(known));
            let part = &mut thread.part_ngrams.borrow_mut();
            self.errors.note(self.end_mailbox(known, &job, part));
        }
        let ngrams = &mut thread.own_ngrams.borrow_mut();
        if job.pending.load(Ordering::Acquire) == 1 {
            self.end_ngrams(ngrams, &job);
        } else {
            *lock(&job.ngrams) = Some(std::mem::take(&mut **ngrams));
        }
        self.part_done(&job);
    }

    /// Deletes messages that are no longer in a mailbox, and takes the n-grams of those that stay.
    fn end_mailbox(
        &self,
        known: KnownMailbox,
        job: &FileJob,
        part: &mut FileNgrams,
    ) -> Result<(), ken_engine::Error> {
        let (lost, kept) = known.end();
        for message in lost {
            self.documents.delete_message(job.key, message)?;
        }
        // N-grams are facts about the current version of the file.
        let Some(snapshot) = &self.prepared.snapshot else {
            return Ok(());
        };
        if !self.ngrams.are_of_messages() {
            return Ok(());
        }
        for address in snapshot.files().documents_of(job.key)? {
            let document = snapshot.document(address)?.document;
            let id = document.message.map(|n| MessageId::of(&document.ipath, n));
            if id.is_some_and(|id| kept.contains(&id)) {
                self.ngrams
                    .part(part, &document, &job.facts(), job.state.token)?;
            }
        }
        Ok(())
    }

    /// Extracts a file, or a member of one.
    pub(super) fn extract(&self, input: &mut Input<'_>, job: &Arc<FileJob>, thread: &Thread<'_>) {
        let _span = self.progress.span(Stage::Extract, Some(&job.path));
        let mut sink = PoolSink::new(self, job, thread);
        thread.extractor.extract(input, &mut sink);
    }

    /// Adds the file's own document when its last part is done.
    pub(super) fn part_done(&self, job: &FileJob) {
        if job.pending.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.progress.is_cancelled() {
            // Parts may be missing, so the file gets no own document until the next run.
            self.counts.take_back(job.made);
            return self.errors.note(self.documents.take_back(job.key));
        }
        if let Some(mut ngrams) = lock(&job.ngrams).take() {
            self.end_ngrams(&mut ngrams, job);
        }
        let own = lock(&job.own).take();
        if let Some(mut document) = own {
            std::mem::take(&mut *lock(&job.attached)).join(&mut document);
            let mut state = job.state;
            if job.try_again.load(Ordering::Relaxed) {
                state.token = Token::UNFINISHED;
            }
            self.errors
                .note(self.documents.add(&job.facts(), Some(state), document));
        }
    }

    fn end_ngrams(&self, ngrams: &mut FileNgrams, job: &FileJob) {
        let has_parts = job.has_parts.load(Ordering::Relaxed);
        let (facts, token) = (job.facts(), job.state.token);
        self.errors
            .note(self.ngrams.end(ngrams, &facts, token, has_parts));
    }

    /// Adds a document with only the name of a file that cannot be opened or read.
    fn unreadable(&self, path: &Path, stamp: Stamp, error: &io::Error) {
        let name = Location::file(path).file_name();
        let detected = ken_extract::detect::by_name(&name);
        let mut document = Document::new(Ipath::root(), detected.media_type, detected.kind);
        ken_extract::add_file_name(&mut document, &name);
        document.add_number(Field::Size, i64::try_from(stamp.size).unwrap_or(i64::MAX));
        let cause = self.cause(&stamp, error);
        document.failure = Some(Failure::new(cause));
        self.give_fields(path, &mut document);
        let mut state = self.state(&stamp);
        // A moment ago, at the same time stamp, it may have been another file.
        let is_racy = ken_walk::settle(&stamp, SystemTime::now()) != Settled::Yes;
        if may_pass(error) || is_racy {
            state.token = Token::UNFINISHED;
        }
        let class = self.prepared.access.as_ref().map(|access| access.now(path));
        let facts = self.facts(path, &stamp, class);
        self.errors.note(self.ngrams.unread(&facts, state.token));
        self.errors
            .note(self.documents.add(&facts, Some(state), document));
    }
}
