//! Searches for documents similar to one document.

use std::sync::Arc;

use ken_core::{Field, Plan};
use ken_engine::{DocAddress, Limits};

use super::address::Target;
use super::{Error, Like, Service, reached};

/// The most text that is joined from members.
const TEXT_BYTES: usize = 1 << 20;

/// The terms that a document shares with others.
#[derive(Clone, Debug)]
pub(super) struct Similar {
    plan: Plan,
    /// The document and its members, which are not similar but the same.
    pub(super) own: Vec<DocAddress>,
}

impl Similar {
    /// Returns the plan for similar documents that also match a query.
    pub(super) fn among(&self, query: Plan) -> Plan {
        match query {
            Plan::All => self.plan.clone(),
            query => Plan::And(vec![self.plan.clone(), Plan::Filter(Box::new(query))]),
        }
    }
}

impl Service<'_> {
    /// Reads the document to which hits must be similar. Once limits are reached, further text and terms are left out.
    pub(super) fn similar(
        &self,
        like: &Like,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Similar, Error> {
        let (text, own) = match like {
            Like::Text(text) => (text.clone(), Vec::new()),
            Like::Document(path) => {
                let target = self.target(path)?;
                (self.text_of(&target, limits)?, target.addresses)
            }
        };
        let mut frequency = |term: &str| match reached(limits) {
            true => Ok(0),
            false => self.snapshot.terms().n_documents_with(Field::Body, term),
        };
        let n_documents = self.snapshot.n_documents();
        let analyze = self.context.analyze;
        let plan = crate::like::like(&text, analyze, n_documents, &mut frequency)?;
        Ok(Similar { plan, own })
    }

    /// Returns the text that the index keeps of a document, or that of its members if it has none.
    fn text_of(&self, target: &Target, limits: Option<&Arc<Limits>>) -> Result<String, Error> {
        let mut text = TextOf::default();
        for address in &target.addresses {
            if reached(limits) {
                break;
            }
            let stored = self.snapshot.document(*address)?;
            let is_own = stored.location.ipath == target.location.ipath;
            text.add(is_own, &stored.document.body);
        }
        Ok(text.into_text())
    }
}

/// The text of a document, and the texts of its members.
#[derive(Debug, Default)]
pub struct TextOf {
    own: String,
    members: String,
}

impl TextOf {
    /// Adds the text of the document itself or of a member.
    pub fn add(&mut self, is_own: bool, body: &str) {
        let text = if is_own {
            &mut self.own
        } else {
            &mut self.members
        };
        if text.len() < TEXT_BYTES {
            text.push_str(body);
            text.push('\n');
        }
    }

    /// Returns the text of the document, or the texts of its members if it has none.
    pub fn into_text(self) -> String {
        match self.own.trim() {
            "" => self.members,
            _ => self.own,
        }
    }
}
