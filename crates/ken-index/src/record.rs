//! One document with all that the index keeps of it, as the engine takes it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::custom::CUSTOM_FIELDS;
use ken_core::{
    Document, FIELDS, Failure, Field, Kind, Reason, Value, escape_bytes, extension, language,
};
use ken_engine::{MessageId, Record, Sequence};
use tantivy::schema::{Document as EngineDocument, Field as Column, OwnedValue};

use crate::analysis;
use crate::columns::value;
use crate::mail::links;
use crate::postings::files;
use crate::schema::Columns;
use crate::store::body;

/// A record as the engine reads it.
pub(crate) struct Row {
    values: Vec<(Column, OwnedValue)>,
    /// The number of values that are searched; the others, at the end, are only stored.
    n_searched: usize,
    /// The body as it is stored, if not as it is ([`crate::store::body`]).
    packed: Option<(Column, OwnedValue)>,
}

impl EngineDocument for Row {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = RowValues<'a>;

    fn iter_fields_and_values(&self) -> RowValues<'_> {
        RowValues {
            values: self.values.iter(),
            packed: self.packed.as_ref(),
        }
    }
}

impl Row {
    /// Returns the values that are searched, with their columns, in no order.
    pub(crate) fn searched(&self) -> &[(Column, OwnedValue)] {
        &self.values[..self.n_searched]
    }

    /// Returns all values, with their columns.
    pub(crate) fn all(&self) -> &[(Column, OwnedValue)] {
        &self.values
    }

    /// Adds a number.
    pub(crate) fn push(&mut self, column: Column, number: u64) {
        self.values.push((column, OwnedValue::U64(number)));
    }
}

/// The values of a [`Row`] as they are stored.
pub(crate) struct RowValues<'a> {
    values: std::slice::Iter<'a, (Column, OwnedValue)>,
    packed: Option<&'a (Column, OwnedValue)>,
}

impl<'a> Iterator for RowValues<'a> {
    type Item = (Column, &'a OwnedValue);

    fn next(&mut self) -> Option<Self::Item> {
        let (column, value) = self.values.next()?;
        let packed = self.packed.filter(|(packed, _)| packed == column);
        Some((*column, packed.map_or(value, |(_, value)| value)))
    }
}

/// Returns what the engine keeps of a record that was added at a moment.
///
/// # Errors
/// Fails if there is no memory for it.
pub(crate) fn row(record: Record, columns: &Columns, moment: Sequence) -> io::Result<Row> {
    let Record {
        location,
        key,
        state,
        document,
    } = record;
    let mut values = Values::with_capacity(columns, document.fields.len());
    values.number(columns.key, key.0);
    values.number(columns.file, files::half(key));
    values.number(columns.sequence, moment.0);
    values.add(columns.location, OwnedValue::Bytes(location.to_bytes()));
    if let Some(state) = state {
        values.number(columns.stamp, state.token.number());
        values.number(columns.identity, state.identity);
    }
    if let Some(content) = document.content {
        values.number(columns.content, content);
    }
    if let Some(components) = document.message {
        let message = MessageId::of(&document.ipath, components);
        values.number(columns.message, message.number());
    }
    if let Some(span) = document.span {
        values.number(columns.offset, span.offset);
        values.number(columns.digest, span.digest);
    }
    for link in links::of(&location, &document) {
        values.number(columns.links, link);
        values.number(columns.link, links::half(link));
    }
    let folder = folder(&location.path);
    let is_numbered = document.kind == Kind::Message && is_in_maildir(&location.path);
    // `cur` and `new` are no words.
    let words = match is_numbered {
        true => folder.rsplit_once('/').map_or("", |(above, _)| above),
        false => &folder,
    };
    values.add(columns.folder, OwnedValue::Str(words.to_owned()));
    values.text(Field::Dir, folder);
    if let Some(extension) = document.text(Field::Filename).and_then(extension) {
        values.text(Field::Ext, extension);
    }
    for state in states(&document) {
        values.text(Field::Is, state.to_owned());
    }
    if let Some(language) = undeclared_language(&document) {
        values.text(Field::Lang, language.to_owned());
    }
    values.text(Field::Type, document.kind.name().to_owned());
    values.text(Field::Mime, document.media_type);
    if let Some(failure) = &document.failure {
        values.add(columns.failure, OwnedValue::Str(encode(failure)));
    }
    let mut number = None;
    for (field, value) in document.fields {
        match value {
            // The number of a message and the name of a machine are no words.
            Value::Text(name) if field == Field::Filename && is_numbered && is_unique(&name) => {
                number = Some(name);
            }
            Value::Text(name) if field == Field::Filename && is_numbered => {
                values.add(columns.of(field), OwnedValue::Str(name));
            }
            Value::Text(text) if field == Field::Lang => {
                if let Some(tag) = language::normalize(&text) {
                    values.text(field, tag);
                }
            }
            Value::Text(text) => values.text(field, text),
            Value::Number(number) => values.add(columns.of(field), OwnedValue::I64(number)),
        }
    }
    let mut packed = None;
    if !document.body.is_empty() {
        let bytes = body::packed(&document.body)?;
        packed = bytes.map(|bytes| (columns.of(Field::Body), OwnedValue::Bytes(bytes)));
        values.text(Field::Body, document.body);
    }
    let n_searched = values.values.len();
    if let Some(name) = number {
        values.add(columns.of(Field::Filename), OwnedValue::Str(name));
    }
    Ok(Row {
        values: values.values,
        n_searched,
        packed,
    })
}

const N_FIELDS: usize = FIELDS.len() + CUSTOM_FIELDS.len();

/// The values of a row that is being made.
struct Values<'c> {
    columns: &'c Columns,
    values: Vec<(Column, OwnedValue)>,
    /// The number of values in the columns of each field.
    counts: [u8; N_FIELDS],
}

impl<'c> Values<'c> {
    fn with_capacity(columns: &'c Columns, n_fields: usize) -> Self {
        Self {
            columns,
            values: Vec::with_capacity(2 * n_fields + 16),
            counts: [0; N_FIELDS],
        }
    }

    fn add(&mut self, column: Column, value: OwnedValue) {
        self.values.push((column, value));
    }

    fn number(&mut self, column: Column, number: u64) {
        self.add(column, OwnedValue::U64(number));
    }

    /// Adds a text, also to the column of the field's values if it has one.
    fn text(&mut self, field: Field, text: String) {
        if let Some(column) = self.columns.values_of(field)
            && let Some(count) = self.counts.get_mut(field as usize)
            && *count < value::MAX_VALUES
        {
            *count += 1;
            let value = value::column_value(field, &text);
            self.add(column, OwnedValue::Str(value));
        }
        self.add(self.columns.of(field), OwnedValue::Str(text));
    }
}

/// Returns the language of a document of prose that declares none.
fn undeclared_language(document: &Document) -> Option<&'static str> {
    let is_prose = matches!(
        document.kind,
        Kind::Document | Kind::Presentation | Kind::Message
    );
    let is_declared = |(field, value): &(Field, Value)| match value {
        Value::Text(text) if *field == Field::Lang => language::normalize(text).is_some(),
        _ => false,
    };
    if !is_prose || document.fields.iter().any(is_declared) {
        return None;
    }
    analysis::detect_language(&document.body)
}

/// Returns whether a file is a message of a Maildir, whose name is generated: its order is that of the
/// path, and no two are the same.
fn is_in_maildir(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name == "cur" || name == "new")
}

/// Returns the folder of a path, as the `dir` field reads it.
fn folder(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    escape_bytes(folder.as_os_str().as_bytes()).into_owned()
}

/// States that follow from the rest of a document.
pub(crate) const DERIVED_STATES: [&str; 4] = ["failed", "encrypted", "missing", "member"];

fn states(document: &Document) -> impl Iterator<Item = &'static str> {
    let failure = document.failure.as_ref();
    let fails_by = |reason| failure.is_some_and(|failure| failure.reason() == reason);
    let holds = [
        failure.is_some(),
        fails_by(Reason::Encrypted),
        fails_by(Reason::Missing),
        !document.ipath.is_root(),
    ];
    DERIVED_STATES
        .into_iter()
        .zip(holds)
        .filter_map(|(name, holds)| holds.then_some(name))
}

/// Returns whether a mail program made the name up: `1204680122.27c448.host:2,S`
/// (<https://cr.yp.to/proto/maildir.html>).
fn is_unique(name: &str) -> bool {
    let number = name.bytes().take_while(u8::is_ascii_digit).count();
    number > 0 && name.as_bytes().get(number) == Some(&b'.') || name.contains(":2,")
}

fn encode(failure: &Failure) -> String {
    // Plain data of named parts always has a JSON form.
    serde_json::to_string(failure).unwrap_or_default()
}
