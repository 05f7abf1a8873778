//! The questions that every engine answers.

use std::sync::Arc;

use ken_core::{Field, Location, Plan, Value as FieldValue};
use ken_engine::{
    Body, DocAddress, EachDocument, Error, FacetBy, Files, Hit, Limits, Mail, Meta, Request,
    Response, Source, Statistics, Stored, Tally, Terms,
};
use serde_json::{Value, json};

use super::texts::{self, TEXTS_PAGE};
use super::{ClusterSource, PAGE, buckets, id, ids_query, lock};
use crate::http::Method;
use crate::kept;
use crate::layout;

impl Source for ClusterSource {
    fn meta(&self) -> &Meta {
        &self.root.meta
    }

    fn commit(&self) -> u64 {
        self.root.commit
    }

    fn n_documents(&self) -> u64 {
        self.n_documents
    }

    fn n_left_out(&self) -> u64 {
        0
    }

    fn files(&self) -> &dyn Files {
        self
    }

    fn mail(&self) -> &dyn Mail {
        self
    }

    fn terms(&self) -> &dyn Terms {
        self
    }

    fn find(&self, request: &Request<'_>) -> Result<Response, Error> {
        self.answer(request)
    }

    fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(FieldValue, u64)>>, Error> {
        self.counted(request, by)
    }

    fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error> {
        if !field.is_number() {
            return Ok(None);
        }
        let at = json!({ "field": layout::number(field) });
        let answer = self.search(json!({
            "size": 0,
            "aggs": { "least": { "min": at }, "most": { "max": at } },
        }))?;
        let number = |name: &str| answer["aggregations"][name]["value"].as_f64();
        Ok(number("least")
            .zip(number("most"))
            .map(|(least, most)| (least as i64, most as i64)))
    }

    fn expand(&self, plan: &Plan, limits: Option<&Arc<Limits>>) -> Result<Plan, Error> {
        self.with_forms(plan, limits.map(|limits| &**limits))
    }

    fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        self.explained(plan, hit)
    }

    fn engine_query(&self, plan: &Plan) -> Result<String, Error> {
        self.query_for_people(plan)
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        let kinds = json!({ "terms": { "field": layout::terms(Field::Type), "size": 100 }, "aggs": {
            "members": { "filter": is("member"), "aggs": { "failed": { "filter": is("failed") } } },
            "failed": { "filter": is("failed") },
        } });
        let answer = self.search(json!({
            "size": 0,
            "aggs": { "by": {
                "terms": { "field": layout::terms(Field::Mime), "size": 5_000 },
                "aggs": { "kinds": kinds },
            } },
        }))?;
        let mut tallies = Vec::new();
        for by_type in buckets(&answer["aggregations"]["by"]) {
            for of in buckets(&by_type["kinds"]) {
                let n = |at: &Value| at["doc_count"].as_u64().unwrap_or(0);
                let kind = of["key"]
                    .as_str()
                    .and_then(|name| name.parse::<ken_core::Kind>().ok());
                let members = &of["members"];
                tallies.push(Tally {
                    media_type: by_type["key"].as_str().unwrap_or_default().to_owned(),
                    kind: kind.unwrap_or(ken_core::Kind::Other).name(),
                    files: n(of).saturating_sub(n(members)),
                    failed_files: n(&of["failed"]).saturating_sub(n(&members["failed"])),
                    documents: n(of),
                    failed_documents: n(&of["failed"]),
                });
            }
        }
        let path = format!(
            "/{},{}/_stats/store,segments",
            self.names.documents, self.names.words
        );
        let stats = self.client.ask(Method::Get, &path, &Value::Null)?;
        let primaries = &stats["_all"]["primaries"];
        Ok(Statistics {
            tallies,
            segments: primaries["segments"]["count"].as_u64().unwrap_or(0) as usize,
            bytes: primaries["store"]["size_in_bytes"].as_u64().unwrap_or(0),
        })
    }

    fn location(&self, at: DocAddress) -> Result<Location, Error> {
        Ok(self.record(at)?.location)
    }

    fn locations(&self, at: &[DocAddress]) -> Result<Vec<Location>, Error> {
        let mut locations = Vec::with_capacity(at.len());
        // Texts come along, and only those of a page are held.
        for some in self.ids(at)?.chunks(TEXTS_PAGE) {
            let records = self.records(some)?.into_iter();
            locations.extend(records.map(|record| record.location));
        }
        Ok(locations)
    }

    fn document_at(&self, location: &Location) -> Result<Option<DocAddress>, Error> {
        let key = self.root.meta.hasher.key(&location.path);
        let id = kept::id(key, &location.ipath);
        let is_there = self.count(&ids_query(std::slice::from_ref(&id)))? > 0;
        Ok(is_there.then(|| self.address(&id)))
    }

    fn documents_below(&self, location: &Location) -> Result<Vec<DocAddress>, Error> {
        let key = self.root.meta.hasher.key(&location.path);
        let all = self.ids_of(&json!({ "term": { "file": kept::key(key) } }))?;
        let depth = location.ipath.depth();
        let mut below = Vec::new();
        for some in all.chunks(TEXTS_PAGE) {
            for (id, record) in some.iter().zip(self.records(some)?) {
                if record.location.ipath.prefix(depth) == location.ipath.as_str() {
                    below.push(self.address(id));
                }
            }
        }
        Ok(below)
    }

    fn n_words(&self, at: DocAddress) -> u32 {
        let Ok(id) = self.id(at) else {
            return 0;
        };
        if let Some(known) = lock(&self.remembered).n_words(&id) {
            return known;
        }
        let length = layout::length(Field::Body);
        let hit = self.columns(at, &[&length]).unwrap_or_default();
        texts::n_words_of(&hit)
    }

    fn document_by(&self, at: DocAddress, _: usize) -> Result<Stored, Error> {
        ken_index::kept(self.record(at)?)
    }

    fn documents(&self, at: &[DocAddress]) -> Result<Vec<Stored>, Error> {
        let records = self.records(&self.ids(at)?)?;
        records.into_iter().map(ken_index::kept).collect()
    }

    /// Gives a file's own document after those inside it.
    fn each_document(&self, each: &mut EachDocument<'_>) -> Result<(), Error> {
        let (mut page, field) = (Vec::with_capacity(PAGE), texts::n_words_field());
        let mut ended = Ok(true);
        let backwards = json!([{ "loc": "desc" }]);
        self.each_hit(&Value::Null, &backwards, &[&field], &mut |hit| {
            page.push((id(hit).to_owned(), texts::n_words_of(hit)));
            if page.len() == PAGE {
                ended = self.hand_out(&std::mem::take(&mut page), each);
            }
            matches!(ended, Ok(true))
        })?;
        if ended? {
            self.hand_out(&page, each)?;
        }
        Ok(())
    }

    fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error> {
        let mut stored = self.document_by(at, 1)?;
        stored.document.body = String::new();
        Ok(stored)
    }

    fn document_and_body(&self, at: DocAddress, _: usize) -> Result<(Stored, Body), Error> {
        let mut stored = self.document_by(at, 1)?;
        let body = std::mem::take(&mut stored.document.body);
        Ok((stored, Body::owned(body)))
    }
}

impl ClusterSource {
    /// Gives documents with their texts; returns whether more are wanted.
    fn hand_out(&self, page: &[(String, u32)], each: &mut EachDocument<'_>) -> Result<bool, Error> {
        for some in texts::pages(page) {
            let ids: Vec<String> = some.iter().map(|(id, _)| id.clone()).collect();
            for record in self.records(&ids)? {
                if !each(ken_index::kept(record)?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

pub(super) fn is(state: &str) -> Value {
    json!({ "term": { layout::terms(Field::Is): state } })
}
