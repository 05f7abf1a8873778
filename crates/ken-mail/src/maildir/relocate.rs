//! Moves a message: it changes the flags, the folder or the name.
//!
//! A move is one rename that never overwrites a file, followed by a sync of both folders. Other programs rename
//! messages at any time. If one of them was faster, ken finds the message under its new name and goes on from there,
//! so no message is lost or duplicated.

use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{FlagError, MaildirPath};

/// How often a move is tried while other programs move the same message.
const MAX_TRIES: usize = 50;

/// The target of a move.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a> {
    /// The new Maildir; absent to stay.
    pub maildir: Option<&'a Path>,
    /// A change of flags, see [`super::Flags::changed`]; absent to keep them.
    pub flags: Option<&'a str>,
    /// Whether the message gets a new name, by which some programs notice the move.
    pub rename: bool,
}

impl Target<'_> {
    /// Returns whether a message at this path needs no move.
    pub fn is_reached(&self, path: &Path) -> bool {
        !self.rename && self.path(path).is_ok_and(|to| to == path)
    }

    /// Returns the target path of a message at this path. A new name differs each time.
    ///
    /// # Errors
    /// Fails if the path is not in a Maildir or the flags cannot be set.
    pub fn path(&self, path: &Path) -> Result<PathBuf, MoveError> {
        let message = MaildirPath::of_path(path);
        let message = message.ok_or_else(|| MoveError::NotInMaildir(path.to_path_buf()))?;
        Ok(wanted(&message, self, self.rename)?.path())
    }
}

/// Why a message cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The message is not in `cur` or `new`.
    #[error("\"{}\" is not a message of a Maildir", .0.display())]
    NotInMaildir(PathBuf),
    /// The message no longer exists under any name.
    #[error("the message \"{}\" is gone", .0.display())]
    Gone(PathBuf),
    /// The target folder is not a Maildir.
    #[error("\"{}\" is not a Maildir", .0.display())]
    NoMaildir(PathBuf),
    /// The flags cannot be set.
    #[error(transparent)]
    Flags(#[from] FlagError),
    /// Other programs move the message again and again.
    #[error("\"{}\" cannot be moved: another program keeps moving it", .0.display())]
    Contended(PathBuf),
    /// The file system refuses the move.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Moves a message and returns its new path. Nothing happens if the message is there already.
///
/// # Errors
/// Fails if the message is gone or cannot be moved. In that case it stays where it was.
pub fn relocate(path: &Path, target: &Target<'_>) -> Result<PathBuf, MoveError> {
    let not_in_maildir = || MoveError::NotInMaildir(path.to_path_buf());
    let mut from = path.to_path_buf();
    let mut message = MaildirPath::of_path(path).ok_or_else(not_in_maildir)?;
    if let Some(maildir) = target.maildir.filter(|maildir| !super::is_maildir(maildir)) {
        return Err(MoveError::NoMaildir(maildir.to_path_buf()));
    }
    let mut renames = target.rename;
    for _ in 0..MAX_TRIES {
        let to = wanted(&message, target, renames)?.path();
        if to == from && fs_err::symlink_metadata(&from).is_ok() {
            return Ok(to);
        }
        match rename(&from, &to) {
            Ok(()) => {
                sync_folder(&from)?;
                sync_folder(&to)?;
                return Ok(to);
            }
            // Another message has the name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => renames = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                from = message.find()?.ok_or(MoveError::Gone(from))?;
                message = MaildirPath::of_path(&from).ok_or_else(not_in_maildir)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(MoveError::Contended(from))
}

/// Gives the file of a message another path; both folders are synced. It never overwrites a file.
///
/// # Errors
/// Fails if the file cannot be moved, and if there is a file already.
pub fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    rename(from, to)?;
    sync_folder(from)?;
    sync_folder(to)
}

/// Returns the target path of a message.
fn wanted(
    message: &MaildirPath,
    target: &Target<'_>,
    renames: bool,
) -> Result<MaildirPath, FlagError> {
    let mut wanted = message.clone();
    if let Some(maildir) = target.maildir {
        wanted.maildir = maildir.to_path_buf();
    }
    if let Some(change) = target.flags {
        wanted.flags = message.flags.changed(change)?;
    }
    if renames {
        wanted.base = unique_name().into();
    }
    Ok(wanted)
}

/// Renames a file unless the new name is taken.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // The file system does not support the flag, or the kernel is older than it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_and_unlink(from, to),
        Err(Errno::XDEV) => copy_and_unlink(from, to),
        Err(error) => Err(named(&error.into(), from)),
    }
}

/// Gives a file its new name before it removes the old one, so that the file always has a name.
fn link_and_unlink(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::hard_link(from, to)?;
    unlink_or_undo(from, to)
}

/// Copies a file to another file system through `tmp`, so that no program sees half of it.
fn copy_and_unlink(from: &Path, to: &Path) -> io::Result<()> {
    let maildir = to.parent().and_then(Path::parent);
    let temporary = maildir.unwrap_or(to).join("tmp").join(unique_name());
    let copied = fs_err::copy(from, &temporary)
        .and_then(|_| fs_err::File::open(&temporary)?.sync_all())
        .and_then(|()| fs_err::hard_link(&temporary, to));
    // The temporary file is a second name of the copy, or the copy is not needed.
    let removed = fs_err::remove_file(&temporary);
    copied.and(removed)?;
    unlink_or_undo(from, to)
}

/// Removes the old name. If another program renamed it in between, the new name is removed instead.
fn unlink_or_undo(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::remove_file(from).inspect_err(|_| {
        // If this fails, the message has two names.
        let _ = fs_err::remove_file(to);
    })
}

fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot move \"{}\": {error}", path.display()),
    )
}

/// Writes the folder of a file to disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let (folder, _): (File, _) = fs_err::File::open(folder)?.into_parts();
    match rustix::fs::fsync(&folder) {
        // Some file systems cannot sync folders.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(named(&error.into(), path)),
    }
}

/// Returns an unused name for a message: time, a random number, and the name of the machine.
fn unique_name() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // The standard library seeds this hasher with random numbers of the system.
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u128(now.as_nanos());
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let host = host.replace(['/', ':', ' '], "-");
    format!("{}.{:016x}.{host}", now.as_secs(), hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maildirs() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (inbox, trash) = (folder.path().join("inbox"), folder.path().join("trash"));
        super::super::make(&inbox, 0o755).unwrap();
        super::super::make(&trash, 0o755).unwrap();
        (folder, inbox, trash)
    }

    fn deliver(maildir: &Path, name: &str) -> PathBuf {
        let path = maildir.join(name);
        fs_err::write(&path, name).unwrap();
        path
    }

    fn flags(change: &str) -> Target<'_> {
        Target {
            flags: Some(change),
            ..Target::default()
        }
    }

    #[test]
    fn flags_and_folders_are_changed_by_name() {
        let (_folder, inbox, trash) = maildirs();
        let path = deliver(&inbox, "new/1.a.host");
        let path = relocate(&path, &flags("+S-u-N")).unwrap();
        assert_eq!(path, inbox.join("cur/1.a.host:2,S"));
        let target = Target {
            maildir: Some(&trash),
            ..flags("+T-N")
        };
        let path = relocate(&path, &target).unwrap();
        assert_eq!(path, trash.join("cur/1.a.host:2,ST"));
        assert_eq!(
            relocate(&path, &flags("+T")).unwrap(),
            path,
            "nothing to do"
        );
        let target = Target {
            maildir: Some(&inbox),
            rename: true,
            ..Target::default()
        };
        let path = relocate(&path, &target).unwrap();
        assert!(path.to_str().unwrap().ends_with(":2,ST"));
        assert!(!path.to_str().unwrap().contains("1.a.host"));
        assert_eq!(fs_err::read_to_string(path).unwrap(), "new/1.a.host");
        assert_eq!(fs_err::read_dir(trash.join("cur")).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_overwritten() {
        let (_folder, inbox, trash) = maildirs();
        let other = deliver(&trash, "cur/1.a.host:2,S");
        let path = deliver(&inbox, "cur/1.a.host:2,S");
        let target = Target {
            maildir: Some(&trash),
            ..Target::default()
        };
        let moved = relocate(&path, &target).unwrap();
        assert_ne!(moved, other);
        assert_eq!(fs_err::read_dir(trash.join("cur")).unwrap().count(), 2);
    }

    #[test]
    fn a_message_is_followed_to_its_new_name() {
        let (_folder, inbox, _) = maildirs();
        deliver(&inbox, "cur/1.a.host:2,R");
        let known = inbox.join("new/1.a.host");
        let path = relocate(&known, &flags("+S-u-N")).unwrap();
        assert_eq!(path, inbox.join("cur/1.a.host:2,RS"));
        fs_err::remove_file(&path).unwrap();
        assert!(matches!(
            relocate(&path, &flags("+F")),
            Err(MoveError::Gone(_))
        ));
    }

    #[test]
    fn what_cannot_be_moved_stays() {
        let (folder, inbox, _) = maildirs();
        let path = deliver(&inbox, "cur/1.a.host:2,");
        let nowhere = folder.path().join("nowhere");
        let target = Target {
            maildir: Some(&nowhere),
            ..Target::default()
        };
        assert!(matches!(
            relocate(&path, &target),
            Err(MoveError::NoMaildir(_))
        ));
        assert!(matches!(
            relocate(&path, &flags("?")),
            Err(MoveError::Flags(_))
        ));
        let elsewhere = deliver(folder.path(), "1.eml");
        assert!(matches!(
            relocate(&elsewhere, &flags("+S")),
            Err(MoveError::NotInMaildir(_))
        ));
        assert!(path.is_file() && elsewhere.is_file());
    }

    #[test]
    fn the_ways_without_the_flag_do_the_same() {
        let (_folder, inbox, trash) = maildirs();
        for (number, way) in [link_and_unlink, copy_and_unlink].iter().enumerate() {
            let from = deliver(&inbox, &format!("cur/{number}:2,"));
            let to = trash.join(format!("cur/{number}:2,S"));
            way(&from, &to).unwrap();
            assert!(to.is_file() && !from.is_file());
            let error = way(&to, &deliver(&inbox, "cur/taken:2,")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(to.is_file());
            let error = way(&from, &inbox.join("cur/9:2,")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
        assert_eq!(fs_err::read_dir(trash.join("tmp")).unwrap().count(), 0);
    }
}
