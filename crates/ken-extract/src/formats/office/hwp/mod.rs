//! Documents of Hangul (Hancom Office): HWP 5, records in a compound file, and HWPX (KS X 6101), XML in a zip archive.
//!
//! Both have sections of paragraphs, in which notes, tables and boxes are anchored.

mod distributed;
mod record;
mod section;
mod xml;

pub(in crate::formats) use xml::FORMAT as HWPX;

use ken_core::Encryption;

use crate::expansion::max_expanded;
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::compound::{self, Compound, EntryId, ROOT, objects, summary};
use crate::{Error, Format, Input, Limits, Member};
use section::SectionReader;

use std::io::Read;

use flate2::read::DeflateDecoder;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("HWP", &["application/x-hwp"], extract)
    .fields(compound::FIELDS)
    .sections("page breaks")
    .members("embedded files")
    .in_worker();

/// Flags of the header (HWP 5.0, 3.2.1).
const IS_COMPRESSED: u32 = 0x01;
const HAS_PASSWORD: u32 = 0x02;
const IS_DISTRIBUTED: u32 = 0x04;
const HAS_RIGHTS: u32 = 0x10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    if !objects::is_compound(&input.head()?) {
        return Err(Error::unsupported("HWP before version 5"));
    }
    let file = Compound::open(input.bytes(limits)?)?;
    summary::read_named(&file, "\u{5}HwpSummaryInformation", output.own());
    let flags = file
        .stream(ROOT, "FileHeader")
        .and_then(|header| Some(u32::from_le_bytes(*header.get(36..)?.first_chunk()?)))
        .ok_or_else(|| Error::Malformed("there is no stream FileHeader".into()))?;
    if flags & HAS_PASSWORD != 0 {
        return Err(Error::sealed(Encryption::UnknownMethod));
    }
    if flags & HAS_RIGHTS != 0 {
        return Err(Error::sealed(Encryption::Rights));
    }
    let unpack = Unpack {
        is_compressed: flags & IS_COMPRESSED != 0,
        limits,
    };
    let mut reader = SectionReader::new(Body::new(limits.max_text_bytes));
    let is_distributed = flags & IS_DISTRIBUTED != 0;
    let storage = if is_distributed {
        "ViewText"
    } else {
        "BodyText"
    };
    let mut is_whole = true;
    for section in sections(&file, storage)? {
        let mut stream = file.read(section);
        if is_distributed {
            stream = distributed::decrypted(&stream).unwrap_or_default();
        }
        let (records, is_unpacked) = unpack.unpacked(&stream);
        is_whole &= reader.read(&records) && is_unpacked && !records.is_empty();
        if reader.is_full() {
            break;
        }
    }
    output.own().body = reader.finish();
    hand_on_objects(&file, unpack, output)?;
    if !is_whole {
        return Err(Error::Malformed("a section is damaged".into()));
    }
    file.finish()
}

/// Returns the text of a section's records.
#[cfg(any(fuzzing, test))]
pub(crate) fn text_of_section(records: &[u8], max_bytes: usize) -> String {
    let mut reader = SectionReader::new(Body::new(max_bytes));
    reader.read(records);
    reader.finish()
}

/// Returns the streams of the sections, in order.
fn sections(file: &Compound<'_>, storage: &str) -> Result<Vec<EntryId>, Error> {
    let storage = file
        .find(ROOT, storage)
        .ok_or_else(|| Error::Malformed(format!("there is no storage {storage}")))?;
    let number = |id: &EntryId| file.name(*id).strip_prefix("Section")?.parse::<u32>().ok();
    let mut sections: Vec<EntryId> = file.children(storage).to_vec();
    sections.retain(|id| number(id).is_some());
    sections.sort_by_key(|id| number(id));
    Ok(sections)
}

/// How streams are stored.
#[derive(Clone, Copy)]
struct Unpack<'l> {
    is_compressed: bool,
    limits: &'l Limits,
}

impl Unpack<'_> {
    /// Returns the content of a stream as far as it can be read, and whether that is all.
    fn unpacked(self, stream: &[u8]) -> (Vec<u8>, bool) {
        if !self.is_compressed {
            return (stream.to_vec(), true);
        }
        let max = max_expanded(stream.len() as u64, self.limits.max_expansion)
            .min(self.limits.max_member_bytes);
        let mut content = Vec::new();
        let result = DeflateDecoder::new(stream)
            .take(max)
            .read_to_end(&mut content);
        let is_whole = result.is_ok() && (content.len() as u64) < max;
        (content, is_whole)
    }
}

/// Hands on objects of OLE; pictures are left out.
fn hand_on_objects(
    file: &Compound<'_>,
    unpack: Unpack<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let Some(storage) = file.find(ROOT, "BinData") else {
        return Ok(());
    };
    for &id in file.children(storage) {
        let name = file.name(id);
        if !file.is_stream(id) || !name.to_ascii_lowercase().ends_with(".ole") {
            continue;
        }
        let (content, _) = unpack.unpacked(&file.read(id));
        // A length precedes the compound file.
        let Some(object) = objects::compound_within(&content) else {
            continue;
        };
        if let Some((own, bytes)) = objects::of_file(object) {
            output.unpacked(content.len() as u64)?;
            output.member(Member {
                ipath: output.child_ipath(name),
                name: own,
                bytes,
                ..Member::default()
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
