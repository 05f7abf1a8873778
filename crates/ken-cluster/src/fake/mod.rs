//! A cluster in memory that answers by the rules of OpenSearch, and fails as tests ask it to.
//!
//! It keeps identifiers, versions, sequence numbers and tombstones, and what searches see only since the last refresh. The
//! rules are those of <https://docs.opensearch.org/latest/api-reference/document-apis/bulk/> and of the decision that
//! measured them on a node.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "it is a part of tests, which panic where something is wrong"
)]
#![cfg_attr(
    not(test),
    allow(dead_code, reason = "tests of other crates use the half of it")
)]

mod query;
mod search;
mod server;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http::{Call, Http, Method, Reply};

pub use server::Server;

/// What happens to a bulk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The connection breaks before the node has read the call.
    ResetBefore,
    /// The connection breaks after the node did what was asked.
    ResetAfter,
    /// The answer ends in the middle, after the node did what was asked.
    Torn,
    /// The node refuses the whole call for a while.
    Busy,
    /// The node takes no call of more than this number of items.
    AtMost(usize),
    /// Each item whose number this divides is refused for a while.
    SomeItems(usize),
    /// Writes are blocked, as a disk is nearly full.
    Blocked,
}

/// A document, or the tombstone of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    /// None for a tombstone.
    pub(crate) source: Option<Value>,
    seq_no: u64,
}

/// The documents of one index, by identifier.
pub(crate) type Documents = BTreeMap<String, Stored>;

/// Looks at all documents after one was written.
pub(crate) type Watch = Box<dyn Fn(&Documents, &str) + Send + Sync>;

/// The cluster.
#[derive(Default)]
pub struct Fake {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The documents by the alias of their index.
    indices: BTreeMap<String, Documents>,
    /// What searches see of them.
    visible: BTreeMap<String, Arc<Documents>>,
    /// The points in time that are open.
    points: HashMap<String, Arc<Documents>>,
    seq_no: u64,
    faults: VecDeque<Fault>,
    /// Nodes that cannot be reached.
    cut_off: HashSet<String>,
    /// Bulks that did not reach the node.
    late: Vec<Vec<u8>>,
    watch: Option<Watch>,
    n_bulks: usize,
    /// Whether the answer to the next document that is put alone is lost.
    loses_answer: bool,
    has_no_root: bool,
    /// A number in the root document that grows whenever it is read.
    grows: Option<&'static str>,
}

impl Fake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes bulks fail in this way, one after the other.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// Calls this after each document that is written.
    pub(crate) fn watch(&self, watch: Watch) {
        self.state().watch = Some(watch);
    }

    /// Returns whether there is an index behind an alias.
    pub(crate) fn has_index(&self, alias: &str) -> bool {
        self.state().indices.contains_key(alias)
    }

    /// Returns the aliases of all indices.
    pub(crate) fn indices(&self) -> Vec<String> {
        self.state().indices.keys().cloned().collect()
    }

    /// Has every change of the root document fail, or not.
    pub(crate) fn cut_off_root(&self, is_cut_off: bool) {
        self.state().has_no_root = is_cut_off;
    }

    /// Has a number in the root document grow whenever it is read.
    pub(crate) fn grow(&self, number: Option<&'static str>) {
        self.state().grows = number;
    }

    /// Returns the identifiers of the documents beside the root document, and its own.
    pub(crate) fn root_documents(&self) -> Vec<String> {
        self.state().index("t-root").keys().cloned().collect()
    }

    /// Loses the answer to the next document that is put alone.
    pub(crate) fn lose_answer(&self) {
        self.state().loses_answer = true;
    }

    /// Cuts off a node. Bulks that are sent to it are kept.
    pub(crate) fn cut_off(&self, node: &str) {
        self.state().cut_off.insert(node.to_owned());
    }

    /// Lets a node be reached again.
    pub(crate) fn join(&self, node: &str) {
        self.state().cut_off.remove(node);
    }

    /// Delivers the bulks that were sent to nodes that were cut off.
    pub(crate) fn deliver_late(&self) -> usize {
        let mut state = self.state();
        let late = std::mem::take(&mut state.late);
        late.iter()
            .for_each(|body| _ = state.bulk(body, Fault::None));
        late.len()
    }

    /// Returns the root document of an index, once there is one.
    pub fn root(&self, name: &str) -> Option<Value> {
        let mut state = self.state();
        let root = state
            .index(&format!("{name}-root"))
            .get("root")?
            .source
            .clone()?;
        serde_json::from_str(root["root"].as_str()?).ok()
    }

    /// Ends the lease of a process that died, as if its time had passed.
    pub(crate) fn end_lease(&self) {
        let mut state = self.state();
        let mut root = state.index("t-root")["root"].source.clone().unwrap();
        let mut text: Value = serde_json::from_str(root["root"].as_str().unwrap()).unwrap();
        for lease in text["leases"].as_array_mut().unwrap() {
            lease["holder"] = json!("");
        }
        root["root"] = json!(text.to_string());
        let seq_no = state.next_seq_no();
        let stored = Stored {
            version: 1,
            source: Some(root),
            seq_no,
        };
        state.index("t-root").insert("root".to_owned(), stored);
    }

    /// Returns the commits that lost leases had under way.
    pub(crate) fn aborted(&self) -> Vec<u64> {
        let root = self.state().index("t-root")["root"].source.clone().unwrap();
        let root: Value = serde_json::from_str(root["root"].as_str().unwrap()).unwrap();
        serde_json::from_value(root["aborted"].clone()).unwrap()
    }

    pub(crate) fn n_bulks(&self) -> usize {
        self.state().n_bulks
    }

    /// Returns the documents that are there, whether searches see them or not, without tombstones.
    pub(crate) fn documents(&self) -> Documents {
        let mut documents = self.state().index("t-documents").clone();
        documents.retain(|_, stored| stored.source.is_some());
        documents
    }

    /// Returns the words that are there.
    pub(crate) fn words(&self) -> HashSet<String> {
        let words = self.state().index("t-words").clone().into_values();
        let terms = words.filter_map(|stored| Some(stored.source?["term"].as_str()?.to_owned()));
        terms.collect()
    }
}

impl State {
    fn index(&mut self, alias: &str) -> &mut Documents {
        self.indices.entry(alias.to_owned()).or_default()
    }

    fn next_seq_no(&mut self) -> u64 {
        self.seq_no += 1;
        self.seq_no
    }

    fn answer(&mut self, call: &Call) -> (u16, Value) {
        let path = call.path.split('?').next().unwrap_or_default();
        let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let missing = json!({ "error": { "type": "index_not_found_exception" } });
        match (call.method, &parts[..]) {
            (Method::Get, [""]) => (
                200,
                json!({ "version": { "distribution": "opensearch", "number": "3.6.0" } }),
            ),
            (Method::Get, ["_cluster", "health"]) => (
                200,
                json!({ "status": "green", "number_of_nodes": 1, "unassigned_shards": 0 }),
            ),
            (Method::Get, ["_alias", alias]) => match self.indices.contains_key(*alias) {
                true => (200, json!({})),
                false => (404, missing),
            },
            (Method::Put, [index]) => {
                self.index(index.trim_end_matches("-1"));
                (200, json!({ "acknowledged": true }))
            }
            (Method::Delete, ["_search", "point_in_time"]) => {
                let id = body["pit_id"][0].as_str().unwrap_or_default();
                self.points.remove(id);
                (200, json!({}))
            }
            (Method::Delete, [index]) => {
                let alias = index.trim_end_matches("-1");
                self.visible.remove(alias);
                match self.indices.remove(alias) {
                    Some(_) => (200, json!({})),
                    None => (404, missing),
                }
            }
            (Method::Post, [alias, "_mget"]) => match self.indices.get(*alias) {
                Some(index) => (200, many(index, &body)),
                // An error for each document, unlike other questions.
                None => {
                    let ids = body["ids"].as_array().unwrap().iter();
                    let missing = |id| json!({ "_id": id, "error": missing["error"] });
                    (200, json!({ "docs": ids.map(missing).collect::<Vec<_>>() }))
                }
            },
            (Method::Get, [alias, "_doc", id]) => {
                if let Some(number) = self.grows.filter(|_| *id == "root") {
                    self.grow_root(alias, number);
                }
                match self.indices.get(*alias).and_then(|index| index.get(*id)) {
                    Some(root) => {
                        let (seq_no, source) = (root.seq_no, &root.source);
                        let found =
                            json!({ "_seq_no": seq_no, "_primary_term": 1, "_source": source });
                        (200, found)
                    }
                    None => (404, json!({ "found": false })),
                }
            }
            (Method::Delete, [alias, "_doc", id]) => match self.index(alias).remove(*id) {
                Some(_) => (200, json!({})),
                None => (404, missing),
            },
            (Method::Put, [alias, "_doc", _]) if !self.indices.contains_key(*alias) => {
                (404, missing)
            }
            (Method::Put, [alias, "_doc", id]) => self.put(alias, id, &call.path, body),
            (Method::Post, [alias, "_search", "point_in_time"]) => {
                if !self.indices.contains_key(*alias) {
                    return (404, missing);
                }
                let id = format!("point {}", self.next_seq_no());
                let documents = self.visible.get(*alias).cloned().unwrap_or_default();
                self.points.insert(id.clone(), documents);
                (200, json!({ "pit_id": id }))
            }
            (Method::Post, ["_search"]) => {
                let id = body["pit"]["id"].as_str().unwrap_or_default();
                match self.points.get(id) {
                    Some(documents) => (200, search::answer(documents, &body)),
                    None => (
                        404,
                        json!({ "error": { "type": "search_context_missing_exception" } }),
                    ),
                }
            }
            (Method::Post, [alias, "_search"]) => {
                let documents = self.visible.get(*alias).cloned().unwrap_or_default();
                (200, search::answer(&documents, &body))
            }
            (Method::Post, [aliases, "_refresh"]) => {
                for alias in aliases.split(',') {
                    self.refresh(alias);
                }
                (200, json!({ "_shards": { "failed": 0 } }))
            }
            (Method::Get, [_, "_stats", _]) => (200, json!({})),
            (method, _) => panic!("the fake knows no {method:?} {path}"),
        }
    }

    fn grow_root(&mut self, alias: &str, number: &str) {
        let stored = self.index(alias).get_mut("root").unwrap();
        let source = stored.source.as_mut().unwrap();
        let mut root: Value = serde_json::from_str(source["root"].as_str().unwrap()).unwrap();
        root[number] = json!(root[number].as_u64().unwrap() + 1);
        source["root"] = json!(root.to_string());
    }

    fn refresh(&mut self, alias: &str) {
        let mut documents = self.index(alias).clone();
        documents.retain(|_, stored| stored.source.is_some());
        self.visible.insert(alias.to_owned(), Arc::new(documents));
    }

    /// Puts a document that is compared with the one that is there.
    fn put(&mut self, alias: &str, id: &str, path: &str, source: Value) -> (u16, Value) {
        let known = self.index(alias).get(id).map(|there| there.seq_no);
        let asked = path
            .split(['?', '&'])
            .find_map(|part| part.strip_prefix("if_seq_no="));
        let asked = asked.and_then(|number| number.parse().ok());
        if known != asked {
            return (
                409,
                json!({ "error": { "type": "version_conflict_engine_exception" } }),
            );
        }
        let seq_no = self.next_seq_no();
        let stored = Stored {
            version: 1,
            source: Some(source),
            seq_no,
        };
        self.index(alias).insert(id.to_owned(), stored);
        (200, json!({ "_seq_no": seq_no, "_primary_term": 1 }))
    }

    fn bulk(&mut self, body: &[u8], fault: Fault) -> (u16, Value) {
        let busy = json!({ "error": { "type": "rejected_execution_exception" }, "status": 429 });
        let text = std::str::from_utf8(body).unwrap();
        let mut lines = text.lines();
        let mut deeds: Vec<(String, Value, Option<Value>)> = Vec::new();
        while let Some(line) = lines.next() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (name, target) = line.as_object().unwrap().iter().next().unwrap();
            let source =
                (name != "delete").then(|| serde_json::from_str(lines.next().unwrap()).unwrap());
            deeds.push((name.clone(), target.clone(), source));
        }
        match fault {
            Fault::Busy => return (429, busy),
            Fault::AtMost(most) if deeds.len() > most => return (413, json!({})),
            _ => {}
        }
        let mut items = Vec::new();
        for (number, (name, target, source)) in deeds.into_iter().enumerate() {
            let block = json!({ "status": 403, "error": { "type": "cluster_block_exception" } });
            let answer = match fault {
                Fault::Blocked => block,
                Fault::SomeItems(each) if number % each == 0 => {
                    json!({ "status": 429, "error": { "type": "rejected_execution_exception" } })
                }
                _ => self.write(&name, &target, source),
            };
            items.push(json!({ name: answer }));
        }
        (200, json!({ "errors": true, "items": items }))
    }

    fn write(&mut self, name: &str, target: &Value, source: Option<Value>) -> Value {
        let alias = target["_index"].as_str().unwrap().to_owned();
        let id = target["_id"].as_str().unwrap().to_owned();
        let seq_no = self.next_seq_no();
        let conflict =
            json!({ "status": 409, "error": { "type": "version_conflict_engine_exception" } });
        let known = self.index(&alias).get(&id).cloned();
        let version = match name {
            "create" if known.is_some() => return conflict,
            "create" => 1,
            _ => target["version"].as_u64().unwrap(),
        };
        if known.as_ref().is_some_and(|known| known.version > version) {
            return conflict;
        }
        let was_there = known.is_some_and(|known| known.source.is_some());
        let is_delete = source.is_none();
        let is_refused = source.as_ref().is_some_and(|source| source["l_body"] == 13);
        if is_refused {
            return json!({ "status": 400, "error": { "type": "mapper_parsing_exception", "reason": "13" } });
        }
        self.index(&alias).insert(
            id.clone(),
            Stored {
                version,
                source,
                seq_no,
            },
        );
        if alias.ends_with("-documents")
            && let Some(watch) = &self.watch
        {
            watch(&self.indices[&alias], &id);
        }
        json!({ "status": if is_delete && !was_there { 404 } else { 200 } })
    }
}

/// Returns the answer to a question for several documents.
fn many(index: &Documents, body: &Value) -> Value {
    let ids = body["ids"].as_array().unwrap().iter();
    let found = ids.map(|id| {
        let stored = index.get(id.as_str().unwrap());
        match stored.and_then(|stored| stored.source.as_ref()) {
            Some(source) => json!({ "_id": id, "found": true, "_source": source }),
            None => json!({ "_id": id, "found": false }),
        }
    });
    json!({ "docs": found.collect::<Vec<_>>() })
}

impl Http for Fake {
    fn send(&self, node: &str, call: &Call) -> io::Result<Reply> {
        let mut state = self.state();
        let is_bulk = call.path.starts_with("/_bulk");
        if state.cut_off.contains(node) {
            if is_bulk {
                state.late.push(call.body.clone());
            }
            return Err(io::Error::other("no route to host"));
        }
        if !is_bulk {
            if state.has_no_root && call.method == Method::Put {
                let body = b"{}".to_vec();
                return Ok(Reply { status: 400, body });
            }
            let (status, value) = state.answer(call);
            let is_document = call.method == Method::Put && call.path.contains("/_doc/");
            if is_document && std::mem::take(&mut state.loses_answer) {
                return Err(io::Error::other("connection reset"));
            }
            return Ok(Reply {
                status,
                body: value.to_string().into_bytes(),
            });
        }
        assert!(call.path.contains("require_alias=true"));
        state.n_bulks += 1;
        let fault = state.faults.pop_front().unwrap_or(Fault::None);
        if fault == Fault::ResetBefore {
            return Err(io::Error::other("connection reset"));
        }
        let (status, value) = state.bulk(&call.body, fault);
        let mut body = value.to_string().into_bytes();
        match fault {
            Fault::ResetAfter => return Err(io::Error::other("connection reset")),
            Fault::Torn => body.truncate(body.len() / 2),
            _ => {}
        }
        Ok(Reply { status, body })
    }
}
