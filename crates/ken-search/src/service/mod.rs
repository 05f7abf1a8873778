//! The search service: one request in, one response out, for every interface of ken.
//!
//! A [`Request`] and a [`Response`] are plain data. A command, a protocol or a web page translates the input of its
//! user into a request and prints the response; it decides nothing about searching. `docs/json.md` describes the JSON
//! of a response.
//!
//! [`Service::ask`] does everything at once. A command that prints while it reads takes the steps one by one:
//! [`Service::understand`] reads the query, [`Service::search`] finds the hits, and [`Answer::each_hit`] reads their
//! documents and cuts their snippets, with several threads where that is worth it.
//!
//! The meaning of a query depends on the user, the time and the current folder. The caller passes them in a
//! [`Context`]. Nothing here reads the environment.

mod access;
mod address;
mod answer;
mod cause;
mod columns;
mod complete;
mod error;
mod explain;
mod facets;
mod hit;
mod id;
mod inside;
mod json;
mod like;
pub mod mail;
mod natural;
mod part;
mod place;
mod reader;
mod relax;
mod request;
mod response;
mod suggest;
mod terms;
mod text;
mod titles;
mod understand;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ken_core::{FieldNames, Root};
use ken_engine::{Limits, Source};

use crate::parse::{Database, Names, Saved};
use crate::plan::{Analyze, Context};
use id::is_id;
use place::place_behind;

pub use access::Access;
pub use address::{Addressed, resolve};
pub use answer::Answer;
pub use cause::{cause_text, mebibytes, system_words};
pub use columns::{Column, check_column, check_facet, check_sort, file_url};
pub use error::Error;
pub use explain::{Explanation, Meaning, TermOf};
pub use facets::{Facet, FacetValue};
pub use hit::{Hit, MatchIn, sheet_at, title};
pub use id::Named;
pub use inside::Inside;
pub use json::{ContactForm, DocumentForm, HIT_KEYS, MessageForm};
pub use like::TextOf;
pub use part::{Next, Numbers, Part, PartRequest, Stretch, part};
pub use place::Place;
pub use reader::Reader;
pub use relax::{Matched, Relax};
pub use request::{Facets, Group, Like, Reading, Request, Snippets, Text};
pub use response::{Note, Response, Understood};
pub use terms::{TermOrder, TermRequest, TermRow};
pub use text::{SCHEMA, day, path_text, time};
pub use titles::Titles;
pub use understand::Query;

/// How the index splits text into terms.
pub const ANALYSIS: Analyze = |field, text, each| ken_index::analysis::analyze(field, text, each);

/// An index, and the user who searches it.
pub struct Service<'s> {
    snapshot: &'s dyn Source,
    context: Context,
    saved: Saved,
    names: Arc<FieldNames>,
    cancel: Option<Arc<AtomicBool>>,
    database: Option<&'s dyn Database>,
}

impl<'s> Service<'s> {
    /// Returns the service of a snapshot for a user with these saved queries. The roots and the analysis of the index
    /// replace those of the context.
    pub fn new(snapshot: &'s dyn Source, context: Context, saved: Saved) -> Self {
        let roots = snapshot.meta().roots.iter();
        let context = Context {
            roots: roots.map(|root| root.path.clone()).collect(),
            analyze: ANALYSIS,
            ..context
        };
        Self {
            snapshot,
            context,
            saved,
            names: Arc::new(snapshot.meta().field_names()),
            cancel: None,
            database: None,
        }
    }

    /// Reads queries in notmuch's language as queries of a database of notmuch.
    #[must_use]
    pub fn with_database(mut self, database: &'s dyn Database) -> Self {
        self.database = Some(database);
        self
    }

    /// Makes searches end soon after the flag becomes true, with what they have found.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Returns the limits of a search that begins now, if any.
    fn limits(&self, deadline_ms: Option<u64>) -> Option<Arc<Limits>> {
        let deadline = deadline_ms.map(Duration::from_millis);
        let deadline = deadline.and_then(|time| Instant::now().checked_add(time));
        let is_limited = deadline.is_some() || self.cancel.is_some();
        is_limited.then(|| Arc::new(Limits::new(deadline, self.cancel.clone())))
    }

    /// Returns what the names in a query mean.
    fn names(&self) -> Names<'_> {
        Names {
            saved: &self.saved,
            fields: &self.names,
            month_first: self.context.month_first,
            database: self.database,
            nested: 0,
        }
    }

    /// Returns the names of the fields of the index.
    pub fn field_names(&self) -> &FieldNames {
        &self.names
    }

    /// Returns what queries depend on besides their text.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the index.
    pub fn source(&self) -> &'s dyn Source {
        self.snapshot
    }

    /// Returns the roots of the index.
    pub fn roots(&self) -> &'s [Root] {
        &self.snapshot.meta().roots
    }

    /// Returns the least and the greatest number in a field, if any document has one.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn extent(&self, field: ken_core::Field) -> Result<Option<(i64, i64)>, Error> {
        Ok(self.snapshot.extent(field)?)
    }
}

/// What a request without a page finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What was found.
    pub items: Vec<T>,
    /// Whether nothing was left out: no deadline or cancellation ended the search.
    pub complete: bool,
}

/// Returns whether limits are given and reached.
fn reached(limits: Option<&Arc<Limits>>) -> bool {
    limits.is_some_and(|limits| limits.reached())
}

/// Returns whether no limit has ended a search.
fn is_complete(limits: Option<&Arc<Limits>>) -> bool {
    !limits.is_some_and(|limits| limits.ended_early())
}
