//! One file for each subcommand.

mod extract;
mod generate;
mod index;
mod search;
mod status;
mod walk;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let global = cli.global;
    match cli.command {
        Command::Index(args) => index::run(&global, &args),
        Command::Search(args) => search::run(&global, &args),
        Command::Status(args) => status::run(&global, &args),
        Command::Extract(args) => extract::run(&global, &args),
        Command::Walk(args) => walk::run(&global, &args),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man(&args),
    }
}

/// Returns git's global ignore file, as ripgrep uses it.
fn global_ignore() -> Option<std::path::PathBuf> {
    ignore::gitignore::gitconfig_excludes_path().filter(|path| path.is_file())
}

/// Returns the number of threads when none is set: one for each core.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
