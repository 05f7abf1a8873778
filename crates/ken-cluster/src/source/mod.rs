//! Reading: the [`Source`] of a cluster.
//!
//! The cluster narrows, ken decides. A plan becomes a query that finds what the plan finds, or more ([`query`]). The best
//! documents that it finds are fetched with their text, and the embedded engine indexes them for this one request and
//! answers it with the counts of the whole cluster ([`local`]). So the language, the ranking and the order are those of ken
//! by construction, and the cluster is asked only for what it can do exactly.
//!
//! A source is a point in time of OpenSearch: what others write meanwhile changes nothing in it.

mod counts;
mod files;
mod find;
mod lexicon;
mod local;
mod mail;
mod query;
mod seam;
mod terms;
#[cfg(test)]
mod tests;
mod texts;
mod window;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ken_core::{Field, FileKey, Plan};
use ken_engine::{DocAddress, Error, Reading, Record};
use serde_json::{Value, json};

use self::local::Local;
use self::texts::{Remembered, TEXTS_PAGE, fetched};
use crate::client::Client;
use crate::http::Method;
use crate::kept;
use crate::layout::Names;
use crate::root::Root;
use crate::search::{check_shards, hits, id, text};

/// How long the cluster keeps the point in time after each question.
const KEEP_ALIVE: &str = "10m";
/// The documents of a page of an answer without texts.
const PAGE: usize = 5_000;
/// The identifiers of one question.
const IDS_AT_ONCE: usize = 10_000;

/// One commit of an index in a cluster.
pub(crate) struct ClusterSource {
    client: Arc<Client>,
    names: Names,
    root: Root,
    reading: Reading,
    scratch: Option<PathBuf>,
    /// The point in time.
    pit: Mutex<String>,
    n_documents: u64,
    /// The documents that have an address.
    addresses: Mutex<Addresses>,
    remembered: Mutex<Remembered>,
    lengths: OnceLock<HashMap<Field, (u64, u64)>>,
    /// The files of which a lost lease had written some documents.
    torn: OnceLock<HashSet<FileKey>>,
    /// Counts of documents, by their queries.
    counted: Mutex<HashMap<String, u64>>,
    /// All that the last plan finds, if ken looked at all of it: the next page needs no question to the cluster.
    last: Mutex<Option<(Plan, Arc<Local>)>>,
}

/// The identifiers behind addresses.
#[derive(Default)]
struct Addresses {
    ids: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl ClusterSource {
    pub(crate) fn open(
        client: &Arc<Client>,
        names: &Names,
        root: Root,
        reading: Reading,
        scratch: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let names = &root.names(names);
        let pit = open_point(client, names)?;
        let mut source = Self {
            client: Arc::clone(client),
            names: names.clone(),
            root,
            reading,
            scratch,
            pit: Mutex::new(pit),
            n_documents: 0,
            addresses: Mutex::default(),
            remembered: Mutex::default(),
            lengths: OnceLock::new(),
            torn: OnceLock::new(),
            counted: Mutex::default(),
            last: Mutex::new(None),
        };
        source.n_documents = source.count(&json!({ "match_all": {} }))?;
        Ok(source)
    }

    /// Asks the documents of this commit. Those that a lost lease had under way are left out: some of them may have come
    /// after another machine wrote the same files.
    fn search(&self, mut body: Value) -> Result<Value, Error> {
        let query = body["query"].take();
        body["query"] = match query.get(WITH_UNFINISHED) {
            Some(all) => all.clone(),
            None => self.committed(query),
        };
        let ask = |body: &mut Value| {
            body["pit"] = json!({ "id": *lock(&self.pit), "keep_alive": KEEP_ALIVE });
            self.client.call(Method::Post, "/_search", body)
        };
        let (mut status, mut answer) = ask(&mut body)?;
        // The point in time is forgotten, or a node that had a part of it is gone.
        if matches!(status, 404 | 500..) {
            self.reopen()?;
            (status, answer) = ask(&mut body)?;
        }
        if status != 200 {
            return Err(self.client.refused(status, &answer));
        }
        check_shards(&self.client, &answer)?;
        if let Some(pit) = answer["pit_id"].as_str() {
            pit.clone_into(&mut lock(&self.pit));
        }
        Ok(answer)
    }

    /// Opens another point in time, as nobody asked for long, or a node has failed.
    fn reopen(&self) -> Result<(), Error> {
        let pit = open_point(&self.client, &self.names)?;
        let now = crate::root::read(&self.client, &self.names)?;
        if now.is_none_or(|now| now.root.commit != self.root.commit) {
            close_point(&self.client, &pit);
            return Err(self.client.error(
                "the cluster has forgotten this commit, and there is a newer one".to_owned(),
            ));
        }
        let former = std::mem::replace(&mut *lock(&self.pit), pit);
        close_point(&self.client, &former);
        Ok(())
    }

    fn committed(&self, query: Value) -> Value {
        let query = match query {
            Value::Null => json!({ "match_all": {} }),
            query => query,
        };
        match self.root.aborted.is_empty() {
            true => query,
            false => json!({ "bool": {
                "must": [query],
                "must_not": [{ "terms": { "made": self.root.aborted } }],
            } }),
        }
    }

    /// Asks the words.
    fn search_words(&self, body: &Value) -> Result<Value, Error> {
        let path = format!("/{}/_search", self.names.words);
        let answer = self.client.ask(Method::Post, &path, body)?;
        check_shards(&self.client, &answer)?;
        Ok(answer)
    }

    fn count(&self, query: &Value) -> Result<u64, Error> {
        let body = json!({ "query": query, "size": 0, "track_total_hits": true });
        let answer = self.search(body)?;
        Ok(answer["hits"]["total"]["value"].as_u64().unwrap_or(0))
    }

    /// Gives the hits of a query to `each` in the order of `sort`, without their texts, until it returns false. The order
    /// must tell all documents apart.
    fn each_hit(
        &self,
        query: &Value,
        sort: &Value,
        fields: &[&str],
        each: &mut dyn FnMut(&Value) -> bool,
    ) -> Result<(), Error> {
        self.each_hit_in_pages(PAGE, query, sort, fields, each)
    }

    /// The same, with as many documents at once as one likes. What is stored is not read: that takes twenty times as long.
    fn each_hit_in_pages(
        &self,
        size: usize,
        query: &Value,
        sort: &Value,
        fields: &[&str],
        each: &mut dyn FnMut(&Value) -> bool,
    ) -> Result<(), Error> {
        let fields = [&["id"], fields].concat();
        let mut after = Value::Null;
        loop {
            let mut body = json!({
                "query": query,
                "sort": sort,
                "size": size,
                "stored_fields": "_none_",
                "docvalue_fields": fields,
                "track_total_hits": false,
            });
            if !after.is_null() {
                body["search_after"] = after.clone();
            }
            let answer = self.search(body)?;
            let page = hits(&answer);
            if !page.iter().all(&mut *each) {
                return Ok(());
            }
            match page.last() {
                // A page that is there again would be there for ever.
                Some(last) if page.len() == size && last["sort"] == after => {
                    return Err(self.damaged());
                }
                Some(last) if page.len() == size => after = last["sort"].clone(),
                _ => return Ok(()),
            }
        }
    }

    /// Returns the identifiers of all documents that a query finds, in the order of their locations.
    fn ids_of(&self, query: &Value) -> Result<Vec<String>, Error> {
        let mut ids = Vec::new();
        self.each_hit(query, &by_location(), &[], &mut |hit| {
            ids.push(id(hit).to_owned());
            true
        })?;
        Ok(ids)
    }

    fn addresses_of(&self, query: &Value) -> Result<Vec<DocAddress>, Error> {
        let ids = self.ids_of(query)?;
        Ok(ids.iter().map(|id| self.address(id)).collect())
    }

    fn address(&self, id: &str) -> DocAddress {
        let Addresses { ids, numbers } = &mut *lock(&self.addresses);
        let number = numbers.get(id).copied().unwrap_or_else(|| {
            let number = ids.len() as u64;
            ids.push(id.to_owned());
            numbers.insert(id.to_owned(), number);
            number
        });
        DocAddress::from_number(number)
    }

    fn id(&self, at: DocAddress) -> Result<String, Error> {
        let addresses = lock(&self.addresses);
        let id = usize::try_from(at.number()).ok();
        let id = id.and_then(|number| addresses.ids.get(number));
        id.cloned().ok_or_else(|| {
            Error::Query("the address of a document is of another search".to_owned())
        })
    }

    fn ids(&self, at: &[DocAddress]) -> Result<Vec<String>, Error> {
        at.iter().map(|at| self.id(*at)).collect()
    }

    fn damaged(&self) -> Error {
        Error::Damaged {
            path: self.client.name(),
            message: "a stored document cannot be read".to_owned(),
        }
    }

    fn record(&self, at: DocAddress) -> Result<Record, Error> {
        let mut records = self.records(&[self.id(at)?])?;
        records.pop().ok_or_else(|| self.damaged())
    }

    /// Returns the values of fields in a document's columns.
    fn columns(&self, at: DocAddress, fields: &[&str]) -> Result<Value, Error> {
        let answer = self.search(json!({
            "query": { "ids": { "values": [self.id(at)?] } },
            "size": 1,
            "stored_fields": "_none_",
            "docvalue_fields": fields,
        }))?;
        hits(&answer).first().cloned().ok_or_else(|| self.damaged())
    }
}

fn open_point(client: &Client, names: &Names) -> Result<String, Error> {
    let documents = &names.documents;
    let path = format!("/{documents}/_search/point_in_time?keep_alive={KEEP_ALIVE}");
    let opened = client.ask(Method::Post, &path, &Value::Null)?;
    Ok(opened["pit_id"].as_str().unwrap_or_default().to_owned())
}

impl Drop for ClusterSource {
    fn drop(&mut self) {
        close_point(&self.client, &lock(&self.pit));
    }
}

/// Closes a point in time. The cluster forgets it by itself, but only later.
fn close_point(client: &Client, pit: &str) {
    let body = json!({ "pit_id": [pit] });
    let call = crate::http::Call {
        method: Method::Delete,
        path: "/_search/point_in_time".to_owned(),
        body: body.to_string().into_bytes(),
        is_lines: false,
        within: crate::http::SMALL,
    };
    let _ = client.once(&call);
}

/// The order that tells all documents apart.
fn by_location() -> Value {
    json!([{ "loc": "asc" }])
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks a query that is about all documents, also those that a lost lease had under way.
const WITH_UNFINISHED: &str = "with_unfinished";

fn with_unfinished(query: &Value) -> Value {
    json!({ WITH_UNFINISHED: query })
}

/// Returns a query for documents that match all of these.
fn filter(parts: &[Value]) -> Value {
    json!({ "bool": { "filter": parts } })
}

fn ids_query(ids: &[String]) -> Value {
    json!({ "ids": { "values": ids } })
}

fn buckets(aggregation: &Value) -> &[Value] {
    aggregation["buckets"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the numbers in the texts of a field of a hit.
fn numbers(hit: &Value, field: &str) -> Vec<u64> {
    let values = hit["fields"][field].as_array();
    let values = values.map_or(&[][..], Vec::as_slice).iter();
    values
        .filter_map(|value| kept::number(value.as_str()?))
        .collect()
}

/// Returns the number in the text of a field of a hit.
fn number(hit: &Value, field: &str) -> Option<u64> {
    kept::number(text(hit, field))
}
