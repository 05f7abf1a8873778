//! Opens files and folders of the user for reading, without changing their access times.
//!
//! People and programs sort by access time, which should show when somebody read a file. Linux leaves
//! it alone on request (`O_NOATIME` of open(2)), but only for the owner of a file: other files are
//! opened again without the request.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

#[cfg(any(target_os = "linux", target_os = "android"))]
const UNNOTICED: OFlags = OFlags::NOATIME;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const UNNOTICED: OFlags = OFlags::empty();

/// Opens a file or folder for reading.
///
/// # Errors
/// Fails as open(2) does.
pub fn open(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, flags)
}

/// Opens a file or folder for reading, by its path from an open folder.
pub(crate) fn open_at(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let open = |flags| retry_on_intr(|| rustix::fs::openat(folder, path, flags, Mode::empty()));
    match open(flags | UNNOTICED) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    }
}

/// Opens a file for reading, as [`File::open`] does.
///
/// # Errors
/// Fails as [`File::open`] does; the error does not name the path.
pub fn open_file(path: &Path) -> io::Result<File> {
    Ok(File::from(open(path, OFlags::RDONLY | OFlags::CLOEXEC)?))
}

/// Opens a file for reading, as [`fs_err::File::open`] does.
///
/// # Errors
/// Fails as [`fs_err::File::open`] does; the error names the path.
pub fn open_named(path: &Path) -> io::Result<fs_err::File> {
    match open_file(path) {
        Ok(file) => Ok(fs_err::File::from_parts(file, path)),
        Err(_) => fs_err::File::open(path),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn reading_leaves_the_access_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs_err::write(&path, "text").unwrap();
        let times = std::fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
        let file = fs_err::File::options().write(true).open(&path).unwrap();
        file.file().set_times(times).unwrap();
        let mut text = String::new();
        open_file(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert_eq!(fs_err::metadata(&path).unwrap().atime(), 0);
        let error = open_named(&folder.path().join("none")).unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
    }
}
