//! JSON (RFC 8259), including the comments and bare names of JSON5, and one value per line
//! (NDJSON): keys and values become lines `key: value`.
//!
//! The text is read as a stream of tokens, without a tree and without validation. Content that is
//! not JSON still yields its words, a truncated file yields everything it has, and nesting costs
//! nothing. Escapes become characters, which a search in the raw text would miss.

use std::borrow::Cow;

use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("JSON", &["application/json"], extract).streams();

/// Longer strings without a space are encoded data: pictures, source maps.
const MAX_WORD_BYTES: usize = 512;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let mut body = Body::new(output.limits().max_text_bytes);
    let mut tokens = Tokens::new(&text);
    while let Some(token) = tokens.next()
        && !body.is_full()
    {
        write(token, &mut body);
    }
    let mut body = body.finish();
    body.truncate(body.trim_ascii_end().len());
    output.own().body = body;
    result
}

fn write(token: Token<'_>, body: &mut Body) {
    match token {
        Token::Key(key) => {
            body.end_paragraph();
            body.push(&key);
            body.push(": ");
        }
        Token::Text(text) if is_data(&text) => {}
        Token::Text(text) => {
            body.push(&text);
            body.end_paragraph();
        }
        Token::Other("null") => {}
        Token::Other(word) => {
            body.push(word);
            body.push(" ");
        }
        Token::Open | Token::Close => body.end_paragraph(),
    }
}

/// Returns whether a string is encoded data rather than text.
pub(super) fn is_data(text: &str) -> bool {
    text.len() > MAX_WORD_BYTES
        && text.is_ascii()
        && !text.bytes().any(|byte| byte.is_ascii_whitespace())
}

/// A piece of JSON.
#[derive(Debug, PartialEq)]
pub(in crate::formats) enum Token<'t> {
    /// The name of a member.
    Key(Cow<'t, str>),
    /// A string.
    Text(Cow<'t, str>),
    /// A number or literal, a comment, or something that is not JSON.
    Other(&'t str),
    /// The start of an object or array.
    Open,
    /// The end of one.
    Close,
}

/// Reads tokens from the start of a text.
pub(in crate::formats) struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    pub(in crate::formats) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// Returns the next token, `None` at the end.
    pub(in crate::formats) fn next(&mut self) -> Option<Token<'t>> {
        self.skip_separators();
        match self.rest.bytes().next()? {
            b'{' | b'[' => Some(self.bracket(Token::Open)),
            b'}' | b']' => Some(self.bracket(Token::Close)),
            b'"' => Some(self.string(b'"')),
            // JSON5; an apostrophe outside of JSON ends with its line.
            b'\'' => Some(self.string(b'\'')),
            _ => Some(self.word()),
        }
    }

    fn bracket(&mut self, token: Token<'t>) -> Token<'t> {
        self.rest = &self.rest[1..];
        token
    }

    fn skip_separators(&mut self) {
        let is_separator = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ':' | '\u{c}');
        self.rest = self.rest.trim_start_matches(is_separator);
    }

    /// Returns whether the token just read is the name of a member.
    fn is_key(&self) -> bool {
        self.rest.trim_ascii_start().starts_with(':')
    }

    fn string(&mut self, quote: u8) -> Token<'t> {
        let inside = &self.rest[1..];
        let end = string_end(inside.as_bytes(), quote);
        let text = unescaped(&inside[..end]);
        self.rest = inside.get(end + 1..).unwrap_or_default();
        if self.is_key() {
            Token::Key(text)
        } else {
            Token::Text(text)
        }
    }

    /// Reads a number, a literal or a bare name; in a comment or prose, one word.
    fn word(&mut self) -> Token<'t> {
        let is_end =
            |c: char| c.is_whitespace() || matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '"');
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let end = self.rest[first..]
            .find(is_end)
            .map_or(self.rest.len(), |at| first + at);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if self.is_key() {
            Token::Key(Cow::Borrowed(word))
        } else {
            Token::Other(word)
        }
    }
}

/// Returns the end of a string: before its quote, otherwise the end of the text.
fn string_end(inside: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(quote, b'\\', b'\n', &inside[at..]) {
        at += found;
        match inside[at] {
            b'\\' => at = inside.len().min(at + 2),
            b'\n' if quote == b'"' => at += 1,
            _ => return at,
        }
    }
    inside.len()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else {
            break;
        };
        rest = &rest[kind.len_utf8()..];
        match kind {
            'n' => plain.push('\n'),
            't' => plain.push('\t'),
            'r' | 'b' | 'f' => plain.push(' '),
            'u' => rest = push_unit(rest, &mut plain),
            // The quote, the backslash, the slash; JSON5 allows any other character.
            other => plain.push(other),
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Adds the character of `\uXXXX`, or of a pair of them; returns the rest.
fn push_unit<'t>(rest: &'t str, plain: &mut String) -> &'t str {
    let unit = |text: &str| -> Option<u16> {
        let digits = text.get(..4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex
            .then(|| u16::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let Some(first) = unit(rest) else {
        return rest;
    };
    let after = &rest[4..];
    let second = after.strip_prefix("\\u").and_then(unit);
    if let Some(second) = second
        && let Some(Ok(character)) = char::decode_utf16([first, second]).next()
        && !character.is_control()
        && (0xd800..0xdc00).contains(&first)
    {
        plain.push(character);
        return &after[6..];
    }
    let character = char::from_u32(u32::from(first)).unwrap_or('\u{fffd}');
    plain.push(if character.is_control() && character != '\n' {
        ' '
    } else {
        character
    });
    after
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{run, run_limited, survives};

    const JSON: Detected = Detected {
        media_type: "application/json",
        kind: Kind::Data,
    };

    fn body(text: &str) -> String {
        run(extract, JSON, "a.json", text.as_bytes())
            .own()
            .body
            .clone()
    }

    #[test]
    fn keys_and_values_are_lines() {
        let text = r#"{"name": "ken", "tags": ["a b", "c"], "size": [1, -2.5e3],
            "deep": {"ok": true, "none": null}, "": ""}"#;
        let lines = "name: ken\ntags:\na b\nc\nsize:\n1 -2.5e3\ndeep:\nok: true\nnone:\n:";
        assert_eq!(body(text), lines);
    }

    #[test]
    fn escapes_become_characters() {
        for (escaped, plain) in [
            (r#""Gr\u00fc\u00DFe \ud83d\udc1f""#, "Grüße 🐟"),
            (r#""\"x\" a\/b\\c""#, "\"x\" a/b\\c"),
            (r#""\ud83d \ude00 \u12 \u0007x""#, "\u{fffd} \u{fffd} 12  x"),
            (r#""a\nb""#, "a\nb"),
        ] {
            assert_eq!(body(escaped), plain);
        }
    }

    #[test]
    fn other_sorts_of_json_and_none() {
        for (text, lines) in [
            (
                "// a note\n{bare: 'single', /* x */ 'quoted': +1}",
                "// a note\nbare: single\n/* x */\nquoted: +1",
            ),
            ("{\"line\":1}\n{\"line\":2}\n", "line: 1\nline: 2"),
            ("it's no JSON: at all", "it's no\nJSON: at all"),
            ("{\"cut\": \"in the mid", "cut: in the mid"),
            ("\"\\", ""),
        ] {
            assert_eq!(body(text), lines);
        }
    }

    #[test]
    fn encoded_data_is_left_out() {
        let picture = "iVBORw0KGgo=".repeat(100);
        let words = "日本語".repeat(300);
        let text = format!("{{\"a\": \"{picture}\", \"b\": \"{words}\"}}");
        assert_eq!(body(&text), format!("a:\nb: {words}"));
    }

    #[test]
    fn nesting_and_size_are_no_matter() {
        let deep = format!("{}\"x\"{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(body(&deep), "x");
        let limits = Limits {
            max_text_bytes: 20,
            ..Limits::default()
        };
        let long = format!("[{}]", "\"word\",".repeat(100));
        let found = run_limited(extract, JSON, "a.json", long.as_bytes(), &limits);
        assert!(found.own().body.starts_with("word\nword"));
        assert!(found.own().failure.is_some());
    }

    #[test]
    fn hostile_json_is_survived() {
        let good = r#"{"name": "gr\u00fcn", "tags": ["a b", "\ud83d\udc1f"], "size": [1, 2]}"#;
        survives(extract, JSON, "a.json", good.repeat(5).as_bytes());
    }
}
