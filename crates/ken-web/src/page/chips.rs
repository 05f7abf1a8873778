//! How the query was understood, in parts that can be removed.

use ken_core::language;
use ken_search::parse::{Names, Tree, parse_with};
use ken_search::service::Query;
use serde::Serialize;

use super::facets::folder_of;
use super::look::Looker;
use super::state::State;
use super::text;

/// A part of what is asked for.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Chip {
    /// The part.
    pub(super) label: String,
    /// `word`, `field`, `filter` or `like`.
    pub(super) kind: &'static str,
    /// The address of the page without the part.
    pub(super) href: String,
}

/// How a query was understood.
pub(super) struct Chips {
    pub(super) chips: Vec<Chip>,
    /// What is wrong with the pieces that were left out.
    pub(super) left_out: Vec<String>,
}

/// Returns the parts of the query, and the filters.
pub(super) fn chips(looker: &Looker<'_>, query: &Query) -> Chips {
    let state = looker.state;
    let mut chips = of_query(looker, state);
    // One word alone is understood as typed.
    if let [Chip { kind: "word", .. }] = chips.as_slice() {
        chips.clear();
    }
    chips.extend(state.filters.iter().enumerate().map(|(at, filter)| Chip {
        label: shown(looker, filter),
        kind: "filter",
        href: state.with(|state| {
            state.filters.remove(at);
        }),
    }));
    if state.date_filter().is_some() {
        chips.push(Chip {
            label: match (state.from.as_str(), state.to.as_str()) {
                (from, "") => format!("since {from}"),
                ("", to) => format!("until {to}"),
                (from, to) => format!("{from} – {to}"),
            },
            kind: "filter",
            href: state.with(|state| (state.from, state.to) = Default::default()),
        });
    }
    if !state.like.is_empty() {
        chips.push(Chip {
            label: format!("similar to {}", liked(looker)),
            kind: "like",
            href: state.with(|state| state.like.clear()),
        });
    }
    let left_out = query.left_out.iter();
    let left_out = left_out.map(|left| format!("“{}” was left out: {}", left.text, left.error));
    Chips {
        chips,
        left_out: left_out.collect(),
    }
}

/// Returns the title of the document to which hits are similar.
fn liked(looker: &Looker<'_>) -> String {
    let liked = looker.document(&looker.state.like);
    liked.map_or_else(
        |_| "a document that is gone".to_owned(),
        |named| {
            let file_name = || named.stored.location.file_name();
            named.title().map_or_else(file_name, str::to_owned)
        },
    )
}

fn of_query(looker: &Looker<'_>, state: &State) -> Vec<Chip> {
    let names = Names {
        saved: looker.web.saved(looker.asker()),
        fields: looker.service.field_names(),
        month_first: looker.service.context().month_first,
        database: None,
        nested: 0,
    };
    let parts = match parse_with(&state.q, names) {
        Ok(Tree::And(parts)) => parts,
        Ok(Tree::All) | Err(_) => return Vec::new(),
        Ok(one) => vec![one],
    };
    let one = |(at, part): (usize, &Tree)| {
        let mut others = parts.clone();
        others.remove(at);
        let rest = match others.is_empty() {
            true => String::new(),
            false => Tree::and(others).to_query(names.fields),
        };
        let is_word = matches!(part, Tree::Clause(clause) if clause.field.is_none());
        Chip {
            label: part.to_query(names.fields),
            kind: if is_word { "word" } else { "field" },
            href: state.with(|state| state.q = rest),
        }
    };
    parts.iter().enumerate().map(one).collect()
}

/// Returns a filter as people read it.
fn shown(looker: &Looker<'_>, filter: &str) -> String {
    match folder_of(filter) {
        Some(folder) => {
            let home = looker.service.context().home.as_deref();
            text::short_folder(&text::path(&folder, home))
        }
        None if filter.starts_with("lang:") => {
            format!("lang: {}", language::english_name(&filter["lang:".len()..]))
        }
        None => filter
            .replace(":\"^", ": ")
            .replace("$\"", "")
            .replacen(':', ": ", 1)
            .replace(":  ", ": "),
    }
}
