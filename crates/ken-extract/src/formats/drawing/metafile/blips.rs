//! Metafiles within the streams of Word, Excel and PowerPoint before 2007: records of OfficeArt, mostly compressed (MS-ODRAW 2.2.24 and
//! 2.2.25).

use std::collections::HashSet;
use std::io::Read;

use flate2::read::ZlibDecoder;
use ken_core::Document;

use super::text_of;
use crate::Limits;
use crate::expansion::max_expanded;
use crate::structure::cursor::Cursor;

/// More bytes than the texts of all diagrams have.
const MAX_TEXT_BYTES: usize = 1 << 20;
const HEADER_BYTES: usize = 34;
const IS_DEFLATED: u8 = 0;

/// Adds the texts of the metafiles in a stream behind the body of a document, each once.
pub(crate) fn add_texts(stream: &[u8], limits: &Limits, document: &mut Document) {
    add_texts_but(|_| false, stream, limits, document);
}

/// Does the same without the pictures that begin at certain offsets.
pub(crate) fn add_texts_but(
    is_left_out: impl Fn(usize) -> bool,
    stream: &[u8],
    limits: &Limits,
    document: &mut Document,
) {
    let mut seen = HashSet::new();
    let mut left = limits
        .max_text_bytes
        .saturating_sub(document.body.len())
        .min(MAX_TEXT_BYTES);
    // Records do not overlap, so that all of them expand no further than the stream may.
    let mut end = 0;
    for at in memchr::memchr_iter(0xf0, stream) {
        if at < end {
            continue;
        }
        let Some((picture, after)) = metafile(stream, at, limits) else {
            continue;
        };
        end = after;
        if is_left_out(at - 3) {
            continue;
        }
        let text = text_of(&picture, left);
        if !text.is_empty() && !seen.contains(&text) && text.len() <= left {
            left -= text.len();
            if !document.body.is_empty() {
                document.body.push('\n');
            }
            document.body.push_str(&text);
            seen.insert(text);
        }
    }
}

/// Returns the metafile whose record has the second byte of its type here, and where the record ends.
fn metafile(stream: &[u8], at: usize, limits: &Limits) -> Option<(Vec<u8>, usize)> {
    let mut record = Cursor(stream.get(at.checked_sub(3)?..)?);
    let instance = record.le_u16()?;
    let n_hashes = match (record.le_u16()?, instance) {
        (0xf01a, 0x3d40) | (0xf01b, 0x2160) => 1,
        (0xf01a, 0x3d50) | (0xf01b, 0x2170) => 2,
        _ => return None,
    };
    let length = record.le_u32()? as usize;
    let mut data = Cursor(record.take(length)?);
    let end = at + 5 + length;
    data.take(16 * n_hashes)?;
    let header = data.take(HEADER_BYTES)?;
    if header[32] != IS_DEFLATED {
        return Some((data.0.to_vec(), end));
    }
    let max = max_expanded(data.0.len() as u64, limits.max_expansion).min(limits.max_member_bytes);
    let mut picture = Vec::new();
    // Of a damaged one, the part before the damage.
    let _ = ZlibDecoder::new(data.0).take(max).read_to_end(&mut picture);
    Some((picture, end))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ken_core::{Ipath, Kind};

    use super::*;

    const PICTURE: &[u8] = include_bytes!("../../../../tests/data/drawing/pump.emf");

    fn record(instance: u16, content: &[u8], is_deflated: bool) -> Vec<u8> {
        let mut data = vec![1; 16 + HEADER_BYTES];
        data[16 + 32] = if is_deflated { IS_DEFLATED } else { 0xfe };
        data.extend(content);
        let length = (data.len() as u32).to_le_bytes();
        [
            &instance.to_le_bytes()[..],
            &0xf01a_u16.to_le_bytes(),
            &length,
            &data,
        ]
        .concat()
    }

    #[test]
    fn texts_of_pictures_stand_once_behind_the_body() {
        let level = flate2::Compression::fast();
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(PICTURE).unwrap();
        let packed = encoder.finish().unwrap();
        let stream = [
            b"junk\xf0".to_vec(),
            record(0x3d40, PICTURE, false),
            record(0x3d40, &packed, true),
            record(0x1234, PICTURE, false),
        ]
        .concat();
        let mut document = Document::new(Ipath::root(), "application/msword", Kind::Document);
        document.body = "before".to_owned();
        let second = 5 + record(0x3d40, PICTURE, false).len();
        add_texts_but(
            |at| at == 5,
            &stream[..second],
            &Limits::default(),
            &mut document,
        );
        assert_eq!(document.body, "before");
        add_texts(&stream, &Limits::default(), &mut document);
        assert_eq!(document.body, "before\nPump house north\nValve closed");
        for end in 0..stream.len() {
            add_texts(&stream[..end], &Limits::default(), &mut document);
        }
    }
}
