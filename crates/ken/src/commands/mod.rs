//! One file for each subcommand.

mod address;
mod ag;
mod agents;
mod bounded;
mod check;
mod config;
mod contact_lines;
mod context;
mod desktop;
mod explain;
mod extract;
mod extractor;
mod generate;
pub(crate) mod grep;
mod index;
mod interrupt;
mod last;
mod mail;
mod mcp;
mod missing;
mod mu;
mod notmuch;
mod open;
mod original;
mod query;
mod recollq;
mod run_options;
pub(crate) mod sandbox;
mod search;
mod serve;
mod service;
mod show;
mod status;
mod tag;
mod terms;
#[cfg(feature = "tui")]
mod tui;
mod walk;
mod web;
mod why;
pub(crate) mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ken_engine::Engine;
use ken_grep::prefilter::IndexTables;
use ken_index::layout::index_folder;
use ken_search::plan::Context;
use ken_search::service::Access;

use crate::choices::EngineName;
use crate::cli::{Cli, Command, Global};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let global = cli.global;
    crate::failure::set_json(prints_json(&cli.command));
    match cli.command {
        Command::Index(args) => index::run(&global, &args),
        Command::Search(args) => search::run(&global, &args),
        Command::Config(args) => config::run(&global, &args),
        Command::Exclude(args) => config::exclude(&global, &args),
        Command::Grep(args) => grep::run(&global, args.arguments, grep::Name::Ken),
        Command::Show(args) => show::run(&global, &args),
        Command::Open(args) => open::run(&global, &args),
        Command::Tag(args) => tag::run(&global, &args),
        Command::Mail(args) => mail::run(&global, &args),
        Command::Terms(args) => terms::run(&global, &args),
        Command::Recollq(args) => recollq::run(&global, args.arguments),
        Command::Ag(args) => ag::run(&global, args.arguments),
        Command::Mu(args) => mu::run(&global, args.arguments),
        Command::Notmuch(args) => notmuch::run(&global, &args.arguments),
        Command::Rg(args) => grep::run(&global, args.arguments, grep::Name::Rg),
        Command::Serve(args) => serve::run(&global, &args),
        #[cfg(feature = "tui")]
        Command::Tui(args) => tui::run(&global, &args),
        Command::Web(args) => web::run(&global, args),
        Command::Mcp(args) => mcp::run(&global, &args),
        Command::Service(args) => service::run(&global, &args),
        Command::Status(args) => status::run(&global, &args),
        Command::Check(args) => check::run(&global, &args),
        Command::Extract(args) => extract::run(&global, &args),
        Command::Walk(args) => walk::run(&global, &args),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man(&args),
        Command::Topic(args) => generate::topic(&args),
    }
}

/// Returns whether a command prints JSON of ken.
fn prints_json(command: &Command) -> bool {
    match command {
        Command::Search(args) => args.json,
        Command::Show(args) => args.json,
        Command::Terms(args) => args.json,
        Command::Status(args) => args.json,
        Command::Mail(args) => args.command.prints_json(),
        Command::Index(args) => args.json,
        Command::Check(args) => args.json,
        Command::Extract(args) => args.json,
        Command::Walk(args) => args.json,
        _ => false,
    }
}

/// Returns the n-grams and listings of the index in the data folder. There are none if the settings name another engine: what a
/// former index left there is no longer kept up to date.
fn local_tables(global: &Global) -> Option<IndexTables> {
    let data = data_folder(global).ok()?;
    let settings = Settings::load(global).ok()?;
    let is_here = settings.engine.kind == EngineName::Embedded;
    is_here.then(|| IndexTables::new(&index_folder(&data)))
}

/// Says which n-gram segments a search found damaged, if any, and has the next run read their files again.
fn warn_of_damaged_ngrams(tables: &IndexTables) {
    for path in tables.note_damage() {
        crate::output::warn(&format!(
            "\"{}\" is damaged, so files were searched without it; ken index reads them again",
            path.display()
        ));
    }
}

/// Returns the data folder whose index a command reads, if it reads one and that is known.
pub(crate) fn data_folder_of(cli: &Cli) -> Option<PathBuf> {
    match &cli.command {
        Command::Extract(_) | Command::Walk(_) => None,
        Command::Completions(_) | Command::Man(_) | Command::Topic(_) => None,
        Command::Mu(args) => mu::data_folder(&cli.global, &args.arguments),
        Command::Notmuch(args) => notmuch::data_folder(&args.arguments),
        _ => crate::config::data_folder(&cli.global).ok(),
    }
}

/// Returns whether a command serves until somebody ends it.
pub(crate) fn is_server(cli: &Cli) -> bool {
    match &cli.command {
        Command::Serve(_) => true,
        Command::Mcp(args) => args.install.is_none(),
        Command::Mu(args) => mu::command(&args.arguments) == Some("server"),
        _ => false,
    }
}

/// Returns whether arguments of `ken mu` only ask the index.
pub(crate) fn only_reads_mail(arguments: &[OsString]) -> bool {
    matches!(
        mu::command(arguments),
        Some("find" | "cfind" | "fields" | "info")
    )
}

/// Returns how an interface reaches the index, for a user in this context.
fn access(data: &Path, settings: &Settings, context: Context) -> Result<Access, Failure> {
    access_by(settings.engine.engine()?, data, settings, context)
}

/// Returns how an index is reached that is open already: the engine is the one that opened it, whose secret a command may have
/// asked for.
fn access_to(
    opened: &Opened,
    data: &Path,
    settings: &Settings,
    context: Context,
) -> Result<Access, Failure> {
    access_by(opened.engine().cloned(), data, settings, context)
}

fn access_by(
    engine: Option<Arc<dyn Engine>>,
    data: &Path,
    settings: &Settings,
    mut context: Context,
) -> Result<Access, Failure> {
    settings.mail.apply_to(&mut context)?;
    context.synonyms = query::synonyms(None, settings)?;
    Ok(Access {
        index: index_folder(data),
        engine,
        reading: settings.reading()?,
        context,
        saved: settings.queries.clone(),
        deadline_ms: settings.search.deadline_ms(),
    })
}

/// Returns this program, and how it works with the same index and settings. A newer one may take its place later.
fn own_program(global: &crate::cli::Global, data: &Path) -> std::io::Result<ken_api::Program> {
    let mut arguments = vec![OsString::from("--data"), data.into()];
    if let Some(config) = &global.config {
        arguments.extend([
            OsString::from("--config"),
            std::path::absolute(config)?.into(),
        ]);
    }
    for set in &global.set {
        arguments.extend([OsString::from("--set"), set.into()]);
    }
    Ok(ken_api::Program {
        path: std::env::current_exe()?,
        arguments,
    })
}

/// Returns git's global ignore file, as ripgrep uses it.
fn global_ignore() -> Option<std::path::PathBuf> {
    ignore::gitignore::gitconfig_excludes_path().filter(|path| path.is_file())
}

/// Returns the options for walking folders, whatever the folder.
fn walk_options(global: &Global) -> Result<ken_walk::WalkOptions, Failure> {
    let data = crate::config::data_folder(global).into_iter();
    Ok(ken_walk::WalkOptions {
        threads: default_threads(),
        excluded: data.chain(Settings::load(global)?.excluded()?).collect(),
        global_ignore: global_ignore(),
        respects_noupdate: true,
        ..ken_walk::WalkOptions::default()
    })
}

/// Returns the default number of threads: one for each core.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
