//! What does an agent get of the index? The Model Context Protocol, with five tools that only read.
//!
//! [`serve`] answers on standard input and output, one message a line; [`post`] answers one request by HTTP. Both hand
//! messages to [`Mcp::answer`], which speaks both eras of the protocol: with a handshake, and without. A tool turns its
//! arguments into a request to the search service, and the response into text within a number of characters.
//!
//! Two things hold for every answer. What lies outside of the [`Scope`] does not exist: the index is asked through
//! [`ken_search::scope::Scoped`], and files are opened below the folders of the scope only. And text of files is marked
//! as such: it stands between fences that nobody can foresee, with invisible characters written out.

mod arguments;
mod call;
mod http;
mod protocol;
mod stdio;
mod text;
mod tools;
mod visible;
mod wire;

use std::sync::Arc;

use ken_api::{Client, Program};
use ken_search::scope::Scope;
use ken_search::service::{Access, Reader};

pub use http::post;
pub use stdio::serve;
pub use visible::{repository, scope};
pub use wire::{Message, Request, Wrong, read};

/// What answers depend on besides the index.
pub struct Setup {
    /// The index, and the settings by which its user searches it.
    pub access: Access,
    /// Asks the process that keeps the index fresh, if it runs.
    pub server: Option<Client>,
    /// Runs ken's own commands.
    pub program: Program,
}

/// Answers requests about one scope.
#[derive(Clone)]
pub struct Mcp {
    shared: Arc<Shared>,
    scope: Scope,
}

struct Shared {
    setup: Setup,
    reader: Reader,
}

impl Mcp {
    /// Returns what answers requests about a scope. Nothing is opened yet.
    pub fn new(setup: Setup, scope: Scope) -> Self {
        let reader = setup.access.reader();
        Self {
            shared: Arc::new(Shared { setup, reader }),
            scope,
        }
    }

    /// Returns what answers requests about another scope of the same index.
    #[must_use]
    pub fn with_scope(&self, scope: Scope) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            scope,
        }
    }
}
