//! A cluster in memory that answers by the rules of OpenSearch, and fails as tests ask it to.
//!
//! It keeps identifiers, versions, sequence numbers and tombstones, and what searches see only since the last refresh. The
//! rules are those of <https://docs.opensearch.org/latest/api-reference/document-apis/bulk/> and of the decision that
//! measured them on a node.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http::{Call, Http, Method, Reply};

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
pub(crate) struct Fake {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    indices: BTreeMap<String, Documents>,
    /// What searches see of the documents.
    visible: Documents,
    seq_no: u64,
    faults: VecDeque<Fault>,
    /// Nodes that cannot be reached.
    cut_off: HashSet<String>,
    /// Bulks that did not reach the node.
    late: Vec<Vec<u8>>,
    watch: Option<Watch>,
    n_bulks: usize,
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

    /// Cuts off a node. Bulks that are sent to it are kept.
    pub(crate) fn cut_off(&self, node: &str) {
        self.state().cut_off.insert(node.to_owned());
    }

    /// Delivers the bulks that were sent to nodes that were cut off.
    pub(crate) fn deliver_late(&self) -> usize {
        let mut state = self.state();
        let late = std::mem::take(&mut state.late);
        late.iter()
            .for_each(|body| _ = state.bulk(body, Fault::None));
        late.len()
    }

    /// Ends the lease of a process that died, as if its time had passed.
    pub(crate) fn end_lease(&self) {
        let mut state = self.state();
        let mut root = state.index("t-root")["root"].source.clone().unwrap();
        let mut text: Value = serde_json::from_str(root["root"].as_str().unwrap()).unwrap();
        text["holder"] = Value::Null;
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
        match (call.method, path) {
            (Method::Get, "/") => (
                200,
                json!({ "version": { "distribution": "opensearch", "number": "3.6.0" } }),
            ),
            (Method::Get, path) if path.starts_with("/_alias/") => (200, json!({})),
            (Method::Get, "/t-root/_doc/root") => match self.index("t-root").get("root") {
                Some(root) => (
                    200,
                    json!({
                        "_seq_no": root.seq_no, "_primary_term": 1, "_source": root.source,
                    }),
                ),
                None => (404, json!({ "found": false })),
            },
            (Method::Put, "/t-root/_doc/root") => self.put_root(&call.path, body),
            (Method::Post, "/t-documents/_search") => (200, self.search(&body)),
            (Method::Post, "/t-words,t-documents/_refresh") => {
                self.visible = self.index("t-documents").clone();
                self.visible.retain(|_, stored| stored.source.is_some());
                (200, json!({ "_shards": { "failed": 0 } }))
            }
            other => panic!("the fake knows no {other:?}"),
        }
    }

    fn put_root(&mut self, path: &str, source: Value) -> (u16, Value) {
        let known = self.index("t-root").get("root").map(|root| root.seq_no);
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
        self.index("t-root").insert("root".to_owned(), stored);
        (200, json!({ "_seq_no": seq_no, "_primary_term": 1 }))
    }

    /// Answers the one search that a sink makes: the visible documents of some files, in pages.
    fn search(&self, body: &Value) -> Value {
        let files = &body["query"]["bool"]["filter"][0]["terms"]["file"];
        let files: Vec<&str> = files
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let sort = |of: &Value| json!([of["loc"], of["group"]]);
        let mut found: Vec<(Value, Value)> = Vec::new();
        for (id, stored) in &self.visible {
            let source = stored.source.as_ref().unwrap();
            if files.contains(&source["file"].as_str().unwrap()) {
                let mut fields = json!({ "file": [source["file"]], "group": [source["group"]] });
                if source["own"] == true {
                    fields["own"] = json!([true]);
                }
                let key = sort(source);
                let hit =
                    json!({ "_id": id, "_version": stored.version, "fields": fields, "sort": key });
                found.push((key, hit));
            }
        }
        found.sort_by_key(|(key, _)| key.to_string());
        let after = body.get("search_after").map(Value::to_string);
        let is_behind = |key: String| after.as_ref().is_none_or(|after| key > *after);
        found.retain(|(key, _)| is_behind(key.to_string()));
        found.truncate(body["size"].as_u64().unwrap() as usize);
        let hits: Vec<Value> = found.into_iter().map(|(_, hit)| hit).collect();
        json!({ "_shards": { "failed": 0 }, "timed_out": false, "hits": { "hits": hits } })
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
        if alias == "t-documents"
            && let Some(watch) = &self.watch
        {
            watch(&self.indices[&alias], &id);
        }
        json!({ "status": if is_delete && !was_there { 404 } else { 200 } })
    }
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
            let (status, value) = state.answer(call);
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
