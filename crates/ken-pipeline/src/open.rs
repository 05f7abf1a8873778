//! Opens a file for reading, with the stamp that goes into the index.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use ken_core::Stamp;
use ken_walk::Settled;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// How many times a read waits for a file that has just changed.
const MAX_WAITS: usize = 3;

/// Opens a file and returns it with its current stamp; returns none if it is gone or not a regular
/// file.
///
/// Errors are those of the operating system, without the path.
pub(crate) fn open(path: &Path) -> io::Result<Option<(File, Stamp)>> {
    open_with(path, OFlags::empty())
}

/// Opens a file as [`open`] does, but treats a symbolic link as absent.
pub(crate) fn open_itself(path: &Path) -> io::Result<Option<(File, Stamp)>> {
    open_with(path, OFlags::NOFOLLOW)
}

fn open_with(path: &Path, more: OFlags) -> io::Result<Option<(File, Stamp)>> {
    // If the path has become a FIFO, opening it must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    let file = match ken_walk::open(path, flags) {
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
        let Some(stamp) = ken_walk::file_stamp(file)? else {
            break;
        };
        match ken_walk::settle(&stamp, SystemTime::now()) {
            Settled::Yes => return Ok(Some(stamp)),
            Settled::In(wait) if tries < MAX_WAITS => std::thread::sleep(wait),
            Settled::In(_) | Settled::No => return Ok(Some(stamp.as_racy())),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
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
    fn passing_errors_are_distinguished_from_those_of_the_file() {}
}
