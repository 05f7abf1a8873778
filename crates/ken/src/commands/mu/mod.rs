//! `mu`: ken under the name of mu, with its command line, output and exit codes.
//!
//! mu 1.8.13 is the reference: lines of messages and contacts are the same byte for byte, and lists of properties have
//! the same names. `docs/mu.md` lists the differences.

mod cfind;
mod extract;
mod fields;
mod find;
mod format;
mod home;
mod labels;
mod message;
mod options;
mod server;
mod table;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::Global;
use crate::config::Settings;
use crate::failure::Failure;
use crate::output;
use ken_server::mu::Version;
use options::{Typed, usage};

/// Nothing was found, from mu 1.10 on and before.
const NO_MATCHES: [u8; 2] = [2, 4];
/// No contact was found.
const NO_CONTACTS: u8 = 2;
/// The request failed.
const FAILED: u8 = 1;

/// Why a command failed.
enum Refusal {
    /// The message is printed, with the usage if that is the subject.
    Said(String),
    /// The arguments are invalid.
    Usage(String),
    /// ken's own failure.
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl From<ken_server::mu::Error> for Refusal {
    fn from(error: ken_server::mu::Error) -> Self {
        Self::Said(error.message)
    }
}

type Outcome = Result<ExitCode, Refusal>;

/// Returns the name of mu's command in arguments.
pub(crate) fn command(arguments: &[OsString]) -> Option<&'static str> {
    options::read(arguments.to_vec()).ok()?.command
}

/// Returns the data folder that arguments name.
pub(crate) fn data_folder(global: &Global, arguments: &[OsString]) -> Option<PathBuf> {
    let typed = options::read(arguments.to_vec()).ok()?;
    home::folder(global, &typed).ok()
}

/// Runs the arguments after the name of the program.
pub(crate) fn run(global: &Global, arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
    let typed = match options::read(arguments) {
        Ok(typed) => typed,
        Err((command, message)) => return complain(&message, Some(&usage(command))),
    };
    if typed.has("version") {
        return version(global);
    }
    let Some(command) = typed.command.filter(|_| !typed.has("help")) else {
        let text = usage(typed.command);
        output::print(text.as_bytes())?;
        return Ok(ExitCode::from(u8::from(!typed.has("help"))));
    };
    let outcome = match command {
        "cfind" => cfind::run(global, &typed),
        "extract" => extract::run(global, &typed),
        "fields" => fields::run(),
        "find" => find::run(global, &typed),
        "help" => help(&typed),
        "labels" => labels::run(global, &typed),
        "server" => server::run(global, &typed),
        "verify" => message::verify(&typed),
        "view" => message::view(global, &typed),
        "mkdir" => message::mkdir(&typed),
        "move" => message::relocate(global, &typed),
        _ => home::run(global, command, &typed),
    };
    match outcome {
        Ok(code) => Ok(code),
        Err(Refusal::Said(message)) => complain(&message, None),
        Err(Refusal::Usage(message)) => complain(&message, Some(&usage(Some(command)))),
        // For the version of the index or a closed pipe, ken's own report is better.
        Err(Refusal::Failed(failure)) => {
            failure.report();
            Ok(ExitCode::from(FAILED))
        }
    }
}

/// Prints why nothing is done, and the usage.
fn complain(message: &str, usage: Option<&str>) -> Result<ExitCode, Failure> {
    let message = output::clean(message);
    output::stderr().write_all(format!("error: {message}\n").as_bytes())?;
    if let Some(usage) = usage {
        output::print(usage.as_bytes())?;
    }
    Ok(ExitCode::from(FAILED))
}

/// Returns whether ken imitates mu 1.10 or later.
fn is_new(global: &Global) -> Result<bool, Failure> {
    Ok(Version::new(&Settings::load(global)?.mu.version).is_new())
}

/// Returns the exit code of a search that finds nothing.
fn no_matches(global: &Global) -> Outcome {
    let [new, old] = NO_MATCHES;
    Ok(ExitCode::from(if is_new(global)? { new } else { old }))
}

/// Prints the version of mu that ken imitates, which mu4e reads.
fn version(global: &Global) -> Result<ExitCode, Failure> {
    let version = Settings::load(global)?.mu.version;
    let text = format!(
        "mu (mail indexer/searcher) version {version}\nin fact ken {}\n",
        env!("CARGO_PKG_VERSION")
    );
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn help(typed: &Typed) -> Outcome {
    let command = typed.words.first().map(|word| word.to_string_lossy());
    output::print(usage(command.as_deref()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
