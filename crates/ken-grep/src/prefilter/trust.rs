//! Which files need no look at their stamp?

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use ken_core::Root;

use crate::walk::WalkOptions;

/// Whether the index is believed without a look at the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Each file is compared with its stamp in the index.
    #[default]
    Stamps,
    /// The user takes the answer as of the last run.
    User,
    /// A server watches the files: the index has all of them as they are now, except those at and below these paths.
    Watched(BTreeSet<PathBuf>),
}

impl Trust {
    /// Returns whether anything is believed.
    pub(super) fn is_any(&self) -> bool {
        *self != Self::Stamps
    }

    /// Returns whether a server watches the files.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self, Self::Watched(_))
    }

    /// Returns the paths that are not believed.
    pub(super) fn except(&self) -> impl Iterator<Item = &Path> {
        let except = match self {
            Self::Watched(except) => Some(except),
            Self::Stamps | Self::User => None,
        };
        except.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns whether a folder, with everything below it, is not believed.
    pub(super) fn excepts_all_in(&self, folder: &Path) -> bool {
        match self {
            Self::Watched(except) if !except.is_empty() => {
                folder.ancestors().any(|above| except.contains(above))
            }
            _ => false,
        }
    }

    /// Returns the names in a folder that are not believed.
    pub(super) fn excepted_names(&self, folder: &Path) -> Vec<&[u8]> {
        let Self::Watched(except) = self else {
            return Vec::new();
        };
        let from = (Bound::Excluded(folder), Bound::Unbounded);
        let below = except.range::<Path, _>(from);
        below
            .take_while(|path| path.starts_with(folder))
            .filter(|path| path.parent() == Some(folder))
            .filter_map(|path| Some(path.file_name()?.as_encoded_bytes()))
            .collect()
    }
}

impl WalkOptions {
    /// Returns whether a search walks only to files that the index has below these roots, or that a server names as left
    /// out: its rules leave out what those of the index leave out.
    pub fn is_within(&self, roots: &[Root]) -> bool {
        let takes_all = roots.iter().all(|root| root.no_ignore);
        let has_rules = self.dot_ignore
            && self.git
            && self.git_exclude
            && self.git_global
            && self.parents
            && !self.ignore_case_insensitive;
        // These can bring in what ignore files leave out.
        let brings_in = self.globs.iter().any(|(glob, _)| !glob.starts_with('!'))
            || !self.types.is_empty()
            || !self.ignore_files.is_empty();
        let sees_hidden = !self.hidden || roots.iter().all(|root| root.hidden);
        !self.follow && sees_hidden && !brings_in && (has_rules || takes_all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_hold_for_what_is_below_them() {
        let paths = ["/a/b", "/a/b c", "/a/x.log", "/y"].map(PathBuf::from);
        let trust = Trust::Watched(paths.into());
        for (folder, is_excepted) in [
            ("/a", false),
            ("/a/b", true),
            ("/a/b/c", true),
            ("/a/d", false),
        ] {
            assert_eq!(
                trust.excepts_all_in(Path::new(folder)),
                is_excepted,
                "{folder}"
            );
        }
        let names = trust.excepted_names(Path::new("/a"));
        assert_eq!(names, [&b"b"[..], b"b c", b"x.log"]);
        assert!(trust.excepted_names(Path::new("/a/d")).is_empty());
        assert!(Trust::User.excepted_names(Path::new("/a")).is_empty());
    }

    #[test]
    fn searches_that_take_more_than_the_index_are_not_within() {
        let usual = WalkOptions::default();
        let root = Root::new("/a");
        let hidden = Root {
            hidden: true,
            ..root.clone()
        };
        let all = Root {
            no_ignore: true,
            ..hidden.clone()
        };
        let with_hidden = WalkOptions {
            hidden: true,
            ..usual.clone()
        };
        let without_rules = WalkOptions {
            git: false,
            ..usual.clone()
        };
        let with_glob = |glob: &str| WalkOptions {
            globs: vec![(glob.to_owned(), false)],
            ..usual.clone()
        };
        for (walk, root, is_within) in [
            (&usual, &root, true),
            (&with_hidden, &root, false),
            (&with_hidden, &hidden, true),
            (&without_rules, &hidden, false),
            (&without_rules, &all, true),
            (&with_glob("*.rs"), &root, false),
            (&with_glob("!*.rs"), &root, true),
        ] {
            assert_eq!(
                walk.is_within(std::slice::from_ref(root)),
                is_within,
                "{walk:?}"
            );
        }
    }
}
