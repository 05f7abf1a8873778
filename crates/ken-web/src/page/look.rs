//! One look at the index, for one state of the page.

use ken_core::access::Asker;
use ken_core::{Document, Location};
use ken_engine::Source;
use ken_search::service::{Group, Like, Named, Relax, Request, Service, Titles};

use super::state::State;
use super::text::{Piece, passage, pieces};
use crate::answer::Error;
use crate::{Asked, Web};

/// The most characters of a title.
const TITLE: usize = 300;

/// One look at the index, for one state of the page.
pub(super) struct Looker<'a> {
    pub(super) web: &'a Web,
    pub(super) source: &'a dyn Source,
    pub(super) service: Service<'a>,
    pub(super) state: &'a State,
    asker: Option<Asker>,
}

impl<'a> Looker<'a> {
    /// Returns a look at a commit.
    pub(super) fn new(
        web: &'a Web,
        asked: &Asked,
        source: &'a dyn Source,
        state: &'a State,
    ) -> Self {
        Self {
            web,
            source,
            service: web.service(asked, source),
            state,
            asker: asked.asker.clone(),
        }
    }

    /// Returns the person who asks, if what they may read is all that they get.
    pub(super) fn asker(&self) -> Option<&Asker> {
        self.asker.as_ref()
    }

    /// Returns the identifier of a document.
    pub(super) fn id(&self, location: &Location) -> String {
        self.service.id(location)
    }

    /// Returns the document with an identifier.
    ///
    /// # Errors
    /// Fails if the commit has no such document, or cannot be read.
    pub(super) fn document(&self, id: &str) -> Result<Named, Error> {
        self.service.document(id)?.ok_or_else(|| Error {
            status: 404,
            message: "the index does not have this document any more".to_owned(),
        })
    }

    /// Returns the wish for documents similar to that of the state.
    fn like(&self) -> Result<Option<Like>, Error> {
        if self.state.like.is_empty() {
            return Ok(None);
        }
        let location = self.document(&self.state.like)?.stored.location;
        Ok(Some(Like::Document(location.address())))
    }

    /// Returns the request for the hits of the state, without what is wanted of each.
    pub(super) fn request(&self) -> Result<Request, Error> {
        let state = self.state;
        let (sort, reverse) = match state.sort.as_str() {
            "" => ("relevance", false),
            key => key
                .strip_prefix('-')
                .map_or((key, false), |key| (key, true)),
        };
        Ok(Request {
            query: match state.q.trim() {
                "" => "*".to_owned(),
                _ => state.q.clone(),
            },
            prefix_last: true,
            relax: Relax::Few,
            filters: state
                .filters
                .iter()
                .cloned()
                .chain(state.date_filter())
                .collect(),
            like: self.like()?,
            sort: sort.to_owned(),
            reverse,
            group: (!state.copies).then_some(Group::Similar),
            count: true,
            suggest: true,
            deadline_ms: self.web.setup.access.deadline_ms,
            ..Request::default()
        })
    }
}

/// Returns the title of a document, else its file name, with the words of the query marked.
pub(super) fn marked_title(
    titles: &Titles,
    location: &Location,
    document: &Document,
) -> Vec<Piece> {
    let file_name = || pieces(&location.file_name(), &[]);
    titles
        .passage(document, TITLE)
        .as_ref()
        .map_or_else(file_name, passage)
}
