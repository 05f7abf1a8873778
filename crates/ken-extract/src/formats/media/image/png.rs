//! PNG (<https://www.w3.org/TR/png-3/>): chunks with text, EXIF and XMP, before and after the pixels.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;
use ken_core::Field;

use super::{MAX_BLOCK_BYTES, Picture};
use crate::structure::chunks::{Chunks, Layout};
use crate::structure::cursor::Cursor;
use crate::{Error, Input, date, text};

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let mut chunks = Chunks::of_file(input, Layout::Png, 8);
    // Shared by all compressed texts, so that many small ones are no bomb.
    let mut left = MAX_BLOCK_BYTES;
    while let Some(chunk) = chunks.next()? {
        let content = |max_bytes| chunk.content(input, max_bytes);
        match &chunk.kind {
            b"IHDR" => {
                let header = content(8)?;
                let mut header = Cursor(&header);
                if let (Some(width), Some(height)) = (header.be_u32(), header.be_u32()) {
                    picture.enlarge(width.into(), height.into());
                }
            }
            b"tEXt" => plain(&content(MAX_BLOCK_BYTES)?, picture),
            b"zTXt" => compressed(&content(MAX_BLOCK_BYTES)?, &mut left, picture),
            b"iTXt" => international(&content(MAX_BLOCK_BYTES)?, &mut left, picture),
            b"eXIf" => picture.add_exif(&content(MAX_BLOCK_BYTES)?),
            b"IEND" => break,
            _ => {}
        }
    }
    Ok(())
}

/// Reads `tEXt`: keyword, text in Latin-1.
fn plain(content: &[u8], picture: &mut Picture) {
    if let Some((keyword, text)) = split(content) {
        add(keyword, &text::decode(text, Some("windows-1252")), picture);
    }
}

/// Reads `zTXt`: keyword, method, compressed text in Latin-1.
fn compressed(content: &[u8], left: &mut usize, picture: &mut Picture) {
    if let Some((keyword, [0, packed @ ..])) = split(content) {
        let text = inflated(packed, left);
        add(keyword, &text::decode(&text, Some("windows-1252")), picture);
    }
}

/// Reads `iTXt`: keyword, flag, method, language, translated keyword, text in UTF-8.
fn international(content: &[u8], left: &mut usize, picture: &mut Picture) {
    let Some((keyword, [is_compressed, _, rest @ ..])) = split(content) else {
        return;
    };
    let Some((_, text)) = split(rest).and_then(|(_language, rest)| split(rest)) else {
        return;
    };
    let text = match is_compressed {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(inflated(text, left)),
    };
    if keyword == b"XML:com.adobe.xmp" {
        picture.add_xmp(&text);
    } else {
        add(keyword, &text::decode(&text, Some("utf-8")), picture);
    }
}

fn split(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(0, content)?;
    Some((&content[..end], &content[end + 1..]))
}

/// Returns as much of a compressed text as is readable and within the limit.
fn inflated(packed: &[u8], left: &mut usize) -> Vec<u8> {
    let mut text = Vec::new();
    let decoder = ZlibDecoder::new(packed);
    let _ = decoder.take(*left as u64).read_to_end(&mut text);
    *left -= text.len();
    text
}

/// Adds a text by its keyword: those of the specification, and the one for prompts of image
/// generators.
fn add(keyword: &[u8], text: &str, picture: &mut Picture) {
    let field = match keyword {
        b"Title" => Field::Title,
        b"Author" => Field::Author,
        b"Description" | b"Comment" | b"Copyright" | b"Disclaimer" | b"Warning" | b"parameters" => {
            Field::Description
        }
        b"Creation Time" => {
            if let Some(seconds) = date::iso(text)
                .or_else(|| date::exif(text, None))
                .or_else(|| date::mail(text))
            {
                picture.comments.number(Field::Created, seconds);
            }
            return;
        }
        _ => return,
    };
    picture.comments.text(field, text);
}
