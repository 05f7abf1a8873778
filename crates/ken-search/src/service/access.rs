//! How an interface reaches an index, and what its answers depend on besides the index.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use ken_engine::{Engine, Reading, Source};

use super::{Reader, Service};
use crate::parse::Saved;
use crate::plan::Context;

/// An index, and the settings by which its user searches it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The folder of the index, unless that is elsewhere.
    pub index: PathBuf,
    /// Where the index is, if it is not in the folder.
    pub engine: Option<Arc<dyn Engine>>,
    /// How hits are ranked, and words found in other forms.
    pub reading: Reading,
    /// The user who asks. The time of each request replaces the time of the context.
    pub context: Context,
    /// The user's saved queries.
    pub saved: Saved,
    /// Milliseconds after which a search ends with what it has found; none if it may take all the time that it needs.
    pub deadline_ms: Option<u64>,
}

impl Access {
    /// Returns the reader of the index. It opens nothing before the first snapshot.
    pub fn reader(&self) -> Reader {
        match &self.engine {
            Some(engine) => Reader::elsewhere(Arc::clone(engine), self.reading.clone()),
            None => Reader::of_folder(&self.index, &self.reading),
        }
    }

    /// Returns the service that answers a request of this moment. It ends soon after the flag becomes true.
    pub fn service<'s>(&self, source: &'s dyn Source, cancel: &Arc<AtomicBool>) -> Service<'s> {
        self.service_with(source, self.saved.clone(), cancel)
    }

    /// Returns the same with other saved queries: those of the user are nobody else's.
    pub fn service_with<'s>(
        &self,
        source: &'s dyn Source,
        saved: Saved,
        cancel: &Arc<AtomicBool>,
    ) -> Service<'s> {
        let context = Context {
            now: Timestamp::now(),
            ..self.context.clone()
        };
        Service::new(source, context, saved).with_cancel(Arc::clone(cancel))
    }
}
