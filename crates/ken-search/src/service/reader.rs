//! An open index that follows its commits, wherever it is.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ken_engine::{Engine, Error, Reading, Source};

/// An index that threads share, open at its last commit.
///
/// A thread keeps the snapshot that it was given for as long as it likes; others get newer ones meanwhile.
pub struct Reader(Place);

enum Place {
    Folder(ken_index::Reader),
    Elsewhere {
        engine: Arc<dyn Engine>,
        reading: Reading,
        opened: Mutex<Option<Arc<dyn Source>>>,
    },
}

impl Reader {
    pub(super) fn of_folder(index: &Path, reading: &Reading) -> Self {
        let reader = ken_index::Reader::new(index).with_ranking(reading.ranking.clone());
        Self(Place::Folder(match &reading.stemming {
            Some(languages) => reader.with_stemming(languages),
            None => reader,
        }))
    }

    pub(super) fn elsewhere(engine: Arc<dyn Engine>, reading: Reading) -> Self {
        Self(Place::Elsewhere {
            engine,
            reading,
            opened: Mutex::default(),
        })
    }

    /// Returns the last commit, which is opened if it is not open yet.
    ///
    /// # Errors
    /// Fails if there is no index, or it cannot be read. The next call tries again.
    pub fn snapshot(&self) -> Result<Arc<dyn Source>, Error> {
        match &self.0 {
            Place::Folder(reader) => Ok(reader.snapshot()?),
            Place::Elsewhere {
                engine,
                reading,
                opened,
            } => {
                let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                let (commit, _) = engine.last()?;
                if let Some(source) = opened.as_ref().filter(|open| open.commit() == commit) {
                    return Ok(Arc::clone(source));
                }
                let source = engine.source(reading)?;
                *opened = Some(Arc::clone(&source));
                Ok(source)
            }
        }
    }
}
