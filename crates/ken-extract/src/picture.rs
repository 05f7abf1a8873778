//! What is drawn of a document, in the words of all who draw, send and keep it: the order, and its
//! result as plain bytes.

use std::ops::Range;

/// Pictures are not wider than this number of pixels.
pub const MAX_WIDTH: u32 = 4_096;
/// The name of what draws, in failures.
pub(crate) const NAME: &str = "picture";

/// How a picture is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

/// A picture that ken made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// How the bytes are encoded.
    pub encoding: Encoding,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The encoded picture.
    pub bytes: Vec<u8>,
}

/// The text of a page as extraction finds it, and where its words are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageText {
    /// The text.
    pub text: String,
    /// The words that have a place, in the order of the text.
    pub words: Vec<PlacedWord>,
}

/// A word, or one of the two parts of a word that is hyphenated at the end of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedWord {
    /// The bytes of [`PageText::text`] that are this word.
    pub range: Range<usize>,
    /// The place of the word.
    pub area: Area,
}

/// A rectangle of a page, in fractions of the page's width and height, from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Distance from the left edge.
    pub left: f32,
    /// Distance from the top edge.
    pub top: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

/// What is to be made of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// A picture of a page, counted from 0.
    Page { page: u32, width: u32 },
    /// A small picture of the document.
    Thumbnail { width: u32 },
    /// The text of a page, counted from 0, with the places of its words.
    Text { page: u32 },
}

/// What was made of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawn {
    Picture(Picture),
    Text(PageText),
}

impl Order {
    /// Returns the order as numbers.
    pub(crate) fn to_numbers(self) -> [u32; 3] {
        match self {
            Self::Page { page, width } => [1, page, width],
            Self::Thumbnail { width } => [2, 0, width],
            Self::Text { page } => [3, page, 0],
        }
    }

    /// Reads what [`Order::to_numbers`] returned.
    pub(crate) fn from_numbers(numbers: [u32; 3]) -> Option<Self> {
        match numbers {
            [1, page, width] => Some(Self::Page { page, width }),
            [2, _, width] => Some(Self::Thumbnail { width }),
            [3, page, _] => Some(Self::Text { page }),
            _ => None,
        }
    }
}

/// Length of the width and height before the encoded picture.
const SIZE_BYTES: usize = 8;

impl Picture {
    /// Returns the picture as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE_BYTES + self.bytes.len());
        bytes.extend_from_slice(&self.width.to_le_bytes());
        bytes.extend_from_slice(&self.height.to_le_bytes());
        bytes.extend_from_slice(&self.bytes);
        bytes
    }

    /// Reads what [`Picture::to_bytes`] returned; returns none for anything else.
    pub(crate) fn from_bytes(mut bytes: Vec<u8>) -> Option<Self> {
        let (width, rest) = bytes.split_first_chunk()?;
        let (height, rest) = rest.split_first_chunk()?;
        let encoding = Encoding::of(rest)?;
        let [width, height] = [width, height].map(|number| u32::from_le_bytes(*number));
        bytes.drain(..SIZE_BYTES);
        Some(Self {
            encoding,
            width,
            height,
            bytes,
        })
    }
}

impl Encoding {
    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Returns the encoding of a picture by its first bytes.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            _ => None,
        }
    }
}
