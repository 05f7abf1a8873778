//! Files of which a query reads only small parts: they are read, not mapped.
//!
//! Touching a new page of a mapped file takes some microseconds: the system enters the surrounding
//! pages into a table, creates that table at the first access to each two megabytes, and scans all
//! tables when the process ends. Reading some kilobytes takes one microsecond. A process that
//! answers one query needs a few lists of postings of each segment. A process with many queries
//! finds everything already mapped.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use fs_err::File;
use fs_err::os::unix::fs::FileExt;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{FileHandle, MmapDirectory, OwnedBytes};
use tantivy::{Directory, HasLen};

/// Size of the end of a file that is read when it is opened, since it holds the table of contents.
const END_BYTES: usize = 4 << 10;
/// Maximum size of a copied piece.
const LITTLE_BYTES: usize = 8 << 10;
/// Maximum number of pieces that are read; after that, the file is mapped.
const MAX_READS: u32 = 64;

/// A file that is mapped when much of it is read.
#[derive(Debug)]
pub(super) struct SparingFile {
    directory: MmapDirectory,
    /// The path in the directory.
    path: PathBuf,
    file: File,
    len: usize,
    end: OwnedBytes,
    reads_left: AtomicU32,
    /// The map of the whole file; none if the writer has merged the file away meanwhile, in which
    /// case reading continues.
    whole: OnceLock<Option<OwnedBytes>>,
}

impl SparingFile {
    /// Opens a file of a directory, whose folder is `root`.
    ///
    /// # Errors
    /// Fails if the file cannot be opened or read.
    pub(super) fn open(directory: &MmapDirectory, root: &Path, path: &Path) -> io::Result<Self> {
        let file = File::open(root.join(path))?;
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let end = read(&file, len.saturating_sub(END_BYTES)..len)?;
        Ok(Self {
            directory: directory.clone(),
            path: path.to_path_buf(),
            file,
            len,
            end,
            reads_left: AtomicU32::new(MAX_READS),
            whole: OnceLock::new(),
        })
    }

    fn whole(&self) -> io::Result<Option<&OwnedBytes>> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole.as_ref());
        }
        let whole = match self.directory.open_read(&self.path) {
            Ok(file) => Some(file.read_bytes()?),
            Err(OpenReadError::FileDoesNotExist(_)) => None,
            Err(error) => return Err(io::Error::other(error)),
        };
        Ok(self.whole.get_or_init(|| whole).as_ref())
    }

    /// Returns whether one more piece may be read.
    fn may_read(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let left = &self.reads_left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    }
}

fn read(file: &File, range: Range<usize>) -> io::Result<OwnedBytes> {
    let mut bytes = vec![0; range.len()];
    file.read_exact_at(&mut bytes, range.start as u64)?;
    Ok(OwnedBytes::new(bytes))
}

impl FileHandle for SparingFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let end = self.len - self.end.len();
        if range.start >= end {
            return Ok(self.end.slice(range.start - end..range.end - end));
        }
        if range.len() <= LITTLE_BYTES && self.whole.get().is_none() && self.may_read() {
            return read(&self.file, range);
        }
        match self.whole()? {
            Some(whole) => Ok(whole.slice(range)),
            None => read(&self.file, range),
        }
    }
}

impl HasLen for SparingFile {
    fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> Vec<u8> {
        (0..200_000_u32).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn pieces_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let content = content();
        fs_err::write(folder.path().join("file"), &content).unwrap();
        let directory = MmapDirectory::open(folder.path()).unwrap();
        let open = || SparingFile::open(&directory, folder.path(), Path::new("file")).unwrap();
        let n = content.len();
        for range in [
            0..0,
            0..10,
            n - 8..n,
            n - END_BYTES..n,
            n - END_BYTES - 1..n,
            5..LITTLE_BYTES + 6,
            0..n,
            n..n,
        ] {
            let file = open();
            assert_eq!(file.read_bytes(range.clone()).unwrap(), content[range]);
        }
        let file = open();
        for start in (0..n - 100).step_by(5_000) {
            let piece = file.read_bytes(start..start + 100).unwrap();
            assert_eq!(piece, content[start..start + 100]);
        }
        assert!(
            file.whole.get().is_some_and(Option::is_some),
            "so many pieces are mapped"
        );
    }

    #[test]
    fn a_deleted_file_is_still_there() {
        let folder = tempfile::tempdir().unwrap();
        let content = content();
        fs_err::write(folder.path().join("file"), &content).unwrap();
        let directory = MmapDirectory::open(folder.path()).unwrap();
        let file = SparingFile::open(&directory, folder.path(), Path::new("file")).unwrap();
        fs_err::remove_file(folder.path().join("file")).unwrap();
        let all = 0..content.len();
        assert_eq!(file.read_bytes(all).unwrap(), content[..]);
        for start in (0..content.len() - 100).step_by(5_000) {
            let piece = file.read_bytes(start..start + 100).unwrap();
            assert_eq!(piece, content[start..start + 100]);
        }
        let error = SparingFile::open(&directory, folder.path(), Path::new("file"));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
