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
mod opened;
mod output;
mod rescue;
mod zone;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = commands::worker::run_if_meant(std::env::args_os()) {
        return code;
    }
    if let Some(code) = commands::sandbox::exec_if_meant(std::env::args_os()) {
        return code;
    }
    if let Ok(program) = config::worker_program() {
        ken_walk::remote::set_program(program);
    }
    match cli::Cli::read(std::env::args_os()) {
        Ok(cli) => rescue::run(cli),
        Err(error) => refuse(&error),
    }
}

/// Prints why the command line is not understood, or the help that it asks for.
fn refuse(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && cli::asks_for_json(std::env::args_os()) {
        failure::print_object(&failure::Failure::of_command_line(
            &error.render().to_string(),
        ));
    }
    let is_plain = |argument: OsString| !argument.to_string_lossy().contains(output::steers);
    if std::env::args_os().all(is_plain) {
        error.exit();
    }
    // clap writes to the terminal itself; an argument may be the name of a file.
    let text = error.render().to_string();
    let _ = match error.use_stderr() {
        true => output::stderr().write_all(text.as_bytes()),
        false => output::stdout().write_all(text.as_bytes()),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
