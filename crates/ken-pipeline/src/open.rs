//! Opens a file for reading, with the stamp that goes into the index.

use std::fs::File;
use std::io;
use std::path::Path;

use ken_core::Stamp;
use rustix::fs::OFlags;

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
}
