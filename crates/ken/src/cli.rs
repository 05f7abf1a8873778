//! What can be typed. Help, completions and man pages are made from these definitions.

mod config;
mod index;
mod mail;
mod mcp;
mod reading;
mod results;
mod search;
mod show;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use config::{ConfigArgs, ConfigCommand, ExcludeArgs};
pub(crate) use index::{IndexArgs, ServeArgs, ServiceArgs, ServiceCommand, WalkOptions, WebArgs};
pub(crate) use mail::{
    ContactFormat, ContactsArgs, ListArgs, MailArgs, MailCommand, SaveArgs, ShowArgs, TagArgs,
    TagFormat, ThreadsArgs, VerifyArgs,
};
pub(crate) use mcp::{AgentClient, McpArgs};
pub(crate) use reading::{asks_for_json, command_at, personality};
pub(crate) use results::{GroupName, RELEVANCE, ResultArgs};
pub(crate) use search::{DocumentTagArgs, SearchArgs, TermSort, TermsArgs};
pub(crate) use show::{OpenArgs, ReadArgs, budget};

/// Know what you have: find documents, mail and source code on this machine.
#[derive(Debug, Parser)]
#[command(name = "ken", version, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Start with:  ken index ~/Documents && ken search budget 2026\nReference:   ken help query, ken help config, ken help json"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Folder that holds the index [default: $XDG_DATA_HOME/ken]
    #[arg(
        long,
        value_name = "DIR",
        env = "KEN_DATA",
        global = true,
        help_heading = GLOBAL,
        hide_env_values = true
    )]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file [default: $XDG_CONFIG_HOME/ken/config.toml]
    #[arg(
        long,
        value_name = "FILE",
        env = "KEN_CONFIG",
        global = true,
        help_heading = GLOBAL,
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Set one setting, as in the configuration file: --set extract.max_depth=3
    #[arg(long = "set", value_name = "KEY=VALUE", global = true, help_heading = GLOBAL)]
    pub(crate) set: Vec<String>,
    /// When to color the output
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = GLOBAL)]
    pub(crate) color: When,
    /// When to print paths as clickable links
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = GLOBAL)]
    pub(crate) hyperlinks: When,
    /// Show long output on a terminal without a pager
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_pager: bool,
}

/// When to use something that not every terminal understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// When the terminal supports it
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `defer` builds only the command that was typed, which saves a short command half a millisecond.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Add folders to the index, and bring it up to date
    Index(IndexArgs),
    /// Search documents, mail and source code
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Print every line that matches a regular expression (ripgrep's flags and output)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Grep(GrepArgs),
    /// Show the text of a document, or a part of it
    Show(ReadArgs),
    /// Open a document in its program
    Open(OpenArgs),
    /// Add and remove tags: ken tag +tax -draft QUERY
    Tag(DocumentTagArgs),
    /// Read and list messages, threads, contacts and tags
    Mail(MailArgs),
    /// List the terms of the index and how often each occurs
    Terms(TermsArgs),
    /// Drop-in replacement for Recoll's recollq (also when started as `recollq`)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Recollq(RecollqArgs),
    /// Drop-in replacement for ag, the Silver Searcher (also when started as `ag`)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Ag(AgArgs),
    /// Drop-in replacement for mu, including the server for mu4e (also when started as `mu`)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Mu(MuArgs),
    /// Drop-in replacement for ripgrep (also when started as `rg`)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Rg(GrepArgs),
    /// Keep the index up to date with every change, until Ctrl-C
    Serve(ServeArgs),
    /// Start ken serve with the session, by systemd
    Service(ServiceArgs),
    /// Search in a browser: open the page of ken serve
    Web(WebArgs),
    /// Search on the whole terminal, with an answer to every key
    #[cfg(feature = "tui")]
    Tui(TuiArgs),
    /// Let agents search, read and count (Model Context Protocol, on standard input and output)
    Mcp(McpArgs),
    /// Show what is indexed, and which files could not be read
    Status(StatusArgs),
    /// Verify the index against itself and the disk, and repair it
    Check(CheckArgs),
    /// Show, change and check the settings
    Config(ConfigArgs),
    /// Leave files and folders out of the index
    Exclude(ExcludeArgs),
    /// Print the text that ken reads from a file
    Extract(ExtractArgs),
    /// List the files that ken would index
    Walk(WalkArgs),
    /// Write shell completions to standard output
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
    /// Print a page of reference
    #[command(hide = true)]
    Topic(TopicArgs),
}

#[derive(Args, Debug)]
pub(crate) struct GrepArgs {
    /// ripgrep's arguments; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[cfg(feature = "tui")]
#[derive(Args, Debug)]
pub(crate) struct TuiArgs {
    /// Enter prints the marked addresses, else the chosen one, instead of opening the document
    #[arg(long)]
    pub(crate) choose: bool,
    /// Print a NUL byte behind each address instead of a line feed
    #[arg(long, short = '0')]
    pub(crate) null: bool,
    /// The query to begin with
    pub(crate) query: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct MuArgs {
    /// mu's arguments; help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct RecollqArgs {
    /// recollq's arguments; -h lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct AgArgs {
    /// ag's arguments; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// List the files that could not be read, why, and what to do
    #[arg(long, conflicts_with = "types")]
    pub(crate) failed: bool,
    /// List helpers that are missing, and the packages that provide them
    #[arg(long, conflicts_with_all = ["failed", "why", "types"])]
    pub(crate) missing_helpers: bool,
    /// Show everything known about a path: root, ignore rule, documents, failure
    #[arg(long, value_name = "PATH", conflicts_with_all = ["failed", "types"])]
    pub(crate) why: Option<PathBuf>,
    /// Count documents by media type
    #[arg(long)]
    pub(crate) types: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Remove damaged and duplicate data, and read the affected files again
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print problems only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// File to read, or path|member
    pub(crate) file: PathBuf,
    /// Print one JSON object for the file and for each document inside it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WalkArgs {
    /// Folder or file to walk
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) walk: WalkOptions,
    /// Also list what is left out, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// End each path with a NUL byte
    #[arg(long, short = '0', conflicts_with = "json")]
    pub(crate) null: bool,
    /// Print one JSON object per file
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to write completions for
    pub(crate) shell: Shell,
    /// Write a key binding instead: Alt-K chooses documents in ken tui and inserts their paths
    #[cfg(feature = "tui")]
    #[arg(long)]
    pub(crate) keys: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Folder to write the pages into
    pub(crate) folder: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct TopicArgs {
    /// The page
    pub(crate) name: String,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use expect_test::expect;

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
        let mut command = Cli::command();
        command.build();
        check(&command);
    }

    /// Appends the names and descriptions of a command's subcommands.
    fn list(command: &clap::Command, path: &str, table: &mut String) {
        for command in command.get_subcommands().filter(|c| c.get_name() != "help") {
            let path = format!("{path} {}", command.get_name());
            let about = command.get_about().map(ToString::to_string);
            assert_eq!(command.get_long_about(), None, "{path}");
            table.push_str(&format!("{path}: {}\n", about.unwrap_or_default()));
            list(command, &path, table);
        }
    }

    /// A structure that is flattened into a command's arguments may replace the command's description.
    #[test]
    fn each_command_has_its_own_description() {
        let mut command = Cli::command();
        command.build();
        let mut table = format!("ken: {}\n", command.get_about().unwrap());
        list(&command, "ken", &mut table);
        expect![[r#"
            ken: Know what you have: find documents, mail and source code on this machine
            ken index: Add folders to the index, and bring it up to date
            ken search: Search documents, mail and source code
            ken grep: Print every line that matches a regular expression (ripgrep's flags and output)
            ken show: Show the text of a document, or a part of it
            ken open: Open a document in its program
            ken tag: Add and remove tags: ken tag +tax -draft QUERY
            ken mail: Read and list messages, threads, contacts and tags
            ken mail show: Show messages: header, text and attachments
            ken mail list: List messages, one per line, newest first
            ken mail threads: List threads, newest first
            ken mail tag: Add and remove tags: ken mail tag +todo -inbox QUERY
            ken mail contacts: List contacts, the most important first
            ken mail save: Save attachments to a folder
            ken mail verify: Verify the signatures of messages (gpg, gpgsm)
            ken terms: List the terms of the index and how often each occurs
            ken recollq: Drop-in replacement for Recoll's recollq (also when started as `recollq`)
            ken ag: Drop-in replacement for ag, the Silver Searcher (also when started as `ag`)
            ken mu: Drop-in replacement for mu, including the server for mu4e (also when started as `mu`)
            ken rg: Drop-in replacement for ripgrep (also when started as `rg`)
            ken serve: Keep the index up to date with every change, until Ctrl-C
            ken service: Start ken serve with the session, by systemd
            ken service install: Start ken serve now and with each login, by a unit of systemd
            ken service remove: Stop ken serve, and remove its units
            ken service status: Show whether the service is installed and runs; ends with 1 if it does not run
            ken web: Search in a browser: open the page of ken serve
            ken tui: Search on the whole terminal, with an answer to every key
            ken mcp: Let agents search, read and count (Model Context Protocol, on standard input and output)
            ken status: Show what is indexed, and which files could not be read
            ken check: Verify the index against itself and the disk, and repair it
            ken config: Show, change and check the settings
            ken config list: List the settings, with their values and where each comes from
            ken config get: Print the value of a setting
            ken config set: Write a setting into the configuration file
            ken config unset: Remove a setting from the configuration file, so that its default holds
            ken config check: Check all settings, and the files and programs that they name
            ken exclude: Leave files and folders out of the index
            ken extract: Print the text that ken reads from a file
            ken walk: List the files that ken would index
            ken completions: Write shell completions to standard output
            ken man: Write man pages into a folder
            ken topic: Print a page of reference
        "#]].assert_eq(&table);
    }
}
