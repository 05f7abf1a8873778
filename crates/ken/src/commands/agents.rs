//! What answers to agents depend on: for `ken mcp`, and for the socket of `ken serve`.

use std::path::Path;

use ken_api::Client;
use ken_mcp::Setup;
use ken_search::plan::Context;

use super::{access, own_program};
use crate::cli::Global;
use crate::config::Settings;
use crate::failure::Failure;

/// Returns what answers depend on besides the index and the scope.
pub(super) fn setup(
    global: &Global,
    data: &Path,
    settings: &Settings,
    context: Context,
    server: Option<Client>,
) -> Result<Setup, Failure> {
    Ok(Setup {
        access: access(data, settings, context)?,
        server,
        program: own_program(global, data)?,
    })
}
