//! Answers of the fake to calls for one document, one index, or a search.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Documents, Fake, Fault, State, Stored, search};
use crate::http::{Call, Http, Method, Reply};

impl State {
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
            (Method::Get, ["_alias", alias]) => {
                let is_there =
                    self.indices.contains_key(*alias) && !self.by_mistake.contains(*alias);
                match is_there {
                    true => (200, json!({})),
                    false => (404, missing),
                }
            }
            (Method::Put, [index]) => {
                let alias = index.trim_end_matches("-1");
                if self.by_mistake.contains(alias) {
                    return (
                        400,
                        json!({ "error": { "type": "invalid_alias_name_exception" } }),
                    );
                }
                self.index(alias);
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
                let stored = self.indices.get(*alias).and_then(|index| index.get(*id));
                match stored.filter(|stored| stored.source.is_some()) {
                    Some(root) => {
                        let (seq_no, source) = (root.seq_no, &root.source);
                        let found =
                            json!({ "_seq_no": seq_no, "_primary_term": 1, "_source": source });
                        (200, found)
                    }
                    None => (404, json!({ "found": false })),
                }
            }
            (Method::Put, [alias, "_doc", _]) if !self.indices.contains_key(*alias) => {
                (404, missing)
            }
            (Method::Put, [alias, "_doc", id]) => self.put(alias, id, &call.path, body),
            (Method::Post, [alias, "_update", id]) => self.update(alias, id, &body),
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
                let all = || aliases.split(',');
                if !all().all(|alias| self.indices.contains_key(alias)) {
                    return (404, missing);
                }
                all().for_each(|alias| self.refresh(alias));
                (200, json!({ "_shards": { "failed": 0 } }))
            }
            (Method::Get, [_, "_stats", _]) => (200, json!({})),
            (method, _) => panic!("the fake knows no {method:?} {path}"),
        }
    }

    /// Changes some fields of a document that is there.
    fn update(&mut self, alias: &str, id: &str, body: &Value) -> (u16, Value) {
        let seq_no = self.next_seq_no();
        let stored = self.indices.get_mut(alias).and_then(|of| of.get_mut(id));
        let Some((stored, source)) = stored.and_then(|stored| {
            let source = stored.source.clone()?;
            Some((stored, source))
        }) else {
            let missing = json!({ "error": { "type": "document_missing_exception" } });
            return (404, missing);
        };
        let mut source = source;
        for (name, value) in body["doc"].as_object().unwrap() {
            source[name] = value.clone();
        }
        stored.source = Some(source);
        stored.version += 1;
        stored.seq_no = seq_no;
        (200, json!({ "_seq_no": seq_no, "_primary_term": 1 }))
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
        if matches!(fault, Fault::ResetBefore | Fault::Late) {
            if fault == Fault::Late {
                state.late.push(call.body.clone());
            }
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
