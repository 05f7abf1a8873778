//! The files of a commit.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use ken_core::{Field, FileKey, FileRow, Location, Token};
use ken_engine::{DocAddress, Error, Files, Limits};
use serde_json::{Value, json};

use super::{
    ClusterSource, buckets, by_location, filter, id, ids_query, number, text, with_unfinished,
};
use crate::kept;
use crate::layout;

/// The values of a page of an aggregation.
const PAGE: usize = 5_000;

impl ClusterSource {
    /// Gives each value of a keyword field of OpenSearch to `each`, with the number of documents among those that a query
    /// finds, in order.
    pub(super) fn each_value(
        &self,
        field: &str,
        query: &Value,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), Error> {
        let mut after = Value::Null;
        while !limits.is_some_and(Limits::reached) {
            let mut composite = json!({
                "size": PAGE,
                "sources": [{ "value": { "terms": { "field": field } } }],
            });
            if !after.is_null() {
                composite["after"] = after;
            }
            let answer = self.search(json!({
                "query": query,
                "size": 0,
                "aggs": { "values": { "composite": composite } },
            }))?;
            let values = &answer["aggregations"]["values"];
            for bucket in buckets(values) {
                let n = bucket["doc_count"].as_u64().unwrap_or(0);
                each(bucket["key"]["value"].as_str().unwrap_or_default(), n);
            }
            match values.get("after_key") {
                Some(key) if buckets(values).len() == PAGE => after = key.clone(),
                _ => break,
            }
        }
        Ok(())
    }

    /// Returns how many values a keyword field of OpenSearch has; above some thousands it is approximate.
    pub(super) fn n_values(&self, field: &str) -> Result<u64, Error> {
        let answer = self.search(json!({
            "size": 0,
            "aggs": { "values": { "cardinality": { "field": field } } },
        }))?;
        let n = answer["aggregations"]["values"]["value"].as_u64();
        Ok(n.unwrap_or(0))
    }

    /// Returns the files of which a lost lease had written some documents, in place of those that were there before. A file
    /// that was written again with the same token, as when it got tags, would be taken for whole.
    fn torn(&self) -> Result<&HashSet<FileKey>, Error> {
        if let Some(torn) = self.torn.get() {
            return Ok(torn);
        }
        let mut torn = HashSet::new();
        let aborted = &self.root.aborted;
        if !aborted.is_empty() {
            let of_lost = with_unfinished(&filter(&[json!({ "terms": { "made": aborted } })]));
            self.each_value("file", &of_lost, None, &mut |file, _| {
                torn.extend(kept::number(file).map(FileKey));
            })?;
        }
        Ok(self.torn.get_or_init(|| torn))
    }

    /// Returns what the commit knows of a file, from the columns of its own document.
    fn row_of(&self, hit: &Value, torn: &HashSet<FileKey>) -> Option<FileRow> {
        let key = FileKey(number(hit, "file")?);
        let made = hit["fields"]["made"][0].as_u64().unwrap_or(0);
        let unfinished = FileRow {
            key,
            token: Token::UNFINISHED,
            identity: 0,
        };
        // The run that wrote it did not come to a commit, or another one had begun to write it again.
        if !self.root.holds(made) || torn.contains(&key) {
            return Some(unfinished);
        }
        Some(FileRow {
            token: Token::from_number(number(hit, "token")?),
            identity: number(hit, "identity").unwrap_or(0),
            ..unfinished
        })
    }
}

/// The columns of a row.
const ROW: [&str; 4] = ["file", "token", "identity", "made"];

fn own() -> Value {
    json!({ "term": { "own": true } })
}

impl Files for ClusterSource {
    fn rows(&self) -> Result<Vec<FileRow>, Error> {
        let mut rows: BTreeMap<FileKey, FileRow> = BTreeMap::new();
        self.each_row(&mut |row, is_own| match is_own {
            true => _ = rows.insert(row.key, row),
            false => _ = rows.entry(row.key).or_insert(row),
        })?;
        Ok(rows.into_values().collect())
    }

    fn each_row(&self, each: &mut dyn FnMut(FileRow, bool)) -> Result<(), Error> {
        let torn = self.torn()?;
        let files = with_unfinished(&filter(&[own()]));
        self.each_hit(&files, &by_location(), &ROW, &mut |hit| {
            if let Some(row) = self.row_of(hit, torn) {
                each(row, true);
            }
            true
        })?;
        let parts = with_unfinished(&json!({ "bool": { "must_not": [own()] } }));
        self.each_value("file", &parts, None, &mut |file, _| {
            if let Some(key) = kept::number(file) {
                let row = FileRow {
                    key: FileKey(key),
                    token: Token::UNFINISHED,
                    identity: 0,
                };
                each(row, false);
            }
        })
    }

    /// What a lost lease had under way is none of them: no question after this one finds it.
    fn documents_of(&self, key: FileKey) -> Result<Vec<DocAddress>, Error> {
        self.addresses_of(&json!({ "term": { "file": kept::key(key) } }))
    }

    fn row_among(
        &self,
        key: FileKey,
        documents: &[DocAddress],
    ) -> Result<Option<(Location, FileRow)>, Error> {
        let own = self.address(&kept::key(key));
        if !documents.contains(&own) {
            return Ok(None);
        }
        let hit = self.columns(own, &ROW)?;
        let row = self
            .row_of(&hit, self.torn()?)
            .filter(|row| row.token != Token::UNFINISHED);
        match row {
            Some(row) => Ok(Some((self.record(own)?.location, row))),
            None => Ok(None),
        }
    }

    fn paths(&self, keys: &[FileKey]) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut known: HashMap<FileKey, PathBuf> = HashMap::new();
        for keys in keys.chunks(super::TEXTS_PAGE) {
            let texts: Vec<String> = keys.iter().map(|key| kept::key(*key)).collect();
            // Any document of a file shows where it is.
            let answer = self.search(json!({
                "query": filter(&[json!({ "terms": { "file": texts } })]),
                "collapse": { "field": "file" },
                "size": keys.len(),
                "_source": ["doc"],
                "docvalue_fields": ["file"],
                "track_total_hits": false,
            }))?;
            for hit in crate::search::hits(&answer) {
                let record = super::fetched(hit).record();
                if let Some((key, record)) = number(hit, "file").zip(record) {
                    known.insert(FileKey(key), record.location.path);
                }
            }
        }
        Ok(keys.iter().map(|key| known.get(key).cloned()).collect())
    }

    fn values(&self, field: Field) -> Result<Vec<String>, Error> {
        let mut values = Vec::new();
        let all = json!({ "match_all": {} });
        let at = layout::terms(field);
        self.each_value(&at, &all, None, &mut |value, _| {
            values.push(layout::term_from(&at, value));
        })?;
        Ok(values)
    }

    fn with_values(&self, field: Field, values: &[&str]) -> Result<Vec<FileKey>, Error> {
        let at = layout::terms(field);
        let terms: Vec<String> = values
            .iter()
            .map(|value| layout::term_in(&at, value))
            .collect();
        let query = filter(&[json!({ "terms": { at: terms } })]);
        let mut files = BTreeSet::new();
        self.each_value("file", &query, None, &mut |file, _| {
            files.extend(kept::number(file).map(FileKey));
        })?;
        Ok(files.into_iter().collect())
    }

    /// A document has an identifier of its own, so none is there twice.
    fn duplicated(&self) -> Result<Vec<FileKey>, Error> {
        Ok(Vec::new())
    }
}

impl ClusterSource {
    /// Returns columns of many documents, by their identifiers.
    pub(super) fn columns_of(
        &self,
        ids: &[String],
        fields: &[&str],
    ) -> Result<HashMap<String, Value>, Error> {
        let mut found = HashMap::new();
        for some in ids.chunks(super::IDS_AT_ONCE) {
            self.each_hit(&ids_query(some), &by_location(), fields, &mut |hit| {
                found.insert(id(hit).to_owned(), hit.clone());
                true
            })?;
        }
        Ok(found)
    }

    /// Returns the file of a hit.
    pub(super) fn file_of(hit: &Value) -> FileKey {
        FileKey(kept::number(text(hit, "file")).unwrap_or_default())
    }
}
