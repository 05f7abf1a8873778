//! Commands that end in a panic.
//!
//! The engine panics where a file of the index is damaged, since it trusts lengths and offsets. The index is checked then:
//! if a part is damaged, the command runs once more without it. Any other panic is a fault of ken.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ken_index::layout::index_folder;

use crate::cli::{Cli, Command};
use crate::{commands, output};

/// What panics said, of all threads.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The most panics of which something is kept: many files may fail in the same way.
const MAX_SAID: usize = 20;
/// How long a user waits without a word while the index is checked.
const PATIENCE: Duration = Duration::from_secs(1);
/// Each run may find one more damaged segment.
const MAX_RUNS: usize = 4;

/// Runs the command.
pub(crate) fn run(cli: Cli) -> ExitCode {
    // A server lives on after a panic of a thread, and says so at once.
    if !commands::is_server(&cli) {
        std::panic::set_hook(Box::new(keep));
    }
    let (data, may_repeat) = (commands::data_folder_of(&cli), may_repeat(&cli.command));
    let again = || Cli::read(std::env::args_os()).ok();
    let mut next = Some(cli);
    for _ in 0..MAX_RUNS {
        let Some(cli) = next.take().or_else(again) else {
            break;
        };
        let code = match catch_unwind(AssertUnwindSafe(|| commands::run(cli))) {
            Ok(Ok(code)) => code,
            Ok(Err(failure)) => failure.report(),
            Err(_) => {
                let data = data.as_deref();
                let is_damage = data.is_some_and(|data| has_new_damage(&index_folder(data)));
                if is_damage && !output::has_printed() && may_repeat {
                    said().clear();
                    continue;
                }
                if is_damage {
                    said().clear();
                    output::warn("a part of the index is damaged, so the answer is not complete");
                    output::hint("run the command again: it leaves the damaged part out");
                }
                ExitCode::from(2)
            }
        };
        for panic in said().drain(..) {
            output::warn(&format!("internal error, please report it: {panic}"));
        }
        return code;
    }
    output::warn("the index is damaged");
    output::hint("ken check shows what is damaged; ken check --repair repairs it");
    ExitCode::from(2)
}

/// Returns whether a command may run once more: it only reads, or does the same again.
fn may_repeat(command: &Command) -> bool {
    match command {
        Command::Search(args) => args.query != ["-"],
        Command::Index(_) | Command::Terms(_) | Command::Status(_) | Command::Check(_) => true,
        Command::Recollq(_) | Command::Show(_) => true,
        Command::Mail(args) => args.command.only_reads(),
        Command::Mu(args) => commands::only_reads_mail(&args.arguments),
        _ => false,
    }
}

/// Returns whether a check finds damage that was not known. It reads the whole index, so it says so if it takes long.
fn has_new_damage(index: &Path) -> bool {
    let (end, ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            output::warn("an internal error: looking whether a damaged index is its cause");
        }
    });
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let damages = ken_index::note_damage(index, threads);
    drop(end);
    damages.is_ok_and(|damages| !damages.is_empty())
}

fn said() -> std::sync::MutexGuard<'static, Vec<String>> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what a panic says until it is known whether damage explains it.
fn keep(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = panic.location().map(ToString::to_string);
    let text = format!(
        "{} ({})",
        text.unwrap_or("panic"),
        place.unwrap_or_default()
    );
    let mut said = said();
    if said.len() < MAX_SAID {
        said.push(text);
    }
}
