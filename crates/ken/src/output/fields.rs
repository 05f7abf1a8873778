//! `ken search --fields`: chosen fields of a hit on one line, with tabs between them.

use std::os::unix::ffi::OsStrExt;

use ken_core::{Document, Field, FieldKind, Value, escape_bytes};
use ken_index::Stored;

use super::{HitView, clean, file_url, time};
use crate::cli::Column;

/// Returns the fields of a hit; what it has not is empty, several values are joined by `; `.
pub(crate) fn hit_fields(view: &HitView<'_>, columns: &[Column]) -> String {
    let values = columns.iter().map(|column| {
        let value = value(view, *column);
        // What is within a value must not look like the next one.
        clean(&value.replace(['\t', '\n', '\r'], " ")).into_owned()
    });
    values.collect::<Vec<_>>().join("\t")
}

fn value(view: &HitView<'_>, column: Column) -> String {
    let Stored {
        location, document, ..
    } = view.stored;
    let first = view.fragments.first();
    match column {
        Column::Rank => view.rank.to_string(),
        Column::Score => view
            .score
            .map(|score| score.to_string())
            .unwrap_or_default(),
        Column::Path => escape_bytes(location.path.as_os_str().as_bytes()).into_owned(),
        Column::Ipath => location.ipath.to_string(),
        Column::Url => file_url(&location.path),
        Column::Snippet => first.map(|place| place.text.clone()).unwrap_or_default(),
        Column::Line => first
            .map(|place| place.line.to_string())
            .unwrap_or_default(),
        Column::Page => {
            let page = first.and_then(|place| place.page);
            page.map(|page| page.to_string()).unwrap_or_default()
        }
        Column::More => view.more.to_string(),
        Column::Field(Field::Mime) => document.media_type.clone(),
        Column::Field(Field::Type) => document.kind.name().to_owned(),
        Column::Field(Field::Dir) => {
            let folder = location.path.parent().unwrap_or(&location.path);
            escape_bytes(folder.as_os_str().as_bytes()).into_owned()
        }
        Column::Field(Field::Ext) => extension(document).unwrap_or_default(),
        Column::Field(field) => field_values(document, field),
    }
}

fn field_values(document: &Document, field: Field) -> String {
    let values = document.fields.iter().filter(|(other, _)| *other == field);
    let texts = values.map(|(_, value)| match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) if field.info().kind == FieldKind::Date => time(*number),
        Value::Number(number) => number.to_string(),
    });
    texts.collect::<Vec<_>>().join("; ")
}

fn extension(document: &Document) -> Option<String> {
    let (stem, extension) = document.text(Field::Filename)?.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_lowercase())
}
