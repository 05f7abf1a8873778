//! Who may read the files of a run: as the index has it, and as it is now.
//!
//! A run over all files reads the classes of all files first, since a look at each document takes ten times as long as
//! the `stat` of its file. A run over some paths looks at the documents of their files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ken_core::FileKey;
use ken_core::access::{ACCESS, Class};
use ken_engine::{Error, Source};
use ken_walk::Permissions;

/// The number of a class for files that have several: a run was stopped between their documents.
const SEVERAL: u32 = u32::MAX;

/// Who may read files.
pub(crate) struct Access {
    permissions: Permissions,
    known: Known,
}

/// Who may read the files that the index knows.
enum Known {
    /// The files by key with the numbers of their classes.
    All {
        classes: Vec<String>,
        files: Vec<(FileKey, u32)>,
    },
    Each(Option<Arc<dyn Source>>),
}

impl Access {
    /// Reads what the index knows. `is_all` tells whether all files are looked at.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(crate) fn load(source: Option<&Arc<dyn Source>>, is_all: bool) -> Result<Self, Error> {
        Ok(Self {
            permissions: Permissions::default(),
            known: match source {
                Some(source) if is_all => Known::all(&**source)?,
                source => Known::Each(source.map(Arc::clone)),
            },
        })
    }

    /// Returns who may read the file at a path now. What is read of a file belongs to [`Self::of_open`].
    pub(crate) fn now(&self, path: &Path) -> Arc<str> {
        self.permissions.class_of(path).to_string().into()
    }

    /// Returns who may read an open file, which was opened by this path.
    pub(crate) fn of_open(&self, file: &File, path: &Path) -> Class {
        self.permissions.class_of_open(file, path)
    }

    /// Returns whether other people may read the file at a path than the index knows.
    pub(crate) fn differs(&self, path: &Path, key: FileKey) -> bool {
        !self.knows(key, &self.now(path))
    }

    /// Returns whether the index knows a file with this class.
    pub(crate) fn knows(&self, key: FileKey, class: &str) -> bool {
        self.known.is(key, class)
    }
}

impl Known {
    fn all(source: &dyn Source) -> Result<Self, Error> {
        let classes = source.files().values(ACCESS)?;
        let mut files = Vec::new();
        for (number, class) in (0..SEVERAL).zip(&classes) {
            let keys = source.files().with_values(ACCESS, &[class])?;
            files.extend(keys.into_iter().map(|key| (key, number)));
        }
        files.sort_unstable();
        files.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = SEVERAL;
            }
            is_same
        });
        Ok(Self::All { classes, files })
    }

    /// Returns whether a file has this class and no other. A file that cannot be looked at has not.
    fn is(&self, key: FileKey, class: &str) -> bool {
        match self {
            Self::All { classes, files } => {
                let at = files.binary_search_by_key(&key, |(of, _)| *of);
                let number = at
                    .ok()
                    .and_then(|at| files.get(at))
                    .map(|(_, number)| *number);
                let known = number.and_then(|number| classes.get(number as usize));
                known.is_some_and(|known| known == class)
            }
            Self::Each(source) => source
                .as_deref()
                .is_some_and(|source| is_own(source, key, class).unwrap_or(false)),
        }
    }
}

/// Returns whether the file's own document, which is written last, has a class.
fn is_own(source: &dyn Source, key: FileKey, class: &str) -> Result<bool, Error> {
    for at in source.files().documents_of(key)?.into_iter().rev() {
        let stored = source.document_without_body(at)?;
        if stored.state.is_some() {
            return Ok(stored.document.text(ACCESS) == Some(class));
        }
    }
    Ok(false)
}
