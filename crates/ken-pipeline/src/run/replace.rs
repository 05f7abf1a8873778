//! An index that is made anew of the roots of one that cannot be used: it is damaged, or of another format.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use ken_core::Root;
use ken_index::{Writer, WriterOptions};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::lock::RunLock;
use crate::{Error, Options, Progress, Summary, update};

/// Makes an index anew whose list of segments is damaged, of the roots that it still tells; nothing is done
/// if it tells of none that are there.
///
/// # Errors
/// Fails as [`update`] does.
pub fn start_anew(options: &Options, progress: &Progress) -> Result<Option<Summary>, Error> {
    let index = options.data.join("index");
    let roots = ken_index::salvage_roots(&index).unwrap_or_default();
    // A flipped bit may as well be in the name of one.
    let is_there = |root: &Root| fs_err::exists(&root.path).unwrap_or(false);
    if roots.is_empty() || !roots.iter().all(is_there) {
        return Ok(None);
    }
    let Some(lock) = RunLock::take(&options.data, &|| !progress.is_cancelled())? else {
        return Ok(None);
    };
    replace(&index, roots)?;
    drop(lock);
    update(options, &[], progress, &|_| ()).map(Some)
}

/// Returns the roots of an index of another format.
pub(crate) fn roots_of_other_format(index: &Path) -> Result<Vec<Root>, Error> {
    ken_index::salvage_roots(index).ok_or_else(|| {
        let message =
            "it is of another format, and which folders it covers cannot be read".to_owned();
        let path = index.to_path_buf();
        ken_index::Error::Damaged { path, message }.into()
    })
}

/// Puts an empty index with these roots in the place of one. Whenever this is killed, one of the two is there,
/// or [`recover`] brings it back.
pub(crate) fn replace(index: &Path, roots: Vec<Root>) -> Result<(), Error> {
    let new = index.with_file_name("index.new");
    remove(&new)?;
    let few = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(&new, few)?;
    let mut meta = writer.meta().clone();
    meta.roots = roots;
    // Of all files that it knows, which are none.
    meta.gram_files = Some(BTreeSet::new());
    writer.commit(&meta)?;
    writer.close()?;
    exchange(&new, index)?;
    remove(&new)?;
    Ok(())
}

/// Puts an index in its place that a run was killed before it could; where folders cannot exchange their names.
pub(crate) fn recover(index: &Path) -> io::Result<()> {
    let new = index.with_file_name("index.new");
    if fs_err::exists(index)? || !fs_err::exists(&new)? {
        return Ok(());
    }
    fs_err::rename(new, index)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives two folders the name of each other, at once where the file system can.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let old = other.with_file_name("index.old");
    remove(&old)?;
    fs_err::rename(other, &old)?;
    fs_err::rename(one, other)?;
    remove(&old)
}
