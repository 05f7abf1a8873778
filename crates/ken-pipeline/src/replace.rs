//! Replaces an index that cannot be used, because it is damaged or in another format, by an empty
//! one with the same roots.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use ken_core::Root;
use ken_engine::Sink;
use ken_index::{Writer, WriterOptions};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::{Error, under_way};

/// Replaces an index by an empty one with these roots. If the process is killed at any time, one of
/// the two is there, or [`recover`] restores it.
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
    under_way::mark(&mut meta);
    // The n-grams of all known files, of which there are none.
    meta.ngram_files = Some(BTreeSet::new());
    writer.commit(&meta)?;
    writer.close()?;
    exchange(&new, index)?;
    remove(&new)?;
    Ok(())
}

/// Finishes a replacement that was killed, where folders cannot exchange their names.
pub(crate) fn recover(index: &Path) -> io::Result<()> {
    let new = index.with_file_name("index.new");
    if fs_err::exists(index)? || !fs_err::exists(&new)? {
        return Ok(());
    }
    fs_err::rename(new, index)
}

pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Exchanges the names of two folders, atomically where the file system supports it.
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
