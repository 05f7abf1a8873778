//! The walk of ag: reads folders, applies their ignore rules, sorts their names.
//!
//! A folder becomes jobs: a run of files, a subfolder, a run of files. Workers take the last job on
//! the stack, and a folder pushes its jobs from last to first. One worker therefore goes through a
//! tree in the order of its names, and the pending jobs never exceed the entries along one path
//! through the tree, whatever its size.

use std::ffi::OsStr;
use std::fs::FileType;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use super::file;
use super::report::Report;
use super::rules::{self, Filter, Rules};
use super::selection::Selection;

/// Number of files in one job: enough that the stack is seldom locked, few enough to share a large
/// folder.
const FILES_IN_JOB: usize = 32;

/// Default depth; without a depth from the user, ag reports the folders that are too deep.
const DEFAULT_DEPTH: i64 = 25;

/// A piece of work.
pub(super) enum Job {
    Folder(Box<Folder>),
    Files(Vec<Entry>),
}

/// A file to search.
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) source: Source,
}

/// Where a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// On the command line.
    Named,
    /// From a folder that lists it as a regular file.
    Regular,
    /// From a folder, as a link or something else.
    Other,
}

/// A folder to read.
pub(super) struct Folder {
    path: Vec<u8>,
    /// The start of the search, as an absolute path.
    base: Arc<[u8]>,
    rules: Rules,
    depth: i64,
    /// None if the folder does not exist.
    device: Option<u64>,
    above: Option<Arc<Above>>,
}

/// The parent folders of a folder, to detect links that lead back to one of them.
struct Above {
    id: (u64, u64),
    next: Option<Arc<Self>>,
}

impl Folder {
    /// Creates a folder in which a search begins.
    pub(super) fn start(path: &[u8], root: &Arc<Rules>, device: Option<u64>) -> Self {
        let absolute = fs_err::canonicalize(OsStr::from_bytes(path));
        let mut base =
            absolute.map_or_else(|_| Vec::new(), |path| path.into_os_string().into_vec());
        if base.len() > 1 {
            base.push(b'/');
        }
        Self {
            path: path.to_vec(),
            base: base.into(),
            rules: Rules::start(root),
            depth: 0,
            device,
            above: None,
        }
    }

    /// Reads the folder: returns the jobs for its entries, the last job first.
    pub(super) fn read(mut self, selection: &Selection, report: &Report<'_>) -> Vec<Job> {
        if self.device.is_none() {
            report.error(&[b"Error stat()ing: ", &self.path]);
        }
        let Ok(above) = self.enter(selection.follow) else {
            report.error(&[b"Recursive directory loop: ", &self.path]);
            return Vec::new();
        };
        let mut names = match self.names() {
            Ok(names) => names,
            Err(error) => {
                let words = file::words(&error);
                report.error(&[
                    b"Error opening directory ",
                    &self.path,
                    b": ",
                    words.as_bytes(),
                ]);
                return Vec::new();
            }
        };
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if selection.uses_rules {
            self.load_rules(&names, selection, report);
        }
        let kept = self.keep(names, selection, report);
        self.jobs(kept, above.as_ref(), selection, report)
    }

    fn enter(&self, follow: bool) -> Result<Option<Arc<Above>>, ()> {
        if !follow {
            return Ok(None);
        }
        let Ok(metadata) = fs_err::metadata(OsStr::from_bytes(&self.path)) else {
            return Ok(self.above.clone());
        };
        let id = (metadata.dev(), metadata.ino());
        let mut next = self.above.as_ref();
        while let Some(above) = next {
            if above.id == id {
                return Err(());
            }
            next = above.next.as_ref();
        }
        Ok(Some(Arc::new(Above {
            id,
            next: self.above.clone(),
        })))
    }

    fn names(&self) -> std::io::Result<Vec<(Vec<u8>, FileType)>> {
        let entries = fs_err::read_dir(OsStr::from_bytes(&self.path))?;
        Ok(entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name().into_vec(), entry.file_type().ok()?)))
            .collect())
    }

    fn load_rules(
        &mut self,
        names: &[(Vec<u8>, FileType)],
        selection: &Selection,
        report: &Report<'_>,
    ) {
        let files = if selection.vcs { rules::FILES.len() } else { 1 };
        for file in &rules::FILES[..files] {
            let first = file.split('/').next().unwrap_or(file).as_bytes();
            let is_there = names.binary_search_by(|(name, _)| name.as_slice().cmp(first));
            if is_there.is_ok() || report.is_verbose() {
                let path = self.join(file.as_bytes());
                self.rules.load(Path::new(OsStr::from_bytes(&path)), report);
            }
        }
    }

    /// Removes entries that are not searched.
    fn keep(
        &self,
        mut names: Vec<(Vec<u8>, FileType)>,
        selection: &Selection,
        report: &Report<'_>,
    ) -> Vec<(Vec<u8>, Kind)> {
        let shared = self.path.iter().zip(self.base.iter());
        let shared = shared.take_while(|(a, b)| a == b).count();
        let mut filter = Filter::new(&self.rules, &self.path[shared..]);
        let unwanted = |path: &[u8]| {
            let folders = selection.folder_filter.as_ref();
            folders.is_some_and(|names| !names.matches(path))
        };
        names.retain(|(name, _)| selection.hidden || !name.starts_with(b"."));
        let kept = names.into_iter().filter_map(|(name, kind)| {
            let kind = self.kind(&name, kind, selection)?;
            if selection.uses_rules && filter.ignores(&name, kind == Kind::Folder, &unwanted) {
                report.debug(|| format!("file {} ignored", name.escape_ascii()));
                return None;
            }
            self.is_near(&name, selection, report)
                .then_some((name, kind))
        });
        kept.collect()
    }

    fn kind(&self, name: &[u8], kind: FileType, selection: &Selection) -> Option<Kind> {
        if kind.is_symlink() {
            if !selection.follow {
                return None;
            }
            return match fs_err::metadata(OsStr::from_bytes(&self.join(name))) {
                Ok(metadata) if metadata.is_dir() => Some(Kind::Folder),
                Ok(metadata) => {
                    let kind = metadata.file_type();
                    (!kind.is_fifo() && !kind.is_socket()).then_some(Kind::Other)
                }
                Err(_) => Some(Kind::Other),
            };
        }
        match kind {
            kind if kind.is_dir() => Some(Kind::Folder),
            kind if kind.is_file() => Some(Kind::Regular),
            kind if kind.is_fifo() || kind.is_socket() => None,
            _ => Some(Kind::Other),
        }
    }

    /// Returns whether an entry is on the searched device, if the search is limited to it.
    fn is_near(&self, name: &[u8], selection: &Selection, report: &Report<'_>) -> bool {
        if !selection.one_device {
            return true;
        }
        match fs_err::symlink_metadata(OsStr::from_bytes(&self.join(name))) {
            Ok(metadata) => self.device == Some(metadata.dev()),
            Err(_) => {
                report.error(&[
                    b"Failed to get device information for ",
                    name,
                    b". Skipping...",
                ]);
                false
            }
        }
    }

    fn jobs(
        mut self,
        kept: Vec<(Vec<u8>, Kind)>,
        above: Option<&Arc<Above>>,
        selection: &Selection,
        report: &Report<'_>,
    ) -> Vec<Job> {
        let rules = Arc::new(std::mem::take(&mut self.rules));
        let mut jobs = Vec::new();
        for (name, kind) in kept {
            let path = self.join(&name);
            if kind != Kind::Folder {
                let names = selection.names.as_ref();
                if names.is_none_or(|names| names.matches(&path)) {
                    let source = match kind {
                        Kind::Regular => Source::Regular,
                        _ => Source::Other,
                    };
                    push_file(&mut jobs, Entry { path, source });
                }
            } else if selection.recurse && self.goes_deeper(&path, selection, report) {
                jobs.push(Job::Folder(Box::new(Self {
                    path,
                    base: Arc::clone(&self.base),
                    rules: rules.below(&name),
                    depth: self.depth + 1,
                    device: self.device,
                    above: above.cloned(),
                })));
            }
        }
        // The last one is taken first.
        jobs.reverse();
        jobs
    }

    fn goes_deeper(&self, path: &[u8], selection: &Selection, report: &Report<'_>) -> bool {
        let deep = selection.depth != -1 && self.depth >= selection.depth;
        if deep && selection.depth == DEFAULT_DEPTH {
            report.error(&[
                b"Skipping ",
                path,
                b". Use the --depth option to search deeper.",
            ]);
        }
        !deep
    }

    fn join(&self, name: &[u8]) -> Vec<u8> {
        [&self.path, b"/".as_slice(), name].concat()
    }
}

/// Adds a file to the files before it.
fn push_file(jobs: &mut Vec<Job>, entry: Entry) {
    match jobs.last_mut() {
        Some(Job::Files(files)) if files.len() < FILES_IN_JOB => files.push(entry),
        _ => jobs.push(Job::Files(vec![entry])),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Regular,
    /// A link, or an entry whose type shows only when it is read.
    Other,
}
