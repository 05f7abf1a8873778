//! The interface of a commit to searches.

use std::sync::Arc;

use ken_core::{Field, Location, Plan, Value};
use ken_engine::{
    Body, DocAddress, EachDocument, Error, FacetBy, Files, Hit, Limits, Mail, Meta, Request,
    Response, Source, Statistics, Stored, Terms,
};

use super::Snapshot;
use crate::collector::facets;
use crate::doc_address::AddressParts;
use crate::postings::keywords;
use crate::stem::{self, Expander, InIndex, Within};
use crate::{query, search};

/// The documents that are read at once where all are asked for.
const PAGE: usize = 200;

impl Source for Snapshot {
    fn commit(&self) -> u64 {
        self.commit
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

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn n_documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn n_left_out(&self) -> u64 {
        self.n_left_out
    }

    fn find(&self, request: &Request<'_>) -> Result<Response, Error> {
        let plan = self.expand(request.plan, request.limits)?;
        let request = Request {
            plan: &plan,
            ..*request
        };
        search::run(&self.searcher, &self.scoring(), &request).map_err(|e| self.error(e))
    }

    fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(Value, u64)>>, Error> {
        let plan = self.expand(request.plan, request.limits)?;
        let request = Request {
            plan: &plan,
            ..*request
        };
        let query = search::query(&request, &self.scoring());
        let limits = request.limits.map(|limits| &**limits);
        facets::count(&self.searcher, &*query, by, limits).map_err(|e| self.error(e))
    }

    fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error> {
        facets::extent(&self.searcher, field).map_err(|e| self.error(e))
    }

    fn expand(&self, plan: &Plan, limits: Option<&Arc<Limits>>) -> Result<Plan, Error> {
        // A plan for a part of a larger collection has the forms of all of it.
        if self.counts.is_some() || !stem::may_change(plan) {
            return Ok(plan.clone());
        }
        let within = Within::Index(InIndex {
            segments: self.searcher.segment_readers(),
            columns: &self.columns,
            shortcuts: &self.shortcuts,
        });
        let limits = limits.map(|limits| &**limits);
        let expander = Expander::new(&self.stemming, &self.ranking, within, limits);
        expander.plan(plan).map_err(|e| self.error(e))
    }

    fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        let words = query::build(&self.scoring(), &self.expand(plan, None)?)
            .explain(&self.searcher, hit.address.to_engine())
            .map_err(|e| self.error(e))?;
        Ok(search::explained(hit.boosts, words).to_pretty_json())
    }

    fn engine_query(&self, plan: &Plan) -> Result<String, Error> {
        let query = query::build(&self.scoring(), &self.expand(plan, None)?);
        Ok(format!("{query:?}"))
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        let bytes = self.searcher.space_usage()?;
        let segments = self.searcher.segment_readers();
        Ok(Statistics {
            tallies: keywords::tally(segments, &self.columns).map_err(|e| self.error(e))?,
            segments: segments.len(),
            bytes: bytes.total().get_bytes() + self.shortcuts.n_bytes(),
        })
    }

    fn location(&self, at: DocAddress) -> Result<Location, Error> {
        let column = self.location_column(at.segment())?;
        let mut bytes = Vec::new();
        if let Some(ordinal) = column.ords().first(at.doc()) {
            column
                .ord_to_bytes(ordinal, &mut bytes)
                .map_err(|e| self.error(e.into()))?;
        }
        Ok(Location::from_bytes(&bytes))
    }

    fn locations(&self, at: &[DocAddress]) -> Result<Vec<Location>, Error> {
        self.many_locations(at)
    }

    fn document_at(&self, location: &Location) -> Result<Option<DocAddress>, Error> {
        Ok(self.documents_named(location, false)?.first().copied())
    }

    fn documents_below(&self, location: &Location) -> Result<Vec<DocAddress>, Error> {
        self.documents_named(location, true)
    }

    fn n_words(&self, at: DocAddress) -> u32 {
        let segment = self.searcher.segment_reader(at.segment());
        let lengths = segment.get_fieldnorms_reader(self.columns.of(Field::Body));
        let lengths = lengths.ok().filter(|lengths| at.doc() < lengths.num_docs());
        lengths.map_or(0, |lengths| lengths.fieldnorm(at.doc()))
    }

    fn document_by(&self, at: DocAddress, max_threads: usize) -> Result<Stored, Error> {
        let (mut stored, body) = self.read(at, self.store(at.segment())?, Some(max_threads))?;
        stored.document.body = body.into_string();
        Ok(stored)
    }

    fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error> {
        let (stored, _) = self.read(at, &self.uncached_store(at.segment())?, None)?;
        Ok(stored)
    }

    fn document_and_body(
        &self,
        at: DocAddress,
        max_threads: usize,
    ) -> Result<(Stored, Body), Error> {
        self.read(at, &self.uncached_store(at.segment())?, Some(max_threads))
    }

    fn documents(&self, at: &[DocAddress]) -> Result<Vec<Stored>, Error> {
        self.many(at)
    }

    fn each_document(&self, each: &mut EachDocument<'_>) -> Result<(), Error> {
        for (number, segment) in (0..).zip(self.searcher.segment_readers()) {
            let mut docs = segment.doc_ids_alive();
            loop {
                let page = docs.by_ref().take(PAGE);
                let page: Vec<_> = page.map(|doc| DocAddress::at(number, doc)).collect();
                if page.is_empty() {
                    break;
                }
                for stored in self.many(&page)? {
                    if !each(stored)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}
