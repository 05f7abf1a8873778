//! `mu labels`: ken's tags, which mu calls labels.

use std::process::ExitCode;

use jiff::Timestamp;
use ken_mail::{mu_labels, mu_labels_head, read_mu_labels};
use ken_server::mu::{Find, labels_change};

use super::options::Typed;
use super::{Outcome, Refusal, home, no_matches};
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
        (Some((topic, file)), None) if topic == "export" && file.len() < 2 => {
            return export(global, typed, file.first());
        }
        (Some((topic, [file])), None) if topic == "import" => return import(global, typed, file),
        (Some((topic, query)), Some(labels)) if topic == "update" => (labels, query),
        (Some((topic, query)), None) if topic == "clear" => ("-*".to_owned(), query),
        _ => {
            let message = "expected list, update --labels=+a QUERY, clear QUERY, export [FILE], or import FILE";
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
        return no_matches(global);
    }
    let mut all = Vec::with_capacity(found.len());
    for one in &found {
        all.push(labels_change(&changes, &one.mail)?);
    }
    if typed.has("dry-run") {
        let lines = found.iter().map(|one| {
            let path = one.mail.path.to_string_lossy();
            format!("labels: apply {changes} to {}\n", output::clean(&path))
        });
        let end = format!("labels: would have updated {} message(s)\n", found.len());
        output::print((lines.collect::<String>() + &end).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    all.retain(|change| !change.tags.is_empty());
    store.label_and_wait(&all)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the labels of all messages to a file, and prints the name of the file.
fn export(global: &Global, typed: &Typed, file: Option<&String>) -> Outcome {
    let now = Timestamp::now().to_zoned(crate::zone::system());
    let now = now.strftime("%Y-%m-%d-%H:%M:%S").to_string();
    let generated = || format!("mu-export-{now}.txt");
    let file = match file {
        Some(folder) if folder.ends_with('/') => format!("{folder}{}", generated()),
        Some(file) => file.clone(),
        None => generated(),
    };
    let mut text = mu_labels_head(&now);
    for found in home::store(global, typed)?.find(&Find::default())? {
        let labels: Vec<&str> = found.mail.tags.iter().map(String::as_str).collect();
        text.extend(mu_labels(&found.mail.path, &found.mail.id, &labels));
    }
    fs_err::write(&file, text)?;
    output::print(format!("{}\n", output::clean(&file)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn import(global: &Global, typed: &Typed, file: &str) -> Outcome {
    let mut changes = Vec::new();
    for (number, read) in read_mu_labels(&fs_err::read_to_string(file)?) {
        match read {
            Ok(change) => changes.push(change),
            Err(wrong) => output::warn(&format!("\"{file}\":{number}: {wrong}")),
        }
    }
    if typed.has("dry-run") {
        let lines = changes.iter().map(|change| {
            let labels: Vec<&str> = change.tags.iter().map(|(tag, _)| tag.as_str()).collect();
            format!("{}: {}\n", change.on.name(), labels.join(","))
        });
        let text: String = lines.collect();
        output::print(text.as_bytes())?;
    } else {
        home::store(global, typed)?.label_and_wait(&changes)?;
    }
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
