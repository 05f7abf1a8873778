//! How does a user search on a terminal, with an answer to every key? One screen over the search service.
//!
//! [`run`] shows the screen until the user leaves it. `state` says what is shown and what a key does, without a terminal
//! and without an index; `seek` asks the index on threads of its own; `grep` asks `ken grep`; `draw` puts the state on the
//! screen. Keys, questions and answers meet in `screen`.

mod draw;
mod field;
mod grep;
mod mailbox;
mod row;
mod screen;
mod seek;
mod state;
mod view;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use ken_core::Ranking;
use ken_search::parse::Saved;
use ken_search::plan::Context;

pub use screen::run;

/// What the screen depends on besides the index.
pub struct Setup {
    /// The folder of the index.
    pub index: PathBuf,
    /// The weights by which hits are ranked.
    pub ranking: Ranking,
    /// Languages whose forms of words are found, if not those that documents are in.
    pub stemming: Option<Vec<String>>,
    /// The user who asks.
    pub context: Context,
    /// The user's saved queries.
    pub saved: Saved,
    /// Milliseconds after which a search ends with what it has found.
    pub deadline_ms: Option<u64>,
    /// The path of ken, which opens documents and searches lines.
    pub program: PathBuf,
    /// The arguments before a command of ken: which index and settings it works with.
    pub arguments: Vec<OsString>,
    /// Makes characters that steer terminals visible.
    pub visible: fn(&str) -> Cow<'_, str>,
    /// Whether Enter leaves and prints addresses, as a shell wants that asks for files, instead of opening the document.
    pub enter_prints: bool,
    /// Whether colours are used.
    pub has_color: bool,
}
