//! What is to be drawn, and what was drawn, as plain bytes for a worker and for the cache.

use super::{Encoding, PageText, Picture};

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
    /// Returns the encoding of a picture by its first bytes.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            _ => None,
        }
    }
}
