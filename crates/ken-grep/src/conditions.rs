//! Searches for several patterns at once: lines that match one pattern and also match, or do not
//! match, others.
//!
//! A searcher of lines asks a matcher. A matcher that also looks at the whole line, at nearby lines
//! or at the whole file before it agrees makes every output and every flag work with conditions.
//! Only the matches of the first pattern are marked and counted.

use std::io;
use std::ops::Range;

use grep_matcher::{LineTerminator, Match, Matcher as Find, NoCaptures};
use grep_searcher::{Searcher, Sink, SinkMatch};
use memchr::{memchr, memrchr};

use crate::pattern::Matcher;

/// Where the other patterns must match, or must not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// In the line itself.
    #[default]
    Line,
    /// Patterns that must match: in the line, or at most this many lines away. Patterns that must
    /// not match: in the line.
    Near(usize),
    /// Anywhere in the file.
    File,
}

/// Further conditions for a match.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Each of these must match.
    pub all_of: Vec<Matcher>,
    /// None of these may match.
    pub none_of: Vec<Matcher>,
    /// Where the patterns are looked for.
    pub scope: Scope,
}

impl Conditions {
    /// Returns whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.all_of.is_empty() && self.none_of.is_empty()
    }

    /// Returns whether the conditions of a line depend on more than the line.
    pub(crate) fn need_whole_file(&self) -> bool {
        !self.is_empty() && self.scope != Scope::Line
    }

    /// Returns whether the conditions of the whole file hold; those of lines are not checked here.
    pub(crate) fn admit(&self, searcher: &mut Searcher, text: &[u8]) -> io::Result<bool> {
        if self.scope != Scope::File {
            return Ok(true);
        }
        for (matchers, wanted) in [(&self.all_of, true), (&self.none_of, false)] {
            for matcher in matchers {
                if occurs(searcher, matcher, text)? != wanted {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn occurs(searcher: &mut Searcher, matcher: &Matcher, text: &[u8]) -> io::Result<bool> {
    let mut probe = Probe(false);
    match matcher {
        Matcher::Regex(matcher) => searcher.search_slice(matcher, text, &mut probe)?,
        #[cfg(feature = "pcre2")]
        Matcher::Pcre2(matcher) => searcher.search_slice(matcher, text, &mut probe)?,
    }
    Ok(probe.0)
}

/// Stops at the first match.
struct Probe(bool);

impl Sink for Probe {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}

/// A matcher that finds the matches of another one for which the conditions hold.
#[derive(Debug)]
pub(crate) struct Conditional<'a, M> {
    pub(crate) matcher: &'a M,
    pub(crate) conditions: &'a Conditions,
    /// The last byte of each line.
    pub(crate) line_end: u8,
    /// The whole text, if available, of which the searched text is a part.
    pub(crate) text: Option<&'a [u8]>,
    /// Whether the file as a whole does not meet the conditions.
    pub(crate) refused: bool,
}

impl<M: Find> Conditional<'_, M> {
    /// Returns whether the conditions hold for these lines of the text.
    fn holds(&self, text: &[u8], lines: &Range<usize>) -> Result<bool, String> {
        let near = match self.conditions.scope {
            Scope::File => return Ok(true),
            Scope::Line => lines.clone(),
            Scope::Near(distance) => self.widened(text, lines, distance),
        };
        for matcher in &self.conditions.all_of {
            if !self.any_line(matcher, &text[near.clone()])? {
                return Ok(false);
            }
        }
        for matcher in &self.conditions.none_of {
            if self.any_line(matcher, &text[lines.clone()])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn any_line(&self, matcher: &Matcher, lines: &[u8]) -> Result<bool, String> {
        for line in lines.split(|&byte| byte == self.line_end) {
            if matcher.is_match(line)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the lines of a match, with the end of the last one.
    fn lines_around(&self, text: &[u8], found: Match) -> Range<usize> {
        let start = memrchr(self.line_end, &text[..found.start()]).map_or(0, |end| end + 1);
        let from = found.end().max(found.start() + 1).min(text.len());
        let end = if from > start && text[from - 1] == self.line_end {
            from
        } else {
            memchr(self.line_end, &text[from..]).map_or(text.len(), |end| from + end + 1)
        };
        start..end
    }

    /// Returns the lines with `distance` more before and after them.
    fn widened(&self, text: &[u8], lines: &Range<usize>, distance: usize) -> Range<usize> {
        let Range { mut start, mut end } = lines.clone();
        for _ in 0..distance {
            if start > 0 {
                start = memrchr(self.line_end, &text[..start - 1]).map_or(0, |end| end + 1);
            }
            end += memchr(self.line_end, &text[end..]).map_or(text.len() - end, |more| more + 1);
        }
        start..end
    }

    /// Returns the whole text and the offset of the searched part in it.
    fn placed<'t>(&'t self, part: &'t [u8]) -> (&'t [u8], usize) {
        let Some(text) = self.text else {
            return (part, 0);
        };
        let offset = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
        if offset <= text.len() && part.len() <= text.len() - offset {
            (text, offset)
        } else {
            (part, 0)
        }
    }
}

impl<M: Find> Find for Conditional<'_, M> {
    type Captures = NoCaptures;
    type Error = String;

    fn find_at(&self, part: &[u8], mut at: usize) -> Result<Option<Match>, String> {
        if self.refused {
            return Ok(None);
        }
        let (text, offset) = self.placed(part);
        while at <= part.len() {
            let found = self.matcher.find_at(part, at);
            let Some(found) = found.map_err(|error| error.to_string())? else {
                return Ok(None);
            };
            let lines = self.lines_around(text, found.offset(offset));
            if self.holds(text, &lines)? {
                return Ok(Some(found));
            }
            // There can be no other match in these lines.
            at = (lines.end - offset).max(at + 1);
            if lines.end == text.len() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn new_captures(&self) -> Result<NoCaptures, String> {
        Ok(NoCaptures::new())
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternOptions;

    fn matcher(pattern: &str) -> Matcher {
        let options = PatternOptions {
            patterns: vec![pattern.to_owned()],
            ..PatternOptions::default()
        };
        options.build().unwrap()
    }

    /// Returns the numbers of the matching lines.
    fn found(text: &str, pattern: &str, conditions: &Conditions) -> Vec<u64> {
        let Matcher::Regex(pattern) = matcher(pattern) else {
            panic!("another engine");
        };
        let mut searcher = Searcher::new();
        let refused = !conditions.admit(&mut searcher, text.as_bytes()).unwrap();
        let conditional = Conditional {
            matcher: &pattern,
            conditions,
            line_end: b'\n',
            text: Some(text.as_bytes()),
            refused,
        };
        let mut lines = Vec::new();
        let sink = grep_searcher::sinks::Bytes(|line, _| {
            lines.push(line);
            Ok(true)
        });
        searcher
            .search_slice(&conditional, text.as_bytes(), sink)
            .unwrap();
        lines
    }

    const TEXT: &str = "a\na b\nx\nb\ny\ny\na c\n";

    #[test]
    fn lines_must_match_all_and_none() {
        let mut conditions = Conditions {
            all_of: vec![matcher("b")],
            ..Conditions::default()
        };
        assert_eq!(found(TEXT, "a", &conditions), [2]);
        conditions.none_of = vec![matcher("b")];
        conditions.all_of.clear();
        assert_eq!(found(TEXT, "a", &conditions), [1, 7]);
        assert_eq!(found("a b", "a", &conditions), [0; 0]);
    }

    #[test]
    fn lines_near_count_on_both_sides() {
        let mut conditions = Conditions {
            all_of: vec![matcher("b")],
            scope: Scope::Near(1),
            ..Conditions::default()
        };
        assert_eq!(found(TEXT, "a", &conditions), [1, 2]);
        assert_eq!(found(TEXT, "x|y", &conditions), [3, 5]);
        conditions.scope = Scope::Near(3);
        assert_eq!(found(TEXT, "a", &conditions), [1, 2, 7]);
    }

    #[test]
    fn a_file_must_match_all_and_none() {
        let mut conditions = Conditions {
            all_of: vec![matcher("c$")],
            scope: Scope::File,
            ..Conditions::default()
        };
        assert_eq!(found(TEXT, "b", &conditions), [2, 4]);
        conditions.none_of = vec![matcher("^y$")];
        assert_eq!(found(TEXT, "b", &conditions), [0; 0]);
    }
}
