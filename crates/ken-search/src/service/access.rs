//! How an interface reaches an index, and what its answers depend on besides the index.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use ken_core::Ranking;
use ken_engine::Source;
use ken_index::Reader;

use super::Service;
use crate::parse::Saved;
use crate::plan::Context;

/// An index, and the settings by which its user searches it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The folder of the index.
    pub index: PathBuf,
    /// The weights by which hits are ranked.
    pub ranking: Ranking,
    /// Languages whose forms of words are found, if not those that documents are in.
    pub stemming: Option<Vec<String>>,
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
        let reader = Reader::new(&self.index).with_ranking(self.ranking.clone());
        match &self.stemming {
            Some(languages) => reader.with_stemming(languages),
            None => reader,
        }
    }

    /// Returns the service that answers a request of this moment. It ends soon after the flag becomes true.
    pub fn service<'s>(&self, source: &'s dyn Source, cancel: &Arc<AtomicBool>) -> Service<'s> {
        let context = Context {
            now: Timestamp::now(),
            ..self.context.clone()
        };
        Service::new(source, context, self.saved.clone()).with_cancel(Arc::clone(cancel))
    }
}
