//! Parses a command line as the C library's `getopt_long` does, with the same messages: options may follow operands,
//! letters may be joined, and long names may be abbreviated.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// Only after an equals sign.
    Optional,
}

/// A long option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// What the option does. An abbreviation may match several names if they do the same.
    pub(super) means: &'static str,
}

/// An option as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// What the option does; for a letter, the letter itself.
    pub(super) means: &'static str,
    /// The name of a long option.
    pub(super) name: &'static str,
    pub(super) value: Option<OsString>,
    /// Whether the value was a separate argument.
    pub(super) is_apart: bool,
}

/// Parses a command line.
pub(super) struct Parser<'o> {
    arguments: Vec<OsString>,
    at: usize,
    /// The remaining letters of the last argument.
    letters: Vec<u8>,
    short: &'o [(u8, &'static str, Takes)],
    long: &'o [Long],
    pub(super) operands: Vec<OsString>,
}

impl<'o> Parser<'o> {
    pub(super) fn new(
        arguments: Vec<OsString>,
        short: &'o [(u8, &'static str, Takes)],
        long: &'o [Long],
    ) -> Self {
        Self {
            arguments,
            at: 0,
            letters: Vec::new(),
            short,
            long,
            operands: Vec::new(),
        }
    }

    /// Returns the next option; operands are collected. An error is a message.
    pub(super) fn next(&mut self) -> Option<Result<Given, String>> {
        loop {
            if !self.letters.is_empty() {
                return Some(self.letter());
            }
            let argument = self.take()?;
            match argument.as_bytes() {
                b"--" => {
                    let rest = self.arguments.get(self.at..).unwrap_or_default();
                    self.operands.extend_from_slice(rest);
                    self.at = self.arguments.len();
                }
                [b'-', b'-', name @ ..] => return Some(self.long(name)),
                [b'-', letters @ ..] if !letters.is_empty() => self.letters = letters.to_vec(),
                _ => self.operands.push(argument),
            }
        }
    }

    /// Takes back a value that was a separate argument, so that it is read again.
    pub(super) fn put_back(&mut self) {
        self.at -= 1;
    }

    fn take(&mut self) -> Option<OsString> {
        let argument = self.arguments.get(self.at)?.clone();
        self.at += 1;
        Some(argument)
    }

    fn letter(&mut self) -> Result<Given, String> {
        let letter = self.letters.remove(0);
        let shown = char::from(letter);
        let Some((_, means, takes)) = self.short.iter().find(|(known, ..)| *known == letter) else {
            return Err(format!("invalid option -- '{shown}'"));
        };
        let mut given = Given {
            means,
            name: "",
            value: None,
            is_apart: false,
        };
        if *takes == Takes::Value {
            let rest = std::mem::take(&mut self.letters);
            given.is_apart = rest.is_empty();
            given.value = match rest.is_empty() {
                false => Some(OsString::from_vec(rest)),
                true => self.take(),
            };
            if given.value.is_none() {
                return Err(format!("option requires an argument -- '{shown}'"));
            }
        }
        Ok(given)
    }

    fn long(&mut self, text: &[u8]) -> Result<Given, String> {
        let mut parts = text.splitn(2, |byte| *byte == b'=');
        let typed = parts.next().unwrap_or_default();
        let value = parts
            .next()
            .map(|value| OsStr::from_bytes(value).to_owned());
        let option = self.find(typed, text)?;
        let name = option.name;
        let mut given = Given {
            means: option.means,
            name,
            value,
            is_apart: false,
        };
        match (option.takes, &given.value) {
            (Takes::Nothing, Some(_)) => {
                return Err(format!("option '--{name}' doesn't allow an argument"));
            }
            (Takes::Value, None) => {
                given.is_apart = true;
                given.value = self.take();
                if given.value.is_none() {
                    return Err(format!("option '--{name}' requires an argument"));
                }
            }
            _ => {}
        }
        Ok(given)
    }

    /// Finds an option by its name or the beginning of it; messages show `text`.
    fn find(&self, typed: &[u8], text: &[u8]) -> Result<Long, String> {
        if let Some(exact) = self.long.iter().find(|o| o.name.as_bytes() == typed) {
            return Ok(*exact);
        }
        let begun = self
            .long
            .iter()
            .filter(|o| o.name.as_bytes().starts_with(typed));
        let begun: Vec<&Long> = begun.collect();
        let shown = String::from_utf8_lossy(text);
        let Some(first) = begun.first() else {
            return Err(format!("unrecognized option '--{shown}'"));
        };
        let others = |other: &&&Long| other.means != first.means || other.takes != first.takes;
        let others: Vec<&&Long> = begun.iter().filter(others).collect();
        if others.is_empty() {
            return Ok(**first);
        }
        let names = std::iter::once(first)
            .chain(others)
            .map(|o| format!(" '--{}'", o.name));
        let names: String = names.collect();
        Err(format!(
            "option '--{shown}' is ambiguous; possibilities:{names}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &[(u8, &str, Takes)] = &[
        (b'a', "a", Takes::Nothing),
        (b'b', "b", Takes::Nothing),
        (b'v', "v", Takes::Value),
    ];
    const LONG: &[Long] = &[
        long("colour", Takes::Nothing, "colour"),
        long("column", Takes::Nothing, "column"),
        long("depth", Takes::Value, "depth"),
        long("context", Takes::Optional, "context"),
        long("no-x", Takes::Nothing, "x"),
        long("noxy", Takes::Nothing, "x"),
    ];

    const fn long(name: &'static str, takes: Takes, means: &'static str) -> Long {
        Long { name, takes, means }
    }

    /// Returns the result of parsing in words.
    fn read(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from).collect();
        let mut parser = Parser::new(arguments, SHORT, LONG);
        let mut read = Vec::new();
        while let Some(given) = parser.next() {
            match given {
                Ok(given) => {
                    let value = given.value.map(|value| value.into_string().unwrap());
                    read.push(format!("{}{}", given.means, value.unwrap_or_default()));
                }
                Err(message) => return message,
            }
        }
        let operands = parser.operands.iter().map(|o| o.to_str().unwrap());
        format!(
            "{}|{}",
            read.join(" "),
            operands.collect::<Vec<_>>().join(" ")
        )
    }

    #[test]
    fn options_and_operands_may_be_mixed() {
        assert_eq!(read("x -ab y -v1 -v 2 -- -a"), "a b v1 v2|x y -a");
        assert_eq!(
            read("- --depth=3 --depth 4 --context 5 --context=6"),
            "depth3 depth4 context context6|- 5"
        );
        assert_eq!(read("-av -b"), "a v-b|");
    }

    #[test]
    fn names_may_be_cut_short() {
        assert_eq!(read("--dep 1 --colu --no"), "depth1 column x|");
        assert_eq!(
            read("--col"),
            "option '--col' is ambiguous; possibilities: '--colour' '--column'"
        );
    }

    #[test]
    fn mistakes_are_reported_as_by_the_c_library() {
        assert_eq!(read("-z"), "invalid option -- 'z'");
        assert_eq!(read("-v"), "option requires an argument -- 'v'");
        assert_eq!(read("--zz=1"), "unrecognized option '--zz=1'");
        assert_eq!(read("--depth"), "option '--depth' requires an argument");
        assert_eq!(
            read("--colour=1"),
            "option '--colour' doesn't allow an argument"
        );
    }
}
