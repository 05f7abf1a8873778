//! Maps between paths as typed and paths in the index, which are absolute and without symbolic
//! links.
//!
//! Below a typed path the walk only appends names, so the typed path is resolved once. A file
//! behind a link further down has another path in the index, if any, and is scanned.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ken_core::Root;

/// The paths that were typed.
#[derive(Debug)]
pub(super) struct TypedPaths(Vec<Resolved>);

#[derive(Debug)]
struct Resolved {
    typed: PathBuf,
    absolute: PathBuf,
}

impl TypedPaths {
    pub(super) fn new(typed: &[PathBuf], working_folder: &Path) -> Self {
        let resolve = |typed: &PathBuf| {
            let absolute = fs_err::canonicalize(working_folder.join(typed)).ok()?;
            Some(Resolved {
                typed: typed.clone(),
                absolute,
            })
        };
        Self(typed.iter().filter_map(resolve).collect())
    }

    /// Returns the path under which the index may have a file.
    pub(super) fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let found = self.0.iter().find_map(|Resolved { typed, absolute }| {
            // Splitting the path would take longer.
            if typed == absolute && path.is_absolute() {
                return path.starts_with(absolute).then(|| path.to_path_buf());
            }
            // The working folder is not shown if the user did not name it.
            let here = typed == Path::new("./") && !path.starts_with(".");
            let rest = if here {
                Ok(path)
            } else {
                path.strip_prefix(typed)
            };
            Some(join(absolute, rest.ok()?))
        });
        found.filter(|path| path.is_absolute())
    }

    /// Calls `each` with the paths under which the walk finds a file of the index.
    pub(super) fn each_typed(&self, path: &Path, each: &mut dyn FnMut(PathBuf)) {
        for Resolved { typed, absolute } in &self.0 {
            // Comparing bytes takes a tenth of the time of comparing names.
            let may_be_below = bytes(path).starts_with(bytes(absolute));
            if may_be_below && let Ok(rest) = path.strip_prefix(absolute) {
                each(join(typed, rest));
            }
        }
    }

    /// Calls `each` with the typed paths.
    pub(super) fn each(&self, each: &mut dyn FnMut(PathBuf)) {
        self.0.iter().for_each(|root| each(root.typed.clone()));
    }

    /// Returns whether the roots of an index contain all of them.
    pub(super) fn are_below(&self, roots: &[Root]) -> bool {
        let is_below = |path: &Path| roots.iter().any(|root| path.starts_with(&root.path));
        self.0.iter().all(|root| is_below(&root.absolute))
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn join(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() {
        folder.to_path_buf()
    } else {
        folder.join(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_paths_are_resolved_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let here = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir(here.join("a")).unwrap();
        fs_err::write(here.join("a/file"), "").unwrap();
        for (typed, shown, walked) in [
            ("./", "a/file", "./a/file"),
            (".", "./a/file", "./a/file"),
            ("a", "a/file", "a/file"),
            ("a/../a/", "a/../a/file", "a/../a/file"),
            ("a/file", "a/file", "a/file"),
            (here.to_str().unwrap(), "", ""),
        ] {
            let roots = TypedPaths::new(&[PathBuf::from(typed)], &here);
            if shown.is_empty() {
                assert_eq!(
                    roots.absolute(&here.join("a/file")),
                    Some(here.join("a/file"))
                );
                continue;
            }
            assert_eq!(
                roots.absolute(Path::new(shown)),
                Some(here.join("a/file")),
                "{typed}"
            );
            let mut found = Vec::new();
            roots.each_typed(&here.join("a/file"), &mut |path| found.push(path));
            assert_eq!(found, [PathBuf::from(walked)], "{typed}");
            assert!(roots.are_below(&[Root::new(here.clone())]));
            assert!(!roots.are_below(&[Root::new(here.join("b"))]));
        }
        let roots = TypedPaths::new(&[PathBuf::from("none")], &here);
        assert_eq!(roots.absolute(Path::new("none/file")), None);
    }
}
