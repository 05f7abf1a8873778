//! Properties of the hits, with counts: each value is a link that restricts the hits.

use std::path::{Path, PathBuf};

use ken_core::{Field, FieldNames, covering, language};
use ken_search::parse::{Clause, Modifiers, Phrase, Tree, Value};
use ken_search::service::{Answer, Facet, Facets, Request};
use serde::Serialize;

use super::look::Looker;
use super::state::{Link, State};
use super::text;
use crate::answer::Error;

/// The most values of a facet.
const MAX_VALUES: usize = 10;
/// The facets, with their headings.
const FACETS: [(&str, &str); 6] = [
    ("type", "Type"),
    ("dir", "Folder"),
    ("author", "Person"),
    ("year", "Year"),
    ("lang", "Language"),
    ("tag", "Tag"),
];

/// A facet as the page shows it.
#[derive(Serialize)]
pub(super) struct FacetView {
    name: &'static str,
    label: &'static str,
    values: Vec<Link>,
    /// The folders above the chosen one.
    above: Vec<Link>,
}

/// What the page offers to restrict the hits.
#[derive(Serialize)]
pub(super) struct Filters {
    facets: Vec<FacetView>,
    /// What the form of dates keeps of the state.
    dates_kept: Vec<(&'static str, String)>,
}

impl Filters {
    /// Counts the hits by all facets.
    pub(super) fn of(
        looker: &Looker<'_>,
        request: &Request,
        found: &Answer<'_>,
    ) -> Result<Self, Error> {
        Ok(Self {
            facets: facets(looker, request, found)?,
            dates_kept: looker.state.kept(&["from", "to"]),
        })
    }
}

/// Returns the beginning of the filters of a facet.
fn start(name: &str) -> &'static str {
    match name {
        "type" => "type:",
        "dir" => "dir:",
        "author" => "author:",
        "year" => "date:",
        "lang" => "lang:",
        _ => "tag:",
    }
}

/// Returns the filter that a state has for a facet.
fn own<'s>(state: &'s State, name: &str) -> Option<&'s str> {
    let own = state
        .filters
        .iter()
        .find(|filter| filter.starts_with(start(name)));
    own.map(String::as_str)
}

/// Returns the facets that the main request counts: those without a filter of their own.
pub(super) fn wanted(looker: &Looker<'_>) -> Facets {
    let free = FACETS.iter().map(|(name, _)| *name);
    let free = free.filter(|name| *name == "dir" || own(looker.state, name).is_none());
    Facets {
        by: free.map(str::to_owned).collect(),
        depth: depth(looker),
        limit: Some(4 * MAX_VALUES),
    }
}

/// Returns the folder that the hits are restricted to.
fn folder(state: &State) -> Option<PathBuf> {
    folder_of(own(state, "dir")?)
}

/// Returns the folder that a filter names by its path.
pub(super) fn folder_of(filter: &str) -> Option<PathBuf> {
    let path = unescaped(filter.strip_prefix("dir:")?);
    path.starts_with('/').then(|| path.into())
}

/// Returns the levels below a root at which folders are counted: those in the chosen folder, else in the only root, else
/// the roots.
fn depth(looker: &Looker<'_>) -> usize {
    let roots = looker.service.roots();
    let Some(folder) = folder(looker.state) else {
        return usize::from(roots.len() == 1);
    };
    let root = covering(roots, &folder);
    let below = root.and_then(|root| folder.strip_prefix(&root.path).ok());
    below.map_or(0, |below| below.components().count() + 1)
}

fn facets(
    looker: &Looker<'_>,
    request: &Request,
    found: &Answer<'_>,
) -> Result<Vec<FacetView>, Error> {
    let counted = found.facets()?;
    let mut views = Vec::new();
    for (name, label) in FACETS {
        let counted = counted.iter().find(|facet| facet.facet == name);
        let facet = match counted {
            Some(facet) => Some(facet.clone()),
            None => without_own(looker, request, name)?,
        };
        let view = facet.map(|facet| view(looker, name, label, &facet));
        views.extend(view.filter(|view| !view.values.is_empty() || !view.above.is_empty()));
    }
    Ok(views)
}

/// Counts the hits by one facet as if its own filter were not there, so that another value can be chosen.
fn without_own(looker: &Looker<'_>, request: &Request, name: &str) -> Result<Option<Facet>, Error> {
    let mut others = Request {
        limit: Some(0),
        offset: 0,
        count: false,
        facets: Facets {
            by: vec![name.to_owned()],
            ..request.facets.clone()
        },
        ..request.clone()
    };
    others
        .filters
        .retain(|filter| !filter.starts_with(start(name)));
    let query = looker.service.understand(&others)?;
    let counted = looker.service.search(&others, query)?.facets()?;
    Ok(counted.into_iter().next())
}

fn view(looker: &Looker<'_>, name: &'static str, label: &'static str, facet: &Facet) -> FacetView {
    let state = looker.state;
    let chosen = own(state, name);
    let folder = folder(state);
    let is_folder = name == "dir";
    let values = facet.values.iter().filter(|value| {
        let is_chosen_folder = folder.as_deref() == Some(Path::new(&value.value));
        !(value.value.is_empty() || is_folder && is_chosen_folder)
    });
    let values = values.take(MAX_VALUES).map(|value| {
        let filter = filter(name, &value.value);
        let is_chosen = chosen == Some(filter.as_str());
        let change = |state: &mut State| {
            state
                .filters
                .retain(|filter| !filter.starts_with(start(name)));
            if !is_chosen {
                state.filters.push(filter.clone());
            }
        };
        Link {
            is_chosen,
            count: Some(value.count),
            hint: (name != "lang").then(|| value.value.clone()),
            ..Link::new(shown(name, &value.value), state.with(change))
        }
    });
    FacetView {
        name,
        label,
        values: values.collect(),
        above: match (is_folder, folder) {
            (true, Some(folder)) => above(looker, &folder),
            _ => Vec::new(),
        },
    }
}

/// Returns links to a folder and to those above it up to its root.
fn above(looker: &Looker<'_>, folder: &Path) -> Vec<Link> {
    let state = looker.state;
    let root = covering(looker.service.roots(), folder).map(|root| root.path.as_path());
    let mut links: Vec<Link> = Vec::new();
    for ancestor in folder.ancestors() {
        let name = match Some(ancestor) == root {
            true => text::path(ancestor, looker.service.context().home.as_deref()),
            false => shown("dir", &ancestor.to_string_lossy()),
        };
        let href = state.with(|state| restrict(state, ancestor));
        links.push(Link {
            is_chosen: ancestor == folder,
            ..Link::new(name, href)
        });
        if Some(ancestor) == root || root.is_none() {
            break;
        }
    }
    let all = state.with(|state| state.filters.retain(|filter| !filter.starts_with("dir:")));
    links.push(Link::new("All folders", all));
    links.reverse();
    links
}

/// Restricts the hits of a state to a folder.
pub(super) fn restrict(state: &mut State, folder: &Path) {
    state.filters.retain(|filter| !filter.starts_with("dir:"));
    state.filters.push(filter("dir", &folder.to_string_lossy()));
}

/// Returns the query for a value of a facet.
fn filter(name: &str, value: &str) -> String {
    let clause = |field, value| Clause::new(Some(field), value);
    let word = |field| clause(field, Value::Word(value.to_owned()));
    let clause = match name {
        "year" => return format!("date:{value}"),
        "author" => Clause {
            modifiers: Modifiers {
                at_start: true,
                at_end: true,
                ..Modifiers::default()
            },
            ..clause(Field::Author, Value::Phrase(Phrase::new(value)))
        },
        "type" => word(Field::Type),
        "dir" => word(Field::Dir),
        "lang" => word(Field::Lang),
        _ => word(Field::Tag),
    };
    Tree::Clause(clause).to_query(&FieldNames::TABLE)
}

/// Returns a word of a query as it is without backslashes.
fn unescaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// Returns a value as people read it.
fn shown(name: &str, value: &str) -> String {
    match name {
        "dir" => {
            let last = Path::new(value).file_name();
            last.map_or(value.to_owned(), |last| last.to_string_lossy().into_owned())
        }
        "author" => text::person(value).to_owned(),
        "lang" => language::english_name(value),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_queries() {
        assert_eq!(filter("type", "message"), "type:message");
        assert_eq!(filter("year", "2024"), "date:2024");
        let folder = filter("dir", "/home/a b/(c)");
        assert_eq!(folder_of(&folder), Some(PathBuf::from("/home/a b/(c)")));
        let author = filter("author", "Anna <anna@example.org>");
        assert_eq!(author, "author:\"^Anna <anna@example.org>$\"");
        for filter in [folder, author] {
            ken_search::parse::parse(&filter).unwrap();
        }
    }
}
