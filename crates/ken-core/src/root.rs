//! The roots of an index.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A root: a folder or a single file, and how it is walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Absolute path without symbolic links.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// Include hidden files and folders.
    #[serde(default)]
    pub hidden: bool,
    /// Follow symbolic links.
    #[serde(default)]
    pub follow_links: bool,
    /// Stay on the file system of the root.
    #[serde(default)]
    pub one_file_system: bool,
    /// Ignore the rules of `.gitignore`, `.ignore` and `.kenignore`.
    #[serde(default)]
    pub no_ignore: bool,
    /// Leave out files that lie beside the `cur` and `new` of a Maildir.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict_maildirs: bool,
    /// Whether the root was a mount point at the last walk. If so, an empty folder there means that nothing is
    /// mounted, and not that all files are gone.
    #[serde(default)]
    pub mounted: bool,
}

impl Root {
    /// Returns a root with the default options.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            hidden: false,
            follow_links: false,
            one_file_system: false,
            no_ignore: false,
            strict_maildirs: false,
            mounted: false,
        }
    }
}

/// Returns the root of a path: the nearest one above it, or the path itself.
pub fn covering<'r>(roots: &'r [Root], path: &Path) -> Option<&'r Root> {
    path.ancestors()
        .find_map(|folder| roots.iter().find(|root| root.path == folder))
}

/// A path that goes through JSON as it is: as text where it is UTF-8, else as a list of bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPath(#[serde(with = "path_bytes")] pub PathBuf);

/// Serialises paths, which are bytes: as text where they are UTF-8, else as a list of numbers.
pub(crate) mod path_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => Form::Text(text.to_owned()),
            None => Form::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
        .serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Form::deserialize(from)? {
            Form::Text(text) => PathBuf::from(text),
            Form::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn paths_that_are_not_text_survive_json() {
        for bytes in [&b"/home/a"[..], b"/tmp/caf\xe9"] {
            let root = Root::new(OsStr::from_bytes(bytes));
            let json = serde_json::to_string(&root).unwrap();
            assert_eq!(serde_json::from_str::<Root>(&json).unwrap(), root);
        }
    }
}
