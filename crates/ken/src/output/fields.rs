//! `ken search --fields`: chosen fields of a hit on one line, with tabs between them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::{Document, Field, FieldKind, Value, escape_bytes};
use ken_index::Stored;

use super::{HitView, clean, file_url, time};
use crate::cli::Column;

/// Returns the fields of a hit; what it has not is empty, several values are joined by `; `. For a
/// program that reads up to a NUL, paths are their true bytes.
pub(crate) fn hit_fields(view: &HitView<'_>, columns: &[Column], exact: bool) -> Vec<u8> {
    let values = columns.iter().map(|column| {
        if let Some(path) = path(view, column).filter(|_| exact) {
            return path.as_os_str().as_bytes().to_vec();
        }
        let value = value(view, column);
        // What is within a value must not look like the next one.
        let value = value.replace(['\t', '\n', '\r'], " ");
        clean(&value).into_owned().into_bytes()
    });
    values.collect::<Vec<_>>().join(&b'\t')
}

/// Returns the path that a column shows.
fn path<'v>(view: &HitView<'v>, column: &Column) -> Option<&'v Path> {
    let path = &view.stored.location.path;
    match column {
        Column::Path => Some(path),
        Column::Field(Field::Dir) => Some(path.parent().unwrap_or(path)),
        Column::Field(Field::Root) => {
            ken_walk::covering(view.roots, path).map(|root| root.path.as_path())
        }
        _ => None,
    }
}

fn value(view: &HitView<'_>, column: &Column) -> String {
    if let Some(path) = path(view, column) {
        return escape_bytes(path.as_os_str().as_bytes()).into_owned();
    }
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
        // Read above.
        Column::Path => String::new(),
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
        Column::Field(Field::Ext) => extension(document).unwrap_or_default(),
        Column::Field(field) => field_values(document, *field),
        // Names are resolved before the first hit.
        Column::Named(_) => String::new(),
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
