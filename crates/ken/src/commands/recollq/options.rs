//! recollq's command line: options of one letter, then the words of the query.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use ken_search::service::Text;
use lexopt::{Arg, Parser};

/// The meaning of the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// A query of Recoll's language.
    #[default]
    Language,
    Any,
    All,
    FileName,
}

/// What `-A` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snippets {
    WithPages(usize),
    WithLines(usize),
}

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is one letter of the command line
pub(super) struct Options {
    pub(super) mode: Mode,
    /// The text of the query.
    pub(super) query: String,
    /// `-c`: the folder that holds the index.
    pub(super) folder: Option<PathBuf>,
    pub(super) offset: Option<usize>,
    /// The most hits; all if 0.
    pub(super) limit: usize,
    pub(super) basic: bool,
    pub(super) no_results: bool,
    pub(super) metadata: bool,
    pub(super) abstracts: bool,
    pub(super) snippets: Option<Snippets>,
    pub(super) contents: bool,
    pub(super) collapse: bool,
    pub(super) sort: Option<String>,
    pub(super) descending: bool,
    /// `-s ""`: words without their other forms.
    pub(super) unstemmed: bool,
    /// `-T`: a file of synonyms, which replaces that of the configuration.
    pub(super) synonyms: Option<PathBuf>,
    pub(super) encode_urls: bool,
    /// `-F`: exactly these fields; all if there are none.
    pub(super) fields: Option<Vec<String>>,
    pub(super) field_names: bool,
    pub(super) years: bool,
    pub(super) extract_to: Option<PathBuf>,
    /// Messages about arguments without effect.
    pub(super) remarks: Vec<String>,
}

impl Options {
    /// Returns whether the printed fields include the relevance.
    pub(super) fn has_ratings(&self) -> bool {
        self.fields.is_some() || self.metadata
    }

    /// Returns how much of the text of a hit is printed, besides snippets.
    pub(super) fn text(&self) -> Text {
        match &self.fields {
            Some(names) if names.is_empty() || names.iter().any(|name| name == "dbytes") => {
                Text::Length
            }
            Some(_) => Text::None,
            None if self.contents => Text::Whole,
            None if self.metadata => Text::Length,
            None => Text::None,
        }
    }

    /// Returns how many snippets of a hit are printed.
    pub(super) fn n_pieces(&self) -> usize {
        match self.snippets {
            _ if !self.abstracts || self.basic || self.fields.is_some() => 0,
            Some(Snippets::WithPages(count) | Snippets::WithLines(count)) => count,
            None => ABSTRACT_PIECES,
        }
    }
}

/// Why nothing is done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The usage is printed, after this line if present.
    Usage(Option<String>),
    /// This line is printed.
    Unsupported(String),
}

/// The number of snippets in an abstract.
const ABSTRACT_PIECES: usize = 3;

/// The limit without `-n`.
const DEFAULT_LIMIT: usize = 2000;

/// Reads the arguments after the name of the program.
pub(super) fn read(arguments: Vec<OsString>) -> Result<Options, Refusal> {
    let mut options = Options {
        limit: DEFAULT_LIMIT,
        ..Options::default()
    };
    let mut parser = Parser::from_args(arguments);
    let mut words = Vec::new();
    loop {
        match parser.next() {
            Ok(None) => break,
            // Options end at the first word.
            Ok(Some(Arg::Value(word))) => {
                words.push(text(&word));
                let rest = parser.raw_args().map_err(|error| usage(&error))?;
                words.extend(rest.map(|word| text(&word)));
            }
            Ok(Some(Arg::Short(letter))) => short(&mut options, letter, &mut parser)?,
            Ok(Some(Arg::Long("extract-to"))) => {
                options.extract_to = Some(value(&mut parser)?.into());
            }
            Ok(Some(Arg::Long(name))) => {
                options
                    .remarks
                    .push(format!("unrecognized option '--{name}'"));
            }
            Err(error) => return Err(usage(&error)),
        }
    }
    options.query = words.join(" ");
    let lines = options.basic || options.no_results || options.metadata;
    let alone = lines || options.abstracts || options.contents;
    if words.is_empty() && !options.years || options.fields.is_some() && alone {
        let remark = options.remarks.pop();
        return Err(Refusal::Usage(remark));
    }
    Ok(options)
}

fn short(options: &mut Options, letter: char, parser: &mut Parser) -> Result<(), Refusal> {
    match letter {
        'o' => options.mode = Mode::Any,
        'a' => options.mode = Mode::All,
        'f' => options.mode = Mode::FileName,
        'A' => options.abstracts = true,
        'b' => options.basic = true,
        'C' => options.collapse = true,
        'd' => options.contents = true,
        'D' => options.descending = true,
        'e' => options.encode_urls = true,
        'm' => options.metadata = true,
        'N' => options.field_names = true,
        'P' => options.years = true,
        'Q' => options.no_results = true,
        // Counts are always exact; the other options belong to the graphical program.
        'E' | 'q' | 't' | 'l' => {}
        'c' => options.folder = Some(value(parser)?.into()),
        'F' => {
            let names = text(&value(parser)?);
            options.fields = Some(names.split_whitespace().map(str::to_owned).collect());
        }
        'g' => options.snippets = Some(Snippets::WithLines(number(parser)?)),
        'p' => options.snippets = Some(Snippets::WithPages(number(parser)?)),
        'n' => slice(options, &text(&value(parser)?)),
        's' => options.unstemmed = value(parser)?.is_empty(),
        'S' => options.sort = Some(text(&value(parser)?)),
        'i' => {
            let folder = text(&value(parser)?);
            let message = format!("ken searches one index, not also \"{folder}\"");
            return Err(Refusal::Unsupported(message));
        }
        'T' => options.synonyms = Some(value(parser)?.into()),
        'h' => return Err(Refusal::Usage(None)),
        other => options.remarks.push(format!("invalid option -- '{other}'")),
    }
    Ok(())
}

/// Reads `cnt` or `first-cnt`; text that is not a number is 0, as in C.
fn slice(options: &mut Options, text: &str) {
    let number = |text: &str| text.parse().unwrap_or(0);
    match text.split_once('-') {
        Some(("", _)) => options.limit = 0,
        Some((first, count)) => {
            options.offset = Some(number(first));
            options.limit = number(count);
        }
        None => options.limit = number(text),
    }
}

fn value(parser: &mut Parser) -> Result<OsString, Refusal> {
    parser.value().map_err(|error| usage(&error))
}

fn number(parser: &mut Parser) -> Result<usize, Refusal> {
    let number = text(&value(parser)?).parse();
    number.map_err(|_| Refusal::Usage(None))
}

fn usage(error: &lexopt::Error) -> Refusal {
    Refusal::Usage(Some(error.to_string()))
}

fn text(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Result<Options, Refusal> {
        read(arguments.iter().map(OsString::from).collect())
    }

    #[test]
    fn letters_may_be_joined_and_values_stuck_to_them() {
        let options = of(&["-bn2", "-S", "mtime", "-D", "reindeer", "-b", "--x"]).unwrap();
        assert!(options.basic && options.descending);
        assert_eq!((options.offset, options.limit), (None, 2));
        assert_eq!(options.sort.as_deref(), Some("mtime"));
        assert_eq!(options.query, "reindeer -b --x");
        assert_eq!(of(&["--", "-moss"]).unwrap().query, "-moss");
    }

    #[test]
    fn slices_are_read_as_recollq_does() {
        for (text, offset, limit) in [
            ("5", None, 5),
            ("0", None, 0),
            ("x", None, 0),
            ("-1", None, 0),
            ("3-4", Some(3), 4),
        ] {
            let options = of(&["-n", text, "a"]).unwrap();
            assert_eq!((options.offset, options.limit), (offset, limit), "{text}");
        }
        assert_eq!(of(&["a"]).unwrap().limit, 2000);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            &[][..],
            &["-n"],
            &["-F", "url", "-b", "a"],
            &["-p", "x", "-A", "a"],
            &["--"],
        ] {
            assert!(
                matches!(of(arguments), Err(Refusal::Usage(_))),
                "{arguments:?}"
            );
        }
        assert!(matches!(
            of(&["-i", "x", "a"]),
            Err(Refusal::Unsupported(_))
        ));
        assert_eq!(of(&["-x", "a"]).unwrap().remarks, ["invalid option -- 'x'"]);
    }
}
