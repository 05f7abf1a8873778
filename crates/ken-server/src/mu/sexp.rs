//! S-expressions: requests as Emacs prints them, and answers as it reads them.
//!
//! The supported parts of Lisp are lists, symbols, whole numbers and strings. Strings are bytes, as paths are. Emacs
//! writes a byte that is not text as `\351`. The writer does so too, and reserves 0xFE and 0xFF for frames.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The deepest nesting of lists.
const MAX_DEPTH: usize = 64;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// A name: `find`, `:query`, `nil`, `t`.
    Symbol(String),
    /// A whole number.
    Number(i64),
    /// A string.
    String(Vec<u8>),
    /// A list.
    List(Vec<Self>),
}

/// Why text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SexpError {
    /// A string is not closed; more text may close it.
    #[error("a string is not closed")]
    OpenString,
    /// Anything else.
    #[error("{at}: {message}")]
    Wrong {
        /// The offset in bytes.
        at: usize,
        /// What is wrong.
        message: &'static str,
    },
}

impl Sexp {
    /// Reads the only expression of a text.
    ///
    /// # Errors
    /// Fails if the text is not an expression, or if anything follows it.
    pub fn read(text: &[u8]) -> Result<Self, SexpError> {
        let mut reader = Reader { text, at: 0 };
        let expression = reader.expression(0)?;
        reader.skip_spaces();
        match reader.at == text.len() {
            true => Ok(expression),
            false => Err(reader.wrong("nothing may follow the expression")),
        }
    }

    /// Returns a symbol.
    pub fn symbol(name: &str) -> Self {
        Self::Symbol(name.to_owned())
    }

    /// Returns a string with this text.
    pub fn string(text: impl AsRef<[u8]>) -> Self {
        Self::String(text.as_ref().to_vec())
    }

    /// Returns a string with this path.
    pub fn path(path: &Path) -> Self {
        Self::string(path.as_os_str().as_bytes())
    }

    /// Returns `t` or `nil`.
    pub fn flag(is: bool) -> Self {
        Self::symbol(if is { "t" } else { "nil" })
    }

    /// Returns a number; a number that is too large becomes the largest.
    pub fn number(number: impl TryInto<i64>) -> Self {
        Self::Number(number.try_into().unwrap_or(i64::MAX))
    }

    /// Returns whether the expression is `nil` or the empty list.
    pub fn is_nil(&self) -> bool {
        match self {
            Self::Symbol(name) => name == "nil",
            Self::List(list) => list.is_empty(),
            _ => false,
        }
    }

    /// Returns the text of a string, with replacement characters for bytes that are not text.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// Returns a string as a path.
    pub fn to_path(&self) -> Option<PathBuf> {
        match self {
            Self::String(bytes) => Some(PathBuf::from(OsStr::from_bytes(bytes))),
            _ => None,
        }
    }

    /// Writes the expression in the syntax of Emacs.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Symbol(name) => out.extend_from_slice(name.as_bytes()),
            Self::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::String(bytes) => write_string(bytes, out),
            Self::List(list) => {
                out.push(b'(');
                for (position, element) in list.iter().enumerate() {
                    if position > 0 {
                        out.push(b' ');
                    }
                    element.write(out);
                }
                out.push(b')');
            }
        }
    }

    /// Returns the expression in the syntax of Emacs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    /// Returns the expression in a frame of `mu server`: the number of bytes in hexadecimal digits between two bytes
    /// that text never has, then the expression and a line end.
    pub fn frame(&self) -> Vec<u8> {
        let mut content = self.to_bytes();
        content.push(b'\n');
        let mut frame = vec![0xfe];
        frame.extend_from_slice(format!("{:x}", content.len()).as_bytes());
        frame.push(0xff);
        frame.extend_from_slice(&content);
        frame
    }
}

fn write_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                // A NUL would end the string for a reader of C strings.
                0 => out.extend_from_slice(b"\\000"),
                _ => out.push(byte),
            }
        }
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
    out.push(b'"');
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn expression(&mut self, depth: usize) -> Result<Sexp, SexpError> {
        self.skip_spaces();
        match self.peek() {
            None => Err(self.wrong("an expression is missing")),
            Some(b'(') if depth == MAX_DEPTH => Err(self.wrong("too many lists within lists")),
            Some(b'(') => self.list(depth),
            Some(b')') => Err(self.wrong("there is no list to close")),
            Some(b'"') => self.string(),
            Some(_) => self.atom(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Sexp, SexpError> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.skip_spaces();
            match self.peek() {
                None => return Err(self.wrong("a list is not closed")),
                Some(b')') => {
                    self.at += 1;
                    return Ok(Sexp::List(list));
                }
                Some(_) => list.push(self.expression(depth + 1)?),
            }
        }
    }

    fn string(&mut self) -> Result<Sexp, SexpError> {
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let byte = self.next().ok_or(SexpError::OpenString)?;
            match byte {
                b'"' => return Ok(Sexp::String(bytes)),
                b'\\' => self.escape(&mut bytes)?,
                _ => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), SexpError> {
        let byte = self.next().ok_or(SexpError::OpenString)?;
        match byte {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'f' => bytes.push(0x0c),
            b'e' => bytes.push(0x1b),
            // An escaped space or line end is left out.
            b' ' | b'\n' => {}
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    match self.peek() {
                        Some(digit @ b'0'..=b'7') => value = value * 8 + u32::from(digit - b'0'),
                        _ => break,
                    }
                    self.at += 1;
                }
                bytes.push((value & 0xff) as u8);
            }
            byte => bytes.push(byte),
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<Sexp, SexpError> {
        let start = self.at;
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"()\"".contains(&byte);
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]);
        let text = text.map_err(|_| self.wrong("a symbol is no text"))?;
        Ok(match text.parse() {
            Ok(number) => Sexp::Number(number),
            Err(_) => Sexp::symbol(text),
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn wrong(&self, message: &'static str) -> SexpError {
        SexpError::Wrong {
            at: self.at,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(elements: impl IntoIterator<Item = Sexp>) -> Sexp {
        Sexp::List(elements.into_iter().collect())
    }

    #[test]
    fn requests_of_emacs_are_read() {
        let request = br#" (find :query "\"a \\ b\" c" :maxnum 500 :threads t :x nil (1 -2) ()) "#;
        let expected = list([
            Sexp::symbol("find"),
            Sexp::symbol(":query"),
            Sexp::string("\"a \\ b\" c"),
            Sexp::symbol(":maxnum"),
            Sexp::Number(500),
            Sexp::symbol(":threads"),
            Sexp::symbol("t"),
            Sexp::symbol(":x"),
            Sexp::symbol("nil"),
            list([Sexp::Number(1), Sexp::Number(-2)]),
            list([]),
        ]);
        assert_eq!(Sexp::read(request), Ok(expected));
        let bytes = Sexp::read(br#""caf\351 \n\x""#).unwrap();
        assert_eq!(bytes, Sexp::string(b"caf\xe9 \nx"));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_position() {
        for (text, at, message) in [
            ("", 0, "an expression is missing"),
            ("(a", 2, "a list is not closed"),
            (")", 0, "there is no list to close"),
            ("a b", 2, "nothing may follow the expression"),
        ] {
            let wrong = SexpError::Wrong { at, message };
            assert_eq!(Sexp::read(text.as_bytes()), Err(wrong), "{text}");
        }
        for text in ["\"a", "(a \"b\\", "(\"\n"] {
            assert_eq!(Sexp::read(text.as_bytes()), Err(SexpError::OpenString));
        }
        let deep = "(".repeat(1_000_000);
        assert!(Sexp::read(deep.as_bytes()).is_err());
    }

    #[test]
    fn frames_give_their_length() {
        let pong = list([Sexp::symbol(":erase"), Sexp::flag(true)]);
        assert_eq!(pong.frame(), b"\xfeb\xff(:erase t)\n");
        let path = Sexp::string(b"/m/caf\xe9\xff").frame();
        assert_eq!(path, b"\xfe11\xff\"/m/caf\\351\\377\"\n");
    }

    fn any_sexp() -> impl Strategy<Value = Sexp> {
        let leaf = prop_oneof![
            "[a-z:*-]{1,6}".prop_map(|name| Sexp::symbol(&name)),
            any::<i64>().prop_map(Sexp::Number),
            proptest::collection::vec(any::<u8>(), 0..12).prop_map(Sexp::String),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            proptest::collection::vec(inner, 0..6).prop_map(Sexp::List)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(sexp in any_sexp()) {
            let bytes = sexp.to_bytes();
            prop_assert!(std::str::from_utf8(&bytes).is_ok());
            prop_assert_eq!(Sexp::read(&bytes), Ok(sexp));
        }

        #[test]
        fn anything_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Sexp::read(&bytes);
        }
    }
}
