//! Folders of a Maildir: the location of a message, and new folders.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::Flags;

/// The folders of which a Maildir consists.
const PARTS: [&str; 3] = ["cur", "new", "tmp"];

/// How often to search for a message that is not found.
const LOOKS: usize = 3;

/// What the path of a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaildirPath {
    /// The folder that holds `cur` and `new`.
    pub maildir: PathBuf,
    /// The file name without flags, which stays the same when the message changes.
    pub base: OsString,
    /// The flags of the message.
    pub flags: Flags,
    /// The character between base and flags; some file systems do not allow a colon.
    separator: u8,
}

impl MaildirPath {
    /// Reads a path; `None` if it is not the path of a message in a Maildir.
    pub fn of_path(path: &Path) -> Option<Self> {
        if !super::is_maildir_path(path) {
            return None;
        }
        let name = path.file_name()?;
        let (base, separator) = base(name);
        Some(Self {
            maildir: path.parent()?.parent()?.to_path_buf(),
            base: base.to_owned(),
            flags: Flags::of_path(path),
            separator,
        })
    }

    /// Returns the path: in `new` without flags, in `cur` with their mark.
    pub fn path(&self) -> PathBuf {
        if self.flags.is_new() {
            return self.maildir.join("new").join(&self.base);
        }
        let mut name = self.base.clone();
        let separator = char::from(self.separator);
        name.push(format!("{separator}2,{}", self.flags.letters()));
        self.maildir.join("cur").join(name)
    }

    /// Returns the current path of the message, if another program changed its flags.
    ///
    /// # Errors
    /// Fails if a folder cannot be read.
    pub fn find(&self) -> io::Result<Option<PathBuf>> {
        // A name that changes while the folder is read may be missed, but hardly several times.
        for _ in 0..LOOKS {
            if let Some(path) = self.look()? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Searches `new` before `cur`. Messages move in this direction, so the search does not miss them.
    fn look(&self) -> io::Result<Option<PathBuf>> {
        for part in ["new", "cur"] {
            let folder = self.maildir.join(part);
            let entries = match fs_err::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let name = entry?.file_name();
                if base(&name).0 == self.base {
                    return Ok(Some(folder.join(name)));
                }
            }
        }
        Ok(None)
    }
}

/// Splits the flags from a file name; returns the separator before them, or a colon if there is none.
fn base(name: &OsStr) -> (&OsStr, u8) {
    use std::os::unix::ffi::OsStrExt;
    let bytes = name.as_bytes();
    match super::flags_at(bytes) {
        Some(at) => (OsStr::from_bytes(&bytes[..at]), bytes[at]),
        None => (name, b':'),
    }
}

/// Creates a Maildir: a folder with `cur`, `new` and `tmp`, all with these permissions. Existing folders stay
/// unchanged.
///
/// # Errors
/// Fails if a folder cannot be created.
pub fn make(maildir: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(mode);
    for part in PARTS {
        let folder = maildir.join(part);
        builder.create(&folder).map_err(|error| {
            let message = format!("cannot make \"{}\": {error}", folder.display());
            io::Error::new(error.kind(), message)
        })?;
    }
    Ok(())
}

/// Returns whether a folder has the folders of a Maildir.
pub fn is_maildir(folder: &Path) -> bool {
    ["cur", "new"].iter().all(|part| folder.join(part).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_written() {
        for path in [
            "/m/inbox/cur/1.a.host:2,FS",
            "/m/inbox/cur/1.a.host!2,",
            "/m/new/1.a.host",
        ] {
            let message = MaildirPath::of_path(Path::new(path)).unwrap();
            assert_eq!(message.base, "1.a.host");
            assert_eq!(message.path(), Path::new(path));
        }
        let old = MaildirPath::of_path(Path::new("/m/cur/1.a.host")).unwrap();
        assert_eq!(old.path(), Path::new("/m/cur/1.a.host:2,"));
        assert_eq!(MaildirPath::of_path(Path::new("/m/tmp/1.a.host")), None);
    }

    #[test]
    fn a_message_is_found_under_its_new_name() {
        let folder = tempfile::tempdir().unwrap();
        let maildir = folder.path().join("in");
        make(&maildir, 0o755).unwrap();
        make(&maildir, 0o755).unwrap();
        assert!(is_maildir(&maildir) && !is_maildir(folder.path()));
        let now = maildir.join("cur/1.a.host:2,RS");
        fs_err::write(&now, "x").unwrap();
        fs_err::write(maildir.join("cur/1.a.host2:2,S"), "y").unwrap();
        let message = MaildirPath::of_path(&maildir.join("new/1.a.host")).unwrap();
        assert_eq!(message.find().unwrap(), Some(now));
        let other = MaildirPath::of_path(&maildir.join("new/1.a")).unwrap();
        assert_eq!(other.find().unwrap(), None);
    }
}
