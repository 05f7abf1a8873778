//! What the index holds of a document, as plain data: for an engine that cannot run ken's analysis.
//!
//! The terms, their positions, the lengths and the values in columns are those that the segment builder writes
//! ([`crate::segment`]), so a search for the shipped terms finds what a search of the embedded engine finds. A test
//! compares both.

use std::collections::BTreeMap;

use ken_core::{Document, Field, FieldKind, Kind};
use ken_engine::{Record, Sequence, Stored};
use tantivy::schema::OwnedValue;

use crate::analysis::{self, BORDER};
use crate::columns::value;
use crate::reader::documents::put;
use crate::record;
use crate::schema::{Columns, FOLDER};
use crate::segment::{VALUE_GAP, texts};
use crate::store::values::StoredValue;

/// A term and its position in a field. Several terms may share a position.
pub type Position = (u32, String);

/// What the index holds of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shipped {
    /// By field of text or of a path: its terms in the order of their positions, with the borders of values.
    pub texts: BTreeMap<Field, Vec<Position>>,
    /// The words of the folders above the file.
    pub folder: Vec<Position>,
    /// By field of text: the number of its terms, without borders.
    pub lengths: BTreeMap<Field, u32>,
    /// By field of keywords: its terms.
    pub keywords: BTreeMap<Field, Vec<String>>,
    /// By field with a column of texts: the values, as they are sorted.
    pub columns: BTreeMap<Field, Vec<String>>,
    /// By field of numbers: the values.
    pub numbers: BTreeMap<Field, Vec<i64>>,
    /// The number of a message, and those of the messages that it names; see [`ken_engine::Mail::links`].
    pub links: Vec<u64>,
}

/// Returns what the index holds of a record.
///
/// # Errors
/// Fails if there is no memory for it.
pub fn ship(record: Record) -> Result<Shipped, ken_engine::Error> {
    let columns = Columns::new();
    let row = record::row(record, &columns, Sequence(0))?;
    let mut shipped = Shipped::default();
    for (column, value) in row.searched() {
        let name = columns.schema.get_field_name(*column);
        match (columns.field(*column), value) {
            (Some(field), OwnedValue::Str(text)) => shipped.text(field, text),
            (Some(field), OwnedValue::I64(number)) => {
                shipped.numbers.entry(field).or_default().push(*number);
            }
            (None, OwnedValue::Str(text)) if name == FOLDER => {
                let mut tokens = Tokens::new(&mut shipped.folder, false);
                analysis::analyze(Field::Body, text, |term, at, _| tokens.add(term, at));
                tokens.end();
            }
            (None, OwnedValue::Str(text)) => {
                let field = Field::all().find(|of| columns.values_of(*of) == Some(*column));
                if let Some(field) = field {
                    shipped.columns.entry(field).or_default().push(text.clone());
                }
            }
            (None, OwnedValue::U64(number)) if *column == columns.links => {
                shipped.links.push(*number);
            }
            _ => {}
        }
    }
    Ok(shipped)
}

/// Returns a record as a search gives it back.
///
/// # Errors
/// Fails if there is no memory for it.
pub fn kept(record: Record) -> Result<Stored, ken_engine::Error> {
    let columns = Columns::new();
    let (location, state) = (record.location.clone(), record.state);
    let mut document = Document::new(location.ipath.clone(), "", Kind::Other);
    document.failure.clone_from(&record.document.failure);
    document.content = record.document.content;
    document.message = record.document.message;
    document.span = record.document.span;
    let row = record::row(record, &columns, Sequence(0))?;
    for (column, value) in row.all() {
        match (columns.field(*column), value) {
            (Some(Field::Body), OwnedValue::Str(text)) => document.body.clone_from(text),
            (Some(field), OwnedValue::Str(text)) => {
                put(&mut document, field, StoredValue::Text(text));
            }
            (Some(field), OwnedValue::I64(number)) => {
                put(&mut document, field, StoredValue::Signed(*number));
            }
            _ => {}
        }
    }
    Ok(Stored {
        location,
        document,
        state,
    })
}

/// Returns a value of [`Shipped::columns`] as it was written, and the part that values have in common which count as one.
pub fn written(value: &str) -> (String, &str) {
    (value::written(value).into_owned(), value::common(value))
}

impl Shipped {
    fn text(&mut self, field: Field, text: &str) {
        let kind = field.info().kind;
        if kind == FieldKind::Keyword {
            let terms = self.keywords.entry(field).or_default();
            analysis::analyze(field, text, |term, _, _| terms.push(term.to_owned()));
            return;
        }
        let known = self.texts.entry(field).or_default();
        // Each text of a body is a value of its own, so that no phrase matches over two.
        let values: Vec<&str> = match field {
            Field::Body => texts(text).collect(),
            _ => vec![text],
        };
        for value in values {
            let mut tokens = Tokens::new(known, kind == FieldKind::Text);
            analysis::analyze(field, value, |term, at, _| tokens.add(term, at));
            let n_terms = tokens.end();
            if kind == FieldKind::Text {
                *self.lengths.entry(field).or_default() += n_terms;
            }
        }
    }
}

/// The tokens of one value; see `segment::postings::Value`.
struct Tokens<'t> {
    all: &'t mut Vec<Position>,
    has_borders: bool,
    base: u32,
    end: u32,
    n_terms: u32,
}

impl<'t> Tokens<'t> {
    fn new(all: &'t mut Vec<Position>, has_borders: bool) -> Self {
        let last = all.last().map(|(at, _)| *at);
        // Neighbouring values share a border.
        let mut base = match last {
            None => 0,
            Some(last) => last + 1 + if has_borders { 0 } else { VALUE_GAP },
        };
        if has_borders && base == 0 {
            all.push((0, BORDER.to_owned()));
            base = 1;
        }
        Self {
            all,
            has_borders,
            base,
            end: base,
            n_terms: 0,
        }
    }

    fn add(&mut self, term: &str, at: u32) {
        let at = self.base + at;
        self.all.push((at, term.to_owned()));
        self.end = at + 1;
        self.n_terms += 1;
    }

    fn end(self) -> u32 {
        // Without a token the border would be the beginning of another value.
        if self.has_borders && self.end > self.base {
            self.all.push((self.end, BORDER.to_owned()));
        }
        self.n_terms
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{FileKey, Ipath, Location, Order, Plan, TEXT_SEPARATOR};
    use ken_engine::{Sink, Source};
    use tantivy::schema::IndexRecordOption;
    use tantivy::{DocSet, postings::Postings};

    use super::*;
    use crate::{Snapshot, Writer, WriterOptions};

    fn record() -> Record {
        let mut document = Document::new(Ipath::root(), "message/rfc822", Kind::Message);
        document.add_text(Field::Title, "Re: parseHTTPHeader in e-mail");
        document.add_text(Field::Author, "Anna <anna@example.org>");
        document.add_text(Field::To, "Émile <e@example.org>");
        document.add_text(Field::To, "Zoe <z@example.org>");
        document.add_text(Field::Keywords, "");
        document.add_text(Field::Lang, "en-GB");
        document.add_text(Field::Msgid, "1@x");
        document.add_text(Field::References, "0@x");
        document.add_text(Field::Filename, "a.txt");
        document.add_number(Field::Size, 10);
        document.body = format!("{TEXT_SEPARATOR}the iPhone camera{TEXT_SEPARATOR}日本語 camera");
        Record {
            location: Location::file("/home/My Docs/x/a.txt"),
            key: FileKey(9),
            state: None,
            document,
        }
    }

    /// Returns the terms of a field of the only document of an index, in the order of their positions.
    fn positions(snapshot: &Snapshot, column: tantivy::schema::Field) -> Vec<Position> {
        let segment = snapshot.searcher.segment_reader(0);
        let index = segment.inverted_index(column).unwrap();
        let mut terms = index.terms().stream().unwrap();
        let mut all = Vec::new();
        while terms.advance() {
            let term = String::from_utf8(terms.key().to_vec()).unwrap();
            let option = IndexRecordOption::WithFreqsAndPositions;
            let mut postings = index
                .read_postings_from_terminfo(terms.value(), option)
                .unwrap();
            assert_eq!(postings.doc(), 0);
            let mut at = Vec::new();
            postings.positions(&mut at);
            all.extend(at.into_iter().map(|at| (at, term.clone())));
        }
        all.sort();
        all
    }

    #[test]
    fn what_is_shipped_is_what_a_segment_has() {
        let folder = tempfile::tempdir().unwrap();
        let few = WriterOptions {
            memory_bytes: 0,
            threads: 1,
        };
        let writer = Writer::open(folder.path(), few).unwrap();
        writer.add(record()).unwrap();
        writer.commit(&writer.meta().clone()).unwrap();
        writer.close().unwrap();
        let snapshot = Snapshot::open(folder.path()).unwrap();
        let columns = Columns::new();
        let shipped = ship(record()).unwrap();
        assert!(shipped.texts.len() > 5, "{shipped:?}");
        for (field, mut terms) in shipped.texts {
            terms.sort();
            assert_eq!(terms, positions(&snapshot, columns.of(field)), "{field:?}");
            let length = shipped.lengths.get(&field);
            let borders = terms.iter().filter(|(_, term)| term == BORDER).count();
            let is_text = field.info().kind == FieldKind::Text;
            let expected = is_text.then(|| (terms.len() - borders) as u32);
            assert_eq!(length.copied(), expected, "{field:?}");
        }
        let found = snapshot.run(&Plan::All, Order::default(), 0, 1).unwrap();
        let mut stored = snapshot.document(found.hits[0].address).unwrap();
        let mut again = kept(record()).unwrap();
        // A document has its fields in no order.
        stored
            .document
            .fields
            .sort_by_key(|field| format!("{field:?}"));
        again
            .document
            .fields
            .sort_by_key(|field| format!("{field:?}"));
        assert_eq!(again.document, stored.document);
        assert_eq!(
            (again.location, again.state),
            (stored.location, stored.state)
        );
        assert_eq!(shipped.keywords[&Field::Lang], ["en-gb", "en"]);
        assert_eq!(shipped.numbers[&Field::Size], [10]);
        assert_eq!(shipped.columns[&Field::Dir], ["/home/My Docs/x"]);
        assert_eq!(shipped.links.len(), 2);
        let words: Vec<&str> = shipped.folder.iter().map(|(_, term)| &**term).collect();
        assert_eq!(words, ["home", "my", "docs", "x"]);
    }
}
