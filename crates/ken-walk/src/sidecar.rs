//! Sidecars: files with metadata of another file next to them, written by programs that do not
//! change the original (XMP specification, part 3, 1.1.1).
//!
//! `photo.jpg` has the sidecar `photo.jpg.xmp` (darktable, digiKam) or otherwise `photo.xmp`
//! (Lightroom, Bridge). The write-ahead log of a SQLite database, `history.sqlite-wal`, counts as
//! one too. The stamp of a file includes its sidecar's, so that a change of either is noticed. Only
//! folders that contain a sidecar are examined closely.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::{SidecarStamp, Stamp};
use rustix::fs::{AtFlags, CWD, FileType};

/// The extension in the forms that programs write.
const EXTENSIONS: [&[u8]; 2] = [b".xmp", b".XMP"];

/// Ending of the name of a database's log.
const LOG: &[u8] = b"-wal";

/// The content of a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// Metadata of this file.
    Own,
    /// Metadata that may apply to several files, since the sidecar's name lacks their extension.
    Shared,
    /// Content that is not written into the database yet.
    Log,
}

/// Returns whether a file of this name belongs to another.
pub(crate) fn is_sidecar(name: &[u8]) -> bool {
    let mut ends = EXTENSIONS.iter().chain([&LOG]);
    ends.any(|end| name.ends_with(end))
}

/// Returns the possible names of a file's sidecar, the most likely first.
pub fn sidecar_names(name: &[u8]) -> Vec<(Vec<u8>, Sidecar)> {
    if is_sidecar(name) {
        return Vec::new();
    }
    let dot = name.iter().rposition(|&byte| byte == b'.');
    let stem = dot.filter(|&dot| dot > 0).map(|dot| &name[..dot]);
    let own = EXTENSIONS.map(|extension| ([name, extension].concat(), Sidecar::Own));
    let shared =
        stem.map(|stem| EXTENSIONS.map(|extension| ([stem, extension].concat(), Sidecar::Shared)));
    let log = ([name, LOG].concat(), Sidecar::Log);
    std::iter::once(log)
        .chain(own)
        .chain(shared.into_iter().flatten())
        .collect()
}

/// Returns the part of a stamp that represents a sidecar.
pub fn sidecar_stamp(stamp: &Stamp) -> SidecarStamp {
    SidecarStamp {
        size: stamp.size,
        mtime_ns: stamp.mtime_ns,
        ctime_ns: stamp.ctime_ns,
        inode: stamp.inode,
    }
}

/// Looks for the sidecar of a file in a folder with these sidecars.
pub(crate) fn look(
    folder: BorrowedFd<'_>,
    sidecars: &HashSet<Vec<u8>>,
    name: &[u8],
) -> Option<SidecarStamp> {
    let names = sidecar_names(name).into_iter();
    let mut there = names.filter(|(name, _)| sidecars.contains(name));
    there.find_map(|(name, _)| stamp_at(folder, OsStr::from_bytes(&name).as_ref()))
}

/// Looks for the sidecar of a file by path.
pub fn sidecar_beside(path: &Path) -> Option<SidecarStamp> {
    let names = sidecar_names(path.file_name()?.as_bytes()).into_iter();
    let mut paths = names.map(|(name, _)| path.with_file_name(OsStr::from_bytes(&name)));
    paths.find_map(|path| stamp_at(CWD, &path))
}

fn stamp_at(folder: BorrowedFd<'_>, path: &Path) -> Option<SidecarStamp> {
    let stat = rustix::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then(|| sidecar_stamp(&crate::stamp_of(&stat, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_the_extension_of_the_file() {
        let names = |name: &str| -> Vec<String> {
            let names = sidecar_names(name.as_bytes()).into_iter();
            names
                .map(|(name, _)| String::from_utf8(name).unwrap())
                .collect()
        };
        assert_eq!(
            names("a.b.jpg"),
            [
                "a.b.jpg-wal",
                "a.b.jpg.xmp",
                "a.b.jpg.XMP",
                "a.b.xmp",
                "a.b.XMP"
            ]
        );
        assert_eq!(
            names(".hidden"),
            [".hidden-wal", ".hidden.xmp", ".hidden.XMP"]
        );
        assert!(names("a.xmp").is_empty());
        assert!(names("a.sqlite-wal").is_empty());
    }
}
