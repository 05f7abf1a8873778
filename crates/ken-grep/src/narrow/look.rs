//! Looks at a file as it is now: one `fstatat` in a folder that is open.
//!
//! The walk comes with file after file of one folder. To name each by its whole path has the kernel go
//! through all folders above it again, which takes longer than all else that is asked of a file.

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::Stamp;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::path::Arg;

/// Tells one search from the next: folders may have been replaced between them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Search(u64);

impl Search {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The folder that this thread looked into last.
#[derive(Default)]
struct Folder {
    search: u64,
    path: Vec<u8>,
    open: Option<OwnedFd>,
}

thread_local! {
    static LAST: RefCell<Folder> = RefCell::default();
}

/// Returns the stamp of a file, without a sidecar; none if it is no regular file or cannot be looked at.
pub(super) fn stamp(search: Search, path: &Path) -> Option<Stamp> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    LAST.with_borrow_mut(|last| {
        if last.search != search.0 || last.path != parent.as_os_str().as_bytes() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            last.open = openat(CWD, parent, flags, Mode::empty()).ok();
            last.search = search.0;
            last.path.clear();
            last.path.extend_from_slice(parent.as_os_str().as_bytes());
        }
        stamp_in(last.open.as_ref()?, name)
    })
}

/// Returns the stamp of a file in an open folder.
pub(super) fn stamp_in(folder: impl AsFd, name: impl Arg) -> Option<Stamp> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then(|| ken_walk::stamp_of(&stat))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_seen_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let search = Search::new();
        let stamp = |path: &Path| stamp(search, path);
        assert_eq!(stamp(&path), None);
        fs_err::write(&path, "four").unwrap();
        assert_eq!(stamp(&path).unwrap().size, 4);
        fs_err::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert_eq!(stamp(&folder.path().join("link")), None);
        assert_eq!(stamp(folder.path()), None);
        fs_err::write(&path, "now six").unwrap();
        assert_eq!(stamp(&path).unwrap().size, 7);
        assert_eq!(stamp(Path::new("/")), None);

        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs_err::create_dir(&old).unwrap();
        fs_err::write(old.join("file"), "old").unwrap();
        stamp(&old.join("file")).unwrap();
        fs_err::rename(&old, new).unwrap();
        assert_eq!(super::stamp(Search::new(), &old.join("file")), None);
    }
}
