//! What do a browser and a program get of the index by HTTP? Requests in, answers out.
//!
//! [`Web::answer`] takes one request, which [`ken_api`] has admitted, and returns its answer; it may take long, so it runs
//! on a thread of its own. `api` answers programs with JSON, below `/api/v1`; `page` answers browsers with HTML. Both
//! translate: they turn the parameters of a request into a request to the search service, and its response into an
//! answer.

mod answer;
mod api;
mod asked;
mod attempts;
mod drawn;
mod index;
mod original;
mod page;
mod parameters;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use ken_api::{Client, Program, Secret};
use ken_core::{Cause, Location, Ranking};
use ken_search::parse::Saved;
use ken_search::plan::Context;
use ken_search::service::Service;

pub use answer::{Answer, Body, Error, Write};
pub use asked::{Asked, From, Work};
use index::Index;
pub use original::is_known;

/// Returns the bytes of a member of a file, or why it cannot be read, for people.
pub type ReadMember =
    Box<dyn Fn(&dyn ken_engine::Source, &Location) -> Result<Vec<u8>, String> + Send + Sync>;

/// Opens a file in its program, or the folder of the file if that is wanted or the file would run. Returns whether the
/// file itself was opened.
pub type Opener = Box<dyn Fn(&Path, bool) -> Result<bool, String> + Send + Sync>;

/// Says what the user can do about a failure, in the words of the command line.
#[derive(Clone, Copy)]
pub struct Advice {
    /// Returns the remedy for a failure of the file at a path.
    pub remedy: fn(&Cause, &Path) -> String,
    /// Returns how to install a program that helpers need.
    pub install: fn(&str) -> String,
}

/// What answers depend on besides the index.
pub struct Setup {
    /// The folder of the index.
    pub index: PathBuf,
    /// The weights by which hits are ranked.
    pub ranking: Ranking,
    /// Languages whose forms of words are found, if not those that documents are in.
    pub stemming: Option<Vec<String>>,
    /// The user who asks. The time is replaced by that of each request.
    pub context: Context,
    /// The user's saved queries.
    pub saved: Saved,
    /// Milliseconds after which a search ends with what it has found; none if it may take all the time it needs.
    pub deadline_ms: Option<u64>,
    /// Asks the process that keeps the index fresh.
    pub server: Client,
    /// Runs ken's own commands.
    pub program: Program,
    /// Reads a member of a file.
    pub read_member: ReadMember,
    /// Draws pages and pictures.
    pub pictures: ken_extract::Pictures,
    /// Says what can be done about failures.
    pub advice: Advice,
    /// Opens files on the user's desktop; none if there is no desktop.
    pub opener: Option<Opener>,
    /// What lets a user in who does not have the token; none if only the token does.
    pub password: Option<String>,
    /// What lets a browser in; empty as long as no port is open.
    pub secret: Arc<OnceLock<Secret>>,
}

/// Answers requests.
pub struct Web {
    setup: Setup,
    index: Index,
    attempts: attempts::Attempts,
}

impl Web {
    /// Returns what answers requests to an index. Nothing is opened yet.
    pub fn new(setup: Setup) -> Self {
        let index = Index::new(&setup);
        Self {
            setup,
            index,
            attempts: attempts::Attempts::new(),
        }
    }

    /// Answers a request.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let answer = match asked.path.strip_prefix("/api/v1/") {
            Some(path) => api::answer(self, asked, path),
            None if ["/json", "/csv"].contains(&asked.path.as_str()) => api::recoll(self, asked),
            None => return page::answer(self, asked),
        };
        answer.unwrap_or_else(|error| error.answer())
    }

    /// Returns the search service for a request, at a commit.
    pub(crate) fn service<'s>(
        &self,
        asked: &Asked,
        source: &'s dyn ken_engine::Source,
    ) -> Service<'s> {
        let context = Context {
            now: Timestamp::now(),
            ..self.setup.context.clone()
        };
        Service::new(source, context, self.setup.saved.clone())
            .with_cancel(Arc::clone(&asked.is_gone))
    }

    /// Returns the milliseconds that a request may take: nobody may hold a thread for longer than the user allows.
    fn deadline(&self, asked_ms: Option<u64>) -> Option<u64> {
        [asked_ms, self.setup.deadline_ms]
            .into_iter()
            .flatten()
            .min()
    }

    /// Gives back the memory that answers need, as when nobody asked for a while.
    pub fn rest(&self) {
        self.index.rest();
    }
}
