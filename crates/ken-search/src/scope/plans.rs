//! The plan for what is in a scope, and how other plans are narrowed to it.

use std::path::PathBuf;

use ken_core::access::ACCESS;
use ken_core::{Field, Pattern, Plan};

use super::Scope;
use crate::folder;

/// Returns the plan for the documents in a scope.
pub(super) fn inside(scope: &Scope, readable: Option<Plan>) -> Plan {
    let mut parts = vec![any_below(&scope.folders)];
    parts.extend(readable);
    if !scope.excluded.is_empty() {
        parts.push(Plan::Not(Box::new(any_below(&scope.excluded))));
    }
    if !scope.mail {
        parts.push(Plan::Not(Box::new(mail())));
    }
    Plan::Filter(Box::new(Plan::And(parts)))
}

fn any_below(folders: &[PathBuf]) -> Plan {
    match folders {
        [] => Plan::Nothing,
        [all] if all.parent().is_none() => Plan::All,
        folders => Plan::Or(folders.iter().map(|path| folder::below(path)).collect()),
    }
}

/// Returns the plan for messages, what is attached to them, and mailboxes.
fn mail() -> Plan {
    Plan::Or(vec![
        with(Field::Type, "message"),
        with(Field::Is, "attachment"),
        with(Field::Mime, "application/mbox"),
        with(Field::Mime, "application/vnd.ms-outlook-pst"),
    ])
}

/// Returns the plan for archives that are attached to messages.
pub(super) fn attached_archives() -> Plan {
    let parts = vec![with(Field::Is, "attachment"), with(Field::Type, "archive")];
    Plan::Filter(Box::new(Plan::And(parts)))
}

fn with(field: Field, term: &str) -> Plan {
    let pattern = Pattern::Term(term.to_owned());
    Plan::Match { field, pattern }
}

/// Returns a plan for what another finds inside. What a part asks about other documents, such as those of a thread, is
/// asked about those inside only.
pub(super) fn narrow(plan: &Plan, inside: &Plan) -> Plan {
    match narrowed(plan, inside) {
        Plan::And(mut parts) => {
            parts.push(inside.clone());
            Plan::And(parts)
        }
        part => Plan::And(vec![part, inside.clone()]),
    }
}

fn narrowed(plan: &Plan, inside: &Plan) -> Plan {
    let all = |parts: &[Plan]| parts.iter().map(|part| narrowed(part, inside)).collect();
    let one = |part: &Plan| Box::new(narrowed(part, inside));
    match plan {
        Plan::And(parts) => Plan::And(all(parts)),
        Plan::Or(parts) => Plan::Or(all(parts)),
        Plan::Xor(a, b) => Plan::Xor(one(a), one(b)),
        Plan::Not(part) => Plan::Not(one(part)),
        Plan::Weight(weight, part) => Plan::Weight(*weight, one(part)),
        Plan::Filter(part) => Plan::Filter(one(part)),
        Plan::Prefer(part) => Plan::Prefer(one(part)),
        Plan::Thread(part) => Plan::Thread(Box::new(narrow(part, inside))),
        Plan::Carrier(part) => Plan::Carrier(Box::new(narrow(part, inside))),
        // It says who may read what.
        Plan::Match { field: ACCESS, .. } => Plan::Nothing,
        // The engine compares with the whole index.
        Plan::Match { field, pattern } if asks_for_duplicates(*field, pattern) => Plan::Nothing,
        plan => plan.clone(),
    }
}

fn asks_for_duplicates(field: Field, pattern: &Pattern) -> bool {
    field == Field::Is && *pattern == Pattern::Term("duplicate".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_look_elsewhere_are_narrowed_too() {
        let inside = with(Field::Ext, "in");
        let word = with(Field::Body, "secret");
        let thread = Plan::Not(Box::new(Plan::Thread(Box::new(word.clone()))));
        let narrowed_word = Plan::And(vec![word, inside.clone()]);
        let expected = Plan::Not(Box::new(Plan::Thread(Box::new(narrowed_word))));
        assert_eq!(
            narrow(&thread, &inside),
            Plan::And(vec![expected, inside.clone()])
        );
        let duplicate = with(Field::Is, "duplicate");
        let expected = Plan::And(vec![Plan::Nothing, inside.clone()]);
        assert_eq!(narrow(&duplicate, &inside), expected);
    }
}
