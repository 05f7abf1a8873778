//! `new.ignore`: names of files and folders that are no mail, and regular expressions for their paths.

use std::path::{Path, PathBuf};

use regex_automata::meta::Regex;

/// The deepest nesting of folders that is looked at.
const MAX_DEPTH: usize = 64;

/// What is ignored.
#[derive(Debug, Default)]
pub struct Ignore {
    names: Vec<String>,
    paths: Vec<Regex>,
}

impl Ignore {
    /// Reads the items of `new.ignore`.
    ///
    /// # Errors
    /// Returns what is wrong with an item.
    pub fn read(items: &[String]) -> Result<Self, String> {
        let mut ignore = Self::default();
        for item in items {
            let Some(expression) = item.strip_prefix('/') else {
                ignore.names.push(item.clone());
                continue;
            };
            let expression = expression
                .strip_suffix('/')
                .filter(|text| !text.is_empty())
                .ok_or_else(|| format!("Error: Malformed pattern '{item}' in new.ignore"))?;
            let regex = Regex::new(expression).map_err(|error| {
                format!("Error: Invalid regex '{expression}' in new.ignore: {error}")
            })?;
            ignore.paths.push(regex);
        }
        Ok(ignore)
    }

    /// Returns whether nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Returns whether a file or folder is ignored, by its path below the folder of all mail.
    fn is_met(&self, below: &Path) -> bool {
        let name = below.file_name().unwrap_or_default();
        let path = below.as_os_str().as_encoded_bytes();
        self.names.iter().any(|own| name == own.as_str())
            || self.paths.iter().any(|regex| regex.is_match(path))
    }

    /// Returns the files and folders below a folder that are ignored, in no order.
    pub fn below(&self, root: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![(root.to_path_buf(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            if self.is_empty() || depth > MAX_DEPTH {
                break;
            }
            let Ok(entries) = fs_err::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = entry.path();
                let is_met = path
                    .strip_prefix(root)
                    .is_ok_and(|below| self.is_met(below));
                if is_met {
                    found.push(path);
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push((path, depth + 1));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_ignored() {
        let items = [".git", "/^lists/.*x$/"].map(str::to_owned);
        let ignore = Ignore::read(&items).unwrap();
        for (path, is_met) in [
            (".git", true),
            ("a/.git", true),
            ("a.git", false),
            ("lists/ax", true),
            ("a/lists/ax", false),
        ] {
            assert_eq!(ignore.is_met(Path::new(path)), is_met, "{path}");
        }
        for wrong in ["/a", "/", "//", "/(/"] {
            assert!(Ignore::read(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ignored_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a/.git/x", "a/b", ".git"] {
            let path = folder.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        let ignore = Ignore::read(&[".git".to_owned()]).unwrap();
        let mut found = ignore.below(folder.path());
        found.sort();
        assert_eq!(
            found,
            [folder.path().join(".git"), folder.path().join("a/.git")]
        );
    }
}
