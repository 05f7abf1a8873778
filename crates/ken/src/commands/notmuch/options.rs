//! notmuch's command line: options before words; `--name=value`, `--name:value` or `--name value`.

use super::Refusal;

/// What an option takes.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    /// `--name`, `--name=true`, `--name=false` or `--no-name`.
    Switch,
    /// Any text.
    Text,
    /// A whole number.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words; without one, this word.
    WordOr(&'static [&'static str], &'static str),
}

/// An option and what it takes.
pub(super) type OptionRow = (&'static str, Takes);

/// The options of every command.
pub(super) const SHARED: &[OptionRow] = &[
    ("version", Takes::Switch),
    ("help", Takes::Switch),
    ("uuid", Takes::Text),
    ("query", Takes::Word(&["infix", "sexp"])),
];

/// Options that were typed, and the words behind them.
#[derive(Debug, Default)]
pub(super) struct Typed {
    values: Vec<(&'static str, String)>,
    pub(super) words: Vec<String>,
}

impl Typed {
    /// Returns the last value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// Returns all values of an option.
    pub(super) fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        let values = self.values.iter();
        values.filter_map(move |(own, value)| (*own == name).then_some(value.as_str()))
    }

    /// Returns whether a switch is on, which without the option it is by `default`.
    pub(super) fn is_on(&self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |value| value == "true")
    }

    /// Returns the number that an option has.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name).and_then(|value| value.parse().ok())
    }

    /// Returns the query: all words.
    pub(super) fn query(&self) -> String {
        self.words.join(" ")
    }
}

/// Reads arguments up to the first word, or to `--`.
pub(super) fn read(
    tables: &[&'static [OptionRow]],
    arguments: &[String],
) -> Result<Typed, Refusal> {
    let mut typed = Typed::default();
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        if argument == "--" {
            at += 1;
            break;
        }
        let Some(text) = argument.strip_prefix("--") else {
            break;
        };
        at += 1;
        let next = arguments.get(at).map(String::as_str);
        let (name, value, takes_next) = option(tables, text, next)?;
        at += usize::from(takes_next);
        typed.values.push((name, value));
    }
    typed.words = arguments[at..].to_vec();
    Ok(typed)
}

/// Reads an option: its name, its value, and whether that is the next argument.
fn option(
    tables: &[&'static [OptionRow]],
    text: &str,
    next: Option<&str>,
) -> Result<(&'static str, String, bool), Refusal> {
    let (name, value) = match text.find(['=', ':']) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    };
    let row = |name: &str| {
        let mut rows = tables.iter().copied().flatten();
        rows.find(|(own, _)| *own == name).copied()
    };
    let unknown = || Refusal::Said(format!("Unrecognized option: --{text}"));
    let Some((name, takes)) = row(name) else {
        let negated = name.strip_prefix("no-").and_then(row);
        return match (negated, value) {
            (Some((name, Takes::Switch)), None) => Ok((name, "false".to_owned(), false)),
            _ => Err(unknown()),
        };
    };
    let wrong = |value: &str| {
        Refusal::Said(format!(
            "Unknown keyword argument \"{value}\" for option \"{name}\".\nUnrecognized option: --{text}"
        ))
    };
    match takes {
        Takes::Switch => match value {
            None | Some("true") => Ok((name, "true".to_owned(), false)),
            Some("false") => Ok((name, "false".to_owned(), false)),
            Some(_) => Err(unknown()),
        },
        Takes::WordOr(words, default) => match (value, next) {
            (Some(value), _) if words.contains(&value) => Ok((name, value.to_owned(), false)),
            (Some(value), _) => Err(wrong(value)),
            (None, Some(next)) if words.contains(&next) => Ok((name, next.to_owned(), true)),
            (None, _) => Ok((name, default.to_owned(), false)),
        },
        Takes::Text | Takes::Number | Takes::Word(_) => {
            let (value, takes_next) = match (value, next) {
                (Some(value), _) => (value, false),
                (None, Some(next)) => (next, true),
                (None, None) => return Err(unknown()),
            };
            match takes {
                Takes::Word(words) if !words.contains(&value) => Err(wrong(value)),
                Takes::Number if value.parse::<i64>().is_err() => Err(unknown()),
                _ => Ok((name, value.to_owned(), takes_next)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[OptionRow] = &[
        ("exclude", Takes::Switch),
        ("limit", Takes::Number),
        ("output", Takes::Word(&["files", "tags"])),
        ("decrypt", Takes::WordOr(&["true", "false"], "true")),
    ];

    fn of(text: &str) -> Result<Typed, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        read(&[TABLE, SHARED], &words).map_err(|refusal| match refusal {
            Refusal::Said(message) => message,
            _ => String::new(),
        })
    }

    #[test]
    fn options_come_before_the_query() {
        let typed = of("--limit 3 --output=tags --exclude=false x --output=files").unwrap();
        assert_eq!(typed.number("limit"), Some(3));
        assert_eq!(typed.value("output"), Some("tags"));
        assert!(!typed.is_on("exclude", true));
        assert_eq!(typed.query(), "x --output=files");
        assert_eq!(of("--output:tags -- --x").unwrap().words, ["--x"]);
        assert!(!of("--no-exclude").unwrap().is_on("exclude", true));
        assert!(of("--exclude tag:a").unwrap().is_on("exclude", false));
        assert_eq!(of("--decrypt a").unwrap().value("decrypt"), Some("true"));
        assert_eq!(
            of("--decrypt false").unwrap().value("decrypt"),
            Some("false")
        );
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(of("--other").unwrap_err(), "Unrecognized option: --other");
        assert!(of("--limit=x").is_err() && of("--limit").is_err());
        let wrong = of("--output=x").unwrap_err();
        assert!(wrong.starts_with("Unknown keyword argument \"x\" for option \"output\"."));
    }
}
