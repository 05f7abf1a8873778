//! `ag`: ken under the name of the Silver Searcher, with its command line, output and exit codes.
//!
//! The arguments are parsed as by `getopt_long`, and become settings of [`ken_grep::ag`], which searches. ag 2.2.0 is
//! the reference: `scripts/compare-ag` runs both on the same files. `docs/ag.md` lists the differences.

mod getopt;
mod git;
mod plan;
mod typed;

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, LineWriter, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::time::Instant;

use ken_grep::ag::{self, FILE_TYPES, Outcome, Report, Settings, Stats};
use ken_grep::prefilter::{IndexTables, Prefilter, Why};

use crate::cli::Global;
use crate::commands::{local_tables, warn_of_damaged_ngrams};
use crate::failure::{Failure, Kind};
use crate::output::{self, Out};
use plan::{Plan, Surroundings};
use typed::{Instead, Refusal, Terminal, Typed};

/// The arguments are invalid, or nothing was found.
const NOTHING: u8 = 1;

/// The search failed.
const FATAL: u8 = 2;

/// The buffer for output to another program, as large as the C library's.
const BUFFER: usize = 4 << 10;

const HELP: &str = include_str!("help.txt");

/// Runs the arguments after the name of the program.
pub(crate) fn run(global: &Global, arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    if arguments.is_empty() {
        return usage("");
    }
    let terminal = terminal();
    let mut typed = match typed::read(arguments, terminal) {
        Ok(typed) => typed,
        Err(refusal) => return refuse(&refusal),
    };
    if let Some(instead) = typed.instead {
        return inform(instead);
    }
    let mut pager = match typed.pager.take() {
        Some(command) => Some(page(&command)?),
        None => None,
    };
    let code = answer(global, typed, terminal, &mut pager, started);
    if let Some(mut pager) = pager {
        // The pager ends when its input does.
        drop(pager.stdin.take());
        pager.wait()?;
    }
    code
}

fn answer(
    global: &Global,
    typed: Typed,
    terminal: Terminal,
    pager: &mut Option<Child>,
    started: Instant,
) -> Result<ExitCode, Failure> {
    let around = surroundings(&typed, terminal);
    let wants_stats = typed.stats;
    let mut err = output::stderr();
    let pipe: Option<ChildStdin> = pager.as_mut().and_then(|pager| pager.stdin.take());
    let mut out: Box<dyn Write + Send> = match pipe {
        Some(pipe) => {
            let shown = Out::new(pipe, terminal.is_output);
            Box::new(BufWriter::with_capacity(BUFFER, shown))
        }
        None if terminal.is_output => Box::new(LineWriter::new(output::stdout())),
        None => Box::new(BufWriter::with_capacity(BUFFER, output::stdout())),
    };
    let report = Report::new(&mut *out, &mut err, typed.level);
    let mut plan = match plan::plan(typed, &around, &report) {
        Ok(plan) => plan,
        Err(refusal) => {
            report.finish()?;
            return refuse(&refusal);
        }
    };
    let tables = local_tables(global);
    if let Some(tables) = &tables
        && !plan.is_stream
        && plan.settings.leaves_out_others()
    {
        plan.settings.prefilter = prefilter(tables, &plan.settings);
    }
    let outcome = search(&plan, &report)?;
    tables.iter().for_each(warn_of_damaged_ngrams);
    if wants_stats {
        let text = stats(outcome.stats, started.elapsed().as_secs_f64());
        output::print(text.as_bytes())?;
    }
    Ok(match outcome.found {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOTHING),
    })
}

/// Asks the index which files need not be read. Without a readable index all files are read.
fn prefilter(tables: &IndexTables, settings: &Settings) -> Prefilter {
    let Ok(here) = fs_err::canonicalize(".") else {
        return Prefilter::nothing();
    };
    let paths = &settings.selection.paths;
    let need = settings.pattern.need();
    let prefilter = Prefilter::of_whole_files(tables, need, paths, &here);
    prefilter.unwrap_or_else(|_| Prefilter::because(Why::Unreadable))
}

fn search(plan: &Plan, report: &Report<'_>) -> io::Result<Outcome> {
    match plan.is_stream {
        true => ag::search_stream(&plan.settings, &mut io::stdin().lock(), report),
        false => ag::search(&plan.settings, report),
    }
}

fn stats(stats: Stats, seconds: f64) -> String {
    let Stats {
        matches,
        file_matches,
        files,
        bytes,
    } = stats;
    format!(
        "{matches} matches\n{file_matches} files contained matches\n{files} files searched\n\
         {bytes} bytes searched\n{seconds:.6} seconds\n"
    )
}

/// Prints why nothing is done, and returns the exit code.
fn refuse(refusal: &Refusal) -> Result<ExitCode, Failure> {
    match refusal {
        Refusal::Usage(message) => usage(message),
        Refusal::Query(message) => complain(message, NOTHING),
        Refusal::Fatal(message) => complain(message, FATAL),
    }
}

fn complain(message: &str, code: u8) -> Result<ExitCode, Failure> {
    output::stderr().write_all(format!("ERR: {message}\n").as_bytes())?;
    Ok(ExitCode::from(code))
}

fn usage(message: &str) -> Result<ExitCode, Failure> {
    output::stderr().write_all(message.as_bytes())?;
    output::print(HELP.as_bytes())?;
    Ok(ExitCode::from(NOTHING))
}

fn inform(instead: Instead) -> Result<ExitCode, Failure> {
    let text = match instead {
        Instead::Help => HELP.to_owned(),
        // Programs read the first line.
        Instead::Version => format!("ag version 2.2.0\n\nken {}\n", env!("CARGO_PKG_VERSION")),
        Instead::FileTypes => file_types(),
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn file_types() -> String {
    let mut text = "The following file types are supported:\n".to_owned();
    for kind in FILE_TYPES.iter() {
        let extensions: String = kind.extensions().map(|name| format!("  .{name}")).collect();
        text.push_str(&format!("  --{}\n    {extensions}\n\n", kind.name));
    }
    text
}

/// Starts the program that output goes to.
fn page(command: &OsString) -> Result<Child, Failure> {
    let shell = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .spawn();
    shell.map_err(|error| {
        let message = format!("the pager could not be started: {error}");
        Failure::new(Kind::Usage, message)
    })
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment here
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn terminal() -> Terminal {
    let input = fs_err::metadata("/proc/self/fd/0");
    Terminal {
        is_output: io::stdout().is_terminal(),
        has_colors: variable("TERM").is_none_or(|term| term != "dumb"),
        is_fed: input.is_ok_and(|input| input.is_file() || input.file_type().is_fifo()),
    }
}

fn surroundings(typed: &Typed, terminal: Terminal) -> Surroundings {
    let home = variable("HOME").map(PathBuf::from);
    let home = home.as_deref();
    let own = home.filter(|_| !typed.all_files).map(agignore);
    let vcs = || git::excludes_file(home);
    let vcs = typed.vcs.then(vcs).flatten();
    let output = fs_err::metadata("/proc/self/fd/1").ok();
    let output = output.filter(|_| !terminal.is_output);
    Surroundings {
        ignore: own.into_iter().chain(vcs).collect(),
        output: output.map(|output| (output.dev(), output.ino())),
        cores: super::default_threads(),
    }
}

fn agignore(home: &Path) -> PathBuf {
    home.join(".agignore")
}
