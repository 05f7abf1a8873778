//! Which roots an index has after a run: those of the last commit, with what the run adds and forgets.

use ken_core::Root;
use ken_walk::{Verdict, WalkOptions};

use crate::{Error, Options, RootChange};

/// Adds and forgets roots. A root is identified by its path; adding it again sets its options.
///
/// A path that a known root finds anyway is not added: `ken index ~/Documents/letter.odt` below the root
/// `~/Documents` looks for changes, and the letter has no life of its own.
pub(crate) fn change(
    roots: &mut Vec<Root>,
    changes: &[RootChange],
    options: &Options,
) -> Result<(), Error> {
    let mut changes: Vec<&RootChange> = changes.iter().collect();
    // A folder comes before what it holds, in whatever order they were named.
    changes.sort_by_key(|change| match change {
        RootChange::Forget(_) => None,
        RootChange::Add(root) => Some(&root.path),
    });
    for change in changes {
        match change {
            RootChange::Add(root) if is_found_anyway(root, roots, options) => {}
            RootChange::Add(root) => {
                roots.retain(|known| known.path != root.path);
                roots.push(root.clone());
            }
            RootChange::Forget(path) => {
                let before = roots.len();
                roots.retain(|known| known.path != *path);
                if roots.len() == before {
                    return Err(Error::NotARoot(path.clone()));
                }
            }
        }
    }
    roots.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Returns whether the walk of a known root with the same options finds this one.
fn is_found_anyway(root: &Root, roots: &[Root], options: &Options) -> bool {
    // Where nothing is mounted, a root keeps what is known of it.
    let outer = ken_core::covering(roots, &root.path).filter(|_| !root.mounted);
    let Some(outer) = outer else {
        return false;
    };
    let same_options = Root {
        path: root.path.clone(),
        mounted: false,
        ..outer.clone()
    };
    if outer.path == root.path || same_options != *root {
        return false;
    }
    let walk = WalkOptions {
        excluded: options.excluded_paths(),
        global_ignore: options.global_ignore.clone(),
        // A folder that stays as it is until somebody names it is looked at as a root.
        respects_noupdate: true,
        order: options.order,
        ..WalkOptions::default()
    };
    let verdict = ken_walk::explain(roots, &walk, &root.path);
    matches!(verdict, Some(Verdict::File(_) | Verdict::Folder))
}
