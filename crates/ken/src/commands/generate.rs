//! `ken completions` and `ken man`: made from the definitions of the command line.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::commands::grep::flags;
use crate::failure::Failure;

/// Describes the command line; what clap cannot parse, too.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("grep", |command| flags::describe(&command))
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "ken", &mut script);
    crate::output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    fs_err::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(command(), &args.folder)?;
    Ok(ExitCode::SUCCESS)
}
