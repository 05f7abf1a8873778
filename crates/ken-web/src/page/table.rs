//! Hits as rows of a table.

use ken_core::{Field, FieldKind};
use ken_search::service::{Answer, Column, Hit};
use serde::Serialize;

use super::look::Looker;
use super::state::{Link, State};
use super::text::{self, size, when};

/// The columns of the table, besides the title, if none are chosen.
const USUAL_COLUMNS: [&str; 4] = ["dir", "author", "date", "size"];
/// The columns that can be chosen.
const COLUMNS: [(&str, &str); 13] = [
    ("dir", "Folder"),
    ("author", "Author"),
    ("to", "To"),
    ("date", "Date"),
    ("modified", "Modified"),
    ("created", "Created"),
    ("size", "Size"),
    ("type", "Type"),
    ("ext", "Extension"),
    ("lang", "Language"),
    ("pages", "Pages"),
    ("keywords", "Keywords"),
    ("tag", "Tags"),
];

/// A table.
#[derive(Serialize)]
pub(super) struct Table {
    columns: Vec<Heading>,
    rows: Vec<Vec<String>>,
    choices: Vec<Link>,
    kept: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Heading {
    name: &'static str,
    label: &'static str,
    href: String,
    /// `ascending`, `descending` or nothing.
    order: &'static str,
    is_number: bool,
}

impl Table {
    /// Returns the hits of a page as rows.
    pub(super) fn of(looker: &Looker<'_>, found: &Answer<'_>, hits: &[Hit]) -> Self {
        let (state, roots) = (looker.state, looker.service.roots());
        let names = columns(state);
        let context = looker.service.context();
        let cell = |column: &Column, hit: &Hit| match column {
            Column::Field(field) if field.info().kind == FieldKind::Date => {
                let date = hit
                    .document
                    .number(*field)
                    .and_then(|date| when(date, &context.zone));
                date.map_or_else(String::new, |date| date.day)
            }
            Column::Field(Field::Size) => {
                size(hit.document.number(Field::Size)).unwrap_or_default()
            }
            _ => match column.path(hit, roots) {
                Some(path) => text::short_folder(&text::path(path, context.home.as_deref())),
                None => column.value(hit, roots),
            },
        };
        let row = |hit: &Hit| {
            found
                .columns()
                .iter()
                .map(|column| cell(column, hit))
                .collect()
        };
        let chosen = |name: &str| names.contains(&name);
        let choices = COLUMNS.iter().map(|(name, label)| Link {
            is_chosen: chosen(name),
            ..Link::new(*label, (*name).to_owned())
        });
        Self {
            columns: names.iter().map(|name| heading(state, name)).collect(),
            rows: hits.iter().map(row).collect(),
            choices: choices.collect(),
            kept: state.kept(&["column"]),
        }
    }
}

/// Returns the names of the columns of the table, besides the title.
pub(super) fn columns(state: &State) -> Vec<&'static str> {
    let known = COLUMNS.iter().map(|(name, _)| *name);
    let chosen: Vec<_> = known
        .filter(|name| state.columns.iter().any(|chosen| chosen == name))
        .collect();
    match chosen.is_empty() {
        true => USUAL_COLUMNS.into(),
        false => chosen,
    }
}

fn heading(state: &State, name: &'static str) -> Heading {
    let label = COLUMNS.iter().find(|(own, _)| *own == name);
    let is_number = Field::from_name(name).is_some_and(Field::is_number);
    let reversed = state.sort.strip_prefix('-');
    let is_chosen = state.sort == name;
    // Numbers sort downwards, texts upwards.
    let order = match (is_chosen, reversed == Some(name)) {
        (true, _) if is_number => "descending",
        (true, _) => "ascending",
        (_, true) if is_number => "ascending",
        (_, true) => "descending",
        _ => "",
    };
    let next = if is_chosen {
        format!("-{name}")
    } else {
        name.to_owned()
    };
    Heading {
        name,
        label: label.map_or("", |(_, label)| label),
        href: state.with(|state| state.sort = next),
        order,
        is_number,
    }
}
