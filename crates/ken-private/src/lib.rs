//! Files and folders that nobody but their owner can read.
//!
//! How does ken write what it keeps? An index holds the text of files, of messages and of encrypted archives, so all
//! crates create their files and folders here. The modes are given to the calls that create, because the umask belongs
//! to the process and may be changed by anybody in it.

mod cache;

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt;
use fs_err::{File, OpenOptions};

pub use cache::Cache;

/// The mode of a file.
const FILE: u32 = 0o600;

/// The mode of a folder.
const FOLDER: u32 = 0o700;

/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

/// The deepest folder that [`close`] enters.
const MAX_DEPTH: usize = 4;

/// Creates a folder and the parents that are missing. An existing folder stays as it is.
///
/// # Errors
/// Fails if a folder cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    let created = builder.recursive(true).mode(FOLDER).create(path);
    created.map_err(|error| {
        let message = format!("failed to create directory `{}`: {error}", path.display());
        io::Error::new(error.kind(), message)
    })
}

/// Returns options under which a new file is private.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE);
    options
}

/// Creates a file for writing, or empties it and takes the rights to it from everybody but the owner.
///
/// # Errors
/// Fails if the file cannot be opened, or is open to others and the owner is somebody else.
pub fn create(path: &Path) -> io::Result<File> {
    let file = options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    let mut permissions = file.metadata()?.permissions();
    let mode = permissions.mode();
    if mode & OTHERS != 0 {
        permissions.set_mode(mode & !OTHERS);
        file.set_permissions(permissions)?;
    }
    Ok(file)
}

/// Writes a whole file.
///
/// # Errors
/// Fails if the file cannot be opened or written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Returns whether others than the owner have any right to a file or folder.
#[must_use]
pub fn is_open(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & OTHERS != 0)
}

/// Takes all rights to a file, or to a folder and everything in it, from everybody but the owner. Links in a folder are
/// not followed.
///
/// # Errors
/// Fails if the owner is somebody else.
pub fn close(path: &Path) -> io::Result<()> {
    close_below(path, MAX_DEPTH)
}

fn close_below(path: &Path, depth: usize) -> io::Result<()> {
    let metadata = fs_err::metadata(path)?;
    // From the inside to the outside: a folder that is closed needs no second look.
    if metadata.is_dir() && depth > 0 {
        for entry in fs_err::read_dir(path)? {
            let entry = entry?;
            if !entry.file_type()?.is_symlink() {
                close_below(&entry.path(), depth - 1)?;
            }
        }
    }
    let mut permissions = metadata.permissions();
    let mode = permissions.mode();
    if mode & OTHERS != 0 {
        permissions.set_mode(mode & !OTHERS);
        fs_err::set_permissions(path, permissions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs_err::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn nothing_is_open_whatever_the_umask() {
        let folder = tempfile::tempdir().unwrap();
        let (outer, inner) = (folder.path().join("a"), folder.path().join("a/b"));
        let file = inner.join("c");
        let umask = rustix::process::umask(Mode::empty());
        create_folder(&inner).unwrap();
        write(&file, b"text").unwrap();
        rustix::process::umask(umask);
        assert_eq!(
            [mode(&outer), mode(&inner), mode(&file)],
            [0o700, 0o700, 0o600]
        );
        assert_eq!(fs_err::read(&file).unwrap(), b"text");
        fs_err::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        write(&file, b"more").unwrap();
        assert_eq!(mode(&file), 0o600, "also a file that was there");
    }

    #[test]
    fn what_is_open_is_closed_but_not_what_a_link_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let [outside, root] = ["outside", "root"].map(|name| folder.path().join(name));
        fs_err::create_dir(&root).unwrap();
        fs_err::write(&outside, "").unwrap();
        fs_err::write(root.join("file"), "").unwrap();
        fs_err::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        for path in [&outside, &root, &root.join("file")] {
            fs_err::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        assert!(is_open(&root));
        close(&root).unwrap();
        assert!(!is_open(&root) && !is_open(&root.join("file")) && is_open(&outside));
    }
}
