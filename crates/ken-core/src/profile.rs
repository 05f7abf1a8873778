//! The extraction profile: everything besides the bytes of a file that decides what the index holds of it.
//!
//! A file is read again when its stamp changes, and also when the profile does: a format has another version, or a
//! folder gives other fields. The index keeps the profile of its last run and gives it a number, the *generation*,
//! which is in the token of each file read with it ([`crate::Stamp::token`]). So a run that is stopped goes on where
//! it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::root::path_bytes;
use crate::{CustomField, Field, Setting};

/// An extraction profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of each format that can be read, by the name of the format.
    pub formats: BTreeMap<String, u32>,
    /// Fields that folders give to all documents below them.
    #[serde(default)]
    pub folders: Vec<FolderFields>,
    /// Limits that files may exceed, by setting: bytes, numbers and milliseconds, and seconds for helpers.
    #[serde(default)]
    pub limits: BTreeMap<Setting, u64>,
    /// A number that differs for other passwords; 0 if there are none.
    #[serde(default)]
    pub passwords: u16,
    /// Message headers that are fields.
    #[serde(default)]
    pub headers: Vec<CustomField>,
}

/// Fields that a folder gives to all documents below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderFields {
    /// Absolute path of the folder.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// The fields and their values.
    pub fields: Vec<(Field, String)>,
}

impl Profile {
    /// Returns the fields that a file gets from the nearest folder above it.
    pub fn fields_of(&self, file: &Path) -> &[(Field, String)] {
        let above = self
            .folders
            .iter()
            .filter(|folder| file.starts_with(&folder.path));
        above
            .max_by_key(|folder| folder.path.as_os_str().len())
            .map_or(&[], |folder| &folder.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_gives_the_fields() {
        let folder = |path: &str, author: &str| FolderFields {
            path: path.into(),
            fields: vec![(Field::Author, author.to_owned())],
        };
        let profile = Profile {
            folders: vec![folder("/a/b", "near"), folder("/a", "far")],
            ..Profile::default()
        };
        let author = |path: &str| {
            let fields = profile.fields_of(Path::new(path));
            fields.first().map(|(_, value)| value.clone())
        };
        assert_eq!(author("/a/b/c.txt").as_deref(), Some("near"));
        assert_eq!(author("/a/bc.txt").as_deref(), Some("far"));
        assert_eq!(author("/b/a.txt"), None);
    }
}
