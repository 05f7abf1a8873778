//! AVI (Microsoft, AVI RIFF File Reference): the list `hdrl`, and the list `INFO` with texts.

use ken_core::Field;

use super::{FIELDS, MAX_BLOCK_BYTES, add_measures};
use crate::formats::media::audio::{add_date, name_author};
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::chunks::{Chunks, Layout};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("AVI", &["video/x-msvideo"], extract)
    .fields(FIELDS)
    .in_worker()
    .streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut metadata = Metadata::default();
    let mut header = None;
    let mut chunks = Chunks::of_file(input, Layout::Riff, 12);
    while let Some(chunk) = chunks.next()? {
        if &chunk.kind != b"LIST" {
            continue;
        }
        let name = chunk.content(input, 4)?;
        let mut children = chunk.children(input, 4);
        match &*name {
            b"hdrl" => {
                while let Some(child) = children.next()? {
                    if &child.kind == b"avih" {
                        header = measures(&child.content(input, 40)?);
                    }
                }
            }
            b"INFO" => {
                while let Some(child) = children.next()? {
                    let value = child.content(input, MAX_BLOCK_BYTES)?;
                    add(&child.kind, &text::decode(&value, None), &mut metadata);
                }
            }
            _ => {}
        }
    }
    name_author(&mut metadata);
    if let Some((size, seconds)) = header {
        add_measures(&mut metadata, size, seconds);
    }
    metadata.add_to(output.own());
    match header {
        Some(_) => Ok(()),
        None => Err(Error::Malformed("there is no header (avih)".into())),
    }
}

/// Returns width and height, and the length in seconds.
fn measures(content: &[u8]) -> Option<((u64, u64), f64)> {
    let mut header = Cursor(content);
    let frame_us = header.le_u32()?;
    header.take(12)?;
    let n_frames = header.le_u32()?;
    header.take(12)?;
    let (width, height) = (header.le_u32()?, header.le_u32()?);
    let seconds = f64::from(frame_us) * f64::from(n_frames) / 1e6;
    Some(((width.into(), height.into()), seconds))
}

fn add(code: &[u8; 4], text: &str, metadata: &mut Metadata) {
    let text = text.trim_end_matches('\0');
    let field = match code {
        b"INAM" => Field::Title,
        b"IART" => Field::Artist,
        b"IPRD" => Field::Album,
        b"IGNR" => Field::Genre,
        b"IWRI" => Field::Author,
        b"ICMT" | b"ISBJ" => Field::Description,
        b"IKEY" => Field::Keywords,
        b"ILNG" => Field::Lang,
        b"ICRD" => return add_date(metadata, text.trim()),
        _ => return,
    };
    metadata.text(field, text);
}
