//! The response, as plain data.

use ken_core::FieldNames;
use serde::Serialize;

use super::{
    Answer, Error, Explanation, Facet, Hit, Inside, MatchIn, Matched, Query, Request, SCHEMA,
    Service,
};
use crate::spelling::Suggestion;

/// The response to a [`Request`].
#[derive(Clone, Debug, Serialize)]
pub struct Response {
    /// The number of the commit that answered. Later commits have greater numbers.
    pub commit: u64,
    /// Whether the search ended before its deadline and no part of the index is damaged; otherwise there may be more hits.
    pub complete: bool,
    /// Suggestions that find more, if they were wanted.
    pub did_you_mean: Vec<Suggestion>,
    /// What the query means in this index, if that was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The facets that were wanted.
    pub facets: Vec<Facet>,
    /// The hits of the page.
    pub hits: Vec<Hit>,
    /// How many of the words of the query the hits have.
    pub matched: Matched,
    /// How many documents have all words, if the hits have not.
    pub with_all: usize,
    /// The matches in the document that the request named.
    pub matches: Vec<MatchIn>,
    /// The words that no document has, if no document has all words.
    pub missing: Vec<String>,
    /// How many documents match, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// The number of hits, if they were counted, with each group counted once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_groups: Option<usize>,
    /// How the query was understood.
    pub understood: Understood,
    /// The version of the JSON.
    pub v: u32,
}

/// How a query was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Understood {
    /// The pieces that were left out of a query with mistakes.
    pub left_out: Vec<Note>,
    /// The number of words that were left out because they are in more documents than the others.
    pub n_frequent: usize,
    /// The query in the terms of the index.
    pub plan: String,
    /// The query in ken's language.
    pub query: String,
    /// The query as a tree.
    pub tree: String,
}

/// A piece of a query that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What is wrong with the piece.
    pub message: String,
    /// The piece.
    pub text: String,
}

impl Understood {
    fn of(query: &Query, names: &FieldNames) -> Self {
        let notes = query.left_out.iter().map(|left| Note {
            message: left.error.message.clone(),
            text: left.text.clone(),
        });
        Self {
            left_out: notes.collect(),
            n_frequent: query.n_frequent,
            plan: query.plan.printed(names).to_string(),
            query: query.tree.to_query(names),
            tree: query.tree.printed(names).to_string(),
        }
    }
}

impl Service<'_> {
    /// Answers a request in one step.
    ///
    /// # Errors
    /// Fails if the request is invalid or the index cannot be read.
    pub fn ask(&self, request: &Request) -> Result<Response, Error> {
        let query = self.understand(request)?;
        let understood = Understood::of(&query, &self.names);
        if let Some(named) = &request.inside {
            let mut matches = Vec::new();
            self.each_match(&query, named, request.limit, &mut |found| {
                if let Inside::Match(found) = found {
                    matches.push(found);
                }
                Ok::<_, Error>(())
            })?;
            return Ok(Response {
                complete: query.is_complete() && self.snapshot.n_left_out() == 0,
                matches,
                ..Response::empty(self.snapshot.commit(), understood)
            });
        }
        self.search(request, query)?.response(request, understood)
    }
}

impl Answer<'_> {
    fn response(&self, request: &Request, understood: Understood) -> Result<Response, Error> {
        let mut response = Response::empty(self.service.snapshot.commit(), understood);
        if request.count {
            response.total = Some(self.n_documents());
            response.total_groups = Some(self.n_groups());
        }
        if request.explain {
            response.explanation = Some(self.explanation()?);
        }
        if request.suggest {
            response.did_you_mean = self.suggestions()?;
        }
        if !request.facets.by.is_empty() {
            response.facets = self.facets()?;
        }
        self.each_hit(
            |hit| hit,
            |hit| {
                response.hits.push(hit);
                Ok::<_, Error>(())
            },
        )?;
        response.complete = self.is_complete() && self.service.snapshot.n_left_out() == 0;
        let (matched, missing) = self.matched();
        (response.matched, response.missing) = (matched, missing.to_vec());
        response.with_all = self.n_with_all();
        Ok(response)
    }
}

impl Response {
    fn empty(commit: u64, understood: Understood) -> Self {
        Self {
            commit,
            complete: true,
            did_you_mean: Vec::new(),
            explanation: None,
            facets: Vec::new(),
            hits: Vec::new(),
            matched: Matched::All,
            with_all: 0,
            missing: Vec::new(),
            matches: Vec::new(),
            total: None,
            total_groups: None,
            understood,
            v: SCHEMA,
        }
    }
}
