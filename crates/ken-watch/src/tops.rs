//! A few folders, each of which stands for everything below it.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// If there are more, they are replaced by their parents.
const MAX_TOPS: usize = 10_000;

/// A few folders, each of which stands for everything below it; none is below another one.
#[derive(Debug, Default)]
pub(crate) struct Tops(BTreeSet<PathBuf>);

impl Tops {
    /// Adds a folder.
    pub(crate) fn insert(&mut self, path: &Path) {
        if self.has_above(path) {
            return;
        }
        self.remove_below(path);
        self.0.insert(path.to_path_buf());
        while self.0.len() > MAX_TOPS {
            for top in std::mem::take(&mut self.0) {
                let parent = top.parent().unwrap_or(&top);
                if !self.has_above(parent) {
                    self.remove_below(parent);
                    self.0.insert(parent.to_path_buf());
                }
            }
        }
    }

    /// Removes the folders at and below a path.
    pub(crate) fn remove_below(&mut self, path: &Path) {
        let below: Vec<PathBuf> = self.below(path).cloned().collect();
        below.iter().for_each(|top| _ = self.0.remove(top));
    }

    /// Returns whether any of the folders is at, above or below a path.
    pub(crate) fn meet(&self, path: &Path) -> bool {
        self.has_above(path) || self.below(path).next().is_some()
    }

    pub(crate) fn into_paths(self) -> BTreeSet<PathBuf> {
        self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter()
    }

    fn has_above(&self, path: &Path) -> bool {
        !self.0.is_empty() && path.ancestors().any(|above| self.0.contains(above))
    }

    fn below(&self, path: &Path) -> impl Iterator<Item = &PathBuf> {
        let from = (Bound::Included(path), Bound::Unbounded);
        let later = self.0.range::<Path, _>(from);
        later.take_while(move |top| top.starts_with(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tops(paths: &[&str]) -> Tops {
        let mut tops = Tops::default();
        paths.iter().for_each(|path| tops.insert(Path::new(path)));
        tops
    }

    fn names(tops: &Tops) -> Vec<&str> {
        tops.iter().filter_map(|path| path.to_str()).collect()
    }

    #[test]
    fn a_folder_stands_for_all_below_it() {
        let mut tops = tops(&["/a/b/c", "/a/b c", "/a/b", "/a/b/d", "/x"]);
        assert_eq!(names(&tops), ["/a/b", "/a/b c", "/x"]);
        for path in ["/", "/a", "/a/b", "/a/b/d/e", "/x/y"] {
            assert!(tops.meet(Path::new(path)), "{path}");
        }
        assert!(!tops.meet(Path::new("/a/bc")) && !tops.meet(Path::new("/y")));
        tops.remove_below(Path::new("/a/b"));
        assert_eq!(names(&tops), ["/a/b c", "/x"]);
    }

    #[test]
    fn many_become_their_parents() {
        let mut tops = Tops::default();
        for n in 0..=MAX_TOPS {
            tops.insert(Path::new(&format!("/{}/{n}", n % 3)));
        }
        assert_eq!(names(&tops), ["/0", "/1", "/2"]);
    }
}
