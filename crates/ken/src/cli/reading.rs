//! How a command line is read: the names of other programs, and what begins with a hyphen in a query.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches};

use super::{Cli, SearchArgs, mail};
use crate::manual;

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
        if arguments
            .get(start)
            .is_some_and(|name| [RECOLLQ, AG, MU, RG, GREP].iter().any(|own| name == own))
        {
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
        let matches = command.try_get_matches_from_mut(arguments);
        let matches = matches.map_err(|error| match instead(&error) {
            Some(message) => command.error(error.kind(), message),
            None => error,
        })?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Returns what to type instead of a command that ken does not have: other programs call theirs so, or it is a query.
fn instead(error: &clap::Error) -> Option<String> {
    let ContextValue::String(name) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let advice = match name.as_str() {
        "find" | "query" | "locate" | "fd" => "ken search finds documents by their text and names",
        "list" | "ls" => "ken search -l 'QUERY' lists paths, ken status the folders",
        "info" | "stats" => "ken status says what the index has",
        "add" | "update" | "sync" | "refresh" | "reindex" => "ken index does that",
        "watch" | "daemon" | "start" => "ken serve keeps the index fresh",
        "cat" | "view" | "read" | "preview" => "ken show prints the text of a document",
        "tag" | "tags" => "ken mail tag does that for messages",
        "remove" | "delete" | "rm" | "forget" => {
            "ken index --forget FOLDER removes a root, ken exclude PATH what is below one"
        }
        // An alias of one letter is like everything.
        word => match error.get(ContextKind::SuggestedSubcommand) {
            Some(ContextValue::Strings(similar)) if similar.iter().any(|name| name.len() > 2) => {
                return None;
            }
            Some(ContextValue::String(similar)) if similar.len() > 2 => return None,
            _ => {
                return Some(format!(
                    "there is no command \"{word}\"; to search for it: ken search {word}"
                ));
            }
        },
    };
    Some(format!("there is no command \"{name}\": {advice}"))
}

/// The programs that ken replaces when it is started under their names.
const RECOLLQ: &str = "recollq";
const AG: &str = "ag";
const MU: &str = "mu";
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
    let known = [RECOLLQ, AG, MU, RG];
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::{Command, MailCommand};
    use super::*;

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
