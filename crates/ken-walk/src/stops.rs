//! Paths at which a walk ends: other roots, excluded folders, file systems of the kernel.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ken_core::Root;

use crate::options::{Skip, WalkOptions};

/// File systems of the kernel without documents; left out when walked from above.
const PSEUDO: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Paths at which the walk of a root ends, each with the reason.
pub(crate) struct Stops {
    reasons: HashMap<PathBuf, Skip>,
    /// The folders that contain one, so that entries of other folders need no check.
    parents: HashSet<PathBuf>,
}

impl Stops {
    pub(crate) fn new(roots: &[Root], options: &WalkOptions) -> Self {
        let pseudo = PSEUDO.iter().map(PathBuf::from);
        // Roots have no symbolic links, so a path with some would never match.
        let resolved = options.excluded.iter().flat_map(fs_err::canonicalize);
        let excluded = pseudo
            .chain(options.excluded.iter().cloned())
            .chain(resolved);
        let roots = roots.iter().map(|root| (root.path.clone(), Skip::Root));
        let reasons: HashMap<_, _> = excluded
            .map(|path| (path, Skip::Excluded))
            .chain(roots)
            .collect();
        let parents = reasons.keys().filter_map(|path| path.parent());
        Self {
            parents: parents.map(Path::to_path_buf).collect(),
            reasons,
        }
    }

    /// Returns whether any stop is directly in this folder.
    pub(crate) fn are_in(&self, folder: &Path) -> bool {
        self.parents.contains(folder)
    }

    /// Returns why the walk ends here, if it does.
    pub(crate) fn reason(&self, path: &Path) -> Option<&Skip> {
        self.reasons.get(path)
    }
}
