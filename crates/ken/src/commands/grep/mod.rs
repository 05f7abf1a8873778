//! `ken grep`: every line that matches, as ripgrep prints it, with ripgrep's flags.

mod compressed;
mod config_file;
mod documents;
pub(crate) mod flags;
mod messages;
mod name;
mod plan;
mod stats;
mod typed;

use std::ffi::OsString;
use std::io::{self, BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ken_api::message::Vouch;
use ken_core::{BytesPath, Root};
use ken_grep::Observer;
use ken_grep::digest::Budget;
use ken_grep::format::{Format, Mode};
use ken_grep::output::{Output, Paint};
use ken_grep::prefilter::{IndexTables, Need, Prefilter, Request, Trust, Why};
use ken_grep::run::{self, ListError, Search, Summary};
use ken_grep::walk;
use ken_index::layout::index_folder;

use super::{bounded, global_ignore, serve};
use crate::cli::Global;
use crate::commands::{local_tables, warn_of_damaged_ngrams};
use crate::config::data_folder;
use crate::failure::{Failure, Kind};
use crate::output;
use messages::Messages;
pub(crate) use name::Name;
use plan::{Plan, Surroundings};
use typed::{Action, Buffering, Generated, Typed};

/// Number of paths about which `ken serve` is asked.
const MAX_VOUCHED: usize = 100;
/// The time that it has for an answer; then stamps are checked.
const VOUCH_WAIT: Duration = Duration::from_millis(100);
/// The buffer for results: output is written in few large pieces.
const BUFFER: usize = 64 << 10;

/// Runs the arguments after the name of the command.
pub(crate) fn run(
    global: &Global,
    arguments: Vec<OsString>,
    name: Name,
) -> Result<ExitCode, Failure> {
    if name == Name::Rg {
        output::set_program("rg");
    }
    let mut typed = read(arguments, name).map_err(usage)?;
    messages::start_log(typed.logging);
    match typed.action {
        Action::Help => return help(name),
        Action::Version { is_long } => return print(&name.version(is_long)),
        Action::Pcre2Version => return pcre2_version(),
        Action::Generate(kind) => return generate(name, kind),
        Action::Types => return types(&typed),
        Action::Files | Action::Search(_) => {}
    }
    let global = &with_options(global, &mut typed);
    let messages = Messages::new(&typed);
    let around = Surroundings::read(global).map_err(usage)?;
    let plan = plan::plan(&mut typed, &around).map_err(usage)?;
    let matched = match typed.action {
        Action::Files => files(&plan, &typed, &around, &messages)?,
        _ if !plan.can_match() => false,
        _ => search(global, &plan, &typed, &around, &messages)?,
    };
    let is_nothing = !matched && !messages.any_failure();
    if is_nothing && name == Name::Ken && plan.format.mode != Mode::Json {
        point_to_documents(global, &typed);
    }
    Ok(
        if matched && (plan.format.quiet || !messages.any_failure()) {
            ExitCode::SUCCESS
        } else if messages.any_failure() {
            ExitCode::from(2)
        } else {
            ExitCode::from(1)
        },
    )
}

/// Says on a terminal that PDF and office documents are searched another way, if there is an index.
fn point_to_documents(global: &Global, typed: &Typed) {
    let is_search = matches!(typed.action, Action::Search(_));
    let has_index = || data_folder(global).is_ok_and(|data| index_folder(&data).is_dir());
    if is_search && !typed.documents && !typed.quiet && has_index() {
        output::remark("no line matches; --documents searches PDF, office documents and mail");
    }
}

/// Returns the options of every command, with those given after the name of this one.
fn with_options(global: &Global, typed: &mut Typed) -> Global {
    let mut global = global.clone();
    global.data = typed.data.take().or(global.data);
    global.config = typed.config.take().or(global.config);
    global.set.append(&mut typed.set);
    global.hyperlinks = typed.clickable.unwrap_or(global.hyperlinks);
    global
}

/// Reads the command line, after the arguments of the configuration file.
fn read(arguments: Vec<OsString>, name: Name) -> Result<Typed, String> {
    let named = || Typed {
        name,
        ..Typed::default()
    };
    let mut typed = named();
    flags::read(arguments.clone(), &mut typed)?;
    if typed.no_config {
        return Ok(typed);
    }
    #[allow(clippy::disallowed_methods)] // the binary reads its environment here
    let path = std::env::var_os(name.config_variable()).filter(|path| !path.is_empty());
    let Some(path) = path.map(PathBuf::from) else {
        return Ok(typed);
    };
    let mut all = match config_file::read(&path) {
        Ok(all) => all,
        Err(error) => {
            let about = "failed to read the file specified in";
            let variable = name.config_variable();
            Messages::new(&typed).bad_rule(&format!("{about} {variable}: {error}"));
            return Ok(typed);
        }
    };
    all.extend(arguments);
    let mut typed = named();
    flags::read(all, &mut typed)?;
    Ok(typed)
}

fn usage(message: String) -> Failure {
    Failure::new(Kind::Usage, message)
}

fn search(
    global: &Global,
    plan: &Plan,
    typed: &Typed,
    around: &Surroundings,
    messages: &Messages,
) -> Result<bool, Failure> {
    let started = Instant::now();
    let matcher = plan
        .pattern
        .build()
        .map_err(|error| usage(error.to_string()))?;
    let conditions = plan
        .conditions()
        .map_err(|error| usage(error.to_string()))?;
    let request = Request {
        pattern: &plan.pattern,
        matcher: &matcher,
        options: &plan.search,
        conditions: &conditions,
        format: &plan.format,
        walk: &plan.walk,
        trust: Trust::Stamps,
    };
    let need = request.need();
    let request = Request {
        trust: trust(global, typed, plan, &need),
        ..request
    };
    let tables = match typed.no_index {
        true => None,
        false => local_tables(global),
    };
    let prefilter = prefilter(tables.as_ref(), &request, &need);
    // With an index such files are skipped already.
    let passes_over_ascii = prefilter.is_empty() && need.is_ok_and(|need| need.is_beyond_ascii());
    let search = Search {
        walk: &plan.walk,
        matcher,
        conditions: &conditions,
        options: &plan.search,
        format: &plan.format,
        prefilter: &prefilter,
        passes_over_ascii,
        implicit_path: plan.implicit_path,
        observer: messages,
    };
    let summary = results(global, &search, plan, typed, around, started)?;
    if let Some(tables) = tables.filter(|_| !typed.no_messages) {
        warn_of_damaged_ngrams(&tables);
    }
    if typed.explain {
        let Summary {
            files, excluded, ..
        } = summary;
        let scanned = files - excluded;
        let why = prefilter.explain();
        messages::print(&format!(
            "{files} files: {excluded} excluded, {scanned} scanned; {why}"
        ));
    }
    if plan.implicit_path
        && summary.files == 0
        && !(prefilter.is_trusted() && has_files(plan, messages))
    {
        messages.failed(&format!(
            "No files were searched, which means {} probably applied a filter you didn't \
             expect.\nRunning with --debug will show why files are being skipped.",
            typed.name.in_sentences()
        ));
    }
    Ok(summary.matched)
}

/// Returns what is believed of the index. `ken serve` is asked before the index is opened: what it says holds for every
/// later commit.
fn trust(global: &Global, typed: &Typed, plan: &Plan, need: &Result<Need, Why>) -> Trust {
    if typed.trust_index {
        return Trust::User;
    }
    match data_folder(global) {
        Ok(data) if need.is_ok() && !typed.no_index => watched(&data, plan).unwrap_or_default(),
        _ => Trust::Stamps,
    }
}

/// Asks `ken serve` whether the index has the searched files as they are.
fn watched(data: &Path, plan: &Plan) -> Option<Trust> {
    let client = serve::client(data)?;
    let meta = ken_index::read_meta(&index_folder(data)).ok()?;
    let here = &plan.walk.working_folder;
    let paths = plan.walk.paths.iter();
    let paths: Option<Vec<PathBuf>> = paths
        .map(|path| fs_err::canonicalize(here.join(path)).ok())
        .collect();
    let paths = paths.filter(|paths| paths.len() <= MAX_VOUCHED)?;
    let is_near = |root: &&Root| {
        let mut paths = paths.iter();
        paths.any(|path| path.starts_with(&root.path) || root.path.starts_with(path))
    };
    let roots: Vec<Root> = meta.roots.iter().filter(is_near).cloned().collect();
    if !plan.walk.is_within(&roots) {
        return None;
    }
    let global_ignore = global_ignore();
    if global_ignore.as_deref().is_some_and(has_anchored_rules) {
        return None;
    }
    let question = Vouch {
        paths: paths.into_iter().map(BytesPath).collect(),
        global_ignore: global_ignore.map(BytesPath),
    };
    let vouched = client.vouch(&question, VOUCH_WAIT).ok()?;
    let except = vouched.except.into_iter().map(|BytesPath(path)| path);
    vouched.is_vouched.then(|| Trust::Watched(except.collect()))
}

/// Returns whether a global ignore file has patterns that are relative to a folder, which is the working folder for a
/// search and the root for the index.
fn has_anchored_rules(file: &Path) -> bool {
    let is_anchored = |line: &[u8]| {
        let line = line.trim_ascii_end();
        let line = line.strip_suffix(b"/").unwrap_or(line);
        !line.starts_with(b"#") && line.contains(&b'/')
    };
    match fs_err::read(file) {
        Ok(text) => text.split(|byte| *byte == b'\n').any(is_anchored),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Asks the index which files need no scan. Without a readable index all files are scanned.
fn prefilter(
    tables: Option<&IndexTables>,
    request: &Request<'_>,
    need: &Result<Need, Why>,
) -> Prefilter {
    let Some(tables) = tables else {
        return Prefilter::nothing();
    };
    let need = match need {
        Ok(need) => need,
        Err(why) => return Prefilter::because(*why),
    };
    let prefilter = Prefilter::new(tables, request, need);
    prefilter.unwrap_or_else(|_| Prefilter::because(Why::Unreadable))
}

/// Returns whether there is any file to search. Where the index is trusted, the walk visits only files that may match.
fn has_files(plan: &Plan, messages: &Messages) -> bool {
    let format = Format {
        quiet: true,
        ..plan.format.clone()
    };
    let nowhere = Paint::new(io::sink(), None);
    run::list(&plan.walk, &format, plan.implicit_path, messages, nowhere).unwrap_or(true)
}

/// Searches in the requested way, and prints the results.
fn results(
    global: &Global,
    search: &Search<'_>,
    plan: &Plan,
    typed: &Typed,
    around: &Surroundings,
    started: Instant,
) -> Result<Summary, Failure> {
    let walk_failed = |error: ignore::Error| usage(error.to_string());
    if let Some(bytes) = plan.budget {
        let budget = Budget {
            bytes,
            skip: typed.skip,
            skip_lines: typed.skip_lines,
            as_json: plan.format.mode == Mode::Json,
            next: &|skip, lines| {
                bounded::next_command_with(&[("skip", skip), ("skip-lines", lines)])
            },
        };
        let mut writer = standard_output(typed, around);
        return match typed.documents {
            true => documents::within(global, search, around, &budget, &mut writer),
            false => search.within(&budget, &mut writer).map_err(walk_failed),
        };
    }
    // A single core does not promise the order of one thread, as `-j1` does.
    let is_ordered = typed.threads.is_some() || typed.sort.is_some() || !search.walks_by_index();
    if !typed.documents && (typed.rank || plan.walk.threads == 1 && is_ordered) {
        let mut writer = Paint::new(standard_output(typed, around), plan.colors);
        let summary = match typed.rank {
            true => search.ranked(&mut writer),
            false => search.sequential(&mut writer),
        };
        let summary = summary.map_err(walk_failed)?;
        report(&summary, started, plan, &mut writer);
        return Ok(summary);
    }
    let separator = plan.format.file_separator.clone();
    let output = Output::new(output::stdout(), plan.colors, separator);
    let summary = match typed.documents {
        true => documents::search(global, search, &output, around, typed.rank)?,
        false => search.parallel(&output).map_err(walk_failed)?,
    };
    report(&summary, started, plan, &mut output::stdout());
    Ok(summary)
}

/// Prints the statistics; the reader may be gone.
fn report(summary: &Summary, started: Instant, plan: &Plan, writer: &mut dyn Write) {
    if let Some(stats) = &summary.stats {
        let json = plan.format.mode == Mode::Json;
        let text = stats::text(stats, started.elapsed(), json);
        let _ = writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush());
    }
}

/// Returns standard output with the requested buffering.
fn standard_output(typed: &Typed, around: &Surroundings) -> Box<dyn Write + Send> {
    let by_line = match typed.buffering {
        Buffering::Auto => around.output_is_terminal,
        Buffering::Line => true,
        Buffering::Block => false,
    };
    if by_line {
        Box::new(LineWriter::new(output::stdout()))
    } else {
        Box::new(BufWriter::with_capacity(BUFFER, output::stdout()))
    }
}

fn files(
    plan: &Plan,
    typed: &Typed,
    around: &Surroundings,
    messages: &Messages,
) -> Result<bool, Failure> {
    let mut writer = Paint::new(standard_output(typed, around), plan.colors);
    let (walk, format) = (&plan.walk, &plan.format);
    let any = run::list(walk, format, plan.implicit_path, messages, &mut writer);
    let any = any.map_err(|error| match error {
        ListError::Walk(error) => usage(error.to_string()),
        ListError::Output(error) => error.into(),
    })?;
    writer.flush()?;
    Ok(any)
}

fn types(typed: &Typed) -> Result<ExitCode, Failure> {
    let types = walk::types(&typed.types).map_err(|error| usage(error.to_string()))?;
    let mut text = String::new();
    for definition in types.definitions() {
        let globs = definition.globs().join(", ");
        text.push_str(&format!("{}: {globs}\n", definition.name()));
    }
    print(&text)?;
    Ok(ExitCode::from(u8::from(text.is_empty())))
}

fn help(name: Name) -> Result<ExitCode, Failure> {
    use clap::CommandFactory;
    if name == Name::Rg {
        rg().print_help()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut cli =
        crate::cli::Cli::command().mut_subcommand("grep", |command| flags::describe(&command));
    cli.build();
    if let Some(command) = cli.find_subcommand_mut("grep") {
        command.print_help()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes the command under the name `rg`.
fn rg() -> clap::Command {
    let about = "Print every line that matches a regular expression (ken in the place of ripgrep)";
    flags::described(clap::Command::new("rg").about(about)).version(env!("CARGO_PKG_VERSION"))
}

fn generate(name: Name, kind: Generated) -> Result<ExitCode, Failure> {
    if name == Name::Ken {
        let failure = usage("--generate is a flag of rg only".to_owned());
        return Err(failure.hint("ken completions SHELL and ken man FOLDER write those of ken"));
    }
    let mut text = Vec::new();
    match kind {
        Generated::Man => clap_mangen::Man::new(rg()).render(&mut text)?,
        Generated::Completions(shell) => clap_complete::generate(shell, &mut rg(), "rg", &mut text),
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn pcre2_version() -> Result<ExitCode, Failure> {
    let code = u8::from(ken_grep::pattern::pcre2_version().is_none());
    print(&pcre2())?;
    Ok(ExitCode::from(code))
}

/// Returns a line about PCRE2.
fn pcre2() -> String {
    let Some((major, minor)) = ken_grep::pattern::pcre2_version() else {
        return "PCRE2 is not available in this build of ken.\n".to_owned();
    };
    let jit = if ken_grep::pattern::pcre2_jit() {
        "JIT is available"
    } else {
        "JIT is unavailable"
    };
    format!("PCRE2 {major}.{minor} is available ({jit})\n")
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    crate::output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
