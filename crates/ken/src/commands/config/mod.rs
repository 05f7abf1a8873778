//! `ken config`: shows, changes and checks the settings. `ken exclude` changes one of them.

mod check;
mod exclude;
mod keys;

use std::process::ExitCode;

use serde_json::{Value as Json, json};
use toml::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike};

use crate::cli::{ConfigArgs, ConfigCommand, Global};
use crate::config::Settings;
use crate::config::file::edit;
use crate::config::sources::{Origin, Sources};
use crate::failure::{Failure, Kind};
use crate::output;
use keys::{Key, all, key, like};

pub(crate) use exclude::run as exclude;

pub(crate) fn run(global: &Global, args: &ConfigArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        ConfigCommand::List {
            prefix,
            changed,
            json,
        } => list(
            global,
            prefix.as_deref().unwrap_or_default(),
            *changed,
            *json,
        ),
        ConfigCommand::Get { key } => get(global, key),
        ConfigCommand::Set { key, value } => set(global, key, value),
        ConfigCommand::Unset { key } => unset(global, key),
        ConfigCommand::Check => check::run(global),
    }
}

fn list(
    global: &Global,
    prefix: &str,
    only_changed: bool,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    let sources = Sources::read(global)?;
    let rows = all(&sources.settings)?
        .into_iter()
        .filter(|key| key.is_like(prefix));
    let rows: Vec<(Key, Origin<'_>)> = rows
        .map(|key| {
            let origin = sources.origin(&key.parts());
            (key, origin)
        })
        .filter(|(_, origin)| !only_changed || *origin != Origin::Default)
        .collect();
    if rows.is_empty() && !prefix.is_empty() {
        return Err(unknown(prefix));
    }
    let mut text = Vec::new();
    let shown = |key: &Key| match &key.value {
        Some(value) => format!("{} = {value}", key.name()),
        None => format!("# {} is not set", key.name()),
    };
    let width = rows
        .iter()
        .map(|(key, _)| shown(key).chars().count().min(50))
        .max();
    for (key, origin) in &rows {
        match as_json {
            true => text.extend(output::json_line(&object(key, origin))),
            false => {
                let (width, shown) = (width.unwrap_or_default(), shown(key));
                let line = format!("{shown:width$}  {origin}");
                text.extend(output::clean(&line).bytes());
                text.push(b'\n');
            }
        }
    }
    output::print(&text)?;
    Ok(ExitCode::from(u8::from(rows.is_empty())))
}

/// Returns a setting as JSON.
fn object(key: &Key, origin: &Origin<'_>) -> Json {
    let (name, file, line) = match origin {
        Origin::Default => ("default", None, None),
        Origin::Option => ("option", None, None),
        Origin::File(path, line) => ("file", Some(path.to_string_lossy()), Some(line)),
    };
    let mut object = json!({
        "v": output::SCHEMA,
        "key": key.name(),
        "value": key.value,
        "from": name,
    });
    if let (Some(file), Some(line)) = (file, line) {
        object["file"] = file.into();
        object["line"] = (*line).into();
    }
    object
}

fn get(global: &Global, name: &str) -> Result<ExitCode, Failure> {
    let sources = Sources::read(global)?;
    let found = key(&sources.settings, name)?.ok_or_else(|| unknown(name))?;
    let text = match found.value {
        None => return Ok(ExitCode::from(1)),
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
    };
    output::print(format!("{}\n", output::clean(&text)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn set(global: &Global, name: &str, typed: &str) -> Result<ExitCode, Failure> {
    let known = key(&Settings::default(), name)?.ok_or_else(|| unknown(name))?;
    let value: toml_edit::Value = match typed.parse() {
        // A size or a name needs no quotes, and neither does a number that is meant as text.
        Ok(value) if !known.is_text() || toml_edit::Value::is_str(&value) => value,
        _ => typed.into(),
    };
    let path = edit(global, |document| {
        put(document, &known.parts(), Item::Value(value))
    })?;
    output::warn(&format!("set {name} in \"{}\"", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Sets the value of a key, in the table that is there or in a new one.
fn put(document: &mut DocumentMut, key: &[&str], value: Item) -> Result<(), Failure> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let Some((last, above)) = key.split_last() else {
        return Ok(());
    };
    for name in above {
        let below = table.entry(name).or_insert(Item::Table(Table::new()));
        table = below
            .as_table_like_mut()
            .ok_or_else(|| Failure::new(Kind::Usage, format!("{name}: expected a table")))?;
    }
    match table.get_mut(last) {
        // Its comment stays.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            if let Item::Value(mut new) = value {
                *new.decor_mut() = decor;
                *old = new;
            }
        }
        _ => {
            table.insert(last, value);
        }
    }
    Ok(())
}

fn unset(global: &Global, name: &str) -> Result<ExitCode, Failure> {
    // The settings are not read: what is wrong can be removed.
    let known = key(&Settings::default(), name)?.ok_or_else(|| unknown(name))?;
    let parts = known.parts();
    let mut is_removed = false;
    let path = edit(global, |document| {
        is_removed = remove(document.as_table_mut(), &parts);
        Ok(())
    })?;
    if !is_removed {
        output::warn(&format!("{name} is not in \"{}\"", path.display()));
        return Ok(ExitCode::from(1));
    }
    output::warn(&format!("removed {name} from \"{}\"", path.display()));
    Ok(ExitCode::SUCCESS)
}

fn remove(table: &mut dyn TableLike, key: &[&str]) -> bool {
    match key {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => {
            let below = table.get_mut(first).and_then(Item::as_table_like_mut);
            below.is_some_and(|below| remove(below, rest))
        }
    }
}

/// Returns the failure for a name that is no setting.
fn unknown(name: &str) -> Failure {
    let failure = Failure::new(Kind::Usage, format!("there is no setting \"{name}\""));
    match like(name) {
        Some(near) => failure.hint(&format!("did you mean {near}?")),
        None => failure.hint("ken config list prints all settings"),
    }
}
