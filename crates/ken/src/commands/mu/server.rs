//! `mu server`: requests on standard input, answers on standard output.

use std::io::{BufReader, BufWriter, Cursor};
use std::process::ExitCode;

use ken_server::mu::{Session, Version};

use super::options::Typed;
use super::{Outcome, home};
use crate::cli::Global;
use crate::commands::interrupt::end_with_signals;
use crate::config::Settings;

#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let version = Version::new(&Settings::load(global)?.mu.version);
    let store = home::store(global, typed)?;
    let out = BufWriter::new(crate::output::stdout());
    let session = Session::new(store, version, out, std::env::temp_dir());
    let stopper = session.stopper();
    // Moves reach the index: mu4e sends a signal right after its last request.
    end_with_signals(move || stopper.stop())?;
    match typed.text("eval") {
        Some(request) => session.run(Cursor::new(request.into_bytes()))?,
        None => session.run(BufReader::new(std::io::stdin()))?,
    }
    Ok(ExitCode::SUCCESS)
}
