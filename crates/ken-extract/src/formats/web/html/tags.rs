//! Parses tags: their ends, names and attributes (HTML 13.2.5.6 to 40).

/// The attributes of a tag, one after the other; after the last one, `at` is behind the tag.
pub(super) struct Attributes<'t> {
    text: &'t str,
    /// The current position; the text's length if it ends within the tag.
    pub(super) at: usize,
    /// Whether the tag ended with `/>`.
    pub(super) is_self_closing: bool,
    /// Whether the tag was ended by `>`, not by the end of the text.
    pub(super) is_complete: bool,
}

impl<'t> Attributes<'t> {
    /// Returns the attributes of the tag whose name ends at `at`.
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            is_self_closing: false,
            is_complete: false,
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        self.skip(SPACE);
    }

    /// Skips the bytes of these classes.
    #[inline]
    fn skip(&mut self, classes: u8) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_other = |byte: &u8| CLASS[usize::from(*byte)] & classes == 0;
        self.at += rest.iter().position(is_other).unwrap_or(rest.len());
    }

    fn name(&mut self) -> &'t str {
        let start = self.at;
        // A `=` that begins a name belongs to it.
        self.at += 1;
        self.skip(OTHER);
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn value(&mut self) -> &'t str {
        self.skip_space();
        let bytes = self.text.as_bytes();
        let Some(first) = self.byte() else {
            return "";
        };
        if let quote @ (b'"' | b'\'') = first {
            let start = self.at + 1;
            let end = memchr::memchr(quote, &bytes[start..]).map(|length| start + length);
            self.at = end.map_or(bytes.len(), |end| end + 1);
            return &self.text[start..end.unwrap_or(bytes.len())];
        }
        let start = self.at;
        self.skip(OTHER | NO_NAME);
        &self.text[start..self.at]
    }
}

impl<'t> Iterator for Attributes<'t> {
    /// Name and raw value.
    type Item = (&'t str, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.skip_space();
            match self.byte()? {
                b'/' => {
                    self.at += 1;
                    self.is_self_closing = self.byte() == Some(b'>');
                }
                b'>' => {
                    self.at += 1;
                    self.is_complete = true;
                    // There is nothing after the end, so later calls must stop here too.
                    self.text = &self.text[..self.at];
                    return None;
                }
                _ => break,
            }
        }
        let name = self.name();
        self.skip_space();
        if self.byte() != Some(b'=') {
            return Some((name, ""));
        }
        self.at += 1;
        Some((name, self.value()))
    }
}

/// Classes of bytes within a tag, as bits: white space, bytes that end names but not values, the
/// end of the tag, anything else.
const SPACE: u8 = 1;
const NO_NAME: u8 = 2;
const END: u8 = 4;
const OTHER: u8 = 8;

/// The class of each byte.
const CLASS: [u8; 256] = {
    let mut class = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        if is_space(byte as u8) {
            class[byte] = SPACE;
        }
        byte += 1;
    }
    class[b'/' as usize] = NO_NAME;
    class[b'=' as usize] = NO_NAME;
    class[b'>' as usize] = END;
    class
};

/// Returns whether a byte is white space as defined by HTML.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Returns the end of a tag's name that starts at `at`.
pub(super) fn name_end(text: &[u8], at: usize) -> usize {
    let length = text[at..]
        .iter()
        .take_while(|&&byte| !is_space(byte) && byte != b'/' && byte != b'>')
        .count();
    at + length
}

/// Returns the end (after the `>`) of a comment whose text starts at `at` (13.2.5.43 to 52).
pub(super) fn comment_end(text: &[u8], at: usize) -> usize {
    for end in memchr::memchr_iter(b'>', &text[at..]) {
        let content = &text[at..at + end];
        if matches!(content, b"" | b"-") || content.ends_with(b"--") || content.ends_with(b"--!") {
            return at + end + 1;
        }
    }
    text.len()
}

/// Returns the start of the end tag of a raw text element (`</name` and a delimiter), or the length
/// of the text.
pub(super) fn raw_end(text: &[u8], at: usize, name: &[u8]) -> usize {
    memchr::memmem::find_iter(&text[at..], b"</")
        .map(|found| at + found)
        .find(|&found| is_tag(text, found + 2, name))
        .unwrap_or(text.len())
}

/// Does the same as [`raw_end`] for scripts: inside `<!--`, a nested `<script>` hides one end tag
/// (13.2.5.20).
pub(super) fn script_end(text: &[u8], at: usize) -> usize {
    let mut position = at;
    let (mut escaped, mut nested) = (false, false);
    // The end of `<!--`: its dashes may also belong to `-->`.
    while let Some(found) = memchr::memchr2(b'<', b'>', &text[position..]) {
        let found = position + found;
        let after = &text[found..];
        position = found + 1;
        if text[found] == b'>' {
            if escaped && text[at..found].ends_with(b"--") {
                (escaped, nested) = (false, false);
            }
        } else if !escaped && after.starts_with(b"<!--") {
            escaped = true;
            position = found + 4;
        } else if after.starts_with(b"</") && is_tag(text, found + 2, b"script") {
            if !nested {
                return found;
            }
            nested = false;
        } else if escaped && !nested && is_tag(text, found + 1, b"script") {
            nested = true;
        }
    }
    text.len()
}

fn is_tag(text: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    text.get(at..end)
        .is_some_and(|found| found.eq_ignore_ascii_case(name))
        && text
            .get(end)
            .is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(tag: &str) -> (Vec<(&str, &str)>, usize, bool) {
        let mut attributes = Attributes::new(tag, 0);
        let all = attributes.by_ref().collect();
        (all, attributes.at, attributes.is_complete)
    }

    #[test]
    fn attributes_in_all_quotings() {
        let (all, at, complete) = attributes(" a=1 b='x>y' c = \"z'\" d e=f'g/h >text");
        let expected = [
            ("a", "1"),
            ("b", "x>y"),
            ("c", "z'"),
            ("d", ""),
            ("e", "f'g/h"),
        ];
        assert_eq!(all, expected);
        assert!(complete);
        assert_eq!(at, 33);
    }

    #[test]
    fn odd_attributes() {
        assert_eq!(attributes(" =x=1>").0, [("=x", "1")]);
        assert_eq!(attributes(" a\"b=1>").0, [("a\"b", "1")]);
        assert_eq!(attributes("/a/>").0, [("a", "")]);
        assert_eq!(attributes(" a=>").0, [("a", "")]);
        assert_eq!(
            attributes(" a='never ends>"),
            (vec![("a", "never ends>")], 15, false)
        );
        assert!(!attributes(" a=").2);
        assert!(!attributes("").2);
    }

    #[test]
    fn comments_end_as_in_browsers() {
        for (text, rest) in [
            ("-->x", "x"),
            ("a>b-->x", "x"),
            (">x", "x"),
            ("->x", "x"),
            ("a--!>x", "x"),
            ("a-- >x", ""),
            ("never", ""),
        ] {
            assert_eq!(&text[comment_end(text.as_bytes(), 0)..], rest, "{text}");
        }
    }

    #[test]
    fn raw_elements_end_at_their_own_tag() {
        let of = |text: &str| raw_end(text.as_bytes(), 0, b"style");
        assert_eq!(of("a</styles></b></STYLE >"), 14);
        assert_eq!(of("never"), 5);
        let script = |text: &'static str| &text[script_end(text.as_bytes(), 0)..];
        assert_eq!(script("if (a</b) '</scripty>'</script>x"), "</script>x");
        assert_eq!(
            script("<!-- <script> </script> --> </script>x"),
            "</script>x"
        );
        assert_eq!(script("<!-- <script> </script> </script>x"), "</script>x");
        assert_eq!(script("<!-- </script>x"), "</script>x");
        assert_eq!(script("never"), "");
    }
}
