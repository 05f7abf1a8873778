//! The walk of a search.
//!
//! Threads take folders from a shared stack. A thread reads all names of a folder at once, asks the
//! index about each file that the rules admit, and stats the file (`fstatat` in the open folder) if
//! the answer depends on it. Nothing is allocated for a file that is left out. The remaining files
//! go to the visitor, in batches that other threads may take. If the user trusts the index for the
//! walk, folders are not even listed.
//!
//! As many threads walk as there are cores, as long as the data are in memory. When the data come
//! from a disk, threads wait and cores are idle: a folder that took long checks whether this is so,
//! and then calls more threads.
//!
//! A single thread goes through a tree in order: a run of files, the following folder with
//! everything in it, the next run. The order is that of names, or of the file system.

mod cores;
mod filter;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Instant;

use ignore::WalkState;
use ken_walk::{
    Entry, EntryOrder, FileSystems, FolderRules, Lineage, Listing, Mounts, Queue, WalkRoot,
};
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::Observer;
use crate::input::Input;
use crate::prefilter::{InFolder, LastFolder, Prefilter, Verdict};
use crate::tally::Tally;
use crate::walk::WalkOptions;
use cores::{Cores, Patience};
use filter::Filter;

/// Number of files that a thread searches before it takes the next piece of work.
const BATCH: usize = 16;
/// Maximum number of threads that walk unless more are requested, as in `ignore`.
const MAX_THREADS: usize = 12;
/// The walk of one search.
pub(crate) struct Tree<'a> {
    walk: &'a WalkOptions,
    filter: Filter,
    prefilter: &'a Prefilter,
    observer: &'a dyn Observer,
    implicit: bool,
    /// The folders that the user named.
    roots: Vec<WalkRoot>,
    patience: Patience,
    /// Whether one thread walks alone, in order.
    in_order: bool,
    is_stopped: AtomicBool,
    mounts: Mounts,
}

struct Folder {
    path: PathBuf,
    /// Index of its root.
    root: usize,
    rules: Arc<FolderRules>,
    /// Depth of the folder below its root.
    depth: usize,
    /// The parent folders; kept only where an option needs them.
    parent: Option<Arc<Lineage>>,
    /// Whether its file system may not answer.
    is_remote: bool,
}

enum Work {
    Folder(Folder),
    Files(Vec<Input>),
}

impl<'a> Tree<'a> {
    /// Prepares the walk.
    ///
    /// # Errors
    /// Fails if a glob or a type is not valid.
    pub(crate) fn new(
        walk: &'a WalkOptions,
        prefilter: &'a Prefilter,
        observer: &'a dyn Observer,
        implicit: bool,
    ) -> Result<Self, ignore::Error> {
        Ok(Self {
            walk,
            filter: Filter::new(walk, observer)?,
            prefilter,
            observer,
            implicit,
            roots: Vec::new(),
            patience: Patience::default(),
            in_order: false,
            is_stopped: AtomicBool::new(false),
            mounts: Mounts::read(),
        })
    }

    /// Walks; each thread has its own visitor.
    pub(crate) fn run<V>(mut self, tally: &Tally, visitor: impl Fn() -> V)
    where
        V: FnMut(Input) -> WalkState + Send,
    {
        let queue = self.start(tally);
        let tree = &self;
        let (n_threads, n_more) = (tree.n_threads(), tree.walk.more_threads);
        let (call, calls) = mpsc::sync_channel(n_more);
        thread::scope(|scope| {
            let walk = |call| {
                let walker = Walker::new(tree, tally, visitor(), call);
                scope.spawn(|| walker.run(&queue));
            };
            let mut cores = Cores::of(n_threads, tree.patience);
            (0..n_threads).for_each(|_| walk(Some(call.clone())));
            // Lasts until all threads that may call have ended.
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

    /// Walks on the caller's thread, in order.
    pub(crate) fn run_in_order(mut self, tally: &Tally, visit: impl FnMut(Input) -> WalkState) {
        self.in_order = true;
        let queue = self.start(tally);
        Walker::new(&self, tally, visit, None).run(&queue);
    }

    /// Returns the named paths as work, with the first one to be taken first.
    fn start(&mut self, tally: &Tally) -> Queue<Work> {
        let paths = &self.walk.paths;
        let mut last = LastFolder::default();
        let mut start: Vec<Work> = Vec::with_capacity(paths.len());
        for path in paths {
            // `-` is standard input.
            if self.is_remote(path) && !ken_walk::answers(path, &|| false) {
                self.failed(path, Errno::TIMEDOUT);
                continue;
            }
            let work = match path != Path::new("-") && path.is_dir() {
                true => Some(Work::Folder(self.root(path))),
                false => self
                    .named(path, tally, &mut last)
                    .map(|file| Work::Files(vec![file])),
            };
            start.extend(work);
        }
        start.reverse();
        Queue::new(start)
    }

    fn root(&mut self, path: &Path) -> Folder {
        let root = WalkRoot::typed(path);
        let rules = self.filter.above(&root, self.observer);
        self.roots.push(root);
        Folder {
            path: path.to_path_buf(),
            root: self.roots.len() - 1,
            rules,
            depth: 0,
            parent: None,
            is_remote: self.is_remote(path),
        }
    }

    /// Returns a file that the user named, unless an index rules it out; no rule leaves it out.
    fn named(&self, path: &Path, tally: &Tally, last: &mut LastFolder) -> Option<Input> {
        if path == Path::new("-") {
            tally.count(1, 0);
            return Some(Input::standard_input(self.implicit));
        }
        // ripgrep leaves a dangling link to the search, but not with a single thread.
        let stat = match self.in_order {
            true => rustix::fs::stat(path),
            false => rustix::fs::lstat(path),
        };
        if let Err(error) = stat {
            self.failed(path, error);
            return None;
        }
        match self.prefilter.judge(path, true, last) {
            Verdict::Excluded => {
                tally.count(1, 1);
                None
            }
            Verdict::MayMatch(pieces) => {
                tally.count(1, 0);
                let file = Input::named(path.to_path_buf(), self.implicit).with(pieces);
                Some(file.on(self.is_remote(path)))
            }
        }
    }

    /// Returns whether a path that the user named is on a file system that may not answer, or a link below it may be.
    fn is_remote(&self, path: &Path) -> bool {
        let is_above = || {
            let path = std::path::absolute(path);
            path.is_ok_and(|path| self.mounts.are_above(&path))
        };
        self.mounts.are_any() && (self.walk.follow || is_above())
    }

    fn n_threads(&self) -> usize {
        match self.walk.threads {
            0 => thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
            threads => threads,
        }
    }

    fn failed(&self, path: &Path, error: Errno) {
        let (path, error) = (path.display(), std::io::Error::from(error));
        let message = match self.in_order {
            // ripgrep's message with a single thread.
            true => format!("{path}: IO error for operation on {path}: {error}"),
            false => format!("{path}: {error}"),
        };
        self.observer.failed(&message);
    }
}

/// One thread of the walk, with its buffers.
struct Walker<'a, V> {
    tree: &'a Tree<'a>,
    tally: &'a Tally,
    visit: V,
    listing: Listing,
    file_systems: FileSystems,
    /// Index of the n-gram segment that holds most files of the last folder.
    likely: usize,
    /// The path of the current entry.
    path: Vec<u8>,
    /// Length of the folder's part of it.
    folder_length: usize,
    /// The regular files of the folder that the rules admit.
    regular: Vec<Entry>,
    /// The subfolders, each with the number of regular files before it.
    folders: Vec<(usize, Folder)>,
    found: Vec<Work>,
    files: Vec<Input>,
    /// Entries of the folder whose file system does not answer.
    silent: HashSet<Vec<u8>>,
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
            folders: Vec::new(),
            found: Vec::new(),
            files: Vec::new(),
            silent: HashSet::new(),
            call,
        }
    }

    /// Walks until there is no work left.
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

    /// Returns the files of a folder that this thread searches itself; other threads may take the
    /// rest.
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
            if file.is_remote() && !ken_walk::answers(file.path(), &|| self.is_stopped()) {
                self.tree.failed(file.path(), Errno::TIMEDOUT);
                continue;
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
        if self
            .tree
            .walk
            .max_depth
            .is_some_and(|most| folder.depth >= most)
        {
            return;
        }
        match self.silent_in(folder) {
            Ok(silent) => self.silent = silent,
            Err(error) => return self.tree.failed(&folder.path, error),
        }
        let start = self.call.as_ref().map(|_| Instant::now());
        let mut listing = std::mem::take(&mut self.listing);
        listing.clear();
        let opened = open(&folder.path).and_then(|descriptor| {
            let lineage = self.lineage(folder, descriptor.as_fd())?;
            Ok((descriptor, lineage))
        });
        match opened {
            Err(error) => self.tree.failed(&folder.path, error),
            Ok((_, Some(lineage))) if self.tree.walk.one_file_system && lineage.is_mounted() => {}
            Ok((descriptor, lineage)) => {
                self.open_folder(folder, &mut listing, descriptor.as_fd(), lineage);
            }
        }
        if let (Some(call), Some(start)) = (&self.call, start)
            && self.tree.patience.is_over(start, listing.entries.len())
        {
            // There may already be as many as needed.
            let _ = call.try_send(());
        }
        self.listing = listing;
    }

    /// Returns the entries of a folder whose file system does not answer.
    fn silent_in(&self, folder: &Folder) -> Result<HashSet<Vec<u8>>, Errno> {
        match folder.is_remote {
            true => {
                let follows = self.tree.walk.follow;
                let silent = ken_walk::silent_entries(&folder.path, follows, &|| self.is_stopped());
                silent.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            false => Ok(HashSet::new()),
        }
    }

    /// Identifies the folder, if an option needs that.
    fn lineage(
        &self,
        folder: &Folder,
        descriptor: BorrowedFd<'_>,
    ) -> Result<Option<Arc<Lineage>>, Errno> {
        let walk = self.tree.walk;
        if !walk.follow && !walk.one_file_system {
            return Ok(None);
        }
        let stat = rustix::fs::fstat(descriptor)?;
        Ok(Some(Arc::new(Lineage::new(&stat, folder.parent.clone()))))
    }

    fn open_folder(
        &mut self,
        folder: &Folder,
        listing: &mut Listing,
        descriptor: BorrowedFd<'_>,
        lineage: Option<Arc<Lineage>>,
    ) {
        let tree = self.tree;
        let mut known = tree.prefilter.in_folder(&folder.path);
        // What could be read before an error is walked.
        if let Err(error) = self.list(listing, folder, known.as_ref(), descriptor) {
            tree.failed(&folder.path, error);
        }
        if tree.walk.sorted_by_walk() {
            listing.sort(descriptor, EntryOrder::Path);
        }
        let holds = listing.ignore_files;
        let here = Here {
            root: &tree.roots[folder.root],
            number: folder.root,
            depth: folder.depth,
            rules: tree
                .filter
                .below(&folder.rules, &folder.path, holds, tree.observer),
            lineage,
            descriptor,
            is_remote: folder.is_remote,
        };
        self.entries(&here, &folder.path, listing);
        self.judge(&here, known.as_mut(), listing);
    }

    /// Reads the names in a folder: all names, from the index if they are unchanged there, or only
    /// those that the index gives.
    fn list(
        &mut self,
        listing: &mut Listing,
        folder: &Folder,
        known: Option<&InFolder<'_>>,
        descriptor: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let names = self.tree.prefilter.names_in(&folder.path);
        if self.tree.in_order {
            // In the order of the file system, whatever the index knows.
            listing.read(descriptor)?;
            if let Some(names) = names {
                let names: HashSet<&[u8]> = names.iter().map(|name| name.to_bytes()).collect();
                let mut entries = std::mem::take(&mut listing.entries);
                entries.retain(|entry| names.contains(listing.name(*entry)));
                listing.entries = entries;
            }
            return Ok(());
        }
        let Some(names) = names else {
            let kept = known.and_then(|known| known.listing(descriptor, &mut self.file_systems));
            let Some(kept) = kept else {
                return listing.read(descriptor);
            };
            kept.for_each(|(name, kind, inode)| listing.push(name, kind, inode));
            return Ok(());
        };
        for name in names {
            match rustix::fs::statat(descriptor, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => listing.push(name.to_bytes(), kind_of(&stat), stat.st_ino),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                // Opening the file reports the error.
                Err(_) => listing.push(name.to_bytes(), FileType::RegularFile, 0),
            }
        }
        listing.ignore_files = self.tree.filter.ignore_files(descriptor);
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
            if !self.silent.is_empty() && self.silent.contains(name) {
                self.tree.failed(self.here(), Errno::TIMEDOUT);
                continue;
            }
            match self.kind(here, listing, entry) {
                Some(FileType::Directory) if self.is_admitted(here, listing, entry, true) => {
                    let path = owned(&self.path);
                    let folder = Folder {
                        is_remote: here.is_remote || self.is_mounted(&path),
                        path,
                        root: here.number,
                        rules: Arc::clone(&here.rules),
                        depth: here.depth + 1,
                        parent: here.lineage.clone(),
                    };
                    self.folders.push((self.regular.len(), folder));
                }
                Some(FileType::RegularFile)
                    if self.is_admitted(here, listing, entry, false)
                        && !self.is_too_large(here, listing, entry) =>
                {
                    self.regular.push(entry);
                }
                _ => {}
            }
        }
    }

    /// Judges whether each regular file may match. The rest becomes work: files and folders.
    fn judge(&mut self, here: &Here<'_>, mut known: Option<&mut InFolder<'_>>, listing: &Listing) {
        if let Some(known) = &mut known {
            let names = self.regular.iter().map(|entry| listing.name(*entry));
            known.look_up(names, &mut self.likely);
        }
        let mut n_excluded = 0;
        let regular = std::mem::take(&mut self.regular);
        let folders = std::mem::take(&mut self.folders);
        let mut folders = folders.into_iter().peekable();
        for (number, &entry) in regular.iter().enumerate() {
            while self.tree.in_order
                && let Some((_, folder)) = folders.next_if(|(before, _)| *before <= number)
            {
                self.folder_follows(folder);
            }
            let systems = &mut self.file_systems;
            let verdict = known.as_ref().map_or(Verdict::MayMatch(None), |known| {
                known.judge(number, here.descriptor, listing.c_name(entry), systems)
            });
            match verdict {
                Verdict::Excluded => n_excluded += 1,
                Verdict::MayMatch(pieces) => {
                    self.path.truncate(self.folder_length);
                    self.path.extend_from_slice(listing.name(entry));
                    let file = Input::found(owned(&self.path), self.tree.implicit);
                    self.files.push(file.with(pieces).on(here.is_remote));
                }
            }
        }
        folders.for_each(|(_, folder)| self.folder_follows(folder));
        if self.tree.in_order {
            self.end_run();
            // The last one is taken first.
            self.found.reverse();
        }
        self.tally.count(regular.len() as u64, n_excluded);
        self.regular = regular;
    }

    /// Returns whether a file system that may not answer is mounted at a folder.
    fn is_mounted(&self, folder: &Path) -> bool {
        let mounts = &self.tree.mounts;
        mounts.are_any() && std::path::absolute(folder).is_ok_and(|path| mounts.are_at(&path))
    }

    fn folder_follows(&mut self, folder: Folder) {
        if self.tree.in_order {
            self.end_run();
        }
        self.found.push(Work::Folder(folder));
    }

    /// Makes the files since the last folder a separate piece of work.
    fn end_run(&mut self) {
        if !self.files.is_empty() {
            let files = std::mem::take(&mut self.files);
            self.found.push(Work::Files(files));
        }
    }

    /// Returns the type of an entry; `None` if it cannot be determined, which is reported to the
    /// observer.
    fn kind(&self, here: &Here<'_>, listing: &Listing, entry: Entry) -> Option<FileType> {
        let name = listing.c_name(entry);
        let kind = match entry.kind {
            FileType::Unknown => kind_of(&self.look(here, name, AtFlags::SYMLINK_NOFOLLOW)?),
            known => known,
        };
        if kind != FileType::Symlink || !self.tree.walk.follow {
            return Some(kind);
        }
        let target = self.look(here, name, AtFlags::empty())?;
        let kind = kind_of(&target);
        let is_loop = kind == FileType::Directory && self.reports_loop(here, &target);
        (!is_loop).then_some(kind)
    }

    fn look(&self, here: &Here<'_>, name: &CStr, flags: AtFlags) -> Option<Stat> {
        let stat = rustix::fs::statat(here.descriptor, name, flags);
        stat.map_err(|error| self.tree.failed(self.here(), error))
            .ok()
    }

    /// Returns whether a link leads to one of its own parent folders, and reports it.
    fn reports_loop(&self, here: &Here<'_>, target: &Stat) -> bool {
        let Some(above) = Lineage::new(target, here.lineage.clone()).loop_depth() else {
            return false;
        };
        let child = self.here();
        let ancestor = match above > here.depth {
            true => Some(here.root.path()),
            false => child.ancestors().nth(above),
        };
        let loops = ignore::Error::Loop {
            ancestor: ancestor.unwrap_or(child).to_path_buf(),
            child: child.to_path_buf(),
        };
        self.tree.observer.failed(&loops.to_string());
        true
    }

    fn is_admitted(
        &self,
        here: &Here<'_>,
        listing: &Listing,
        entry: Entry,
        is_folder: bool,
    ) -> bool {
        let filter = &self.tree.filter;
        filter.admits(here.root, &here.rules, self.here(), is_folder)
            && !self.is_output(here, listing, entry)
    }

    /// Returns whether an entry is the file that standard output is written to.
    fn is_output(&self, here: &Here<'_>, listing: &Listing, entry: Entry) -> bool {
        let Some(output) = self.tree.walk.skip_output else {
            return false;
        };
        // The inode of a link differs from that of its target.
        if output.1 != entry.inode && entry.kind != FileType::Symlink {
            return false;
        }
        let name = listing.c_name(entry);
        let stat = rustix::fs::statat(here.descriptor, name, AtFlags::empty());
        stat.is_ok_and(|stat| identity(&stat) == output)
    }

    /// Returns whether a file is too large to be searched.
    fn is_too_large(&self, here: &Here<'_>, listing: &Listing, entry: Entry) -> bool {
        let Some(most) = self.tree.walk.max_filesize else {
            return false;
        };
        let flags = match self.tree.walk.follow {
            true => AtFlags::empty(),
            false => AtFlags::SYMLINK_NOFOLLOW,
        };
        let stat = rustix::fs::statat(here.descriptor, listing.c_name(entry), flags);
        let size = stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
        if size > most {
            log::debug!("ignoring {}: {size} bytes", self.here().display());
        }
        size > most
    }

    /// Returns the path of the current entry.
    fn here(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }
}

/// The current folder.
struct Here<'a> {
    root: &'a WalkRoot,
    number: usize,
    depth: usize,
    rules: Arc<FolderRules>,
    lineage: Option<Arc<Lineage>>,
    descriptor: BorrowedFd<'a>,
    is_remote: bool,
}

fn open(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    ken_walk::open(folder, flags)
}

fn owned(path: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()))
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
