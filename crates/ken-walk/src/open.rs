//! Opens files and folders of the user for reading, without changing their access times.
//!
//! People and programs sort by access time, which should show when somebody read a file. Linux leaves
//! it alone on request (`O_NOATIME` of open(2)), but only for the owner of a file: other files are
//! opened again without the request.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::SystemTime;

use ken_core::Stamp;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::Settled;

/// How many times a read waits for a file that has just changed.
const MAX_WAITS: usize = 3;

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

/// Opens a file and returns it with its current stamp, once that can be trusted or is known to be racy; returns none if
/// it is gone or not a regular file. `more` are further flags.
///
/// # Errors
/// Fails as open(2) and fstat(2) do; the error does not name the path.
pub fn open_settled(path: &Path, more: OFlags) -> io::Result<Option<(File, Stamp)>> {
    // If the path has become a FIFO, opening it must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    let file = match open(path, flags) {
        Ok(descriptor) => File::from(descriptor),
        Err(Errno::NOENT | Errno::NXIO | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(settled(&file)?.map(|stamp| (file, stamp)))
}

/// Waits until the stamp of an open file is reliable, and returns it: a file that has just changed
/// may change again within the same clock tick. Returns none if it is not a regular file.
///
/// Where the clock of the file system is too coarse to wait for, and if the file is written
/// continuously, the stamp is racy: the next run reads the file again.
fn settled(file: &File) -> io::Result<Option<Stamp>> {
    for tries in 0.. {
        let Some(stamp) = crate::file_stamp(file)? else {
            break;
        };
        match crate::settle(&stamp, SystemTime::now()) {
            Settled::Yes => return Ok(Some(stamp)),
            Settled::In(wait) if tries < MAX_WAITS => std::thread::sleep(wait),
            Settled::In(_) | Settled::No => return Ok(Some(stamp.as_racy())),
        }
    }
    Ok(None)
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
