//! Which messages are in one thread: those that name each other, or a message that all of them name.
//!
//! A message names itself and the messages before it (RFC 5322 section 3.6.4). The index keeps these
//! identifiers as numbers, in a column and as terms, so that a thread is followed from any of its
//! messages in both directions, whatever order they came in and whichever of them are missing.
//! Nothing is kept of threads as such: there is nothing to be merged when a message arrives that
//! joins two of them, and an update costs nothing.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hasher;

use ken_core::{Document, Field, FileKey, Kind, Location, Value};
use siphasher::sip::SipHasher13;
use tantivy::columnar::Column as ValueColumn;
use tantivy::index::SegmentReader;
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocId, DocSet, InvertedIndexReader, Searcher, TERMINATED, Term};

use crate::DocAddress;
use crate::doc_address::AddressParts;
use crate::limits::{Limits, Pace, reached};
use crate::postings::files;
use crate::schema::{Columns, KEY, LINKS, MESSAGE};

/// If this share of the documents of a segment would be looked up by terms, its column is read instead.
const SHARE_OF_TERMS: usize = 16;

/// Returns the numbers of a message and of the messages that it names, its own first. Returns none for documents that
/// are not messages, and for attached messages, whose thread is that of the outer message.
pub(crate) fn of(location: &Location, document: &Document) -> Vec<u64> {
    if document.kind != Kind::Message || is_attached(document) {
        return Vec::new();
    }
    // Without an identifier it is in a thread of its own, or in that of what it answers.
    let own = match document.text(Field::Msgid) {
        Some(id) => hash(id.as_bytes()),
        None => hash(&location.to_bytes()),
    };
    let mut links = vec![own];
    for (field, value) in &document.fields {
        if let (Field::References, Value::Text(id)) = (field, value) {
            let link = hash(id.as_bytes());
            if !links.contains(&link) {
                links.push(link);
            }
        }
    }
    links
}

fn is_attached(document: &Document) -> bool {
    let attached = Value::Text("attachment".to_owned());
    let is_state = |(field, value): &(Field, Value)| *field == Field::Is && *value == attached;
    document.fields.iter().any(is_state)
}

/// The same for ever: it is on disk. Two identifiers of a million have the same number with a chance
/// of 3·10⁻⁸.
fn hash(id: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(id);
    hasher.finish()
}

/// Returns what the term of a number is made of: half of it makes a smaller dictionary, as in
/// [`crate::postings::files`].
pub(crate) fn half(link: u64) -> u64 {
    link >> 32
}

/// Returns the numbers of a document, its own first.
pub(crate) fn read(segment: &SegmentReader, doc: DocId) -> tantivy::Result<Vec<u64>> {
    let column = segment.fast_fields().u64(LINKS)?;
    Ok(column.values_for_doc(doc).collect())
}

/// Returns the messages that have one of these numbers, in the order of addresses.
pub(crate) fn linked(
    searcher: &Searcher,
    column: Column,
    numbers: &[u64],
) -> tantivy::Result<Vec<DocAddress>> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    let mut found = BTreeSet::new();
    for (number, reader) in (0..).zip(searcher.segment_readers()) {
        let segment = Segment::open(number, reader, column)?;
        let documents = segment.with(&numbers, None)?.into_iter();
        found.extend(documents.map(|doc| DocAddress::at(number, doc)));
    }
    Ok(found.into_iter().collect())
}

/// Returns the documents of the message that one of them is or is a part of, with that one, in the
/// order of addresses; of a file outside of messages, all that are in none.
pub(crate) fn siblings(
    searcher: &Searcher,
    file: Column,
    at: DocAddress,
) -> tantivy::Result<Vec<DocAddress>> {
    let of = |segment: &SegmentReader, column, doc| {
        let column = segment.fast_fields().u64(column)?;
        tantivy::Result::Ok(column.first(doc))
    };
    let segment = searcher.segment_reader(at.segment());
    let key = FileKey(of(segment, KEY, at.doc())?.unwrap_or_default());
    let message = of(segment, MESSAGE, at.doc())?;
    let mut documents = Vec::new();
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let messages = segment.fast_fields().u64(MESSAGE)?;
        files::each_document(segment, file, [(key, ())], |doc, ()| {
            if !segment.is_deleted(doc) && messages.first(doc) == message {
                documents.push(DocAddress::at(number, doc));
            }
        })?;
    }
    Ok(documents)
}

/// Returns the message that a document is or is a part of; none if it is in none.
pub(crate) fn carrier(
    searcher: &Searcher,
    file: Column,
    at: DocAddress,
) -> tantivy::Result<Option<DocAddress>> {
    let is_message = |at: &DocAddress| {
        let column = searcher
            .segment_reader(at.segment())
            .fast_fields()
            .u64(LINKS)?;
        tantivy::Result::Ok(column.first(at.doc()).is_some())
    };
    if is_message(&at)? {
        return Ok(Some(at));
    }
    for other in siblings(searcher, file, at)? {
        if is_message(&other)? {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Returns the messages that carry one of some documents, in the order of addresses. A document in no message has none,
/// nor has a message by itself. Once limits are reached, the other documents are left out.
pub(crate) fn carriers(
    searcher: &Searcher,
    file: Column,
    of: impl IntoIterator<Item = DocAddress>,
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<DocAddress>> {
    let columns = searcher.segment_readers().iter().map(|segment| {
        let columns = segment.fast_fields();
        tantivy::Result::Ok((columns.u64(MESSAGE)?, columns.u64(LINKS)?))
    });
    let columns = columns.collect::<tantivy::Result<Vec<_>>>()?;
    let mut found = BTreeSet::new();
    let mut pace = Pace::default();
    for address in of {
        if pace.step(limits) {
            break;
        }
        let (messages, links) = &columns[address.segment() as usize];
        let is_carried =
            messages.first(address.doc()).is_some() && links.first(address.doc()).is_none();
        if is_carried {
            found.extend(carrier(searcher, file, address)?);
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns all messages in the threads of some documents, in the order of addresses. A document in no message is a thread
/// of its own. Once limits are reached, the other messages are left out.
pub(crate) fn threads(
    searcher: &Searcher,
    columns: &Columns,
    of: impl IntoIterator<Item = DocAddress>,
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<DocAddress>> {
    let segments = (0..).zip(searcher.segment_readers());
    let segments = segments.map(|(number, reader)| Segment::open(number, reader, columns.link));
    let mut search = Search {
        segments: segments.collect::<tantivy::Result<Vec<_>>>()?,
        known: HashSet::new(),
        found: BTreeSet::new(),
        new: Vec::new(),
        limits,
    };
    let mut pace = Pace::default();
    for address in of {
        if pace.step(limits) {
            break;
        }
        // A file that is attached is in the thread of its message.
        let carrier = carrier(searcher, columns.file, address)?;
        search.found(carrier.unwrap_or(address));
    }
    search.follow()?;
    Ok(search.found.into_iter().collect())
}

struct Segment<'s> {
    number: u32,
    reader: &'s SegmentReader,
    terms: std::sync::Arc<InvertedIndexReader>,
    links: ValueColumn<u64>,
    column: Column,
}

impl<'s> Segment<'s> {
    fn open(number: u32, reader: &'s SegmentReader, column: Column) -> tantivy::Result<Self> {
        Ok(Self {
            number,
            reader,
            terms: reader.inverted_index(column)?,
            links: reader.fast_fields().u64(LINKS)?,
            column,
        })
    }

    /// Returns the messages that have one of these numbers, which are sorted, until limits are reached.
    fn with(&self, links: &[u64], limits: Option<&Limits>) -> tantivy::Result<Vec<DocId>> {
        let mut pace = Pace::default();
        let has = |doc: &DocId| {
            let own = self.links.values_for_doc(*doc);
            !self.reader.is_deleted(*doc) && { own }.any(|link| links.binary_search(&link).is_ok())
        };
        if links.len() > self.reader.max_doc() as usize / SHARE_OF_TERMS {
            let documents = (0..self.reader.max_doc()).take_while(|_| !pace.step(limits));
            return Ok(documents.filter(has).collect());
        }
        let mut found = Vec::new();
        for link in links {
            if pace.step(limits) {
                break;
            }
            let term = Term::from_field_u64(self.column, half(*link));
            let postings = self.terms.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else {
                continue;
            };
            while postings.doc() != TERMINATED {
                found.extend(Some(postings.doc()).filter(has));
                postings.advance();
            }
        }
        Ok(found)
    }
}

struct Search<'s> {
    segments: Vec<Segment<'s>>,
    known: HashSet<u64>,
    found: BTreeSet<DocAddress>,
    /// Numbers whose messages were not looked for yet.
    new: Vec<u64>,
    limits: Option<&'s Limits>,
}

impl Search<'_> {
    fn found(&mut self, address: DocAddress) {
        if self.found.insert(address) {
            let links = &self.segments[address.segment() as usize].links;
            let links = links.values_for_doc(address.doc());
            self.new
                .extend(links.filter(|link| self.known.insert(*link)));
        }
    }

    fn follow(&mut self) -> tantivy::Result<()> {
        while !self.new.is_empty() && !reached(self.limits) {
            let mut links = std::mem::take(&mut self.new);
            links.sort_unstable();
            for at in 0..self.segments.len() {
                let segment = &self.segments[at];
                let number = segment.number;
                for doc in segment.with(&links, self.limits)? {
                    self.found(DocAddress::at(number, doc));
                }
            }
        }
        Ok(())
    }
}
