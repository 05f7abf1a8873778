//! Bulks as the fake takes them: each item has an outcome of its own.
//!
//! An index that is not there is made for an item before the first of them is written, as `TransportBulkAction` of OpenSearch
//! does it: for a deletion only if it has a version of its own, and not if any item for the index asks for an alias. Deletions
//! never ask for one.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Fault, State, Stored};

impl State {
    pub(super) fn bulk(&mut self, body: &[u8], fault: Fault) -> (u16, Value) {
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
        // A node counts bytes, of which an update of nothing has few.
        let n_writes = deeds.iter().filter(|(name, ..)| name != "update").count();
        match fault {
            Fault::Busy => return (429, busy),
            Fault::AtMost(most) if n_writes > most => return (413, json!({})),
            _ => {}
        }
        self.make_missing(&deeds);
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

    fn make_missing(&mut self, deeds: &[(String, Value, Option<Value>)]) {
        let alias = |target: &Value| target["_index"].as_str().unwrap().to_owned();
        let asking = deeds.iter().filter(|(name, ..)| name != "delete");
        let asking: HashSet<String> = asking.map(|(_, target, _)| alias(target)).collect();
        for (_, target, _) in deeds {
            let name = alias(target);
            let is_versioned = target["version_type"] == "external_gte";
            if is_versioned && !asking.contains(&name) && !self.indices.contains_key(&name) {
                self.index(&name);
                self.by_mistake.insert(name);
            }
        }
    }

    fn write(&mut self, name: &str, target: &Value, source: Option<Value>) -> Value {
        let alias = target["_index"].as_str().unwrap().to_owned();
        let id = target["_id"].as_str().unwrap().to_owned();
        if !self.indices.contains_key(&alias)
            || name != "delete" && self.by_mistake.contains(&alias)
        {
            return json!({ "status": 404, "error": { "type": "index_not_found_exception" } });
        }
        let seq_no = self.next_seq_no();
        let conflict =
            json!({ "status": 409, "error": { "type": "version_conflict_engine_exception" } });
        let known = self.index(&alias).get(&id).cloned();
        let version = match name {
            // Nothing that ken updates is there.
            "update" if known.as_ref().is_none_or(|known| known.source.is_none()) => {
                return json!({ "status": 404, "error": { "type": "document_missing_exception" } });
            }
            "update" => panic!("an update would change {id}"),
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
