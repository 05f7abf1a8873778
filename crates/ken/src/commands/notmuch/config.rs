//! `notmuch config` and `notmuch setup`.

use std::io::BufRead;
use std::process::ExitCode;

use ken_server::notmuch::{KeyFile, items};

use super::options::{OptionRow, SHARED, Takes, read};
use super::places::{Places, read_file};
use super::{Outcome, Refusal, database};
use crate::cli::Global;
use crate::output;

const BUILT_WITH: &str = "built_with.";
/// What notmuch can be built with, and whether ken has it.
const FEATURES: [(&str, bool); 4] = [
    ("compact", true),
    ("field_processor", true),
    ("retry_lock", true),
    ("sexp_queries", true),
];
/// Names of settings that are a word behind a prefix.
const PREFIXES: [&str; 2] = ["index.header.", "squery."];

pub(super) fn run(global: &Global, places: &Places, arguments: &[String]) -> Outcome {
    let typed = read(&[SHARED], arguments)?;
    let Some((command, rest)) = typed.words.split_first() else {
        return Err(Refusal::said(
            "Error: notmuch config requires at least one argument.",
        ));
    };
    match (command.as_str(), rest) {
        ("get", [key]) => get(places, key),
        ("get", _) => Err(Refusal::said(
            "Error: notmuch config get requires exactly one argument.",
        )),
        ("set", rest) => set(global, places, rest),
        ("list", _) => list(places),
        (command, _) => Err(Refusal::Said(format!(
            "Unrecognized argument for notmuch config: {command}"
        ))),
    }
}

fn get(places: &Places, key: &str) -> Outcome {
    let text = if let Some(name) = key.strip_prefix(BUILT_WITH) {
        format!("{}\n", FEATURES.contains(&(name, true)))
    } else if is_text(key) {
        let value = places.settings.get(key);
        value.map(|value| format!("{value}\n")).unwrap_or_default()
    } else {
        let values = items(places.get(key)).into_iter();
        values.map(|value| value + "\n").collect()
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a setting is one text, in which a semicolon has no meaning.
fn is_text(key: &str) -> bool {
    key.starts_with("query.") || key.starts_with("squery.")
}

fn list(places: &Places) -> Outcome {
    let mut text = String::new();
    for (name, is_there) in FEATURES {
        text.push_str(&format!("{BUILT_WITH}{name}={is_there}\n"));
    }
    for (key, value) in &places.settings {
        text.push_str(&format!("{key}={value}\n"));
    }
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn set(global: &Global, places: &Places, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[("database", Takes::Switch)];
    let typed = read(&[OPTIONS], arguments)?;
    let Some((name, values)) = typed.words.split_first() else {
        return Err(Refusal::said(
            "Error: notmuch config set requires at least one argument.",
        ));
    };
    if name.starts_with(BUILT_WITH) {
        return Err(Refusal::Said(format!("Error: read only option: {name}")));
    }
    check_name(name)?;
    if typed.is_on("database", false) {
        if values.len() > 1 {
            return Err(Refusal::Said(format!(
                "notmuch config set: at most one value expected for {name}"
            )));
        }
        let value = values.first().map(String::as_str).unwrap_or_default();
        database(global, places)?.keep_setting(name, value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((group, key)) = name.split_once('.').filter(|(_, key)| !key.is_empty()) else {
        return Err(Refusal::Said(format!(
            "Invalid configuration name: {name}\n(Should be of the form <section>.<item>)"
        )));
    };
    let Some(path) = &places.file else {
        return Err(Refusal::said("Error: there is no configuration file"));
    };
    let mut file = read_file(path)?.unwrap_or_default();
    file.set(group, key, values);
    write(path, &file)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the file, or the one that a link leads to, whole or not at all.
fn write(path: &std::path::Path, file: &KeyFile) -> Result<(), Refusal> {
    let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut new = path.clone().into_os_string();
    new.push(".new");
    ken_private::write(new.as_ref(), file.text().as_bytes())?;
    if let Ok(metadata) = fs_err::metadata(&path) {
        fs_err::set_permissions(&new, metadata.permissions())?;
    }
    Ok(fs_err::rename(new, path)?)
}

/// Refuses names of fields and queries that queries could not use.
fn check_name(name: &str) -> Result<(), Refusal> {
    let Some(word) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) else {
        return Ok(());
    };
    let word = word.rsplit('.').next().unwrap_or_default();
    let message = if word.is_empty() {
        format!("Empty prefix name: {name}")
    } else if !word.chars().all(|c| c.is_alphanumeric() || c == '_') {
        format!("Non-word character in prefix name: {word}")
    } else if word.starts_with(|c: char| c.is_ascii_lowercase()) {
        format!("Prefix names starting with lower case letters are reserved: {word}")
    } else {
        return Ok(());
    };
    Err(Refusal::Said(message))
}

/// Asks for the most important settings and writes the file.
pub(super) fn setup(places: &Places) -> Outcome {
    let Some(path) = &places.file else {
        return Err(Refusal::said("Error: there is no configuration file"));
    };
    let mut file = read_file(path)?.unwrap_or_default();
    output::print(
        b"Welcome to notmuch, answered by ken. A few questions about your mail follow.\n\n",
    )?;
    let mut lines = std::io::stdin().lock().lines();
    let mut ask = |question: &str, default: &str| -> Result<String, Refusal> {
        output::print(format!("{question} [{default}]: ").as_bytes())?;
        let answer = lines.next().transpose()?.unwrap_or_default();
        let answer = answer.trim();
        Ok(if answer.is_empty() { default } else { answer }.to_owned())
    };
    let name = ask("Your full name", places.get("user.name"))?;
    let address = ask("Your usual email address", places.get("user.primary_email"))?;
    let mut others = places.list("user.other_email");
    loop {
        let other = ask("Another email address (empty if there is none)", "")?;
        if other.is_empty() {
            break;
        }
        others.push(other);
    }
    let folder = ask("The folder of your mail", places.get("database.path"))?;
    let folder = std::path::absolute(folder)?.to_string_lossy().into_owned();
    let words = |text: String| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let tags = words(ask(
        "Tags of new messages, with spaces between them",
        &places.list("new.tags").join(" "),
    )?);
    let excluded = words(ask(
        "Tags of messages that searches leave out",
        &places.list("search.exclude_tags").join(" "),
    )?);
    for (group, key, values) in [
        ("database", "path", vec![folder]),
        ("user", "name", vec![name]),
        ("user", "primary_email", vec![address]),
        ("user", "other_email", others),
        ("new", "tags", tags),
        ("search", "exclude_tags", excluded),
    ] {
        file.set(group, key, &values);
    }
    write(path, &file)?;
    output::print(b"\nThe configuration is written. Run \"notmuch new\" to take in your mail.\n")?;
    Ok(ExitCode::SUCCESS)
}
