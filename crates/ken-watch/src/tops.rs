//! A few folders, each of which stands for everything below it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{AddAssign, Bound};
use std::path::{Path, PathBuf};

/// If there are more, they are replaced by their parents.
const MAX_TOPS: usize = 10_000;

/// A few folders, each of which stands for everything below it, with a value that is the sum of what was added there;
/// none is below another one.
#[derive(Debug, Default)]
pub(crate) struct Tops<V>(BTreeMap<PathBuf, V>);

impl<V: Copy + Default + AddAssign> Tops<V> {
    /// Adds a folder with a value.
    pub(crate) fn insert(&mut self, path: &Path, value: V) {
        self.merge(path, value);
        while self.0.len() > MAX_TOPS {
            for (top, value) in std::mem::take(&mut self.0) {
                self.merge(top.parent().unwrap_or(&top), value);
            }
        }
    }

    fn merge(&mut self, path: &Path, value: V) {
        if let Some(above) = self.above(path).map(Path::to_path_buf)
            && let Some(sum) = self.0.get_mut(&above)
        {
            return *sum += value;
        }
        let mut sum = self.remove_below(path);
        sum += value;
        self.0.insert(path.to_path_buf(), sum);
    }

    /// Removes the folders at and below a path, and returns the sum of their values.
    pub(crate) fn remove_below(&mut self, path: &Path) -> V {
        let below: Vec<PathBuf> = self.below(path).cloned().collect();
        let removed = below.iter().filter_map(|top| self.0.remove(top));
        sum(removed)
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    /// Returns whether any of the folders is at, above or below a path.
    pub(crate) fn meet(&self, path: &Path) -> bool {
        self.above(path).is_some() || self.below(path).next().is_some()
    }

    /// Returns the sum of all values.
    pub(crate) fn sum(&self) -> V {
        sum(self.0.values().copied())
    }

    pub(crate) fn into_paths(self) -> BTreeSet<PathBuf> {
        self.0.into_keys().collect()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// Returns the folders with values of a kind.
    pub(crate) fn paths_where(&self, is_of_kind: impl Fn(V) -> bool) -> BTreeSet<PathBuf> {
        let tops = self.0.iter().filter(|(_, value)| is_of_kind(**value));
        tops.map(|(top, _)| top.clone()).collect()
    }

    fn above<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let mut above = path.ancestors().filter(|_| !self.0.is_empty());
        above.find(|above| self.0.contains_key(*above))
    }

    fn below(&self, path: &Path) -> impl Iterator<Item = &PathBuf> {
        let from = (Bound::Included(path), Bound::Unbounded);
        let later = self.0.range::<Path, _>(from);
        let tops = later.map(|(top, _)| top);
        tops.take_while(move |top| top.starts_with(path))
    }
}

fn sum<V: Default + AddAssign>(values: impl Iterator<Item = V>) -> V {
    values.fold(V::default(), |mut sum, value| {
        sum += value;
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tops(paths: &[&str]) -> Tops<usize> {
        let mut tops = Tops::default();
        paths
            .iter()
            .for_each(|path| tops.insert(Path::new(path), 1));
        tops
    }

    fn names(tops: &Tops<usize>) -> Vec<&str> {
        tops.paths().filter_map(|path| path.to_str()).collect()
    }

    #[test]
    fn a_folder_stands_for_all_below_it() {
        let mut tops = tops(&["/a/b/c", "/a/b c", "/a/b", "/a/b/d", "/x"]);
        assert_eq!(names(&tops), ["/a/b", "/a/b c", "/x"]);
        for path in ["/", "/a", "/a/b", "/a/b/d/e", "/x/y"] {
            assert!(tops.meet(Path::new(path)), "{path}");
        }
        assert!(!tops.meet(Path::new("/a/bc")) && !tops.meet(Path::new("/y")));
        assert_eq!((tops.sum(), tops.remove_below(Path::new("/a/b"))), (5, 3));
        assert_eq!(names(&tops), ["/a/b c", "/x"]);
    }

    #[test]
    fn many_become_their_parents() {
        let mut tops = Tops::default();
        for n in 0..=MAX_TOPS {
            tops.insert(Path::new(&format!("/{}/{n}", n % 3)), 1);
        }
        assert_eq!(names(&tops), ["/0", "/1", "/2"]);
        assert_eq!(tops.sum(), MAX_TOPS + 1);
    }
}
