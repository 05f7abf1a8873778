//! The pool of threads that extract.
//!
//! Each thread takes members of open containers first, then large files, then the others. A container's
//! members are handed to other threads only while some have nothing else to do; otherwise the thread that
//! found a member extracts it itself, which costs no queue and keeps memory flat.

pub(crate) mod attached;
pub(crate) mod counts;
pub(crate) mod large;

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crossbeam_channel::{Receiver, Sender, TryRecvError, select};
use ken_core::{
    Change, Document, Failure, Field, FileKey, FileRow, Ipath, KeyHasher, Kind, Location, Reason,
    Root, Stamp, Token,
};
use ken_extract::{Extractor, Input, Member, Sink};
use ken_index::{FileState, Snapshot};
use ken_walk::Availability;

use crate::Progress;
use crate::budget::{Budget, Share};
use crate::mailbox::{Fate, Known};
use crate::ngrams::{Grams, Taken};
use crate::open::{cause, is_passing, may_be_opened_later, open};
use crate::progress::{Resting, Stage};
use crate::stale::Staleness;
use crate::write::{Applier, FileFacts};
use attached::Beside;
use counts::{Counts, Made};
use large::{Job, LARGE_BYTES, Large};

/// Members that wait for each thread, at most: one that waits keeps a thread from falling asleep, and
/// waking it takes as long as reading a message.
pub(crate) const MEMBERS_AHEAD: usize = 16;

/// What all threads of the pool share.
pub(crate) struct Pool<'r> {
    pub(crate) applier: Applier<'r>,
    pub(crate) grams: &'r Grams,
    pub(crate) snapshot: Option<&'r Snapshot>,
    pub(crate) stale: &'r Staleness,
    /// Returns whether a file that the index knows is read again whatever its stamp.
    pub(crate) is_stale: &'r (dyn Fn(&Path, &FileRow) -> bool + Sync),
    pub(crate) hasher: KeyHasher,
    pub(crate) roots: &'r [Root],
    pub(crate) extract: &'r ken_extract::Options,
    /// Where the changes are counted that a thread takes up.
    pub(crate) counts: &'r Counts,
    pub(crate) large: Large,
    pub(crate) inputs: Arc<Budget>,
    pub(crate) members: Arc<Budget>,
    pub(crate) progress: &'r Progress,
    /// Threads that wait for work.
    pub(crate) idle: AtomicUsize,
    /// Members that may wait.
    pub(crate) most_members: usize,
    /// The first error that ends the run.
    pub(crate) failed: Mutex<Option<ken_index::Error>>,
}

/// What a thread of the pool has for itself.
pub(crate) struct Thread<'r> {
    extractor: Extractor<'r>,
    /// Its end of the queue of members, until there are no more files.
    offer: Option<Sender<MemberJob>>,
    /// The grams of the file that it reads, and those of a part of one.
    own_grams: RefCell<Taken>,
    part_grams: RefCell<Taken>,
}

/// A thread that has nothing to do.
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

/// A file of which parts are being extracted on several threads.
struct FileJob {
    path: PathBuf,
    key: FileKey,
    made: Made,
    stamp: Stamp,
    state: FileState,
    /// What stands beside the file, until its own document takes it.
    beside: Mutex<Beside>,
    /// Parts that are not done, the file's own extraction among them.
    pending: AtomicUsize,
    /// Whether some part failed for a cause that may pass.
    try_again: AtomicBool,
    /// Whether there are documents inside.
    has_parts: AtomicBool,
    /// The file's own document, which waits for the parts: it says that the file is finished.
    own: Mutex<Option<Document>>,
    /// Its grams, if they wait too: where they are, those of all parts are.
    grams: Mutex<Option<Taken>>,
    /// Messages that the index has of it and that may stay, if it is a mailbox.
    known: Option<Mutex<Known>>,
}

impl FileJob {
    fn facts(&self) -> FileFacts<'_> {
        FileFacts {
            path: &self.path,
            key: self.key,
            mtime_seconds: self.stamp.mtime_seconds(),
            mh: self.stamp.mh,
        }
    }
}

impl Pool<'_> {
    /// Works until all changes are done. `offer` is this thread's end of the queue of members;
    /// the queue is over when all threads have let theirs go.
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
        // No more files; other threads may still find members.
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

    /// Counts this thread as one that has nothing to do, until what is returned is dropped.
    fn idle(&self) -> (Resting<'_>, Idle<'_>) {
        self.idle.fetch_add(1, Ordering::Relaxed);
        (self.progress.rest(Stage::Idle), Idle(&self.idle))
    }

    /// Returns what a thread has for itself; one without an offer extracts all members that it meets.
    pub(crate) fn thread(&self, offer: Option<Sender<MemberJob>>) -> Thread<'_> {
        Thread {
            extractor: Extractor::new(self.extract).with_seed(self.hasher.seed()),
            offer,
            own_grams: RefCell::default(),
            part_grams: RefCell::default(),
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
        match job {
            Job::Change(change) => self.change(*change, thread),
            Job::Large => {
                // None is left if others began it.
                if let Some(change) = self.large.take() {
                    self.change(change, thread);
                }
            }
        }
    }

    /// Extracts the largest file that waits, if there is one and memory for it: a thread that waits for
    /// memory could do smaller ones.
    fn large_file(&self, thread: &Thread<'_>) -> bool {
        let held = |change: &Change| match change {
            Change::Added { path, stamp } | Change::Changed { path, stamp } => {
                self.inputs.take_in_turn(self.held_bytes(path, stamp.size))
            }
            Change::Moved { .. } | Change::Gone { .. } => None,
        };
        let Some((change, share)) = self.large.take_if(held) else {
            return false;
        };
        self.change_with(change, Some(share), thread);
        true
    }

    /// Makes a change that the walk found.
    pub(crate) fn change(&self, change: Change, thread: &Thread<'_>) {
        self.change_with(change, None, thread);
    }

    /// Makes a change; what its file holds in memory may be taken already.
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
            Change::Moved { from, path, stamp } => self.moved(from, path, stamp, thread),
            Change::Gone { key } => self.note(self.applier.delete(key)),
        }
    }

    /// Reads a file; returns false if what the index knows of it stays, as its root went away.
    fn file(
        &self,
        path: PathBuf,
        stamp: Stamp,
        made: Made,
        share: Option<Share>,
        thread: &Thread<'_>,
    ) -> bool {
        self.progress.set_current(&path);
        let key = self.hasher.key(&path);
        let opened = open(&path);
        let mut mailbox = None;
        if made != Made::Added {
            if matches!(opened, Ok(None)) && self.is_root_away(&path) {
                self.counts.keep(made);
                self.progress.files_done.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            let opened = opened.as_ref().ok().and_then(Option::as_ref);
            mailbox = self.delete_what_changes(&path, key, opened);
        }
        match opened {
            Ok(Some((file, own))) => {
                let n_bytes = own.size;
                let beside = Beside::read(&file, &path, stamp.sidecar);
                let stamp = Stamp {
                    sidecar: beside.stamp,
                    mh: stamp.mh,
                    ..own
                };
                let job = FileJob {
                    state: self.state(&stamp),
                    path,
                    key,
                    made,
                    stamp,
                    try_again: AtomicBool::new(beside.try_again),
                    beside: Mutex::new(beside),
                    pending: AtomicUsize::new(1),
                    has_parts: AtomicBool::new(false),
                    own: Mutex::new(None),
                    grams: Mutex::new(None),
                    known: mailbox.map(Mutex::new),
                };
                self.extract_file(&file, job, share, thread);
                self.progress
                    .bytes_done
                    .fetch_add(n_bytes, Ordering::Relaxed);
            }
            // Gone since the walk saw it, or no longer a regular file.
            Ok(None) => {}
            Err(error) => self.unreadable(&path, key, stamp, &error),
        }
        self.progress.files_done.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Returns whether the root above a file went away since the walk saw it, or what is mounted there.
    fn is_root_away(&self, path: &Path) -> bool {
        let root = ken_walk::covering(self.roots, path);
        root.is_some_and(|root| ken_walk::availability(root) != Availability::Available)
    }

    fn state(&self, stamp: &Stamp) -> FileState {
        FileState {
            token: stamp.token(&self.hasher, self.stale.edition),
            identity: stamp.identity(&self.hasher),
        }
    }

    /// Deletes what the index has of a file that is read again, but for the messages of a mailbox that
    /// may stay.
    fn delete_what_changes(
        &self,
        path: &Path,
        key: FileKey,
        opened: Option<&(File, Stamp)>,
    ) -> Option<Known> {
        let known = match opened {
            Some((file, stamp)) => self.known_mailbox(path, key, file, stamp.size),
            None => Ok(None),
        };
        let known = known.unwrap_or_else(|error| {
            self.note(Err(error));
            None
        });
        self.note(match known {
            Some(_) => self.applier.delete_own(key),
            None => self.applier.delete(key),
        });
        known
    }

    /// Returns about how many bytes the extraction of a file holds.
    fn held_bytes(&self, path: &Path, size: u64) -> usize {
        let name = Location::file(path).file_name();
        let held = ken_extract::held_bytes(&name, size, &self.extract.limits);
        usize::try_from(held).unwrap_or(usize::MAX)
    }

    fn memory_for(&self, job: &FileJob, share: Option<Share>) -> Share {
        let known = job.known.as_ref();
        let beside = known.map_or(0, |known| lock(known).memory_bytes());
        if let (Some(share), 0) = (share, beside) {
            return share;
        }
        let held = self.held_bytes(&job.path, job.stamp.size);
        let _waiting = self.progress.rest(Stage::Memory);
        self.inputs.take(held.saturating_add(beside))
    }

    /// Takes memory for what turns up within a file, beside what was taken for it before. Waits for it if it
    /// is much; little is not counted, since it is as often there as threads.
    fn room_for(&self, n_bytes: usize, before: Option<Share>) -> Option<Share> {
        if n_bytes < LARGE_BYTES as usize {
            return before;
        }
        let _waiting = self.progress.rest(Stage::Memory);
        let mut share = before.unwrap_or_else(|| self.inputs.share());
        share.grow(n_bytes);
        Some(share)
    }

    fn extract_file(&self, file: &File, job: FileJob, share: Option<Share>, thread: &Thread<'_>) {
        let stamp = job.stamp;
        let name = Location::file(&job.path).file_name();
        let _share = self.memory_for(&job, share);
        let log = lock(&job.beside).log.take();
        let mut input = Input::file(name, file, stamp.size);
        if let Some((log, size)) = &log {
            input = input.with_log(Input::file("", log, *size));
        }
        let job = Arc::new(job);
        self.grams
            .begin(&mut thread.own_grams.borrow_mut(), &mut input, file);
        self.extract(&mut input, &job, thread);
        if let Some(known) = &job.known {
            let known = std::mem::take(&mut *lock(known));
            let part = &mut thread.part_grams.borrow_mut();
            let token = job.state.token;
            self.note(self.end_mailbox(known, &job.facts(), token, part));
        }
        let grams = &mut thread.own_grams.borrow_mut();
        if job.pending.load(Ordering::Acquire) == 1 {
            self.end_grams(grams, &job);
        } else {
            *lock(&job.grams) = Some(std::mem::take(&mut **grams));
        }
        self.part_done(&job);
    }

    fn extract(&self, input: &mut Input<'_>, job: &Arc<FileJob>, thread: &Thread<'_>) {
        let _span = self.progress.span(Stage::Extract, Some(&job.path));
        let mut sink = PoolSink {
            pool: self,
            job,
            thread,
            room: None,
        };
        thread.extractor.extract(input, &mut sink);
    }

    /// Returns whether members are handed to other threads while so many wait: if one has nothing to do,
    /// and then until enough wait that none falls asleep.
    fn is_wanted(&self, n_waiting: usize) -> bool {
        match n_waiting {
            0 => self.idle.load(Ordering::Relaxed) > 0,
            _ => n_waiting < self.most_members,
        }
    }

    fn member(&self, queued: MemberJob, thread: &Thread<'_>) {
        self.progress.gate.pass();
        if !self.progress.is_cancelled() {
            // Its bytes are counted since it waits.
            let _share = self.room_for(unfolded_bytes(&queued.member), None);
            self.extract(&mut Input::member(queued.member), &queued.file, thread);
        }
        self.part_done(&queued.file);
    }

    /// Adds the file's own document when its last part is done.
    fn part_done(&self, job: &FileJob) {
        if job.pending.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.progress.is_cancelled() {
            // Parts may be missing: better none until the next run.
            self.counts.take_back(job.made);
            return self.note(self.applier.take_back(job.key));
        }
        if let Some(mut grams) = lock(&job.grams).take() {
            self.end_grams(&mut grams, job);
        }
        let own = lock(&job.own).take();
        if let Some(mut document) = own {
            std::mem::take(&mut *lock(&job.beside)).join(&mut document);
            let mut state = job.state;
            if job.try_again.load(Ordering::Relaxed) {
                state.token = Token::UNFINISHED;
            }
            self.note(self.applier.add(&job.facts(), Some(state), document));
        }
    }

    fn end_grams(&self, grams: &mut Taken, job: &FileJob) {
        let has_parts = job.has_parts.load(Ordering::Relaxed);
        let (facts, token) = (job.facts(), job.state.token);
        self.note(self.grams.end(grams, &facts, token, has_parts));
    }

    /// Adds what the folder gives to all documents below it.
    fn give_fields(&self, path: &Path, document: &mut Document) {
        for (field, value) in self.stale.reading.fields_of(path) {
            document.join_text(*field, value);
        }
    }

    /// The file cannot be opened or read: it is found by its name.
    fn unreadable(&self, path: &Path, key: FileKey, stamp: Stamp, error: &io::Error) {
        let name = Location::file(path).file_name();
        let detected = ken_extract::detect::by_name(&name);
        let mut document = Document::new(Ipath::root(), detected.media_type, detected.kind);
        document.add_text(Field::Filename, &name);
        document.add_number(Field::Size, i64::try_from(stamp.size).unwrap_or(i64::MAX));
        document.failure = Some(Failure::new(Reason::Unreadable, cause(error)));
        self.give_fields(path, &mut document);
        let mut state = self.state(&stamp);
        // A moment ago, and under the same time, it may have been another file or another permission.
        let is_racy = ken_walk::settle(&stamp, SystemTime::now()).is_some();
        if is_passing(error) || is_racy || may_be_opened_later(path, error) {
            state.token = Token::UNFINISHED;
        }
        let facts = FileFacts {
            path,
            key,
            mtime_seconds: stamp.mtime_seconds(),
            mh: stamp.mh,
        };
        self.note(self.grams.unread(&facts, state.token));
        self.note(self.applier.add(&facts, Some(state), document));
    }

    /// A file under a new path is written again from what the index holds of it. Where its type
    /// may depend on the name, it is extracted.
    fn moved(&self, from: FileKey, path: PathBuf, stamp: Stamp, thread: &Thread<'_>) {
        match self.rewritten(from, &path, stamp, thread) {
            Ok(true) => {
                self.progress.files_done.fetch_add(1, Ordering::Relaxed);
                self.progress
                    .bytes_done
                    .fetch_add(stamp.size, Ordering::Relaxed);
            }
            Ok(false) => {
                if !self.file(path, stamp, Made::Moved, None, thread) {
                    // Under its old path.
                    return;
                }
            }
            Err(error) => self.note(Err(error)),
        }
        self.note(self.applier.delete(from));
    }

    fn rewritten(
        &self,
        from: FileKey,
        path: &Path,
        stamp: Stamp,
        thread: &Thread<'_>,
    ) -> Result<bool, ken_index::Error> {
        let Some(snapshot) = self.snapshot else {
            return Ok(false);
        };
        let addresses = snapshot.addresses(from)?;
        let Some((old, row)) = snapshot.row_among(from, &addresses)? else {
            return Ok(false);
        };
        let name = Location::file(path).file_name();
        let fields_of = |path| self.stale.reading.fields_of(path);
        // Where the name does not tell the state of a message, its header does.
        let is_maildir = ken_mail::maildir::is_maildir_path;
        if is_read_otherwise(&old.file_name(), &name)
            || is_maildir(&old.path) != is_maildir(path)
            || fields_of(&old.path) != fields_of(path)
            || !row.token.is_finished()
            || self.stale.reason(&old.path, &row).is_some()
        {
            return Ok(false);
        }
        let mut own = None;
        let facts = FileFacts {
            path,
            key: self.hasher.key(path),
            mtime_seconds: stamp.mtime_seconds(),
            mh: stamp.mh,
        };
        let state = self.state(&stamp);
        let part = &mut thread.part_grams.borrow_mut();
        let has_parts = addresses.len() > 1;
        for address in addresses {
            let stored = snapshot.document(address)?;
            if stored.state.is_some() {
                own = Some(stored.document);
            } else {
                self.grams
                    .part(part, &stored.document, &facts, state.token)?;
                self.applier.add(&facts, None, stored.document)?;
            }
        }
        let Some(mut own) = own else {
            return Ok(false);
        };
        own.fields.retain(|(field, _)| *field != Field::Filename);
        own.add_text(Field::Filename, &name);
        self.moved_grams(&facts, &own, state.token, has_parts, thread)?;
        self.applier.add(&facts, Some(state), own)?;
        Ok(true)
    }

    /// The grams of a file are not kept with its documents: they are taken of its bytes again.
    fn moved_grams(
        &self,
        facts: &FileFacts<'_>,
        own: &Document,
        token: Token,
        has_parts: bool,
        thread: &Thread<'_>,
    ) -> Result<(), ken_index::Error> {
        if !self.grams.are_wanted() {
            return Ok(());
        }
        if own.kind == Kind::Message && !self.grams.are_of_messages() {
            return self.grams.unread(facts, token);
        }
        // What changed meanwhile has another stamp, under which nobody asks for these grams.
        let Ok(Some((file, stamp))) = open(facts.path) else {
            return self.grams.unread(facts, token);
        };
        let grams = &mut thread.own_grams.borrow_mut();
        let mut input = Input::file("", &file, stamp.size);
        self.grams.begin(grams, &mut input, &file);
        self.grams.own(grams, own);
        self.grams.end(grams, facts, token, has_parts)
    }

    /// Keeps the first error of the index and stops the run.
    pub(crate) fn note(&self, result: Result<(), ken_index::Error>) {
        if let Err(error) = result {
            lock(&self.failed).get_or_insert(error);
            self.progress.cancel();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes what extraction finds in one file, on one of the threads.
struct PoolSink<'p, 'r> {
    pool: &'p Pool<'r>,
    job: &'p Arc<FileJob>,
    thread: &'p Thread<'r>,
    /// What was taken for the part that comes next, and for how many bytes.
    room: Option<(Share, usize)>,
}

impl Sink for PoolSink<'_, '_> {
    fn document(&mut self, mut document: Document) {
        self.pool.give_fields(&self.job.path, &mut document);
        let pool = self.pool;
        if document.ipath.is_root() {
            pool.grams
                .own(&mut self.thread.own_grams.borrow_mut(), &document);
            *lock(&self.job.own) = Some(document);
        } else {
            self.job.has_parts.store(true, Ordering::Relaxed);
            let part = &mut self.thread.part_grams.borrow_mut();
            let facts = self.job.facts();
            let token = self.job.state.token;
            pool.note(pool.grams.part(part, &document, &facts, token));
            pool.note(pool.applier.add(&self.job.facts(), None, document));
        }
        self.room = None;
    }

    fn make_room(&mut self, n_bytes: usize) {
        // Of a part whose length is not known beforehand it is told again and again.
        let (before, n_before) = match self.room.take() {
            Some((share, n_before)) if n_before <= n_bytes => (Some(share), n_before),
            _ => (None, 0),
        };
        self.room = match n_bytes - n_before {
            // A small step is taken with the next ones.
            step if step < LARGE_BYTES as usize => before.map(|share| (share, n_before)),
            step => self
                .pool
                .room_for(step, before)
                .map(|share| (share, n_bytes)),
        };
    }

    fn member(&mut self, member: Member) {
        let room = self.room.take().map(|(share, _)| share);
        self.pool.progress.gate.pass();
        if self.stays(&member) {
            return;
        }
        if let Some(offer) = &self.thread.offer
            && self.pool.is_wanted(offer.len())
            && let Some(share) = self.pool.members.try_take(member.bytes.len())
        {
            self.job.pending.fetch_add(1, Ordering::AcqRel);
            let job = MemberJob {
                file: Arc::clone(self.job),
                member,
                _share: share,
            };
            if let Err(refused) = offer.send(job) {
                self.pool.member(refused.into_inner(), self.thread);
            }
            return;
        }
        let own = if room.is_some() {
            0
        } else {
            member.bytes.len()
        };
        let n_bytes = own.saturating_add(unfolded_bytes(&member));
        let _room = self.pool.room_for(n_bytes, room);
        self.pool
            .extract(&mut Input::member(member), self.job, self.thread);
    }

    fn is_cancelled(&self) -> bool {
        self.pool.progress.is_cancelled()
    }

    fn try_again(&mut self) {
        self.job.try_again.store(true, Ordering::Relaxed);
    }
}

impl PoolSink<'_, '_> {
    /// Returns whether a member is a message of a mailbox that the index has already; deletes the one
    /// in whose place it comes.
    fn stays(&self, member: &Member) -> bool {
        let Some(known) = &self.job.known else {
            return false;
        };
        if member.offset.is_none() {
            if member.ipath.depth() == 1 {
                // Before what takes their place.
                for id in lock(known).give_up() {
                    self.pool
                        .note(self.pool.applier.delete_message(self.job.key, id));
                }
            }
            return false;
        }
        let place = self.thread.extractor.place(member);
        match lock(known).meet(&member.ipath, place) {
            Fate::Kept => {
                self.job.has_parts.store(true, Ordering::Relaxed);
                return true;
            }
            Fate::Replaced(id) => {
                let applier = &self.pool.applier;
                self.pool.note(applier.delete_message(self.job.key, id));
            }
            Fate::New => {}
        }
        false
    }
}

/// Returns about how much the extraction of a member holds beside its bytes: they become text, or go to a worker.
fn unfolded_bytes(member: &Member) -> usize {
    member.bytes.len()
}

/// Returns whether a file may be taken for another type under its new name. What a compressed file
/// holds is told by the name without the last extension.
fn is_read_otherwise(old: &str, new: &str) -> bool {
    let media_type = |name: &str| ken_extract::detect::by_name(name).media_type;
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| media_type(stem));
    media_type(old) != media_type(new) || stem(old) != stem(new)
}

impl Pool<'_> {
    /// Returns the error that ended the run, if one did.
    pub(crate) fn into_error(self) -> Option<ken_index::Error> {
        self.failed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_of_the_same_type_need_no_reading() {
        for (old, new, expected) in [
            ("a.txt", "b.txt", false),
            ("a.txt", "a.md", true),
            ("a.txt.gz", "a.md.gz", true),
            ("a.gz", "a.tar.gz", true),
            ("Makefile", "notes", true),
            ("12345678.1.host:2,", "12345678.1.host:2,RS", false),
        ] {
            assert_eq!(is_read_otherwise(old, new), expected, "{old} {new}");
        }
    }
}
