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

<<<<<<< HEAD
impl Cli {
    /// Reads what was typed.
    ///
    /// `-word` stands for NOT in a query and options may follow the query, so what belongs to
    /// which is decided here, not by clap: an argument with one hyphen is an option only if the
    /// command has all its letters.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let mut arguments: Vec<OsString> = arguments.into_iter().collect();
        as_personality(&mut arguments);
        let start = command_position(&command, &arguments, 1);
        as_topic(&mut arguments, start);
        if arguments.get(start).is_some_and(|name| {
            [RECOLLQ, AG, MU, NOTMUCH, RG, GREP]
                .iter()
                .any(|own| name == own)
        }) {
            // Everything behind it is the command's own, also what ken has options for.
            arguments.insert(start + 1, "--".into());
        }
        if let Some((query, at)) = query_command(&command, &arguments, start) {
            for argument in arguments.iter_mut().skip(at) {
                let text = argument.to_str().unwrap_or_default();
                if text == "--" {
                    break;
                }
                if is_option(&query, text) {
                    continue;
                }
                if let Some(hint) = hint(&query, text) {
                    let message = format!("\"{text}\" is not an option of this command: {hint}");
                    return Err(command.error(clap::error::ErrorKind::UnknownArgument, message));
                }
                // A space before it makes it a word for clap and changes nothing for the query.
                *argument = format!(" {text}").into();
            }
        }
        let matches = command.try_get_matches_from_mut(arguments)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The programs that ken replaces when it is started under their names.
const RECOLLQ: &str = "recollq";
const AG: &str = "ag";
const MU: &str = "mu";
const NOTMUCH: &str = "notmuch";
const RG: &str = "rg";

/// The command that reads its flags itself, as ripgrep does.
const GREP: &str = "grep";

/// Inserts the subcommand of a personality when ken is started under that program's name.
fn as_personality(arguments: &mut Vec<OsString>) {
    if let Some(name) = personality(arguments) {
        arguments.insert(1, name.into());
    }
}

/// Returns the program under whose name ken is started.
pub(crate) fn personality(arguments: &[OsString]) -> Option<&'static str> {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    let known = [RECOLLQ, AG, MU, NOTMUCH, RG];
    known.into_iter().find(|known| name == Some(known.as_ref()))
}

/// Puts the command that prints a page of reference in the place of `help`, if `help TOPIC` is typed: clap's own
/// command knows only those of commands.
fn as_topic(arguments: &mut [OsString], start: usize) {
    if let Some([help, topic]) = arguments.get_mut(start..)
        && help == "help"
        && topic.to_str().and_then(manual::topic).is_some()
    {
        *help = "topic".into();
    }
}

/// Returns the command that is typed if its words are a query and may begin with a hyphen, and the position of its first
/// argument.
fn query_command(
    command: &clap::Command,
    arguments: &[OsString],
    start: usize,
) -> Option<(clap::Command, usize)> {
    let name = |at| arguments.get(at).and_then(|name: &OsString| name.to_str());
    let query = clap::Command::new("query");
    Some(match name(start)? {
        "search" | "s" => (SearchArgs::augment_args(query), start + 1),
        "mail" => {
            let at = command_position(command, arguments, start + 1);
            (mail::augment_query_args(name(at)?, query)?, at + 1)
        }
        _ => return None,
    })
}

/// Returns what to type instead of an argument that is an option of other programs, where ken would exclude a word of one
/// letter or a number.
fn hint(command: &clap::Command, argument: &str) -> Option<String> {
    let has = |name: &str| command.get_arguments().any(|a| a.get_long() == Some(name));
    let letters = argument.strip_prefix('-')?;
    if !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_digit()) {
        let limit = match has("limit") {
            true => format!("type -n {letters} for {letters} hits, or "),
            false => "type ".to_owned(),
        };
        return Some(format!("{limit}NOT {letters} to exclude the number"));
    }
    let mut each = letters.chars();
    let letter = each.next().filter(|_| each.next().is_none())?;
    let instead = match letter {
        'i' => "ken ignores case in queries",
        'w' => "ken finds whole words",
        't' => "a type of files is a part of the query, such as ext:pdf",
        'g' => "names of files are a part of the query, such as filename:*.pdf",
        'd' | 'p' => "a folder is a part of the query, such as dir:notes",
        'l' if has("paths") => "--paths prints paths only",
        'c' if has("count") => "--count prints the number of hits",
        'v' => "NOT excludes a word",
        'e' | 'E' | 'F' | 'A' | 'B' | 'C' => "ken grep searches lines with grep's options",
        _ => "a word of one letter is excluded with NOT",
    };
    Some(format!(
        "{instead}; type NOT {letter} to exclude the word \"{letter}\""
    ))
}

/// Returns the position of the first argument from `at` on that is neither a global option nor the value of one.
fn command_position(command: &clap::Command, arguments: &[OsString], mut at: usize) -> usize {
    let takes_value = |name: &str| {
        let mut options = command.get_arguments();
        options.any(|a| a.get_long() == Some(name) && a.get_action().takes_values())
    };
    while let Some(argument) = arguments.get(at).and_then(|argument| argument.to_str()) {
        match argument.strip_prefix("--") {
            Some(name) if takes_value(name) => at += 2,
            _ if argument.starts_with('-') => at += 1,
            _ => break,
        }
    }
    at
}

/// Returns whether a command line that is not understood asks for JSON.
pub(crate) fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
    personality(&arguments).is_none() && arguments.iter().any(|argument| argument == "--json")
}

/// Returns the position of the name of the command, of `list` in `ken mail list`; 0 under the name of another program.
pub(crate) fn command_at(arguments: &[OsString]) -> usize {
    if personality(arguments).is_some() {
        return 0;
    }
    let command = Cli::command();
    let at = command_position(&command, arguments, 1);
    match arguments.get(at) {
        Some(name) if name == "mail" => command_position(&command, arguments, at + 1),
        _ => at,
    }
}

/// Returns whether an argument that starts with a hyphen is an option of the command, or options
/// of one letter each; true for all other arguments.
fn is_option(command: &clap::Command, argument: &str) -> bool {
    let Some(letters) = argument.strip_prefix('-') else {
        return true;
    };
    let is_known = |letter| {
        let mut arguments = command.get_arguments();
        // clap adds help and version when it parses.
        matches!(letter, 'h' | 'V') || arguments.any(|a| a.get_short() == Some(letter))
    };
    let is_limit = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    letters.starts_with('-')
        || letters.strip_prefix('n').is_some_and(is_limit)
        || letters.chars().all(is_known)
}

=======
>>>>>>> main
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
    /// Drop-in replacement for notmuch, for its Emacs client too (also when started as `notmuch`)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Notmuch(NotmuchArgs),
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
pub(crate) struct NotmuchArgs {
    /// notmuch's arguments; help lists them
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
            ken notmuch: Drop-in replacement for notmuch, for its Emacs client too (also when started as `notmuch`)
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
