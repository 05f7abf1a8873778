//! A document that was named on the command line: `PATH`, or `PATH|way inside`, as hits are printed:
//! with `\xNN` for what is not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ken_core::{Ipath, unescape_bytes};
use ken_index::{DocAddress, Snapshot};

use crate::commands::why::resolve;
use crate::failure::Failure;

/// Where a document and all that is inside of it stand in a snapshot.
pub(crate) struct Target {
    /// The file.
    pub(crate) path: PathBuf,
    /// The way inside it that was named.
    pub(crate) ipath: Ipath,
    /// Empty if the index does not know it.
    pub(crate) addresses: Vec<DocAddress>,
}

impl Target {
    pub(crate) fn find(snapshot: &Snapshot, named: &Path) -> Result<Self, Failure> {
        let as_typed = Self::find_exactly(snapshot, named)?;
        match unescape_bytes(named.as_os_str().as_bytes()) {
            Some(bytes) if as_typed.addresses.is_empty() => {
                let meant = Self::find_exactly(snapshot, Path::new(OsStr::from_bytes(&bytes)))?;
                Ok(if meant.addresses.is_empty() {
                    as_typed
                } else {
                    meant
                })
            }
            _ => Ok(as_typed),
        }
    }

    fn find_exactly(snapshot: &Snapshot, named: &Path) -> Result<Self, Failure> {
        let whole = Self::at(snapshot, named, Ipath::root())?;
        if !whole.addresses.is_empty() {
            return Ok(whole);
        }
        let bytes = named.as_os_str().as_bytes();
        let bars = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|');
        for (bar, _) in bars {
            let path = Path::new(OsStr::from_bytes(&bytes[..bar]));
            let inside = String::from_utf8_lossy(&bytes[bar + 1..]);
            let target = Self::at(snapshot, path, Ipath::from_joined(&inside))?;
            if !target.addresses.is_empty() {
                return Ok(target);
            }
        }
        Ok(whole)
    }

    fn at(snapshot: &Snapshot, named: &Path, ipath: Ipath) -> Result<Self, Failure> {
        let meta = snapshot.meta();
        let path = resolve(named, &meta.roots)?;
        let mut addresses = Vec::new();
        for address in snapshot.addresses(meta.hasher.key(&path))? {
            if is_inside(&snapshot.location(address)?.ipath, &ipath) {
                addresses.push(address);
            }
        }
        Ok(Self {
            path,
            ipath,
            addresses,
        })
    }
}

fn is_inside(document: &Ipath, wanted: &Ipath) -> bool {
    document.prefix(wanted.depth()) == wanted.as_str()
}
