//! N-gram segments in the last commit that are gone, or cannot be read.
//!
//! Missing segments only cost time: `ken grep` then scans every file, and the next run reads the
//! files again whose n-grams are missing.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use ken_core::FileRow;
use ken_engine::{Meta, Source};
use ken_ngram::{Covers, OpenSegments, Version};

use ken_index::layout::ngrams_folder;

/// The segments that are missing, and those that are left.
pub(crate) struct MissingNgrams {
    pub(crate) files: BTreeSet<u64>,
    left: OpenSegments,
}

impl MissingNgrams {
    /// Returns what is missing in an index; none if nothing is.
    pub(crate) fn of(index: &Path, meta: &Meta) -> io::Result<Option<Self>> {
        let Some(named) = &meta.ngram_files else {
            return Ok(None);
        };
        let left = ken_ngram::open(&ngrams_folder(index), ken_index::map)?;
        let files = left.missing(named);
        Ok((!files.is_empty()).then_some(Self { files, left }))
    }

    /// Returns whether n-grams of a file, or of a part of it, may be among the missing ones.
    pub(crate) fn may_hold(&self, snapshot: Option<&dyn Source>, row: &FileRow) -> bool {
        let version = Version::new(row.key, row.token);
        let segments = self.left.segments.iter();
        let rows = segments.flat_map(|segment| segment.of(version.key));
        let own: Vec<Covers> = rows
            .filter(|row| row.version == version && !row.is_part)
            .map(|row| row.covers)
            .collect();
        let parts_are_known = || own.iter().any(|covers| covers.text);
        let has_parts = || {
            let addresses = snapshot.map(|snapshot| snapshot.files().documents_of(row.key));
            addresses.is_some_and(|addresses| addresses.is_ok_and(|all| all.len() > 1))
        };
        own.is_empty() || parts_are_known() && has_parts()
    }
}
