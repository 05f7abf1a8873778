//! Paths as bytes, as ripgrep takes them apart.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns what follows a prefix, byte for byte.
pub(super) fn without_prefix<'a>(prefix: &[u8], path: &'a Path) -> Option<&'a Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(prefix)?;
    Some(Path::new(OsStr::from_bytes(rest)))
}
