//! Reading an index.

use std::sync::Arc;

use ken_core::{Field, Location, Order, Plan, Value};

use crate::{
    Body, DocAddress, Error, FacetBy, Files, Hit, Limits, Mail, Meta, Request, Response, Stored,
    Tally, Terms,
};

/// Takes a document, and returns whether it wants another one.
pub type EachDocument<'e> = dyn FnMut(Stored) -> Result<bool, Error> + 'e;

/// Figures of an index.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Documents, by media type and kind.
    pub tallies: Vec<Tally>,
    /// Segments.
    pub segments: usize,
    /// Bytes on disk.
    pub bytes: u64,
}

/// One commit of an index. It stays as it is while others write. Threads share it.
pub trait Source: Send + Sync {
    /// Returns what the commit says about the index as a whole.
    fn meta(&self) -> &Meta;

    /// Returns the number of the commit. Later commits of the index have greater numbers.
    fn commit(&self) -> u64;

    /// Returns how many documents there are.
    fn n_documents(&self) -> u64;

    /// Returns how many documents are left out of all answers, since a part of the index is damaged.
    fn n_left_out(&self) -> u64;

    /// Returns the files of the commit.
    fn files(&self) -> &dyn Files;

    /// Returns the messages of the commit.
    fn mail(&self) -> &dyn Mail;

    /// Returns the dictionary of the commit.
    fn terms(&self) -> &dyn Terms;

    /// Answers a request: counts the documents that it finds, and returns the hits of its page.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn find(&self, request: &Request<'_>) -> Result<Response, Error>;

    /// Runs a plan: counts the documents that it finds, and returns `limit` hits from `offset` on.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn run(
        &self,
        plan: &Plan,
        order: Order,
        offset: usize,
        limit: usize,
    ) -> Result<Response, Error> {
        self.find(&Request {
            order,
            offset,
            limit,
            ..Request::new(plan)
        })
    }

    /// Counts the hits of a request in each of these ways. The page and the order of the request do not matter.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(Value, u64)>>, Error>;

    /// Returns the least and the greatest number of a field; `None` if no document has one.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error>;

    /// Returns a plan in which each stem is replaced by the forms of the word that the index has, and in which function
    /// words have their weight. [`Source::find`] does this too. Once limits are reached, the other forms are left out.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    fn expand(&self, plan: &Plan, limits: Option<&Arc<Limits>>) -> Result<Plan, Error>;

    /// Returns how the score of a hit of a plan is made up, as a tree in JSON.
    ///
    /// # Errors
    /// Fails if the document does not match the plan, or the index cannot be read.
    fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error>;

    /// Returns the engine's own form of a plan, for people who look into a search.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn engine_query(&self, plan: &Plan) -> Result<String, Error>;

    /// Counts what the index holds.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn statistics(&self) -> Result<Statistics, Error>;

    /// Returns the location of a document, without reading its text.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    fn location(&self, at: DocAddress) -> Result<Location, Error>;

    /// Returns the locations of documents, in the order of their addresses in `at`. This is faster than one after the other.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    fn locations(&self, at: &[DocAddress]) -> Result<Vec<Location>, Error> {
        at.iter().map(|at| self.location(*at)).collect()
    }

    /// Returns the document at a location, without a look at the locations of the other documents of its file.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn document_at(&self, location: &Location) -> Result<Option<DocAddress>, Error>;

    /// Returns the document at a location and its members, in no order, as [`Source::document_at`] finds one.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn documents_below(&self, location: &Location) -> Result<Vec<DocAddress>, Error>;

    /// Returns about how many words the body of a document has; 0 if that is not known.
    fn n_words(&self, at: DocAddress) -> u32;

    /// Returns a document. At most `max_threads` threads unpack a large body.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn document_by(&self, at: DocAddress, max_threads: usize) -> Result<Stored, Error>;

    /// Returns a document.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn document(&self, at: DocAddress) -> Result<Stored, Error> {
        self.document_by(at, 1)
    }

    /// Gives all documents to `each` until that returns false, in the engine's own order. It holds a page of them, however many
    /// there are.
    ///
    /// # Errors
    /// Fails if the index cannot be read, and as `each` does.
    fn each_document(&self, each: &mut EachDocument<'_>) -> Result<(), Error>;

    /// Returns documents in the order of their addresses in `at`. This is faster than one after the other.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn documents(&self, at: &[DocAddress]) -> Result<Vec<Stored>, Error>;

    /// Returns a document without its body.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error>;

    /// Returns a document without its body, and the body, which is not copied. At most `max_threads` threads unpack a
    /// large body. Nothing is kept in memory for the next document.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn document_and_body(
        &self,
        at: DocAddress,
        max_threads: usize,
    ) -> Result<(Stored, Body), Error>;
}
