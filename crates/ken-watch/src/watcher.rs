//! Sets watches and reads events.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fs_err as fs;
use ken_core::Root;
use ken_walk::{
    Gate, Mounts, Progress, WalkOptions, WalkSummary, steers, steers_searches, walk_folders,
};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::mask::{GONE, WENT};
use crate::news::{Events, LeftOut, Lost, News};
use crate::pace::Pace;
use crate::rank::Ranks;
use crate::seen::{Coverage, Seen, State};
use crate::suspension::Suspension;
use crate::table::Folder;
use crate::tops::Tops;

/// Number of events that the kernel keeps, if the system does not tell it.
const USUAL_QUEUE: usize = 16_384;
const BUFFER_BYTES: usize = 64 << 10;

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
    /// Roots that are away and are no mount points.
    away: Vec<PathBuf>,
    waker: Waker,
    /// The folder of a file that is replaced, by its watch, and the name of the file.
    replaced: Option<(i32, PathBuf)>,
    pace: Pace,
    /// Number of events after which a wait ends, whether or not there are more: all that were there when it began.
    max_events: usize,
    suspension: Suspension,
    /// Whether more may have changed since the last [`Watcher::watch`] than was told.
    has_lost: bool,
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
            away: Vec::new(),
            waker: Waker(Arc::new(waker)),
            replaced: None,
            pace: Pace::default(),
            max_events: queue_length(),
            suspension: Suspension::now(),
            has_lost: false,
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

    /// Leaves out other paths than before, from the next [`Watcher::watch`] on.
    pub fn exclude(&mut self, paths: Vec<PathBuf>) {
        self.options.excluded = paths;
    }

    /// Watches all folders below these roots, and no others. What changed before this call is not told.
    pub fn watch(&mut self, roots: Vec<Root>) {
        let before = std::mem::replace(&mut self.roots, roots);
        for root in before.iter().filter(|root| !self.is_root(&root.path)) {
            self.leave(&root.path);
        }
        self.mounted = Mounts::read().around(&self.roots);
        let sides = {
            let mut state = self.seen.state();
            state.unwatched = Tops::default();
            state.walked = None;
            state.left_out = Tops::default();
            state.budget = self.budget;
            state.table.begin_walk();
            std::mem::take(&mut state.sides).watches()
        };
        self.watch_above();
        let mut walked = self.walk(None);
        if self.coverage().beyond > 0 {
            walked = self.watch_best();
        }
        let is_mount = |path: &PathBuf| self.roots.iter().any(|of| of.path == *path && of.mounted);
        let away = walked.unavailable.iter().map(|(path, _)| path);
        self.away = away.filter(|path| !is_mount(path)).cloned().collect();
        let mut state = self.seen.state();
        self.note_roots(&mut state, &walked);
        let watches = [state.table.take_all_unentered(), sides].concat();
        self.seen.remove(&state, &watches);
        drop(state);
        self.has_lost = false;
    }

    /// Watches the best folders instead of those that a walk found first.
    fn watch_best(&self) -> WalkSummary {
        let budget = self.seen.state().budget;
        let ranks = Ranks::new(&self.roots, budget);
        let progress = Progress::default();
        walk_folders(None, &self.roots, &self.options, &progress, &ranks);
        {
            let mut state = self.seen.state();
            let choice = ranks.choice();
            let is_worse = |path: &Path| choice.as_ref().is_some_and(|of| !of.prefers(path));
            let watches = state.table.take_those(is_worse);
            self.seen.remove(&state, &watches);
            state.unwatched = Tops::default();
            state.choice = choice;
            state.table.begin_walk();
        }
        let walked = self.walk(None);
        self.seen.state().choice = None;
        walked
    }

    /// Notes the roots that are not watched, or in which changes are not seen.
    fn note_roots(&self, state: &mut State, walked: &WalkSummary) {
        for root in &self.roots {
            let mut away = walked.unavailable.iter().map(|(path, _)| path);
            let is_away = away.any(|path| *path == root.path);
            let is_seen = || root.path.is_dir() || state.sides.has_file(&root.path);
            let is_remote = state.sides.is_remote(&root.path);
            let is_unseen = is_away || root.follow_links || is_remote || !is_seen();
            if is_unseen && !state.unwatched.has(&root.path) {
                let one = Coverage {
                    roots: 1,
                    ..Coverage::default()
                };
                state.unwatched.insert(&root.path, one);
            }
        }
    }

    /// Watches what decides on roots from outside.
    fn watch_above(&self) {
        let mut state = self.seen.state();
        state
            .sides
            .watch_above(&self.seen.inotify, &self.roots, &self.options);
    }

    /// Returns the roots below which folders are watched.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Returns the roots that were away when all watches were set, but for those where a file system was mounted.
    pub fn away(&self) -> &[PathBuf] {
        &self.away
    }

    /// Returns how much is watched.
    pub fn coverage(&self) -> Coverage {
        let state = self.seen.state();
        Coverage {
            watched: state.table.len(),
            ..state.unwatched.sum()
        }
    }

    /// Returns the folders and roots whose changes are not told, each with everything below it. If they are many, their
    /// parents stand for them.
    pub fn unwatched(&self) -> Vec<PathBuf> {
        self.seen.state().unwatched.paths().cloned().collect()
    }

    /// Returns what the index leaves out and a search of files may not, each with everything below it; some of it may be
    /// gone. If it is much, folders stand for their entries.
    pub fn left_out(&self) -> Vec<PathBuf> {
        self.seen.state().left_out.paths().cloned().collect()
    }

    /// Returns whether every change at and below a path was told or waits to be, so that [`Watcher::wait`] until now
    /// tells of all. This is so if the path is a file in a watched folder, or a watched folder with all folders below it
    /// that a walk takes.
    pub fn is_complete_below(&self, path: &Path) -> bool {
        let state = self.seen.state();
        let is_file = || !state.sides.is_remote(path) && !path.is_dir();
        let is_file_of = |folder| state.table.has(folder) && is_file();
        let is_watched = state.table.has(path)
            || path.parent().is_some_and(is_file_of)
            || self.is_root(path) && state.sides.has_file(path);
        is_watched && !self.has_lost && !state.sides.is_partial() && !state.unwatched.meet(path)
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
        if self.suspension.is_over() {
            news.events.lost = Some(Lost::Suspension);
        }
        self.read(&mut news)?;
        {
            let mut state = self.seen.state();
            for LeftOut { path, is_there } in &news.left_out {
                match is_there {
                    true => state.left_out.insert(path, 1),
                    false => _ = state.left_out.remove_below(path),
                }
            }
        }
        self.follow(&news);
        let is_all = news.n_idle >= news.events.n_events;
        self.pace.note(news.n_idle, is_all, Instant::now());
        self.has_lost |= news.events.lost.is_some();
        news.events.locked = self.seen.state().sides.locked().clone();
        Ok(news.events)
    }

    /// Waits for something to read; returns whether any mounts changed.
    fn poll(&self, until: Option<Instant>) -> std::io::Result<bool> {
        loop {
            let now = Instant::now();
            let paused_until = self.pace.paused_until(now);
            let end = [until, paused_until].into_iter().flatten().min();
            let timeout = end.map(|end| timespec(end.saturating_duration_since(now)));
            let mut polled = vec![PollFd::new(&*self.waker.0, PollFlags::IN)];
            let mounts = self.mounts.as_ref().map(|mounts| mounts.file());
            polled.extend(mounts.map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
            if paused_until.is_none() {
                polled.push(PollFd::new(&self.seen.inotify, PollFlags::IN));
            }
            match poll(&mut polled, timeout.as_ref()) {
                Ok(0) if end != until => continue,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let _ = rustix::io::read(&*self.waker.0, &mut [0_u8; 8]);
            let has_news = PollFlags::PRI | PollFlags::ERR;
            let mounts = polled.get(1).filter(|_| mounts.is_some());
            return Ok(mounts.is_some_and(|mounts| mounts.revents().intersects(has_news)));
        }
    }

    /// Reads events until there are none, or many.
    fn read(&self, news: &mut News) -> std::io::Result<()> {
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = inotify::Reader::new(self.seen.inotify.as_fd(), &mut buffer);
        while news.events.n_events <= self.max_events || !reader.is_buffer_empty() {
            match reader.next() {
                Ok(event) => {
                    news.events.n_events += 1;
                    match news.repeats(&event) {
                        true => news.n_idle += 1,
                        false => self.take(&event, news),
                    }
                }
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
        match name {
            Some(name) => {
                let meanings = state.sides.take(watch, name, kind);
                let folder = state.table.get(watch);
                let is_idle = meanings.is_empty();
                meanings
                    .into_iter()
                    .for_each(|meaning| news.take_side(meaning, kind));
                match folder {
                    Some(folder) => self.take_entry(folder, name, kind, news),
                    None => news.n_idle += usize::from(is_idle),
                }
            }
            None if kind.contains(ReadFlags::UNMOUNT) => news.events.lost = Some(Lost::Mounts),
            None if kind.contains(ReadFlags::IGNORED) => {
                state.table.forget(watch);
                state.sides.forget(watch);
            }
            None => {
                // It was deleted or moved, or has other permissions.
                if let Some(folder) = state.table.get(watch) {
                    let above = folder.path.parent();
                    if self.is_root(&folder.path) {
                        news.events.lost = Some(Lost::Root);
                    } else if kind.intersects(GONE)
                        && !above.is_some_and(|above| state.table.has(above))
                    {
                        news.go(&folder.path);
                    }
                }
            }
        }
    }

    /// Takes the event of an entry of a folder.
    fn take_entry(&self, folder: &Folder, name: &OsStr, kind: ReadFlags, news: &mut News) {
        let path = folder.path.join(name);
        let is_folder = kind.contains(ReadFlags::ISDIR);
        let admits = |gate: &Gate| gate.admits(&path, is_folder);
        if steers(name.as_bytes(), is_folder) {
            news.enter(&folder.path);
        } else if is_folder && self.is_root(&path) {
            news.events.lost = Some(Lost::Root);
        } else if folder.gate.as_ref().is_some_and(admits) {
            news.take(path, kind);
        } else {
            news.n_idle += 1;
            if steers_searches(name.as_bytes()) {
                let path = folder.path.to_path_buf();
                let is_there = true;
                news.left_out.push(LeftOut { path, is_there });
            } else if folder
                .gate
                .as_ref()
                .is_some_and(|gate| gate.leaves_out(&path, is_folder))
            {
                let is_there = !kind.intersects(WENT);
                news.left_out.push(LeftOut { path, is_there });
            }
        }
    }

    fn is_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.path == path)
    }

    /// Looks again at the folders that are not watched, whose number may have changed: those that fit into the
    /// budget are watched, the others are counted. Returns what to look at once more if more folders are watched now: a
    /// change may have preceded the watch.
    ///
    /// Folders that are left out for another reason keep their number: a walk of a remote file system may take
    /// minutes.
    pub fn recount(&self) -> BTreeSet<PathBuf> {
        let state = self.seen.state();
        let n_watched = state.table.len();
        let is_beyond = |coverage: Coverage| coverage.unwatched() == coverage.beyond;
        let tops = state.unwatched.paths_where(is_beyond);
        drop(state);
        self.enter(&tops);
        match self.seen.state().table.len() > n_watched {
            true => tops,
            false => BTreeSet::new(),
        }
    }

    /// Moves the watches to where the folders are now. Folders that came are watched before they are told.
    fn follow(&self, news: &News) {
        news.left.iter().for_each(|top| self.leave(top));
        self.enter(&news.entered);
        if news.has_rules && !news.entered.is_empty() {
            self.watch_above();
        }
    }

    /// Walks folders and all below them, and watches what may be watched.
    fn enter(&self, tops: &BTreeSet<PathBuf>) {
        if tops.is_empty() {
            return;
        }
        {
            let mut state = self.seen.state();
            for top in tops {
                state.unwatched.remove_below(top);
            }
            state.table.begin_walk();
            state.walked = Some(tops.clone());
        }
        let tops: Vec<PathBuf> = tops.iter().cloned().collect();
        let walked = self.walk(Some(&tops));
        let mut state = self.seen.state();
        self.note_roots(&mut state, &walked);
        for top in &tops {
            let watches = state.table.take_unentered(top);
            self.seen.remove(&state, &watches);
        }
    }

    /// Watches a folder and all below it no longer.
    fn leave(&self, top: &Path) {
        let mut state = self.seen.state();
        state.unwatched.remove_below(top);
        let watches = [state.table.take_below(top), state.sides.leave(top)].concat();
        self.seen.remove(&state, &watches);
    }

    fn walk(&self, below: Option<&[PathBuf]>) -> WalkSummary {
        let progress = Progress::default();
        let walked = walk_folders(below, &self.roots, &self.options, &progress, &*self.seen);
        let mut state = self.seen.state();
        let unread = walked.incomplete.iter();
        unread.for_each(|path| state.unwatched.insert(path, Coverage::default()));
        drop(state);
        walked
    }
}

/// Returns the number of events that the kernel keeps.
fn queue_length() -> usize {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    let limit = limit.ok().and_then(|text| text.trim().parse().ok());
    limit.unwrap_or(USUAL_QUEUE)
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        // Rounded up, so that the time has come when the wait is over.
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos().saturating_add(1).min(999_999_999)),
    }
}
