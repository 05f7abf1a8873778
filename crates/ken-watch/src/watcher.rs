//! Sets watches and reads events.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fs_err as fs;
use ken_core::Root;
use ken_walk::{Gate, Mounts, OnFolders, Progress, WalkOptions, WalkSummary, steers, walk_folders};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::table::Table;

/// Number of events after which a watcher returns, whether or not there are more.
const MAX_EVENTS: usize = 50_000;
const BUFFER_BYTES: usize = 64 << 10;

/// What is watched of a folder. A file that is written for hours changes when it is closed.
const MASK: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

/// An entry of a folder came.
const CAME: ReadFlags = ReadFlags::CREATE.union(ReadFlags::MOVED_TO);
/// An entry of a folder went.
const WENT: ReadFlags = ReadFlags::DELETE.union(ReadFlags::MOVED_FROM);

/// What happened since the last wait.
#[derive(Debug, Default)]
pub struct Events {
    /// Files and folders that may have changed. A folder stands for everything below it.
    pub changed: BTreeSet<PathBuf>,
    /// Why more may have changed than `changed` says.
    pub lost: Option<Lost>,
    /// Whether the file was replaced that [`Watcher::watch_replaced`] names.
    pub is_replaced: bool,
}

/// Why events may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// More happened than the kernel keeps.
    Overflow,
    /// A file system was mounted or unmounted.
    Mounts,
    /// A root came or went.
    Root,
}

/// How much is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Folders that are watched.
    pub watched: usize,
    /// Folders beyond the budget of watches.
    pub beyond: usize,
    /// Folders on remote file systems, whose changes the kernel does not see.
    pub remote: usize,
    /// Roots that are files, that follow links, or that cannot be walked now.
    pub roots: usize,
}

impl Coverage {
    /// Returns whether every change is seen.
    pub fn is_complete(&self) -> bool {
        self.beyond + self.remote + self.roots == 0
    }
}

/// Ends the wait of a watcher, from any thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Ends the current wait, or the next one.
    pub fn wake(&self) {
        // It fails only if the watcher is woken already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Watches the folders below roots.
pub struct Watcher {
    roots: Vec<Root>,
    options: WalkOptions,
    /// Maximum number of watches.
    budget: usize,
    seen: Arc<Seen>,
    /// Has news when something is mounted or unmounted.
    mounts: Option<fs::File>,
    /// Mount points above, at and below the roots.
    mounted: Vec<PathBuf>,
    waker: Waker,
    /// The folder of a file that is replaced, by its watch, and the name of the file.
    replaced: Option<(i32, PathBuf)>,
}

/// What the threads of a walk share.
struct Seen {
    inotify: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    table: Table,
    coverage: Coverage,
    /// Maximum number of watches that the kernel grants.
    budget: usize,
}

impl Seen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, watches: &[i32]) {
        for watch in watches {
            // The kernel may have removed it.
            let _ = inotify::remove_watch(&self.inotify, *watch);
        }
    }
}

impl OnFolders for Seen {
    fn entering(&self, folder: &Path, is_remote: bool) {
        let mut state = self.state();
        if is_remote {
            state.coverage.remote += 1;
            return;
        }
        if state.table.len() >= state.budget && !state.table.has(folder) {
            state.coverage.beyond += 1;
            return;
        }
        match inotify::add_watch(&self.inotify, folder, MASK) {
            Ok(watch) => {
                let displaced = state.table.enter(watch, folder);
                self.remove(displaced.as_slice());
            }
            Err(Errno::NOSPC | Errno::NOMEM) => {
                state.budget = state.table.len();
                state.coverage.beyond += 1;
            }
            // It is gone, which its parent's watch tells, or cannot be read.
            Err(_) => {}
        }
    }

    fn entered(&self, folder: &Path, gate: Gate) {
        self.state().table.set_gate(folder, gate);
    }
}

impl Watcher {
    /// Creates a watcher of no folders, which will set this many watches at most.
    ///
    /// # Errors
    /// Fails if the user's programs have too many watchers.
    pub fn new(options: WalkOptions, budget: usize) -> std::io::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let waker = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self {
            roots: Vec::new(),
            options,
            budget,
            seen: Arc::new(Seen {
                inotify,
                state: Mutex::default(),
            }),
            mounts: fs::File::open("/proc/self/mountinfo").ok(),
            mounted: Vec::new(),
            waker: Waker(Arc::new(waker)),
            replaced: None,
        })
    }

    /// Returns what ends a wait.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Watches whether a file is replaced by another one, or its folder goes.
    ///
    /// # Errors
    /// Fails if its folder cannot be watched.
    pub fn watch_replaced(&mut self, file: &Path) -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let mask = WatchFlags::MOVED_TO | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let watch = inotify::add_watch(&self.seen.inotify, folder, mask)?;
        let name = file.file_name().map(PathBuf::from);
        self.replaced = name.map(|name| (watch, name));
        Ok(())
    }

    /// Watches all folders below these roots, and no others. What changed before this call is not told.
    pub fn watch(&mut self, roots: Vec<Root>) {
        let before = std::mem::replace(&mut self.roots, roots);
        for root in before.iter().filter(|root| !self.is_root(&root.path)) {
            self.leave(&root.path);
        }
        self.mounted = Mounts::read().around(&self.roots);
        {
            let mut state = self.seen.state();
            state.coverage = Coverage::default();
            state.budget = self.budget;
            state.table.begin_walk();
        }
        let walked = self.walk(None);
        let is_file = |root: &&Root| root.follow_links || !root.path.is_dir();
        let unavailable = walked.unavailable.iter().map(|(path, _)| path);
        let unwatched: BTreeSet<&PathBuf> = unavailable
            .chain(self.roots.iter().filter(is_file).map(|root| &root.path))
            .collect();
        let mut state = self.seen.state();
        state.coverage.roots = unwatched.len();
        let watches = state.table.take_all_unentered();
        self.seen.remove(&watches);
    }

    /// Returns the roots below which folders are watched.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns how much is watched.
    pub fn coverage(&self) -> Coverage {
        let state = self.seen.state();
        Coverage {
            watched: state.table.len(),
            ..state.coverage
        }
    }

    /// Waits for events until a time, or for ever. Returns without any if it is woken.
    ///
    /// # Errors
    /// Fails if the kernel does.
    pub fn wait(&mut self, until: Option<Instant>) -> std::io::Result<Events> {
        let mut news = News::default();
        if self.poll(until)? && Mounts::read().around(&self.roots) != self.mounted {
            news.events.lost = Some(Lost::Mounts);
        }
        self.read(&mut news)?;
        self.follow(&news);
        Ok(news.events)
    }

    /// Waits for something to read; returns whether any mounts changed.
    fn poll(&self, until: Option<Instant>) -> std::io::Result<bool> {
        let mut polled = vec![
            PollFd::new(&self.seen.inotify, PollFlags::IN),
            PollFd::new(&*self.waker.0, PollFlags::IN),
        ];
        let mounts = self.mounts.as_ref().map(|mounts| mounts.file());
        polled.extend(mounts.map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
        let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = timeout.map(timespec);
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let _ = rustix::io::read(&*self.waker.0, &mut [0_u8; 8]);
        Ok(polled
            .get(2)
            .is_some_and(|mounts| mounts.revents().intersects(PollFlags::PRI | PollFlags::ERR)))
    }

    /// Reads events until there are none, or many.
    fn read(&self, news: &mut News) -> std::io::Result<()> {
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = inotify::Reader::new(self.seen.inotify.as_fd(), &mut buffer);
        let mut n_events = 0;
        while n_events < MAX_EVENTS || !reader.is_buffer_empty() {
            n_events += 1;
            match reader.next() {
                Ok(event) => self.take(&event, news),
                Err(Errno::WOULDBLOCK) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn take(&self, event: &inotify::Event<'_>, news: &mut News) {
        let (watch, kind) = (event.wd(), event.events());
        let name = event
            .file_name()
            .map(|name| OsStr::from_bytes(name.to_bytes()));
        if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
            news.events.lost = Some(Lost::Overflow);
            return;
        }
        if let Some((of_file, file)) = &self.replaced
            && *of_file == watch
        {
            news.events.is_replaced |= name.is_none_or(|name| name == file.as_os_str());
            return;
        }
        let mut state = self.seen.state();
        let Some(folder) = state.table.get(watch) else {
            return;
        };
        if let Some(name) = name {
            let path = folder.path.join(name);
            let is_folder = kind.contains(ReadFlags::ISDIR);
            if steers(name.as_bytes(), is_folder) {
                news.entered.insert(folder.path.to_path_buf());
                news.events.changed.insert(folder.path.to_path_buf());
            } else if is_folder && self.is_root(&path) {
                news.events.lost = Some(Lost::Root);
            } else if folder
                .gate
                .as_ref()
                .is_some_and(|gate| gate.admits(&path, is_folder))
            {
                news.take(path, kind);
            }
        } else if kind.contains(ReadFlags::UNMOUNT) {
            news.events.lost = Some(Lost::Mounts);
        } else if kind.contains(ReadFlags::IGNORED) {
            state.table.forget(watch);
        } else if self.is_root(&folder.path) {
            // It was deleted or moved, or has other permissions.
            news.events.lost = Some(Lost::Root);
        }
    }

    fn is_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.path == path)
    }

    /// Moves the watches to where the folders are now. Folders that came are watched before they are told.
    fn follow(&self, news: &News) {
        news.left.iter().for_each(|top| self.leave(top));
        if news.entered.is_empty() {
            return;
        }
        self.seen.state().table.begin_walk();
        let before = std::mem::take(&mut self.seen.state().coverage);
        self.enter_hidden(&news.entered);
        let tops: Vec<PathBuf> = news.entered.iter().cloned().collect();
        self.walk(Some(&tops));
        let mut state = self.seen.state();
        // Some of these are counted already; the next walk of all counts anew.
        let now = state.coverage;
        state.coverage = Coverage {
            beyond: before.beyond.max(now.beyond),
            remote: before.remote.max(now.remote),
            ..before
        };
        for top in &tops {
            let watches = state.table.take_unentered(top);
            self.seen.remove(&watches);
        }
    }

    /// Watches a folder and all below it no longer.
    fn leave(&self, top: &Path) {
        let watches = self.seen.state().table.take_below(top);
        self.seen.remove(&watches);
    }

    /// Watches hidden folders that came: they become mail folders, which are walked, when their own folders are made.
    fn enter_hidden(&self, entered: &BTreeSet<PathBuf>) {
        let is_hidden = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name.as_bytes().starts_with(b".")
        };
        let mut hidden = entered.iter().filter(is_hidden).peekable();
        if hidden.peek().is_some() {
            let mounts = Mounts::read();
            hidden.for_each(|path| self.seen.entering(path, mounts.are_above(path)));
        }
    }

    fn walk(&self, below: Option<&[PathBuf]>) -> WalkSummary {
        let progress = Progress::default();
        walk_folders(below, &self.roots, &self.options, &progress, &*self.seen)
    }
}

/// Events, and what they mean for the watches.
#[derive(Default)]
struct News {
    events: Events,
    /// Folders that came, or of which other entries are taken now.
    entered: BTreeSet<PathBuf>,
    /// Paths that folders left.
    left: BTreeSet<PathBuf>,
}

impl News {
    /// Takes the event of an entry that a walk takes.
    fn take(&mut self, path: PathBuf, kind: ReadFlags) {
        if kind.contains(ReadFlags::ISDIR) {
            if kind.intersects(CAME | WENT) {
                self.left.insert(path.clone());
            }
            // A folder that may be read now has other attributes.
            if !kind.intersects(WENT) {
                self.entered.insert(path.clone());
            }
        }
        self.events.changed.insert(path);
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        // Rounded up, so that the time has come when the wait is over.
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos().saturating_add(1).min(999_999_999)),
    }
}
