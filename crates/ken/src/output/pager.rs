//! The pager: the program that shows a long output on a terminal page by page, as git has it.
//!
//! `$KEN_PAGER`, else `$PAGER`, else `less`; nothing and `cat` mean none. The program gets what the terminal would get,
//! from which what steers a terminal was removed before.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::SIGINT;
use terminal_size::{Height, terminal_size_of};

use crate::cli::Global;

/// The pager in front of standard output.
static PAGER: Mutex<Option<Pager>> = Mutex::new(None);

/// A pager, to which the output is written.
pub(super) enum Pager {
    /// The first page is to begin with a line, unless everything fits the screen: until that is known, nothing runs.
    Waiting {
        line: usize,
        held: Vec<u8>,
    },
    Running {
        program: Child,
        input: ChildStdin,
    },
    /// The program cannot be started.
    Failed,
}

impl Pager {
    /// Starts the program, with this line as the first one; none if the user wants no pager or it cannot be started.
    fn start(line: Option<usize>) -> Option<Self> {
        let mut command = command(line)?;
        let mut program = command.stdin(Stdio::piped()).spawn().ok()?;
        // Ctrl-C belongs to the pager as long as it runs.
        let _ = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
        let input = program.stdin.take()?;
        Some(Self::Running { program, input })
    }

    /// Starts the program if nothing runs yet, and gives it what was held back.
    fn release(&mut self, line: Option<usize>) -> io::Result<()> {
        let Self::Waiting { held, .. } = self else {
            return Ok(());
        };
        let held = std::mem::take(held);
        *self = Self::start(line).unwrap_or(Self::Failed);
        self.write_all(&held)
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Waiting { line, held } => {
                held.extend_from_slice(bytes);
                if !fits_screen(held) {
                    let line = *line;
                    self.release(Some(line))?;
                }
                Ok(bytes.len())
            }
            Self::Running { input, .. } => input.write(bytes),
            Self::Failed => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Waiting { .. } => Ok(()),
            Self::Running { input, .. } => input.flush(),
            Self::Failed => io::stdout().flush(),
        }
    }
}

/// Returns whether a screen has room for all lines of a text and for the prompt of the pager.
fn fits_screen(text: &[u8]) -> bool {
    let Some((_, Height(rows))) = terminal_size_of(io::stdout()) else {
        return false;
    };
    let n_lines = text.iter().filter(|byte| **byte == b'\n').count();
    n_lines < usize::from(rows)
}

/// A pager that ends when the value is dropped: its user has read everything then.
#[must_use]
pub(crate) struct Paging;

impl Drop for Paging {
    fn drop(&mut self) {
        end();
    }
}

/// Sends standard output to the pager from now on, if it is a terminal and the user wants one.
pub(crate) fn page(global: &Global) -> Paging {
    page_at(global, None)
}

/// Does the same; the first page begins with this line, counted from 1, where the pager can and not everything fits the
/// screen.
pub(crate) fn page_at(global: &Global, line: Option<usize>) -> Paging {
    if !global.no_pager && io::stdout().is_terminal() {
        *pager() = match line.filter(|_| begins_anywhere()) {
            Some(line) => Some(Pager::Waiting {
                line,
                held: Vec::new(),
            }),
            None => Pager::start(None),
        };
    }
    Paging
}

/// Ends the output, and waits until the user has left the pager.
pub(crate) fn end() {
    let ended = pager().take();
    if let Some(mut pager) = ended {
        // The user has seen whatever there is to see.
        let _ = pager.release(None).and_then(|()| pager.flush());
        if let Pager::Running { mut program, input } = pager {
            drop(input);
            let _ = program.wait();
        }
    }
}

fn pager() -> std::sync::MutexGuard<'static, Option<Pager>> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the words of the command line of the pager, split as a shell does; none if the user wants none.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn words() -> Option<Vec<String>> {
    let set = ["KEN_PAGER", "PAGER"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok());
    let words = shlex::split(&set.unwrap_or_else(|| "less".to_owned()))?;
    let program = words.first()?;
    (program != "cat").then_some(words)
}

/// Returns the command of the pager, which begins with a line if one is given.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn command(first_line: Option<usize>) -> Option<Command> {
    let words = words()?;
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(line) = first_line {
        command.arg(format!("+{line}"));
    }
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    if std::env::var_os("LV").is_none() {
        command.env("LV", "-c");
    }
    Some(command)
}

/// Returns whether the pager takes the number of the first line as `+LINE`, as POSIX has it for `more`.
fn begins_anywhere() -> bool {
    let words = words().unwrap_or_default();
    let name = words
        .first()
        .and_then(|program| Path::new(program).file_name());
    name.is_some_and(|name| name == "less" || name == "more")
}

/// Gives the pager to `write`; none if there is none.
pub(super) fn with_input<T>(write: impl FnOnce(&mut Pager) -> T) -> Option<T> {
    pager().as_mut().map(write)
}
