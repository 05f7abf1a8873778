//! `ken search --explain` as text.

use ken_search::service::Explanation;
use serde_json::Value as Json;

use crate::failure::Failure;
use crate::output;

/// Prints how a query was understood, as lines or as one object.
pub(super) fn print(explanation: &Explanation, as_json: bool) -> Result<(), Failure> {
    let printed = match as_json {
        true => output::json_line(explanation),
        false => text(explanation).into_bytes(),
    };
    Ok(output::print(&printed)?)
}

fn text(explanation: &Explanation) -> String {
    let Explanation { tree, plan, .. } = explanation;
    let mut text = format!("query   {tree}\nplan    {plan}\n");
    if explanation.left_out > 0 {
        let n = explanation.left_out;
        text.push_str(&format!("without {n} words that more documents have\n"));
    }
    for meaning in &explanation.meanings {
        let field = &meaning.name;
        if meaning.count > 1 {
            let (pattern, count) = (&meaning.pattern, meaning.count);
            text.push_str(&format!("means   {field}:{pattern}: {count} terms\n"));
        }
        for of in &meaning.terms {
            let (term, n) = (&of.term, of.documents);
            let plural = if n == 1 { "" } else { "s" };
            text.push_str(&format!("term    {field}:{term} in {n} document{plural}\n"));
        }
    }
    for pattern in explanation.unknown() {
        text.push_str(&format!("none    {pattern} is in no document\n"));
    }
    text.push_str(&format!("engine  {}\n\n", explanation.engine));
    text
}

/// Returns the parts of a hit's score as lines, each followed by the parts that it consists of.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
