//! The original of a document, opened so that nothing else can be: below its root, through no link, and only as long as
//! it is what the index knows.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use ken_core::access::Asker;
use ken_core::{Location, Root, Stamp, covering};
use ken_engine::Source;
use ken_search::service::path_text;
use ken_walk::Permissions;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use crate::answer::Error;

/// Opens the file of a document below its root, without following links, if it is as the index knows it.
///
/// # Errors
/// Fails if the file is gone or changed, or a link leads to it.
pub(crate) fn open(
    source: &dyn Source,
    location: &Location,
    asker: Option<&Asker>,
) -> Result<File, Error> {
    let path = &location.path;
    let root = covering(&source.meta().roots, path)
        .ok_or_else(|| gone(path, "it is below no root any more"))?;
    let file = open_below(root, path).map_err(|error| gone(path, &error.to_string()))?;
    // What was opened decides, and not what the path meant a moment ago.
    let may_read = |asker: &Asker| {
        let permissions = Permissions::guarded();
        permissions.class_of_open(&file, path).allows(asker)
    };
    if !asker.is_none_or(may_read) {
        return Err(gone(path, "permission denied"));
    }
    let stamp = ken_walk::file_stamp(file.as_fd()).map_err(io::Error::from);
    let stamp = stamp.map_err(|error| gone(path, &error.to_string()))?;
    match stamp {
        Some(stamp) if is_known(source, path, stamp)? => Ok(file),
        _ => Err(gone(path, "it has changed since it was indexed")),
    }
}

/// Returns whether a file with this stamp is unchanged since it was indexed. In a changed file the same number may mean
/// another message.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn is_known(source: &dyn Source, path: &Path, stamp: Stamp) -> Result<bool, ken_engine::Error> {
    let stamp = Stamp {
        sidecar: ken_walk::sidecar_beside(path),
        mh: ken_walk::mh_state(path),
        ..stamp
    };
    let hasher = source.meta().hasher;
    let known = source.files().row(hasher.key(path))?;
    Ok(known.is_some_and(|(_, row)| row.is_of(&stamp, &hasher)))
}

fn open_below(root: &Root, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let below = path.strip_prefix(&root.path).unwrap_or(path);
    let opened = match below.as_os_str().is_empty() {
        // The root is a file.
        true => rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?,
        false => {
            let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let folder = rustix::fs::openat(CWD, &root.path, folder, Mode::empty())?;
            let resolve = match root.follow_links {
                true => ResolveFlags::NO_MAGICLINKS,
                false => ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
            };
            rustix::fs::openat2(folder, below, flags, Mode::empty(), resolve)?
        }
    };
    Ok(File::from(opened))
}

fn gone(path: &Path, why: &str) -> Error {
    Error {
        status: 410,
        message: format!("\"{}\" cannot be read: {why}", path_text(path)),
    }
}

/// Returns the bytes of the file of a document, which are at most so many.
///
/// # Errors
/// Fails if the file cannot be read as the index knows it, or is larger.
pub(crate) fn bytes(
    source: &dyn Source,
    location: &Location,
    asker: Option<&Asker>,
    max: u64,
) -> Result<Vec<u8>, Error> {
    let file = open(source, location, asker)?;
    let fail = |why: &str| gone(&location.path, why);
    if size(&file)? > max {
        return Err(fail("it is too large"));
    }
    let mut bytes = Vec::new();
    let read = file.take(max).read_to_end(&mut bytes);
    read.map_err(|error| fail(&error.to_string()))?;
    Ok(bytes)
}

/// Returns the number of bytes of an open file.
///
/// # Errors
/// Fails as fstat(2) does.
pub(crate) fn size(file: &File) -> Result<u64, Error> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| gone(Path::new(""), &error.to_string()))?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_followed_below_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs_err::create_dir(&root).unwrap();
        fs_err::write(folder.path().join("secret"), "secret").unwrap();
        fs_err::write(root.join("own"), "own").unwrap();
        fs_err::os::unix::fs::symlink(folder.path(), root.join("link")).unwrap();
        fs_err::os::unix::fs::symlink("own", root.join("other")).unwrap();
        let root = Root::new(root);
        assert!(open_below(&root, &root.path.join("own")).is_ok());
        for wrong in ["link/secret", "other", "../secret", "missing"] {
            assert!(
                open_below(&root, &root.path.join(wrong)).is_err(),
                "{wrong}"
            );
        }
    }
}
