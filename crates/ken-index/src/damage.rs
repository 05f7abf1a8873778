//! Damaged segments, which are left out of answers until a run reads their files again.
//!
//! A file of the engine is not compared with its checksum when it is opened, so a damaged one shows in the middle of a
//! question: by an error, or by a panic of the engine. [`crate::check::find`] then checks all files, and writes the names of the damaged
//! segments into a file beside the list of segments. Readers leave these segments out, and the next run drops them.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::Value as Json;

use crate::layout::DAMAGED_FILE;

/// The names of damaged segments, without hyphens.
pub(crate) type Segments = BTreeSet<String>;

/// Returns the names of the damaged segments that are remembered.
pub(crate) fn noted(path: &Path) -> Segments {
    // Usually there is no such file, and one that cannot be read is made again by the next damage.
    let bytes = fs_err::read(path.join(DAMAGED_FILE)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let is_name = |line: &&str| !line.is_empty() && line.bytes().all(|b| b.is_ascii_hexdigit());
    text.lines().filter(is_name).map(str::to_owned).collect()
}

/// Remembers damaged segments.
///
/// # Errors
/// Fails if the file cannot be written.
pub(crate) fn remember(path: &Path, segments: &Segments) -> io::Result<()> {
    let lines: String = segments.iter().map(|name| format!("{name}\n")).collect();
    // Readers see the names of before or all of these.
    let next = path.join(format!("{DAMAGED_FILE}.{}", std::process::id()));
    ken_private::write(&next, lines.as_bytes())?;
    fs_err::rename(next, path.join(DAMAGED_FILE))
}

/// Forgets the damaged segments, which are no longer in the index.
///
/// # Errors
/// Fails if the file cannot be removed.
pub(crate) fn forget(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path.join(DAMAGED_FILE)) {
        // Another process dropped the same segments.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns a list of segments without some of them, and how many documents these have.
pub(crate) fn without(list: &[u8], segments: &Segments) -> Option<(Json, u64)> {
    let mut list: Json = serde_json::from_slice(list).ok()?;
    let mut n_documents = 0;
    list.get_mut("segments")?.as_array_mut()?.retain(|segment| {
        let id = segment.get("segment_id").and_then(Json::as_str);
        // Written with hyphens there, without in the names of files.
        let is_damaged = id.is_some_and(|id| segments.contains(&id.replace('-', "")));
        if is_damaged {
            let number = |at: &str| {
                segment
                    .pointer(at)
                    .and_then(Json::as_u64)
                    .unwrap_or_default()
            };
            n_documents += number("/max_doc").saturating_sub(number("/deletes/num_deleted_docs"));
        }
        !is_damaged
    });
    Some((list, n_documents))
}
