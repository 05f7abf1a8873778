//! Saved queries: `[queries]` of the configuration file.

use std::path::PathBuf;

use toml_edit::{Item, Table, value};

use super::file::edit;
use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// Adds a query, or replaces the one of that name, and returns the changed file.
pub(crate) fn add(global: &Global, name: &str, query: &str) -> Result<PathBuf, Failure> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    if name.trim() != name || name.is_empty() || !name.chars().all(plain) {
        let message = format!("\"{name}\" is not a valid name for a query");
        return Err(
            Failure::new(Kind::Usage, message).hint("names consist of letters, digits, - and _")
        );
    }
    edit(global, |document| {
        let queries = document
            .entry("queries")
            .or_insert(Item::Table(Table::new()));
        match queries.as_table_like_mut() {
            Some(queries) => match queries.get_mut(name) {
                // The comment behind it stays.
                Some(old) => {
                    let decor = old.as_value().map(|old| old.decor().clone());
                    *old = value(query);
                    if let (Some(decor), Some(new)) = (decor, old.as_value_mut()) {
                        *new.decor_mut() = decor;
                    }
                }
                None => {
                    queries.insert(name, value(query));
                }
            },
            None => {
                return Err(Failure::new(
                    Kind::Usage,
                    "queries: expected a table".to_owned(),
                ));
            }
        }
        Ok(())
    })
}

/// Deletes a query and returns the changed file; none if there is no query of that name.
pub(crate) fn remove(global: &Global, name: &str) -> Result<Option<PathBuf>, Failure> {
    let mut is_removed = false;
    let path = edit(global, |document| {
        let queries = document
            .get_mut("queries")
            .and_then(Item::as_table_like_mut);
        is_removed = queries.is_some_and(|queries| queries.remove(name).is_some());
        Ok(())
    })?;
    Ok(is_removed.then_some(path))
}
