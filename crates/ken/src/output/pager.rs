//! The pager: the program that shows a long output on a terminal page by page, as git has it.
//!
//! `$KEN_PAGER`, else `$PAGER`, else `less`; nothing and `cat` mean none. The program gets what the terminal would get,
//! from which what steers a terminal was removed before.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::SIGINT;

use crate::cli::Global;

/// The running pager.
static PAGER: Mutex<Option<Pager>> = Mutex::new(None);

struct Pager {
    program: Child,
    /// Where the program reads; absent once the output has ended.
    input: Option<ChildStdin>,
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

/// Does the same; the first page begins with this line, counted from 1, where the pager can.
pub(crate) fn page_at(global: &Global, line: Option<usize>) -> Paging {
    let wanted = !global.no_pager && io::stdout().is_terminal();
    if let Some(mut command) = wanted.then(|| command(line)).flatten()
        && let Ok(mut program) = command.stdin(Stdio::piped()).spawn()
    {
        // Ctrl-C belongs to the pager as long as it runs.
        let _ = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
        let input = program.stdin.take();
        *pager() = Some(Pager { program, input });
    }
    Paging
}

/// Ends the output, and waits until the user has left the pager.
pub(crate) fn end() {
    if let Some(Pager { mut program, input }) = pager().take() {
        drop(input);
        // The user has seen whatever there is to see.
        let _ = program.wait();
    }
}

fn pager() -> std::sync::MutexGuard<'static, Option<Pager>> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the command of the pager, which begins with a line if it can; none if the user wants none.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn command(first_line: Option<usize>) -> Option<Command> {
    let set = ["KEN_PAGER", "PAGER"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok());
    let words = shlex::split(&set.unwrap_or_else(|| "less".to_owned()))?;
    let mut words = words.into_iter();
    let program = words.next().filter(|program| program != "cat")?;
    let mut command = Command::new(&program);
    command.args(words);
    if let Some(line) = first_line.filter(|_| begins_anywhere(&program)) {
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

/// Returns whether a pager takes the number of the first line as `+LINE`, as POSIX has it for `more`.
fn begins_anywhere(program: &str) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| name == "less" || name == "more")
}

/// Gives what reads for the pager to `write`; none if there is no pager.
pub(super) fn with_input<T>(write: impl FnOnce(&mut ChildStdin) -> T) -> Option<T> {
    let mut pager = pager();
    let input = pager.as_mut().and_then(|pager| pager.input.as_mut());
    input.map(write)
}
