//! ag's options: what each does, applied in the order of the arguments.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use ken_grep::ag::{Case, Colors, Error, FILE_TYPES, Level, Names};

use super::getopt::{Given, Long, Parser, Takes};

/// Where paths are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStyle {
    /// Above the lines, if more than one file is searched.
    Default,
    /// On each line, if more than one file is searched.
    DefaultEachLine,
    Top,
    EachLine,
    Nothing,
}

/// Whether lines are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    No,
    Yes,
    /// In streams too.
    Always,
}

/// A source of ignore patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ignore {
    Pattern(OsString),
    File(PathBuf),
}

/// Output that replaces a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    Help,
    Version,
    FileTypes,
}

/// All options and operands.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub(super) struct Typed {
    pub(super) ackmate: bool,
    pub(super) after: usize,
    pub(super) all_files: bool,
    pub(super) before: usize,
    pub(super) binary: bool,
    pub(super) breaks: bool,
    pub(super) by_line: bool,
    pub(super) case: Case,
    pub(super) color: bool,
    pub(super) colors: Colors,
    pub(super) column: bool,
    pub(super) compressed: bool,
    pub(super) context: usize,
    pub(super) counts: bool,
    pub(super) depth: i64,
    pub(super) file_types: Vec<&'static str>,
    pub(super) files: bool,
    pub(super) folder_filter: Option<Names>,
    pub(super) follow: bool,
    pub(super) group: bool,
    pub(super) hidden: bool,
    pub(super) ignore: Vec<Ignore>,
    pub(super) instead: Option<Instead>,
    pub(super) invert: bool,
    pub(super) level: Level,
    pub(super) list_names: bool,
    pub(super) literal: bool,
    pub(super) max_count: usize,
    pub(super) names: Option<OsString>,
    pub(super) needs_query: bool,
    pub(super) numbers: Numbers,
    pub(super) one_device: bool,
    pub(super) only_matching: bool,
    pub(super) pager: Option<OsString>,
    pub(super) parallel: bool,
    pub(super) passthrough: bool,
    pub(super) path_end: u8,
    pub(super) path_style: PathStyle,
    pub(super) print_all: bool,
    pub(super) recurse: bool,
    pub(super) stats: bool,
    /// Whether standard input is searched, unless a path is given.
    pub(super) stream: bool,
    pub(super) vcs: bool,
    pub(super) vimgrep: bool,
    pub(super) width: usize,
    pub(super) without: bool,
    pub(super) words: bool,
    pub(super) workers: usize,
    pub(super) operands: Vec<OsString>,
}

/// Why nothing is done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The usage is printed after these lines.
    Usage(String),
    /// This error is printed, as there is nothing to search for.
    Query(String),
    /// This error is printed, and the search has failed.
    Fatal(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

/// What is known before any file is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    /// Whether output goes to a terminal.
    pub(super) is_output: bool,
    /// Whether the output understands escape sequences.
    pub(super) has_colors: bool,
    /// Whether standard input is a pipe or a file.
    pub(super) is_fed: bool,
}

const DEFAULT_DEPTH: i64 = 25;

/// Lines of context without a number.
const CONTEXT: usize = 2;

const SHORT: &[(u8, &str, Takes)] = &[
    (b'A', "after", Takes::Value),
    (b'a', "all-types", Takes::Nothing),
    (b'B', "before", Takes::Value),
    (b'C', "context", Takes::Value),
    (b'c', "count", Takes::Nothing),
    (b'D', "debug", Takes::Nothing),
    (b'G', "file-search-regex", Takes::Value),
    (b'g', "filename-pattern", Takes::Value),
    (b'F', "literal", Takes::Nothing),
    (b'f', "follow", Takes::Nothing),
    (b'H', "heading", Takes::Nothing),
    (b'h', "help", Takes::Nothing),
    (b'i', "ignore-case", Takes::Nothing),
    (b'L', "files-without-matches", Takes::Nothing),
    (b'l', "files-with-matches", Takes::Nothing),
    (b'm', "max-count", Takes::Value),
    (b'n', "no-recurse", Takes::Nothing),
    (b'o', "only-matching", Takes::Nothing),
    (b'p', "path-to-ignore", Takes::Value),
    (b'Q', "literal", Takes::Nothing),
    (b'R', "recurse", Takes::Nothing),
    (b'r', "recurse", Takes::Nothing),
    (b'S', "smart-case", Takes::Nothing),
    (b's', "case-sensitive", Takes::Nothing),
    (b'v', "invert-match", Takes::Nothing),
    (b'V', "version", Takes::Nothing),
    (b't', "all-text", Takes::Nothing),
    (b'u', "unrestricted", Takes::Nothing),
    (b'U', "skip-vcs-ignores", Takes::Nothing),
    (b'w', "word-regexp", Takes::Nothing),
    (b'W', "width", Takes::Value),
    (b'z', "search-zip", Takes::Nothing),
    (b'0', "null", Takes::Nothing),
];

/// The meaning of options that ag distinguishes only by their full names: an abbreviation of several of them is not
/// ambiguous.
const BY_NAME: &str = "by name";

/// The long options in ag's order, as messages show them: name, value, and meaning if it differs from the name.
const LONG: &[(&str, Takes, &str)] = &[
    ("ackmate", Takes::Nothing, ""),
    ("ackmate-dir-filter", Takes::Value, BY_NAME),
    ("affinity", Takes::Nothing, ""),
    ("after", Takes::Optional, ""),
    ("all-text", Takes::Nothing, ""),
    ("all-types", Takes::Nothing, ""),
    ("before", Takes::Optional, ""),
    ("break", Takes::Nothing, ""),
    ("case-sensitive", Takes::Nothing, ""),
    ("color", Takes::Nothing, ""),
    ("color-line-number", Takes::Value, BY_NAME),
    ("color-match", Takes::Value, BY_NAME),
    ("color-path", Takes::Value, BY_NAME),
    ("color-win-ansi", Takes::Nothing, ""),
    ("column", Takes::Nothing, ""),
    ("context", Takes::Optional, ""),
    ("count", Takes::Nothing, ""),
    ("debug", Takes::Nothing, ""),
    ("depth", Takes::Value, BY_NAME),
    ("filename", Takes::Nothing, BY_NAME),
    ("filename-pattern", Takes::Value, ""),
    ("file-search-regex", Takes::Value, ""),
    ("files-with-matches", Takes::Nothing, ""),
    ("files-without-matches", Takes::Nothing, ""),
    ("fixed-strings", Takes::Nothing, "literal"),
    ("follow", Takes::Nothing, ""),
    ("group", Takes::Nothing, ""),
    ("heading", Takes::Nothing, ""),
    ("help", Takes::Nothing, ""),
    ("hidden", Takes::Nothing, ""),
    ("ignore", Takes::Value, BY_NAME),
    ("ignore-case", Takes::Nothing, ""),
    ("ignore-dir", Takes::Value, BY_NAME),
    ("invert-match", Takes::Nothing, ""),
    ("line-numbers", Takes::Nothing, "numbers"),
    ("list-file-types", Takes::Nothing, ""),
    ("literal", Takes::Nothing, ""),
    ("match", Takes::Nothing, ""),
    ("max-count", Takes::Value, ""),
    ("mmap", Takes::Nothing, ""),
    ("multiline", Takes::Nothing, ""),
    ("no-affinity", Takes::Nothing, ""),
    ("noaffinity", Takes::Nothing, "no-affinity"),
    ("no-break", Takes::Nothing, ""),
    ("nobreak", Takes::Nothing, "no-break"),
    ("no-color", Takes::Nothing, ""),
    ("nocolor", Takes::Nothing, "no-color"),
    ("no-filename", Takes::Nothing, BY_NAME),
    ("nofilename", Takes::Nothing, BY_NAME),
    ("no-follow", Takes::Nothing, ""),
    ("nofollow", Takes::Nothing, "no-follow"),
    ("no-group", Takes::Nothing, ""),
    ("nogroup", Takes::Nothing, "no-group"),
    ("no-heading", Takes::Nothing, ""),
    ("noheading", Takes::Nothing, "no-heading"),
    ("no-mmap", Takes::Nothing, ""),
    ("nommap", Takes::Nothing, "no-mmap"),
    ("no-multiline", Takes::Nothing, ""),
    ("nomultiline", Takes::Nothing, "no-multiline"),
    ("no-numbers", Takes::Nothing, ""),
    ("nonumbers", Takes::Nothing, "no-numbers"),
    ("no-pager", Takes::Nothing, BY_NAME),
    ("nopager", Takes::Nothing, BY_NAME),
    ("no-recurse", Takes::Nothing, ""),
    ("norecurse", Takes::Nothing, "no-recurse"),
    ("null", Takes::Nothing, ""),
    ("numbers", Takes::Nothing, ""),
    ("only-matching", Takes::Nothing, ""),
    ("one-device", Takes::Nothing, ""),
    ("pager", Takes::Value, BY_NAME),
    ("parallel", Takes::Nothing, ""),
    ("passthrough", Takes::Nothing, ""),
    ("passthru", Takes::Nothing, "passthrough"),
    ("path-to-ignore", Takes::Value, ""),
    ("print0", Takes::Nothing, "null"),
    ("print-all-files", Takes::Nothing, BY_NAME),
    ("print-long-lines", Takes::Nothing, ""),
    ("recurse", Takes::Nothing, ""),
    ("search-binary", Takes::Nothing, ""),
    ("search-files", Takes::Nothing, ""),
    ("search-zip", Takes::Nothing, ""),
    ("silent", Takes::Nothing, BY_NAME),
    ("skip-vcs-ignores", Takes::Nothing, ""),
    ("smart-case", Takes::Nothing, ""),
    ("stats", Takes::Nothing, ""),
    ("stats-only", Takes::Nothing, BY_NAME),
    ("unrestricted", Takes::Nothing, ""),
    ("version", Takes::Nothing, ""),
    ("vimgrep", Takes::Nothing, ""),
    ("width", Takes::Value, ""),
    ("word-regexp", Takes::Nothing, ""),
    ("workers", Takes::Value, BY_NAME),
];

/// Reads the arguments after the name of the program.
pub(super) fn read(arguments: Vec<OsString>, terminal: Terminal) -> Result<Typed, Refusal> {
    let types = FILE_TYPES
        .iter()
        .map(|kind| (kind.name, Takes::Nothing, BY_NAME));
    let long: Vec<Long> = LONG
        .iter()
        .copied()
        .chain(types)
        .map(|(name, takes, means)| Long {
            name,
            takes,
            means: if means.is_empty() { name } else { means },
        })
        .collect();
    let mut typed = Typed::new(terminal);
    let mut parser = Parser::new(arguments, SHORT, &long);
    while let Some(given) = parser.next() {
        let given = given.map_err(|message| Refusal::Usage(format!("ag: {message}\n")))?;
        if !typed.apply(&given)? {
            parser.put_back();
        }
    }
    typed.operands = parser.operands;
    Ok(typed)
}

impl Typed {
    fn new(terminal: Terminal) -> Self {
        Self {
            ackmate: false,
            after: 0,
            all_files: false,
            before: 0,
            binary: false,
            breaks: true,
            by_line: false,
            case: Case::Smart,
            color: terminal.is_output && terminal.has_colors,
            colors: Colors::default(),
            column: false,
            compressed: false,
            context: 0,
            counts: false,
            depth: DEFAULT_DEPTH,
            file_types: Vec::new(),
            files: false,
            folder_filter: None,
            follow: false,
            group: terminal.is_output,
            hidden: false,
            ignore: Vec::new(),
            instead: None,
            invert: false,
            level: Level::Errors,
            list_names: false,
            literal: false,
            max_count: 0,
            names: None,
            needs_query: true,
            numbers: Numbers::Yes,
            one_device: false,
            only_matching: false,
            pager: None,
            parallel: false,
            passthrough: false,
            path_end: b'\n',
            path_style: PathStyle::Default,
            print_all: false,
            recurse: true,
            stats: false,
            stream: terminal.is_fed,
            vcs: true,
            vimgrep: false,
            width: 0,
            without: false,
            words: false,
            workers: 0,
            operands: Vec::new(),
        }
    }

    /// Applies an option; returns whether it used its value.
    fn apply(&mut self, given: &Given) -> Result<bool, Refusal> {
        let means = match given.means {
            BY_NAME => given.name,
            means => means,
        };
        let value = given.value.as_deref();
        match means {
            "after" | "before" | "context" => return self.apply_context(means, given),
            _ if self.apply_output(means) || self.apply_search(means) => {}
            _ => match value {
                Some(value) => self.apply_value(means, value)?,
                None => self.file_types.push(given.name),
            },
        }
        Ok(true)
    }

    fn apply_context(&mut self, means: &str, given: &Given) -> Result<bool, Refusal> {
        let typed = given.value.as_deref();
        let number = typed.and_then(number);
        let lines = match means {
            "after" => &mut self.after,
            "before" => &mut self.before,
            _ => &mut self.context,
        };
        *lines = number.map_or(CONTEXT, |number| usize::try_from(number).unwrap_or(0));
        match typed {
            // The value is the query.
            Some(_) if number.is_none() && given.is_apart => Ok(false),
            Some(text) if number.is_none() => {
                let text = text.to_string_lossy();
                Err(Refusal::Usage(format!(
                    "ag: invalid number of lines '{text}'\n"
                )))
            }
            _ => Ok(true),
        }
    }

    /// Applies an option without a value that changes the output; returns whether it is one.
    fn apply_output(&mut self, means: &str) -> bool {
        match means {
            "ackmate" => self.ackmate = true,
            "break" => self.breaks = true,
            "no-break" => self.breaks = false,
            "count" => (self.counts, self.files) = (true, true),
            "color" => self.color = true,
            "no-color" => self.color = false,
            "column" => self.column = true,
            "debug" => self.level = Level::Debug,
            "filename" => (self.path_style, self.numbers) = (PathStyle::Default, Numbers::Yes),
            "no-filename" | "nofilename" => {
                (self.path_style, self.numbers) = (PathStyle::Nothing, Numbers::No);
            }
            "files-with-matches" => {
                (self.files, self.needs_query, self.path_style) = (true, false, PathStyle::Top);
            }
            "files-without-matches" => (self.without, self.path_style) = (true, PathStyle::Top),
            "group" => self.group = true,
            "no-group" => self.group = false,
            "heading" => self.path_style = PathStyle::Top,
            "no-heading" => self.path_style = PathStyle::EachLine,
            "help" => self.instead = Some(Instead::Help),
            "list-file-types" if self.instead.is_none() => {
                self.instead = Some(Instead::FileTypes);
            }
            "version" if self.instead != Some(Instead::Help) => {
                self.instead = Some(Instead::Version);
            }
            "list-file-types" | "version" => {}
            "null" => self.path_end = 0,
            "numbers" => self.numbers = Numbers::Always,
            "no-numbers" => self.numbers = Numbers::No,
            "only-matching" => self.only_matching = true,
            "no-pager" | "nopager" => self.pager = None,
            "passthrough" => self.passthrough = true,
            "print-all-files" => self.print_all = true,
            "silent" => self.level = Level::Silent,
            "stats" => self.stats = true,
            "stats-only" => {
                (self.files, self.stats, self.path_style) = (true, true, PathStyle::Nothing);
            }
            "vimgrep" => self.vimgrep = true,
            // All lines are printed in full, and there is only one kind of terminal.
            "print-long-lines" | "color-win-ansi" => {}
            _ => return false,
        }
        true
    }

    /// Applies an option without a value that changes the search; returns whether it is one.
    fn apply_search(&mut self, means: &str) -> bool {
        match means {
            "all-types" => (self.all_files, self.binary) = (true, true),
            "all-text" => self.all_files = true,
            "unrestricted" => (self.all_files, self.binary, self.hidden) = (true, true, true),
            "case-sensitive" => self.case = Case::Sensitive,
            "ignore-case" => self.case = Case::Insensitive,
            "smart-case" => self.case = Case::Smart,
            "follow" => self.follow = true,
            "no-follow" => self.follow = false,
            "hidden" => self.hidden = true,
            // Highlighting is pointless here.
            "invert-match" => (self.invert, self.color) = (true, false),
            "literal" => self.literal = true,
            "multiline" => self.by_line = false,
            "no-multiline" => self.by_line = true,
            "no-recurse" => self.recurse = false,
            "recurse" => self.recurse = true,
            "one-device" => self.one_device = true,
            "parallel" => self.parallel = true,
            "search-binary" => self.binary = true,
            "search-files" => self.stream = false,
            "search-zip" => self.compressed = true,
            "skip-vcs-ignores" => self.vcs = false,
            "word-regexp" => self.words = true,
            // Options for reading files and placing threads have no effect.
            "affinity" | "no-affinity" | "match" | "mmap" | "no-mmap" => {}
            _ => return false,
        }
        true
    }

    fn apply_value(&mut self, means: &str, value: &OsStr) -> Result<(), Refusal> {
        let paint = || [b"\x1b[", value.as_bytes(), b"m"].concat();
        match means {
            "ackmate-dir-filter" => {
                let names = Names::regex(value.as_bytes(), Case::Sensitive, false)?;
                self.folder_filter = Some(names);
            }
            "color-line-number" => self.colors.number = paint(),
            "color-match" => self.colors.found = paint(),
            "color-path" => self.colors.path = paint(),
            "depth" => self.depth = leading_number(value),
            "filename-pattern" | "file-search-regex" => {
                if means == "filename-pattern" {
                    (self.needs_query, self.list_names) = (false, true);
                }
                if self.names.replace(value.to_owned()).is_some() {
                    let message = "File search regex (-g or -G) already specified.";
                    return Err(Refusal::Usage(format!("ERR: {message}\n")));
                }
            }
            "ignore" | "ignore-dir" => self.ignore.push(Ignore::Pattern(value.to_owned())),
            "path-to-ignore" => self.ignore.push(Ignore::File(value.into())),
            "max-count" => self.max_count = usize::try_from(leading_number(value)).unwrap_or(0),
            "pager" => self.pager = Some(value.to_owned()),
            "width" => match number(value) {
                Some(width) => self.width = usize::try_from(width).unwrap_or(0),
                None => return Err(Refusal::Fatal("Invalid width\n".to_owned())),
            },
            "workers" => self.workers = usize::try_from(leading_number(value)).unwrap_or(0),
            _ => {}
        }
        Ok(())
    }
}

/// Reads a number from the whole text, as `strtol` does.
fn number(text: &OsStr) -> Option<i64> {
    let text = text.to_str()?.trim_start();
    text.strip_prefix('+').unwrap_or(text).parse().ok()
}

/// Reads the number at the start of a text, as `atoi` does; 0 if there is none.
fn leading_number(text: &OsStr) -> i64 {
    let text = text.to_string_lossy();
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let text = &text[..sign + digits];
    text.strip_prefix('+').unwrap_or(text).parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Terminal = Terminal {
        is_output: true,
        has_colors: true,
        is_fed: false,
    };

    fn of(line: &str) -> Result<Typed, Refusal> {
        read(line.split(' ').map(OsString::from).collect(), TERMINAL)
    }

    #[test]
    fn context_takes_a_number_or_leaves_the_query() {
        let typed = of("-A foo bar").unwrap();
        assert_eq!(typed.after, 2);
        assert_eq!(typed.operands, ["foo", "bar"]);
        let typed = of("-B3 -C 1 --after=4 foo").unwrap();
        assert_eq!((typed.before, typed.context, typed.after), (3, 1, 4));
        assert_eq!(of("--after 4").unwrap().operands, ["4"]);
        assert!(matches!(of("-Afoo"), Err(Refusal::Usage(_))));
        assert!(of("-A -i foo").unwrap().case == Case::Insensitive);
    }

    #[test]
    fn the_last_of_two_that_contradict_each_other_counts() {
        assert!(of("--nocolor --color a").unwrap().color);
        assert!(!of("--color -v a").unwrap().color);
        assert_eq!(of("-i -s a").unwrap().case, Case::Sensitive);
        assert_eq!(
            of("--nonumbers --numbers a").unwrap().numbers,
            Numbers::Always
        );
    }

    #[test]
    fn every_negation_has_both_forms() {
        let words = "affinity break color filename follow group heading mmap multiline numbers \
                     pager recurse";
        for word in words.split_whitespace() {
            for form in ["no-", "no"] {
                assert!(of(&format!("--{form}{word} a")).is_ok(), "{form}{word}");
            }
        }
    }

    #[test]
    fn file_types_are_options() {
        assert_eq!(of("--cc --js a").unwrap().file_types, ["cc", "js"]);
        let all = FILE_TYPES.iter().map(|kind| format!("--{}", kind.name));
        let all: Vec<String> = all.collect();
        assert_eq!(
            of(&all.join(" ")).unwrap().file_types.len(),
            FILE_TYPES.len()
        );
    }

    #[test]
    fn mistakes_are_refused() {
        assert!(matches!(of("-g a -G b"), Err(Refusal::Usage(_))));
        assert!(matches!(of("-W x a"), Err(Refusal::Fatal(_))));
        assert!(matches!(
            of("--ackmate-dir-filter ("),
            Err(Refusal::Fatal(_))
        ));
    }

    #[test]
    fn numbers_are_read_as_in_c() {
        assert_eq!(leading_number(OsStr::new("12x")), 12);
        assert_eq!(leading_number(OsStr::new("-1")), -1);
        assert_eq!(leading_number(OsStr::new("x")), 0);
        assert_eq!(number(OsStr::new(" +7")), Some(7));
        assert_eq!(number(OsStr::new("7x")), None);
    }
}
