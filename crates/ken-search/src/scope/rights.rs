//! What somebody may read: by the classes that the index has, and by a look at each file that is shown.
//!
//! The index finds the classes of its files ([`ken_core::access`]); those that allow the asker become a filter of every
//! question. A document without a class, and one with a class that this version cannot read, is not inside. Since the
//! files may have changed since they were indexed, the files of hits are looked at again before they are shown.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ken_core::access::{ACCESS, Asker, Class};
use ken_core::{FileKey, Pattern, Plan};
use ken_engine::{Error, Source};

/// Returns who may read the file at a path now.
pub type LookAt = dyn Fn(&Path) -> Class + Send + Sync;

/// What somebody may read.
#[derive(Clone)]
pub struct Rights {
    /// Who asks.
    pub asker: Asker,
    /// Looks at files that are shown; none to believe the index.
    pub look_at: Option<Arc<LookAt>>,
    /// What earlier questions of all people found out.
    pub known: Arc<KnownRoots>,
}

/// The people whose roots are remembered.
const MAX_KNOWN: usize = 4_000;

/// The roots below which people may read something. To find them out takes a look at every document that somebody may read,
/// so that is done once for a person and a commit.
#[derive(Default)]
pub struct KnownRoots(Mutex<HashMap<(u32, FileKey), Known>>);

/// What somebody may read of the last commit that they asked has documents below these roots. Somebody is a number and the
/// groups of the moment, and an index is the key of `/`, which is another one in each.
struct Known {
    asker: Asker,
    commit: u64,
    roots: Vec<PathBuf>,
}

impl KnownRoots {
    pub(super) fn get(&self, asker: &Asker, index: FileKey, commit: u64) -> Option<Vec<PathBuf>> {
        let all = self.lock();
        let known = all.get(&(asker.uid(), index));
        let known = known.filter(|known| (&known.asker, known.commit) == (asker, commit));
        known.map(|known| known.roots.clone())
    }

    /// Remembers roots in place of those of an earlier commit.
    pub(super) fn put(&self, asker: &Asker, index: FileKey, commit: u64, roots: &[PathBuf]) {
        let mut all = self.lock();
        if all.len() >= MAX_KNOWN {
            all.clear();
        }
        let known = Known {
            asker: asker.clone(),
            commit,
            roots: roots.to_vec(),
        };
        all.insert((asker.uid(), index), known);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(u32, FileKey), Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rights {
    /// Returns the plan for the documents that the index says may be read.
    pub(super) fn plan(&self, source: &dyn Source) -> Result<Plan, Error> {
        let mut terms = source.files().values(ACCESS)?;
        terms.retain(|term| Class::read(term).is_some_and(|class| class.allows(&self.asker)));
        terms.sort_unstable();
        terms.dedup();
        Ok(match terms.is_empty() {
            true => Plan::Nothing,
            false => Plan::Match {
                field: ACCESS,
                pattern: Pattern::Any(terms),
            },
        })
    }

    /// Returns whether the file at a path may be read now.
    pub fn allow(&self, path: &Path) -> bool {
        let look_at = self.look_at.as_ref();
        look_at.is_none_or(|look_at| look_at(path).allows(&self.asker))
    }
}

impl PartialEq for Rights {
    fn eq(&self, other: &Self) -> bool {
        self.asker == other.asker
    }
}

impl Eq for Rights {}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rights").field(&self.asker).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_those_of_a_person_an_index_and_a_commit() {
        let known = KnownRoots::default();
        let [one, other] = [1, 2].map(|uid| Asker::new(uid, vec![7]));
        let roots = vec![PathBuf::from("/a")];
        known.put(&one, FileKey(1), 5, &roots);
        assert_eq!(known.get(&one, FileKey(1), 5), Some(roots.clone()));
        assert_eq!(known.get(&other, FileKey(1), 5), None);
        assert_eq!(known.get(&Asker::new(1, vec![7, 8]), FileKey(1), 5), None);
        assert_eq!(known.get(&one, FileKey(2), 5), None);
        assert_eq!(known.get(&one, FileKey(1), 6), None);
        // Commits of one person take the place of each other, and others keep theirs.
        known.put(&other, FileKey(1), 5, &roots);
        (6..200).for_each(|commit| known.put(&one, FileKey(1), commit, &roots));
        assert_eq!(known.get(&one, FileKey(1), 199), Some(roots.clone()));
        assert_eq!(known.get(&one, FileKey(1), 198), None);
        assert_eq!(known.get(&other, FileKey(1), 5), Some(roots.clone()));
        for uid in 0..2 * MAX_KNOWN as u32 {
            known.put(&Asker::new(uid, vec![]), FileKey(1), 5, &roots);
        }
        assert!(known.lock().len() <= MAX_KNOWN);
    }
}
