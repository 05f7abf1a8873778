//! What a changed path changes besides itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::markers::is_marker;
use crate::rules::IgnoreFiles;
use crate::sidecar::{is_sidecar, sidecar_names};

/// Returns what changed paths change besides themselves, each once: the files whose sidecars they may be, and the
/// folders that they are the rules, a marker or the list of messages of.
pub fn dependents(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    let mut sidecars: BTreeMap<&Path, HashSet<&[u8]>> = BTreeMap::new();
    for path in paths {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        let name = name.as_bytes();
        if is_marker(name) || IgnoreFiles::is_one(name) {
            folders.insert(folder);
        } else if is_sidecar(name) {
            sidecars.entry(folder).or_default().insert(name);
        }
    }
    sidecars.retain(|folder, _| !folders.contains(folder));
    let files = sidecars
        .iter()
        .flat_map(|(folder, sidecars)| files_with(folder, sidecars));
    let folders = folders.iter().map(|folder| folder.to_path_buf());
    folders.chain(files).collect()
}

/// Returns the files of a folder that may have one of these sidecars.
fn files_with(folder: &Path, sidecars: &HashSet<&[u8]>) -> Vec<PathBuf> {
    let has_one = |name: &[u8]| {
        let mut names = sidecar_names(name).into_iter();
        names.any(|(name, _)| sidecars.contains(&*name))
    };
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| has_one(entry.file_name().as_bytes()));
    files.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
        let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        let mut found = dependents(&paths);
        found.sort();
        found
    }

    #[test]
    fn a_sidecar_changes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in ["a.jpg", "a.png", "b.jpg", "a.xmp", "a.jpg.xmp", "c.sqlite"] {
            fs_err::write(folder.join(name), "").unwrap();
        }
        let [a_jpg, a_png, database] = ["a.jpg", "a.png", "c.sqlite"].map(|name| folder.join(name));
        // Two sidecars of one file, of which one is that of another too.
        let both = of(folder, &["a.xmp", "a.jpg.xmp"]);
        assert_eq!(both, [a_jpg.clone(), a_png]);
        assert_eq!(of(folder, &["a.jpg.xmp"]), [a_jpg]);
        assert_eq!(of(folder, &["c.sqlite-wal"]), [database]);
        assert!(of(folder, &["a.jpg", "c.sqlite", "d.xmp"]).is_empty());
    }

    #[test]
    fn rules_markers_and_lists_change_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in [
            ".kenignore",
            ".ignore",
            ".gitignore",
            ".noindex",
            ".noupdate",
            ".mh_sequences",
        ] {
            fs_err::write(folder.join("1"), "").unwrap();
            assert_eq!(of(folder, &[name, "1.xmp"]), [folder], "{name}");
        }
        assert!(of(folder, &[".rgignore", ".git", ".hidden"]).is_empty());
    }
}
