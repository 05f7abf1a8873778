//! A disk that loses everything that was not synced.
//!
//! POSIX promises little: the content of a file is on disk when the file was synced, and its name when its
//! folder was. File systems with a journal promise more, each in its own way. What holds on this disk
//! holds on all of them (Pillai and others, *All File Systems Are Not Created Equal*, OSDI 2014).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::trace::{Handle, Step};
use fastrand::Rng;

/// What is left on the disk after the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Nothing is lost: the program was killed.
    None,
    /// Only synced contents and names are there.
    All,
    /// All names are there, as with a journal, but only synced contents.
    Contents,
    /// All names and lengths are there, with zeros for contents that were not synced.
    Zeros,
    /// Each change of a name and each content that was not synced is there, or missing, or there in part.
    Any,
}

pub(super) const LOSSES: [Loss; 5] = [
    Loss::None,
    Loss::All,
    Loss::Contents,
    Loss::Zeros,
    Loss::Any,
];

type File = usize;

#[derive(Clone, Debug, Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
}

/// A change of names.
#[derive(Clone, Debug)]
enum Change {
    Make(PathBuf, File),
    MakeFolder(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Change {
    /// Returns whether the change is on disk once a folder is synced.
    fn is_in(&self, folder: &Path) -> bool {
        let path = match self {
            Self::Make(path, _) | Self::MakeFolder(path) | Self::Remove(path) => path,
            Self::Rename(_, to) => to,
        };
        path.parent() == Some(folder)
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Option<File>>) {
        match self {
            Self::Make(path, file) => {
                names.insert(path.clone(), Some(*file));
            }
            Self::MakeFolder(path) => {
                names.insert(path.clone(), None);
            }
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Self::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

/// A folder as the program sees it, and as it would be after a loss of power.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    root: PathBuf,
    files: Vec<Content>,
    /// Files with their content; folders without.
    now: BTreeMap<PathBuf, Option<File>>,
    synced: BTreeMap<PathBuf, Option<File>>,
    /// Changes of names since the last sync, in order.
    pending: Vec<Change>,
    open: HashMap<Handle, PathOrFile>,
}

#[derive(Clone, Debug)]
enum PathOrFile {
    Folder(PathBuf),
    File(File),
}

impl Disk {
    /// Reads a folder, which is on disk as a whole; the folder may be missing.
    pub(super) fn of(root: &Path) -> Self {
        let mut disk = Self {
            root: root.to_path_buf(),
            files: Vec::new(),
            now: BTreeMap::new(),
            synced: BTreeMap::new(),
            pending: Vec::new(),
            open: HashMap::new(),
        };
        let parent = root.parent().unwrap();
        disk.now.insert(parent.to_path_buf(), None);
        let mut paths = vec![root.to_path_buf()];
        while let Some(path) = paths.pop() {
            if path.is_dir() {
                paths.extend(
                    fs_err::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                disk.now.insert(path, None);
            } else if path.exists() {
                let bytes = fs_err::read(&path).unwrap();
                disk.now.insert(path, Some(disk.files.len()));
                disk.files.push(Content {
                    now: bytes.clone(),
                    synced: bytes,
                });
            }
        }
        disk.synced = disk.now.clone();
        disk
    }

    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Open {
                path,
                handle,
                makes,
                empties,
            } => self.open(path, *handle, *makes, *empties),
            Step::Write { handle, at, bytes } => {
                let content = &mut self.content(*handle).now;
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
            Step::Resize { handle, length } => self.content(*handle).now.resize(*length, 0),
            Step::Rename { from, to } => self.change(Change::Rename(from.clone(), to.clone())),
            Step::Remove { path } => self.change(Change::Remove(path.clone())),
            Step::MakeFolder { path } => self.change(Change::MakeFolder(path.clone())),
            Step::Sync { handle } => self.sync(*handle),
        }
    }

    fn open(&mut self, path: &Path, handle: Handle, makes: bool, empties: bool) {
        let known = self.now.get(path).copied();
        let opened = match known {
            Some(None) => PathOrFile::Folder(path.to_path_buf()),
            Some(Some(file)) => PathOrFile::File(file),
            None => {
                assert!(makes, "{} is not known", path.display());
                let file = self.files.len();
                self.files.push(Content::default());
                self.change(Change::Make(path.to_path_buf(), file));
                PathOrFile::File(file)
            }
        };
        if let (PathOrFile::File(file), true) = (&opened, empties) {
            self.files[*file].now.clear();
        }
        self.open.insert(handle, opened);
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.pending.push(change);
    }

    fn content(&mut self, handle: Handle) -> &mut Content {
        match self.open[&handle] {
            PathOrFile::File(file) => &mut self.files[file],
            PathOrFile::Folder(_) => panic!("a folder is written to"),
        }
    }

    fn sync(&mut self, handle: Handle) {
        match self.open[&handle].clone() {
            PathOrFile::File(file) => {
                let content = &mut self.files[file];
                content.synced.clone_from(&content.now);
            }
            PathOrFile::Folder(folder) => {
                let (done, left) = std::mem::take(&mut self.pending)
                    .into_iter()
                    .partition(|change| change.is_in(&folder));
                self.pending = left;
                let done: Vec<Change> = done;
                for change in done {
                    change.apply(&mut self.synced);
                }
            }
        }
    }

    /// Replaces the folder by what is left after a loss.
    pub(super) fn write(&self, loss: Loss, random: &mut Rng) {
        let _ = fs_err::remove_dir_all(&self.root);
        let mut names = match loss {
            Loss::All | Loss::Any => self.synced.clone(),
            _ => self.now.clone(),
        };
        if loss == Loss::Any {
            for change in &self.pending {
                if random.bool() {
                    change.apply(&mut names);
                }
            }
        }
        for (path, file) in &names {
            // The entries of a lost folder are lost too.
            if !path.starts_with(&self.root) || !path.parent().unwrap().is_dir() {
                continue;
            }
            match file {
                None => fs_err::create_dir_all(path).unwrap(),
                Some(file) => {
                    let bytes = self.files[*file].after(loss, random);
                    fs_err::write(path, bytes).unwrap();
                }
            }
        }
    }
}

impl Content {
    fn after(&self, loss: Loss, random: &mut Rng) -> Vec<u8> {
        let zeros = || {
            let mut bytes = self.synced.clone();
            bytes.resize(self.now.len(), 0);
            bytes
        };
        match loss {
            Loss::None => self.now.clone(),
            Loss::All | Loss::Contents => self.synced.clone(),
            Loss::Zeros => zeros(),
            Loss::Any => match random.usize(..4) {
                _ if self.now == self.synced => self.now.clone(),
                0 => self.now.clone(),
                1 => self.synced.clone(),
                2 => zeros(),
                // In units of a disk block.
                _ => {
                    let mut bytes = zeros();
                    for start in (0..self.now.len()).step_by(512) {
                        let end = self.now.len().min(start + 512);
                        if random.bool() {
                            bytes[start..end].copy_from_slice(&self.now[start..end]);
                        }
                    }
                    bytes
                }
            },
        }
    }
}
