//! Queries: which messages they find, which of those a tag excludes, and in which order they come.

use std::collections::{HashMap, HashSet};

use ken_core::{Field, Order, Pattern, Plan, SortKey};
use ken_engine::{DocAddress, Request, Source};
use ken_search::parse::{Names, Saved, Syntax, Tree, Value};
use ken_search::plan::plan;
use ken_search::service::Error as SearchError;

use super::database::Database;
use super::message::{self, Message, number_of};
use super::thread::{Sort, Thread};
use super::{Error, sexp};

/// What happens to messages with a tag that excludes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exclude {
    /// They are not found, but shown in threads.
    #[default]
    True,
    /// They are found and shown as others.
    False,
    /// They are found, but marked.
    Flag,
    /// They are neither found nor shown.
    All,
}

/// A query.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The text.
    pub text: String,
    /// Whether the text is an s-expression.
    pub is_sexp: bool,
    /// The order.
    pub sort: Sort,
    /// What happens to excluded messages.
    pub exclude: Exclude,
    /// The tags that exclude messages.
    pub exclude_tags: Vec<String>,
}

/// What a query finds.
pub struct Found {
    /// A file of each message, in order.
    pub(super) first: Vec<(u64, DocAddress)>,
    /// The tags that exclude messages in this query.
    excludes: Vec<String>,
    omits: Exclude,
}

impl Found {
    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

impl Database {
    /// Finds messages.
    ///
    /// # Errors
    /// Fails if the query has a mistake or the index cannot be read.
    pub fn find(&self, source: &dyn Source, query: &Query) -> Result<Found, Error> {
        let tree = self.tree(source, query)?;
        let excludes = match query.exclude {
            Exclude::False => Vec::new(),
            _ => unnamed(&tree, &query.exclude_tags),
        };
        let meaning = plan(&tree, &self.context(source));
        let mut parts = vec![meaning];
        let excluded = Plan::Match {
            field: Field::Tag,
            pattern: Pattern::Any(excludes.clone()),
        };
        if !excludes.is_empty() && query.exclude != Exclude::Flag {
            parts.push(Plan::Not(Box::new(excluded)));
        }
        let order = Order {
            key: SortKey::DATE,
            reverse: query.sort == Sort::OldestFirst,
        };
        let mut found = self.own(source, parts.clone(), order)?;
        let carriers = self.carriers(source, parts)?;
        let known: HashSet<DocAddress> = found.iter().copied().collect();
        if carriers.iter().any(|at| !known.contains(at)) {
            found.extend(carriers);
            let all: Vec<DocAddress> = found;
            let request = Request {
                only: Some(&all),
                order,
                ..Request::new(&Plan::All)
            };
            found = source
                .find(&request)?
                .hits
                .into_iter()
                .map(|hit| hit.address)
                .collect();
        }
        let mut seen = HashSet::new();
        let mut first = Vec::with_capacity(found.len());
        for at in found {
            if let Some(number) = number_of(source, at)?
                && seen.insert(number)
            {
                first.push((number, at));
            }
        }
        Ok(Found {
            first,
            excludes,
            omits: query.exclude,
        })
    }

    fn tree(&self, source: &dyn Source, query: &Query) -> Result<Tree, Error> {
        let text = query.text.trim();
        let fields = source.meta().field_names();
        let names = Names {
            saved: &Saved::new(),
            fields: &fields,
            month_first: false,
            database: Some(self),
            nested: 0,
        };
        if query.is_sexp {
            return sexp::tree(text, names, &self.settings);
        }
        let text = if text.is_empty() { "*" } else { text };
        let parsed = Syntax::Notmuch.parse_with(text, names);
        Ok(parsed.map_err(SearchError::from)?)
    }

    /// Returns the files that match by themselves.
    fn own(
        &self,
        source: &dyn Source,
        mut parts: Vec<Plan>,
        order: Order,
    ) -> Result<Vec<DocAddress>, Error> {
        parts.push(Plan::Not(Box::new(is_member())));
        let plan = Plan::And(parts);
        let found = source.find(&Request {
            order,
            ..Request::new(&plan)
        })?;
        Ok(found.hits.into_iter().map(|hit| hit.address).collect())
    }

    /// Returns the files with an attached message that matches.
    fn carriers(
        &self,
        source: &dyn Source,
        mut parts: Vec<Plan>,
    ) -> Result<Vec<DocAddress>, Error> {
        parts.push(is_member());
        let plan = Plan::And(parts);
        let mut carriers = Vec::new();
        for hit in source.find(&Request::new(&plan))?.hits {
            let carrier = source.mail().carrier(hit.address)?;
            let Some(at) = carrier.filter(|at| *at != hit.address) else {
                continue;
            };
            if source.location(at)?.ipath.is_root() {
                carriers.push(at);
            }
        }
        Ok(carriers)
    }

    /// Reads the messages that were found.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn messages(&self, source: &dyn Source, found: &Found) -> Result<Vec<Message>, Error> {
        self.some_messages(source, found, 0, usize::MAX)
    }

    /// Reads some of the messages that were found.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn some_messages(
        &self,
        source: &dyn Source,
        found: &Found,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<Message>, Error> {
        let wanted = found.first.iter().skip(offset).take(limit);
        let order: Vec<u64> = wanted.map(|(number, _)| *number).collect();
        let mut numbers = order.clone();
        numbers.sort_unstable();
        let files = message::files_of(source, &numbers)?;
        let read = message::read(source, &files)?;
        let mut by_number: HashMap<u64, Message> = read
            .into_iter()
            .map(|message| (message.number, self.shown(message)))
            .collect();
        let in_order = order.iter().filter_map(|number| by_number.remove(number));
        Ok(in_order
            .map(|mut message| {
                message.is_matched = true;
                message.is_excluded = found.excludes(&message);
                message
            })
            .collect())
    }

    /// Calls `each` with the threads of the messages that were found, until it returns false.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or if `each` fails.
    pub fn each_thread(
        &self,
        source: &dyn Source,
        found: &Found,
        each: &mut dyn FnMut(Thread) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let matched: HashSet<u64> = found.first.iter().map(|(number, _)| *number).collect();
        let mut shown = HashSet::new();
        for (number, at) in &found.first {
            if shown.contains(number) {
                continue;
            }
            let files = source.mail().threads(&[*at], None)?;
            let mut messages = Vec::new();
            for message in message::read(source, &files)? {
                let mut message = self.shown(message);
                shown.insert(message.number);
                message.is_matched = matched.contains(&message.number);
                message.is_excluded = found.excludes(&message);
                if !message.is_excluded || found.omits != Exclude::All {
                    messages.push(message);
                }
            }
            if !each(Thread::new(messages))? {
                break;
            }
        }
        Ok(())
    }

    /// Counts the threads of the messages that were found.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn n_threads(&self, source: &dyn Source, found: &Found) -> Result<usize, Error> {
        let mut seen = HashSet::new();
        let mut n_threads = 0;
        for (number, at) in &found.first {
            if seen.contains(number) {
                continue;
            }
            n_threads += 1;
            for at in source.mail().threads(&[*at], None)? {
                seen.extend(number_of(source, at)?);
            }
        }
        Ok(n_threads)
    }

    /// Counts the files of the messages that were found.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn n_files(&self, source: &dyn Source, found: &Found) -> Result<usize, Error> {
        let mut numbers: Vec<u64> = found.first.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        Ok(message::files_of(source, &numbers)?.len())
    }
}

impl Found {
    fn excludes(&self, message: &Message) -> bool {
        self.excludes.iter().any(|tag| message.has_tag(tag))
    }
}

fn is_member() -> Plan {
    Plan::Filter(Box::new(Plan::Match {
        field: Field::Is,
        pattern: Pattern::Term("member".to_owned()),
    }))
}

/// Returns the tags that a query does not name.
fn unnamed(tree: &Tree, tags: &[String]) -> Vec<String> {
    let mut named = HashSet::new();
    name_tags(tree, &mut named);
    let unnamed = tags.iter().filter(|tag| !named.contains(tag.as_str()));
    unnamed.cloned().collect()
}

fn name_tags<'t>(tree: &'t Tree, named: &mut HashSet<&'t str>) {
    match tree {
        Tree::Clause(clause) => {
            if let (Some(Field::Tag), Value::Among(tags)) = (clause.field, &clause.value) {
                named.extend(tags.iter().map(String::as_str));
            }
        }
        Tree::And(parts) | Tree::Or(parts) | Tree::Near(parts, _) => {
            parts.iter().for_each(|part| name_tags(part, named));
        }
        Tree::Xor(one, other) => {
            name_tags(one, named);
            name_tags(other, named);
        }
        Tree::Not(part) | Tree::Boost(part, _) | Tree::Thread(part) | Tree::Part(part) => {
            name_tags(part, named);
        }
        Tree::All => {}
    }
}
