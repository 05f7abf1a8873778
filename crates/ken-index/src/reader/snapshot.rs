//! One commit of an index, opened without a lock.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ken_core::{
    Document, Field, FieldKind, FileKey, FileRow, Kind, Location, Order, Pattern, Place, Plan,
    Ranking, Value,
};
use tantivy::columnar::BytesColumn;
use tantivy::error::DataCorruption;
use tantivy::store::StoreReader;
use tantivy::{DocId, ReloadPolicy, Searcher, TantivyError};

use super::open::{Access, is_outdated, open_engine};
use crate::collector::{FacetBy, facets};
use crate::columns::{DocumentColumns, FileState, catalogue};
use crate::dictionary::{self, Dictionaries, Matcher, Shortcuts, Similar, TermCount, TermList};
use crate::mail::{self, Mailbox, MessageId, MessageOfFile, Seen, links, mailbox};
use crate::postings::{Tally, files, keywords};
use crate::query::{self, Scoring};
use crate::record::DERIVED_STATES;
use crate::schema::{Columns, LOCATION};
use crate::search::{self, Hit, Request, Response};
use crate::stem::{self, Expander, Stemming};
use crate::store::Body;
use crate::store::body;
use crate::store::values::{self, StoredValue};
use crate::{DocAddress, Error, Meta};

/// How often opening is tried again when the writer deletes old files at the same moment.
const MAX_TRIES: usize = 20;

/// Blocks of stored documents that are kept unpacked for each segment: neighbours are in one, and several threads may
/// each read another.
const CACHED_BLOCKS: usize = 8;

/// One commit of an index. It stays as it is while others write.
pub struct Snapshot {
    path: PathBuf,
    columns: Columns,
    meta: Meta,
    pub(crate) searcher: Searcher,
    dictionaries: Dictionaries,
    pub(crate) shortcuts: Arc<Shortcuts>,
    ranking: Ranking,
    stemming: Stemming,
    scoring: OnceLock<Arc<Scoring>>,
    /// What is read of each document that is shown, by segment, once it was opened.
    locations: Vec<OnceLock<BytesColumn>>,
    columns_of: Vec<OnceLock<DocumentColumns>>,
    stores: Vec<OnceLock<StoreReader>>,
}

/// A document as the index keeps it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where it is.
    pub location: Location,
    /// What was extracted; the body is empty if it was not asked for.
    pub document: Document,
    /// Set on a file's own document.
    pub state: Option<FileState>,
}

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

impl Snapshot {
    /// Opens the last commit of the index in a folder.
    ///
    /// # Errors
    /// Fails with [`Error::Missing`] if there is no index, or none was committed, and if the
    /// index is damaged or of another version.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_for(Access::ManyQueries, path)
    }

    /// Opens the last commit for a process that asks it a query or two and ends, which takes some per cent less time
    /// than with [`Snapshot::open`]. Up to 128 files stay open, or a fourth of those that the process may have.
    ///
    /// # Errors
    /// Fails as [`Snapshot::open`] does.
    pub fn open_for_one_query(path: &Path) -> Result<Self, Error> {
        Self::open_for(Access::OneQuery, path)
    }

    fn open_for(access: Access, path: &Path) -> Result<Self, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::try_open(path, access) {
                Err(Error::Engine { source, .. }) if tries < MAX_TRIES && is_outdated(&source) => {}
                result => return result,
            }
        }
    }

    fn try_open(path: &Path, access: Access) -> Result<Self, Error> {
        let engine_error = |source| Error::Engine {
            path: path.to_path_buf(),
            source,
        };
        let (directory, index, meta) = open_engine(path, access)?;
        let columns = Columns::new();
        if index.schema() != columns.schema {
            return Err(Error::Damaged {
                path: path.to_path_buf(),
                message: "it has another schema".to_owned(),
            });
        }
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            // Stored documents are read by readers of our own.
            .doc_store_cache_num_blocks(0)
            .try_into()
            .map_err(engine_error)?;
        let searcher = reader.searcher();
        let segments = searcher.segment_readers();
        let locations = segments.iter().map(|_| OnceLock::new()).collect();
        let columns_of = segments.iter().map(|_| OnceLock::new()).collect();
        let stores = segments.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            path: path.to_path_buf(),
            dictionaries: Dictionaries::new(searcher.segment_readers(), &columns),
            shortcuts: Arc::new(Shortcuts::new(directory, &searcher)),
            columns,
            meta,
            searcher,
            ranking: Ranking::default(),
            stemming: Stemming::default(),
            scoring: OnceLock::new(),
            locations,
            columns_of,
            stores,
        })
    }

    /// Ranks by these weights from now on.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self.scoring = OnceLock::new();
        self
    }

    /// Finds words in other forms by the rules of these languages, in place of those that the
    /// documents are in; none for no other forms.
    ///
    /// # Errors
    /// Returns the first language that has no rules.
    pub fn with_stemming(mut self, languages: &[String]) -> Result<Self, String> {
        self.stemming = Stemming::new(languages)?;
        Ok(self)
    }

    /// Returns what the commit says about the index as a whole.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns how many documents there are.
    pub fn n_documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Returns what the commit knows of files, sorted by key.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn rows(&self) -> Result<Vec<FileRow>, Error> {
        let mut all = Vec::with_capacity(self.searcher.num_docs() as usize);
        self.each_row(|row, _| all.push(row))?;
        catalogue::unite(&mut all);
        Ok(all)
    }

    /// Calls `each` with what the commit knows of files, in no order, and with true; of one with parts also with rows of
    /// [`ken_core::Token::UNFINISHED`], and with false.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn each_row(&self, mut each: impl FnMut(FileRow, bool)) -> Result<(), Error> {
        for segment in self.searcher.segment_readers() {
            catalogue::read(segment, &mut each).map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    /// Returns the files of which a document is there more than once, which no run leaves; sorted.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn doubled(&self) -> Result<Vec<FileKey>, Error> {
        let segments = self.searcher.segment_readers();
        let doubled = catalogue::doubled(segments, &self.meta.hasher);
        doubled.map_err(|error| self.error(error))
    }

    /// Returns the path of each of these files, where the commit knows it.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn paths(&self, keys: &[FileKey]) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut paths = vec![None; keys.len()];
        for segment in self.searcher.segment_readers() {
            files::paths(segment, self.columns.file, keys, &mut paths)
                .map_err(|e| self.error(e))?;
        }
        Ok(paths)
    }

    /// Returns where a file is and what the commit knows of it, if it was indexed to its end.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn row(&self, key: FileKey) -> Result<Option<(Location, FileRow)>, Error> {
        self.row_among(key, &self.addresses(key)?)
    }

    /// Returns the same where the documents of the file are known.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn row_among(
        &self,
        key: FileKey,
        documents: &[DocAddress],
    ) -> Result<Option<(Location, FileRow)>, Error> {
        for at in documents {
            if let Some(FileState { token, identity }) = self.columns_of(at.segment)?.state(at.doc)
            {
                let row = FileRow {
                    key,
                    token,
                    identity,
                };
                return Ok(Some((self.location(*at)?, row)));
            }
        }
        Ok(None)
    }

    /// Returns where the documents of a file stand.
    ///
    /// # Errors
    /// Fails if the postings cannot be read.
    pub fn addresses(&self, key: FileKey) -> Result<Vec<DocAddress>, Error> {
        let mut addresses = Vec::new();
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let keys = &self.columns_of(ordinal)?.keys;
            let terms = segment.inverted_index(self.columns.file);
            let terms = terms.map_err(|e| self.error(e))?;
            files::each_among(&terms, self.columns.file, keys, [(key, ())], |doc, ()| {
                if !segment.is_deleted(doc) {
                    addresses.push(DocAddress {
                        segment: ordinal,
                        doc,
                    });
                }
            })
            .map_err(|e| self.error(e))?;
        }
        Ok(addresses)
    }

    /// Answers a request: counts all that it finds, and returns the hits of its page.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn find(&self, request: &Request<'_>) -> Result<Response, Error> {
        let plan = self.expand(request.plan)?;
        let request = Request {
            plan: &plan,
            ..*request
        };
        search::run(&self.searcher, &self.scoring(), &request).map_err(|e| self.error(e))
    }

    /// Runs a plan: counts all that it finds, and returns `limit` hits from `offset` on.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn run(
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

    /// Counts what a request finds, by each of these; the page and the order do not matter.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(Value, u64)>>, Error> {
        let plan = self.expand(request.plan)?;
        let request = Request {
            plan: &plan,
            ..*request
        };
        let query = request.query(&self.scoring());
        let limits = request.limits.map(|limits| &**limits);
        facets::count(&self.searcher, &*query, by, limits).map_err(|e| self.error(e))
    }

    /// Returns the values that some text fields have in what a plan finds, in no order; see [`Seen`].
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn seen(&self, plan: &Plan, fields: &[Field]) -> Result<Vec<Seen>, Error> {
        let plan = self.expand(plan)?;
        let query = query::build(&self.scoring(), &plan);
        mail::contacts::seen(&self.searcher, &*query, fields).map_err(|e| self.error(e))
    }

    /// Returns the least and the greatest number of a field; `None` if no document has one.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    pub fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error> {
        facets::extent(&self.searcher, field).map_err(|e| self.error(e))
    }

    /// Returns a plan with the forms of a word that the index has in place of its stem, and with the
    /// weight of words that only serve a sentence.
    ///
    /// [`Snapshot::run`] does it too; who shows what was found wants to know the forms.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn expand(&self, plan: &Plan) -> Result<Plan, Error> {
        if !stem::may_change(plan) {
            return Ok(plan.clone());
        }
        let segments = self.searcher.segment_readers();
        let expander = Expander::new(
            &self.stemming,
            &self.ranking,
            &self.columns,
            segments,
            &self.shortcuts,
        );
        expander.plan(plan).map_err(|e| self.error(e))
    }

    fn scoring(&self) -> Arc<Scoring> {
        let new = || {
            let segments = self.searcher.segment_readers();
            let names = self.meta.field_names();
            let shortcuts = &self.shortcuts;
            let scoring = Scoring::new(segments, &self.columns, names, &self.ranking, shortcuts);
            Arc::new(scoring)
        };
        Arc::clone(self.scoring.get_or_init(new))
    }

    /// Returns the documents of the message that one of them is or is a part of, with that one, in
    /// the order of addresses; of a file outside of messages, all that are in none.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn message_of(&self, at: DocAddress) -> Result<Vec<DocAddress>, Error> {
        links::message_of(&self.searcher, self.columns.file, at).map_err(|e| self.error(e))
    }

    /// Returns what the commit has of a mailbox, by its file.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn mailbox(&self, key: FileKey) -> Result<Mailbox, Error> {
        mailbox::read(&self.searcher, &self.columns, key).map_err(|e| self.error(e))
    }

    /// Returns where a message of a file stands, if it can be read from there. The file may have changed.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn place_of(&self, key: FileKey, message: MessageId) -> Result<Option<Place>, Error> {
        mailbox::place_of(&self.searcher, &self.columns, key, message).map_err(|e| self.error(e))
    }

    /// Returns which file and message documents are in; their order is that of the addresses.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn messages_at(&self, places: &[DocAddress]) -> Result<Vec<MessageOfFile>, Error> {
        mailbox::messages_at(&self.searcher, places).map_err(|e| self.error(e))
    }

    /// Returns the documents of messages, which are in order, for each of them; of no message those of the
    /// file that are in none.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    pub fn documents_of(&self, messages: &[MessageOfFile]) -> Result<Vec<Vec<DocAddress>>, Error> {
        mailbox::documents_of(&self.searcher, self.columns.file, messages)
            .map_err(|e| self.error(e))
    }

    /// Returns the message that a document is or is a part of; none if it is in none.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn carrier(&self, at: DocAddress) -> Result<Option<DocAddress>, Error> {
        links::carrier(&self.searcher, self.columns.file, at).map_err(|e| self.error(e))
    }

    /// Returns all messages in the threads of some documents, with those documents, in no order.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn threads(&self, of: &[DocAddress]) -> Result<Vec<DocAddress>, Error> {
        links::threads(&self.searcher, &self.columns, of.iter().copied()).map_err(|e| self.error(e))
    }

    /// Returns the numbers of a message and of the messages that it names as those before it, its
    /// own first; none for what is no message. A message has the same number in every snapshot.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    pub fn links(&self, at: DocAddress) -> Result<Vec<u64>, Error> {
        let segment = self.searcher.segment_reader(at.segment);
        links::read(segment, at.doc).map_err(|e| self.error(e))
    }

    /// Returns the location of a document, without reading its text.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    pub fn location(&self, at: DocAddress) -> Result<Location, Error> {
        let column = self.location_column(at.segment)?;
        let mut bytes = Vec::new();
        if let Some(ordinal) = column.ords().first(at.doc) {
            column
                .ord_to_bytes(ordinal, &mut bytes)
                .map_err(|e| self.error(e.into()))?;
        }
        Ok(Location::from_bytes(&bytes))
    }

    pub(super) fn location_column(&self, segment: u32) -> Result<&BytesColumn, Error> {
        let place = &self.locations[segment as usize];
        if let Some(opened) = place.get() {
            return Ok(opened);
        }
        let columns = self.searcher.segment_reader(segment).fast_fields();
        let column = columns.bytes(LOCATION).map_err(|e| self.error(e))?;
        let column = column.ok_or_else(|| Error::Damaged {
            path: self.path.clone(),
            message: "a segment has no locations".to_owned(),
        })?;
        Ok(place.get_or_init(|| column))
    }

    fn store(&self, segment: u32) -> Result<&StoreReader, Error> {
        let place = &self.stores[segment as usize];
        if let Some(opened) = place.get() {
            return Ok(opened);
        }
        let reader = self.searcher.segment_reader(segment);
        let opened = reader.get_store_reader(CACHED_BLOCKS);
        let opened = opened.map_err(|error| self.error(error.into()))?;
        Ok(place.get_or_init(|| opened))
    }

    pub(super) fn columns_of(&self, segment: u32) -> Result<&DocumentColumns, Error> {
        let place = &self.columns_of[segment as usize];
        if let Some(opened) = place.get() {
            return Ok(opened);
        }
        let reader = self.searcher.segment_reader(segment);
        let opened = DocumentColumns::open(reader).map_err(|e| self.error(e))?;
        Ok(place.get_or_init(|| opened))
    }

    /// Returns how many words the body of a document has, about; 0 if that is not known.
    pub fn n_words(&self, at: DocAddress) -> u32 {
        let segment = self.searcher.segment_reader(at.segment);
        let lengths = segment.get_fieldnorms_reader(self.columns.of(Field::Body));
        let lengths = lengths.ok().filter(|lengths| at.doc < lengths.num_docs());
        lengths.map_or(0, |lengths| lengths.fieldnorm(at.doc))
    }

    /// Returns a document.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn document(&self, at: DocAddress) -> Result<Stored, Error> {
        self.document_by(at, 1)
    }

    /// Returns a document whose body, if it is large, is unpacked by so many threads at most.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn document_by(&self, at: DocAddress, max_threads: usize) -> Result<Stored, Error> {
        let (mut stored, body) = self.read(at, self.store(at.segment)?, Some(max_threads))?;
        stored.document.body = body.into_string();
        Ok(stored)
    }

    /// Returns a document without its body, which is not unpacked if it is large.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error> {
        let (stored, _) = self.read(at, &self.uncached_store(at.segment)?, None)?;
        Ok(stored)
    }

    /// Returns a document without its body, and the body, which is not copied. What was unpacked for it is not kept,
    /// so that its memory serves for the next.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn document_and_body(
        &self,
        at: DocAddress,
        max_threads: usize,
    ) -> Result<(Stored, Body), Error> {
        self.read(at, &self.uncached_store(at.segment)?, Some(max_threads))
    }

    fn uncached_store(&self, segment: u32) -> Result<StoreReader, Error> {
        let store = self.searcher.segment_reader(segment).get_store_reader(0);
        store.map_err(|error| self.error(error.into()))
    }

    fn read(
        &self,
        at: DocAddress,
        store: &StoreReader,
        unpackers: Option<usize>,
    ) -> Result<(Stored, Body), Error> {
        let location = self.location(at)?;
        let mut document = Document::new(location.ipath.clone(), "", Kind::Other);
        let body = self.fill(&mut document, store, at.doc, unpackers)?;
        let columns = self.columns_of(at.segment)?;
        columns.fill(at.doc, &mut document);
        let stored = Stored {
            location,
            document,
            state: columns.state(at.doc),
        };
        Ok((stored, body))
    }

    /// Gives a document the values that are stored of it, and returns the body, a large one by so many threads at most
    /// or not at all.
    pub(super) fn fill(
        &self,
        document: &mut Document,
        store: &StoreReader,
        doc: DocId,
        unpackers: Option<usize>,
    ) -> Result<Body, Error> {
        let damaged = || {
            let message = "a stored document cannot be read";
            self.error(DataCorruption::comment_only(message).into())
        };
        let bytes = store.get_document_bytes(doc).map_err(|e| self.error(e))?;
        let mut body = Body::default();
        for (column, value) in values::values(&bytes).ok_or_else(damaged)? {
            match (self.columns.field(column), value) {
                (Some(Field::Body), StoredValue::Bytes(packed)) => {
                    if let Some(max_threads) = unpackers {
                        let unpacked = body::unpacked(packed, max_threads);
                        body = Body::unpacked(unpacked.ok_or_else(damaged)?);
                    }
                }
                (Some(Field::Body), StoredValue::Text(text)) => body = Body::within(&bytes, text),
                (Some(field), value) => put(document, field, value),
                (None, StoredValue::Text(json)) if column == self.columns.failure => {
                    document.failure = serde_json::from_str(json).ok();
                }
                (None, _) => {}
            }
        }
        Ok(body)
    }

    /// Returns the terms of a field that a pattern means, with the number of documents of each:
    /// the `limit` most frequent, and how many there are.
    ///
    /// Documents that were deleted and not yet merged away are counted.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read, or an expression is wrong.
    pub fn terms(
        &self,
        field: Field,
        pattern: &Pattern,
        limit: usize,
    ) -> Result<(Vec<(String, u64)>, usize), Error> {
        let column = self.columns.of(field);
        let segments = self.searcher.segment_readers();
        dictionary::frequent(segments, &self.shortcuts, column, pattern, limit)
            .map_err(|e| self.error(e))
    }

    /// Calls `each` with terms and their counts, in the order of the terms' bytes, until it breaks
    /// off. Documents that were deleted are not counted.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read, or an expression is wrong.
    pub fn list_terms(
        &self,
        list: &TermList<'_>,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        Matcher::new(list.pattern)
            .and_then(|matcher| dictionary::each(&self.dictionaries, list, &matcher, each))
            .map_err(|e| self.error(e))
    }

    /// Returns the terms of these fields that are most like a word, the best first, without the
    /// word itself.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read.
    pub fn similar_terms(
        &self,
        fields: &[Field],
        word: &str,
        limit: usize,
    ) -> Result<Vec<Similar>, Error> {
        dictionary::similar(&self.dictionaries, fields, word, limit).map_err(|e| self.error(e))
    }

    /// Returns in how many documents a field has a term, those that were deleted and not yet
    /// merged away among them: one look-up for each segment, without a lock or an allocation.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read.
    pub fn n_documents_with(&self, field: Field, term: &str) -> Result<u64, Error> {
        self.dictionaries
            .n_documents(field, term)
            .map_err(|e| self.error(e))
    }

    /// Returns how the score of a hit of the plan comes about, as the engine's own tree in JSON.
    ///
    /// # Errors
    /// Fails if the document does not match the plan, or the index cannot be read.
    pub fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        let words = query::build(&self.scoring(), &self.expand(plan)?)
            .explain(&self.searcher, hit.address.into())
            .map_err(|e| self.error(e))?;
        Ok(hit.boosts.explained(words).to_pretty_json())
    }

    /// Returns the engine's query for a plan, for `--explain`.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn engine_query(&self, plan: &Plan) -> Result<String, Error> {
        let query = query::build(&self.scoring(), &self.expand(plan)?);
        Ok(format!("{query:?}"))
    }

    /// Counts what the index holds.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let bytes = self.searcher.space_usage()?;
        let segments = self.searcher.segment_readers();
        Ok(Statistics {
            tallies: keywords::tally(segments, &self.columns).map_err(|e| self.error(e))?,
            segments: segments.len(),
            bytes: bytes.total().get_bytes() + self.shortcuts.n_bytes(),
        })
    }

    /// Returns the files of which any document has, in a field of keywords, a value that is
    /// accepted; in the order of their keys, each once.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn files_with(
        &self,
        field: Field,
        accepts: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<FileKey>, Error> {
        let segments = self.searcher.segment_readers();
        keywords::files_with(segments, self.columns.of(field), accepts).map_err(|e| self.error(e))
    }

    pub(super) fn error(&self, source: TantivyError) -> Error {
        match source {
            // The index is not to blame.
            TantivyError::InvalidArgument(message) => Error::Query(message),
            source => Error::Engine {
                path: self.path.clone(),
                source,
            },
        }
    }
}

/// Puts a stored value where the document has it.
fn put(document: &mut Document, field: Field, value: StoredValue<'_>) {
    use StoredValue::{Signed, Text};
    match (field, value) {
        (Field::Mime, Text(text)) => document.media_type = text.to_owned(),
        (Field::Type, Text(text)) => document.kind = text.parse().unwrap_or(Kind::Other),
        // Derived from the rest again when the document is written.
        (Field::Ext, _) => {}
        (Field::Is, Text(text)) if DERIVED_STATES.contains(&text) => {}
        (field, Text(text)) if field.info().kind != FieldKind::Path => {
            document.fields.push((field, Value::Text(text.to_owned())));
        }
        (field, Signed(number)) => document.fields.push((field, Value::Number(number))),
        _ => {}
    }
}
