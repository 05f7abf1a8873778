//! mu's command line: options and words in any order, with a table of options for each command.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

/// An option: its long name, its letter, and the name of its value, which is empty if there is none.
pub(super) type OptionRow = (&'static str, Option<char>, &'static str, &'static str);

/// The options of every command.
const COMMON: &[OptionRow] = &[
    (
        "debug",
        Some('d'),
        "",
        "accepted: ken says what is wrong anyway",
    ),
    ("quiet", Some('q'), "", "say nothing about progress"),
    ("version", Some('V'), "", "print the version"),
    (
        "muhome",
        None,
        "dir",
        "the folder that holds ken's index for mu in \"ken\"",
    ),
    ("log-stderr", None, "", "accepted: there is no log"),
    ("nocolor", None, "", "accepted: there are no colours"),
    ("verbose", Some('v'), "", "say more"),
    ("help", Some('h'), "", "print this"),
];

/// A command: its name, its words, its purpose, and its options.
pub(super) struct CommandRow {
    pub(super) name: &'static str,
    pub(super) words: &'static str,
    pub(super) about: &'static str,
    pub(super) options: &'static [OptionRow],
}

/// All commands.
pub(super) const COMMANDS: &[CommandRow] = &[
    CommandRow {
        name: "add",
        words: "<file> ...",
        about: "take messages into the index",
        options: &[],
    },
    CommandRow {
        name: "cfind",
        words: "[<pattern>]",
        about: "find contacts",
        options: &[
            (
                "format",
                Some('o'),
                "format",
                "plain, mutt-alias, mutt-ab, wl, org-contact, bbdb, csv, json, debug",
            ),
            ("personal", None, "", "only of messages from or to the user"),
            (
                "after",
                None,
                "seconds",
                "only those seen since then (seconds since 1970)",
            ),
            ("maxnum", Some('n'), "number", "at most so many"),
        ],
    },
    CommandRow {
        name: "extract",
        words: "<file> [<pattern>]",
        about: "list the parts of a message, or save them",
        options: &[
            ("save-attachments", Some('a'), "", "save all attachments"),
            ("save-all", None, "", "save all parts"),
            ("parts", None, "numbers", "save these, joined by commas"),
            (
                "matches",
                None,
                "pattern",
                "save attachments with such names",
            ),
            ("target-dir", None, "dir", "save them there"),
            ("overwrite", None, "", "write over files that are there"),
            ("uncooked", None, "", "accepted: names are kept as they are"),
            ("play", None, "", "open what was saved"),
            ("auto-retrieve", Some('r'), "", "accepted"),
            ("decrypt", None, "", "accepted"),
        ],
    },
    CommandRow {
        name: "fields",
        words: "",
        about: "list fields and flags",
        options: &[],
    },
    CommandRow {
        name: "find",
        words: "<query>",
        about: "find messages",
        options: &[
            (
                "fields",
                Some('f'),
                "letters",
                "what is printed of each message: \"d f s\"",
            ),
            (
                "sortfield",
                Some('s'),
                "field",
                "the order of the results: date",
            ),
            ("maxnum", Some('n'), "number", "at most so many"),
            ("threads", Some('t'), "", "in threads"),
            (
                "bookmark",
                Some('b'),
                "name",
                "the query of this name, and the words",
            ),
            ("reverse", Some('z'), "", "from Z to A, from new to old"),
            (
                "skip-dups",
                Some('u'),
                "",
                "of messages with one identifier the first",
            ),
            (
                "include-related",
                Some('r'),
                "",
                "the other messages of their threads too",
            ),
            ("linksdir", None, "dir", "make links to the messages there"),
            (
                "clearlinks",
                Some('c'),
                "",
                "remove the links that are there",
            ),
            (
                "format",
                Some('o'),
                "format",
                "plain, links, xml, json, json2, sexp, xquery, mquery",
            ),
            (
                "summary-len",
                None,
                "lines",
                "so many lines of the text too",
            ),
            (
                "exec",
                Some('e'),
                "command",
                "run a command on each message",
            ),
            (
                "after",
                None,
                "seconds",
                "only files changed since then (seconds since 1970)",
            ),
            (
                "analyze",
                Some('a'),
                "",
                "print how the query is understood",
            ),
            ("decrypt", None, "", "accepted"),
        ],
    },
    CommandRow {
        name: "help",
        words: "[<command>]",
        about: "print help",
        options: &[],
    },
    CommandRow {
        name: "index",
        words: "",
        about: "look for new, changed and removed messages",
        options: &[
            (
                "lazy-check",
                None,
                "",
                "pass over folders that did not change",
            ),
            (
                "nocleanup",
                None,
                "",
                "accepted: messages that are gone are not found",
            ),
            ("reindex", None, "", "read all messages again"),
        ],
    },
    CommandRow {
        name: "info",
        words: "[store|fields|maildirs]",
        about: "print what the index holds",
        options: &[],
    },
    CommandRow {
        name: "init",
        words: "",
        about: "say where mail is and which addresses are one's own",
        options: &[
            ("maildir", Some('m'), "dir", "the folder of all mail"),
            (
                "my-address",
                None,
                "address",
                "an own address, or /expression/; several times",
            ),
            ("ignored-address", None, "address", "accepted"),
            (
                "max-message-size",
                None,
                "bytes",
                "accepted: see extract.max_file_bytes",
            ),
            ("batch-size", None, "number", "accepted: see memory"),
            (
                "support-ngrams",
                None,
                "",
                "accepted: all scripts are indexed",
            ),
            ("reinit", None, "", "keep the folder and addresses"),
        ],
    },
    CommandRow {
        name: "labels",
        words: "list|update|clear|export|import [<query>|<file>]",
        about: "list labels, or change those of messages",
        options: &[
            ("labels", None, "changes", "+a gives one, -b takes one away"),
            ("dry-run", Some('n'), "", "only say what would be done"),
        ],
    },
    CommandRow {
        name: "mkdir",
        words: "<dir> ...",
        about: "make folders of mail",
        options: &[("mode", None, "mode", "their permissions: 0755")],
    },
    CommandRow {
        name: "move",
        words: "<file> [<maildir>]",
        about: "move a message, or change its flags",
        options: &[
            ("flags", None, "flags", "FS for these, +S-N to change some"),
            ("change-name", None, "", "give it a new name"),
            (
                "update-dups",
                None,
                "",
                "change the flags of its duplicates too",
            ),
            ("dry-run", None, "", "only print what would be done"),
        ],
    },
    CommandRow {
        name: "remove",
        words: "<file> ...",
        about: "forget messages that are gone",
        options: &[],
    },
    CommandRow {
        name: "server",
        words: "",
        about: "answer requests of mu4e",
        options: &[
            ("eval", None, "expression", "answer this request and end"),
            ("commands", None, "", "accepted: (help) lists them"),
            (
                "allow-temp-file",
                None,
                "",
                "accepted: answers are sent as they are",
            ),
            ("listen", None, "", "accepted: there is no such socket"),
        ],
    },
    CommandRow {
        name: "verify",
        words: "<file> ...",
        about: "check signatures",
        options: &[("auto-retrieve", Some('r'), "", "accepted")],
    },
    CommandRow {
        name: "view",
        words: "<file> ...",
        about: "print messages",
        options: &[
            ("summary-len", None, "lines", "so many lines of the text"),
            ("terminate", None, "", "a form feed behind each message"),
            ("format", Some('o'), "format", "plain, sexp, html"),
            ("auto-retrieve", Some('r'), "", "accepted"),
            ("decrypt", None, "", "accepted"),
        ],
    },
];

/// The parsed command line.
#[derive(Debug, Default)]
pub(super) struct Typed {
    /// The command; absent if there is none.
    pub(super) command: Option<&'static str>,
    options: Vec<(&'static str, OsString)>,
    /// The arguments that are not options.
    pub(super) words: Vec<OsString>,
}

impl Typed {
    /// Returns whether an option is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name)
    }

    /// Returns the last value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&OsString> {
        let mut options = self.options.iter().rev();
        options
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Returns the last value of an option as text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Returns all values of an option.
    pub(super) fn values(&self, name: &str) -> Vec<String> {
        let options = self.options.iter().filter(|(known, _)| *known == name);
        options
            .map(|(_, value)| value.to_string_lossy().into_owned())
            .collect()
    }

    /// Returns the number given for an option.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, String> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("cannot parse integer value '{text}' for --{name}")),
        }
    }

    /// Returns all words as one text.
    pub(super) fn joined(&self) -> String {
        let words = self.words.iter().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Reads the arguments after the name of the program. An error names the command that it concerns.
pub(super) fn read(arguments: Vec<OsString>) -> Result<Typed, (Option<&'static str>, String)> {
    let mut typed = Typed::default();
    let mut parser = Parser::from_args(arguments);
    loop {
        let argument = parser.next().map_err(|e| (typed.command, e.to_string()))?;
        let (known, shown) = match argument {
            None => return Ok(typed),
            Some(Arg::Value(word)) => {
                match (typed.command, command(&word.to_string_lossy())) {
                    (None, Some(row)) => typed.command = Some(row.name),
                    (None, None) => {
                        let message = format!("unknown command '{}'", word.to_string_lossy());
                        return Err((None, message));
                    }
                    (Some(_), _) => typed.words.push(word),
                }
                continue;
            }
            Some(Arg::Long(name)) => (find(&typed, |row| row.0 == name), format!("--{name}")),
            Some(Arg::Short(letter)) => (
                find(&typed, |row| row.1 == Some(letter)),
                format!("-{letter}"),
            ),
        };
        let Some((name, _, value, _)) = known else {
            return Err((typed.command, format!("Unknown option {shown}")));
        };
        let value = match value.is_empty() {
            true => OsString::new(),
            false => parser
                .value()
                .map_err(|_| (typed.command, format!("Missing argument for --{name}")))?,
        };
        typed.options.push((name, value));
    }
}

fn find(typed: &Typed, is: impl Fn(&OptionRow) -> bool) -> Option<OptionRow> {
    let own = typed
        .command
        .and_then(command)
        .map_or(&[][..], |row| row.options);
    own.iter().chain(COMMON).find(|row| is(row)).copied()
}

/// Returns the row of a command.
pub(super) fn command(name: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.name == name)
}

/// Returns the help for one command or for all.
pub(super) fn usage(name: Option<&str>) -> String {
    let Some(row) = name.and_then(command) else {
        let mut text = "usage: mu <command> [options]\n\ncommands:\n".to_owned();
        for row in COMMANDS {
            text.push_str(&format!("  {:<8} {}\n", row.name, row.about));
        }
        text.push_str("\noptions of all commands:\n");
        text.push_str(&listed(COMMON));
        return text;
    };
    let mut text = format!(
        "usage: mu {} [options] {}\n{}\n",
        row.name, row.words, row.about
    );
    for (title, options) in [
        ("options", row.options),
        ("options of all commands", COMMON),
    ] {
        if !options.is_empty() {
            text.push_str(&format!("\n{title}:\n{}", listed(options)));
        }
    }
    text
}

fn listed(options: &[OptionRow]) -> String {
    let line = |(name, letter, value, about): &OptionRow| {
        let letter = letter.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        let value = match *value {
            "" => String::new(),
            value => format!("=<{value}>"),
        };
        let name = format!("--{name}{value}");
        format!("  {letter}{name:<28} {about}\n")
    };
    options.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Result<Typed, (Option<&'static str>, String)> {
        read(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn options_stand_before_and_behind_words() {
        let typed = typed(&[
            "--muhome=/h",
            "find",
            "-t",
            "a",
            "--fields",
            "d s",
            "b",
            "-n5",
        ])
        .unwrap();
        assert_eq!(typed.command, Some("find"));
        assert_eq!(typed.joined(), "a b");
        assert_eq!(typed.text("muhome").as_deref(), Some("/h"));
        assert_eq!(typed.text("fields").as_deref(), Some("d s"));
        assert_eq!(typed.number("maxnum"), Ok(Some(5)));
        assert!(typed.has("threads") && !typed.has("reverse"));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        assert_eq!(typed(&["nope"]).unwrap_err().1, "unknown command 'nope'");
        let error = typed(&["find", "--nope"]).unwrap_err();
        assert_eq!(error, (Some("find"), "Unknown option --nope".to_owned()));
        let error = typed(&["find", "--fields"]).unwrap_err();
        assert_eq!(error.1, "Missing argument for --fields");
        assert!(
            typed(&["find", "-n", "x"])
                .unwrap()
                .number("maxnum")
                .is_err()
        );
    }

    #[test]
    fn no_option_stands_twice() {
        for row in COMMANDS {
            let mut seen = std::collections::HashSet::new();
            for (name, letter, _, _) in row.options.iter().chain(COMMON) {
                assert!(seen.insert((*name).to_owned()), "{} --{name}", row.name);
                let letter = letter.map(|letter| letter.to_string());
                assert!(
                    letter.is_none_or(|letter| seen.insert(letter)),
                    "{} {name}",
                    row.name
                );
            }
            assert!(usage(Some(row.name)).contains(row.about));
        }
    }
}
