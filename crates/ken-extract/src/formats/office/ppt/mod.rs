//! PowerPoint presentations before 2007 (.ppt): MS-PPT, of PowerPoint 97 to 2003, and the text of PowerPoint 95.
//!
//! The stream `PowerPoint Document` is a tree of records. Each save appends the changed parts and a
//! table of current offsets, so slides are found by the newest of these tables. If the tables are
//! damaged, all slides in the stream are read, in stream order.

mod encryption;
mod previews;
mod record;
mod slide;
mod tables;

use std::collections::HashSet;
use std::io::Read;

use flate2::read::DeflateDecoder;
use ken_core::{Field, Setting};

use crate::expansion::max_expanded;
use crate::formats::Format;
use crate::formats::drawing::metafile::blips;
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::compound::ROOT;
use crate::structure::compound::{self, Compound, objects, summary};
use crate::text::code_page::{self, WESTERN};
use crate::text::names;
use crate::{Error, Input, Limits, Member};
use record::{Record, records};
use tables::Tables;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("PowerPoint 97", &["application/vnd.ms-powerpoint"], extract)
        .fields(compound::FIELDS)
        .sections("slides")
        .members("embedded files, numbered from 1")
        .in_worker()
        .version(10);

/// An embedded object.
const OBJECT: u16 = 0x1011;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let file = Compound::open(input.bytes(limits)?)?;
    summary::read(&file, output.own());
    // A file for PowerPoint 95, too, has what is meant for newer versions in a storage.
    let storage = file
        .find(ROOT, "PP97_DUALSTORAGE")
        .filter(|&id| !file.is_stream(id));
    let storage = storage.unwrap_or(ROOT);
    let user = file.stream(storage, "Current User").unwrap_or_default();
    let Some(mut stream) = file.stream(storage, "PowerPoint Document") else {
        return Err(match file.find(ROOT, "PP40") {
            Some(_) => Error::unsupported("PowerPoint 4"),
            None => Error::Malformed("there is no stream PowerPoint Document".into()),
        });
    };
    let tables = Tables::read(&user, &stream);
    if tables.document(&stream).is_none()
        && let Some(content) = file.stream(ROOT, "Text_Content")
    {
        output.own().body = text_of_95(&content, limits);
        return file.finish();
    }
    encryption::decrypt(&user, &mut stream, &tables, &limits.passwords)?;
    let shown = slide::text(&tables, &stream, limits);
    let own = output.own();
    own.body = shown.body;
    own.fields.retain(|(field, _)| *field != Field::Pages);
    own.add_number(Field::Pages, shown.n_slides as i64);
    let mut read = HashSet::new();
    let found = records(&stream).filter(|record| record.kind == OBJECT);
    let mut handed_on = Ok(());
    for (position, record) in found.enumerate() {
        match hand_on(&record, position + 1, output) {
            Ok(true) => drop(read.insert(record.data.as_ptr().addr() - stream.as_ptr().addr())),
            Ok(false) => {}
            Err(error) => {
                handed_on = Err(error);
                break;
            }
        }
    }
    if let Some(pictures) = file.stream(storage, "Pictures") {
        let left_out = previews::places(&shown.previews, &read, &tables, &stream);
        blips::add_texts_but(|at| left_out.contains(&at), &pictures, limits, output.own());
    }
    handed_on?;
    if shown.n_slides == 0 && tables.document(&stream).is_none() {
        return Err(Error::Malformed("there are no slides".into()));
    }
    if let Some(error) = shown.failure {
        return Err(error);
    }
    file.finish()
}

/// Returns the text of PowerPoint 95, which has all of it in a stream as well: titles and paragraphs, without the ends of slides. It is
/// in the code page of its language, which nothing declares.
fn text_of_95(content: &[u8], limits: &Limits) -> String {
    let page = names::page_of_windows(content).unwrap_or(WESTERN);
    let content = code_page::decode(content, page);
    let mut body = Body::new(limits.max_text_bytes);
    for line in content.split(['\r', '\u{b}', '\n']) {
        body.line(line.trim());
    }
    body.finish()
}

/// Hands on an object; returns whether it is a file of its own.
fn hand_on(record: &Record<'_>, number: usize, output: &mut Output<'_>) -> Result<bool, Error> {
    let component = number.to_string();
    let content = match record.instance {
        0 => Ok(record.data.to_vec()),
        _ => unpacked(record.data, output.limits()),
    };
    match content {
        Ok(bytes) => match objects::of_file(&bytes) {
            Some((name, bytes)) => {
                output.member(Member {
                    ipath: output.child_ipath(&component),
                    name,
                    bytes,
                    ..Member::default()
                })?;
                Ok(true)
            }
            None => Ok(false),
        },
        Err(error) => output.failed_member(&component, "", error).map(|()| false),
    }
}

/// Unpacks an object, which follows its length. Some writers leave out the length, or do not pack
/// what they say is packed.
fn unpacked(data: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    if objects::is_compound(data) {
        return Ok(data.to_vec());
    }
    let packed = data.get(4..).unwrap_or_default();
    if objects::is_compound(packed) {
        return Ok(packed.to_vec());
    }
    match [packed, data].into_iter().find_map(deflated) {
        Some(deflated) => inflate(deflated, limits),
        None => Err(Error::Malformed("the object cannot be unpacked".into())),
    }
}

/// Returns what follows the head of zlib (RFC 1950). Its checksum at the end is often wrong.
fn deflated(packed: &[u8]) -> Option<&[u8]> {
    let (&[first, second], deflated) = packed.split_first_chunk()?;
    let is_zlib = first & 15 == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
    is_zlib.then_some(deflated)
}

/// Unpacks an object as far as it is whole.
fn inflate(deflated: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let by_ratio = max_expanded(deflated.len() as u64, limits.max_expansion);
    let max = by_ratio.min(limits.max_member_bytes);
    let mut bytes = Vec::new();
    let mut reader = DeflateDecoder::new(deflated).take(max + 1);
    let _damage = reader.read_to_end(&mut bytes);
    if bytes.len() as u64 > max {
        return Err(limits.reached(match max == by_ratio {
            true => Setting::MaxExpansion,
            false => Setting::MaxMemberBytes,
        }));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
