//! Explains the walk's decision on one path, by a walk that is limited to the folders that lead
//! there.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ken_core::{Root, Stamp};

use crate::options::{Progress, Visitor, WalkOptions};
use crate::walk::walk_towards;
use crate::{Availability, Skip, WalkError};

/// The walk's decision on a path below a root.
#[derive(Debug)]
pub enum Verdict {
    /// The walk finds this file.
    File(Stamp),
    /// The walk enters this folder.
    Folder,
    /// The path is left out, or a folder above it is.
    LeftOut {
        /// What is left out: the path or a folder above it.
        at: PathBuf,
        /// The reason.
        skip: Skip,
    },
    /// The path, or a folder above it, is not accessible.
    Failed(WalkError),
    /// Its root cannot be walked.
    Unavailable(Availability),
    /// There is nothing at the path.
    Absent,
}

/// Walks towards a path and returns the decision; `None` if no root contains it.
pub fn explain(roots: &[Root], options: &WalkOptions, path: &Path) -> Option<Verdict> {
    let root = crate::covering(roots, path)?;
    let met = Mutex::new(None);
    let meet = |verdict| *met.lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
    let file = |at: &Path, stamp| {
        // There is nothing below a file.
        if at == path {
            meet(Verdict::File(stamp));
        }
    };
    let skipped = |at: &Path, skip| {
        let at = at.to_path_buf();
        meet(Verdict::LeftOut { at, skip });
    };
    let visitor = Visitor {
        file: &file,
        skipped: Some(&skipped),
        recorder: None,
    };
    let summary = walk_towards(
        &[path.to_path_buf()],
        false,
        roots,
        options,
        &Progress::default(),
        visitor,
    );
    let met = met.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_of_a_path = |error: &WalkError| !matches!(error, WalkError::Rules { .. });
    let failed = summary.errors.into_iter().find(is_of_a_path);
    let unavailable = summary.unavailable.into_iter().find(|u| u.0 == root.path);
    Some(
        met.or_else(|| unavailable.map(|(_, state)| Verdict::Unavailable(state)))
            .or_else(|| failed.map(Verdict::Failed))
            .unwrap_or_else(|| match fs_err::metadata(path) {
                Ok(metadata) if metadata.is_dir() => Verdict::Folder,
                _ => Verdict::Absent,
            }),
    )
}
