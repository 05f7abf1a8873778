//! Marks within words: `**un**believable`, `` `code`s ``, `snake\_case`, `[link](address)s`. The
//! word is found as it is displayed.
//!
//! All other marks and all lines stay: the body is the text that people wrote. Code is left alone.
//! Emphasis pairs as in CommonMark 0.31, but only where one of its ends is within a word.

use std::borrow::Cow;
use std::ops::Range;

use crate::formats::web::html::is_inline;
use crate::text::entities::{self, Reference};

/// Longer lines are not written by people.
const MAX_LINE_BYTES: usize = 16 << 10;
/// More emphasis within emphasis than anybody writes.
const MAX_OPEN: usize = 16;
/// Maximum size of a tag.
const MAX_TAG_BYTES: usize = 300;

/// A language of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Markdown,
    Rst,
    AsciiDoc,
}

impl Language {
    /// Returns the characters that emphasise.
    fn emphasis(self) -> &'static [u8] {
        match self {
            Self::Markdown => b"*_~=",
            Self::Rst => b"*",
            Self::AsciiDoc => b"*_#",
        }
    }

    /// Returns the line that ends a block of code which `line` begins.
    fn fence(self, line: &str) -> Option<&str> {
        let start = line.get(..3)?;
        match self {
            Self::Markdown => matches!(start, "```" | "~~~").then_some(start),
            Self::AsciiDoc => matches!(line, "----" | "....").then_some(line),
            Self::Rst => None,
        }
    }
}

/// Returns the text with the marks within words removed, or none if there are none.
pub(super) fn joined(text: &str, language: Language) -> Option<String> {
    let mut joined = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut blocks = Blocks::default();
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if !blocks.is_code(content, language)
            && let Some(changed) = joined_line(content, language)
        {
            joined.push_str(&text[copied..at]);
            joined.push_str(&changed);
            copied = at + content.len();
        }
        at += line.len();
    }
    if copied == 0 {
        return None;
    }
    joined.push_str(&text[copied..]);
    Some(joined)
}

/// Tells which lines are code.
#[derive(Default)]
struct Blocks {
    /// The end of the open block.
    fence: Option<String>,
    is_indented: bool,
    is_list: bool,
    is_after_blank: bool,
}

impl Blocks {
    fn is_code(&mut self, line: &str, language: Language) -> bool {
        let content = line.trim();
        let fence = language.fence(content);
        if let Some(open) = &self.fence {
            if fence == Some(open) {
                self.fence = None;
            }
            return true;
        }
        if let Some(fence) = fence {
            self.fence = Some(fence.to_owned());
            return true;
        }
        let is_after_blank = std::mem::replace(&mut self.is_after_blank, content.is_empty());
        if content.is_empty() {
            return false;
        }
        let is_item =
            content.starts_with(['-', '*', '+']) || content.as_bytes()[0].is_ascii_digit();
        let is_deep = line.starts_with("    ") || line.starts_with('\t');
        if is_deep {
            self.is_indented |= is_after_blank && !self.is_list;
        } else {
            self.is_indented = false;
            self.is_list = is_item || (self.is_list && !is_after_blank);
        }
        self.is_indented
    }
}

fn joined_line(line: &str, language: Language) -> Option<String> {
    let is_mark = |byte| b"*_~=#`\\[<&".contains(&byte);
    if line.len() > MAX_LINE_BYTES || !line.bytes().any(is_mark) {
        return None;
    }
    let mut text = Cow::Borrowed(line);
    if language == Language::Rst {
        // Without the escaped space, reStructuredText has no marks within words.
        if !line.contains("\\ ") {
            return None;
        }
        text = Cow::Owned(line.replace("\\ ", ""));
    }
    let mut scan = Scan {
        line: &text,
        language,
        edits: Vec::new(),
        emphasis: Vec::new(),
        brackets: Vec::new(),
        readings: String::new(),
    };
    scan.run();
    scan.edited().or(match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    })
}

/// Finds the marks within the words of one line.
struct Scan<'l> {
    line: &'l str,
    language: Language,
    /// What replaces some bytes.
    edits: Vec<(Range<usize>, Cow<'l, str>)>,
    /// Marks of emphasis that may pair.
    emphasis: Vec<Range<usize>>,
    /// Open brackets.
    brackets: Vec<usize>,
    /// The readings of characters, which follow the line.
    readings: String,
}

impl<'l> Scan<'l> {
    fn run(&mut self) {
        let is_markdown = self.language == Language::Markdown;
        let mut at = 0;
        while let Some(&byte) = self.line.as_bytes().get(at) {
            at = match byte {
                b'`' => self.code(at),
                b'\\' => self.escape(at),
                b'<' if is_markdown => self.tag(at),
                b'&' if is_markdown => self.reference(at),
                b'[' if is_markdown => {
                    self.brackets.push(at);
                    at + 1
                }
                b']' if is_markdown => self.link(at),
                _ if self.language.emphasis().contains(&byte) => self.emphasis(at),
                _ => at + 1,
            };
        }
    }

    fn edited(mut self) -> Option<String> {
        if self.edits.is_empty() {
            return None;
        }
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut text = String::with_capacity(self.line.len());
        let mut at = 0;
        for (range, replacement) in &self.edits {
            if range.start >= at {
                text.push_str(&self.line[at..range.start]);
                text.push_str(replacement);
                at = range.end;
            }
        }
        text.push_str(&self.line[at..]);
        if !self.readings.is_empty() {
            text.push(' ');
            text.push_str(self.readings.trim_end());
        }
        Some(text)
    }

    fn remove(&mut self, range: Range<usize>) {
        self.edits.push((range, Cow::Borrowed("")));
    }

    fn before(&self, at: usize) -> Option<char> {
        self.line[..at].chars().next_back()
    }

    fn after(&self, at: usize) -> Option<char> {
        self.line[at..].chars().next()
    }

    /// Returns whether a mark splits a word.
    fn is_within_word(&self, mark: &Range<usize>) -> bool {
        let (before, after) = (self.before(mark.start), self.after(mark.end));
        before.zip(after).is_some_and(|(before, after)| {
            before.is_alphanumeric()
                && after.is_alphanumeric()
                && (before.is_alphabetic() || after.is_alphabetic())
        })
    }

    /// Returns the end of the run of one byte.
    fn run_end(&self, at: usize) -> usize {
        let bytes = &self.line.as_bytes()[at..];
        at + bytes.iter().take_while(|&&byte| byte == bytes[0]).count()
    }

    fn code(&mut self, at: usize) -> usize {
        let open = at..self.run_end(at);
        let mut next = open.end;
        while let Some(found) = memchr::memchr(b'`', &self.line.as_bytes()[next..]) {
            let close = next + found..self.run_end(next + found);
            next = close.end;
            if close.len() == open.len() {
                if self.is_within_word(&open) || self.is_within_word(&close) {
                    self.remove(open);
                    self.remove(close);
                }
                return next;
            }
        }
        open.end
    }

    /// Reads a backslash that takes the meaning from the mark after it.
    fn escape(&mut self, at: usize) -> usize {
        let Some(mark) = self.after(at + 1).filter(char::is_ascii_punctuation) else {
            return at + 1;
        };
        // `\\(x\\)` is a formula.
        let is_joined = !"()[]{}".contains(mark) && self.is_within_word(&(at..at + 2));
        if self.language == Language::Markdown && (mark == '_' || is_joined) {
            self.remove(at..at + 1);
        }
        at + 2
    }

    fn reference(&mut self, at: usize) -> usize {
        match entities::read(&self.line.as_bytes()[at + 1..], false) {
            Some((reference, length)) if self.line.as_bytes()[at + length] == b';' => {
                let end = at + 1 + length;
                self.edits.push((
                    at..end,
                    match reference {
                        Reference::Char(c) if c.is_control() => Cow::Borrowed(" "),
                        Reference::Char(c) => Cow::Owned(c.to_string()),
                        Reference::Text(text) => Cow::Borrowed(text),
                    },
                ));
                end
            }
            _ => at + 1,
        }
    }

    fn tag(&mut self, at: usize) -> usize {
        let line = self.line;
        let limit = line.floor_char_boundary(at + MAX_TAG_BYTES);
        let Some(length) = line[at..limit].find('>') else {
            return at + 1;
        };
        let tag = at..at + length + 1;
        let inner = &line[at + 1..at + length];
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let n_name = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        match name[..n_name].to_ascii_lowercase().as_str() {
            "" => return at + 1,
            "ruby" | "rb" => {
                if inner == "ruby" && !self.readings.is_empty() {
                    self.readings.push(' ');
                }
                self.remove(tag.clone());
            }
            side @ ("rt" | "rp") => {
                let rest = &line[tag.end..];
                let text = rest.split('<').next().unwrap_or(rest);
                if inner.starts_with('/') {
                    self.remove(tag.clone());
                    return tag.end;
                }
                if side == "rt" {
                    self.readings.push_str(text.trim());
                }
                self.remove(at..tag.end + text.len());
                return tag.end + text.len();
            }
            // A raised number may be that of a note.
            "sup" if line[tag.end..].starts_with(|c: char| c.is_ascii_digit()) => {}
            name if is_inline(name) && self.is_within_word(&tag) => self.remove(tag.clone()),
            _ => {}
        }
        tag.end
    }

    /// Reads the end of `[text](address)`; the rest of its word moves into the text.
    fn link(&mut self, at: usize) -> usize {
        let Some(open) = self.brackets.pop() else {
            return at + 1;
        };
        let Some(target) = target_bytes(&self.line[at + 1..]) else {
            return at + 1;
        };
        let end = at + 1 + target;
        if self.before(open) == Some('!') {
            return end;
        }
        let is_letter = |c: char| c.is_alphanumeric();
        if self.before(open).is_some_and(is_letter) && self.after(open + 1).is_some_and(is_letter) {
            let head = self.line[..open].trim_end_matches(is_letter).len();
            self.edits.push((head..head, Cow::Borrowed("[")));
            self.remove(open..open + 1);
        }
        let rest = &self.line[end..];
        let tail = &rest[..rest.len() - rest.trim_start_matches(is_letter).len()];
        if self.before(at).is_some_and(is_letter) && !tail.is_empty() {
            self.edits.push((at..at, Cow::Borrowed(tail)));
            self.remove(end..end + tail.len());
        }
        end + tail.len()
    }

    /// Reads a run of marks of emphasis, which may be of several kinds: `**~~`.
    fn emphasis(&mut self, at: usize) -> usize {
        let line = self.line;
        let kinds = self.language.emphasis();
        let bytes = &line.as_bytes()[at..];
        let length = bytes.iter().take_while(|byte| kinds.contains(byte)).count();
        let mark = at..at + length;
        let is_text = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        let text = &line[mark.clone()];
        let is_single_equals = text == "=";
        if !is_single_equals && is_text(self.before(mark.start)) {
            let mirrors = |open: &Range<usize>| line[open.clone()].bytes().eq(text.bytes().rev());
            if let Some(found) = self.emphasis.iter().rposition(mirrors) {
                let open = self.emphasis[found].clone();
                self.emphasis.truncate(found);
                self.pair(open, mark.clone());
                return mark.end;
            }
        }
        if !is_single_equals && is_text(self.after(mark.end)) && self.emphasis.len() < MAX_OPEN {
            self.emphasis.push(mark.clone());
        }
        mark.end
    }

    fn pair(&mut self, open: Range<usize>, close: Range<usize>) {
        let content = &self.line[open.end..close.start];
        let has_spaces = content.contains(char::is_whitespace);
        // `_` is no mark within words of Markdown: `snake_case_name`.
        let mark = &self.line[open.clone()];
        if self.language == Language::Markdown && mark.bytes().all(|byte| byte == b'_') {
            return;
        }
        let is_joined = match (self.is_within_word(&open), self.is_within_word(&close)) {
            (false, false) => false,
            // Formulas: `a*b*c`, `a==b and c==d`.
            (true, true) => !has_spaces && (mark.len() > 1 || content.chars().nth(1).is_some()),
            // `(*pointer, a*b)`
            _ => !has_spaces || mark.len() > 1,
        };
        if is_joined {
            self.remove(open);
            self.remove(close);
        }
    }
}

/// Returns the length of `(address)`.
fn target_bytes(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (byte == b')').then_some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(language: Language, cases: &[(&str, &str)]) {
        for (text, shown) in cases {
            let found = joined(text, language);
            assert_eq!(found.as_deref().unwrap_or(text), *shown, "{text}");
        }
    }

    #[test]
    fn words_are_whole_as_displayed() {
        check(
            Language::Markdown,
            &[
                (
                    "is **un**believable, ==high==light",
                    "is unbelievable, highlight",
                ),
                (
                    "~~old~~new *un*able, re***think***ing",
                    "oldnew unable, rethinking",
                ),
                (
                    "`code`span, un`do`able, ``a`b``c",
                    "codespan, undoable, a`bc",
                ),
                ("**중요한 점**입니다", "중요한 점입니다"),
                ("**~~un~~**able", "unable"),
                (
                    "foo\\_bar and \\_\\_init\\_\\_, a\\*b",
                    "foo_bar and __init__, a*b",
                ),
                ("[link](a(b)c)s", "[links](a(b)c)"),
                ("un[believ](x)able", "[unbelievable](x)"),
                ("<b>un</b>believ<wbr>able", "<b>unbelievable"),
                ("H<sub>2</sub>O", "H2O"),
                ("H&eacute;l&egrave;ne &amp; co", "Hélène & co"),
                ("exam&shy;ple", "exam\u{ad}ple"),
                (
                    "<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>へ行く\r\n",
                    "東京へ行く とうきょう\r\n",
                ),
            ],
        );
        check(
            Language::Rst,
            &[
                (
                    "*un*\\ believable and re\\ *structured*\\ Text",
                    "unbelievable and restructuredText",
                ),
                ("**un**\\ able, ``code``\\ s", "unable, codes"),
            ],
        );
        check(
            Language::AsciiDoc,
            &[(
                "**un**believable __un__able ##un##marked",
                "unbelievable unable unmarked",
            )],
        );
    }

    #[test]
    fn all_other_text_stays() {
        for text in [
            "**bold** and *huge time* saver, `code` x",
            "snake_case_name, __init__py, a_b_c",
            "2*3*4, a*b*c, x**2 + y**2, 10*x",
            "if a==b and c==d: e=f=g",
            "f(*args, a*b)",
            "word[^1] [a](b) c [x][y]z ![a](b)c",
            "word<sup>1</sup>, Vec<String>s, a <b> c, a<br>b",
            "C:\\new\\(x\\) \\*not\\*",
            "AT&T ?a=1&copy=2",
            "``` **un**able\n**un**able\n```",
            "text\n\n    **un**able\n    a`b`c",
            "=====\nA**",
        ] {
            check(Language::Markdown, &[(text, text)]);
        }
        let list = "- item\n\n    **un**able\n\ntext\n\n\t**un**able";
        let shown = "- item\n\n    unable\n\ntext\n\n\t**un**able";
        check(Language::Markdown, &[(list, shown)]);
        check(Language::Rst, &[("**un**able `a`b", "**un**able `a`b")]);
        check(
            Language::AsciiDoc,
            &[("----\n**un**able\n----\n", "----\n**un**able\n----\n")],
        );
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_lines(text in "[a-c*_~=`\\\\<>/rtbp&;()\\[\\] \né]{0,60}") {
            for language in [Language::Markdown, Language::Rst, Language::AsciiDoc] {
                if let Some(joined) = joined(&text, language) {
                    prop_assert_eq!(joined.matches('\n').count(), text.matches('\n').count());
                }
            }
        }
    }
}
