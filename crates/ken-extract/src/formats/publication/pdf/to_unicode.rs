//! The text of a font's codes as its `ToUnicode` entry says (ISO 32000-2, 9.10.3).
//!
//! `hayro-cmap` gives up a map at the first byte that is wrong. Here, what is no mapping is skipped:
//! stray characters, missing ends, wrong counts.

use hayro_syntax::object::{Dict, Name, Stream};

use super::stream::decode;

/// A map is read up to this size.
const MAX_BYTES: usize = 8 << 20;
/// Mappings beyond this number are left out.
const MAX_MAPPINGS: usize = 1 << 20;

/// Codes in sequence, and the UTF-16 text of the first one. The last unit grows with the code.
#[derive(Debug, PartialEq)]
struct Mapping {
    first: u32,
    last: u32,
    text: Box<[u16]>,
}

/// A map from codes to text.
#[derive(Debug, Default)]
pub(super) struct ToUnicode {
    /// The mappings by their first codes.
    mappings: Vec<Mapping>,
    /// Whether the map is called `Identity` and maps nothing: codes are characters.
    pub(super) is_identity: bool,
}

impl ToUnicode {
    /// Reads the map of a font; none if it has none.
    pub(super) fn of_font(font: &Dict<'_>) -> Option<Self> {
        if let Some(name) = font.get::<Name<'_>>(b"ToUnicode") {
            let is_identity = name.starts_with(b"Identity");
            return is_identity.then(|| Self {
                is_identity,
                ..Self::default()
            });
        }
        let stream = font.get::<Stream<'_>>(b"ToUnicode")?;
        Some(Self::parse(&decode(&stream, MAX_BYTES)?))
    }

    fn parse(map: &[u8]) -> Self {
        let mut mappings = Vec::new();
        let mut section = Section::Other;
        let mut codes: Vec<Vec<u8>> = Vec::new();
        let mut tokens = Tokens(map);
        while let Some(token) = tokens.next() {
            if mappings.len() >= MAX_MAPPINGS {
                break;
            }
            match token {
                Token::Word(word) => {
                    codes.clear();
                    section = Section::after(word);
                }
                Token::Hex(_) if section == Section::Other => {}
                Token::Hex(bytes) => codes.push(bytes),
                Token::Open if section == Section::Ranges && codes.len() == 2 => {
                    take_array(&mut tokens, &codes, &mut mappings);
                    codes.clear();
                }
                Token::Open | Token::Close => codes.clear(),
            }
            if codes.len() == section.n_operands() {
                mappings.extend(mapping(&codes));
                codes.clear();
            }
        }
        mappings.sort_by_key(|mapping| mapping.first);
        Self {
            is_identity: mappings.is_empty() && is_identity(map),
            mappings,
        }
    }

    /// Returns the text of a code.
    pub(super) fn text(&self, code: u32) -> Option<String> {
        let end = self
            .mappings
            .partition_point(|mapping| mapping.first <= code);
        let mapping = self.mappings.get(end.checked_sub(1)?)?;
        let (last, before) = mapping.text.split_last()?;
        if code > mapping.last {
            return None;
        }
        let step = u16::try_from(code - mapping.first).ok()?;
        let mut units = before.to_vec();
        units.push(last.wrapping_add(step));
        Some(String::from_utf16_lossy(&units)).filter(|text| text != "\0")
    }

    /// Returns whether a mapping has this character as its first text.
    pub(super) fn begins_with(&self, char: char) -> bool {
        let mut units = [0; 2];
        let units = &*char.encode_utf16(&mut units);
        self.mappings.iter().any(|mapping| &*mapping.text == units)
    }
}

/// Returns whether a map has the name of one that maps codes to themselves.
fn is_identity(map: &[u8]) -> bool {
    let key = b"/CMapName";
    let mut places = memchr::memmem::find_iter(map, key);
    places.any(|place| {
        map[place + key.len()..]
            .trim_ascii_start()
            .starts_with(b"/Identity")
    })
}

/// What the hexadecimal strings between two words are.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    /// A code and its text.
    Chars,
    /// The first code, the last code, and the text of the first one or of each.
    Ranges,
    Other,
}

impl Section {
    /// Returns the section that a word opens. It may be glued to its count.
    fn after(word: &[u8]) -> Self {
        if word.ends_with(b"beginbfchar") {
            Self::Chars
        } else if word.ends_with(b"beginbfrange") {
            Self::Ranges
        } else {
            Self::Other
        }
    }

    fn n_operands(self) -> usize {
        match self {
            Self::Chars => 2,
            Self::Ranges => 3,
            Self::Other => usize::MAX,
        }
    }
}

/// Returns the mapping of a code, or of a range of codes, to the text in the last operand.
fn mapping(operands: &[Vec<u8>]) -> Option<Mapping> {
    let (text, codes) = operands.split_last()?;
    let (first, last) = (number(codes.first()?)?, number(codes.last()?)?);
    let text = units(text);
    (first <= last && !text.is_empty()).then_some(Mapping { first, last, text })
}

/// Reads the texts of a range of codes, one for each.
fn take_array(tokens: &mut Tokens<'_>, codes: &[Vec<u8>], mappings: &mut Vec<Mapping>) {
    let Some(first) = codes.first().and_then(|code| number(code)) else {
        return;
    };
    for code in first..=u32::MAX {
        let Some(Token::Hex(text)) = tokens.next() else {
            return;
        };
        let text = units(&text);
        if !text.is_empty() && mappings.len() < MAX_MAPPINGS {
            let (first, last) = (code, code);
            mappings.push(Mapping { first, last, text });
        }
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    let is_code = (1..=4).contains(&bytes.len());
    let number = bytes
        .iter()
        .fold(0, |code, &byte| code << 8 | u32::from(byte));
    is_code.then_some(number)
}

/// Reads UTF-16. Some files have a single byte.
fn units(bytes: &[u8]) -> Box<[u16]> {
    match bytes {
        [byte] => [u16::from(*byte)].into(),
        bytes => bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&pair| u16::from_be_bytes(pair))
            .collect(),
    }
}

/// What matters in a map. Numbers and strings in parentheses do not.
enum Token<'a> {
    Word(&'a [u8]),
    Hex(Vec<u8>),
    Open,
    Close,
}

/// The rest of a map.
struct Tokens<'a>(&'a [u8]);

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (&byte, rest) = self.0.split_first()?;
            match byte {
                b'[' => return self.skip_to(rest, Token::Open),
                b']' => return self.skip_to(rest, Token::Close),
                b'<' => {
                    self.0 = rest;
                    return Some(Token::Hex(self.hex()));
                }
                b'%' => {
                    let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
                    self.0 = &rest[end.unwrap_or(rest.len())..];
                }
                byte if byte.is_ascii_alphabetic() => return Some(Token::Word(self.word())),
                _ => self.0 = rest,
            }
        }
    }

    fn skip_to(&mut self, rest: &'a [u8], token: Token<'a>) -> Option<Token<'a>> {
        self.0 = rest;
        Some(token)
    }

    fn word(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        word
    }

    /// Reads hexadecimal digits up to `>`; if that is missing, up to `<` or a word.
    fn hex(&mut self) -> Vec<u8> {
        let ends = |byte: &u8| matches!(byte, b'<' | b'>' | b'g'..=b'z');
        let end = self.0.iter().position(ends);
        let (hex, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.strip_prefix(b">").unwrap_or(rest);
        let mut digits = hex.iter().filter_map(|&byte| char::from(byte).to_digit(16));
        let mut bytes = Vec::with_capacity(hex.len() / 2);
        while let Some(high) = digits.next() {
            // A missing last digit is 0.
            bytes.push((high << 4 | digits.next().unwrap_or(0)) as u8);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &str, code: u32) -> Option<String> {
        ToUnicode::parse(map.as_bytes()).text(code)
    }

    #[test]
    fn chars_ranges_and_arrays() {
        let map = "1 begincodespacerange <0000> <FFFF> endcodespacerange \
                   2 beginbfchar <01> <0041> <02> <00660066> endbfchar \
                   2 beginbfrange <10> <1F> <0061> <20> <22> [<0078> <0079007A> <0077>] endbfrange";
        assert_eq!(text(map, 1).as_deref(), Some("A"));
        assert_eq!(text(map, 2).as_deref(), Some("ff"));
        assert_eq!(text(map, 0x12).as_deref(), Some("c"));
        assert_eq!(text(map, 0x21).as_deref(), Some("yz"));
        assert_eq!(text(map, 0x22).as_deref(), Some("w"));
        assert_eq!(text(map, 0x23), None);
        assert_eq!(text(map, 0), None);
    }

    #[test]
    fn what_is_no_mapping_is_skipped() {
        for map in [
            "1 beginbfchar <01> <0041> ) } endbfchar 1 beginbfchar <02> <0042> endbfchar",
            "1beginbfchar <01> <0041>\0\u{1b} <02> <0042>",
            "2 beginbfchar <0 1> <00\n41> <02> <0042\nendbfchar",
            "9 beginbfrange <01> <02> <0041> endbfrange endbfrange (x) /N 1 def ]",
            "beginbfrange <01 <02> <0041> % <03> endbfrange",
        ] {
            assert_eq!(text(map, 1).as_deref(), Some("A"), "{map}");
            assert_eq!(text(map, 2).as_deref(), Some("B"), "{map}");
            assert_eq!(text(map, 3), None, "{map}");
        }
    }
}
