//! The File Information Block, with the offsets of everything else (MS-DOC 2.5).

use crate::Error;

/// First version number of Word 97 and later.
const WORD_97: u16 = 105;

/// Language number of Chinese, which has two variants.
pub(super) const CHINESE: u16 = 0x04;

/// A range of the table stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableRange {
    pub(super) at: usize,
    pub(super) length: usize,
}

impl TableRange {
    /// Returns the bytes of this range, if all are present.
    pub(super) fn of(self, table: &[u8]) -> Option<&[u8]> {
        table.get(self.at..self.at.checked_add(self.length)?)
    }
}

/// The values of the block that are needed to read the text.
pub(super) struct Fib {
    pub(super) is_word_97: bool,
    /// Whether characters of Word 95 take two bytes, as in East Asia.
    pub(super) is_double_byte: bool,
    /// Whether the text is in pieces.
    pub(super) has_pieces: bool,
    /// Whether Word 6 or 95 of the Macintosh wrote the file.
    pub(super) is_of_mac: bool,
    /// Language of the text, which determines the code page of Word 6 and 95.
    pub(super) language: u16,
    /// Start and end of the text if it is not in pieces.
    pub(super) text_start: usize,
    pub(super) text_end: usize,
    /// Lengths of the parts of the text in characters: pages, footnotes, headers, macros, comments,
    /// endnotes, text boxes, text boxes of headers.
    pub(super) lengths: [usize; 8],
    pub(super) pieces: TableRange,
    pub(super) sections: TableRange,
    /// The pages with the properties of characters, and of paragraphs; empty before Word 97.
    pub(super) character_pages: TableRange,
    pub(super) paragraph_pages: TableRange,
    /// What is known of comments, where their texts begin, and their authors; empty before Word 97.
    pub(super) comments: TableRange,
    pub(super) comment_texts: TableRange,
    pub(super) comment_authors: TableRange,
}

/// Returns the stream with the tables; in Word 6 and 95 it is the main stream.
pub(super) fn table_of(main: &[u8]) -> Option<&'static str> {
    let is_word_97 = u16::from_le_bytes(*main.get(2..)?.first_chunk()?) > WORD_97;
    let is_second = main.get(11)? & 2 != 0;
    is_word_97.then_some(if is_second { "1Table" } else { "0Table" })
}

impl Fib {
    pub(super) fn read(main: &[u8]) -> Result<Self, Error> {
        Self::parse(main).ok_or_else(|| Error::Malformed("the header is cut off".into()))?
    }

    fn parse(main: &[u8]) -> Option<Result<Self, Error>> {
        let short = |at: usize| Some(u16::from_le_bytes(*main.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u32::from_le_bytes(*main.get(at..)?.first_chunk()?) as usize);
        if !matches!(short(0)?, 0xa5ec | 0xa5dc | 0xa697..=0xa699) {
            return Some(Err(Error::unsupported(
                "ken does not read documents older than Word 6",
            )));
        }
        let flags = short(10)?;
        let is_word_97 = short(2)? > WORD_97;
        let range = |at: usize| {
            Some(TableRange {
                at: long(at)?,
                length: long(at + 4)?,
            })
        };
        let first_length = if is_word_97 { 0x4c } else { 0x34 };
        let mut lengths = [0; 8];
        for (number, length) in lengths.iter_mut().enumerate() {
            *length = long(first_length + 4 * number)?.min(i32::MAX as usize);
        }
        let (pieces, sections) = match is_word_97 {
            true => (range(0x1a2)?, range(0xca)?),
            false => (range(0x160)?, range(0x88)?),
        };
        let since_97 = |at: usize| match is_word_97 {
            true => range(at).unwrap_or_default(),
            false => TableRange::default(),
        };
        Some(Ok(Self {
            is_word_97,
            is_double_byte: !is_word_97 && flags & 0x1000 != 0,
            is_of_mac: !is_word_97 && main.get(0x12) == Some(&1),
            has_pieces: is_word_97 || flags & 4 != 0,
            // East Asian versions have a number of their own.
            language: match short(0)? {
                0xa697 => 0x411,
                0xa698 => 0x412,
                0xa699 => CHINESE,
                _ => short(6)?,
            },
            text_start: long(0x18)?,
            text_end: long(0x1c)?,
            lengths,
            pieces,
            sections,
            character_pages: since_97(0xfa),
            paragraph_pages: since_97(0x102),
            comments: since_97(0xba),
            comment_texts: since_97(0xc2),
            comment_authors: since_97(0x1ba),
        }))
    }

    /// Returns the length of the whole text in characters.
    pub(super) fn n_characters(&self) -> usize {
        self.lengths.iter().sum()
    }
}
