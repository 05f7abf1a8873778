//! What the page shows before anything is searched for, and the saved queries.

use std::collections::BTreeMap;

use serde::Serialize;

use super::html;
use super::look::Looker;
use super::state::Link;
use super::state::State;
use super::status::freshness;
use crate::answer::{Answer, Error};
use crate::{Asked, Web};

/// Queries to try, with what they find.
const EXAMPLES: [(&str, &str); 6] = [
    ("\"annual report\"", "these words, in this order"),
    ("invoice date:2025", "documents of one year"),
    ("type:message from:anna", "mail of one person"),
    ("ext:pdf pages:20..", "long PDF files"),
    (
        "dir:projects type:source parse*",
        "source code, words that begin so",
    ),
    ("is:unread has:attachment", "unread mail with attachments"),
];

/// What the page shows before anything is searched for.
#[derive(Serialize)]
pub(super) struct Home {
    n_documents: u64,
    freshness: String,
    examples: Vec<Example>,
    saved: Vec<Link>,
}

#[derive(Serialize)]
struct Example {
    query: &'static str,
    meaning: &'static str,
    href: String,
}

impl Home {
    pub(super) fn of(looker: &Looker<'_>) -> Result<Self, Error> {
        let examples = EXAMPLES.iter().map(|(query, meaning)| Example {
            query,
            meaning,
            href: of_query(query),
        });
        Ok(Self {
            n_documents: looker.source.n_documents(),
            // What changes, changes in documents of others too.
            freshness: match looker.asker() {
                None => freshness(looker.web, looker.source),
                Some(_) => String::new(),
            },
            examples: examples.collect(),
            saved: saved_links(looker.web.saved(looker.asker())),
        })
    }
}

fn of_query(query: &str) -> String {
    let state = State {
        q: query.to_owned(),
        page: 1,
        ..State::default()
    };
    state.href()
}

fn saved_links(saved: &BTreeMap<String, String>) -> Vec<Link> {
    let links = saved.iter();
    let links = links.map(|(name, _)| Link::new(name, of_query(&named(name))));
    links.collect()
}

/// Returns the query that has this name, whatever characters the name has.
fn named(name: &str) -> String {
    let is_plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    match is_plain {
        true => format!("query:{name}"),
        false => format!(
            "query:\"{}\"",
            name.replace('\\', "\\\\").replace('"', "\\\"")
        ),
    }
}

#[derive(Serialize)]
struct SavedPage<'a> {
    title: &'static str,
    state: State,
    queries: Vec<(Link, &'a str)>,
}

/// Answers with the saved queries.
pub(super) fn saved(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let saved = web.saved(asked.asker.as_ref());
    let queries = saved_links(saved)
        .into_iter()
        .zip(saved.values().map(String::as_str));
    let page = SavedPage {
        title: "Saved queries",
        state: State::default(),
        queries: queries.collect(),
    };
    Ok(html(200, "saved.html", &page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_saved_query_can_be_asked_for() {
        for (name, query) in [
            ("work-2026", "query:work-2026"),
            ("unread mail", "query:\"unread mail\""),
            ("a \"b\"", "query:\"a \\\"b\\\"\""),
        ] {
            assert_eq!(named(name), query);
        }
        let saved = BTreeMap::from([("unread mail".to_owned(), String::new())]);
        assert_eq!(
            saved_links(&saved)[0].href,
            "./?q=query:%22unread%20mail%22"
        );
    }
}
