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
//!
//! Programs that read files are extractors too; their version tells of the program and of how it is
//! called. A program that is gone reads nothing again: what it found stays. What files wait for is
//! in the commit by its name, and looked for at the start of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ken_core::{Field, FileKey, FileRow, FolderFields, Reading};
use ken_extract::helper::{Helpers, is_converted};
use ken_extract::{FORMATS, detect, format_of};
use ken_index::{Meta, Snapshot};

/// Why a file is read again although it did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The format of one of its documents is read by another version of its extractor.
    Extractor,
    /// Its folder gives it other fields.
    Fields,
    /// A program that it waited for is there.
    Helper,
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
    /// Files that wait for a program, if one of those is there now; sorted.
    waiting: Vec<FileKey>,
    /// What files waited for before this run, and what of that is there now.
    missing: BTreeSet<String>,
    present: BTreeSet<String>,
}

/// Returns how files are read now; `last` is how they were.
pub(crate) fn current(
    folders: &[FolderFields],
    helpers: Option<&Helpers>,
    last: Option<&Reading>,
) -> Reading {
    let own = FORMATS.iter().map(|f| (f.name.to_owned(), f.version));
    let mut formats: BTreeMap<String, u32> = own.collect();
    formats.extend(helpers.map(Helpers::versions).unwrap_or_default());
    for (name, version) in last.iter().flat_map(|reading| &reading.formats) {
        // What a program read that is gone stays, unless ken reads it by itself.
        let stays = |mime| format_of(mime).is_none() || is_converted(mime);
        if Helpers::of_reading(name).is_some_and(stays) {
            formats.entry(name.clone()).or_insert(*version);
        }
    }
    Reading {
        formats,
        folders: folders.to_vec(),
    }
}

impl Staleness {
    pub(crate) fn new(
        snapshot: Option<&Snapshot>,
        folders: &[FolderFields],
        helpers: Option<&Helpers>,
        retry_failed: bool,
    ) -> Result<Self, ken_index::Error> {
        let last = snapshot.map(|snapshot| &snapshot.meta().reading);
        let reading = current(folders, helpers, last);
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
        let changed = Changed::of(&reading, &earlier, helpers);
        let missing = snapshot.map(|snapshot| snapshot.meta().missing.clone());
        let missing = missing.unwrap_or_default();
        let is_present = |what: &&String| helpers.is_some_and(|helpers| helpers.is_present(what));
        let present: BTreeSet<String> = missing.iter().filter(is_present).cloned().collect();
        Ok(Self {
            extracted: match snapshot {
                Some(snapshot) if !changed.names.is_empty() => changed.files(snapshot)?,
                _ => Vec::new(),
            },
            waiting: match snapshot {
                Some(snapshot) if !present.is_empty() => {
                    snapshot.files_with(Field::Is, &|state| state == "missing")?
                }
                _ => Vec::new(),
            },
            missing,
            present,
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
        if holds(&self.waiting) {
            return Some(Stale::Helper);
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

    /// Writes down how files were read and what was `noticed` to be missing; `all` if the run has
    /// seen every file and came to its end.
    pub(crate) fn note(&self, meta: &mut Meta, noticed: BTreeSet<String>, all: bool) {
        meta.missing = self.noted(noticed, all);
        meta.reading.clone_from(&self.reading);
        meta.edition = self.edition;
        meta.earlier = match all {
            true => Vec::new(),
            false => self.earlier.clone(),
        };
    }
}

impl Staleness {
    /// Returns what files wait for after this run.
    fn noted(&self, mut noticed: BTreeSet<String>, all: bool) -> BTreeSet<String> {
        // What is there and of no use is not looked for again.
        let useless: BTreeSet<_> = self.present.intersection(&noticed).cloned().collect();
        // Files that were not seen wait still.
        let waits = |what: &&String| !(all && self.present.contains(*what));
        noticed.extend(self.missing.iter().filter(waits).cloned());
        noticed.retain(|what| !useless.contains(what));
        noticed
    }
}

/// The extractors that are of another version than in some earlier reading.
struct Changed<'r> {
    names: BTreeSet<&'r str>,
    helpers: Option<&'r Helpers>,
    /// Whether one of them is new: it may read what was of no known format.
    any_new: bool,
}

impl<'r> Changed<'r> {
    fn of(reading: &'r Reading, earlier: &'r [Reading], helpers: Option<&'r Helpers>) -> Self {
        let mut changed = Self {
            names: BTreeSet::new(),
            helpers,
            any_new: false,
        };
        // A program that is not to read its files any more.
        let known = earlier.iter().flat_map(|reading| reading.formats.keys());
        changed.names.extend(
            known
                .filter(|name| !reading.formats.contains_key(*name))
                .filter_map(|name| Helpers::of_reading(name).map(|_| name.as_str())),
        );
        for (name, version) in &reading.formats {
            for known in earlier.iter().map(|reading| reading.formats.get(name)) {
                if known != Some(version) {
                    changed.names.insert(name);
                    changed.any_new |= known.is_none() && Helpers::of_reading(name).is_none();
                }
            }
        }
        changed
    }

    fn reads(&self, media_type: &str) -> bool {
        format_of(media_type).is_some_and(|format| self.names.contains(format.name))
            || self.any_new && media_type == detect::UNKNOWN.media_type
            || self.helper_reads("", media_type)
            || self
                .names
                .iter()
                .any(|name| Helpers::of_reading(name) == Some(media_type))
    }

    fn helper_reads(&self, name: &str, media_type: &str) -> bool {
        let reading_name = self
            .helpers
            .and_then(|helpers| helpers.reading_name(name, media_type));
        reading_name.is_some_and(|name| self.names.contains(name.as_str()))
    }

    fn files(&self, snapshot: &Snapshot) -> Result<Vec<FileKey>, ken_index::Error> {
        let mut files = snapshot.files_with(Field::Mime, &|mime| self.reads(mime))?;
        files.extend(snapshot.files_with(Field::Ext, &|extension| {
            let name = format!("a.{extension}");
            let named = detect::by_name(&name);
            named != detect::UNKNOWN && self.reads(named.media_type)
                || self.helper_reads(&name, named.media_type)
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
            reading: current(&[], None, None),
            edition,
            earlier,
            extracted: extracted.iter().copied().map(FileKey).collect(),
            failed: Vec::new(),
            waiting: Vec::new(),
            missing: BTreeSet::new(),
            present: BTreeSet::new(),
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
        let stale = staleness(3, vec![current(&[], None, None)], &[1]);
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
        let stale = staleness(
            3,
            vec![current(&[], None, None), current(&folders, None, None)],
            &[],
        );
        assert_eq!(
            stale.reason(Path::new("/a/b"), &row(1, 2)),
            Some(Stale::Fields)
        );
        assert_eq!(stale.reason(Path::new("/c"), &row(1, 2)), None);
    }

    #[test]
    fn changed_extractors_are_told_by_version() {
        let now = current(&[], None, None);
        let mut earlier = now.clone();
        assert!(Changed::of(&now, &[earlier.clone()], None).names.is_empty());
        earlier.formats.insert("PDF".to_owned(), 0);
        let readings = [earlier.clone()];
        let changed = Changed::of(&now, &readings, None);
        assert!(changed.reads("application/pdf") && !changed.reads("text/plain"));
        assert!(!changed.reads(detect::UNKNOWN.media_type));
        earlier.formats.remove("PDF");
        let readings = [earlier];
        assert!(Changed::of(&now, &readings, None).reads(detect::UNKNOWN.media_type));
    }

    #[test]
    fn what_a_program_read_stays_when_it_is_gone() {
        let mut last = current(&[], None, None);
        for media_type in ["application/x-dvi", "application/pdf"] {
            last.formats.insert(format!("helper {media_type}"), 7);
        }
        let now = current(&[], None, Some(&last));
        let readings = [last];
        let changed = Changed::of(&now, &readings, None);
        assert!(!changed.reads("application/x-dvi"));
        assert!(changed.reads("application/pdf"), "ken reads it by itself");
    }

    #[test]
    fn what_is_missing_stays_noted_until_all_was_seen() {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut stale = staleness(3, Vec::new(), &[]);
        stale.missing = set(&["old", "back"]);
        stale.present = set(&["back"]);
        stale.waiting = vec![FileKey(4)];
        assert_eq!(
            stale.reason(Path::new("/a.dvi"), &row(4, 3)),
            Some(Stale::Helper)
        );
        for (all, expected) in [
            (false, &["back", "new", "old"][..]),
            (true, &["new", "old"]),
        ] {
            assert_eq!(stale.noted(set(&["new"]), all), set(expected));
        }
        assert_eq!(stale.noted(set(&["back"]), false), set(&["old"]));
    }
}
