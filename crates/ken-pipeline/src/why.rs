//! Explains what ken knows about one path, and what the next run would do with it.

use std::path::Path;

use ken_core::{Field, FileRow, FolderFields, Root};
use ken_engine::{DocAddress, Source};
use ken_walk::{Skip, Verdict, WalkOptions};

use crate::stale::{Now, Stale, Staleness, custom_fields};

/// What ken knows about a path.
#[derive(Debug)]
pub struct Why {
    /// The root above the path.
    pub root: Option<Root>,
    /// The decision of the walk; `None` without a root.
    pub verdict: Option<Verdict>,
    /// Whether the index agrees with the file.
    pub known: Known,
    /// Addresses of its documents, the file's own first.
    pub documents: Vec<DocAddress>,
    /// Whether any of the documents has a failure.
    pub has_failed: bool,
    /// What the next run would do.
    pub next: Next,
}

/// How the index and a file agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The index does not have the file.
    Not,
    /// A run was stopped while it read the file, or a passing error prevented reading it.
    Unfinished,
    /// The file is unchanged since it was indexed.
    Unchanged,
    /// The file changed since it was indexed.
    Changed,
    /// The file is indexed, but the walk does not find it now.
    Unseen,
}

/// What the next run would do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: there is nothing to read, or the file is known and unchanged.
    Nothing,
    /// Read the file, since it is new, changed or unfinished.
    Read,
    /// Read the file although it did not change.
    ReadAgain(Stale),
    /// Forget its documents, since the walk no longer finds the file; they may move to its new
    /// path.
    Forget,
    /// Keep its documents, since it is not known whether the file still exists, or since its folder stays as it is.
    Keep,
}

/// Returns what the index and the walk say about an absolute path.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn why(
    snapshot: &dyn Source,
    folders: &[FolderFields],
    extract: &ken_extract::Options,
    walk: &WalkOptions,
    path: &Path,
) -> Result<Why, ken_engine::Error> {
    let meta = snapshot.meta();
    let key = meta.hasher.key(path);
    let row = snapshot.files().row(key)?.map(|(_, row)| row);
    let mut documents = Vec::new();
    for address in snapshot.files().documents_of(key)? {
        documents.push((snapshot.location(address)?.ipath, address));
    }
    documents.sort();
    let failed = snapshot.files().with_values(Field::Is, &["failed"])?;
    let verdict = ken_walk::explain(&meta.roots, walk, path);
    let known = known(
        snapshot,
        row.as_ref(),
        !documents.is_empty(),
        verdict.as_ref(),
    );
    let next = match (known, &verdict) {
        (Known::Unseen, Some(Verdict::Failed(_) | Verdict::Unavailable(_))) => Next::Keep,
        (Known::Unseen, Some(verdict)) if is_held(verdict) => Next::Keep,
        (Known::Unseen, _) => Next::Forget,
        (Known::Not | Known::Changed | Known::Unfinished, Some(Verdict::File(_))) => Next::Read,
        (Known::Unchanged, _) => {
            let mut limits = extract.limits.clone();
            limits.headers = custom_fields(&limits, Some(meta)).unwrap_or_default();
            let now = Now {
                folders,
                helpers: extract.helpers.as_deref(),
                limits: &limits,
                // The user is not asked for passwords to answer this.
                knows_passwords: false,
            };
            let mut stale = Staleness::new(Some(meta), &now);
            stale.look(snapshot, now.helpers, false)?;
            row.and_then(|row| stale.reason(path, &row))
                .map_or(Next::Nothing, Next::ReadAgain)
        }
        _ => Next::Nothing,
    };
    Ok(Why {
        root: ken_walk::covering(&meta.roots, path).cloned(),
        verdict,
        known,
        documents: documents.into_iter().map(|(_, address)| address).collect(),
        has_failed: failed.binary_search(&key).is_ok(),
        next,
    })
}

/// Returns whether a path is in a folder that stays in the index as it is.
fn is_held(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::LeftOut {
            skip: Skip::Held,
            ..
        }
    )
}

fn known(
    snapshot: &dyn Source,
    row: Option<&FileRow>,
    has_documents: bool,
    verdict: Option<&Verdict>,
) -> Known {
    match (row, verdict) {
        _ if !has_documents => Known::Not,
        (Some(row), Some(Verdict::File(_))) if !row.token.is_finished() => Known::Unfinished,
        (Some(row), Some(Verdict::File(stamp))) => {
            match row.is_of(stamp, &snapshot.meta().hasher) {
                true => Known::Unchanged,
                false => Known::Changed,
            }
        }
        (None, Some(Verdict::File(_))) => Known::Unfinished,
        _ => Known::Unseen,
    }
}
