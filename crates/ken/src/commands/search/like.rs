//! `ken search --like PATH` for a file that is not in the index, whose text is extracted now.

use std::path::Path;

use ken_core::{Ipath, Location};
use ken_extract::{Extractor, Input};
use ken_search::service::TextOf;

use crate::cli::Global;
use crate::config::Settings;
use crate::failure::{Failure, Kind};

/// Returns the text of a file, or that of its members if it has none.
pub(super) fn text(global: &Global, settings: &Settings, path: &Path) -> Result<String, Failure> {
    let mut options = settings.extraction()?;
    options.helpers = settings.helpers(global)?;
    // Opening a FIFO would wait for a writer.
    let metadata = fs_err::metadata(path)?;
    if !metadata.is_file() {
        let message = format!("\"{}\" is not a regular file", path.display());
        return Err(Failure::new(Kind::Input, message));
    }
    let file = ken_walk::open_named(path)?;
    let name = Location::file(path).file_name();
    let mut input = Input::file(name, file.file(), metadata.len());
    let mut text = TextOf::default();
    Extractor::new(&options).extract_all(&mut input, &mut |document| {
        text.add(document.ipath == Ipath::root(), &document.body);
    });
    Ok(text.into_text())
}
