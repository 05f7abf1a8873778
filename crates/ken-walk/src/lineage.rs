//! The chain of parent folders of a folder, by any path, to detect links that lead back and other
//! file systems.

use std::sync::Arc;

use rustix::fs::Stat;

use crate::stamp::stamp_of;

/// A folder and its parent folders.
pub struct Lineage {
    device: u64,
    inode: u64,
    parent: Option<Arc<Self>>,
}

impl Lineage {
    /// Creates the lineage of a folder, given that of its parent.
    pub fn new(stat: &Stat, parent: Option<Arc<Self>>) -> Self {
        let stamp = stamp_of(stat, None);
        Self {
            device: stamp.device,
            inode: stamp.inode,
            parent,
        }
    }

    /// Returns whether the folder is on another file system than its parent.
    pub fn is_mounted(&self) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| parent.device != self.device)
    }

    /// Returns how many levels above itself the folder occurs again, if it does: 1 for its parent.
    pub fn loop_depth(&self) -> Option<usize> {
        let mut parents = std::iter::successors(self.parent.as_deref(), |of| of.parent.as_deref());
        let position = parents.position(|of| (of.device, of.inode) == (self.device, self.inode));
        position.map(|position| position + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(device: u64, inode: u64, parent: Option<Lineage>) -> Lineage {
        Lineage {
            device,
            inode,
            parent: parent.map(Arc::new),
        }
    }

    #[test]
    fn mounts_and_loops_are_recognised_by_device_and_inode() {
        let mounted = lineage(2, 1, Some(lineage(1, 1, None)));
        assert!(mounted.is_mounted());
        assert_eq!(mounted.loop_depth(), None);
        assert!(!lineage(1, 1, None).is_mounted());
        let below = lineage(1, 7, Some(lineage(1, 5, None)));
        assert!(!below.is_mounted());
        assert_eq!(lineage(1, 5, Some(below)).loop_depth(), Some(2));
    }
}
