//! Addresses as they are typed: what the search service takes, and numbers of the last list on this terminal.

use std::path::Path;

use ken_search::service::{Addressed, Error, Service};

use super::last;
use crate::failure::{Failure, Kind};
use crate::output::shell_word;

/// Finds the document with a typed address. A number means a hit of the last list.
pub(super) fn find(service: &Service<'_>, typed: &Path) -> Result<Addressed, Failure> {
    let address = last::address(typed)?;
    match service.addressed(&address) {
        Err(Error::NotIndexed(path)) => Err(not_indexed(service, &address, &path)),
        found => Ok(found?),
    }
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
            failure.hint(&format!("did you mean {}?", shell_word(&address)))
        }
        None if path.is_file() => failure.hint(&format!(
            "ken status --why {} says why",
            shell_word(&path.to_string_lossy())
        )),
        None => failure,
    }
}
