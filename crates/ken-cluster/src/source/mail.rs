//! The messages of a commit.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ken_core::{Field, FileKey, MessageSpan, Plan};
use ken_engine::{
    DocAddress, Error, Limits, Mail, Mailbox, MessageId, MessageOfFile, Request, Seen,
};
use serde_json::{Value, json};

use super::query::{MAX_RELATED, related};
use super::seam::is;
use super::{ClusterSource, buckets, filter, ids_query, numbers, text};
use crate::encode::group;
use crate::kept;
use crate::layout;

/// The values of a page of an aggregation.
const PAGE: usize = 5_000;
/// The values of one question.
const AT_ONCE: usize = 10_000;

/// Returns the query for messages that are not a part of another one.
fn is_message() -> Value {
    json!({ "exists": { "field": "links" } })
}

fn message_of(hit: &Value) -> Option<MessageId> {
    let (_, number) = text(hit, "group").split_once('-')?;
    Some(MessageId::from_number(kept::number(number)?))
}

impl ClusterSource {
    /// Returns the query for the messages that carry a document which a query finds.
    pub(super) fn carriers(&self, query: &Value, limits: Option<&Limits>) -> Result<Value, Error> {
        let parts = json!({ "bool": { "filter": [query], "must_not": [is_message()] } });
        let mut groups = Vec::new();
        self.each_value("group", &parts, limits, &mut |group, _| {
            // A document outside of messages has no carrier.
            if group.contains('-') {
                groups.push(group.to_owned());
            }
        })?;
        Ok(filter(&[related("group", &groups)?, is_message()]))
    }

    /// Returns the query for all messages in the threads of what a query finds, with that.
    pub(super) fn thread_query(
        &self,
        query: &Value,
        limits: Option<&Limits>,
    ) -> Result<Value, Error> {
        // What carries a part, or else the part itself. A document outside of messages is a thread of its own.
        let mut with_message = Vec::new();
        self.each_value("group", query, limits, &mut |group, _| {
            with_message.push(group.to_owned());
        })?;
        let of_messages = filter(&[related("group", &with_message)?, is_message()]);
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut new: Vec<String> = Vec::new();
        self.each_value("links", &of_messages, limits, &mut |link, _| {
            new.push(link.to_owned());
        })?;
        while !new.is_empty() && !limits.is_some_and(Limits::reached) {
            known.extend(new.iter().cloned());
            if known.len() > MAX_RELATED {
                return Err(Error::Query(format!(
                    "its threads have more than {MAX_RELATED} messages"
                )));
            }
            let mut next = BTreeSet::new();
            for links in new.chunks(AT_ONCE) {
                let with = filter(&[json!({ "terms": { "links": links } })]);
                self.each_value("links", &with, limits, &mut |link, _| {
                    if !known.contains(link) {
                        next.insert(link.to_owned());
                    }
                })?;
            }
            new = next.into_iter().collect();
        }
        let links = json!({ "terms": { "links": known } });
        let alone = json!({ "bool": { "filter": [query], "must_not": [self.in_a_message(query, limits)?] } });
        Ok(json!({ "bool": { "should": [links, alone], "minimum_should_match": 1 } }))
    }

    /// Returns the query for documents whose thread is that of a message: it is one, or a message carries it.
    fn in_a_message(&self, query: &Value, limits: Option<&Limits>) -> Result<Value, Error> {
        let mut groups = Vec::new();
        self.each_value("group", query, limits, &mut |group, _| {
            groups.push(group.to_owned())
        })?;
        let mut carried = Vec::new();
        let of_messages = filter(&[related("group", &groups)?, is_message()]);
        self.each_value("group", &of_messages, limits, &mut |group, _| {
            carried.push(group.to_owned());
        })?;
        related("group", &carried)
    }
}

impl Mail for ClusterSource {
    fn mailbox(&self, key: FileKey) -> Result<Mailbox, Error> {
        let file = filter(&[json!({ "term": { "file": kept::key(key) } })]);
        let mut mailbox = Mailbox::default();
        let mut ids: Vec<String> = Vec::new();
        let fields = ["group", "own"];
        self.each_hit(&file, &super::by_location(), &fields, &mut |hit| {
            if hit["fields"]["own"][0].as_bool() == Some(true) {
                mailbox.own = Some(self.address(super::id(hit)));
            }
            if let Some(message) = message_of(hit) {
                mailbox.messages.entry(message).or_default();
                ids.push(super::id(hit).to_owned());
            }
            true
        })?;
        if mailbox.messages.is_empty() {
            return Ok(mailbox);
        }
        for ids in ids.chunks(super::TEXTS_PAGE) {
            for record in self.records(ids)? {
                let document = &record.document;
                if let Some((components, span)) = document.message.zip(document.span) {
                    let message = MessageId::of(&document.ipath, components);
                    let known = mailbox.messages.entry(message).or_default();
                    *known = known.or(Some(span));
                }
            }
        }
        let failed = filter(&[file, is("failed")]);
        self.each_hit(&failed, &super::by_location(), &fields, &mut |hit| {
            let at = self.address(super::id(hit));
            mailbox.failed.push((message_of(hit), at));
            true
        })?;
        Ok(mailbox)
    }

    fn message_span(&self, key: FileKey, message: MessageId) -> Result<Option<MessageSpan>, Error> {
        let of = group(&kept::key(key), Some(message));
        let ids = self.ids_of(&filter(&[json!({ "term": { "group": of } })]))?;
        let records = self.records(&ids)?;
        Ok(records.iter().find_map(|record| record.document.span))
    }

    fn messages_at(&self, documents: &[DocAddress]) -> Result<Vec<MessageOfFile>, Error> {
        let ids = self.ids(documents)?;
        let columns = self.columns_of(&ids, &["file", "group"])?;
        let of = |id: &String| {
            let hit = columns.get(id).ok_or_else(|| self.damaged())?;
            Ok((Self::file_of(hit), message_of(hit)))
        };
        ids.iter().map(of).collect()
    }

    fn documents_of(&self, messages: &[MessageOfFile]) -> Result<Vec<Vec<DocAddress>>, Error> {
        let mut by_group: HashMap<String, Vec<DocAddress>> = HashMap::new();
        let groups = messages
            .iter()
            .map(|(key, message)| group(&kept::key(*key), *message));
        let groups: Vec<String> = groups.collect();
        for some in groups.chunks(AT_ONCE) {
            let query = filter(&[json!({ "terms": { "group": some } })]);
            self.each_hit(&query, &super::by_location(), &["group"], &mut |hit| {
                let at = self.address(super::id(hit));
                by_group
                    .entry(text(hit, "group").to_owned())
                    .or_default()
                    .push(at);
                true
            })?;
        }
        let found = groups
            .iter()
            .map(|group| by_group.get(group).cloned().unwrap_or_default());
        Ok(found.collect())
    }

    fn siblings(&self, at: DocAddress) -> Result<Vec<DocAddress>, Error> {
        let hit = self.columns(at, &["group"])?;
        self.addresses_of(&filter(&[
            json!({ "term": { "group": text(&hit, "group") } }),
        ]))
    }

    fn carrier(&self, at: DocAddress) -> Result<Option<DocAddress>, Error> {
        let hit = self.columns(at, &["group", "links"])?;
        if !numbers(&hit, "links").is_empty() {
            return Ok(Some(at));
        }
        let of = json!({ "term": { "group": text(&hit, "group") } });
        let found = self.addresses_of(&filter(&[of, is_message()]))?;
        Ok(found.first().copied())
    }

    fn threads(
        &self,
        of: &[DocAddress],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error> {
        let limits = limits.map(|limits| &**limits);
        if limits.is_some_and(Limits::reached) {
            return Ok(Vec::new());
        }
        let ids = self.ids(of)?;
        self.addresses_of(&self.thread_query(&ids_query(&ids), limits)?)
    }

    /// The cluster sorts what it keeps in columns, so the numbers are made again from the document.
    fn formerly(&self, key: FileKey) -> Result<Option<Vec<DocAddress>>, Error> {
        let of_key = filter(&[json!({ "term": { "former": kept::former(key) } })]);
        Ok(Some(self.addresses_of(&of_key)?))
    }

    fn links(&self, at: DocAddress) -> Result<Vec<u64>, Error> {
        Ok(ken_index::ship(self.record(at)?)?.links)
    }

    fn linked(&self, numbers: &[u64]) -> Result<Vec<DocAddress>, Error> {
        let links = numbers.iter();
        let links: Vec<String> = links.map(|link| kept::number_text(*link)).collect();
        self.addresses_of(&related("links", &links)?)
    }

    fn seen(
        &self,
        plan: &Plan,
        fields: &[Field],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Seen>, Error> {
        let found = Request {
            limits,
            limit: 0,
            ..Request::new(plan)
        };
        let mut seen = Vec::new();
        if limits.is_some_and(|limits| limits.reached()) {
            return Ok(seen);
        }
        let query = self.query_of(&found)?;
        for field in fields {
            self.seen_in(*field, &query, limits, &mut seen)?;
        }
        Ok(seen)
    }
}

impl ClusterSource {
    fn seen_in(
        &self,
        field: Field,
        query: &Value,
        limits: Option<&Arc<Limits>>,
        seen: &mut Vec<Seen>,
    ) -> Result<(), Error> {
        let mut after = Value::Null;
        while !limits.is_some_and(|limits| limits.reached()) {
            let mut composite = json!({
                "size": PAGE,
                "sources": [{ "value": { "terms": { "field": layout::values(field) } } }],
            });
            if !after.is_null() {
                composite["after"] = after;
            }
            let newest = json!({ "max": { "field": layout::number(Field::Date) } });
            let answer = self.search(json!({
                "query": query,
                "size": 0,
                "aggs": { "values": { "composite": composite, "aggs": { "last": newest } } },
            }))?;
            let values = &answer["aggregations"]["values"];
            for bucket in buckets(values) {
                let value = bucket["key"]["value"].as_str().unwrap_or_default();
                let last = bucket["last"]["value"].as_f64();
                seen.push(Seen {
                    value: ken_index::written(value).0,
                    count: bucket["doc_count"].as_u64().unwrap_or(0),
                    last: last.map_or(i64::MIN, |last| last as i64),
                });
            }
            match values.get("after_key") {
                Some(key) if buckets(values).len() == PAGE => after = key.clone(),
                _ => break,
            }
        }
        Ok(())
    }
}
