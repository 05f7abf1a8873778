//! The score by which OpenSearch chooses what ken ranks.

use ken_core::{Field, Pattern, Plan, Word};
use serde_json::{Value, json};

use crate::layout;
use crate::pattern;
use crate::source::counts::{fields_of, has, words_of};

/// Returns the parts of a query by which OpenSearch chooses the documents that ken ranks: for each word that raises scores,
/// its best field and form.
pub(in crate::source) fn scored(
    plan: &Plan,
    worth: &dyn Fn(&Word, Field, &Pattern) -> f64,
) -> Vec<Value> {
    let mut words = Vec::new();
    let plan = positive(plan);
    words_of(&plan, &mut words);
    let each = words.into_iter().map(|word| {
        let mut queries = Vec::new();
        for form in &word.forms {
            let mut patterns = Vec::new();
            form.span.patterns(&mut |pattern| patterns.push(pattern));
            for field in fields_of(word) {
                for pattern in &patterns {
                    let boost = worth(word, field, pattern) * f64::from(form.weight);
                    let found = pattern::query(&layout::terms(field), pattern, &has(field));
                    queries.push(boosted(&found.json, pattern, boost));
                }
            }
        }
        json!({ "dis_max": { "queries": queries, "tie_breaker": 0.3 } })
    });
    each.collect()
}

/// A term has a score by its frequency. Other patterns only count as being there.
fn boosted(query: &Value, pattern: &Pattern, boost: f64) -> Value {
    match (query.get("term"), pattern) {
        (Some(term), Pattern::Term(_) | Pattern::Stem(_)) => {
            let mut term = term.clone();
            if let Some(of) = term.as_object_mut().and_then(|of| of.values_mut().next()) {
                of["boost"] = json!(boost.max(0.001));
            }
            json!({ "term": term })
        }
        _ => json!({ "constant_score": { "filter": query, "boost": boost.max(0.001) } }),
    }
}

/// Returns a plan without what it excludes and what only filters.
fn positive(plan: &Plan) -> Plan {
    let all = |parts: &[Plan]| parts.iter().map(positive).collect();
    match plan {
        Plan::And(parts) => Plan::And(all(parts)),
        Plan::Or(parts) => Plan::Or(all(parts)),
        Plan::Weight(_, part) | Plan::Prefer(part) => positive(part),
        Plan::Not(_) | Plan::Filter(_) | Plan::Thread(_) | Plan::Carrier(_) => Plan::All,
        plan => plan.clone(),
    }
}
