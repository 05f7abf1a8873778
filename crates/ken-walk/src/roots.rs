//! Roots: the folders (or single files) that a user wants found, with how to walk them.
//!
//! They are stored in the commit of the index. A root may lie inside another; each is walked once,
//! with its own options, and the outer walk stops where the inner begins.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A folder or file to be indexed, and how it is walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Absolute path without links.
    #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
    pub path: PathBuf,
    /// Whether hidden files and folders count.
    #[serde(default)]
    pub hidden: bool,
    /// Whether symbolic links are followed.
    #[serde(default)]
    pub follow_links: bool,
    /// Whether the walk stays on the root's file system.
    #[serde(default)]
    pub one_file_system: bool,
    /// Whether ignore files are disregarded.
    #[serde(default)]
    pub no_ignore: bool,
}

/// Whether what a walk does not find below a root can be taken for gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// The root is there.
    Available,
    /// There is nothing at this path: removed, or not mounted.
    Absent,
    /// It is there and cannot be read.
    Unreadable,
    /// It is an empty folder, as a mount point is while nothing is mounted.
    Empty,
}

impl Root {
    /// Returns a root with the default options; fails when the path does not exist.
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: fs_err::canonicalize(path)?,
            hidden: false,
            follow_links: false,
            one_file_system: false,
            no_ignore: false,
        })
    }

    /// Returns whether the root can be walked now.
    pub fn availability(&self) -> Availability {
        match fs_err::metadata(&self.path) {
            Ok(metadata) if !metadata.is_dir() => Availability::Available,
            Ok(_) => match fs_err::read_dir(&self.path).map(|mut entries| entries.next()) {
                Ok(Some(Ok(_))) => Availability::Available,
                Ok(None) => Availability::Empty,
                Ok(Some(Err(_))) | Err(_) => Availability::Unreadable,
            },
            Err(error) if is_absent(&error) => Availability::Absent,
            Err(_) => Availability::Unreadable,
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// A path in JSON: text, or bytes where it is not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathForm {
    Text(String),
    Bytes(Vec<u8>),
}

fn write_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => path.as_os_str().as_bytes().serialize(serializer),
    }
}

fn read_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match PathForm::deserialize(deserializer)? {
        PathForm::Text(text) => PathBuf::from(text),
        PathForm::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn roots_survive_json_whatever_their_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"caf\xe9"[..], "café".as_bytes()] {
            let path = folder.path().join(OsStr::from_bytes(name));
            fs_err::create_dir(&path).unwrap();
            let root = Root::new(&path).unwrap();
            let json = serde_json::to_string(&root).unwrap();
            assert_eq!(serde_json::from_str::<Root>(&json).unwrap(), root);
        }
    }

    #[test]
    fn availability_tells_absent_and_empty_from_present() {
        let folder = tempfile::tempdir().unwrap();
        let mut root = Root::new(folder.path()).unwrap();
        assert_eq!(root.availability(), Availability::Empty);
        fs_err::write(folder.path().join("a"), "").unwrap();
        assert_eq!(root.availability(), Availability::Available);
        root.path.push("a");
        assert_eq!(root.availability(), Availability::Available);
        root.path.push("b");
        assert_eq!(root.availability(), Availability::Absent);
    }

    #[test]
    fn roots_are_stored_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs_err::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        fs_err::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(Root::new(&link).unwrap(), Root::new(&real).unwrap());
        assert!(Root::new(&folder.path().join("none")).is_err());
    }
}
