//! `ken search --explain`: how a query was understood, and what it means in this index.

use std::collections::HashSet;

use ken_core::{FIELDS, Field, FieldKind, FieldNames, Pattern, Plan};
use ken_index::Snapshot;
use ken_search::parse::Tree;
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::output;

/// How many terms that a pattern means are listed.
const MAX_TERMS: usize = 10;

/// What is told before the hits.
pub(super) struct Explanation {
    tree: String,
    /// Words of the text that are too many.
    left_out: usize,
    plan: String,
    meanings: Vec<Meaning>,
    engine: String,
}

/// The terms of a field that a word or pattern of the plan means.
struct Meaning {
    field: Field,
    /// What the field is called.
    name: String,
    pattern: String,
    /// How many terms there are.
    total: usize,
    /// The most frequent, with the documents that have them.
    terms: Vec<(String, u64)>,
}

impl Explanation {
    pub(super) fn of(
        tree: &Tree,
        left_out: usize,
        plan: &Plan,
        snapshot: &Snapshot,
        names: &FieldNames,
    ) -> Result<Self, Failure> {
        let mut patterns = Vec::new();
        each_pattern(plan, &mut |field, pattern| patterns.push((field, pattern)));
        let mut seen = HashSet::new();
        let mut meanings = Vec::new();
        for (field, pattern) in patterns {
            // These look at whole values: no list of terms says what they mean.
            if matches!(pattern, Pattern::Address(_) | Pattern::Folder(_)) {
                continue;
            }
            let text = pattern.to_string();
            if !seen.insert((field, text.clone())) {
                continue;
            }
            let (terms, total) = snapshot.terms(field, pattern, MAX_TERMS)?;
            meanings.push(Meaning {
                field,
                name: names.name(field).to_owned(),
                pattern: text,
                total,
                terms,
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

    /// Prints it, as lines or as one object.
    pub(super) fn print(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            return Ok(output::print(&output::json_line(&self.json()))?);
        }
        Ok(output::print(self.text().as_bytes())?)
    }

    fn text(&self) -> String {
        let mut text = format!("query   {}\nplan    {}\n", self.tree, self.plan);
        if self.left_out > 0 {
            let n = self.left_out;
            text.push_str(&format!("without {n} words that more documents have\n"));
        }
        for meaning in &self.meanings {
            let field = &meaning.name;
            if meaning.total > 1 {
                let (pattern, total) = (&meaning.pattern, meaning.total);
                text.push_str(&format!("means   {field}:{pattern}: {total} terms\n"));
            }
            for (term, count) in &meaning.terms {
                let plural = if *count == 1 { "" } else { "s" };
                text.push_str(&format!(
                    "term    {field}:{term} in {count} document{plural}\n"
                ));
            }
        }
        for pattern in self.unknown() {
            text.push_str(&format!("none    {pattern} is in no document\n"));
        }
        text.push_str(&format!("engine  {}\n\n", self.engine));
        text
    }

    fn json(&self) -> Json {
        let meanings = self.meanings.iter().filter(|meaning| meaning.total > 0);
        let meanings = meanings.map(|meaning| {
            let terms = meaning.terms.iter();
            let terms = terms.map(|(term, count)| json!({ "term": term, "documents": count }));
            json!({
                "field": meaning.name,
                "pattern": meaning.pattern,
                "count": meaning.total,
                "terms": terms.collect::<Vec<_>>(),
            })
        });
        json!({
            "v": output::SCHEMA,
            "query": self.tree,
            "left_out": self.left_out,
            "plan": self.plan,
            "means": meanings.collect::<Vec<_>>(),
            "unknown": self.unknown(),
            "engine": self.engine,
        })
    }

    /// Returns the words and patterns that mean no term in any field that was looked in.
    fn unknown(&self) -> Vec<&str> {
        let has_terms = |of: &&Meaning| !matches!(of.field, Field::Path | Field::Root);
        let known = self.meanings.iter().filter(|meaning| meaning.total > 0);
        let known: HashSet<&str> = known.map(|meaning| meaning.pattern.as_str()).collect();
        let mut told = HashSet::new();
        let all = self.meanings.iter().filter(has_terms);
        all.map(|meaning| meaning.pattern.as_str())
            .filter(|pattern| !known.contains(pattern) && told.insert(*pattern))
            .collect()
    }
}

/// Returns the parts of a hit's score as lines, those that a part is made of below it.
pub(super) fn score_lines(score: &Json) -> String {
    let mut text = String::new();
    add_score(score, 1, &mut text);
    text
}

fn add_score(score: &Json, depth: usize, text: &mut String) {
    let value = score["value"].as_f64().unwrap_or_default();
    let description = score["description"].as_str().unwrap_or_default();
    text.push_str(&format!("{:1$}{value:.4}  {description}\n", "", 4 * depth));
    for part in score["details"].as_array().into_iter().flatten() {
        add_score(part, depth + 1, text);
    }
    for line in score["context"].as_array().into_iter().flatten() {
        let line = line.as_str().unwrap_or_default();
        text.push_str(&format!("{:1$}{line}\n", "", 4 * (depth + 1)));
    }
}

/// Calls `each` with every word and pattern of the plan and the field that it is looked for in.
fn each_pattern<'a>(plan: &'a Plan, each: &mut dyn FnMut(Field, &'a Pattern)) {
    match plan {
        Plan::And(parts) | Plan::Or(parts) => parts.iter().for_each(|of| each_pattern(of, each)),
        Plan::Xor(left, right) => {
            each_pattern(left, each);
            each_pattern(right, each);
        }
        Plan::Not(part)
        | Plan::Weight(_, part)
        | Plan::Filter(part)
        | Plan::Thread(part)
        | Plan::Carrier(part) => each_pattern(part, each),
        Plan::Word(word) => {
            let fields = FIELDS.iter().filter(|info| info.kind == FieldKind::Text);
            for field in fields
                .map(|info| info.field)
                .filter(|of| word.looks_in(*of))
            {
                for form in &word.forms {
                    form.span.patterns(&mut |pattern| each(field, pattern));
                }
            }
        }
        Plan::Match { field, pattern } => each(*field, pattern),
        Plan::Span { field, span } => span.patterns(&mut |pattern| each(*field, pattern)),
        Plan::All | Plan::Nothing | Plan::Range { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_score_stand_below_it() {
        let score = json!({
            "value": 1.5,
            "description": "sum of",
            "details": [{ "value": 0.5, "description": "tf", "context": ["term budget"] }],
        });
        assert_eq!(
            score_lines(&score),
            "    1.5000  sum of\n        0.5000  tf\n            term budget\n"
        );
    }
}
