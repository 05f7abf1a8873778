//! The pictures that stand for embedded objects. What ken reads as a member is not read from its picture as well.
//!
//! A field `EMBED Excel.Sheet.8` has the picture as its result: a character whose properties say where the picture is in the stream
//! `Data` (MS-DOC 2.6.1, 2.9.192).

use std::collections::HashMap;
use std::ops::Range;

use crate::formats::office::ooxml::previews::is_of_known_program;
use crate::structure::cursor::Cursor;

const PICTURE: u16 = 0x01;
/// Fields nested deeper are in no document.
const MAX_FIELDS: usize = 1000;
/// The longest instruction that names an object.
const MAX_INSTRUCTION: usize = 256;

/// Returns where the pictures of objects are in `Data`, in order, without those of objects that are not read.
pub(super) fn places(
    units: &[u16],
    pictures: &HashMap<usize, u32>,
    data: &[u8],
) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    // Where each open field begins, and whether it is such an object.
    let mut fields: Vec<(usize, bool)> = Vec::new();
    for (position, unit) in units.iter().enumerate() {
        match *unit {
            0x13 if fields.len() < MAX_FIELDS => fields.push((position + 1, false)),
            0x14 => {
                if let Some((start, is_object)) = fields.last_mut() {
                    *is_object = is_read(&units[*start..position]);
                }
            }
            0x15 => drop(fields.pop()),
            PICTURE if fields.last().is_some_and(|(_, is_object)| *is_object) => {
                let place = pictures.get(&position).map(|start| *start as usize);
                let range = place.and_then(|start| {
                    let length = Cursor(data.get(start..)?).le_u32()? as usize;
                    Some(start..start.saturating_add(length))
                });
                places.extend(range);
            }
            _ => {}
        }
    }
    places.sort_by_key(|range| range.start);
    places
}

/// Returns whether an instruction embeds an object of a program whose documents are read.
fn is_read(instruction: &[u16]) -> bool {
    let start = &instruction[..instruction.len().min(MAX_INSTRUCTION)];
    let instruction = String::from_utf16_lossy(start).to_ascii_lowercase();
    let mut words = instruction.split_whitespace();
    words.next() == Some("embed") && words.next().is_some_and(is_of_known_program)
}
