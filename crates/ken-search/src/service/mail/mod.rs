//! Searches for messages: by their own text or by their parts, without duplicates if wanted, and with the other
//! messages of their threads.

mod contacts;
mod parts;
mod threads;

use std::collections::HashSet;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_core::{
    Document, Field, Kind, Location, MessageState, Order, Pattern, Plan, SortKey, Value,
};
use ken_engine::{DocAddress, FacetBy, Limits, Request, Source, Stored};
use ken_index::parallel;
use serde::{Deserialize, Serialize};

use super::{Error, FacetValue, Listed, Named, Service, is_complete, reached};
use crate::parse::{Tree, parse_with};
use crate::plan::plan;

pub use contacts::ContactRequest;
pub use parts::Part;
pub use threads::Thread;

/// The number of messages that are read together.
const AT_ONCE: usize = 256;

/// A request for messages. The default asks for all, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageRequest {
    /// The messages to find.
    pub which: Which,
    /// Whether the oldest message comes first.
    pub reverse: bool,
    /// The most messages, or the most threads, that the query finds; all if absent.
    pub limit: Option<usize>,
    /// Whether duplicates of a message are left out.
    pub once: bool,
    /// Whether the other messages of the threads are added.
    pub related: Related,
    /// Milliseconds after which the search ends with what it has found; no deadline if absent.
    pub deadline_ms: Option<u64>,
}

/// Which messages to find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// Messages that a query in ken's language finds.
    Query(String),
    /// Messages at an address: all in a file, or the one that a member is or is a part of.
    At(PathBuf),
    /// Messages with a tag.
    Tagged,
}

impl Default for Which {
    fn default() -> Self {
        Self::Query("*".to_owned())
    }
}

/// Whether the other messages of the threads are added, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Related {
    /// They are not added.
    #[default]
    None,
    /// All messages are in the order of their dates.
    ByDate,
    /// The threads follow each other, each from old to new.
    ByThread,
}

/// Messages that were found and are not read yet.
pub struct Messages<'s> {
    snapshot: &'s dyn Source,
    found: Vec<DocAddress>,
    matched: HashSet<DocAddress>,
    limits: Option<Arc<Limits>>,
}

/// A message of the index.
#[derive(Clone, Debug)]
pub struct Message {
    at: DocAddress,
    /// The location of the message.
    pub location: Location,
    /// The document of the message.
    pub document: Document,
    /// Whether the query finds the message itself, and not only others of its thread.
    pub is_matched: bool,
}

impl From<Named> for Message {
    fn from(named: Named) -> Self {
        Self::of(named.at, named.stored, true)
    }
}

impl Message {
    fn of(at: DocAddress, stored: Stored, is_matched: bool) -> Self {
        Self {
            at,
            location: stored.location,
            document: stored.document,
            is_matched,
        }
    }

    /// Returns the identifier; empty if the message has none.
    pub fn id(&self) -> &str {
        self.document.text(Field::Msgid).unwrap_or_default()
    }

    /// Returns when the message was sent, in seconds since 1970-01-01 UTC.
    pub fn date(&self) -> i64 {
        self.document.number(Field::Date).unwrap_or_default()
    }

    /// Returns the subject.
    pub fn subject(&self) -> &str {
        self.document.text(Field::Title).unwrap_or_default()
    }

    /// Returns the values of a text field.
    pub fn texts(&self, field: Field) -> Vec<&str> {
        let values = self.document.fields.iter();
        let values = values.filter_map(|(of, value)| match value {
            Value::Text(text) if *of == field => Some(text.as_str()),
            _ => None,
        });
        values.collect()
    }

    /// Returns the states and tags, except `seen`, which most messages have.
    pub fn marks(&self) -> Vec<&str> {
        let mut marks = self.texts(Field::Is);
        marks.extend(self.texts(Field::Tag));
        marks.retain(|mark| *mark != MessageState::Seen.name());
        marks
    }
}

impl Messages<'_> {
    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether no deadline or cancellation has ended the search.
    pub fn is_complete(&self) -> bool {
        is_complete(self.limits.as_ref())
    }

    /// Reverses the order of the messages.
    pub fn reverse(&mut self) {
        self.found.reverse();
    }

    /// Reads one message after the other.
    pub fn iter(&self) -> impl Iterator<Item = Result<Message, Error>> {
        self.found.iter().map(|at| {
            let stored = self.snapshot.document(*at)?;
            Ok(Message::of(*at, stored, self.matched.contains(at)))
        })
    }

    /// Returns the locations of the messages without reading them.
    pub fn locations(&self) -> impl Iterator<Item = Result<Location, Error>> {
        self.found.iter().map(|at| Ok(self.snapshot.location(*at)?))
    }

    /// Reads all messages in the order of the index, as neighbours are unpacked together. It calls `each` with the
    /// number of each message among those found. Once limits are reached, the messages after the first ones are left
    /// out.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn each_as_kept(&self, each: &mut dyn FnMut(usize, Message)) -> Result<(), Error> {
        for (chunk, numbers) in as_kept(&self.found).chunks(AT_ONCE).enumerate() {
            if chunk > 0 && reached(self.limits.as_ref()) {
                break;
            }
            let addresses: Vec<_> = numbers.iter().map(|number| self.found[*number]).collect();
            let read = self.snapshot.documents(&addresses)?.into_iter();
            for ((number, at), stored) in numbers.iter().zip(addresses).zip(read) {
                each(*number, Message::of(at, stored, self.matched.contains(&at)));
            }
        }
        Ok(())
    }
}

/// Returns the positions of documents in the order of the index.
fn as_kept(documents: &[DocAddress]) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..documents.len()).collect();
    numbers.sort_unstable_by_key(|number| documents[*number]);
    numbers
}

/// Keeps one of the messages with the same identifier: a preferred one, else the first. Messages without an identifier
/// are all kept.
pub fn keep_once<T, K: Clone + Eq + Hash>(
    messages: &mut Vec<T>,
    ids: Vec<Option<K>>,
    is_preferred: impl Fn(&T) -> bool,
) {
    let preferred = messages.iter().zip(&ids);
    let preferred = preferred.filter(|(message, _)| is_preferred(message));
    let preferred: HashSet<K> = preferred.filter_map(|(_, id)| id.clone()).collect();
    let mut ids = ids.into_iter();
    let mut seen = HashSet::new();
    messages.retain(|message| {
        let Some(id) = ids.next().flatten() else {
            return true;
        };
        let is_elsewhere = preferred.contains(&id) && !is_preferred(message);
        !is_elsewhere && seen.insert(id)
    });
}

impl<'s> Service<'s> {
    /// Finds messages.
    ///
    /// # Errors
    /// Fails if the query has a mistake or the index cannot be read.
    pub fn messages(&self, request: &MessageRequest) -> Result<Messages<'s>, Error> {
        let limit = request.limit.filter(|_| !request.once);
        let shared = self.limits(request.deadline_ms);
        let limits = shared.as_ref();
        let mut found = self.found(request, limit, limits)?;
        if request.once {
            self.keep_messages_once(&mut found, &HashSet::new(), limits)?;
            found.truncate(request.limit.unwrap_or(usize::MAX));
        }
        let matched: HashSet<DocAddress> = found.iter().copied().collect();
        if request.related != Related::None && !reached(limits) {
            found = match request.related {
                Related::ByThread => self.thread_by_thread(&found, limits)?,
                _ => {
                    let all = self.snapshot.mail().threads(&found, limits)?;
                    self.by_date(&all, request.reverse, None)?
                }
            };
            if request.once {
                self.keep_messages_once(&mut found, &matched, limits)?;
            }
        }
        Ok(Messages {
            snapshot: self.snapshot,
            found,
            matched,
            limits: shared,
        })
    }

    /// Counts the messages of each tag.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn tags(&self) -> Result<Listed<FacetValue>, Error> {
        let limits = self.limits(None);
        let plan = among_messages(None);
        let by = [FacetBy::Values(Field::Tag)];
        let request = Request {
            limits: limits.as_ref(),
            ..Request::new(&plan)
        };
        let counted = self.snapshot.facets(&request, &by)?;
        let values = counted.into_iter().flatten();
        let values = values.filter_map(|(value, count)| match value {
            Value::Text(value) => Some(FacetValue { count, value }),
            Value::Number(_) => None,
        });
        Ok(Listed {
            items: values.collect(),
            complete: is_complete(limits.as_ref()),
        })
    }

    /// Finds the messages with this identifier.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn messages_with_id(&self, id: &str) -> Result<Messages<'s>, Error> {
        let plan = is(Field::Msgid, &id.to_lowercase());
        let limits = self.limits(None);
        let found = self.snapshot.find(&Request {
            limits: limits.as_ref(),
            ..Request::new(&plan)
        })?;
        Ok(Messages {
            snapshot: self.snapshot,
            found: found.hits.into_iter().map(|hit| hit.address).collect(),
            matched: HashSet::new(),
            limits,
        })
    }

    /// Returns the messages in the threads of some documents, without those documents, in no order.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn related(&self, to: &[DocAddress]) -> Result<Listed<DocAddress>, Error> {
        let known: HashSet<&DocAddress> = to.iter().collect();
        let limits = self.limits(None);
        let mut others = self.snapshot.mail().threads(to, limits.as_ref())?;
        others.retain(|at| !known.contains(at));
        Ok(Listed {
            items: others,
            complete: is_complete(limits.as_ref()),
        })
    }

    /// Reads the messages of documents that are messages or parts of messages. Returns the results of `made` in the
    /// order of the documents. Several threads read if the number of documents is worth it. Once the search is cancelled,
    /// the other messages are left out.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn read_messages<T: Send>(
        &self,
        documents: &[DocAddress],
        max_threads: usize,
        made: impl Fn(Message) -> T + Sync,
    ) -> Result<Listed<T>, Error> {
        let limits = self.limits(None);
        let numbers = as_kept(documents);
        let chunks: Vec<&[usize]> = numbers.chunks(AT_ONCE).collect();
        let size = |chunk: &&[usize]| chunk.len() as u64;
        let read = |_, chunk: &&[usize]| match reached(limits.as_ref()) {
            true => Ok(Vec::new()),
            false => self.read_chunk(documents, chunk, &made),
        };
        let read = parallel::each(&chunks, size, max_threads, read)?;
        let mut all: Vec<(usize, T)> = read.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        Ok(Listed {
            items: all.into_iter().map(|(_, made)| made).collect(),
            complete: is_complete(limits.as_ref()),
        })
    }

    fn read_chunk<T>(
        &self,
        documents: &[DocAddress],
        numbers: &[usize],
        made: &impl Fn(Message) -> T,
    ) -> Result<Vec<(usize, T)>, Error> {
        let addresses: Vec<_> = numbers.iter().map(|number| documents[*number]).collect();
        let stored = self.snapshot.documents(&addresses)?;
        let mut all = Vec::with_capacity(stored.len());
        for ((number, at), stored) in numbers.iter().zip(addresses).zip(stored) {
            // Most messages are files of their own.
            let message = match stored.location.ipath.is_root() {
                true => Some(Message::of(at, stored, true)),
                false => self.carrier(at)?,
            };
            all.extend(message.map(|message| (*number, made(message))));
        }
        Ok(all)
    }

    /// Returns the message with this document as a part, if any.
    fn carrier(&self, at: DocAddress) -> Result<Option<Message>, Error> {
        let Some(at) = self.snapshot.mail().carrier(at)? else {
            return Ok(None);
        };
        Ok(Some(Message::of(at, self.snapshot.document(at)?, true)))
    }

    /// Returns the messages that a query finds, by their own text or by their parts.
    fn found(
        &self,
        request: &MessageRequest,
        limit: Option<usize>,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error> {
        if let Which::At(address) = &request.which {
            let at = self.messages_at(address)?;
            return self.by_date(&at, request.reverse, limit);
        }
        let (plan, asks_parts) = self.meant(&request.which)?;
        let parts = match &plan {
            Some(plan) if asks_parts => self.carriers(plan, limits)?,
            _ => HashSet::new(),
        };
        let own_limit = match parts.is_empty() {
            true => limit.unwrap_or(usize::MAX),
            false => usize::MAX,
        };
        let found = self.snapshot.find(&Request {
            order: newest_first(request.reverse),
            limit: own_limit,
            limits,
            ..Request::new(&among_messages(plan))
        })?;
        let found = found.hits.into_iter().map(|hit| hit.address);
        if parts.is_empty() {
            return Ok(found.collect());
        }
        let all: HashSet<DocAddress> = found.chain(parts).collect();
        let all: Vec<DocAddress> = all.into_iter().collect();
        self.by_date(&all, request.reverse, limit)
    }

    /// Returns the messages at an address, in no order.
    fn messages_at(&self, address: &Path) -> Result<Vec<DocAddress>, Error> {
        let target = self.target(address)?;
        let plan = among_messages(None);
        let request = Request {
            only: Some(&target.addresses),
            ..Request::new(&plan)
        };
        let found = self.snapshot.find(&request)?.hits;
        let found: Vec<DocAddress> = found.into_iter().map(|hit| hit.address).collect();
        if target.location.ipath.is_root() {
            return Ok(found);
        }
        let Some(at) = self.snapshot.document_at(&target.location)? else {
            return Ok(Vec::new());
        };
        let message = match found.contains(&at) {
            true => Some(at),
            false => self.snapshot.mail().carrier(at)?,
        };
        Ok(message.into_iter().collect())
    }

    /// Returns the plan for the wanted messages, or none for all messages, and whether the plan also applies to parts.
    fn meant(&self, which: &Which) -> Result<(Option<Plan>, bool), Error> {
        Ok(match which {
            Which::Query(query) => {
                let tree = parse_with(query, self.names())?;
                // The text that an attached file lacks may be in its message.
                let asks_parts = tree != Tree::All && !excludes(&tree);
                let plan = (tree != Tree::All).then(|| plan(&tree, &self.context));
                (plan, asks_parts)
            }
            Which::At(_) => (Some(Plan::Nothing), false),
            Which::Tagged => {
                let pattern = Pattern::Prefix(String::new());
                let field = Field::Tag;
                (Some(Plan::Match { field, pattern }), false)
            }
        })
    }

    /// Returns the messages with a part that a plan finds.
    fn carriers(
        &self,
        plan: &Plan,
        limits: Option<&Arc<Limits>>,
    ) -> Result<HashSet<DocAddress>, Error> {
        let is_inside = Plan::Filter(Box::new(is(Field::Is, "member")));
        let is_message = Plan::Not(Box::new(among_messages(None)));
        let plan = Plan::And(vec![plan.clone(), is_inside, is_message]);
        let found = self.snapshot.find(&Request {
            limits,
            ..Request::new(&plan)
        })?;
        let mut carriers = HashSet::new();
        for hit in found.hits {
            if reached(limits) {
                break;
            }
            carriers.extend(self.snapshot.mail().carrier(hit.address)?);
        }
        Ok(carriers)
    }

    /// Returns messages in the order of their dates. They were found already, so no limit leaves any out.
    fn by_date(
        &self,
        messages: &[DocAddress],
        reverse: bool,
        limit: Option<usize>,
    ) -> Result<Vec<DocAddress>, Error> {
        let request = Request {
            only: Some(messages),
            order: newest_first(reverse),
            limit: limit.unwrap_or(usize::MAX),
            ..Request::new(&Plan::All)
        };
        let found = self.snapshot.find(&request)?;
        Ok(found.hits.into_iter().map(|hit| hit.address).collect())
    }

    /// Leaves out duplicates of messages. Once limits are reached, the messages after the first ones are left out.
    fn keep_messages_once(
        &self,
        found: &mut Vec<DocAddress>,
        preferred: &HashSet<DocAddress>,
        limits: Option<&Arc<Limits>>,
    ) -> Result<(), Error> {
        let mut numbers = Vec::with_capacity(found.len());
        for some in found.chunks(AT_ONCE) {
            if !numbers.is_empty() && reached(limits) {
                break;
            }
            for at in some {
                numbers.push(self.snapshot.mail().links(*at)?.first().copied());
            }
        }
        found.truncate(numbers.len());
        keep_once(found, numbers, |at| preferred.contains(at));
        Ok(())
    }
}

fn newest_first(reverse: bool) -> Order {
    Order {
        key: SortKey::DATE,
        reverse,
    }
}

/// Returns whether the query excludes something.
fn excludes(tree: &Tree) -> bool {
    match tree {
        Tree::Not(_) | Tree::Xor(..) => true,
        Tree::And(parts) | Tree::Or(parts) | Tree::Near(parts, _) => parts.iter().any(excludes),
        Tree::Boost(part, _) | Tree::Thread(part) | Tree::Part(part) => excludes(part),
        Tree::All | Tree::Clause(_) => false,
    }
}

/// Returns the plan for messages that are not attached to other messages.
fn among_messages(plan: Option<Plan>) -> Plan {
    let mut parts: Vec<Plan> = plan.into_iter().collect();
    parts.push(Plan::Filter(Box::new(is(
        Field::Type,
        Kind::Message.name(),
    ))));
    parts.push(Plan::Not(Box::new(is(Field::Is, "attachment"))));
    Plan::And(parts)
}

fn is(field: Field, term: &str) -> Plan {
    Plan::Match {
        field,
        pattern: Pattern::Term(term.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_duplicates_a_preferred_one_is_kept() {
        let mut all = vec!["1 related", "1 direct", "2 first", "2 second", "nameless"];
        let ids = vec![Some(1), Some(1), Some(2), Some(2), None];
        keep_once(&mut all, ids, |message| message.ends_with("direct"));
        assert_eq!(all, ["1 direct", "2 first", "nameless"]);
    }
}
