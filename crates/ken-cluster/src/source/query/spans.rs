//! Words in a row and near each other.

use std::collections::BTreeSet;

use ken_core::{Field, Pattern, Span};
use ken_engine::Error;
use serde_json::json;

use super::{Translator, all_of, check, either};
use crate::layout;
use crate::pattern::Query;

/// The most terms that stand for a pattern inside a phrase.
const MAX_EXPANDED: usize = 1_000;

impl Translator<'_> {
    pub(super) fn span(&self, field: Field, span: &Span) -> Result<Query, Error> {
        match span {
            Span::Match(pattern) => self.pattern(field, pattern),
            Span::Any(parts) => {
                let parts = parts.iter().map(|part| self.span(field, part));
                Ok(either(parts.collect::<Result<_, _>>()?))
            }
            Span::Phrase(terms) if terms.is_empty() => Ok(Query::nothing()),
            Span::Phrase(terms) if terms.len() == 1 => self.pattern(field, &terms[0].1),
            Span::Phrase(terms) => self.phrase(field, terms),
            Span::Near {
                parts,
                slop,
                ordered,
            } => {
                if let Some(near) = self.near(field, parts, *slop, *ordered)? {
                    return Ok(near);
                }
                let parts = parts.iter().map(|part| self.span(field, part));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                Ok(Query::wider(all_of(parts)))
            }
        }
    }

    /// A phrase of single terms is OpenSearch's own. In place of a pattern stand the terms that it means.
    fn phrase(&self, field: Field, terms: &[(u32, Pattern)]) -> Result<Query, Error> {
        let mut positions = Vec::new();
        let mut last = None;
        let mut is_exact = true;
        for (at, pattern) in terms {
            check(pattern)?;
            is_exact &= last != Some(*at);
            last = Some(*at);
            match self.meant(field, pattern)? {
                Some(terms) if terms.is_empty() => return Ok(Query::nothing()),
                Some(terms) => positions.extend(terms.into_iter().map(|term| (*at, term))),
                None => is_exact = false,
            }
        }
        if is_exact {
            let line = layout::lines(&positions).join(" ");
            let phrase = json!({ "match_phrase": { layout::terms(field): { "query": line } } });
            return Ok(Query::exact(phrase));
        }
        let parts = terms
            .iter()
            .map(|(_, pattern)| self.pattern(field, pattern));
        Ok(Query::wider(all_of(parts.collect::<Result<_, _>>()?)))
    }

    /// Words near each other are intervals of OpenSearch, if each part is one word. What it calls a gap is what ken does, but
    /// where three words without an order share positions: it subtracts a shared one twice, and finds more.
    fn near(
        &self,
        field: Field,
        parts: &[Span],
        slop: u32,
        ordered: bool,
    ) -> Result<Option<Query>, Error> {
        let mut words: Vec<BTreeSet<String>> = Vec::new();
        for part in parts {
            match self.words_of(field, part)? {
                Some(terms) if terms.is_empty() => return Ok(Some(Query::nothing())),
                // Of two equal parts OpenSearch wants two words.
                Some(terms) if words.contains(&terms) && !ordered => return Ok(None),
                Some(terms) => words.push(terms),
                None => return Ok(None),
            }
        }
        let any = |terms: &BTreeSet<String>| {
            let each = terms.iter().map(|term| {
                let line = layout::lines(&[(0, term.clone())]).join(" ");
                json!({ "match": { "query": line } })
            });
            json!({ "any_of": { "intervals": each.collect::<Vec<_>>() } })
        };
        let json = json!({ "intervals": { layout::terms(field): { "all_of": {
            "ordered": ordered,
            "max_gaps": slop.min(i32::MAX as u32),
            "intervals": words.iter().map(any).collect::<Vec<_>>(),
        } } } });
        let is_exact = ordered || parts.len() == 2;
        Ok(Some(Query { json, is_exact }))
    }

    /// Returns the terms of which a part of a span has one; none if the part is longer, or the terms do not show it.
    fn words_of(&self, field: Field, part: &Span) -> Result<Option<BTreeSet<String>>, Error> {
        let mut terms = BTreeSet::new();
        let parts = match part {
            Span::Any(parts) => parts.as_slice(),
            part => std::slice::from_ref(part),
        };
        for part in parts {
            let pattern = match part {
                Span::Match(pattern) => pattern,
                Span::Phrase(of) if of.len() == 1 => &of[0].1,
                _ => return Ok(None),
            };
            check(pattern)?;
            match self.meant(field, pattern)? {
                Some(of) => terms.extend(of),
                None => return Ok(None),
            }
        }
        Ok(Some(terms).filter(|terms| terms.len() <= MAX_EXPANDED))
    }

    /// Returns the terms that a pattern means; none if they are too many, or the terms do not show it.
    fn meant(&self, field: Field, pattern: &Pattern) -> Result<Option<Vec<String>>, Error> {
        match pattern {
            Pattern::Term(term) | Pattern::Stem(term) => Ok(Some(vec![term.clone()])),
            Pattern::Border => Ok(Some(vec!["\0".to_owned()])),
            Pattern::Any(terms) => {
                Ok(Some(terms.clone()).filter(|terms| terms.len() <= MAX_EXPANDED))
            }
            pattern => self.source.terms_meant(field, pattern, MAX_EXPANDED),
        }
    }
}
