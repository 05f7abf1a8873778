//! Explains a query: how it was understood, and what it means in this index.

use std::collections::HashSet;
use std::sync::Arc;

use ken_core::{Field, Pattern, Plan};
use ken_engine::Limits;
use serde::{Serialize, Serializer};

use super::{Error, SCHEMA, Service};
use crate::parse::Tree;

/// The most terms that are listed for a pattern.
const MAX_TERMS: usize = 10;

/// How a query was understood, and what it means in this index.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The query as a tree.
    pub tree: String,
    /// The number of words that were left out because they are in more documents than the others.
    pub left_out: usize,
    /// The tree in the terms of the index.
    pub plan: String,
    /// The meanings of the words and patterns.
    pub meanings: Vec<Meaning>,
    /// The query in the form of the engine.
    pub engine: String,
}

/// The terms of a field that a word or pattern of the plan means.
#[derive(Clone, Debug, Serialize)]
pub struct Meaning {
    /// How many terms there are.
    pub count: usize,
    /// The name of the field.
    #[serde(rename = "field")]
    pub name: String,
    #[serde(skip)]
    field: Field,
    /// The word or pattern.
    pub pattern: String,
    /// The most frequent terms.
    pub terms: Vec<TermOf>,
}

/// A term that a word or pattern means.
#[derive(Clone, Debug, Serialize)]
pub struct TermOf {
    /// How many documents have the term.
    pub documents: u64,
    /// The term.
    pub term: String,
}

impl Explanation {
    pub(super) fn of(
        tree: &Tree,
        left_out: usize,
        plan: &Plan,
        service: &Service<'_>,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Self, Error> {
        let (snapshot, names) = (service.snapshot, &*service.names);
        let mut patterns = Vec::new();
        plan.patterns(&mut |field, pattern| patterns.push((field, pattern)));
        let mut seen = HashSet::new();
        let mut meanings = Vec::new();
        for (field, of) in patterns {
            // These look at whole values, so no list of terms explains them.
            if matches!(
                of,
                Pattern::Address(_) | Pattern::Whole(_) | Pattern::Folder(_)
            ) {
                continue;
            }
            let pattern = of.to_string();
            if !seen.insert((field, pattern.clone())) {
                continue;
            }
            let (terms, count) = snapshot.terms().frequent(field, of, MAX_TERMS, limits)?;
            let terms = terms.into_iter();
            let terms = terms.map(|(term, documents)| TermOf { documents, term });
            meanings.push(Meaning {
                count,
                name: names.name(field).to_owned(),
                field,
                pattern,
                terms: terms.collect(),
            });
        }
        Ok(Self {
            tree: tree.printed(names).to_string(),
            left_out,
            plan: plan.printed(names).to_string(),
            meanings,
            engine: snapshot.engine_query(plan)?,
        })
    }

    /// Returns the words and patterns without a term in any field.
    pub fn unknown(&self) -> Vec<&str> {
        let has_terms = |of: &&Meaning| !matches!(of.field, Field::Path | Field::Root);
        let known: HashSet<&str> = self.known().map(|meaning| &*meaning.pattern).collect();
        let mut seen = HashSet::new();
        let all = self.meanings.iter().filter(has_terms);
        all.map(|meaning| meaning.pattern.as_str())
            .filter(|pattern| !known.contains(pattern) && seen.insert(*pattern))
            .collect()
    }

    fn known(&self) -> impl Iterator<Item = &Meaning> {
        self.meanings.iter().filter(|meaning| meaning.count > 0)
    }
}

#[derive(Serialize)]
struct ExplanationForm<'a> {
    engine: &'a str,
    left_out: usize,
    means: Vec<&'a Meaning>,
    plan: &'a str,
    query: &'a str,
    unknown: Vec<&'a str>,
    v: u32,
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ExplanationForm {
            engine: &self.engine,
            left_out: self.left_out,
            means: self.known().collect(),
            plan: &self.plan,
            query: &self.tree,
            unknown: self.unknown(),
            v: SCHEMA,
        }
        .serialize(to)
    }
}
