//! Opens a file for reading, with the stamp that goes into the index.

use std::fs::File;
use std::io;
use std::path::Path;

use ken_core::Stamp;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Opens a file and returns it with its current stamp; returns none if it is gone or not a regular
/// file.
///
/// Errors are those of the operating system, without the path.
pub(crate) fn open(path: &Path) -> io::Result<Option<(File, Stamp)>> {
    ken_walk::open_settled(path, OFlags::empty())
}

/// Opens a file as [`open`] does, but treats a symbolic link as absent.
pub(crate) fn open_itself(path: &Path) -> io::Result<Option<(File, Stamp)>> {
    ken_walk::open_settled(path, OFlags::NOFOLLOW)
}

/// Returns whether an error is caused by the current state of the machine, not by the file.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    let passing = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::STALE,
        Errno::TIMEDOUT,
    ];
    let code = error.raw_os_error();
    passing
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}

/// Returns whether a folder above a file forbids opening it, or the file can be opened by now. The
/// stamp of the file does not change when such a cause passes.
pub(crate) fn may_be_opened_later(path: &Path, error: &io::Error) -> bool {
    let is_denied = error.raw_os_error() == Some(Errno::ACCESS.raw_os_error());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    // Checked again, since the folder may change between the two calls.
    is_denied
        && (0..3).any(|_| {
            rustix::fs::stat(path).is_err() || rustix::fs::open(path, flags, Mode::empty()).is_ok()
        })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use ken_walk::Settled;

    use super::*;

    #[test]
    fn a_stamp_is_only_trusted_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs_err::write(&path, "new").unwrap();
        let (_file, stamp) = open(&path).unwrap().unwrap();
        let settled = ken_walk::settle(&stamp, SystemTime::now());
        assert!(settled == Settled::Yes || stamp.is_racy());
        assert!(open(&folder.path().join("none")).unwrap().is_none());
        assert!(open(folder.path()).unwrap().is_none(), "a folder");
    }

    #[test]
    fn passing_errors_are_distinguished_from_those_of_the_file() {
        assert!(is_passing(&Errno::MFILE.into()));
        assert!(!is_passing(&Errno::ACCESS.into()));
    }
}
