//! An open index that follows its commits, wherever it is.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
        opened: Mutex<Opened>,
        /// Held while a commit is opened, so that one thread opens it for all. Nobody who has the last commit waits for it.
        opening: Mutex<()>,
    },
}

/// The commit that was opened last.
#[derive(Default)]
struct Opened {
    source: Option<Arc<dyn Source>>,
    /// The number of the opening that gave it.
    opening: u64,
    /// How many openings have begun.
    n_begun: u64,
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
            opening: Mutex::default(),
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
                opening,
            } => {
                let n_before = lock(opened).n_begun;
                // The network may take its time: no lock is held that others wait for.
                let (commit, _) = engine.last()?;
                // What others began to open since is as new. An index that was made anew counts its commits anew.
                let known = || {
                    let opened = lock(opened);
                    let is_new = |open: &Arc<dyn Source>| {
                        open.commit() == commit || opened.opening > n_before
                    };
                    opened.source.clone().filter(is_new)
                };
                if let Some(source) = known() {
                    return Ok(source);
                }
                let _opening = lock(opening);
                if let Some(source) = known() {
                    return Ok(source);
                }
                let number = {
                    let mut opened = lock(opened);
                    opened.n_begun += 1;
                    opened.n_begun
                };
                let source = engine.source(reading)?;
                let mut opened = lock(opened);
                opened.source = Some(Arc::clone(&source));
                opened.opening = number;
                Ok(source)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use ken_engine::{Meta, Sink};
    use ken_index::{Snapshot, Writer, WriterOptions};
    use tempfile::TempDir;

    use super::*;

    /// An engine that answers only when two threads ask it.
    #[derive(Debug, Default)]
    struct Slow {
        n_asked: Mutex<usize>,
        changed: Condvar,
    }

    impl Engine for Slow {
        fn name(&self) -> String {
            "slow".to_owned()
        }

        fn state(&self) -> Result<Vec<(&'static str, String)>, Error> {
            Ok(Vec::new())
        }

        fn source(&self, _: &Reading) -> Result<Arc<dyn Source>, Error> {
            Err(Error::Query("opened".to_owned()))
        }

        fn sink(&self) -> Result<Box<dyn Sink>, Error> {
            Err(Error::Query("written".to_owned()))
        }

        fn tag_log(&self) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }

        fn add_to_tag_log(&self, _: &str) -> Result<(), Error> {
            Err(Error::Query("tagged".to_owned()))
        }

        fn last(&self) -> Result<(u64, Meta), Error> {
            let mut n_asked = lock(&self.n_asked);
            *n_asked += 1;
            self.changed.notify_all();
            let limit = Duration::from_secs(20);
            let alone = |n_asked: &mut usize| *n_asked < 2;
            match self.changed.wait_timeout_while(n_asked, limit, alone) {
                Ok((_, waited)) if !waited.timed_out() => Ok((1, Meta::new())),
                _ => Err(Error::Query("alone".to_owned())),
            }
        }
    }

    #[test]
    fn a_thread_that_waits_for_the_network_keeps_no_other_waiting() {
        let reader = Reader::elsewhere(Arc::new(Slow::default()), Reading::default());
        let ask = || reader.snapshot().err().map(|error| error.to_string());
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(ask);
            (ask(), one.join().unwrap())
        });
        let opened = Error::Query("opened".to_owned()).to_string();
        assert_eq!((one, other), (Some(opened.clone()), Some(opened)));
    }

    /// An engine with an index that is made anew.
    #[derive(Debug)]
    struct Remade {
        indexes: [TempDir; 2],
        now: AtomicUsize,
    }

    impl Remade {
        fn snapshot(&self) -> Result<Snapshot, Error> {
            Snapshot::open(self.indexes[self.now.load(Ordering::Relaxed)].path())
        }
    }

    impl Engine for Remade {
        fn name(&self) -> String {
            "remade".to_owned()
        }

        fn state(&self) -> Result<Vec<(&'static str, String)>, Error> {
            Ok(Vec::new())
        }

        fn source(&self, _: &Reading) -> Result<Arc<dyn Source>, Error> {
            Ok(Arc::new(self.snapshot()?))
        }

        fn sink(&self) -> Result<Box<dyn Sink>, Error> {
            Err(Error::Query("written".to_owned()))
        }

        fn tag_log(&self) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }

        fn add_to_tag_log(&self, _: &str) -> Result<(), Error> {
            Err(Error::Query("tagged".to_owned()))
        }

        fn last(&self) -> Result<(u64, Meta), Error> {
            let snapshot = self.snapshot()?;
            Ok((snapshot.commit(), snapshot.meta().clone()))
        }
    }

    fn index(n_commits: u64) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions {
            memory_bytes: 30 << 20,
            threads: 1,
        };
        let writer = Writer::open(folder.path(), options).unwrap();
        for _ in 0..n_commits {
            writer.commit(writer.meta()).unwrap();
        }
        writer.close().unwrap();
        folder
    }

    #[test]
    fn an_index_that_was_made_anew_is_opened() {
        let engine = Arc::new(Remade {
            indexes: [index(3), index(1)],
            now: AtomicUsize::new(0),
        });
        let reader = Reader::elsewhere(Arc::clone(&engine) as Arc<dyn Engine>, Reading::default());
        let before = reader.snapshot().unwrap();
        assert!(Arc::ptr_eq(&before, &reader.snapshot().unwrap()));
        engine.now.store(1, Ordering::Relaxed);
        let after = reader.snapshot().unwrap();
        assert!(after.commit() < before.commit());
    }
}
