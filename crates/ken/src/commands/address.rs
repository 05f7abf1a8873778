//! Addresses as they are typed: what the search service takes, and numbers of the last list on this terminal.

use std::path::Path;
use std::sync::Arc;

use ken_core::Location;
use ken_search::service::{Addressed, Error, Service};

use super::context::context;
use super::{access_to, last};
use crate::cli::Global;
use crate::config::{Settings, data_folder};
use crate::failure::{Failure, Kind};
use crate::opened::Opened;
use crate::output::{clean_address, shell_word};

/// Finds the document with a typed address. A number means a hit of the last list.
pub(super) fn find(service: &Service<'_>, typed: &Path) -> Result<Addressed, Failure> {
    let address = last::address(typed)?;
    match service.addressed(&address) {
        Err(Error::NotIndexed(path)) => Err(not_indexed(service, &address, &path)),
        found => Ok(found?),
    }
}

/// Returns the location of a document with a typed address that is no file: an identifier, a URL, a member, a place in a
/// document. There is none without an index.
pub(super) fn location(global: &Global, typed: &Path) -> Result<Option<Location>, Failure> {
    let (data, settings) = (data_folder(global)?, Settings::load(global)?);
    let address = last::address(typed)?;
    let Ok(snapshot) = Opened::new(&data, &settings) else {
        return Ok(None);
    };
    let access = access_to(&snapshot, &data, &settings, context())?;
    let service = access.service(&*snapshot, &Arc::default());
    match service.addressed(&address) {
        Ok(found) => Ok(Some(found.named.stored.location)),
        Err(Error::NotIndexed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a word of a command line is surely an address, and not a word of a query.
pub(super) fn is_address(typed: &str) -> bool {
    // `/inv.*/` is an expression, `~word` a word with mistakes.
    let is_path = typed.starts_with('/') && !typed.ends_with('/');
    let starts = ["file://", "~/", "./", "../"];
    is_path
        || starts.iter().any(|start| typed.starts_with(start))
        || last::is_number(Path::new(typed))
}

fn not_indexed(service: &Service<'_>, typed: &Path, path: &Path) -> Failure {
    let shown = path.display();
    if path.is_dir() {
        let message = format!("\"{shown}\" is a folder");
        return Failure::new(Kind::Input, message).hint("name a file; ken walk FOLDER lists files");
    }
    let failure = Failure::from(Error::NotIndexed(path.to_owned()));
    let similar = service.similar_to_address(typed).unwrap_or_default();
    match similar.first() {
        Some(location) => {
            let address = location.to_string();
            let address = clean_address(&address);
            failure.hint(&format!("did you mean {}?", shell_word(&address)))
        }
        None if path.is_file() => failure.hint(&format!(
            "ken status --why {} says why",
            shell_word(&path.to_string_lossy())
        )),
        None => failure,
    }
}
