//! `ken mcp`: a server for agents, on standard input and output.

mod install;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ken_mcp::{Mcp, repository, scope, serve};

use super::agents::setup;
use super::context::context;
use crate::cli::{Global, McpArgs};
use crate::config::{Settings, data_folder};
use crate::failure::{Failure, Kind};
use crate::output;

pub(crate) fn run(global: &Global, args: &McpArgs) -> Result<ExitCode, Failure> {
    let context = context();
    let folders = folders(args, &context.cwd)?;
    let usage = |message| Failure::new(Kind::Usage, message);
    let scope = scope(&folders, &args.exclude, args.mail).map_err(usage)?;
    if let Some(client) = args.install {
        output::print(install::text(client, global, &scope)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let data = data_folder(global)?;
    let settings = Settings::load(global)?;
    let server = super::serve::client(&data);
    let mcp = Mcp::new(setup(global, &data, &settings, context, server)?, scope);
    serve(&mcp, io::stdin().lock(), output::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the folders that agents may see.
fn folders(args: &McpArgs, here: &Path) -> Result<Vec<PathBuf>, Failure> {
    match args.folders.as_slice() {
        [] => repository(here).map(|folder| vec![folder]).ok_or_else(|| {
            let message =
                "the working folder is in no git repository, so nothing says what agents may see";
            Failure::new(Kind::Usage, message.to_owned()).hint("ken mcp --in ~/Documents")
        }),
        folders => Ok(folders.to_vec()),
    }
}
