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

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ken_api::{Client, Program, Secret};
use ken_core::access::Asker;
use ken_core::{Cause, Location};
use ken_engine::Source;
use ken_search::parse::Saved;
use ken_search::scope::{KnownRoots, Rights, Scope, Scoped};
use ken_search::service::{Access, Service};
use ken_walk::Permissions;

pub use answer::{Answer, Body, Error, Shown, Write};
pub use asked::{Asked, From, Work};
use index::Index;
pub use original::is_known;

/// Returns the bytes of a member of an open file, or why it cannot be read, for people.
pub type ReadMember =
    Box<dyn Fn(&dyn Source, &Location, File) -> Result<Vec<u8>, String> + Send + Sync>;

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
    /// The index, and the settings by which its user searches it.
    pub access: Access,
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
    known: Arc<KnownRoots>,
}

/// Returns what somebody may read of a commit.
fn readable(
    whole: Arc<dyn Source>,
    asker: &Asker,
    known: &Arc<KnownRoots>,
) -> Result<Arc<dyn Source>, ken_engine::Error> {
    let permissions = Permissions::guarded();
    let scope = Scope::of(Rights {
        asker: asker.clone(),
        look_at: Some(Arc::new(move |path: &Path| permissions.class_of(path))),
        known: Arc::clone(known),
    });
    Ok(Arc::new(Scoped::shared(whole, &scope)?))
}

impl Web {
    /// Returns what answers requests to an index. Nothing is opened yet.
    pub fn new(setup: Setup) -> Self {
        let index = Index::new(setup.access.clone());
        Self {
            setup,
            index,
            attempts: attempts::Attempts::new(),
            known: Arc::default(),
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

    /// Returns what the index has for a request, at a commit or at the last one: what the asker may read.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or the commit is not open any more.
    pub(crate) fn at(&self, asked: &Asked, commit: Option<u64>) -> Result<Arc<dyn Source>, Error> {
        let whole = self.index.at(commit)?;
        Ok(match &asked.asker {
            Some(asker) => readable(whole, asker, &self.known)?,
            None => whole,
        })
    }

    /// Returns what opens the index at its last commit: what somebody may read.
    pub(crate) fn commits_for(
        &self,
        asker: Asker,
    ) -> impl Fn() -> io::Result<Arc<dyn Source>> + Send + use<> {
        let reader = self.setup.access.reader();
        let known = Arc::clone(&self.known);
        move || {
            let whole = reader.snapshot().map_err(io::Error::other)?;
            readable(whole, &asker, &known).map_err(io::Error::other)
        }
    }

    /// Returns the search service for a request, at a commit.
    pub(crate) fn service<'s>(
        &self,
        asked: &Asked,
        source: &'s dyn ken_engine::Source,
    ) -> Service<'s> {
        let saved = self.saved(asked.asker.as_ref()).clone();
        self.setup
            .access
            .service_with(source, saved, &asked.is_gone)
    }

    /// Returns the saved queries of who asks. Only the user of the server has some.
    pub(crate) fn saved(&self, asker: Option<&Asker>) -> &Saved {
        static NONE: Saved = Saved::new();
        match asker {
            None => &self.setup.access.saved,
            Some(_) => &NONE,
        }
    }

    /// Returns the milliseconds that a request may take: nobody may hold a thread for longer than the user allows.
    fn deadline(&self, asked_ms: Option<u64>) -> Option<u64> {
        [asked_ms, self.setup.access.deadline_ms]
            .into_iter()
            .flatten()
            .min()
    }

    /// Gives back the memory that answers need, as when nobody asked for a while.
    pub fn rest(&self) {
        self.index.rest();
    }
}
