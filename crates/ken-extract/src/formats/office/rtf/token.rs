//! Splits RTF into tokens: groups, control words and symbols, text, binary data.

/// A piece of RTF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word and its number.
    Word(&'a [u8], Option<i32>),
    /// A backslash and a character that is not a letter.
    Symbol(u8),
    /// A byte as two digits.
    Byte(u8),
    /// Text in the code page of its font, without line ends, which have no meaning.
    Text(&'a [u8]),
    /// Binary data: of a picture or an object.
    Binary(&'a [u8]),
}

/// The tokens of an RTF file.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

/// Maximum length of a control word.
const MAX_WORD_BYTES: usize = 32;
/// Maximum number of digits; more are an attack.
const MAX_DIGITS: usize = 10;

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the next token; none at the end.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (&first, after) = self.rest.split_first()?;
            match first {
                b'{' => return self.go(after, Token::Open),
                b'}' => return self.go(after, Token::Close),
                b'\r' | b'\n' | 0 => self.rest = after,
                b'\\' => {
                    if let Some(token) = self.control(after) {
                        return Some(token);
                    }
                }
                _ => return Some(self.text()),
            }
        }
    }

    fn go(&mut self, rest: &'a [u8], token: Token<'a>) -> Option<Token<'a>> {
        self.rest = rest;
        Some(token)
    }

    fn text(&mut self) -> Token<'a> {
        let is_end = |byte: &u8| matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0);
        let end = self.rest.iter().position(is_end);
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Token::Text(text)
    }

    /// Reads the token after a backslash; half a byte yields none.
    fn control(&mut self, after: &'a [u8]) -> Option<Token<'a>> {
        let Some((&first, rest)) = after.split_first() else {
            self.rest = after;
            return None;
        };
        if first.is_ascii_alphabetic() {
            return self.word(after);
        }
        self.rest = rest;
        if first != b'\'' {
            return Some(Token::Symbol(first));
        }
        let digit = |at: usize| rest.get(at).and_then(|&byte| (byte as char).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return None;
        };
        self.rest = &rest[2..];
        Some(Token::Byte((high * 16 + low) as u8))
    }

    fn word(&mut self, after: &'a [u8]) -> Option<Token<'a>> {
        let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
        let length = after
            .iter()
            .take(MAX_WORD_BYTES)
            .take_while(is_letter)
            .count();
        let (word, mut rest) = after.split_at(length);
        let number = number(&mut rest);
        rest = rest.strip_prefix(b" ").unwrap_or(rest);
        if word == b"bin" {
            let n_bytes = number.unwrap_or(0).max(0) as usize;
            let (data, rest) = rest.split_at(n_bytes.min(rest.len()));
            self.rest = rest;
            return Some(Token::Binary(data));
        }
        self.rest = rest;
        Some(Token::Word(word, number))
    }
}

/// Reads the number of a control word, if there is one.
fn number(rest: &mut &[u8]) -> Option<i32> {
    let (is_negative, digits) = match rest.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, *rest),
    };
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let length = digits.iter().take(MAX_DIGITS).take_while(is_digit).count();
    let value: i64 = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
    *rest = &digits[length..];
    let value = if is_negative { -value } else { value };
    Some(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_sort() {
        let mut tokens = Tokens::new(b"{\\rtf1\\u-3 x\r\ny\\'e4\\~\\bin3 }}}\\b0z\\'q}\\");
        let mut found = Vec::new();
        while let Some(token) = tokens.next() {
            found.push(token);
        }
        let expected = [
            Token::Open,
            Token::Word(b"rtf", Some(1)),
            Token::Word(b"u", Some(-3)),
            Token::Text(b"x"),
            Token::Text(b"y"),
            Token::Byte(0xe4),
            Token::Symbol(b'~'),
            Token::Binary(b"}}}"),
            Token::Word(b"b", Some(0)),
            Token::Text(b"z"),
            Token::Text(b"q"),
            Token::Close,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_are_bounded() {
        let mut tokens = Tokens::new(b"\\a9999999999 \\bin99999 rest");
        assert_eq!(tokens.next(), Some(Token::Word(b"a", Some(i32::MAX))));
        assert_eq!(tokens.next(), Some(Token::Binary(b"rest")));
        assert_eq!(tokens.next(), None);
    }
}
