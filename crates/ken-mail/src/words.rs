//! Encoded words (RFC 2047): text of a header in another character set.
//!
//! Many mailers split long text into several words in the middle of a character. So the bytes of adjacent words are
//! joined before they are decoded.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;

use crate::Detect;
use crate::charset::{Charset, sextet};
use crate::decode::{hex, text};

/// The most bytes of the name of a character set.
const MAX_NAME_BYTES: usize = 64;

/// Returns a value with its encoded words decoded.
pub(crate) fn decoded<'a>(value: &'a str, detect: Detect<'_>) -> Cow<'a, str> {
    replaced(value, detect, |decoded, text| decoded.push_str(text))
}

/// Returns a value in which adjacent encoded words are one word in UTF-8. A parser of addresses needs this: it must
/// split the addresses before it decodes words, which may contain commas.
pub(crate) fn joined<'a>(value: &'a str, detect: Detect<'_>) -> Cow<'a, str> {
    replaced(value, detect, |joined, text| {
        let before = joined.chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && !"\"(<,:;".contains(c)) {
            joined.push(' ');
        }
        if !text.is_empty() {
            joined.push_str("=?utf-8?Q?");
            for byte in text.bytes() {
                // Writing into a string cannot fail.
                _ = write!(joined, "={byte:02X}");
            }
            joined.push_str("?=");
        }
    })
}

fn replaced<'a>(value: &'a str, detect: Detect<'_>, put: fn(&mut String, &str)) -> Cow<'a, str> {
    let finder = memmem::Finder::new("=?");
    if finder.find(value.as_bytes()).is_none() {
        return Cow::Borrowed(value);
    }
    let mut replaced = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = finder.find(rest.as_bytes()) {
        replaced.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(word) = Word::at_start(rest) {
            let (text, after) = neighbours(word, detect);
            put(&mut replaced, &text);
            rest = after;
        } else {
            replaced.push_str("=?");
            rest = &rest[2..];
        }
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// Decodes a word together with the words after it, with only white space between them; returns the text and the rest.
fn neighbours<'a>(first: Word<'a>, detect: Detect<'_>) -> (String, &'a str) {
    let mut text = String::new();
    let mut joint = Joint::default();
    let mut word = first;
    loop {
        joint.add(&word);
        let next = Word::at_start(word.after.trim_start());
        let goes_on = |next: &Word<'_>| next.charset.eq_ignore_ascii_case(word.charset);
        if !next.as_ref().is_some_and(goes_on) {
            text.push_str(&std::mem::take(&mut joint).text(word.charset, detect));
        }
        match next {
            Some(next) => word = next,
            None => return (text, word.after),
        }
    }
}

/// One encoded word.
struct Word<'a> {
    charset: &'a str,
    is_base64: bool,
    data: &'a str,
    after: &'a str,
}

impl<'a> Word<'a> {
    /// Reads the word at the start of a text. A word without its end goes up to the next white space.
    fn at_start(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix("=?")?;
        let name = rest
            .bytes()
            .take(MAX_NAME_BYTES)
            .position(|byte| byte == b'?')?;
        let (charset, rest) = rest.split_at(name);
        let is_name = charset.len() > 1 && charset.bytes().all(|byte| byte.is_ascii_graphic());
        let is_base64 = match rest.as_bytes() {
            [b'?', b'B' | b'b', b'?', ..] => true,
            [b'?', b'Q' | b'q', b'?', ..] => false,
            _ => return None,
        };
        let rest = &rest[3..];
        let (data, after) = match end(rest, is_base64) {
            Some(end) => (&rest[..end], &rest[end + 2..]),
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (rest[..end].trim_end_matches('?'), &rest[end..])
            }
        };
        is_name.then_some(Self {
            charset,
            is_base64,
            data,
            after,
        })
    }
}

/// Returns the position of the `?=` that ends a word. In quoted-printable, `?=20` is a question mark and an escape if
/// the word continues.
fn end(data: &str, is_base64: bool) -> Option<usize> {
    let mut ends = memmem::find_iter(data.as_bytes(), "?=");
    let first = ends.next()?;
    let is_escape = |at: usize| {
        let digits = data.as_bytes().get(at + 2..at + 4);
        digits.is_some_and(|digits| digits.iter().all(|digit| hex(*digit).is_some()))
    };
    if is_base64 || !is_escape(first) {
        return Some(first);
    }
    let end = ends.find(|at| !is_escape(*at));
    let is_one = |end: &usize| !data[first..*end].contains([' ', '\t', '\r', '\n']);
    end.filter(is_one).or(Some(first))
}

/// The joined bytes of adjacent words.
#[derive(Default)]
struct Joint {
    bytes: Vec<u8>,
    /// The last bits of base64, which do not fill a byte yet.
    bits: u32,
    n_bits: u32,
}

impl Joint {
    fn add(&mut self, word: &Word<'_>) {
        if word.is_base64 {
            self.add_base64(word.data);
        } else {
            self.n_bits = 0;
            self.add_quoted(word.data);
        }
    }

    /// Adds base64, which some mailers split anywhere. If the remaining bits are not zero they continue in the next word;
    /// otherwise the padding is missing.
    fn add_base64(&mut self, data: &str) {
        if self.n_bits < 6 && self.bits & ((1 << self.n_bits) - 1) == 0 {
            self.n_bits = 0;
        }
        for byte in data.bytes() {
            if byte == b'=' {
                self.n_bits = 0;
            } else if let Some(sextet) = sextet(byte) {
                self.bits = self.bits << 6 | u32::from(sextet);
                self.n_bits += 6;
                if self.n_bits >= 8 {
                    self.n_bits -= 8;
                    self.bytes.push((self.bits >> self.n_bits) as u8);
                }
            }
        }
    }

    fn add_quoted(&mut self, data: &str) {
        let mut rest = data.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match (byte, after) {
                (b'_', _) => self.bytes.push(b' '),
                (b'\r' | b'\n', _) => {}
                (b'=', [high, low, after @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                    let digits = hex(*high).zip(hex(*low));
                    self.bytes.extend(digits.map(|(high, low)| high << 4 | low));
                    rest = after;
                }
                _ => self.bytes.push(byte),
            }
        }
    }

    fn text(self, charset: &str, detect: Detect<'_>) -> String {
        text(Cow::Owned(self.bytes), Charset::named(charset), detect).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn words_are_decoded_by_their_joined_bytes() {
        for (value, expected) in [
            ("plain", "plain"),
            ("=?utf-8?Q?caf=C3=A9?= ole", "café ole"),
            ("a =?utf-8?q?b_c?= d", "a b c d"),
            ("=?utf-8?Q?caf=C3?=\r\n =?UTF-8?Q?=A9?=", "café"),
            ("=?utf-8?Q?caf=C3?==?utf-8?B?qQ==?=", "café"),
            ("=?utf-8?B?Y2Fmw6?= =?utf-8?B?k=?=", "café"),
            ("=?utf-8?B?Y2Fmw6k?= =?utf-8?B?IQ?=", "café!"),
            ("=?utf-8?B?Y2F\r\n mw6k=?=", "café"),
            ("=?iso-8859-1?q?a=E9?= =?utf-8?q?b?=", "aéb"),
            (
                "=?iso-2022-jp?B?GyRCRnwbKEI=?= =?iso-2022-jp?B?GyRCS1wbKEI=?=",
                "日本",
            ),
            ("=?KOI8-R?B?8NLJ?=", "При"),
            ("=?ks_c_5601-1987?B?x9GxzQ==?=", "한귀"),
            ("=?cp-850?Q?=81?=", "ü"),
            ("=?UTF-8*de?Q?=C3=BC?=", "ü"),
            ("[list]=?utf-8?Q?=C3=BC?=x", "[list]üx"),
            ("=?utf-8?Q?why=3F?= =?utf-8?Q?really??=", "why?really?"),
            ("=?utf-8?Q?what?=20now?=", "what? now"),
            ("=?utf-8?Q?a b?= c", "a b c"),
            ("=?utf-8?Q?caf=C3=A9", "café"),
            ("=?x-none?Q?caf=E9?=", "café"),
            ("=?broken", "=?broken"),
            ("=?utf-8?X?what?=", "=?utf-8?X?what?="),
            ("=? =?utf-8?q?a?=", "=? a"),
            ("", ""),
        ] {
            assert_eq!(decoded(value, &latin1), expected, "{value}");
        }
    }

    #[test]
    fn words_are_joined_in_place() {
        for (value, expected) in [
            ("Ann <a@x>", "Ann <a@x>"),
            ("\"=?koi8-r?Q?=F0?=\" <a@x>", "\"=?utf-8?Q?=D0=9F?=\" <a@x>"),
            ("a=?utf-8?Q?b?= =?latin1?Q?c?= d", "a =?utf-8?Q?=62=63?= d"),
            ("=?utf-8?Q??= <a@x>", " <a@x>"),
        ] {
            assert_eq!(joined(value, &latin1), expected, "{value}");
        }
    }
}
