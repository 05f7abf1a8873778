//! Which files are read again although they did not change: an extractor has another version, the
//! folder gives other fields, or failed files are to be tried again.
//!
//! The commit holds the reading of the run that made it and its edition, which stands in the token
//! of each file that was read so. A run whose reading is another one begins a new edition, and puts
//! the last one among the *earlier*, which files of other editions may have been read with. A file
//! is stale if its edition is not this one and any earlier reading would have read it otherwise.
//! So a run that was stopped goes on: what it read has its edition. When a run comes to its end and
//! has seen all files, no file is stale, and the earlier readings are dropped. A file of a root that
//! is not mounted was not seen; then they stay, and the file is read when it is there again.
//!
//! Which files an extractor reads, their documents tell by media type and their names by extension:
//! the content of a compressed file takes its place, so that its media type is no more there. With
//! nothing stale, which is the usual run, nothing is asked.

use std::collections::BTreeSet;
use std::path::Path;

use ken_core::{Field, FileKey, FileRow, FolderFields, Reading};
use ken_extract::{FORMATS, detect, format_of};
use ken_index::{Meta, Snapshot};

/// Why a file is read again although it did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The format of one of its documents is read by another version of its extractor.
    Extractor,
    /// Its folder gives it other fields.
    Fields,
    /// It failed, and that was asked to be tried again.
    Retry,
}

/// How a run reads files, and how those that the index knows were read.
pub(crate) struct Staleness {
    /// How this run reads.
    pub(crate) reading: Reading,
    /// The number of `reading`.
    pub(crate) edition: u16,
    earlier: Vec<Reading>,
    /// Files with a document of an extractor that changed, sorted.
    extracted: Vec<FileKey>,
    /// Files with a failure, if these are to be tried again; sorted.
    failed: Vec<FileKey>,
}

/// Returns how files are read now.
pub(crate) fn current(folders: &[FolderFields]) -> Reading {
    let versions = FORMATS.iter().map(|f| (f.name.to_owned(), f.version));
    Reading {
        formats: versions.collect(),
        folders: folders.to_vec(),
    }
}

impl Staleness {
    pub(crate) fn new(
        snapshot: Option<&Snapshot>,
        reading: Reading,
        retry_failed: bool,
    ) -> Result<Self, ken_index::Error> {
        let (edition, earlier) = match snapshot.map(Snapshot::meta) {
            None => (1, Vec::new()),
            Some(meta) if meta.reading == reading => (meta.edition, meta.earlier.clone()),
            Some(meta) => {
                let mut earlier = meta.earlier.clone();
                if !earlier.contains(&meta.reading) {
                    earlier.push(meta.reading.clone());
                }
                // Numbers come again after 65,535 editions.
                (meta.edition.checked_add(1).unwrap_or(1), earlier)
            }
        };
        let changed = Changed::of(&reading, &earlier);
        Ok(Self {
            extracted: match snapshot {
                Some(snapshot) if !changed.names.is_empty() => changed.files(snapshot)?,
                _ => Vec::new(),
            },
            failed: match snapshot {
                Some(snapshot) if retry_failed => {
                    snapshot.files_with(Field::Is, &|state| state == "failed")?
                }
                _ => Vec::new(),
            },
            reading,
            edition,
            earlier,
        })
    }

    /// Returns why a file that did not change is read again, if it is.
    pub(crate) fn reason(&self, path: &Path, row: &FileRow) -> Option<Stale> {
        let holds = |files: &[FileKey]| files.binary_search(&row.key).is_ok();
        if holds(&self.failed) {
            return Some(Stale::Retry);
        }
        if row.edition() == self.edition || self.earlier.is_empty() {
            return None;
        }
        let fields = self.reading.fields_of(path);
        if self.earlier.iter().any(|r| r.fields_of(path) != fields) {
            return Some(Stale::Fields);
        }
        holds(&self.extracted).then_some(Stale::Extractor)
    }

    /// Writes down how files were read; `all` if the run has seen every file and came to its end.
    pub(crate) fn note(&self, meta: &mut Meta, all: bool) {
        meta.reading.clone_from(&self.reading);
        meta.edition = self.edition;
        meta.earlier = match all {
            true => Vec::new(),
            false => self.earlier.clone(),
        };
    }
}

/// The extractors that are of another version than in some earlier reading.
struct Changed<'r> {
    names: BTreeSet<&'r str>,
    /// Whether one of them is new: it may read what was of no known format.
    any_new: bool,
}

impl<'r> Changed<'r> {
    fn of(reading: &'r Reading, earlier: &[Reading]) -> Self {
        let mut changed = Self {
            names: BTreeSet::new(),
            any_new: false,
        };
        for (name, version) in &reading.formats {
            for known in earlier.iter().map(|reading| reading.formats.get(name)) {
                if known != Some(version) {
                    changed.names.insert(name);
                    changed.any_new |= known.is_none();
                }
            }
        }
        changed
    }

    fn reads(&self, media_type: &str) -> bool {
        format_of(media_type).is_some_and(|format| self.names.contains(format.name))
            || self.any_new && media_type == detect::UNKNOWN.media_type
    }

    fn files(&self, snapshot: &Snapshot) -> Result<Vec<FileKey>, ken_index::Error> {
        let mut files = snapshot.files_with(Field::Mime, &|mime| self.reads(mime))?;
        files.extend(snapshot.files_with(Field::Ext, &|extension| {
            let named = detect::by_name(&format!("a.{extension}"));
            named != detect::UNKNOWN && self.reads(named.media_type)
        })?);
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staleness(edition: u16, earlier: Vec<Reading>, extracted: &[u64]) -> Staleness {
        Staleness {
            reading: current(&[]),
            edition,
            earlier,
            extracted: extracted.iter().copied().map(FileKey).collect(),
            failed: Vec::new(),
        }
    }

    fn row(key: u64, edition: u16) -> FileRow {
        FileRow {
            key: FileKey(key),
            token: 5 << 16 | u64::from(edition),
            identity: 1,
        }
    }

    #[test]
    fn what_this_edition_read_is_not_read_again() {
        let stale = staleness(3, vec![current(&[])], &[1]);
        let reason = |row| stale.reason(Path::new("/a.pdf"), &row);
        assert_eq!(reason(row(1, 2)), Some(Stale::Extractor));
        assert_eq!(reason(row(1, 3)), None);
        assert_eq!(reason(row(2, 2)), None);
    }

    #[test]
    fn other_fields_of_the_folder_are_a_reason() {
        let folders = [FolderFields {
            path: "/a".into(),
            fields: vec![(Field::Author, "anna".to_owned())],
        }];
        let stale = staleness(3, vec![current(&[]), current(&folders)], &[]);
        assert_eq!(
            stale.reason(Path::new("/a/b"), &row(1, 2)),
            Some(Stale::Fields)
        );
        assert_eq!(stale.reason(Path::new("/c"), &row(1, 2)), None);
    }

    #[test]
    fn changed_extractors_are_told_by_version() {
        let now = current(&[]);
        let mut earlier = now.clone();
        assert!(Changed::of(&now, &[earlier.clone()]).names.is_empty());
        earlier.formats.insert("PDF".to_owned(), 0);
        let changed = Changed::of(&now, &[earlier.clone()]);
        assert!(changed.reads("application/pdf") && !changed.reads("text/plain"));
        assert!(!changed.reads(detect::UNKNOWN.media_type));
        earlier.formats.remove("PDF");
        assert!(Changed::of(&now, &[earlier]).reads(detect::UNKNOWN.media_type));
    }
}
