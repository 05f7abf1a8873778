//! Many writes in one call, each with an outcome of its own.
//!
//! The answer `200` to a bulk says nothing about its items. Each item is read: one that was refused for a while is sent
//! again, one that is older than what is there counts as done by somebody else, and one that can never be written is
//! handed back with the reason. Nothing is done that was not acknowledged.
//!
//! An index that is not there must not be made by a write that comes late: it would have the name of an alias. Documents ask
//! for an alias, but deletions cannot, and one with a version makes its index. So a call with nothing but deletions for an
//! index has an update of a document that is never there, which asks for an alias on behalf of all of them.

use std::collections::BTreeSet;

use ken_engine::Error;
use serde_json::{Value, json};

use crate::client::{Client, is_passing, kind, reason};
use crate::http::{Call, Method, WRITTEN};

/// The identifier of a document that is never there.
const NEVER: &str = "never";
/// The size of a call at which no more items are added.
const MAX_BYTES: usize = 8 << 20;

/// A write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) index: String,
    pub(crate) id: String,
    /// The text by which the shard is chosen.
    pub(crate) routing: Option<String>,
    pub(crate) deed: Deed,
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// This document, unless a newer version is there.
    Index {
        /// The version.
        version: u64,
        /// The document as JSON.
        source: String,
    },
    /// This document, unless there is any.
    Create {
        /// The document as JSON.
        source: String,
    },
    /// That there is no document, unless a newer version is there.
    Delete {
        /// The version.
        version: u64,
    },
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was acknowledged.
    Done,
    /// A newer version is there, or any if it was to be created.
    Newer,
    /// It can never be written, for this reason.
    Refused(String),
}

impl Item {
    fn line(&self) -> Value {
        let mut target = json!({ "_index": self.index, "_id": self.id });
        if let Some(routing) = &self.routing {
            target["routing"] = json!(routing);
        }
        let versioned = |target: &mut Value, version| {
            target["version"] = json!(version);
            target["version_type"] = json!("external_gte");
        };
        match self.deed {
            Deed::Index { version, .. } => {
                versioned(&mut target, version);
                json!({ "index": target })
            }
            Deed::Create { .. } => json!({ "create": target }),
            Deed::Delete { version } => {
                versioned(&mut target, version);
                json!({ "delete": target })
            }
        }
    }

    fn write(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(self.line().to_string().as_bytes());
        body.push(b'\n');
        if let Deed::Index { source, .. } | Deed::Create { source } = &self.deed {
            body.extend_from_slice(source.as_bytes());
            body.push(b'\n');
        }
    }

    /// Returns about how many bytes the item takes in a call.
    pub(crate) fn bytes(&self) -> usize {
        let source = match &self.deed {
            Deed::Index { source, .. } | Deed::Create { source } => source.len(),
            Deed::Delete { .. } => 0,
        };
        source + 200
    }
}

/// Adds the updates that keep deletions from making an index. Their answers follow those of the items.
fn guard(items: &[Item], now: &[usize], body: &mut Vec<u8>) {
    let is_delete = |item: &&Item| matches!(item.deed, Deed::Delete { .. });
    let indices = |deletes: bool| {
        let items = now.iter().map(|at| &items[*at]);
        let items = items.filter(move |item| is_delete(item) == deletes);
        items.map(|item| &item.index).collect::<BTreeSet<_>>()
    };
    for index in indices(true).difference(&indices(false)) {
        let target = json!({ "update": { "_index": index, "_id": NEVER, "require_alias": true } });
        body.extend_from_slice(format!("{target}\n{{\"doc\":{{}}}}\n").as_bytes());
    }
}

/// Writes items; returns the outcome of each. Asks before each call whether this machine may still write.
///
/// # Errors
/// Fails if it may not, or if the cluster took nothing for a while.
pub(crate) fn write(
    client: &Client,
    items: &[Item],
    may_write: &dyn Fn() -> Result<(), Error>,
) -> Result<Vec<Outcome>, Error> {
    // An empty bulk is an error.
    let mut outcomes: Vec<Option<Outcome>> = vec![None; items.len()];
    let mut waiting: Vec<usize> = (0..items.len()).collect();
    let mut most = MAX_BYTES;
    let mut pause = client.pause();
    while !waiting.is_empty() {
        let n = fitting(items, &waiting, most);
        let (now, _) = waiting.split_at(n);
        may_write()?;
        match attempt(client, items, now)? {
            Attempt::Items(answers) => {
                let mut has_problem = None;
                for (at, answer) in now.iter().zip(answers) {
                    match judge(&items[*at], &answer) {
                        Ok(outcome) => {
                            outcomes[*at] = Some(outcome);
                            pause.succeeded();
                        }
                        Err(problem) => has_problem = Some(problem),
                    }
                }
                waiting.retain(|at| outcomes[*at].is_none());
                if let Some(problem) = has_problem
                    && !pause.wait()
                {
                    return Err(client.error(problem));
                }
            }
            Attempt::TooLarge if n > 1 => {
                let bytes: usize = now.iter().map(|at| items[*at].bytes()).sum();
                most = (bytes / 2).max(1);
            }
            Attempt::TooLarge => {
                let reason = "it is larger than what the cluster takes".to_owned();
                outcomes[now[0]] = Some(Outcome::Refused(reason));
                waiting.remove(0);
            }
            Attempt::Later(problem) => {
                if !pause.wait() {
                    return Err(client.error(problem));
                }
            }
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

/// Returns how many of the waiting items go into a call; at least one.
fn fitting(items: &[Item], waiting: &[usize], most: usize) -> usize {
    let mut bytes = 0;
    let fit = waiting.iter().take_while(|at| {
        bytes += items[**at].bytes();
        bytes <= most
    });
    fit.count().max(1)
}

enum Attempt {
    /// The answers to the items, in their order.
    Items(Vec<Value>),
    /// The call was too large.
    TooLarge,
    /// Nothing is known of the items. They are sent again.
    Later(String),
}

fn attempt(client: &Client, items: &[Item], now: &[usize]) -> Result<Attempt, Error> {
    let mut body = Vec::new();
    now.iter().for_each(|at| items[*at].write(&mut body));
    guard(items, now, &mut body);
    let call = Call {
        method: Method::Post,
        path: "/_bulk?require_alias=true".to_owned(),
        body,
        is_lines: true,
        within: WRITTEN,
    };
    let reply = match client.once(&call) {
        Ok(reply) => reply,
        Err(error) => return Ok(Attempt::Later(error.to_string())),
    };
    let value: Value = match serde_json::from_slice(&reply.body) {
        _ if reply.status == 413 => return Ok(Attempt::TooLarge),
        Ok(value) => value,
        Err(error) => return Ok(Attempt::Later(format!("status {}: {error}", reply.status))),
    };
    match reply.status {
        200 => {}
        status if is_passing(status) || is_block(&value) => {
            return Ok(Attempt::Later(reason(&value)));
        }
        status => return Err(client.refused(status, &value)),
    }
    let answers = value.get("items").and_then(Value::as_array);
    Ok(match answers.and_then(|answers| answers.get(..now.len())) {
        Some(answers) => Attempt::Items(answers.to_vec()),
        None => Attempt::Later("the answer to a bulk has other items".to_owned()),
    })
}

/// Returns whether writes are blocked for a while, for instance as a disk is nearly full.
fn is_block(value: &Value) -> bool {
    kind(value) == Some("cluster_block_exception")
}

/// Returns the outcome of an item, or the reason for which it is sent again.
fn judge(item: &Item, answer: &Value) -> Result<Outcome, String> {
    let of_deed = answer.as_object().and_then(|of| of.values().next());
    let of_deed = of_deed.cloned().unwrap_or_default();
    let status = of_deed.get("status").and_then(Value::as_u64).unwrap_or(0);
    let is_delete = matches!(item.deed, Deed::Delete { .. });
    match status {
        200 | 201 => Ok(Outcome::Done),
        // What is not there needs no deletion; its version is remembered all the same.
        404 if is_delete && of_deed.get("error").is_none() => Ok(Outcome::Done),
        409 => Ok(Outcome::Newer),
        _ if is_block(&of_deed) => Err(reason(&of_deed)),
        400 => Ok(Outcome::Refused(reason(&of_deed))),
        413 => Ok(Outcome::Refused(reason(&of_deed))),
        _ => Err(reason(&of_deed)),
    }
}
