//! The engine's schema, made from the table of fields.
//!
//! Beside the fields of the table a document has the columns that make the index the only store:
//! `key` (which file it belongs to), `stamp` and `identity` (only on a file's own document, which
//! is written after all its parts), `sequence` and `location`; and those that hits are put together
//! by: `content` (a hash, the same for duplicates), `sketch` (nearly the same for near copies), `message` (which
//! message of its file it is in),
//! `links` (which messages are in one thread: see [`crate::mail::links`]), and `offset` and `digest` (where a
//! message of a mailbox stands: see [`crate::mail::mailbox`]).
//! A text field whose values are sorted and counted by has a column of them: see [`crate::columns::value`].

use ken_core::{Field, FieldKind};
use tantivy::schema::{
    BytesOptions, FAST, Field as Column, INDEXED, IndexRecordOption, STORED, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};

/// The analyses, as the schema names them; [`crate::analysis`] knows them by the field.
pub(crate) const TEXT: &str = "ken_text";
pub(crate) const KEYWORD: &str = "ken_keyword";
pub(crate) const LANGUAGE: &str = "ken_language";
pub(crate) const PATH: &str = "ken_path";

/// The names of the columns that are not fields of the table.
pub(crate) const KEY: &str = "_key";
/// The field for searches by the key, of which [`KEY`] is the column; see [`crate::postings::files`].
const FILE: &str = "_file";
pub(crate) const STAMP: &str = "_stamp";
pub(crate) const IDENTITY: &str = "_identity";
/// See [`crate::writer::deletion`].
pub(crate) const SEQUENCE: &str = "_sequence";
pub(crate) const LOCATION: &str = "_location";
pub(crate) const CONTENT: &str = "_content";
pub(crate) const MESSAGE: &str = "_message";
/// See [`ken_core::MessageSpan`].
pub(crate) const OFFSET: &str = "_offset";
pub(crate) const DIGEST: &str = "_digest";
/// See [`crate::mail::links`].
pub(crate) const LINKS: &str = "_links";
/// The field for searches by links, of which [`LINKS`] is the column.
const LINK: &str = "_link";
const FAILURE: &str = "_failure";
/// The words in the names of folders, which are searched with those of the text ([`ken_core::Word::folders`]).
pub(crate) const FOLDER: &str = "_folder";
/// See [`crate::columns::sketch`].
pub(crate) const SKETCH: &str = "_sketch";

/// The engine's handles of all fields.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) schema: Schema,
    fields: Vec<Column>,
    pub(crate) key: Column,
    pub(crate) file: Column,
    pub(crate) stamp: Column,
    pub(crate) identity: Column,
    pub(crate) sequence: Column,
    pub(crate) location: Column,
    pub(crate) content: Column,
    pub(crate) message: Column,
    pub(crate) offset: Column,
    pub(crate) digest: Column,
    pub(crate) links: Column,
    pub(crate) link: Column,
    pub(crate) failure: Column,
    pub(crate) sketch: Column,
    pub(crate) folder: Column,
    /// The columns of the values of text fields, by field.
    values: Vec<Option<Column>>,
}

impl Columns {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let fields = Field::all()
            .map(Field::info)
            .map(|info| match info.kind {
                FieldKind::Text => builder.add_text_field(info.name, text()),
                FieldKind::Keyword => builder.add_text_field(info.name, keyword(info.field)),
                FieldKind::Path => builder.add_text_field(info.name, path()),
                FieldKind::Date | FieldKind::Size | FieldKind::Number => {
                    builder.add_i64_field(info.name, FAST | STORED)
                }
            })
            .collect();
        Self {
            fields,
            key: builder.add_u64_field(KEY, FAST),
            file: builder.add_u64_field(FILE, INDEXED),
            stamp: builder.add_u64_field(STAMP, FAST),
            identity: builder.add_u64_field(IDENTITY, FAST),
            sequence: builder.add_u64_field(SEQUENCE, FAST),
            location: builder.add_bytes_field(LOCATION, BytesOptions::default().set_fast()),
            content: builder.add_u64_field(CONTENT, FAST),
            message: builder.add_u64_field(MESSAGE, FAST),
            offset: builder.add_u64_field(OFFSET, FAST),
            digest: builder.add_u64_field(DIGEST, FAST),
            links: builder.add_u64_field(LINKS, FAST),
            link: builder.add_u64_field(LINK, INDEXED),
            failure: builder.add_text_field(FAILURE, STORED),
            sketch: builder.add_u64_field(SKETCH, FAST),
            folder: builder.add_text_field(FOLDER, folder()),
            values: Field::all()
                .map(|field| values(&mut builder, field))
                .collect(),
            schema: builder.build(),
        }
    }

    pub(crate) fn of(&self, field: Field) -> Column {
        self.fields[field as usize]
    }

    /// Returns the column of the values of a text field, if it has one.
    pub(crate) fn values_of(&self, field: Field) -> Option<Column> {
        self.values[field as usize]
    }

    /// Returns the field of the table that a column holds.
    pub(crate) fn field(&self, column: Column) -> Option<Field> {
        Field::at(column.field_id() as usize)
    }
}

/// Returns the name of the column that a field's values are sorted and counted by.
pub(crate) fn value_column(field: Field) -> String {
    // The name in the table, since the user may rename a custom field.
    let name = field.info().name;
    if field.is_number() {
        name.to_owned()
    } else {
        format!("_{name}")
    }
}

fn values(builder: &mut SchemaBuilder, field: Field) -> Option<Column> {
    let has_own = field.has_column() && !field.is_number();
    let options = TextOptions::default().set_fast("raw");
    has_own.then(|| builder.add_text_field(&value_column(field), options))
}

fn text() -> TextOptions {
    TextOptions::default().set_stored().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(TEXT)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    )
}

fn keyword(field: Field) -> TextOptions {
    let analysis = match field {
        Field::Lang => LANGUAGE,
        _ => KEYWORD,
    };
    TextOptions::default().set_stored().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(analysis)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    )
}

/// Words of which only the documents are kept.
fn folder() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(TEXT)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    )
}

/// Folder names with positions; nothing scores them.
fn path() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(PATH)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_the_order_of_the_table() {
        let columns = Columns::new();
        for info in Field::all().map(Field::info) {
            let column = columns.of(info.field);
            assert_eq!(columns.schema.get_field_name(column), info.name);
            assert_eq!(columns.field(column), Some(info.field));
            let values = columns.values_of(info.field);
            let name = values.map(|column| columns.schema.get_field_name(column));
            let expected = value_column(info.field);
            assert!(name.is_none_or(|name| name == expected));
            assert_eq!(
                name.is_some(),
                info.field.has_column() && !info.field.is_number()
            );
        }
        assert_eq!(columns.field(columns.key), None);
    }
}
