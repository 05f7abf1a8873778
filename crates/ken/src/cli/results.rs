//! Options of `ken search` that say which hits are shown, in which order, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ken_core::{FIELDS, Field, FieldKind, FieldNames, SortKey, custom};

#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Sort by relevance, path, or a field such as date, size, title or author
    #[arg(long, value_name = "KEY", default_value = "relevance", value_parser = sort_key)]
    pub(crate) sort: Maybe<SortKey>,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Show documents with the same content once
    #[arg(long, conflicts_with = "group")]
    pub(crate) unique: bool,
    /// Show one hit per file, or per message with its attachments
    #[arg(long, value_name = "BY", default_value = "none")]
    pub(crate) group: Group,
    /// Count the hits by fields instead of listing them: --facets type,dir,author,year
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = facet,
        conflicts_with_all = ["paths", "null", "count", "explain", "fields", "inside"])]
    pub(crate) facets: Vec<Maybe<Facet>>,
    /// Levels of folders below a root that --facets dir distinguishes
    #[arg(long, value_name = "N", default_value_t = 1, requires = "facets")]
    pub(crate) depth: usize,
    /// Print these fields of each hit, separated by tabs: --fields date,author,title,path
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = column,
        conflicts_with_all = ["json", "paths", "count", "explain", "inside"])]
    pub(crate) fields: Vec<Column>,
    /// Number of passages in the snippet of each hit
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "no_snippet"
    )]
    pub(crate) snippets: usize,
    /// Show every match in this document, with its page or line
    #[arg(long = "in", value_name = "PATH",
        conflicts_with_all = ["paths", "null", "count", "explain", "like", "unique", "group"])]
    pub(crate) inside: Option<PathBuf>,
    /// Find documents similar to this one; a query filters them
    #[arg(long, value_name = "PATH")]
    pub(crate) like: Option<PathBuf>,
}

/// What a name stands for; it may be that of a custom field, which only the index knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maybe<T> {
    Known(T),
    Named(String),
}

/// Returns what a name stands for where fields have these names, or what could be meant.
type Known<T> = fn(&str, &FieldNames) -> Result<T, String>;

impl<T: Clone> Maybe<T> {
    fn read(name: &str, known: Known<T>) -> Result<Self, String> {
        match known(name, &FieldNames::TABLE) {
            Err(_) if custom::wrong_name(name).is_none() => Ok(Self::Named(name.to_owned())),
            known => known.map(Self::Known),
        }
    }

    fn resolve(&self, option: &str, known: Known<T>, names: &FieldNames) -> Result<T, String> {
        match self {
            Self::Known(value) => Ok(value.clone()),
            Self::Named(name) => {
                known(name, names).map_err(|known| format!("--{option} {name}: {known}"))
            }
        }
    }
}

impl ResultArgs {
    /// Returns the order of the hits, once the index is open.
    pub(crate) fn sort_key(&self, names: &FieldNames) -> Result<SortKey, String> {
        self.sort.resolve("sort", known_sort_key, names)
    }

    /// Returns by what hits are counted, once the index is open.
    pub(crate) fn facets(&self, names: &FieldNames) -> Result<Vec<Facet>, String> {
        let facets = self.facets.iter();
        facets
            .map(|facet| facet.resolve("facets", known_facet, names))
            .collect()
    }
}

/// What counts as one hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// Every document
    None,
    /// One hit per file
    File,
    /// One hit per message, and per file otherwise
    Message,
}

/// By what hits are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facet {
    /// As it was typed.
    pub(crate) name: String,
    pub(crate) field: Field,
    /// Of a date.
    pub(crate) part: Option<DatePart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatePart {
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

/// What is printed of a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Rank,
    Score,
    Path,
    Ipath,
    Url,
    Snippet,
    Line,
    Page,
    More,
    Field(Field),
    /// What may be a custom field: the index knows.
    Named(String),
}

impl Column {
    /// Returns the column with its field, if it is a name, which must be that of a custom field.
    pub(crate) fn resolve(&self, names: &FieldNames) -> Result<Self, String> {
        match self {
            Self::Named(name) => names
                .field(name)
                .map(Self::Field)
                .ok_or_else(|| format!("--fields {name}: {}", known_columns(names))),
            column => Ok(column.clone()),
        }
    }
}

fn known_columns(names: &FieldNames) -> String {
    let columns = COLUMNS.iter().map(|(name, _)| *name);
    let fields = FIELDS.iter().map(|info| info.name);
    let fields = fields.filter(|name| *name != "body");
    let custom = names.custom().map(|(_, name)| name);
    let names: Vec<&str> = columns.chain(fields).chain(custom).collect();
    format!("known are {}", names.join(", "))
}

const COLUMNS: [(&str, Column); 9] = [
    ("rank", Column::Rank),
    ("score", Column::Score),
    ("path", Column::Path),
    ("ipath", Column::Ipath),
    ("url", Column::Url),
    ("snippet", Column::Snippet),
    ("line", Column::Line),
    ("page", Column::Page),
    ("more", Column::More),
];

fn sort_key(name: &str) -> Result<Maybe<SortKey>, String> {
    Maybe::read(name, known_sort_key)
}

fn known_sort_key(name: &str, names: &FieldNames) -> Result<SortKey, String> {
    match name {
        "relevance" => Ok(SortKey::Relevance),
        "path" => Ok(SortKey::Path),
        _ => field_with_column(name, names)
            .filter(|field| !matches!(field, Field::Path | Field::Root))
            .map(SortKey::Field)
            .ok_or_else(|| {
                format!(
                    "known are relevance, path, {}",
                    names_with_column(&[Field::Path, Field::Root], names)
                )
            }),
    }
}

fn facet(name: &str) -> Result<Maybe<Facet>, String> {
    Maybe::read(name, known_facet)
}

fn known_facet(name: &str, names: &FieldNames) -> Result<Facet, String> {
    let (field, part) = match name.split_once('.') {
        Some((field, part)) => (field, Some(part)),
        None if DatePart::from_name(name).is_some() => ("date", Some(name)),
        None => (name, None),
    };
    let unknown = || {
        format!(
            "known are year, month, day, {}; of a date modified.year",
            names_with_column(&[Field::Path], names)
        )
    };
    let field = field_with_column(field, names).filter(|field| *field != Field::Path);
    let field = field.ok_or_else(unknown)?;
    let is_date = field.info().kind == FieldKind::Date;
    let part = match part {
        Some(part) if is_date => Some(DatePart::from_name(part).ok_or_else(unknown)?),
        Some(_) => return Err(unknown()),
        None => is_date.then_some(DatePart::Year),
    };
    Ok(Facet {
        name: name.to_owned(),
        field,
        part,
    })
}

fn column(name: &str) -> Result<Column, String> {
    if let Some((_, column)) = COLUMNS.iter().find(|(known, _)| *known == name) {
        return Ok(column.clone());
    }
    match Field::from_name(name) {
        Some(field) if field != Field::Body => Ok(Column::Field(field)),
        None if custom::wrong_name(name).is_none() => Ok(Column::Named(name.to_owned())),
        _ => Err(known_columns(&FieldNames::TABLE)),
    }
}

fn field_with_column(name: &str, names: &FieldNames) -> Option<Field> {
    names.field(name).filter(|field| field.has_column())
}

fn names_with_column(but: &[Field], names: &FieldNames) -> String {
    let fields = FIELDS.iter();
    let fields = fields.filter(|info| info.field.has_column() && !but.contains(&info.field));
    let custom = names.custom().map(|(_, name)| name);
    let names: Vec<&str> = fields.map(|info| info.name).chain(custom).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fields_or_what_else_is_known() {
        assert_eq!(sort_key("relevance"), Ok(Maybe::Known(SortKey::Relevance)));
        let author = SortKey::Field(Field::Author);
        assert_eq!(sort_key("from"), Ok(Maybe::Known(author)));
        assert!(sort_key("body").unwrap_err().contains("title"));
        let project = Maybe::Named("project".to_owned());
        assert_eq!(sort_key("project"), Ok(project.clone()));
        let unknown = project
            .resolve("sort", known_sort_key, &FieldNames::TABLE)
            .unwrap_err();
        assert!(unknown.starts_with("--sort project: known are relevance"));
        assert_eq!(column("score"), Ok(Column::Score));
        assert_eq!(column("subject"), Ok(Column::Field(Field::Title)));
        assert!(column("body").is_err());
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
