//! The data folder is its owner's alone: it holds the text of files that others may not read.
//!
//! What ken creates is private from the start ([`ken_private`]). A data folder of an earlier version is closed by the
//! next run. A folder that holds more than ken's own files, such as a home folder, stays as it is; only ken's own files
//! in it are closed.

use std::io;
use std::path::{Path, PathBuf};

/// All that ken puts into a data folder.
const OWN: [&str; 14] = [
    "index",
    "index.new",
    "index.old",
    "ken.lock",
    "ken.serve",
    "ken.waiting",
    "mu.toml",
    "mu.toml.new",
    "ocr",
    "paused",
    "paused.new",
    "pictures",
    "tags",
    "tmp",
];

/// Creates the data folder, or closes it if it is open to others.
pub(crate) fn prepare(data: &Path) -> io::Result<()> {
    ken_private::create_folder(data)?;
    if ken_private::is_open(data) {
        // The owner may be somebody else; the status says so.
        let _ = close(data);
    }
    Ok(())
}

/// Returns whether others than the owner can read anything of ken's in the data folder.
#[must_use]
pub fn is_open_to_others(data: &Path) -> bool {
    ken_private::is_open(data) && own(data).any(|path| ken_private::is_open(&path))
}

fn close(data: &Path) -> io::Result<()> {
    let mut entries = fs_err::read_dir(data)?;
    let all_own = entries
        .all(|entry| entry.is_ok_and(|entry| OWN.iter().any(|name| entry.file_name() == *name)));
    match all_own {
        true => ken_private::close(data),
        false => own(data).try_for_each(|path| ken_private::close(&path)),
    }
}

/// Returns ken's files and folders in the data folder.
fn own(data: &Path) -> impl Iterator<Item = PathBuf> {
    let paths = OWN.map(|name| data.join(name)).into_iter();
    paths.filter(|path| fs_err::exists(path).unwrap_or(false))
}
