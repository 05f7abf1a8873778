//! `mu server`: requests on standard input, answers on standard output.

use std::io::{BufReader, BufWriter, Cursor};
use std::process::ExitCode;

use ken_server::mu::{Session, Stopper, Version};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::options::Typed;
use super::{Outcome, Refusal, home};
use crate::cli::Global;
use crate::commands::interrupt::{INTERRUPTED, LAST_COMMIT};
use crate::config::Settings;

#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let version = Version::new(&Settings::load(global)?.mu.version);
    let store = home::store(global, typed)?;
    let out = BufWriter::new(crate::output::stdout());
    let session = Session::new(store, version, out, std::env::temp_dir());
    end_with_signals(session.stopper())?;
    match typed.text("eval") {
        Some(request) => session.run(Cursor::new(request.into_bytes()))?,
        None => session.run(BufReader::new(std::io::stdin()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the first signal end the session, so that moves reach the index: mu4e sends a signal right after its last
/// request. A second signal ends the process, and so does the time that the last commit may take.
fn end_with_signals(stopper: Stopper) -> Result<(), Refusal> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for (number, signal) in signals.forever().enumerate() {
            stopper.stop();
            std::thread::spawn(|| {
                std::thread::sleep(LAST_COMMIT);
                signal_hook::low_level::exit(i32::from(INTERRUPTED));
            });
            if number > 0 {
                // This cannot fail for these two signals.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
