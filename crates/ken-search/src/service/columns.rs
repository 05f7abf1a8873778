//! The columns of hits: what can be shown of a hit, and what hits can be sorted and counted by.
//!
//! The names of custom fields belong to the index, so a request is checked twice. When it is written, a name may still
//! be that of some custom field ([`check_column`] and its like); when it is answered, the index must have the field.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::access::ACCESS;
use ken_core::{
    Document, FIELDS, Field, FieldKind, FieldNames, Root, SortKey, Value, covering, custom,
    escape_bytes,
};

use super::{Error, Hit, time};

/// What can be shown of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Column {
    Rank,
    Score,
    Path,
    Ipath,
    /// The path, with the member path behind a bar.
    Address,
    Id,
    Url,
    Snippet,
    Line,
    Page,
    More,
    Field(Field),
}

/// The columns that are not fields.
const COLUMNS: [(&str, Column); 11] = [
    ("rank", Column::Rank),
    ("score", Column::Score),
    ("path", Column::Path),
    ("ipath", Column::Ipath),
    ("address", Column::Address),
    ("id", Column::Id),
    ("url", Column::Url),
    ("snippet", Column::Snippet),
    ("line", Column::Line),
    ("page", Column::Page),
    ("more", Column::More),
];

/// How much of a document must be read to show a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needs {
    #[default]
    Location,
    Fields,
    Text,
}

impl Column {
    pub(super) fn needs(&self) -> Needs {
        match self {
            Self::Snippet | Self::Line | Self::Page => Needs::Text,
            Self::Field(Field::Dir | Field::Root) => Needs::Location,
            Self::Field(_) => Needs::Fields,
            _ => Needs::Location,
        }
    }

    /// Returns the path that the column shows for a hit.
    pub fn path<'h>(&self, hit: &'h Hit, roots: &'h [Root]) -> Option<&'h Path> {
        let path = hit.location.path.as_path();
        match self {
            Self::Path => Some(path),
            Self::Field(Field::Dir) => Some(path.parent().unwrap_or(path)),
            Self::Field(Field::Root) => covering(roots, path).map(|root| root.path.as_path()),
            _ => None,
        }
    }

    /// Returns what the column shows for a hit: nothing if the hit lacks it, several values with `; ` between them.
    pub fn value(&self, hit: &Hit, roots: &[Root]) -> String {
        if let Some(path) = self.path(hit, roots) {
            return escape_bytes(path.as_os_str().as_bytes()).into_owned();
        }
        let document = &hit.document;
        let first = hit.snippets.first();
        let number = |number: Option<usize>| number.map(|n| n.to_string());
        let value = match self {
            Self::Rank => number(Some(hit.rank)),
            Self::Score => hit.score.map(|score| score.to_string()),
            // Handled above.
            Self::Path => None,
            Self::Ipath => Some(hit.location.ipath.to_string()),
            Self::Address => Some(hit.location.to_string()),
            Self::Id => Some(hit.id.clone()),
            Self::Url => Some(file_url(&hit.location.path)),
            Self::Snippet => first.map(|passage| passage.text.clone()),
            Self::Line => number(first.map(|passage| passage.line)),
            Self::Page => number(first.and_then(|passage| passage.page)),
            Self::More => number(Some(hit.more.unwrap_or(0))),
            Self::Field(Field::Mime) => Some(document.media_type.clone()),
            Self::Field(Field::Type) => Some(document.kind.name().to_owned()),
            Self::Field(Field::Ext) => extension(document),
            // Who may read a document is no value of it.
            Self::Field(ACCESS) => None,
            Self::Field(field) => Some(field_values(document, *field)),
        };
        value.unwrap_or_default()
    }
}

/// Returns the URL of a file.
pub fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
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

/// A property that hits are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FacetKey {
    pub(super) field: Field,
    /// The part of a date, if the field is a date.
    pub(super) part: Option<DatePart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatePart {
    Year,
    Month,
    Day,
}

impl DatePart {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            _ => return None,
        })
    }
}

/// Returns what a name means with the given names of fields; the error lists the names that are known.
type Known<T> = fn(&str, &FieldNames) -> Result<T, String>;

/// Returns the columns of these names.
pub(super) fn columns(wanted: &[String], names: &FieldNames) -> Result<Vec<Column>, Error> {
    let columns = wanted.iter();
    let columns = columns.map(|name| named("fields", name, known_column, names));
    columns.collect()
}

/// Returns the key that hits are sorted by.
pub(super) fn sort_key(name: &str, names: &FieldNames) -> Result<SortKey, Error> {
    named("sort", name, known_sort_key, names)
}

/// Returns the property that hits are counted by.
pub(super) fn facet_key(name: &str, names: &FieldNames) -> Result<FacetKey, Error> {
    named("facets", name, known_facet, names)
}

fn named<T>(
    part: &'static str,
    name: &str,
    known: Known<T>,
    names: &FieldNames,
) -> Result<T, Error> {
    known(name, names).map_err(|known| Error::Name {
        part,
        name: name.to_owned(),
        known,
    })
}

/// Checks whether a column may have this name in some index.
///
/// # Errors
/// Returns the names that are known.
pub fn check_column(name: &str) -> Result<(), String> {
    check(name, known_column)
}

/// Checks whether hits may be sorted by this name in some index.
///
/// # Errors
/// Returns the names that are known.
pub fn check_sort(name: &str) -> Result<(), String> {
    check(name, known_sort_key)
}

/// Checks whether hits may be counted by this name in some index.
///
/// # Errors
/// Returns the names that are known.
pub fn check_facet(name: &str) -> Result<(), String> {
    check(name, known_facet)
}

fn check<T>(name: &str, known: Known<T>) -> Result<(), String> {
    match known(name, &FieldNames::TABLE) {
        Err(_) if custom::wrong_name(name).is_none() => Ok(()),
        known => known.map(|_| ()),
    }
}

fn known_column(name: &str, names: &FieldNames) -> Result<Column, String> {
    if let Some((_, column)) = COLUMNS.iter().find(|(known, _)| *known == name) {
        return Ok(*column);
    }
    let field = names.field(name).filter(|field| *field != Field::Body);
    field.map(Column::Field).ok_or_else(|| {
        let columns = COLUMNS.iter().map(|(name, _)| *name);
        let fields = FIELDS.iter().map(|info| info.name);
        let fields = fields.filter(|name| *name != Field::Body.info().name);
        known_are(columns.chain(fields), names)
    })
}

fn known_sort_key(name: &str, names: &FieldNames) -> Result<SortKey, String> {
    const NOT: [Field; 2] = [Field::Path, Field::Root];
    match name {
        "relevance" => Ok(SortKey::Relevance),
        "path" => Ok(SortKey::Path),
        _ => {
            let field = field_with_column(name, &NOT, names);
            field.map(SortKey::Field).ok_or_else(|| {
                let others = ["relevance", "path"].into_iter();
                known_are(others.chain(names_with_column(&NOT)), names)
            })
        }
    }
}

fn known_facet(name: &str, names: &FieldNames) -> Result<FacetKey, String> {
    const NOT: [Field; 1] = [Field::Path];
    let (field, part) = match name.split_once('.') {
        Some((field, part)) => (field, Some(part)),
        None if DatePart::from_name(name).is_some() => ("date", Some(name)),
        None => (name, None),
    };
    let unknown = || {
        let parts = ["year", "month", "day"].into_iter();
        let known = known_are(parts.chain(names_with_column(&NOT)), names);
        format!("{known}; of a date modified.year")
    };
    let field = field_with_column(field, &NOT, names).ok_or_else(unknown)?;
    let is_date = field.info().kind == FieldKind::Date;
    let part = match part {
        Some(part) if is_date => Some(DatePart::from_name(part).ok_or_else(unknown)?),
        Some(_) => return Err(unknown()),
        None => is_date.then_some(DatePart::Year),
    };
    Ok(FacetKey { field, part })
}

fn field_with_column(name: &str, not: &[Field], names: &FieldNames) -> Option<Field> {
    let field = names.field(name);
    field.filter(|field| field.has_column() && !not.contains(field))
}

fn names_with_column(not: &[Field]) -> impl Iterator<Item = &'static str> {
    let fields = FIELDS.iter();
    let fields = fields.filter(|info| info.field.has_column() && !not.contains(&info.field));
    fields.map(|info| info.name)
}

/// Returns the names that are known, with those of custom fields.
fn known_are(known: impl Iterator<Item = &'static str>, names: &FieldNames) -> String {
    let mut known: Vec<&str> = known.collect();
    known.extend(names.custom().map(|(_, name)| name));
    format!("known are {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_fields_or_of_other_columns() {
        const TABLE: &FieldNames = &FieldNames::TABLE;
        let by = |name| known_sort_key(name, TABLE);
        assert_eq!(by("relevance"), Ok(SortKey::Relevance));
        let author = SortKey::Field(Field::Author);
        assert_eq!(by("from"), Ok(author));
        assert!(by("body").unwrap_err().contains("title"));
        assert_eq!(known_column("score", TABLE), Ok(Column::Score));
        assert_eq!(
            known_column("subject", TABLE),
            Ok(Column::Field(Field::Title))
        );
        assert!(check_column("body").is_err());
    }

    #[test]
    fn a_custom_field_may_have_any_other_name() {
        assert_eq!(check_sort("project"), Ok(()));
        let unknown = sort_key("project", &FieldNames::TABLE)
            .unwrap_err()
            .to_string();
        assert!(
            unknown.starts_with("sort project: known are relevance"),
            "{unknown}"
        );
    }

    #[test]
    fn facets_of_dates_have_parts() {
        let of =
            |name| known_facet(name, &FieldNames::TABLE).map(|facet| (facet.field, facet.part));
        assert_eq!(of("year"), Ok((Field::Date, Some(DatePart::Year))));
        assert_eq!(of("date"), of("year"));
        assert_eq!(
            of("created.month"),
            Ok((Field::Created, Some(DatePart::Month)))
        );
        assert_eq!(of("type"), Ok((Field::Type, None)));
        for wrong in ["body", "type.year", "date.week", "nothing"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
