//! Stats the current version of a file, by one `fstatat` in an open folder.
//!
//! A search examines file after file in one folder. With the whole path of each, the kernel would
//! traverse all parent folders again, which takes longer than everything else about a file.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::Stamp;
use ken_walk::FileSystems;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

/// The folder in which a thread last examined a file. It stays open during the thread's part of a
/// search.
#[derive(Default)]
pub struct LastFolder {
    path: Vec<u8>,
    open: Option<OwnedFd>,
    file_systems: FileSystems,
}

impl LastFolder {
    /// Returns the stamp of a file, without a sidecar; none if it is not a regular file or has no
    /// accessible metadata.
    pub(super) fn stamp(&mut self, path: &Path) -> Option<Stamp> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let parent_bytes = parent.as_os_str().as_bytes();
        if self.open.is_none() || self.path != parent_bytes {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.open = openat(CWD, parent, flags, Mode::empty()).ok();
            self.path.clear();
            self.path.extend_from_slice(parent_bytes);
        }
        let name = CString::new(name.as_bytes()).ok()?;
        stamp_in(self.open.as_ref()?.as_fd(), &name, &mut self.file_systems)
    }
}

/// Returns the stamp of a file in an open folder.
pub(super) fn stamp_in(
    folder: BorrowedFd<'_>,
    name: &CStr,
    file_systems: &mut FileSystems,
) -> Option<Stamp> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then(|| ken_walk::stamp_of(&stat, file_systems.volume_at(folder, name, &stat)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_seen_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut last = LastFolder::default();
        let mut stamp = |path: &Path| last.stamp(path);
        assert_eq!(stamp(&path), None);
        fs_err::write(&path, "four").unwrap();
        assert_eq!(stamp(&path).unwrap().size, 4);
        fs_err::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert_eq!(stamp(&folder.path().join("link")), None);
        assert_eq!(stamp(folder.path()), None);
        fs_err::write(&path, "now six").unwrap();
        assert_eq!(stamp(&path).unwrap().size, 7);
        assert_eq!(stamp(Path::new("/")), None);
    }
}
