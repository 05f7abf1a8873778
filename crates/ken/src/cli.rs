//! What can be typed. Help, completions and man pages are made from these definitions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Know what you have: find documents, mail and source code on this machine.
#[derive(Debug, Parser)]
#[command(name = "ken", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Start with:  ken index ~/Documents && ken search budget 2026")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads what was typed; ends the process with a message if it makes no sense.
    pub(crate) fn read() -> Self {
        Self::parse_from(queries_with_hyphens(std::env::args_os().collect()))
    }
}

/// Lets `ken search report -draft` exclude a word without `--`.
///
/// A word of a search that starts with one hyphen and is longer than a short option is written
/// `NOT word`, which means the same; `-n5` and the like stay options.
fn queries_with_hyphens(mut typed: Vec<OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let is_search = |word: &OsString| word == "search" || word == "s";
    let takes_value = |word: &OsString| {
        let mut options = command
            .get_arguments()
            .filter(|o| o.get_action().takes_values());
        options.any(|o| {
            o.get_long()
                .is_some_and(|long| *word == *format!("--{long}"))
        })
    };
    let mut at = 1;
    while at < typed.len() && !is_search(&typed[at]) {
        if !typed[at].as_encoded_bytes().starts_with(b"-") {
            return typed;
        }
        at += if takes_value(&typed[at]) { 2 } else { 1 };
    }
    let end = typed
        .iter()
        .position(|word| word == "--")
        .unwrap_or(typed.len());
    let query = typed.splice(at.min(end)..end, []).collect::<Vec<_>>();
    let query = query.into_iter().flat_map(|word| match word.to_str() {
        Some(text) if is_excluded_word(text) => {
            vec![OsString::from("NOT"), OsString::from(&text[1..])]
        }
        _ => vec![word],
    });
    let query: Vec<OsString> = query.collect();
    typed.splice(at.min(typed.len())..at.min(typed.len()), query);
    typed
}

fn is_excluded_word(text: &str) -> bool {
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_prefix('-') {
        Some(rest) => {
            rest.chars().count() > 1
                && !rest.starts_with('-')
                && !rest.strip_prefix('n').is_some_and(is_number)
        }
        None => false,
    }
}

/// Options of every command.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Folder that holds the index [default: $XDG_DATA_HOME/ken]
    #[arg(
        long,
        value_name = "DIR",
        env = "KEN_DATA",
        global = true,
        hide_env_values = true
    )]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file [default: $XDG_CONFIG_HOME/ken/config.toml]
    #[arg(
        long,
        value_name = "FILE",
        env = "KEN_CONFIG",
        global = true,
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Set one setting, as in the configuration file: --set extract.max_depth=3
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub(crate) set: Vec<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// When to make paths clickable
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) hyperlinks: When,
}

/// When to use something that not every terminal understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal that can
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add folders to the index and bring it up to date
    Index(IndexArgs),
    /// Find documents
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Show what is indexed and what failed
    Status(StatusArgs),
    /// Show the text that ken reads in a file
    Extract(ExtractArgs),
    /// Show the files that ken would index
    Walk(WalkArgs),
    /// Write shell completions to standard output
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
}

/// How folders are walked.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WalkOptions {
    /// Take hidden files and folders too
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Pay no heed to .gitignore, .ignore and .kenignore
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Follow symbolic links
    #[arg(long)]
    pub(crate) follow: bool,
    /// Stay on the file system of each folder given
    #[arg(long)]
    pub(crate) one_file_system: bool,
}

#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Folders or files to cover from now on; without any, those that are covered already
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) walk: WalkOptions,
    /// Cover this folder no more and forget its documents
    #[arg(long, value_name = "PATH")]
    pub(crate) forget: Vec<PathBuf>,
    /// Read every file again
    #[arg(long)]
    pub(crate) full: bool,
    /// Only tell what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Memory to use, for instance 512M or 2G
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Threads that read files, and threads that write the index [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print progress and summary as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// Words, "phrases", -not, OR, prefix*, field:value, dir:…, date:2025..2026, size:>1M
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Order of the hits
    #[arg(long, value_name = "KEY", default_value = "relevance")]
    pub(crate) sort: Sort,
    /// The other way round
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Hits to print; 0 for all [default: 10, all with --paths]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Hits to leave out at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Print one JSON object for each hit
    #[arg(long, conflicts_with_all = ["paths", "count", "explain"])]
    pub(crate) json: bool,
    /// Print only the paths, each file once
    #[arg(long, short = 'l', conflicts_with_all = ["count", "explain"])]
    pub(crate) paths: bool,
    /// End each path with a NUL byte; implies --paths
    #[arg(long, short = '0', conflicts_with_all = ["json", "count", "explain"])]
    pub(crate) null: bool,
    /// Print only how many documents match
    #[arg(long, short = 'c', conflicts_with = "explain")]
    pub(crate) count: bool,
    /// Show how the query is understood and how each hit got its score
    #[arg(long)]
    pub(crate) explain: bool,
    /// Leave out the text around the matches
    #[arg(long)]
    pub(crate) no_snippet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Best first
    Relevance,
    /// Newest first
    Date,
    /// Largest first
    Size,
    /// By path, upwards
    Path,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// List what could not be read, with the reason
    #[arg(long)]
    pub(crate) failed: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// Print one JSON object for the file and each document inside it, with metadata
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WalkArgs {
    /// Folder or file
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) walk: WalkOptions,
    /// Show what is left out, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// End each path with a NUL byte
    #[arg(long, short = '0', conflicts_with = "json")]
    pub(crate) null: bool,
    /// Print one JSON object for each file
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The folder
    pub(crate) folder: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_is_explained() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{command} {}",
                    argument.get_id()
                );
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn words_with_a_hyphen_are_excluded_and_options_stay_options() {
        for (typed, expected) in [
            (
                "ken search report -draft -n 5",
                "ken search report NOT draft -n 5",
            ),
            (
                "ken s -\"a\" -n5 -l --json",
                "ken s NOT \"a\" -n5 -l --json",
            ),
            ("ken --data s search -x1", "ken --data s search NOT x1"),
            ("ken search -c -- -draft", "ken search -c -- -draft"),
            ("ken index -draft", "ken index -draft"),
            ("ken", "ken"),
        ] {
            let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(
                queries_with_hyphens(words(typed)),
                words(expected),
                "{typed}"
            );
        }
    }
}
