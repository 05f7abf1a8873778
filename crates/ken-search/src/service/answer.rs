//! The second step of a search: hits are found first, and their documents are read when needed.

use std::convert::Infallible;
use std::sync::Arc;

use ken_core::{Document, Field, Kind, Order, Pattern, Plan};
use ken_engine::{Collapse, Hit as Address, Limits, Request as EngineRequest, Response as Found};
use ken_index::parallel;

use super::columns::{Column, Needs, columns, sort_key};
use super::hit::sheet_at;
use super::relax::{ENOUGH, Matched, PlainWords, Relax};
use super::{
    Error, Explanation, Facet, Group, Hit, Query, Reading, Request, Service, Text, is_complete,
    reached,
};
use crate::parse::{Syntax, Tree, joins_parts};
use crate::snippet::{self, Finder};
use crate::spelling::Suggestion;

/// The number of hits whose documents several threads read before the hits are handed on.
const HITS_AT_ONCE: usize = 256;
/// The hits that are read even when a limit is reached: a search that ends early still answers with its first hits.
const FIRST_HITS: usize = 10;
/// The cost of finding and reading a document without a body, as the number of words that take as long to read.
const WORDS_OF_NONE: u64 = 5000;
/// The most threads that unpack texts; each text may take a hundred megabytes.
const MAX_READERS: usize = 8;
/// The most threads that unpack one text.
pub(super) const MAX_UNPACKERS: usize = 4;

/// Hits that were found and are not read yet.
pub struct Answer<'a> {
    pub(super) service: &'a Service<'a>,
    request: &'a Request,
    tree: Tree,
    n_frequent: usize,
    plan: Plan,
    /// The document to which hits are similar, and its members.
    own: Vec<ken_engine::DocAddress>,
    columns: Vec<Column>,
    order: Order,
    limits: Option<Arc<Limits>>,
    found: Found,
    matched: Matched,
    n_with_all: usize,
    relax: Relax,
    missing: Vec<String>,
}

impl<'s> Service<'s> {
    /// Finds the hits of a request, unless it wants none.
    ///
    /// # Errors
    /// Fails if the request names something that does not exist, or if the index cannot be read.
    pub fn search<'a>(&'a self, request: &'a Request, query: Query) -> Result<Answer<'a>, Error> {
        let columns = columns(&request.fields, &self.names)?;
        // Snippets highlight the forms of words that the index has.
        let expanded = self.snapshot.expand(&query.plan, query.limits.as_ref())?;
        let (plan, own) = match query.similar {
            Some(similar) => (similar.among(expanded), similar.own),
            None => (expanded, Vec::new()),
        };
        let order = Order {
            key: sort_key(&request.sort, &self.names)?,
            reverse: request.reverse,
        };
        let mut answer = Answer {
            service: self,
            request,
            tree: query.tree,
            n_frequent: query.n_frequent,
            plan,
            own,
            columns,
            order,
            limits: query.limits,
            found: Found {
                total: 0,
                groups: 0,
                hits: Vec::new(),
                complete: true,
            },
            matched: Matched::All,
            n_with_all: 0,
            relax: Relax::Never,
            missing: Vec::new(),
        };
        if request.count || request.limit != Some(0) {
            answer.relax = answer.relaxes();
            let plain = match answer.relax {
                Relax::Never => None,
                relax => {
                    PlainWords::of(self.snapshot, &answer.plan, relax, answer.limits.as_ref())?
                }
            };
            if let Some(plain) = &plain {
                answer.plan = plain.strict();
            }
            answer.found = self.snapshot.find(&answer.engine_request())?;
            if let Some(plain) = plain {
                answer.find_more(plain)?;
            }
        }
        Ok(answer)
    }
}

impl Answer<'_> {
    /// Returns when other documents than those with all words are found.
    fn relaxes(&self) -> Relax {
        let request = self.request;
        let is_plain = request.syntax == Syntax::Ken
            && request.reading == Reading::Operators
            && !joins_parts(&request.query, self.service.names());
        match self.order == Order::default() {
            _ if !is_plain => Relax::Never,
            true => request.relax,
            // In another order documents with few of the words would come first.
            false => request.relax.min(Relax::None),
        }
    }

    fn engine_request(&self) -> EngineRequest<'_> {
        let request = self.request;
        let now = self.service.context.now.as_second();
        EngineRequest {
            without: &self.own,
            collapse: request.group.and_then(|group| match group {
                Group::Content => Some(Collapse::Content),
                Group::Similar => ranks(&self.plan).then_some(Collapse::Similar),
                Group::File => Some(Collapse::File),
                Group::Message => Some(Collapse::Message),
            }),
            order: self.order,
            offset: request.offset,
            limit: request.limit.unwrap_or(usize::MAX),
            now: request.recency.then_some(now),
            // Whether there are few does not depend on the page.
            counted: request.count
                || request.offset > 0
                || self.relax >= Relax::Few && request.limit.is_some_and(|limit| limit < ENOUGH),
            limits: self.limits.as_ref(),
            ..EngineRequest::new(&self.plan)
        }
    }

    /// Finds documents with some of the words, if hardly any has all of them, or if that is wanted of a sentence.
    fn find_more(&mut self, plain: PlainWords) -> Result<(), Error> {
        let (relax, mut n_words) = (self.relax, plain.n_words());
        let n_with_all = self.found.total;
        let any = relax == Relax::Sentence && plain.are_sentence();
        if !self.is_complete() || !any && !relax.are_few(n_with_all, n_words) {
            return Ok(());
        }
        let mut steps = plain.relaxed(self.service.snapshot, self.limits.as_ref())?;
        steps.retain(|step| !any || step.matched == Matched::Any);
        for step in steps {
            if !any && !relax.are_few(self.found.total, n_words) {
                break;
            }
            let strict = std::mem::replace(&mut self.plan, step.plan);
            (n_words, self.missing) = (step.n_words, step.missing);
            let found = self.service.snapshot.find(&self.engine_request())?;
            if found.total > self.found.total {
                (self.found, self.matched) = (found, step.matched);
                self.n_with_all = n_with_all;
            } else {
                self.plan = strict;
            }
        }
        Ok(())
    }

    /// Returns how many documents have all words, if the hits have not.
    pub fn n_with_all(&self) -> usize {
        self.n_with_all
    }

    /// Returns how many of the words of the query the hits have, and the words that no document has, if that was asked.
    pub fn matched(&self) -> (Matched, &[String]) {
        (self.matched, &self.missing)
    }

    /// Returns whether the search ended by itself, so that nothing was left out.
    pub fn is_complete(&self) -> bool {
        is_complete(self.limits.as_ref())
    }

    /// Returns how many documents match, or a lower bound if they were not counted.
    pub fn n_documents(&self) -> usize {
        self.found.total
    }

    /// Returns how many hits there are, with each group counted once.
    pub fn n_groups(&self) -> usize {
        self.found.groups
    }

    /// Returns how many hits are on the page.
    pub fn n_hits(&self) -> usize {
        self.found.hits.len()
    }

    /// Returns the numbers of the documents of the page.
    pub fn addresses(&self) -> Vec<ken_engine::DocAddress> {
        let hits = self.found.hits.iter();
        hits.map(|hit| hit.address).collect()
    }

    /// Returns the query as a tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the columns that were asked for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns how the query was understood, and what it means in this index.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn explanation(&self) -> Result<Explanation, Error> {
        let service = self.service;
        let (tree, n_frequent) = (&self.tree, self.n_frequent);
        Explanation::of(tree, n_frequent, &self.plan, service, self.limits.as_ref())
    }

    /// Counts all documents that the query finds, by the facets of the request.
    ///
    /// # Errors
    /// Fails if a facet is unknown or the index cannot be read.
    pub fn facets(&self) -> Result<Vec<Facet>, Error> {
        let facets = &self.request.facets;
        self.service.facets(&self.engine_request(), facets)
    }

    /// Returns suggestions, if the query found little.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn suggestions(&self) -> Result<Vec<Suggestion>, Error> {
        let n_found = match self.matched {
            Matched::All => self.found.total,
            Matched::Most | Matched::Any => self.n_with_all,
        };
        let limits = self.limits.as_ref();
        self.service.suggestions(&self.tree, n_found, limits)
    }

    /// Returns the score of the best document, whatever the page and the order; 0 if hits have no score.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn best_score(&self) -> Result<f32, Error> {
        let score = |found: &Found| found.hits.first().and_then(|hit| hit.score);
        let Some(first) = score(&self.found) else {
            return Ok(0.0);
        };
        if self.request.offset == 0 && self.order == Order::default() {
            return Ok(first);
        }
        let best = EngineRequest {
            limit: 1,
            limits: self.limits.as_ref(),
            ..EngineRequest::new(&self.plan)
        };
        Ok(score(&self.service.snapshot.find(&best)?).unwrap_or(0.0))
    }

    /// Reads the hits of the page, and passes what `shown` makes of each to `each`, in order. Several threads read and
    /// show hits where that is worth it: unpacking texts and finding words in them takes longer than finding the
    /// documents. Once a limit is reached, the hits behind the first ten are left out.
    ///
    /// # Errors
    /// Fails at the first hit that cannot be read, or if `each` fails.
    pub fn each_hit<T: Send, E: From<Error>>(
        &self,
        shown: impl Fn(Hit) -> T + Sync,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let reader = Reader::new(self);
        let hits = &self.found.hits;
        if reader.needs == Needs::Location {
            for (at, hit) in hits.iter().enumerate() {
                if self.is_left_out(at) {
                    break;
                }
                each(shown(reader.hit(at, hit)?))?;
            }
            return Ok(());
        }
        // Explaining a score is a search, which may use several threads itself.
        let max_threads = if self.request.explain { 1 } else { MAX_READERS };
        // A whole text may be shown, so only one hit is kept in memory at a time.
        let at_once = match self.request.text {
            Text::Whole => 1,
            _ => HITS_AT_ONCE,
        };
        for (first, hits) in (0..).step_by(at_once).zip(hits.chunks(at_once)) {
            let n_words = |hit: &Address| self.service.snapshot.n_words(hit.address);
            let size = |hit: &Address| WORDS_OF_NONE + u64::from(n_words(hit));
            // The hits before one that cannot be read are handed on.
            let read = |at, hit: &Address| {
                let is_read = !self.is_left_out(first + at);
                let hit = is_read.then(|| reader.hit(first + at, hit).map(&shown));
                Ok::<_, Infallible>(hit)
            };
            let Ok(all) = parallel::each(hits, size, max_threads, read);
            for one in all {
                match one {
                    Some(one) => each(one?)?,
                    None => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Returns whether the hit at a position of the page is not read, as a limit is reached.
    fn is_left_out(&self, at: usize) -> bool {
        at >= FIRST_HITS && reached(self.limits.as_ref())
    }
}

/// Returns whether hits are ranked by words, and not chosen for being duplicates.
fn ranks(plan: &Plan) -> bool {
    match plan {
        Plan::Word(_) => true,
        Plan::And(parts) => parts.iter().any(ranks) && !parts.iter().any(asks_for_duplicates),
        Plan::Or(parts) => parts.iter().any(ranks),
        Plan::Weight(_, part) => ranks(part),
        _ => false,
    }
}

fn asks_for_duplicates(plan: &Plan) -> bool {
    match plan {
        Plan::Filter(part) => asks_for_duplicates(part),
        Plan::Match { field, pattern } => {
            *field == Field::Is && *pattern == Pattern::Term("duplicate".to_owned())
        }
        _ => false,
    }
}

/// Reads the documents of hits.
struct Reader<'a> {
    answer: &'a Answer<'a>,
    needs: Needs,
    has_snippets: bool,
    finder: Finder,
}

impl<'a> Reader<'a> {
    fn new(answer: &'a Answer<'a>) -> Self {
        let request = answer.request;
        let needs = match &*answer.columns {
            [] => Needs::Text,
            columns => columns.iter().map(Column::needs).max().unwrap_or_default(),
        };
        let has_snippets = needs == Needs::Text && request.snippets.count > 0;
        let needs = match request.text {
            Text::None if !has_snippets => needs.min(Needs::Fields),
            _ => Needs::Text,
        };
        let matchers = match has_snippets {
            true => snippet::matchers(&answer.plan, Field::Body),
            false => Vec::new(),
        };
        Self {
            answer,
            needs,
            has_snippets,
            finder: Finder::new(matchers, answer.service.context.analyze),
        }
    }

    /// Reads the hit at position `at` of the page.
    fn hit(&self, at: usize, found: &Address) -> Result<Hit, Error> {
        let Answer {
            service, request, ..
        } = self.answer;
        let snapshot = service.snapshot;
        let mut hit = Hit {
            rank: request.offset + at + 1,
            score: found.score,
            more: request.group.map(|_| found.more),
            has_several: request.snippets.count > 1,
            ..match self.needs {
                Needs::Location => {
                    let location = snapshot.location(found.address)?;
                    let document = Document::new(location.ipath.clone(), "", Kind::Other);
                    service.hit(location, document)
                }
                Needs::Fields => {
                    let stored = snapshot.document_without_body(found.address)?;
                    service.hit(stored.location, stored.document)
                }
                Needs::Text => {
                    let (stored, body) =
                        snapshot.document_and_body(found.address, MAX_UNPACKERS)?;
                    let snippets = self.fragments(body.as_str());
                    let first = snippets.first();
                    let sheet = first.and_then(|first| {
                        sheet_at(&stored.document, body.as_str(), first.at.start)
                    });
                    let mut hit = Hit {
                        snippets,
                        sheet,
                        n_text_bytes: Some(body.as_str().len()),
                        ..service.hit(stored.location, stored.document)
                    };
                    if request.text == Text::Whole {
                        hit.document.body = body.into_string();
                    }
                    hit
                }
            }
        };
        if request.explain {
            let score = snapshot.explain(&self.answer.plan, found)?;
            // The engine wrote it.
            hit.explanation = Some(serde_json::from_str(&score).unwrap_or_default());
        }
        Ok(hit)
    }

    fn fragments(&self, body: &str) -> Vec<snippet::Fragment> {
        let super::Snippets { count, length } = self.answer.request.snippets;
        match self.has_snippets {
            true => self
                .finder
                .fragments(body, snippet::Settings { length, count }),
            false => Vec::new(),
        }
    }
}
