//! The command `ken`: know what you have.
//!
//! How does a user work with ken? This crate is the only one that talks to the user, reads the environment or ends the
//! process. Results go to standard output, everything else to standard error.

mod choices;
mod cli;
mod commands;
mod config;
mod failure;
mod locale;
mod manual;
mod output;
mod rescue;
mod zone;

use std::process::ExitCode;

fn main() -> ExitCode {
    if commands::worker::is_meant(std::env::args_os()) {
        return commands::worker::run();
    }
    if let Some(code) = commands::sandbox::exec_if_meant(std::env::args_os()) {
        return code;
    }
    rescue::run(|| cli::Cli::read(std::env::args_os()).unwrap_or_else(|error| error.exit()))
}
