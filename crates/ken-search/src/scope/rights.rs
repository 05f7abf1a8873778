//! What somebody may read: by the classes that the index has, and by a look at each file that is shown.
//!
//! The index finds the classes of its files ([`ken_core::access`]); those that allow the asker become a filter of every
//! question. A document without a class, and one with a class that this version cannot read, is not inside. Since the
//! files may have changed since they were indexed, the files of hits are looked at again before they are shown.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ken_core::access::{ACCESS, Asker, Class};
use ken_core::{Pattern, Plan};
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
