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

use ken_api::Program;
use ken_search::service::Access;

pub use screen::run;

/// What the screen depends on besides the index.
pub struct Setup {
    /// The index, and the settings by which its user searches it.
    pub access: Access,
    /// Runs ken's own commands, which open documents and search lines.
    pub program: Program,
    /// Makes characters that steer terminals visible.
    pub visible: fn(&str) -> Cow<'_, str>,
    /// Whether Enter leaves and prints addresses, as a shell wants that asks for files, instead of opening the document.
    pub enter_prints: bool,
    /// Whether colours are used.
    pub has_color: bool,
}
