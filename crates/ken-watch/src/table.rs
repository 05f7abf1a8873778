//! The folders that are watched.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use ken_walk::Gate;

/// A watched folder.
pub(crate) struct Folder {
    pub(crate) path: Arc<Path>,
    /// Decides which of its entries count; none if a marker leaves the folder out.
    pub(crate) gate: Option<Gate>,
    /// The walk that last entered it.
    walk: u64,
}

/// What a folder that is entered displaces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Displaced {
    /// The watch of another folder that was at its path.
    pub(crate) watch: Option<i32>,
    /// Another path that its watch was for: it was moved, or has two paths.
    pub(crate) left: Option<Arc<Path>>,
}

/// The watched folders by the numbers of their watches, and by path.
#[derive(Default)]
pub(crate) struct Table {
    folders: HashMap<i32, Folder>,
    by_path: BTreeMap<Arc<Path>, i32>,
    /// The number of the current walk.
    walk: u64,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.folders.len()
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.by_path.contains_key(path)
    }

    pub(crate) fn get(&self, watch: i32) -> Option<&Folder> {
        self.folders.get(&watch)
    }

    /// Begins a walk, which enters folders.
    pub(crate) fn begin_walk(&mut self) {
        self.walk += 1;
    }

    /// Records that a walk enters a folder, which has this watch. A watch follows its folder to another path.
    pub(crate) fn enter(&mut self, watch: i32, path: &Path) -> Displaced {
        let path: Arc<Path> = path.into();
        let folder = Folder {
            path: Arc::clone(&path),
            gate: None,
            walk: self.walk,
        };
        let before = self.folders.insert(watch, folder);
        let left = before.map(|before| before.path).filter(|before| {
            let is_left = *before != path && self.by_path.get(before) == Some(&watch);
            is_left && self.by_path.remove(before).is_some()
        });
        let displaced = self.by_path.insert(path, watch);
        let watch = displaced.filter(|before| *before != watch);
        watch.inspect(|before| _ = self.folders.remove(before));
        Displaced { watch, left }
    }

    /// Sets the gate of a folder.
    pub(crate) fn set_gate(&mut self, path: &Path, gate: Gate) {
        let watch = self.by_path.get(path);
        if let Some(folder) = watch.and_then(|watch| self.folders.get_mut(watch)) {
            folder.gate = Some(gate);
        }
    }

    /// Forgets a watch that the kernel removed.
    pub(crate) fn forget(&mut self, watch: i32) {
        if let Some(folder) = self.folders.remove(&watch)
            && self.by_path.get(&folder.path) == Some(&watch)
        {
            self.by_path.remove(&folder.path);
        }
    }

    /// Takes out the folders at and below a path, and returns their watches.
    pub(crate) fn take_below(&mut self, top: &Path) -> Vec<i32> {
        let watches = self.below(top, |_| true);
        watches.iter().for_each(|watch| self.forget(*watch));
        watches
    }

    /// Takes out the folders at and below a path that the current walk did not enter, and returns their watches.
    pub(crate) fn take_unentered(&mut self, top: &Path) -> Vec<i32> {
        let watches = self.below(top, |folder| folder.walk != self.walk);
        watches.iter().for_each(|watch| self.forget(*watch));
        watches
    }

    /// Takes out the folders with these paths, and returns their watches.
    pub(crate) fn take_those(&mut self, is_meant: impl Fn(&Path) -> bool) -> Vec<i32> {
        let watches = self.below(Path::new("/"), |folder| is_meant(&folder.path));
        watches.iter().for_each(|watch| self.forget(*watch));
        watches
    }

    /// Takes out all folders that the current walk did not enter, and returns their watches.
    pub(crate) fn take_all_unentered(&mut self) -> Vec<i32> {
        self.take_unentered(Path::new("/"))
    }

    fn below(&self, top: &Path, is_meant: impl Fn(&Folder) -> bool) -> Vec<i32> {
        let from = (Bound::Included(top), Bound::Unbounded);
        self.by_path
            .range::<Path, _>(from)
            .take_while(|(path, _)| path.starts_with(top))
            .filter(|(_, watch)| self.folders.get(watch).is_some_and(&is_meant))
            .map(|(_, watch)| *watch)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(folders: &[(i32, &str)]) -> Table {
        let mut table = Table::default();
        table.begin_walk();
        for (watch, path) in folders {
            table.enter(*watch, Path::new(path));
        }
        table
    }

    #[test]
    fn folders_below_a_path_are_taken_out_and_no_others() {
        let mut table = entered(&[
            (1, "/a"),
            (2, "/a/b"),
            (3, "/a/b/c"),
            (4, "/a/b c"),
            (5, "/b"),
        ]);
        assert_eq!(table.take_below(Path::new("/a/b")), [2, 3]);
        assert_eq!(table.len(), 3);
        assert!(table.get(3).is_none() && table.has(Path::new("/a/b c")));
        table.begin_walk();
        table.enter(1, Path::new("/a"));
        assert_eq!(table.take_unentered(Path::new("/a")), [4]);
        assert_eq!(table.take_all_unentered(), [5]);
    }

    #[test]
    fn a_watch_follows_its_folder() {
        let mut table = entered(&[(1, "/a")]);
        let left = table.enter(1, Path::new("/b")).left;
        assert_eq!(left.as_deref(), Some(Path::new("/a")));
        let displaced = table.enter(2, Path::new("/a"));
        assert_eq!(displaced, Displaced::default(), "the old path is free");
        assert_eq!(&*table.get(1).unwrap().path, Path::new("/b"));
        assert_eq!(table.take_below(Path::new("/a")), [2]);
        assert_eq!(table.enter(3, Path::new("/b")).watch, Some(1));
        assert!(table.get(1).is_none());
        table.forget(3);
        assert!(!table.has(Path::new("/b")));
    }
}
