//! One thread's part of the walk: processes a folder and each of its entries.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_core::{Root, SidecarStamp, Stamp};
use rustix::fs::{AtFlags, CWD, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::FileSystems;
use crate::file_system::volume_of_path;
use crate::gate::{Gate, Names, RootRules};
use crate::lineage::Lineage;
use crate::listing::{Entry, EntryOrder, Listing};
use crate::listings::Batch;
use crate::markers::Markers;
use crate::mh::{self, Sequences};
use crate::queue::{Queue, Turn};
use crate::rules::FolderRules;
use crate::shared::{Look, Shared};
use crate::sidecar;
use crate::stamp::{changed_since, stamp_of};
use crate::stops::Stops;
use crate::{Skip, WalkError};

/// Number of files after which the counters are updated, so that threads do not contend for them.
const FILES_PER_REPORT: u64 = 256;

/// Number of entries of a large folder that one thread examines, in a millisecond or two; taking
/// them costs nothing in comparison.
const ENTRIES_PER_PART: usize = 1 << 10;
/// Maximum number of folders that are divided at a time, since large ones may be nested.
const MAX_DIVIDED: usize = 16;

/// A folder to be walked.
pub(crate) struct Folder {
    path: PathBuf,
    /// Index of its root.
    root: usize,
    /// The rules for the folder itself.
    rules: Arc<FolderRules>,
    /// The parent folders; kept only where the root's options need them.
    parent: Option<Arc<Lineage>>,
    /// Whether its file system may not answer.
    is_remote: bool,
    /// Whether a folder above it changed, so that the folder may be new here and must be examined.
    is_new: bool,
}

/// A piece of work for a thread.
pub(crate) enum Work<'a> {
    Folder(Folder),
    Part(Part<'a>),
}

/// Some entries of a large folder, which several threads examine.
pub(crate) struct Part<'a> {
    here: Arc<Here<'a>>,
    listing: Arc<Listing>,
    entries: Range<usize>,
}

/// The folder whose entries are being examined.
struct Here<'a> {
    root: &'a Root,
    number: usize,
    path: PathBuf,
    descriptor: OwnedFd,
    of_root: &'a Arc<RootRules>,
    rules: Arc<FolderRules>,
    lineage: Option<Arc<Lineage>>,
    has_stops: bool,
    look: Look,
    is_maildir: bool,
    sidecars: HashSet<Vec<u8>>,
    /// The sequences of an MH folder.
    sequences: Option<Sequences>,
    /// Whether all its entries are of interest, not only those that lead to a target.
    is_whole: bool,
    is_remote: bool,
    /// Entries whose file system does not answer.
    silent: HashSet<Vec<u8>>,
    /// Set if its entries are divided among threads.
    divided: Option<Divided<'a>>,
}

impl Here<'_> {
    /// Returns whether the index may leave out files here that a search may take.
    fn may_leave_out_files(&self) -> bool {
        let is_strict = self.is_maildir && self.root.strict_maildirs;
        self.rules.has_own_patterns() || is_strict || self.has_stops
    }
}

/// A folder with divided entries; it stays open, with its names, until the last part is done.
struct Divided<'a>(&'a AtomicUsize);

impl<'a> Divided<'a> {
    /// Counts one more, if there are few.
    fn one_of_few(n_divided: &'a AtomicUsize) -> Option<Self> {
        let one_more = |n: usize| (n < MAX_DIVIDED).then_some(n + 1);
        let counted = n_divided.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.ok().map(|_| Self(n_divided))
    }
}

impl Drop for Divided<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One thread of a walk, with its buffers and unreported results.
pub(crate) struct Walker<'a> {
    shared: &'a Shared<'a>,
    /// The rules of each root.
    rules: &'a [Arc<RootRules>],
    listing: Listing,
    /// The path of the current entry.
    path: Vec<u8>,
    found: Vec<Work<'a>>,
    errors: Vec<WalkError>,
    /// Listings of folders, for the recorder.
    listed: Batch,
    file_systems: FileSystems,
    files: u64,
    bytes: u64,
}

impl Folder {
    /// Creates the folder of a root.
    pub(crate) fn root(
        root: usize,
        path: PathBuf,
        rules: Arc<FolderRules>,
        is_remote: bool,
    ) -> Self {
        Self {
            path,
            root,
            rules,
            parent: None,
            is_remote,
            is_new: false,
        }
    }
}

impl<'a> Walker<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, rules: &'a [Arc<RootRules>]) -> Self {
        Self {
            shared,
            rules,
            listing: Listing::default(),
            path: Vec::new(),
            found: Vec::new(),
            errors: Vec::new(),
            listed: Batch::default(),
            file_systems: FileSystems::default(),
            files: 0,
            bytes: 0,
        }
    }

    /// Walks folders until none is left.
    pub(crate) fn run(mut self, queue: &Queue<Work<'a>>) {
        while let Some((work, mut turn)) = queue.take() {
            if self.is_cancelled() {
                queue.clear();
                continue;
            }
            match work {
                Work::Folder(folder) => self.walk(&folder, &mut turn),
                Work::Part(part) => self.entries(&part.here, &part.listing, part.entries),
            }
            turn.found.append(&mut self.found);
            self.flush();
        }
        if let Some(recorder) = self.shared.visitor.recorder {
            recorder.take(&mut self.listed);
        }
    }

    /// Visits a root that is a file.
    pub(crate) fn root_file(mut self, root: &Root) {
        self.path = root.path.as_os_str().as_bytes().to_vec();
        match rustix::fs::statat(CWD, &root.path, AtFlags::empty()) {
            Ok(stat) if kind_of(&stat) == FileType::RegularFile => {
                // Unless the target lies below the path of this file.
                if self.shared.is_whole(&root.path) || self.shared.is_target(&root.path) {
                    self.visit(stamp_of(&stat, volume_of_path(&root.path, &stat)));
                }
            }
            Ok(_) => self.skip(|| Skip::Special),
            Err(error) => self.fail_file(error),
        }
        self.flush();
    }

    fn walk(&mut self, folder: &Folder, turn: &mut Turn<'_, Work<'a>>) {
        let root = &self.shared.roots[folder.root];
        self.set_path(&folder.path);
        if let (true, Some(visitor)) = (folder.is_remote, self.shared.folders) {
            return match root.one_file_system {
                true => self.leave_out(&folder.path),
                false => visitor.entering(&folder.path, true),
            };
        }
        let silent = match self.silent_in(folder, root) {
            Ok(silent) => silent,
            Err(error) => return self.fail_folder(folder, error),
        };
        let opened = open(folder, root).and_then(|descriptor| {
            let lineage = lineage_of(folder, root, &descriptor)?;
            Ok((descriptor, lineage))
        });
        match opened {
            Err(error) => self.fail_folder(folder, error),
            Ok((_, Some(lineage))) if root.one_file_system && lineage.is_mounted() => {
                self.leave_out(&folder.path);
                self.skip(|| Skip::FileSystem);
            }
            Ok((_, Some(lineage))) if lineage.loop_depth().is_some() => self.skip(|| Skip::Loop),
            Ok((descriptor, lineage)) => {
                if let Some(visitor) = self.shared.folders {
                    visitor.entering(&folder.path, false);
                }
                self.list(folder, root, descriptor, lineage, silent, turn);
            }
        }
    }

    /// Returns the entries of a folder whose file system does not answer.
    fn silent_in(&self, folder: &Folder, root: &Root) -> Result<HashSet<Vec<u8>>, Errno> {
        match folder.is_remote {
            true => {
                let should_stop = || self.is_cancelled();
                let silent = crate::silent_entries(&folder.path, root.follow_links, &should_stop);
                silent.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            false => Ok(HashSet::new()),
        }
    }

    fn list(
        &mut self,
        folder: &Folder,
        root: &'a Root,
        descriptor: OwnedFd,
        lineage: Option<Arc<Lineage>>,
        silent: HashSet<Vec<u8>>,
        turn: &mut Turn<'_, Work<'a>>,
    ) {
        let Some(look) = self.look(folder, root, &descriptor) else {
            return self.shared.note(&folder.path, Look::Unlisted);
        };
        let recorder = self.shared.visitor.recorder;
        // Read before the listing: later changes have later times.
        let stat = recorder.and_then(|_| rustix::fs::fstat(&descriptor).ok());
        match self.listing.read(descriptor.as_fd()) {
            Err(error) => self.fail_folder(folder, error),
            Ok(()) => {
                if let (Some(recorder), Some(stat)) = (recorder, stat) {
                    self.listing.sort(descriptor.as_fd(), EntryOrder::Inode);
                    let (path, of) = (&folder.path, descriptor.as_fd());
                    recorder.listed(path, of, &stat, &self.listing, &mut self.listed);
                }
            }
        }
        self.listing.sort(descriptor.as_fd(), self.shared.order);
        let markers = Markers::of(&self.listing);
        if markers.is_left_out {
            self.leave_out(&folder.path);
            return self.skip(|| Skip::Marked);
        }
        if self.listing.ignore_files.has_rgignore() {
            self.leave_out(&folder.path);
        }
        if markers.is_held && self.shared.respects_noupdate {
            self.leave_out(&folder.path);
            self.skip(|| Skip::Held);
            return self.shared.note(&folder.path, Look::Nothing);
        }
        if self.shared.lazy_since.is_some() {
            self.shared.note(&folder.path, look);
        }
        let of_root = &self.rules[folder.root];
        let holds = self.listing.ignore_files;
        let mut errors = Vec::new();
        let rules = of_root
            .rules
            .below(&folder.rules, &folder.path, holds, &mut errors);
        self.errors.extend(errors.into_iter().map(WalkError::from));
        let all = 0..self.listing.entries.len();
        let is_large = all.len() >= 2 * ENTRIES_PER_PART;
        let divided = if is_large && look.is_at_files() && self.shared.is_divisible() {
            Divided::one_of_few(&self.shared.n_divided)
        } else {
            None
        };
        let here = Here {
            root,
            number: folder.root,
            path: folder.path.clone(),
            of_root,
            rules,
            lineage,
            has_stops: self.shared.stops.are_in(&folder.path),
            look,
            is_maildir: markers.is_maildir,
            sidecars: markers.sidecars,
            sequences: (markers.has_sequences && look.is_at_files())
                .then(|| Sequences::read(descriptor.as_fd()))
                .flatten(),
            descriptor,
            is_whole: self.shared.is_whole(&folder.path),
            is_remote: folder.is_remote,
            silent,
            divided,
        };
        if let Some(visitor) = self.shared.folders {
            visitor.entered(&here.path, here.gate(&self.shared.stops, holds.has_git()));
        }
        if here.divided.is_some() {
            self.divide(here, turn);
        } else {
            let listing = std::mem::take(&mut self.listing);
            self.entries(&here, &listing, all);
            self.listing = listing;
        }
    }

    /// Divides the entries of a folder among all idle threads and this one.
    fn divide(&mut self, here: Here<'a>, turn: &mut Turn<'_, Work<'a>>) {
        let (here, listing) = (Arc::new(here), Arc::new(std::mem::take(&mut self.listing)));
        let all = listing.entries.len();
        let starts = (0..all).step_by(ENTRIES_PER_PART);
        // The newest is taken first, as are the folders in a part, while this folder stays open.
        let mut parts = starts.rev().map(|start| Part {
            here: Arc::clone(&here),
            listing: Arc::clone(&listing),
            entries: start..all.min(start + ENTRIES_PER_PART),
        });
        let mut parts = parts.by_ref().map(Work::Part).collect();
        turn.hand_on(&mut parts);
    }

    /// Returns how to examine a folder; none where it did not change and contains no folders.
    fn look(&self, folder: &Folder, root: &Root, descriptor: &OwnedFd) -> Option<Look> {
        if self.shared.folders.is_some() {
            return Some(Look::Folders);
        }
        let since = self.shared.lazy_since.filter(|_| !folder.is_new);
        let stat = since.and_then(|since| Some((since, rustix::fs::fstat(descriptor).ok()?)));
        match stat {
            Some((since, stat))
                if !changed_since(&stat, since)
                    && !mh::stat_of_list(descriptor.as_fd())
                        .is_some_and(|list| changed_since(&list, since)) =>
            {
                if self.shared.looked_again.contains(&folder.path) {
                    return Some(Look::Again);
                }
                let has_none = !root.follow_links && holds_no_folders(&stat, descriptor);
                (!has_none).then_some(Look::Folders)
            }
            _ => Some(Look::All),
        }
    }

    fn entries(&mut self, here: &Here<'_>, listing: &Listing, entries: Range<usize>) {
        self.set_path(&here.path);
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        let folder_length = self.path.len();
        for &entry in &listing.entries[entries] {
            if self.is_cancelled() {
                break;
            }
            let name = listing.c_name(entry);
            self.path.truncate(folder_length);
            self.path.extend_from_slice(name.to_bytes());
            if here.is_whole || self.shared.is_on_the_way(self.path()) {
                self.entry(here, name, entry);
            }
        }
    }

    fn set_path(&mut self, path: &Path) {
        self.path.clear();
        self.path.extend_from_slice(path.as_os_str().as_bytes());
    }

    fn entry(&mut self, here: &Here<'_>, name: &CStr, entry: Entry) {
        let looks = here.look.is_at_files();
        if !here.silent.is_empty() && here.silent.contains(name.to_bytes()) {
            return self.fail_file(Errno::TIMEDOUT);
        }
        if !looks && entry.kind == FileType::RegularFile {
            return self.look_for_left_out(here, name);
        }
        let (kind, stat) = match resolve(here, name, entry.kind) {
            Ok(resolved) => resolved,
            // Deleted since the folder was listed, which is no error on a machine in use.
            Err(Errno::NOENT) => return,
            Err(error) => return self.fail_file(error),
        };
        match kind {
            FileType::Directory if self.admits(here, name, true) => self.folder(here),
            FileType::RegularFile if !looks => self.look_for_left_out(here, name),
            FileType::RegularFile if self.admits(here, name, false) => {
                if !here.is_whole && !self.shared.is_target(self.path()) {
                    // A target is below the path of this file.
                    return;
                }
                match stat.map_or_else(|| look(here, name, AtFlags::SYMLINK_NOFOLLOW), Ok) {
                    Ok(stat) => {
                        let volume =
                            self.file_systems
                                .volume_at(here.descriptor.as_fd(), name, &stat);
                        self.visit(Stamp {
                            sidecar: here.sidecar(name),
                            mh: here
                                .sequences
                                .as_ref()
                                .and_then(|list| list.of(name.to_bytes())),
                            ..stamp_of(&stat, volume)
                        });
                    }
                    Err(Errno::NOENT) => {}
                    Err(error) => self.fail_file(error),
                }
            }
            FileType::Directory | FileType::RegularFile => {}
            FileType::Symlink => self.skip(|| Skip::Link),
            _ => self.skip(|| Skip::Special),
        }
    }

    /// Returns whether the rules admit the entry.
    fn admits(&self, here: &Here<'_>, name: &CStr, is_folder: bool) -> bool {
        let names = Names {
            stops: here.has_stops.then_some(&*self.shared.stops),
            ..here.names()
        };
        let is_mail_folder = || here.is_mail_folder(name);
        let refusal = names.refusal(self.path(), name.to_bytes(), is_folder, is_mail_folder);
        if let Some(refusal) = &refusal {
            if refusal.is_own() {
                self.leave_out(self.path());
            }
            self.skip(|| refusal.skip());
        }
        refusal.is_none()
    }

    /// Tells the observer of folders of a file, if only the index leaves it out.
    fn look_for_left_out(&self, here: &Here<'_>, name: &CStr) {
        if self.shared.folders.is_some() && here.may_leave_out_files() {
            let _ = self.admits(here, name, false);
        }
    }

    /// Tells the observer of folders what only the index leaves out.
    fn leave_out(&self, path: &Path) {
        if let Some(folders) = self.shared.folders {
            folders.left_out(path);
        }
    }

    fn folder(&mut self, here: &Here<'_>) {
        let path = PathBuf::from(std::ffi::OsString::from_vec(self.path.clone()));
        self.found.push(Work::Folder(Folder {
            is_remote: here.is_remote || self.shared.mounts.are_at(&path),
            path,
            root: here.number,
            rules: Arc::clone(&here.rules),
            parent: here.lineage.clone(),
            is_new: here.look == Look::All && self.shared.lazy_since.is_some(),
        }));
    }

    fn visit(&mut self, stamp: Stamp) {
        self.files += 1;
        self.bytes += stamp.size;
        (self.shared.visitor.file)(self.path(), stamp);
        if self.files == FILES_PER_REPORT {
            self.flush();
        }
    }

    fn skip(&self, reason: impl FnOnce() -> Skip) {
        if let Some(skipped) = self.shared.visitor.skipped {
            skipped(self.path(), reason());
        }
    }

    fn fail_folder(&mut self, folder: &Folder, error: Errno) {
        self.errors.push(WalkError::Folder {
            path: folder.path.clone(),
            source: error.into(),
        });
    }

    fn fail_file(&mut self, error: Errno) {
        self.errors.push(WalkError::File {
            path: self.path().to_path_buf(),
            source: error.into(),
        });
    }

    fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    fn is_cancelled(&self) -> bool {
        self.shared.progress.cancelled.load(Ordering::Relaxed)
    }

    /// Reports the results since the last call.
    fn flush(&mut self) {
        let progress = self.shared.progress;
        let files = std::mem::take(&mut self.files);
        let bytes = std::mem::take(&mut self.bytes);
        progress.files.fetch_add(files, Ordering::Relaxed);
        progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.shared.report(std::mem::take(&mut self.errors));
    }
}

impl Here<'_> {
    fn names(&self) -> Names<'_> {
        Names {
            of_root: self.of_root,
            rules: &self.rules,
            stops: None,
            is_maildir: self.is_maildir,
        }
    }

    /// Returns what decides on the entries when the walk is over.
    fn gate(&self, stops: &Arc<Stops>, has_git: bool) -> Gate {
        Gate {
            of_root: Arc::clone(self.of_root),
            rules: Arc::clone(&self.rules),
            stops: self.has_stops.then(|| Arc::clone(stops)),
            is_maildir: self.is_maildir,
            has_git,
        }
    }

    /// Returns whether an entry is a mail folder inside another one (Maildir++): `.Sent` next to
    /// `cur`.
    fn is_mail_folder(&self, name: &CStr) -> bool {
        let is_folder = |path: &[u8]| {
            let stat = rustix::fs::statat(&self.descriptor, path, AtFlags::empty());
            stat.is_ok_and(|stat| kind_of(&stat) == FileType::Directory)
        };
        self.is_maildir && is_folder(&[name.to_bytes(), b"/cur"].concat())
    }

    fn sidecar(&self, name: &CStr) -> Option<SidecarStamp> {
        // Hardly any folder contains one.
        let is_likely = !self.sidecars.is_empty();
        is_likely
            .then(|| sidecar::look(self.descriptor.as_fd(), &self.sidecars, name.to_bytes()))
            .flatten()
    }
}

/// Returns whether a folder certainly contains no folders: it has two links, and one more for each
/// subfolder. Some file systems count differently (Btrfs: always one; CIFS: always two).
fn holds_no_folders(stat: &Stat, descriptor: &OwnedFd) -> bool {
    // Links are counted in 64 bits on some machines, and in 32 on others.
    const WITHOUT_FOLDERS: u128 = 2;
    /// ext2 to ext4, XFS, F2FS, tmpfs: statfs(2).
    const COUNTING: [i64; 4] = [0xef53, 0x5846_5342, 0xf2f5_2010, 0x0102_1994];
    #[allow(clippy::unnecessary_cast)] // types differ between machines
    let is_counted = |kind: rustix::fs::StatFs| COUNTING.contains(&(kind.f_type as i64));
    u128::from(stat.st_nlink) == WITHOUT_FOLDERS
        && rustix::fs::fstatfs(descriptor).is_ok_and(is_counted)
}

fn open(folder: &Folder, root: &Root) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if !root.follow_links {
        flags |= OFlags::NOFOLLOW;
    }
    crate::open(&folder.path, flags)
}

/// Identifies the folder, if an option of the root needs that.
fn lineage_of(
    folder: &Folder,
    root: &Root,
    descriptor: &OwnedFd,
) -> Result<Option<Arc<Lineage>>, Errno> {
    if !root.one_file_system && !root.follow_links {
        return Ok(None);
    }
    let stat = rustix::fs::fstat(descriptor)?;
    Ok(Some(Arc::new(Lineage::new(&stat, folder.parent.clone()))))
}

/// Returns the type of an entry, and its `stat` where that was needed.
fn resolve(
    here: &Here<'_>,
    name: &CStr,
    kind: FileType,
) -> Result<(FileType, Option<Stat>), Errno> {
    let (kind, stat) = match kind {
        FileType::Unknown => {
            let stat = look(here, name, AtFlags::SYMLINK_NOFOLLOW)?;
            (kind_of(&stat), Some(stat))
        }
        known => (known, None),
    };
    if kind != FileType::Symlink || !here.root.follow_links {
        return Ok((kind, stat));
    }
    match look(here, name, AtFlags::empty()) {
        Ok(target) => Ok((kind_of(&target), Some(target))),
        // The link is dangling or leads to itself, so there is nothing to find.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok((kind, None)),
        Err(error) => Err(error),
    }
}

fn look(here: &Here<'_>, name: &CStr, flags: AtFlags) -> Result<Stat, Errno> {
    rustix::fs::statat(&here.descriptor, name, flags)
}

fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_folders_are_divided_at_a_time() {
        let n_divided = AtomicUsize::new(0);
        let all: Vec<_> = std::iter::from_fn(|| Divided::one_of_few(&n_divided)).collect();
        assert_eq!(all.len(), MAX_DIVIDED);
        drop(all);
        assert!(Divided::one_of_few(&n_divided).is_some());
        assert_eq!(n_divided.into_inner(), 0);
    }
}
