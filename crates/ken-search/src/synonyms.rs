//! Synonyms: words that a search treats as equal.
//!
//! A file has one group on each line, in the format of Recoll: words separated by spaces, expressions of several words
//! in double quotes, comments after `#`. A group applies when a query has one of its members. The file may change at
//! any time.

use std::collections::HashMap;

use ken_core::Field;

use crate::analyze::Analyze;

/// The most groups that are kept; a larger file is not a file of synonyms.
const MAX_GROUPS: usize = 100_000;
/// The most words and expressions of one group.
const MAX_MEMBERS: usize = 100;
/// The most words of one expression.
const MAX_TERMS: usize = 8;

/// The groups of a file.
#[derive(Clone, Debug, Default)]
pub struct Synonyms {
    /// Each word or expression as its terms.
    groups: Vec<Vec<Vec<String>>>,
    /// The groups of each word or expression, whose terms are joined by spaces.
    by_member: HashMap<String, Vec<usize>>,
    longest: usize,
}

/// An invalid line of a file of synonyms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SynonymsError {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: &'static str,
}

impl Synonyms {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Fails if a quote is not closed or a bound is exceeded.
    pub fn parse(text: &str, analyze: Analyze) -> Result<Self, SynonymsError> {
        let mut synonyms = Self::default();
        for (number, line) in text.lines().enumerate() {
            let fault = |message| SynonymsError {
                line: number + 1,
                message,
            };
            let members = members(line).map_err(fault)?;
            if members.len() > MAX_MEMBERS || synonyms.groups.len() == MAX_GROUPS {
                return Err(fault("too many synonyms"));
            }
            synonyms.add(members.iter().map(|member| terms(member, analyze)));
        }
        Ok(synonyms)
    }

    fn add(&mut self, members: impl Iterator<Item = Vec<String>>) {
        let fits = |terms: &Vec<String>| (1..=MAX_TERMS).contains(&terms.len());
        let mut group: Vec<Vec<String>> = members.filter(fits).collect();
        group.sort();
        group.dedup();
        if group.len() < 2 {
            return;
        }
        for terms in &group {
            self.longest = self.longest.max(terms.len());
            let groups = self.by_member.entry(terms.join(" ")).or_default();
            groups.push(self.groups.len());
        }
        self.groups.push(group);
    }

    /// Returns the number of terms in the longest expression.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the synonyms of these terms, without the terms themselves, in alphabetical order.
    pub fn of(&self, terms: &[String]) -> Vec<&[String]> {
        let groups = self.by_member.get(&terms.join(" "));
        let groups = groups.into_iter().flatten();
        let members = groups.flat_map(|group| &self.groups[*group]);
        let mut others: Vec<&[String]> = members
            .map(Vec::as_slice)
            .filter(|member| *member != terms)
            .collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// Splits a line into words and expressions.
fn members(line: &str) -> Result<Vec<&str>, &'static str> {
    let mut members = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (member, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("a quote is not closed")?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        members.push(member);
        rest = after.trim_start();
    }
    Ok(members)
}

/// Returns the terms that a phrase of a text would search for.
pub(crate) fn terms(text: &str, analyze: Analyze) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut end = 0;
    analyze(Field::Body, text, &mut |term, _, bytes| {
        // The parts of an identifier lie inside it.
        if found.is_empty() || bytes.start >= end {
            end = bytes.end;
            found.push(term.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyze(_: Field, text: &str, each: &mut dyn FnMut(&str, u32, std::ops::Range<usize>)) {
        let mut at = 0;
        for (number, word) in text.split(' ').enumerate() {
            if !word.is_empty() {
                each(&word.to_lowercase(), number as u32, at..at + word.len());
            }
            at += word.len() + 1;
        }
    }

    fn read(text: &str) -> Result<Synonyms, String> {
        Synonyms::parse(text, analyze).map_err(|error| error.to_string())
    }

    fn of(synonyms: &Synonyms, text: &str) -> Vec<String> {
        let found = synonyms.of(&terms(text, analyze));
        found.iter().map(|terms| terms.join(" ")).collect()
    }

    #[test]
    fn groups_are_read() {
        let text = "# of vehicles\ncar Auto  \"motor car\" # and more\n\nauto automatic\nalone\n";
        let synonyms = read(text).unwrap();
        assert_eq!(of(&synonyms, "car"), ["auto", "motor car"]);
        assert_eq!(of(&synonyms, "Motor Car"), ["auto", "car"]);
        assert_eq!(of(&synonyms, "auto"), ["automatic", "car", "motor car"]);
        for none in ["motor", "of", "alone", ""] {
            assert!(of(&synonyms, none).is_empty(), "{none}");
        }
        assert_eq!(synonyms.longest(), 2);
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            read("a b\n\"motor car").unwrap_err(),
            "line 2: a quote is not closed"
        );
        let many: String = (0..=MAX_MEMBERS).map(|n| format!("w{n} ")).collect();
        assert_eq!(read(&many).unwrap_err(), "line 1: too many synonyms");
    }
}
