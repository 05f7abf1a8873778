//! What can be typed. Help, completions and man pages are made from these definitions.

mod config;
mod index;
mod mail;
mod mcp;
mod results;
mod show;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::manual;
pub(crate) use config::{ConfigArgs, ConfigCommand, ExcludeArgs};
pub(crate) use index::{IndexArgs, ServeArgs, ServiceArgs, ServiceCommand, WalkOptions, WebArgs};
use ken_search::parse::Syntax;
pub(crate) use mail::{
    ContactFormat, ContactsArgs, ListArgs, MailArgs, MailCommand, SaveArgs, ShowArgs, TagArgs,
    TagFormat, ThreadsArgs, VerifyArgs,
};
pub(crate) use mcp::{AgentClient, McpArgs};
pub(crate) use results::{GroupName, RELEVANCE, ResultArgs};
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
pub(crate) struct SearchArgs {
    /// Words, "phrases", -not, OR, prefix*, field:value, dir:…, date:2025..2026, size:>1M
    #[arg(required_unless_present_any = ["like", "facets", "saved", "delete"])]
    pub(crate) query: Vec<String>,
    /// Find documents with any of the words, best first, and read no operators; - reads the words from
    /// standard input
    #[arg(long, conflicts_with = "all")]
    pub(crate) any: bool,
    /// Find documents with all of the words, and read no operators
    #[arg(long)]
    pub(crate) all: bool,
    /// Synonym file: one group of equivalent words per line
    #[arg(long, value_name = "FILE")]
    pub(crate) synonyms: Option<PathBuf>,
    /// Ignore the parts of a query that have mistakes, and say which
    #[arg(long, conflicts_with_all = ["any", "all"])]
    pub(crate) lenient: bool,
    /// Find words that begin with the last word too, for searches while typing
    #[arg(long, conflicts_with = "save")]
    pub(crate) prefix_last: bool,
    /// Save the query in the configuration file as query:NAME instead of searching; one of that name is replaced
    #[arg(long, value_name = "NAME", conflicts_with_all = ["any", "all", "lenient"])]
    pub(crate) save: Option<String>,
    /// Delete a saved query
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "save"])]
    pub(crate) delete: Option<String>,
    /// List the saved queries
    #[arg(long, conflicts_with_all = ["query", "save", "delete"])]
    pub(crate) saved: bool,
    /// Query language
    #[arg(long, value_name = "LANGUAGE", default_value = "ken", conflicts_with_all = ["any", "all", "lenient", "save"])]
    pub(crate) syntax: SyntaxName,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    /// Print at most N hits; 0 means all [default: 10, or all with --paths and --in]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Skip the first N hits
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Print one JSON object per hit
    #[arg(long, alias = "jsonl", conflicts_with_all = ["paths", "count"])]
    pub(crate) json: bool,
    /// With --json, print only these keys of each hit, of its snippet or its fields: --keys path,line,date
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "json")]
    pub(crate) keys: Vec<String>,
    /// Print a table with commas between values, with the columns of --fields
    #[arg(long, conflicts_with_all = ["json", "tsv", "paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) csv: bool,
    /// Print a table with tabs between values, quoted as with --csv
    #[arg(long, conflicts_with_all = ["json", "paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) tsv: bool,
    /// Print at most this number of bytes: the best hits, their number, and the command for the next ones
    #[arg(long, value_name = "BYTES", value_parser = budget,
        conflicts_with_all = ["paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) budget: Option<usize>,
    /// Print only paths, each file once
    #[arg(long, short = 'l', conflicts_with_all = ["count", "explain"])]
    pub(crate) paths: bool,
    /// End each path with a NUL byte; implies --paths unless --fields is given
    #[arg(long, short = '0', conflicts_with_all = ["json", "count", "explain"])]
    pub(crate) null: bool,
    /// Print only the number of matching documents
    #[arg(long, short = 'c', conflicts_with = "explain")]
    pub(crate) count: bool,
    /// Show how the query is understood and how each hit is scored
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print no snippets
    #[arg(long)]
    pub(crate) no_snippet: bool,
    /// Print the text of each hit too; only with --json
    #[arg(long, requires = "json", conflicts_with_all = ["facets", "inside"])]
    pub(crate) text: bool,
    /// Bring everything into the index first that changed before this search
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyntaxName {
    /// ken's own language
    Ken,
    /// Recoll's language
    Recoll,
    /// mu's language; finds messages
    Mu,
    /// notmuch's language; finds messages
    Notmuch,
}

impl From<SyntaxName> for Syntax {
    fn from(name: SyntaxName) -> Self {
        match name {
            SyntaxName::Ken => Self::Ken,
            SyntaxName::Recoll => Self::Recoll,
            SyntaxName::Mu => Self::Mu,
            SyntaxName::Notmuch => Self::Notmuch,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct TermsArgs {
    /// Beginning of a term, pat*ern, /regular expression/, or ~word for similar terms
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) pattern: String,
    /// List terms of this field; can be repeated [default: all text fields]
    #[arg(long, short = 'f', value_name = "FIELD")]
    pub(crate) field: Vec<String>,
    /// Count each field separately
    #[arg(long)]
    pub(crate) by_field: bool,
    /// Order of the terms
    #[arg(long, value_name = "KEY", default_value = "term")]
    pub(crate) sort: TermSort,
    /// Print at most N terms; 0 means all [default: all, or 100 when sorted by a count]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object per term
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermSort {
    /// Alphabetically
    Term,
    /// By number of documents, most first
    #[value(alias = "count")]
    Documents,
    /// By number of occurrences, most first
    Occurrences,
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
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_may_follow_a_query() {
        let read = |line: &str| Cli::read(line.split(' ').map(OsString::from));
        for line in [
            "ken mail list budget -n 1",
            "ken mail list -n 1 budget",
            "ken mail list budget -old -n1",
            "ken mail --data there list budget -old -n1",
            "ken mail --color=never --data list list budget -old -n1",
            "ken --data mail mail list --data there budget -n 1 -- -n",
        ] {
            let Command::Mail(mail) = read(line).unwrap().command else {
                panic!("{line}");
            };
            let MailCommand::List(list) = mail.command else {
                panic!("{line}");
            };
            assert_eq!(
                (list.limit, list.query[0].as_str()),
                (1, "budget"),
                "{line}"
            );
        }
        let Command::Mail(mail) = read("ken mail save from:ann --to there -spam")
            .unwrap()
            .command
        else {
            panic!("mail");
        };
        let MailCommand::Save(save) = mail.command else {
            panic!("save");
        };
        assert_eq!(save.to, Path::new("there"));
        assert_eq!(save.query, ["from:ann", " -spam"]);
    }

    #[test]
    fn options_of_other_programs_are_answered_with_a_hint() {
        let error = |line: &str| {
            let error = Cli::read(line.split(' ').map(OsString::from)).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        expect![[r#"
            error: "-i" is not an option of this command: ken ignores case in queries; type NOT i to exclude the word "i"

            Usage: ken [OPTIONS] <COMMAND>

            For more information, try '--help'.
        "#]].assert_eq(&error("ken search -i python"));
        assert!(error("ken search python -5").contains("type -n 5 for 5 hits"));
        assert!(error("ken mail list -t x").contains("ext:pdf"));
        assert!(!error("ken mail verify x -5").contains("-n 5"));
        assert!(!error("ken mail list x -c").contains("--count"));
        // Behind a double hyphen all are words.
        assert!(Cli::read(["ken", "search", "--", "python", "-i"].map(OsString::from)).is_ok());
        assert!(Cli::read(["ken", "search", "python", "-snake"].map(OsString::from)).is_ok());
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

    fn search(arguments: &[&str]) -> SearchArgs {
        let arguments = ["ken", "search"].iter().chain(arguments);
        let cli = Cli::read(arguments.map(OsString::from)).unwrap();
        let Command::Search(search) = cli.command else {
            panic!("another command");
        };
        search
    }

    #[test]
    fn words_and_options_may_be_mixed() {
        let args = search(&["-draft", "report", "-nothing", "-old", "--json", "-n3", "-"]);
        let words: Vec<_> = args.query.iter().map(|word| word.trim()).collect();
        assert_eq!(words, ["-draft", "report", "-nothing", "-old", "-"]);
        assert_eq!((args.json, args.limit), (true, Some(3)));
        let args = search(&["report", "-l0", "-n", "7", "--", "--verbose", "-l"]);
        assert_eq!((args.paths, args.null, args.limit), (true, true, Some(7)));
        assert_eq!(args.query.len(), 3);
    }

    #[test]
    fn mistyped_options_are_refused() {
        for arguments in [
            &["ken", "search", "report", "--explane"][..],
            &["ken", "index", "-x"],
            &["ken", "search"],
        ] {
            assert!(Cli::read(arguments.iter().map(OsString::from)).is_err());
        }
    }

    #[test]
    fn all_that_follows_recollq_is_its_own() {
        for arguments in [
            &["/usr/bin/recollq", "--color", "-b", "--", "-a"][..],
            &["ken", "recollq", "--color", "-b", "--", "-a"],
        ] {
            let cli = Cli::read(arguments.iter().map(OsString::from)).unwrap();
            let Command::Recollq(args) = cli.command else {
                panic!("another command");
            };
            assert_eq!(args.arguments, ["--color", "-b", "--", "-a"]);
        }
    }

    #[test]
    fn only_the_command_search_reads_hyphens_as_not() {
        let read = |arguments: &[&str]| Cli::read(arguments.iter().map(OsString::from)).unwrap();
        let cli = read(&["ken", "--data", "search", "index", "s", "-q"]);
        let Command::Index(index) = cli.command else {
            panic!("another command");
        };
        assert_eq!((index.paths.len(), index.quiet), (1, true));
        let cli = read(&[
            "ken",
            "--color=never",
            "--set",
            "limit=3",
            "s",
            "-draft",
            "a",
        ]);
        assert!(matches!(cli.command, Command::Search(search) if search.query == [" -draft", "a"]));
    }
}
