//! One look at the index, for one state of the page.

use ken_core::{Document, Field, Location};
use ken_engine::Source;
use ken_search::service::{
    Error as SearchError, Group, Like, Named, Query, Reading, Relax, Request, Service,
};
use ken_search::snippet::{self, Finder, Settings};

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
        }
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
        let Location { path, ipath } = self.document(&self.state.like)?.stored.location;
        let mut address = path.into_os_string();
        if !ipath.is_root() {
            address.push("|");
            address.push(ipath.as_str());
        }
        Ok(Some(Like::Document(address.into())))
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
            deadline_ms: self.web.setup.deadline_ms,
            ..Request::default()
        })
    }

    /// Reads the query of a request. What is still being typed may have mistakes, which are left out.
    pub(super) fn understand(&self, request: &mut Request) -> Result<Query, SearchError> {
        match self.service.understand(request) {
            Err(SearchError::Query(_)) if request.reading == Reading::Operators => {
                request.reading = Reading::Lenient;
                self.service.understand(request)
            }
            query => query,
        }
    }
}

/// Marks the words of the query in titles.
pub(super) struct Titles {
    titles: Finder,
    names: Finder,
}

impl Titles {
    pub(super) fn of(looker: &Looker<'_>, query: &Query) -> Result<Self, Error> {
        let plan = looker.source.expand(&query.plan, None)?;
        let analyze = looker.service.context().analyze;
        let finder = |field| Finder::new(snippet::matchers(&plan, field), analyze);
        Ok(Self {
            titles: finder(Field::Title),
            names: finder(Field::Filename),
        })
    }

    /// Returns the title of a document, else its file name.
    pub(super) fn of_document(&self, location: &Location, document: &Document) -> Vec<Piece> {
        let settings = Settings {
            length: TITLE,
            count: 1,
        };
        let (finder, text) = match document.text(Field::Title) {
            Some(title) => (&self.titles, Some(title)),
            None => (&self.names, document.text(Field::Filename)),
        };
        let fragments = text.map(|text| finder.fragments(text, settings));
        let first = fragments.and_then(|fragments| fragments.into_iter().next());
        let file_name = || pieces(&location.file_name(), &[]);
        first.as_ref().map_or_else(file_name, passage)
    }
}
