//! The pool of threads that extract.
//!
//! Each thread takes members of open containers first, then large files, then the others. Members
//! of a container go to other threads only while some of them are idle. Otherwise the thread that
//! found a member extracts it itself, which avoids the queue and keeps memory flat.

mod access;
mod attached;
pub(crate) mod counts;
mod file;
mod job;
mod large;
mod moved;
mod remote;
mod sink;

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender, TryRecvError, select};
use ken_core::{Change, Document, KeyHasher, Location, Stamp};
use ken_engine::FileState;
use ken_extract::{Extractor, Input, Member};

use crate::Progress;
use crate::budget::{Budget, Share};
use crate::guest::Guest;
use crate::mapped::Mapped;
use crate::ngrams::{FileNgrams, NgramWriter};
use crate::prepare::Prepared;
use crate::progress::{Resting, Stage};
use crate::write::{DocumentWriter, FileFacts, FirstError};
use counts::{Counts, Made};
use job::FileJob;
pub(crate) use large::Job;
use large::{LARGE_BYTES, Large};
use remote::{Opened, Remote};

/// Maximum number of members that wait for each thread. A waiting member keeps a thread from
/// falling asleep, and waking a thread takes as long as reading a message.
const MEMBERS_AHEAD: usize = 16;

/// State that all threads of the pool share.
pub(crate) struct Pool<'r> {
    pub(crate) prepared: &'r Prepared<'r>,
    pub(crate) documents: DocumentWriter<'r>,
    pub(crate) ngrams: &'r NgramWriter,
    pub(crate) errors: FirstError<'r>,
    hasher: KeyHasher,
    counts: &'r Counts,
    progress: &'r Progress,
    large: Large,
    /// Memory for files that are read, and for members that wait.
    inputs: Arc<Budget>,
    members: Arc<Budget>,
    mapped: Mapped,
    remote: Remote,
    /// Number of idle threads.
    idle: AtomicUsize,
    /// Maximum number of waiting members.
    most_members: usize,
    /// What is left to the machine of the run, if this is another one.
    guest: Option<&'r Guest>,
}

/// The private state of a thread in the pool.
pub(crate) struct Thread<'r> {
    extractor: Extractor<'r>,
    /// The thread's sender to the queue of members, until there are no more files.
    offer: Option<Sender<MemberJob>>,
    /// The n-grams of the current file, and those of its current part.
    own_ngrams: RefCell<FileNgrams>,
    part_ngrams: RefCell<FileNgrams>,
}

/// Counts a thread as idle.
struct Idle<'p>(&'p AtomicUsize);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A member that waits for a thread.
pub(crate) struct MemberJob {
    file: Arc<FileJob>,
    member: Member,
    _share: Share,
}

impl<'r> Pool<'r> {
    pub(crate) fn new(
        prepared: &'r Prepared<'r>,
        documents: DocumentWriter<'r>,
        ngrams: &'r NgramWriter,
        hasher: KeyHasher,
        counts: &'r Counts,
        progress: &'r Progress,
    ) -> Self {
        let options = &prepared.options;
        let shares = options.shares();
        Self {
            prepared,
            documents,
            ngrams,
            errors: FirstError::new(progress),
            hasher,
            counts,
            progress,
            large: Large::default(),
            inputs: Budget::new(shares.inputs),
            members: Budget::new(shares.members),
            mapped: Mapped::default(),
            remote: Remote::new(),
            idle: AtomicUsize::new(0),
            most_members: MEMBERS_AHEAD * (options.extract_threads().max(1) - 1),
            guest: None,
        }
    }

    /// Works for the run of another machine, if there is such a guest.
    pub(crate) fn for_another(self, guest: Option<&'r Guest>) -> Self {
        Self { guest, ..self }
    }

    /// Returns the hasher for keys of files.
    pub(crate) fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// Returns the error that ended the run, if one did.
    pub(crate) fn into_result(self) -> Result<(), ken_engine::Error> {
        self.errors.into_result()
    }

    /// Returns the queue entry for a change.
    pub(crate) fn queued(&self, change: Change) -> Job {
        self.large.job(change)
    }

    /// Works until all changes are done. `offer` is this thread's sender to the queue of members;
    /// the queue ends when all threads have dropped theirs.
    pub(crate) fn work(
        &self,
        changes: &Receiver<Job>,
        offer: Sender<MemberJob>,
        members: &Receiver<MemberJob>,
    ) {
        let _work = self.progress.gate.work();
        let mut thread = self.thread(Some(offer));
        while thread.offer.is_some() {
            match members.try_recv() {
                Ok(job) => self.member(job, &thread),
                Err(TryRecvError::Empty) if self.large_file(&thread) => {}
                Err(TryRecvError::Empty) => match changes.try_recv() {
                    Ok(job) => self.job(job, &thread),
                    Err(TryRecvError::Disconnected) => thread.offer = None,
                    Err(TryRecvError::Empty) => self.wait(changes, &mut thread, members),
                },
                Err(TryRecvError::Disconnected) => thread.offer = None,
            }
        }
        // There are no more files, but other threads may still find members.
        loop {
            let waiting = self.idle();
            let job = members.recv();
            drop(waiting);
            match job {
                Ok(job) => self.member(job, &thread),
                Err(_) => return,
            }
        }
    }

    /// Counts this thread as idle until the returned guards are dropped.
    fn idle(&self) -> (Resting<'_>, Idle<'_>) {
        self.idle.fetch_add(1, Ordering::Relaxed);
        (self.progress.rest(Stage::Idle), Idle(&self.idle))
    }

    /// Returns the private state of a thread; one without an offer extracts all its members itself.
    pub(crate) fn thread(&self, offer: Option<Sender<MemberJob>>) -> Thread<'_> {
        Thread {
            extractor: Extractor::new(&self.prepared.options.extract).with_seed(self.hasher.seed()),
            offer,
            own_ngrams: RefCell::default(),
            part_ngrams: RefCell::default(),
        }
    }

    fn wait(
        &self,
        changes: &Receiver<Job>,
        thread: &mut Thread<'_>,
        members: &Receiver<MemberJob>,
    ) {
        let waiting = self.idle();
        let woken = select! {
            recv(members) -> job => Ok(job),
            recv(changes) -> change => Err(change),
        };
        drop(waiting);
        match woken {
            Ok(Ok(job)) => self.member(job, thread),
            Err(Ok(job)) => self.job(job, thread),
            Ok(Err(_)) | Err(Err(_)) => thread.offer = None,
        }
    }

    fn job(&self, job: Job, thread: &Thread<'_>) {
        if let Some(change) = self.change_of(job) {
            self.change(change, thread);
        }
    }

    /// Returns the change of a queue entry; none if other threads took it.
    pub(crate) fn change_of(&self, job: Job) -> Option<Change> {
        match job {
            Job::Change(change) => Some(*change),
            Job::Large => self.large.take(),
        }
    }

    /// Extracts the largest waiting file, if there is one and memory for it: instead of waiting for
    /// memory, a thread can do smaller ones.
    fn large_file(&self, thread: &Thread<'_>) -> bool {
        let held = |change: &Change| match change {
            Change::Added { path, stamp } | Change::Changed { path, stamp } => {
                self.inputs.take_in_turn(self.held_bytes(path, stamp.size))
            }
            Change::Access { .. } | Change::Moved { .. } | Change::Gone { .. } => None,
        };
        let Some((change, share)) = self.large.take_if(held) else {
            return false;
        };
        self.change_with(change, Some(share), thread);
        true
    }

    /// Processes a change that the walk found.
    pub(crate) fn change(&self, change: Change, thread: &Thread<'_>) {
        self.change_with(change, None, thread);
    }

    /// Processes a change, whose memory may already be taken.
    fn change_with(&self, change: Change, share: Option<Share>, thread: &Thread<'_>) {
        self.progress.gate.pass();
        if self.progress.is_cancelled() {
            return;
        }
        let made = Made::by(&change);
        self.counts.add(made);
        match change {
            Change::Added { path, stamp } | Change::Changed { path, stamp } => {
                self.file(path, stamp, made, share, thread);
            }
            Change::Access { path, stamp } => self.reclassified(path, stamp, thread),
            Change::Moved { from, path, stamp } => self.moved(from, path, stamp, thread),
            Change::Gone { key } => self.errors.note(self.documents.delete(key)),
        }
    }

    /// Opens a file, whose stamp the walk found. The stamp of the open file is racy if a program may change the file
    /// without another stamp.
    fn open(&self, path: &Path, found: &Stamp) -> std::io::Result<Option<Opened>> {
        let is_remote = match self.guest {
            // The number of the device is that of another machine.
            Some(_) => self.remote.is_above(path),
            None => self.remote.has(found.device),
        };
        let opened = match is_remote {
            true => self.open_remote(path, found)?,
            false => crate::open::open(path)?.map(|(file, stamp)| Opened {
                class: self.class_of(&file, path),
                file,
                stamp,
                attached: None,
            }),
        };
        Ok(opened.map(|mut opened| {
            let stamp = &mut opened.stamp;
            if !stamp.is_racy() && self.mapped.may_change(&opened.file, stamp) {
                *stamp = stamp.as_racy();
            }
            opened
        }))
    }

    fn state(&self, stamp: &Stamp) -> FileState {
        FileState {
            token: stamp.token(&self.hasher, self.prepared.stale.generation),
            identity: stamp.identity(&self.hasher),
        }
    }

    fn facts<'a>(&self, path: &'a Path, stamp: &Stamp, class: Option<Arc<str>>) -> FileFacts<'a> {
        FileFacts {
            class,
            path,
            key: self.hasher.key(path),
            mtime_seconds: stamp.mtime_seconds(),
            mh: stamp.mh,
        }
    }

    /// Returns roughly how many bytes the extraction of a file holds.
    fn held_bytes(&self, path: &Path, size: u64) -> usize {
        let name = Location::file(path).file_name();
        let held = ken_extract::held_bytes(&name, size, &self.prepared.options.extract.limits);
        usize::try_from(held).unwrap_or(usize::MAX)
    }

    /// Takes memory for a part found within a file, in addition to what was taken `before`. Waits
    /// for a large amount. A small one is not counted, since there are at most as many of them as
    /// threads.
    fn memory_within(&self, n_bytes: usize, before: Option<Share>) -> Option<Share> {
        if n_bytes < LARGE_BYTES as usize {
            return before;
        }
        let _waiting = self.progress.rest(Stage::Memory);
        let mut share = before.unwrap_or_else(|| self.inputs.share());
        share.grow(n_bytes);
        Some(share)
    }

    /// Returns whether members are handed to other threads while `n_waiting` wait: from the moment
    /// a thread is idle until enough members wait that none falls asleep.
    fn is_wanted(&self, n_waiting: usize) -> bool {
        match n_waiting {
            0 => self.idle.load(Ordering::Relaxed) > 0,
            _ => n_waiting < self.most_members,
        }
    }

    fn member(&self, queued: MemberJob, thread: &Thread<'_>) {
        self.progress.gate.pass();
        if !self.progress.is_cancelled() {
            // Its bytes are counted from the time it waits.
            let _share = self.memory_within(unfolded_bytes(&queued.member), None);
            self.extract(&mut Input::member(queued.member), &queued.file, thread);
        }
        self.part_done(&queued.file);
    }

    /// Adds the fields that a folder gives to all documents below it.
    fn give_fields(&self, path: &Path, document: &mut Document) {
        for (field, value) in self.prepared.stale.profile.fields_of(path) {
            document.join_text(*field, value);
        }
    }
}

/// Returns roughly how much memory the extraction of a member takes besides its bytes, which become
/// text or go to a worker.
fn unfolded_bytes(member: &Member) -> usize {
    member.bytes.len()
}
