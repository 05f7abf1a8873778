//! `--rank`: estimates how useful a line and a file are for the user.
//!
//! A line that defines what was found counts more than one that uses it, and a whole word more than
//! a part of one. The score of a file depends on its best lines, their number, its name, its type
//! and its age. Everything is plain text and names, so no index is needed.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use std::io;

use grep_matcher::Matcher as Find;
use grep_searcher::{Searcher, Sink, SinkMatch};

/// Maximum number of lines of one file or document that are considered for a budget.
pub(crate) const MAX_SHOWN: usize = 100;
/// Maximum number of lines in a file that are judged; the others only count.
const MAX_JUDGED: u64 = 1_000;
/// Maximum number of bytes of a line that are examined.
const MAX_LOOKED_AT: usize = 1_000;

const DEFINITION: f32 = 4.0;
const WHOLE_WORD: f32 = 1.5;
const SAME_NAME: f32 = 3.0;
const IN_NAME: f32 = 1.0;
const NOISE: f32 = 2.0;
/// Penalty of a file for each folder of its depth.
const DEPTH: f32 = 0.1;
/// Bonus of a file from today; a file from a year ago gets a third of it.
const NEW: f32 = 0.7;
const YEAR: Duration = Duration::from_hours(365 * 24);

/// Keywords before a name that is defined.
const KEYWORDS: &[&str] = &[
    "#define",
    "class",
    "const",
    "def",
    "enum",
    "fn",
    "func",
    "function",
    "interface",
    "let",
    "macro_rules!",
    "message",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "proc",
    "protocol",
    "record",
    "static",
    "struct",
    "sub",
    "table",
    "trait",
    "type",
    "typedef",
    "union",
    "val",
    "var",
    "view",
];

/// Folders with content that is seldom wanted.
const NOISY_FOLDERS: &[&str] = &[
    "build",
    "dist",
    "example",
    "examples",
    "fixtures",
    "generated",
    "node_modules",
    "test",
    "testdata",
    "tests",
    "third_party",
    "vendor",
];

/// File name endings of content that is seldom wanted.
const NOISY_NAMES: &[&str] = &[".lock", ".map", ".min.css", ".min.js", ".svg"];

/// A line worth showing.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The page of a document.
    pub(crate) page: Option<usize>,
    /// Its number in the file, or on the page.
    pub(crate) number: u64,
    pub(crate) text: Vec<u8>,
    pub(crate) score: f32,
}

impl Line {
    /// Compares lines: the best first, equal ones in their order.
    pub(crate) fn best_first(&self, other: &Self) -> Ordering {
        let place = |line: &Self| (line.page, line.number);
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| place(self).cmp(&place(other)))
    }
}

/// The matches in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauged {
    /// Number of matching lines.
    pub(crate) lines: u64,
    /// The score of the best line.
    best: f32,
    /// The matching text in that line.
    found: Vec<u8>,
    /// The best lines, at most as many as requested, in file order.
    pub(crate) shown: Vec<Line>,
}

impl Gauged {
    /// Adds the next page of a document; so many of the best lines stay.
    pub(crate) fn add_page(&mut self, page: Option<usize>, of: Self, keep: usize) {
        self.lines += of.lines;
        if of.lines > 0 && (of.best > self.best || self.found.is_empty()) {
            (self.best, self.found) = (of.best, of.found);
        }
        let shown = of.shown.into_iter();
        self.shown.extend(shown.map(|line| Line { page, ..line }));
        if self.shown.len() > 2 * keep {
            self.shown.sort_by(Line::best_first);
            self.shown.truncate(keep);
        }
    }

    /// Returns the score of the file.
    pub(crate) fn score(&self, path: &Path, modified: Option<SystemTime>) -> f32 {
        let many = (1.0 + self.lines as f32).ln() / 2.0;
        let depth = path.components().count() as f32 * DEPTH;
        self.best + many + name_score(path, &self.found) + newness(modified) - depth
    }
}

/// Judges the lines of a file.
pub(crate) struct Gauge<'m, M> {
    matcher: &'m M,
    /// Number of lines to keep.
    keep: usize,
    gauged: Gauged,
}

impl<'m, M: Find> Gauge<'m, M> {
    pub(crate) fn new(matcher: &'m M, keep: usize) -> Self {
        Self {
            matcher,
            keep,
            gauged: Gauged::default(),
        }
    }

    pub(crate) fn gauged(mut self) -> Gauged {
        self.gauged.shown.sort_by_key(|line| line.number);
        self.gauged
    }

    fn judge(&mut self, line: &[u8], number: u64) {
        let text = line.trim_ascii_end();
        let text = &text[..text.len().min(MAX_LOOKED_AT)];
        let found = self.matcher.find(text).ok().flatten();
        let found = found.map_or(0..0, |found| found.start()..found.end());
        let score = line_score(text, &found);
        if score > self.gauged.best || self.gauged.found.is_empty() {
            self.gauged.best = score;
            self.gauged.found = text[found].to_vec();
        }
        self.show(text, number, score);
    }

    /// Keeps the line if it is one of the best.
    fn show(&mut self, text: &[u8], number: u64, score: f32) {
        let shown = &mut self.gauged.shown;
        if shown.len() == self.keep {
            // Among equal lines, the first ones are kept.
            let worst = shown.iter().enumerate().min_by(|(_, left), (_, right)| {
                let by_score = left.score.total_cmp(&right.score);
                by_score.then(right.number.cmp(&left.number))
            });
            match worst {
                Some((at, worst)) if worst.score < score => _ = shown.swap_remove(at),
                _ => return,
            }
        }
        shown.push(Line {
            page: None,
            number,
            text: text.to_vec(),
            score,
        });
    }
}

impl<M: Find> Sink for &mut Gauge<'_, M> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        for (number, line) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
            self.gauged.lines += 1;
            if self.gauged.lines <= MAX_JUDGED {
                self.judge(line, number);
            }
        }
        Ok(true)
    }
}

fn line_score(line: &[u8], found: &Range<usize>) -> f32 {
    let mut score = 0.0;
    if is_definition(line, found) {
        score += DEFINITION;
    }
    if is_whole_word(line, found) {
        score += WHOLE_WORD;
    }
    score
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_whole_word(line: &[u8], found: &Range<usize>) -> bool {
    let before = line[..found.start]
        .last()
        .is_some_and(|&byte| is_word(byte));
    let after = line[found.end..].first().is_some_and(|&byte| is_word(byte));
    !found.is_empty() && !before && !after
}

/// Returns whether a line defines what was found, as far as the line shows it.
fn is_definition(line: &[u8], found: &Range<usize>) -> bool {
    let (before, after) = (&line[..found.start], &line[found.end..]);
    let is_keyword = |word: &[u8]| KEYWORDS.iter().any(|keyword| keyword.as_bytes() == word);
    let mut words = before
        .rsplit(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty());
    if words.next().is_some_and(is_keyword) {
        return true;
    }
    // The keyword may be part of the pattern.
    let mut inside = line[found.clone()].split(|byte| byte.is_ascii_whitespace());
    if inside.next().is_some_and(is_keyword) && inside.next().is_some() {
        return true;
    }
    let at_margin = line.first().is_some_and(|&byte| is_word(byte));
    let after = after.trim_ascii_start();
    // C: the head of a function; with a semicolon at the end it is a declaration.
    let head = after.starts_with(b"(") || line[found.clone()].ends_with(b"(");
    let used = before.contains(&b'=') || before.contains(&b'(') || before.starts_with(b"return");
    if at_margin && head && !used && !line.ends_with(b";") {
        return true;
    }
    let assigned = after.starts_with(b"=") && !after.starts_with(b"==") || after.starts_with(b":=");
    at_margin && before.is_empty() && assigned
}

fn name_score(path: &Path, found: &[u8]) -> f32 {
    let lower = |text: &str| text.to_lowercase();
    let name = path
        .file_name()
        .map(|name| lower(&name.to_string_lossy()))
        .unwrap_or_default();
    let stem = path
        .file_stem()
        .map(|stem| lower(&stem.to_string_lossy()))
        .unwrap_or_default();
    let found = lower(&String::from_utf8_lossy(found));
    let found = found.trim_matches(|c: char| !c.is_alphanumeric());
    let mut score = match found {
        _ if found.len() < 3 => 0.0,
        _ if stem == found => SAME_NAME,
        _ if stem.contains(found) => IN_NAME,
        _ => 0.0,
    };
    let noisy_folder = path.parent().is_some_and(|folder| {
        let mut names = folder.components();
        names.any(|name| NOISY_FOLDERS.iter().any(|noisy| name.as_os_str() == *noisy))
    });
    if noisy_folder || NOISY_NAMES.iter().any(|end| name.ends_with(end)) {
        score -= NOISE;
    }
    score
}

fn newness(modified: Option<SystemTime>) -> f32 {
    let age = modified.and_then(|time| SystemTime::now().duration_since(time).ok());
    let years = age.unwrap_or(10 * YEAR).as_secs_f32() / YEAR.as_secs_f32();
    NEW * (-years).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defines(line: &str, name: &str) -> bool {
        let start = line.find(name).unwrap();
        is_definition(line.as_bytes(), &(start..start + name.len()))
    }

    #[test]
    fn definitions_are_distinguished_from_uses() {
        for (line, name) in [
            ("pub fn narrow(", "narrow"),
            ("    def narrow(self):", "narrow"),
            ("#define NARROW 3", "NARROW"),
            ("static int narrow(struct file *f)", "narrow"),
            ("fn narrow()", "fn narrow"),
            ("NARROW = 3", "NARROW"),
            ("class Narrow:", "Narrow"),
        ] {
            assert!(defines(line, name), "{line}");
        }
        for (line, name) in [
            ("    narrow(1);", "narrow"),
            ("int narrow(struct file *f);", "narrow"),
            ("x = narrow(1)", "narrow"),
            ("return narrow(1)", "narrow"),
            ("narrow == 3", "narrow"),
            ("// narrow", "narrow"),
        ] {
            assert!(!defines(line, name), "{line}");
        }
    }

    #[test]
    fn names_of_files_count() {
        let score = |path: &str| name_score(Path::new(path), b"narrow(");
        assert!(score("src/narrow.rs") > score("src/narrower.rs"));
        assert!(score("src/narrower.rs") > score("src/other.rs"));
        assert!(score("src/other.rs") > score("tests/other.rs"));
        assert!(score("src/other.rs") > score("src/other.min.js"));
    }

    #[test]
    fn the_best_lines_are_kept_in_their_order() {
        let matcher = grep_regex::RegexMatcher::new("a").unwrap();
        let mut gauge = Gauge::new(&matcher, 2);
        let text = b"ab\nxa\nfn a()\nx a\n";
        Searcher::new()
            .search_slice(&matcher, text, &mut gauge)
            .unwrap();
        let gauged = gauge.gauged();
        assert_eq!(gauged.lines, 4);
        let numbers: Vec<u64> = gauged.shown.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [3, 4]);
    }

    #[test]
    fn newer_files_count_more() {
        let now = SystemTime::now();
        assert!(newness(Some(now)) > newness(Some(now - YEAR)));
        assert!(newness(Some(now - YEAR)) > newness(None));
    }
}
