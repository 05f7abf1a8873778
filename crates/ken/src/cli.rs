//! What can be typed. Help, completions and man pages are made from these definitions.

mod mail;
mod results;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{FalseyValueParser, RangedU64ValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::config::{DurabilityName, OrderName};
use ken_search::parse::Syntax;
pub(crate) use mail::{
    ContactFormat, ContactsArgs, ListArgs, MailArgs, MailCommand, SaveArgs, ShowArgs, TagArgs,
    TagFormat, ThreadsArgs, VerifyArgs,
};
pub(crate) use results::{GroupName, ResultArgs};

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
    /// Reads what was typed.
    ///
    /// `-word` stands for NOT in a query and options may follow the query, so what belongs to
    /// which is decided here, not by clap: an argument with one hyphen is an option only if
    /// `search` has all its letters.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let mut arguments: Vec<OsString> = arguments.into_iter().collect();
        as_personality(&mut arguments);
        let start = command_position(&command, &arguments);
        if arguments
            .get(start)
            .is_some_and(|name| [RECOLLQ, AG, MU, GREP].iter().any(|own| name == own))
        {
            // Everything behind it is the command's own, also what ken has options for.
            arguments.insert(start + 1, "--".into());
        }
        let name = arguments.get(start).and_then(|name| name.to_str());
        if name.is_some_and(|name| SEARCH.contains(&name)) {
            let search = SearchArgs::augment_args(clap::Command::new(SEARCH[0]));
            for argument in arguments.iter_mut().skip(start) {
                let text = argument.to_str().unwrap_or_default();
                if !is_option(&search, text) {
                    // A blank before it makes it a word for clap and changes nothing for the query.
                    *argument = format!(" {text}").into();
                }
            }
        }
        let matches = command.try_get_matches_from_mut(arguments)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The command whose words may begin with a hyphen, and its short name.
const SEARCH: [&str; 2] = ["search", "s"];

/// The programs that ken does as if it is started under their names.
const RECOLLQ: &str = "recollq";
const AG: &str = "ag";
const MU: &str = "mu";

/// The command that reads its flags itself, as ripgrep does.
const GREP: &str = "grep";

/// Puts the command behind the program, if the program has the name of another one.
fn as_personality(arguments: &mut Vec<OsString>) {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    let known = [RECOLLQ, AG, MU];
    if let Some(name) = known.into_iter().find(|known| name == Some(known.as_ref())) {
        arguments.insert(1, name.into());
    }
}

/// Returns the position of the first argument that is neither an option nor the value of one.
fn command_position(command: &clap::Command, arguments: &[OsString]) -> usize {
    let takes_value = |name: &str| {
        let mut options = command.get_arguments();
        options.any(|a| a.get_long() == Some(name) && a.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(argument) = arguments.get(at).and_then(|argument| argument.to_str()) {
        match argument.strip_prefix("--") {
            Some(name) if takes_value(name) => at += 2,
            _ if argument.starts_with('-') => at += 1,
            _ => break,
        }
    }
    at
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

/// Options of every command.
#[derive(Args, Clone, Debug)]
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

/// Of a command that is not given nothing is made but its name: a short command takes half a millisecond
/// less.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Add folders to the index and bring it up to date
    Index(IndexArgs),
    /// Find documents
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Find every line that matches a regular expression, with ripgrep's flags
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Grep(GrepArgs),
    /// Read messages, list threads and people, give tags
    Mail(MailArgs),
    /// Show the words of the index, and how often they are there
    Terms(TermsArgs),
    /// Do as Recoll's recollq: its command line, its output; so does ken started under that name
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Recollq(RecollqArgs),
    /// Do as ag, the Silver Searcher: its command line, its output; so does ken started under that name
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Ag(AgArgs),
    /// Do as mu: its command line, its output, its server for mu4e; so does ken started under that name
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Mu(MuArgs),
    /// Show what is indexed and what failed
    Status(StatusArgs),
    /// Prove that the index agrees with itself and with the disk, and mend it
    Check(CheckArgs),
    /// Show the text that ken reads in a file
    Extract(ExtractArgs),
    /// Show the files that ken would index
    Walk(WalkArgs),
    /// Write shell completions to standard output
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
}

// How folders are walked. A documentation comment here would replace that of each command that has
// these options.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// A number of threads; more than any machine has cores is a slip.
fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1024)
}

#[derive(Args, Debug, Default)]
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
    /// Read files again that could not be read, though they did not change
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Read the text of pictures and scanned pages by Tesseract, after everything else
    #[arg(long)]
    pub(crate) ocr: bool,
    /// Do not keep what `ken grep` tells by which files it need not read
    #[arg(long)]
    pub(crate) no_ngrams: bool,
    /// Look only at folders that changed since the last run: files that were changed in place are
    /// not noticed
    #[arg(long, conflicts_with_all = ["full", "retry_failed"])]
    pub(crate) lazy: bool,
    /// Seconds between commits
    #[arg(long, value_name = "SECONDS")]
    pub(crate) commit_seconds: Option<f64>,
    /// Bytes of files between commits, for instance 64M; 0 for no such limit
    #[arg(long, value_name = "SIZE")]
    pub(crate) commit_bytes: Option<String>,
    /// When commits are on disk
    #[arg(long, value_name = "WHEN")]
    pub(crate) durability: Option<DurabilityName>,
    /// In which order the files of a folder are read
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderName>,
    /// Only tell what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Memory to use, for instance 512M or 2G [default: 256 MiB for each thread, 512 MiB at least, a quarter of the
    /// machine's at most]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Threads that read files, and threads that write the index [default: one per core]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) threads: Option<usize>,
    /// Work at the usual priority also without a terminal; else what other programs want comes first
    #[arg(long, env = "KEN_FAST", value_parser = FalseyValueParser::new())]
    pub(crate) fast: bool,
    /// Do nothing more until --resume, or for so long (30m, 2h, 1d): a run that is under way commits what it
    /// did and waits, as those do that begin later; one with --full begins again
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, conflicts_with_all = ["paths", "forget", "full", "dry_run", "resume"])]
    pub(crate) pause: Option<Option<String>>,
    /// Go on after --pause
    #[arg(long, conflicts_with_all = ["paths", "forget", "full", "dry_run"])]
    pub(crate) resume: bool,
    /// Threads that extract; with 0 the walk does all else too [default: as --threads]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) extract_threads: Option<usize>,
    /// Threads that only build segments; with 0 those that extract do [default: 0]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) index_threads: Option<usize>,
    /// Segments that are built at once [default: one for each thread that builds them]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) segment_builders: Option<usize>,
    /// Text that waits between extraction and index, where these are different threads
    #[arg(long, value_name = "SIZE")]
    pub(crate) queue_bytes: Option<String>,
    /// Write what each thread did when into this file, for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
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
    #[arg(required_unless_present_any = ["like", "facets"])]
    pub(crate) query: Vec<String>,
    /// Take the words as they stand, without operators: documents with any of them, best first;
    /// - reads them from standard input
    #[arg(long, conflicts_with = "all")]
    pub(crate) any: bool,
    /// Take the words as they stand, without operators: documents with all of them
    #[arg(long)]
    pub(crate) all: bool,
    /// Groups of words that are found for each other, one on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) synonyms: Option<PathBuf>,
    /// Search what can be understood of a query with mistakes, and say what was left out
    #[arg(long, conflicts_with_all = ["any", "all"])]
    pub(crate) lenient: bool,
    /// Write the query into the configuration file, for use as query:NAME, and do not search
    #[arg(long, value_name = "NAME", conflicts_with_all = ["any", "all", "lenient"])]
    pub(crate) save: Option<String>,
    /// Read the query as another program does
    #[arg(long, value_name = "LANGUAGE", default_value = "ken", conflicts_with_all = ["any", "all", "lenient", "save"])]
    pub(crate) syntax: SyntaxName,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    /// Hits to print; 0 for all [default: 10, all with --paths and --in]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Hits to leave out at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Print one JSON object for each hit
    #[arg(long, alias = "jsonl", conflicts_with_all = ["paths", "count"])]
    pub(crate) json: bool,
    /// Print only the paths, each file once
    #[arg(long, short = 'l', conflicts_with_all = ["count", "explain"])]
    pub(crate) paths: bool,
    /// End each path with a NUL byte; implies --paths, unless there are --fields
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
pub(crate) enum SyntaxName {
    /// ken's own language
    Ken,
    /// As recollq
    Recoll,
    /// As mu find; finds messages
    Mu,
    /// As notmuch search; finds messages
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
    /// Start of a word, pat*ern, /regular expression/, or ~word for one that is similar
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) pattern: String,
    /// Only terms of this field; may be given several times [default: all fields of text]
    #[arg(long, short = 'f', value_name = "FIELD")]
    pub(crate) field: Vec<String>,
    /// Count each field on its own
    #[arg(long)]
    pub(crate) by_field: bool,
    /// Order of the terms
    #[arg(long, value_name = "KEY", default_value = "term")]
    pub(crate) sort: TermSort,
    /// Terms to print; 0 for all [default: all, 100 when they are sorted by a count]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object for each term
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermSort {
    /// By their letters
    Term,
    /// Those in most documents first
    #[value(alias = "count")]
    Documents,
    /// The most frequent first
    Occurrences,
}

#[derive(Args, Debug)]
pub(crate) struct GrepArgs {
    /// As ripgrep takes them; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct MuArgs {
    /// As mu takes them; help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct RecollqArgs {
    /// As recollq takes them; -h lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct AgArgs {
    /// As ag takes them; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// List what could not be read, with the reason and what can be done
    #[arg(long, conflicts_with = "types")]
    pub(crate) failed: bool,
    /// List programs that files wait for, and the packages that bring them
    #[arg(long, conflicts_with_all = ["failed", "why", "types"])]
    pub(crate) missing_helpers: bool,
    /// Show all that is known of a path: root, rule, index, documents, failure
    #[arg(long, value_name = "PATH", conflicts_with_all = ["failed", "types"])]
    pub(crate) why: Option<PathBuf>,
    /// Count by media type
    #[arg(long)]
    pub(crate) types: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Take out what is damaged or doubled, and read the files again that it came from
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only what is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
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
            ken index: Add folders to the index and bring it up to date
            ken search: Find documents
            ken grep: Find every line that matches a regular expression, with ripgrep's flags
            ken mail: Read messages, list threads and people, give tags
            ken mail show: Show messages: header, text, and what is attached
            ken mail list: List messages, one on a line, newest first
            ken mail threads: List the threads of messages, newest first
            ken mail tag: Give messages tags and take them: ken mail tag +todo -inbox QUERY
            ken mail contacts: List people who sent and got messages, those that matter most first
            ken mail save: Write attached files into a folder
            ken mail verify: Check the signatures of messages by gpg and gpgsm
            ken terms: Show the words of the index, and how often they are there
            ken recollq: Do as Recoll's recollq: its command line, its output; so does ken started under that name
            ken ag: Do as ag, the Silver Searcher: its command line, its output; so does ken started under that name
            ken mu: Do as mu: its command line, its output, its server for mu4e; so does ken started under that name
            ken status: Show what is indexed and what failed
            ken check: Prove that the index agrees with itself and with the disk, and mend it
            ken extract: Show the text that ken reads in a file
            ken walk: Show the files that ken would index
            ken completions: Write shell completions to standard output
            ken man: Write man pages into a folder
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
        let args = search(&["-draft", "report", "-nothing", "-5", "--json", "-n3", "-"]);
        let words: Vec<_> = args.query.iter().map(|word| word.trim()).collect();
        assert_eq!(words, ["-draft", "report", "-nothing", "-5", "-"]);
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
