//! The colours of source: comments, strings, numbers and keywords.
//!
//! A text is read once from its beginning to the end of what is shown, byte by byte and without going back, so that no text
//! takes long. What is not closed is closed at the end of its line, or of the text.

mod language;

use std::collections::HashSet;
use std::ops::Range;

pub(super) use language::Language;
use language::{Quote, Quoting};

/// Reading begins at most this many bytes before what is shown.
const BEFORE: usize = 1 << 20;
/// The most stretches that have a colour.
const STRETCHES: usize = 20_000;
/// The most bytes of a label.
const LABEL: usize = 200;
/// The most bytes of a character in single quotes, as in `'\u{10ffff}'`.
const CHARACTER: usize = 12;

const COMMENT: &str = "c";
const STRING: &str = "s";
const NUMBER: &str = "n";
const KEYWORD: &str = "k";

/// A stretch of a text, and the class of its colour.
pub(super) type Colour = (Range<usize>, &'static str);

/// Returns the stretches of a part of a text that have a colour, in order.
pub(super) fn colours(language: &Language, text: &str, shown: &Range<usize>) -> Vec<Colour> {
    let start = text.floor_char_boundary(shown.start.saturating_sub(BEFORE));
    let start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let mut reading = Reading {
        language,
        keywords: language.keywords.split_whitespace().collect(),
        text,
        at: start,
        unclosed: vec![0; language.quotes.len()],
        colours: Vec::new(),
    };
    while reading.at < shown.end.min(text.len()) && reading.colours.len() < STRETCHES {
        let from = reading.at;
        let class = reading.step();
        if let Some(class) = class
            && reading.at > shown.start
        {
            reading.colours.push((from..reading.at, class));
        }
    }
    reading.colours
}

struct Reading<'t> {
    language: &'t Language,
    keywords: HashSet<&'t str>,
    text: &'t str,
    at: usize,
    /// For each kind of quote, the end of a line in which it is not closed.
    unclosed: Vec<usize>,
    colours: Vec<Colour>,
}

impl<'t> Reading<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn end_of_line(&self) -> usize {
        let rest = self.rest();
        self.at + rest.find('\n').unwrap_or(rest.len())
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).map(|at| self.text.as_bytes()[at])
    }

    fn is_at_line_start(&self) -> bool {
        matches!(self.before(), None | Some(b'\n'))
    }

    /// Goes on to behind the next token, and returns the class of its colour.
    fn step(&mut self) -> Option<&'static str> {
        if self.is_at_line_start() && self.label() {
            return Some(KEYWORD);
        }
        if self.comment() {
            return Some(COMMENT);
        }
        if self.string() {
            return Some(STRING);
        }
        let first = self.rest().chars().next()?;
        if first.is_ascii_digit() {
            self.number();
            return Some(NUMBER);
        }
        let word = self.word();
        if word.is_empty() {
            self.at += first.len_utf8();
            return None;
        }
        self.at += word.len();
        self.is_keyword(word).then_some(KEYWORD)
    }

    fn is_keyword(&self, word: &str) -> bool {
        match self.language.ignores_case {
            true => self.keywords.contains(word.to_ascii_lowercase().as_str()),
            false => self.keywords.contains(word),
        }
    }

    fn word(&self) -> &'t str {
        let rest = self.rest();
        let is_part =
            |c: char| c.is_alphanumeric() || c == '_' || self.language.letters.contains(c);
        &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
    }

    fn number(&mut self) {
        let bytes = self.text.as_bytes();
        let is_part = |at: usize| match bytes.get(at) {
            Some(b'.') => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
            Some(b'_') => true,
            Some(byte) => byte.is_ascii_alphanumeric(),
            None => false,
        };
        while is_part(self.at) {
            self.at += 1;
        }
    }

    /// Reads the name of a value or of a section at the beginning of a line.
    fn label(&mut self) -> bool {
        let Some(end) = self.language.label_end else {
            return false;
        };
        let line = &self.text[self.at..self.text.floor_char_boundary(self.at + LABEL)];
        let length = label(line.split('\n').next().unwrap_or(line), end);
        self.at += length;
        length > 0
    }

    fn comment(&mut self) -> bool {
        let rest = self.rest();
        let is_after_space = self.before().is_none_or(|last| last.is_ascii_whitespace());
        if self.language.comments_after_space && !is_after_space {
            return false;
        }
        for (open, close) in self.language.blocks {
            let is_here = !open.starts_with('=') || self.is_at_line_start();
            if is_here && rest.starts_with(open) {
                self.at += open.len();
                self.close(close);
                return true;
            }
        }
        let is_comment = self
            .language
            .lines
            .iter()
            .any(|open| rest.starts_with(open));
        if is_comment {
            self.at = self.end_of_line();
        }
        is_comment
    }

    /// Goes on to behind this text, or to the end.
    fn close(&mut self, close: &str) {
        let rest = self.rest();
        self.at += rest.find(close).map_or(rest.len(), |at| at + close.len());
    }

    fn string(&mut self) -> bool {
        let rest = self.rest();
        let quotes = self.language.quotes.iter().enumerate();
        for (number, quote) in quotes {
            if rest.starts_with(quote.open) && self.at >= self.unclosed[number] {
                match end_of_string(rest, quote) {
                    Some(length) => {
                        self.at += length;
                        return true;
                    }
                    // A mark such as an apostrophe.
                    None => {
                        self.unclosed[number] = match quote.quoting {
                            Quoting::Character => 0,
                            _ => self.end_of_line(),
                        }
                    }
                }
            }
        }
        false
    }
}

/// Returns the length of a string at the beginning of a text; none if it is not closed where it must be.
fn end_of_string(text: &str, quote: &Quote) -> Option<usize> {
    let Quote {
        open,
        close,
        quoting,
    } = quote;
    let rest = &text[open.len()..];
    let (inside, is_long) = match quoting {
        Quoting::Raw => {
            let end = rest.find(close).map(|at| at + close.len());
            return Some(open.len() + end.unwrap_or(rest.len()));
        }
        Quoting::Lines => (rest, true),
        Quoting::Line => (rest, false),
        Quoting::Character => {
            let inside = &rest[..rest.floor_char_boundary(CHARACTER)];
            let first = inside.chars().next()?;
            let is_one = first == '\\' || inside[first.len_utf8()..].starts_with(close);
            (is_one.then_some(inside)?, false)
        }
    };
    let mut is_escaped = false;
    for (at, character) in inside.char_indices() {
        match character {
            '\n' if !is_long => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if inside[at..].starts_with(close) => return Some(open.len() + at + close.len()),
            _ => {}
        }
    }
    is_long.then_some(text.len())
}

/// Returns the length of the label at the beginning of a line: `[section]`, `name` before `end`, both perhaps behind spaces
/// and the dashes of lists, and 0 if there is none.
fn label(line: &str, end: char) -> usize {
    let start = line
        .find(|c: char| !(c.is_whitespace() || c == '-'))
        .unwrap_or(0);
    let rest = &line[start..];
    if rest.starts_with('[')
        && let Some(close) = rest.rfind(']')
    {
        return start + close + 1;
    }
    let is_part = |c: char| c.is_alphanumeric() || "_-.\"' @$".contains(c);
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let is_label = length > 0
        && rest[length..].strip_prefix(end).is_some_and(|value| {
            end != ':' || value.is_empty() || value.starts_with(char::is_whitespace)
        });
    if is_label { start + length } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(media_type: &str, text: &str) -> String {
        let language = Language::of(media_type).unwrap();
        let mut shown = String::new();
        let mut at = 0;
        for (range, class) in colours(language, text, &(0..text.len())) {
            shown.push_str(&text[at..range.start]);
            shown.push_str(&format!("{class}[{}]", &text[range.clone()]));
            at = range.end;
        }
        shown + &text[at..]
    }

    #[test]
    fn languages_have_their_colours() {
        for (media_type, text, expected) in [
            (
                "text/x-rust",
                r##"fn f<'a>(x: &'a str) { 'x'; '\''; r#"a"b"#; "a\"b"; 0x1f.max(1.5) } // end"##,
                r##"k[fn] f<'a>(x: &'a k[str]) { s['x']; s['\'']; s[r#"a"b"#]; s["a\"b"]; n[0x1f].max(n[1.5]) } c[// end]"##,
            ),
            (
                "text/x-python",
                "def f():\n  \"\"\"a\nb\"\"\"\n  return 'it''s' # don't\n",
                "k[def] f():\n  s[\"\"\"a\nb\"\"\"]\n  k[return] s['it']s['s'] c[# don't]\n",
            ),
            (
                "text/x-shellscript",
                "if [ $# -gt 1 ]; then echo \"a\nb\" 'c' # no\nfi",
                "k[if] [ $# -gt n[1] ]; k[then] k[echo] s[\"a\nb\"] s['c'] c[# no]\nk[fi]",
            ),
            (
                "text/x-sql",
                "SELECT 'it' -- x\nfrom a",
                "k[SELECT] s['it'] c[-- x]\nk[from] a",
            ),
            (
                "text/x-yaml",
                "- name: it's 5\n  b: \"c\"",
                "k[- name]: it's n[5]\nk[  b]: s[\"c\"]",
            ),
            (
                "text/css",
                "a:hover {\n  color: #fff;\n}",
                "a:hover {\nk[  color]: #fff;\n}",
            ),
            (
                "text/x-toml",
                "[a.b]\nc = 1 # d",
                "k[[a.b]]\nk[c ]= n[1] c[# d]",
            ),
            (
                "text/x-lua",
                "--[[ a\nb ]] local x -- c",
                "c[--[[ a\nb ]]] k[local] x c[-- c]",
            ),
            (
                "text/x-c",
                "/* a */ int x = 'a'; \"b\n",
                "c[/* a */] k[int] x = s['a']; \"b\n",
            ),
        ] {
            assert_eq!(shown(media_type, text), expected, "{media_type}");
        }
    }

    #[test]
    fn only_what_is_shown_is_coloured() {
        let text = "int a; /* b\n int c; */ int d;\nint e;";
        let language = Language::of("text/x-c").unwrap();
        let shown: Vec<_> = colours(language, text, &(12..30))
            .into_iter()
            .map(|(range, _)| &text[range])
            .collect();
        assert_eq!(shown, ["/* b\n int c; */", "int"]);
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        for part in [
            "\\'", "\\\"", "'", "\"\\", "`", "/*", "--[[", "#'", "{-", "é'", "r#\"", "[a", "a-",
            "0.",
        ] {
            let text = part.repeat(10_000);
            for language in Language::all() {
                let colours = colours(language, &text, &(0..text.len()));
                assert!(colours.len() <= STRETCHES, "{part}");
            }
        }
    }

    mod every_text {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn has_colours_in_order(text in "[a-z0-9 \n'\"`/*#\\\\{}\\[\\]=:.é-]{0,80}", shown in 0_usize..80) {
                for language in Language::all() {
                    let mut at = 0;
                    for (range, _) in colours(language, &text, &(shown.min(text.len())..text.len())) {
                        prop_assert!(at <= range.start && range.start < range.end);
                        prop_assert!(text.get(range.clone()).is_some());
                        at = range.end;
                    }
                }
            }
        }
    }
}
