//! The address of a document as printed for hits: `PATH`, or `PATH|member`, with `\xNN` for bytes that are not UTF-8.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use ken_core::{Ipath, Root, covering, unescape_bytes};
use ken_engine::DocAddress;

use super::{Error, Service};

/// The document with an address, and its members.
pub(super) struct Target {
    /// The member path.
    pub(super) ipath: Ipath,
    pub(super) addresses: Vec<DocAddress>,
}

impl Service<'_> {
    /// Finds the document with an address.
    pub(super) fn target(&self, named: &Path) -> Result<Target, Error> {
        if let Some(target) = self.target_as_written(named)? {
            return Ok(target);
        }
        if let Some(bytes) = unescape_bytes(named.as_os_str().as_bytes())
            && let Some(meant) = self.target_as_written(Path::new(OsStr::from_bytes(&bytes)))?
        {
            return Ok(meant);
        }
        Err(Error::NotIndexed(self.absolute(named)?))
    }

    fn target_as_written(&self, named: &Path) -> Result<Option<Target>, Error> {
        if let Some(whole) = self.target_at(named, Ipath::root())? {
            return Ok(Some(whole));
        }
        let bytes = named.as_os_str().as_bytes();
        let bars = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|');
        for (bar, _) in bars {
            let path = Path::new(OsStr::from_bytes(&bytes[..bar]));
            let inside = String::from_utf8_lossy(&bytes[bar + 1..]);
            if let Some(target) = self.target_at(path, Ipath::from_joined(&inside))? {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    fn target_at(&self, named: &Path, ipath: Ipath) -> Result<Option<Target>, Error> {
        let path = self.absolute(named)?;
        let mut addresses = Vec::new();
        for address in self
            .snapshot
            .files()
            .documents_of(self.snapshot.meta().hasher.key(&path))?
        {
            if is_inside(&self.snapshot.location(address)?.ipath, &ipath) {
                addresses.push(address);
            }
        }
        Ok((!addresses.is_empty()).then_some(Target { ipath, addresses }))
    }

    fn absolute(&self, named: &Path) -> io::Result<PathBuf> {
        resolve(&self.context.cwd.join(named), self.roots())
    }
}

fn is_inside(document: &Ipath, wanted: &Ipath) -> bool {
    document.prefix(wanted.depth()) == wanted.as_str()
}

/// Returns a path as the walk names it. Roots have no symbolic links, but a link may lead to a file below a root.
///
/// # Errors
/// Fails if the path is empty.
pub fn resolve(path: &Path, roots: &[Root]) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let is_plain = !absolute
        .components()
        .any(|part| part == Component::ParentDir);
    if is_plain && covering(roots, &absolute).is_some() {
        return Ok(absolute);
    }
    // The last part stays unchanged, as a link is a file of its own.
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Ok(fs_err::canonicalize(&absolute).unwrap_or(absolute));
    };
    Ok(fs_err::canonicalize(parent).map_or_else(|_| absolute.clone(), |parent| parent.join(name)))
}
