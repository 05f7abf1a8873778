//! `mu labels`: ken's tags under mu's name for them.

use std::process::ExitCode;

use ken_server::mu::{Find, labels_change};

use super::options::Typed;
use super::{NO_MATCHES, Outcome, Refusal, home};
use crate::cli::Global;
use crate::output;

pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let words: Vec<String> = typed
        .words
        .iter()
        .map(|w| w.to_string_lossy().into())
        .collect();
    let labels = typed.text("labels");
    let (changes, query) = match (words.split_first(), labels) {
        (Some((topic, [])), None) if topic == "list" => return list(global, typed),
        (Some((topic, query)), Some(labels)) if topic == "update" => (labels, query),
        (Some((topic, query)), None) if topic == "clear" => ("-*".to_owned(), query),
        _ => {
            let message = "expected list, update --labels=+a QUERY, or clear QUERY";
            return Err(Refusal::Usage(message.to_owned()));
        }
    };
    let find = Find {
        query: query.join(" "),
        ..Find::default()
    };
    let mut store = home::store(global, typed)?;
    let found = store.find(&find)?;
    if found.is_empty() {
        output::warn("no matches for search expression");
        return Ok(ExitCode::from(NO_MATCHES));
    }
    let mut all = Vec::with_capacity(found.len());
    for one in &found {
        all.push(labels_change(&changes, &one.mail)?);
    }
    all.retain(|change| !change.tags.is_empty());
    store.label_and_wait(&all)?;
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global, typed: &Typed) -> Outcome {
    let labels = home::store(global, typed)?.labels()?;
    let lines = labels
        .iter()
        .map(|label| format!("{}\n", output::clean(label)));
    output::print(lines.collect::<String>().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
