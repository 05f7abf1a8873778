//! What answers to agents depend on: for `ken mcp`, and for the socket of `ken serve`.

use std::path::Path;

use ken_api::Client;
use ken_index::layout::index_folder;
use ken_mcp::Setup;
use ken_search::plan::Context;

use super::{own_program, query};
use crate::cli::Global;
use crate::config::Settings;
use crate::failure::Failure;

/// Returns what answers depend on besides the index and the scope.
pub(super) fn setup(
    global: &Global,
    data: &Path,
    settings: &Settings,
    mut context: Context,
    server: Option<Client>,
) -> Result<Setup, Failure> {
    settings.mail.apply_to(&mut context)?;
    context.synonyms = query::synonyms(None, settings)?;
    Ok(Setup {
        index: index_folder(data),
        ranking: settings.ranking.ranking()?,
        stemming: settings.analysis.stem.clone(),
        context,
        saved: settings.queries.clone(),
        deadline_ms: settings.search.deadline_ms(),
        server,
        program: own_program(global, data)?,
    })
}
