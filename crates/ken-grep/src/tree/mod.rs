//! A walk for searches with an index, where looking at files is most of the work.
//!
//! Threads take folders from a shared stack. Of each folder the names are read at once; each file that
//! the rules let through is asked of the index, and looked at (`fstatat`) in the open folder if the
//! answer depends on it. Nothing is allocated for a file that is left out. Those that are left go to
//! the visitor, in batches that other threads may take. If the index is trusted with where to walk,
//! folders are not even listed.
//!
//! As many threads walk as there are cores, as long as what they ask for is in memory. Where it is read from a
//! disk, they wait and the cores rest: a folder that took long asks whether they do, and calls more threads then.
//!
//! Options that hardly anybody combines with an index are left to the walk of `ignore`: to follow
//! links, to stay on a file system, limits of depth and size, a log of what is left out.

mod cores;
mod listing;
mod path;
mod rules;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use ignore::WalkState;
use ken_walk::{FileSystems, Queue};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::Observer;
use crate::input::Input;
use crate::narrow::{InFolder, Narrow, Verdict};
use crate::run::Tally;
use crate::walk::WalkOptions;
use cores::Cores;
use listing::{Entry, Listing};
use rules::{Found, Node, Root, Rules};

/// Files that a thread searches before it takes the next piece of work.
const BATCH: usize = 16;
/// More threads than that do not walk unless it is asked for, as in `ignore`.
const MAX_THREADS: usize = 12;
/// A folder for which nobody waited takes no longer: so much for each entry and for itself as for some.
const ENTRY_TIME: Duration = Duration::from_micros(if cfg!(test) { 0 } else { 4 });
const FOLDER_ENTRIES: u32 = 20;

/// The walk of one search.
pub(crate) struct Tree<'a> {
    walk: &'a WalkOptions,
    rules: Rules<'a>,
    narrow: &'a Narrow,
    observer: &'a dyn Observer,
    implicit: bool,
    roots: Vec<Root>,
    start: Vec<Folder>,
    /// Paths that are no folders.
    others: Vec<PathBuf>,
    /// Device and inode of the file that standard output goes to.
    output: Option<(u64, u64)>,
    is_stopped: AtomicBool,
}

#[derive(Clone)]
struct Folder {
    path: PathBuf,
    root: usize,
    node: Arc<Node>,
}

enum Work {
    Folder(Folder),
    Files(Vec<Input>),
}

impl<'a> Tree<'a> {
    /// Returns whether this module can walk so.
    pub(crate) fn knows(walk: &WalkOptions) -> bool {
        !walk.follow
            && !walk.one_file_system
            && walk.max_depth.is_none()
            && walk.max_filesize.is_none()
            && !walk.logged
    }

    /// Prepares the walk.
    pub(crate) fn new(
        walk: &'a WalkOptions,
        narrow: &'a Narrow,
        observer: &'a dyn Observer,
        implicit: bool,
    ) -> Result<Self, ignore::Error> {
        let mut tree = Self {
            walk,
            rules: Rules::new(walk)?,
            narrow,
            observer,
            implicit,
            roots: Vec::new(),
            start: Vec::new(),
            others: Vec::new(),
            output: walk.skip_output,
            is_stopped: AtomicBool::new(false),
        };
        for path in &walk.paths {
            // `-` is standard input.
            if path == Path::new("-") || !path.is_dir() {
                tree.others.push(path.clone());
            } else {
                tree.root(path);
            }
        }
        Ok(tree)
    }

    fn root(&mut self, path: &Path) {
        let mut errors = Vec::new();
        let (root, node) = self.rules.root(path, &mut errors);
        if let Some(message) = joined(&errors) {
            self.observer.failed(&message);
        }
        self.start.push(Folder {
            path: path.to_path_buf(),
            root: self.roots.len(),
            node,
        });
        self.roots.push(root);
    }

    /// Walks; each thread has a visitor of its own.
    pub(crate) fn run<V>(&self, tally: &Tally, visitor: impl Fn() -> V)
    where
        V: FnMut(Input) -> WalkState + Send,
    {
        let start = self.start.iter().rev().cloned().map(Work::Folder).collect();
        let queue = Queue::new(start);
        let (n_threads, n_more) = (self.n_threads(), self.walk.more_threads);
        let (call, calls) = mpsc::sync_channel(n_more);
        thread::scope(|scope| {
            let walk = |call| {
                let walker = Walker::new(self, tally, visitor(), call);
                scope.spawn(|| walker.run(&queue));
            };
            let mut cores = Cores::of(n_threads);
            (0..n_threads).for_each(|_| walk(Some(call.clone())));
            // Until all that may call have ended.
            drop(call);
            let mut left = n_more;
            while left > 0 && calls.recv().is_ok() {
                if cores.rest() {
                    let n_now = n_threads + n_more - left;
                    let more = n_now.min(left);
                    (0..more).for_each(|_| walk(None));
                    left -= more;
                }
            }
        });
    }

    /// Returns the paths that are no folders, which the walk of `ignore` knows better.
    pub(crate) fn others(&self) -> Option<WalkOptions> {
        let paths = self.others.clone();
        (!paths.is_empty()).then(|| WalkOptions {
            paths,
            ..self.walk.clone()
        })
    }

    fn n_threads(&self) -> usize {
        match self.walk.threads {
            0 => thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
            threads => threads,
        }
    }
}

/// One thread of the walk, with its buffers.
struct Walker<'a, V> {
    tree: &'a Tree<'a>,
    tally: &'a Tally,
    visit: V,
    listing: Listing,
    file_systems: FileSystems,
    /// The number of the file of grams that most files of the last folder are in.
    likely: usize,
    /// The path of the entry that is looked at.
    path: Vec<u8>,
    /// How much of it is its folder's.
    folder_length: usize,
    /// The regular files of the folder that the rules let through.
    regular: Vec<Entry>,
    found: Vec<Work>,
    files: Vec<Input>,
    /// Calls more threads.
    call: Option<SyncSender<()>>,
}

impl<'a, V: FnMut(Input) -> WalkState> Walker<'a, V> {
    fn new(tree: &'a Tree<'a>, tally: &'a Tally, visit: V, call: Option<SyncSender<()>>) -> Self {
        Self {
            tree,
            tally,
            visit,
            listing: Listing::default(),
            file_systems: FileSystems::default(),
            likely: 0,
            path: Vec::new(),
            folder_length: 0,
            regular: Vec::new(),
            found: Vec::new(),
            files: Vec::new(),
            call,
        }
    }

    /// Walks until no work is left.
    fn run(mut self, queue: &Queue<Work>) {
        while let Some((work, mut turn)) = queue.take() {
            if self.is_stopped() {
                queue.clear();
                continue;
            }
            let files = match work {
                Work::Files(files) => files,
                Work::Folder(folder) => {
                    self.folder(&folder);
                    let files = self.batches();
                    turn.hand_on(&mut self.found);
                    files
                }
            };
            self.visit_all(files);
        }
    }

    /// Returns the files of a folder that this thread takes itself; others may take the rest.
    fn batches(&mut self) -> Vec<Input> {
        while self.files.len() > BATCH {
            let rest = self.files.split_off(self.files.len() - BATCH);
            self.found.push(Work::Files(rest));
        }
        std::mem::take(&mut self.files)
    }

    fn visit_all(&mut self, files: Vec<Input>) {
        for file in files {
            if self.is_stopped() {
                return;
            }
            if (self.visit)(file) == WalkState::Quit {
                self.tree.is_stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.tree.is_stopped.load(Ordering::Relaxed)
    }

    fn folder(&mut self, folder: &Folder) {
        let start = self.call.as_ref().map(|_| Instant::now());
        let mut listing = std::mem::take(&mut self.listing);
        match open(&folder.path) {
            Err(error) => self.failed(&folder.path, error),
            Ok(descriptor) => {
                let mut known = self.tree.narrow.in_folder(&folder.path);
                // What could be read before an error is walked.
                let listed = self.list(&mut listing, folder, known.as_ref(), descriptor.as_fd());
                if let Err(error) = listed {
                    self.failed(&folder.path, error);
                }
                let mut errors = Vec::new();
                let rules = &self.tree.rules;
                let node = rules.below(&folder.node, &folder.path, listing.found, &mut errors);
                if let Some(message) = joined(&errors) {
                    self.tree.observer.bad_rule(&message);
                }
                let here = Here {
                    root: &self.tree.roots[folder.root],
                    number: folder.root,
                    node,
                    descriptor: descriptor.as_fd(),
                };
                self.entries(&here, &folder.path, &listing);
                self.judge(&here, known.as_mut(), &listing);
            }
        }
        if let (Some(call), Some(start)) = (&self.call, start) {
            let n_entries = u32::try_from(listing.entries.len()).unwrap_or(u32::MAX);
            if start.elapsed() > ENTRY_TIME.saturating_mul(n_entries.saturating_add(FOLDER_ENTRIES))
            {
                // There may be as many as are needed.
                let _ = call.try_send(());
            }
        }
        self.listing = listing;
    }

    /// Reads the names in a folder: all, from the index if they are the same there, or those that it says.
    fn list(
        &mut self,
        listing: &mut Listing,
        folder: &Folder,
        known: Option<&InFolder<'_>>,
        descriptor: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let Some(names) = self.tree.narrow.names_in(&folder.path) else {
            let kept = known.and_then(|known| known.listing(descriptor, &mut self.file_systems));
            let Some(kept) = kept else {
                return listing.read(descriptor);
            };
            listing.clear();
            kept.for_each(|(name, kind, inode)| listing.push(name, kind, inode));
            return Ok(());
        };
        listing.clear();
        for name in names {
            match rustix::fs::statat(descriptor, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => {
                    listing.push(
                        name.to_bytes(),
                        FileType::from_raw_mode(stat.st_mode),
                        stat.st_ino,
                    );
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                // Who opens it says what is wrong.
                Err(_) => listing.push(name.to_bytes(), FileType::RegularFile, 0),
            }
        }
        if !self.tree.rules.need_no_files() {
            listing.found = Found::MAYBE;
        }
        Ok(())
    }

    fn entries(&mut self, here: &Here<'_>, folder: &Path, listing: &Listing) {
        self.path.clear();
        self.path.extend_from_slice(folder.as_os_str().as_bytes());
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        self.folder_length = self.path.len();
        self.regular.clear();
        for &entry in &listing.entries {
            let name = listing.name(entry);
            self.path.truncate(self.folder_length);
            self.path.extend_from_slice(name);
            match self.kind(here, listing, entry) {
                Some(FileType::Directory) if self.is_admitted(here, listing, entry, true) => {
                    self.found.push(Work::Folder(Folder {
                        path: owned(&self.path),
                        root: here.number,
                        node: Arc::clone(&here.node),
                    }));
                }
                Some(FileType::RegularFile) if self.is_admitted(here, listing, entry, false) => {
                    self.regular.push(entry);
                }
                _ => {}
            }
        }
    }

    /// Asks of each regular file whether it may match.
    fn judge(&mut self, here: &Here<'_>, mut known: Option<&mut InFolder<'_>>, listing: &Listing) {
        if let Some(known) = &mut known {
            let names = self.regular.iter().map(|entry| listing.name(*entry));
            known.look_up(names, &mut self.likely);
        }
        let mut n_excluded = 0;
        for (number, &entry) in self.regular.iter().enumerate() {
            let verdict = known.as_ref().map_or(Verdict::MayMatch(None), |known| {
                known.judge(number, here.descriptor, listing.c_name(entry))
            });
            match verdict {
                Verdict::Excluded => n_excluded += 1,
                Verdict::MayMatch(pieces) => {
                    self.path.truncate(self.folder_length);
                    self.path.extend_from_slice(listing.name(entry));
                    let file = Input::file(owned(&self.path), self.tree.implicit);
                    self.files.push(file.with(pieces));
                }
            }
        }
        self.tally.count(self.regular.len() as u64, n_excluded);
    }

    /// Returns what an entry is.
    fn kind(&self, here: &Here<'_>, listing: &Listing, entry: Entry) -> Option<FileType> {
        if entry.kind != FileType::Unknown {
            return Some(entry.kind);
        }
        let name = listing.c_name(entry);
        match rustix::fs::statat(here.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(FileType::from_raw_mode(stat.st_mode)),
            Err(error) => {
                self.failed(self.here(), error);
                None
            }
        }
    }

    fn is_admitted(
        &self,
        here: &Here<'_>,
        listing: &Listing,
        entry: Entry,
        is_folder: bool,
    ) -> bool {
        let rules = &self.tree.rules;
        rules.admit(here.root, &here.node, self.here(), is_folder)
            && !self.is_output(here, listing, entry)
    }

    /// Returns whether an entry is the file that standard output goes to.
    fn is_output(&self, here: &Here<'_>, listing: &Listing, entry: Entry) -> bool {
        let Some(output) = self.tree.output.filter(|(_, inode)| *inode == entry.inode) else {
            return false;
        };
        let name = listing.c_name(entry);
        let stat = rustix::fs::statat(here.descriptor, name, AtFlags::empty());
        stat.is_ok_and(|stat| identity(&stat) == output)
    }

    /// Returns the path of the entry that is looked at.
    fn here(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    fn failed(&self, path: &Path, error: Errno) {
        let error = std::io::Error::from(error);
        let message = format!("{}: {error}", path.display());
        self.tree.observer.failed(&message);
    }
}

/// The folder whose entries are looked at.
struct Here<'a> {
    root: &'a Root,
    number: usize,
    node: Arc<Node>,
    descriptor: BorrowedFd<'a>,
}

fn open(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
}

fn owned(path: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()))
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
fn identity(stat: &rustix::fs::Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

fn joined(errors: &[ignore::Error]) -> Option<String> {
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    (!messages.is_empty()).then(|| messages.join("\n"))
}
