//! Which files are read again although they did not change: their extractor has another version,
//! their folder gives other fields, something that they lacked is available now, or failed files
//! are to be tried again.
//!
//! The commit holds the extraction profile of the run that made it, and the profile's generation,
//! which is part of the token of each file read with it. A run with another profile begins a new
//! generation, and adds the last profile to the *earlier* ones, with which files of other
//! generations may have been read. A file is stale if its generation is not the current one and any
//! earlier profile would have read it differently. A run that was stopped therefore continues: what
//! it read has its generation. When a run completes and has seen all files, no file is stale, and
//! the earlier profiles are dropped. If a root is not mounted, its files are not seen; then the
//! earlier profiles are kept, and the files are read when the root is back.
//!
//! [`crate::stale::changed`] has the details. In the usual run nothing is stale, and the index is
//! not queried.
//!
//! The commit names everything that files wait for, and each run looks for it at its start.

pub(crate) mod changed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ken_core::{CustomField, Field, FileKey, FileRow, FolderFields, Profile, custom};
use ken_engine::{Meta, Source};
use ken_extract::helper::Helpers;
use ken_extract::{FORMATS, Limits, format_of, is_converted};

use changed::Changed;

/// Why a file is read again although it did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// One of its documents has a format whose extractor has another version.
    Extractor,
    /// Its folder gives it other fields.
    Fields,
    /// The limit that it failed by was raised, or it is encrypted and the passwords differ.
    Settings,
    /// A helper that it waited for is available.
    Helper,
    /// It failed, and failed files are to be tried again.
    Retry,
    /// Documents of it may have been lost with a damaged part of the index.
    Doubtful,
}

/// The settings that decide how files are read.
#[derive(Clone, Copy)]
pub(crate) struct Now<'n> {
    pub(crate) folders: &'n [FolderFields],
    pub(crate) helpers: Option<&'n Helpers>,
    pub(crate) limits: &'n Limits,
    /// Whether the limits hold the passwords of a run; otherwise, the user was not asked for them.
    pub(crate) knows_passwords: bool,
}

impl Now<'_> {
    /// Returns the current extraction profile; `last` is the previous one.
    pub(crate) fn profile(&self, last: Option<&Profile>) -> Profile {
        let own = FORMATS.iter().map(|f| (f.name.to_owned(), f.version));
        let mut formats: BTreeMap<String, u32> = own.collect();
        formats.extend(self.helpers.map(Helpers::versions).unwrap_or_default());
        for (name, version) in last.iter().flat_map(|profile| &profile.formats) {
            // The output of a helper that is gone stays, unless ken itself reads the format.
            let stays = |mime| format_of(mime).is_none() || is_converted(mime);
            if Helpers::of_profile_name(name).is_some_and(stays) {
                formats.entry(name.clone()).or_insert(*version);
            }
        }
        let limits = self.limits.named().into_iter();
        let limits = limits.chain(self.helpers.map(Helpers::limit));
        Profile {
            formats,
            folders: self.folders.to_vec(),
            limits: limits.collect(),
            headers: self.limits.headers.clone(),
            passwords: match last {
                Some(last) if !self.knows_passwords => last.passwords,
                _ => self.limits.passwords.fingerprint(),
            },
        }
    }
}

/// Returns the custom fields of the settings, each with its field in the index.
///
/// # Errors
/// Returns the number of names, including former ones, if it exceeds the number of fields.
pub(crate) fn custom_fields(
    limits: &Limits,
    known: Option<&Meta>,
) -> Result<Vec<CustomField>, usize> {
    let headers = limits.headers.iter();
    let wanted: Vec<_> = headers
        .map(|custom| (custom.name.clone(), custom.header.clone()))
        .collect();
    let profiles = known.into_iter();
    let profiles = profiles.flat_map(|meta| std::iter::once(&meta.profile).chain(&meta.earlier));
    custom::assign(&wanted, profiles.map(|profile| &profile.headers[..]))
}

/// The extraction profile of a run, and those with which the known files were read.
pub(crate) struct Staleness {
    /// The profile of this run.
    pub(crate) profile: Profile,
    /// The generation of `profile`.
    pub(crate) generation: u16,
    earlier: Vec<Profile>,
    /// Files that are read again whatever their generation; each list is sorted.
    always: Vec<(Stale, Vec<FileKey>)>,
    /// Files that are read again if their generation is an earlier one; each list is sorted.
    outdated: Vec<(Stale, Vec<FileKey>)>,
    /// What files waited for before this run, and which of it is available now.
    missing: BTreeSet<String>,
    present: BTreeSet<String>,
}

impl Staleness {
    /// Compares how files are read now with the last commit. No file that has to be looked for in the index is
    /// stale before [`Self::look`].
    pub(crate) fn new(known: Option<&Meta>, now: &Now<'_>) -> Self {
        let last = known.map(|meta| &meta.profile);
        let mut stale = Self {
            profile: now.profile(last),
            generation: 1,
            earlier: Vec::new(),
            always: Vec::new(),
            outdated: Vec::new(),
            missing: BTreeSet::new(),
            present: BTreeSet::new(),
        };
        if let Some(meta) = known {
            stale.follow(meta);
        }
        let is_present = |what: &&String| now.helpers.is_some_and(|h| h.is_present(what));
        stale.present = stale.missing.iter().filter(is_present).cloned().collect();
        stale
    }

    /// Looks in the index for all files that are stale.
    pub(crate) fn look(
        &mut self,
        snapshot: &dyn Source,
        helpers: Option<&Helpers>,
        retry_failed: bool,
    ) -> Result<(), ken_engine::Error> {
        let with = |state: &str| snapshot.files().with_values(Field::Is, &[state]);
        if snapshot.meta().parts_lost {
            let files = snapshot.files().with_values(Field::Has, &["member"])?;
            self.outdated.push((Stale::Doubtful, files));
        }
        if retry_failed {
            self.always.push((Stale::Retry, with("failed")?));
        }
        if !self.present.is_empty() {
            self.always.push((Stale::Helper, with("missing")?));
        }
        let changed = Changed::of(&self.profile, &self.earlier, helpers);
        if !changed.is_empty() {
            let files = changed.files(snapshot)?;
            self.outdated.push((Stale::Extractor, files));
        }
        if changed::may_lift(&self.profile, &self.earlier) {
            let files = changed::lifted(&self.profile, &self.earlier, snapshot)?;
            self.outdated.push((Stale::Settings, files));
        }
        Ok(())
    }

    /// Sets the generation and the earlier profiles.
    fn follow(&mut self, meta: &Meta) {
        self.generation = meta.generation;
        self.earlier.clone_from(&meta.earlier);
        self.missing.clone_from(&meta.missing);
        if meta.profile != self.profile {
            // Numbers repeat after 65,535 generations.
            self.generation = meta.generation.checked_add(1).unwrap_or(1);
            if !self.earlier.contains(&meta.profile) {
                self.earlier.push(meta.profile.clone());
            }
        }
    }

    /// Returns whether files may have been read with another profile.
    pub(crate) fn has_earlier(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// Returns why an unchanged file is read again, if it is.
    pub(crate) fn reason(&self, path: &Path, row: &FileRow) -> Option<Stale> {
        let among = |lists: &[(Stale, Vec<FileKey>)]| {
            let mut lists = lists.iter();
            let list = lists.find(|(_, files)| files.binary_search(&row.key).is_ok());
            list.map(|(stale, _)| *stale)
        };
        if let Some(stale) = among(&self.always) {
            return Some(stale);
        }
        if row.token.generation() == self.generation || self.earlier.is_empty() {
            return None;
        }
        let fields = self.profile.fields_of(path);
        if self.earlier.iter().any(|r| r.fields_of(path) != fields) {
            return Some(Stale::Fields);
        }
        among(&self.outdated)
    }

    /// Writes the profile and what was `noticed` to be missing into the metadata; `all` if the run
    /// saw every file and completed.
    pub(crate) fn note(&self, meta: &mut Meta, noticed: BTreeSet<String>, all: bool) {
        meta.missing = self.noted(noticed, all);
        meta.profile.clone_from(&self.profile);
        meta.generation = self.generation;
        meta.parts_lost &= !all;
        meta.earlier = match all {
            true => Vec::new(),
            false => self.earlier.clone(),
        };
    }

    /// Returns what files wait for after this run.
    fn noted(&self, mut noticed: BTreeSet<String>, all: bool) -> BTreeSet<String> {
        // Something that is available but did not help is not looked for again.
        let useless: BTreeSet<_> = self.present.intersection(&noticed).cloned().collect();
        // Files that were not seen are still waiting.
        let waits = |what: &&String| !(all && self.present.contains(*what));
        noticed.extend(self.missing.iter().filter(waits).cloned());
        noticed.retain(|what| !useless.contains(what));
        noticed
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Token;

    use super::*;

    fn current(folders: &[FolderFields]) -> Profile {
        let now = Now {
            folders,
            helpers: None,
            limits: &Limits::default(),
            knows_passwords: true,
        };
        now.profile(None)
    }

    fn staleness(generation: u16, earlier: Vec<Profile>, extracted: &[u64]) -> Staleness {
        let extracted = extracted.iter().copied().map(FileKey).collect();
        Staleness {
            profile: current(&[]),
            generation,
            earlier,
            always: Vec::new(),
            outdated: vec![(Stale::Extractor, extracted)],
            missing: BTreeSet::new(),
            present: BTreeSet::new(),
        }
    }

    fn row(key: u64, generation: u16) -> FileRow {
        FileRow {
            key: FileKey(key),
            token: Token::from_number(5 << 16 | u64::from(generation)),
            identity: 1,
        }
    }

    #[test]
    fn what_this_generation_read_is_not_read_again() {
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
    fn what_a_program_read_stays_when_it_is_gone() {
        let mut last = current(&[]);
        let types = [
            "application/x-dvi",
            "application/pdf",
            "application/postscript",
        ];
        for media_type in types {
            last.formats.insert(format!("helper {media_type}"), 7);
        }
        let limits = Limits::default();
        let now = Now {
            folders: &[],
            helpers: None,
            limits: &limits,
            knows_passwords: true,
        };
        let now = now.profile(Some(&last));
        let profiles = [last];
        let changed = Changed::of(&now, &profiles, None);
        assert!(!changed.reads("application/x-dvi"));
        assert!(!changed.reads("application/postscript"), "only the text");
        assert!(changed.reads("application/pdf"), "ken reads it by itself");
    }

    #[test]
    fn what_is_missing_stays_noted_until_all_was_seen() {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut stale = staleness(3, Vec::new(), &[]);
        stale.missing = set(&["old", "back"]);
        stale.present = set(&["back"]);
        stale.always = vec![(Stale::Helper, vec![FileKey(4)])];
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
