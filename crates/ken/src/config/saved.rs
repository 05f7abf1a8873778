//! Saved queries: `[queries]` of the configuration file.
//!
//! A query is added as a line of text, so that comments and order of the file stay unchanged.

use std::fs::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::Global;
use crate::config::{Settings, config_file};
use crate::failure::{Failure, Kind};

/// Adds a query and returns the changed file.
pub(crate) fn add(global: &Global, name: &str, query: &str) -> Result<PathBuf, Failure> {
    let usage = |message| Failure::new(Kind::Usage, message);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    if name.trim() != name || name.is_empty() || !name.chars().all(plain) {
        let message = format!("\"{name}\" is not a valid name for a query");
        return Err(usage(message).hint("names consist of letters, digits, - and _"));
    }
    let file = config_file(global).map(|(path, _)| path);
    let file =
        file.ok_or_else(|| usage("there is no home folder for the configuration".to_owned()))?;
    // A link to a file in another folder stays a link.
    let file = fs_err::canonicalize(&file).unwrap_or(file);
    let old = replaceable(&file)?;
    let text = match fs_err::read_to_string(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let new = with_query(&text, name, query);
    // A repeated name makes the file invalid.
    let settings = toml::from_str::<Settings>(&new);
    match settings.map(|settings| settings.queries.get(name).cloned()) {
        Ok(Some(kept)) if kept == query => {}
        _ => {
            let message = format!(
                "the query \"{name}\" cannot be added to \"{}\"",
                file.display()
            );
            return Err(usage(message).hint("if it has one of that name, change it there"));
        }
    }
    if let Some(folder) = file.parent() {
        ken_private::create_folder(folder)?;
    }
    let beside = file.with_extension("toml.new");
    let mut out = ken_private::create(&beside)?;
    // The file may hold secrets, so its permissions stay.
    if let Some(old) = old {
        out.set_permissions(old.permissions())?;
    }
    out.write_all(new.as_bytes())?;
    out.sync_all()?;
    fs_err::rename(&beside, &file)?;
    Ok(file)
}

/// Returns the metadata of the file, if it exists.
///
/// # Errors
/// Fails if the path is a device or a pipe, which a file must not replace.
fn replaceable(file: &Path) -> Result<Option<Metadata>, Failure> {
    match fs_err::metadata(file) {
        Ok(old) if old.is_file() => Ok(Some(old)),
        Ok(_) => {
            let message = format!("\"{}\" is not a configuration file", file.display());
            Err(Failure::new(Kind::Usage, message).hint("name one with --config"))
        }
        Err(_) => Ok(None),
    }
}

/// Returns the text of the file with one more line, in the existing table or a new one.
fn with_query(text: &str, name: &str, query: &str) -> String {
    let line = format!(
        "{} = {}\n",
        toml::Value::from(name),
        toml::Value::from(query)
    );
    let mut new = String::with_capacity(text.len() + line.len() + 16);
    let mut is_added = false;
    for old in text.split_inclusive('\n') {
        new.push_str(old);
        if !is_added && old.trim() == "[queries]" {
            if !old.ends_with('\n') {
                new.push('\n');
            }
            new.push_str(&line);
            is_added = true;
        }
    }
    if !is_added {
        if !new.is_empty() {
            new.push_str(if new.ends_with('\n') { "\n" } else { "\n\n" });
        }
        new.push_str("[queries]\n");
        new.push_str(&line);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_added_to_their_table() {
        assert_eq!(with_query("", "a", "x"), "[queries]\n\"a\" = \"x\"\n");
        assert_eq!(
            with_query("limit = 3 # few", "a", "x"),
            "limit = 3 # few\n\n[queries]\n\"a\" = \"x\"\n"
        );
        let text = with_query("[queries]\nb = \"y\"\n[ocr]\n", "a b", "\"q\" \\*");
        let settings: toml::Table = text.parse().unwrap();
        assert_eq!(settings["queries"]["a b"].as_str(), Some("\"q\" \\*"));
        assert_eq!(settings["queries"]["b"].as_str(), Some("y"));
        assert!(text.ends_with("[ocr]\n"));
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert!(replaceable(&file).unwrap().is_none());
        fs_err::write(&file, "").unwrap();
        assert!(replaceable(&file).unwrap().is_some());
        assert!(replaceable(folder.path()).is_err());
        assert!(replaceable(Path::new("/dev/null")).is_err());
    }
}
