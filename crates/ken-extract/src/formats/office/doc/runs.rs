//! What the properties of characters say about the text (MS-DOC 2.6.1): which of it is deleted, and where
//! form fields with choices are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::fib::Fib;
use super::pieces;
use super::sections::skip_value;
use crate::structure::cursor::Cursor;

/// The property *deleted, with changes tracked*.
const IS_DELETED: u16 = 0x0800;
/// The property *holds data of a field*.
const IS_DATA: u16 = 0x0806;
/// The place of data in the stream `Data`.
const LOCATION: u16 = 0x6a03;
const PAGE_BYTES: usize = 512;
/// More than people change or fill in.
const MAX_RUNS: usize = 100_000;
/// Form fields beyond this number are left out.
const MAX_FORMS: usize = 500;
/// Pictures beyond this number are of no known object.
const MAX_PICTURES: usize = 10_000;
/// The kind of a form field with choices.
const CHOICES: u16 = 2;
/// The number of the chosen one if none is.
const NONE_CHOSEN: u16 = 25;
/// More choices than Word allows.
const MAX_CHOICES: u16 = 64;

/// What is known of characters by their properties.
#[derive(Default)]
pub(super) struct Runs {
    /// Text that was deleted with changes tracked.
    pub(super) deleted: Vec<Range<usize>>,
    /// Places of pictures in the stream `Data`, by the position of the character that stands for each.
    pub(super) pictures: HashMap<usize, u32>,
    /// Form fields, by the position of the character that stands for their data.
    pub(super) forms: HashMap<usize, Choices>,
}

/// A form field with choices.
pub(super) struct Choices {
    pub(super) chosen: Option<String>,
    pub(super) others: Vec<String>,
}

/// The properties that matter.
#[derive(Clone, Copy, Default)]
struct Properties {
    is_deleted: bool,
    data: Option<u32>,
    picture: Option<u32>,
}

/// Runs by their offsets in the main stream.
#[derive(Default)]
struct Offsets {
    deleted: Vec<(Range<usize>, ())>,
    pictures: Vec<(Range<usize>, u32)>,
    forms: Vec<(Range<usize>, u32)>,
}

/// Finds the runs, of which the stream `Data` holds the form fields.
pub(super) fn read(fib: &Fib, main: &[u8], table: &[u8], data: &[u8]) -> Runs {
    let mut offsets = Offsets::default();
    for page in pages(fib, main, table) {
        add_runs(page, &mut offsets);
        if offsets.deleted.len() > MAX_RUNS {
            return Runs::default();
        }
    }
    let Offsets {
        deleted,
        pictures,
        forms,
    } = offsets;
    let deleted = pieces::ranges(fib, table, deleted).into_iter();
    let pictures = pieces::ranges(fib, table, pictures).into_iter();
    let mut found = Runs {
        deleted: deleted.map(|(range, ())| range).collect(),
        pictures: pictures
            .map(|(range, place)| (range.start, place))
            .collect(),
        forms: HashMap::new(),
    };
    let mut seen = HashSet::new();
    for (place, location) in pieces::ranges(fib, table, forms) {
        if let Some(data) = data
            .get(location as usize..)
            .filter(|_| seen.insert(location))
            && let Some(choices) = choices(data)
        {
            found.forms.insert(place.start, choices);
        }
    }
    found
}

/// Returns the pages with the properties of characters.
fn pages<'m>(fib: &Fib, main: &'m [u8], table: &[u8]) -> Vec<&'m [u8]> {
    let pages = fib.character_pages.of(table).unwrap_or_default();
    // Offsets, one more than pages, precede the numbers of pages.
    let n_pages = pages.len().saturating_sub(4) / 8;
    let numbers = pages.get(4 * (n_pages + 1)..).unwrap_or_default();
    let numbers = numbers.as_chunks::<4>().0.iter();
    let starts =
        numbers.map(|number| (u32::from_le_bytes(*number) & 0x003f_ffff) as usize * PAGE_BYTES);
    let pages = starts.filter_map(|start| main.get(start..)?.get(..PAGE_BYTES));
    pages.take(MAX_RUNS).collect()
}

/// Adds the runs of one page of properties (MS-DOC 2.9.33).
fn add_runs(page: &[u8], found: &mut Offsets) {
    let n_runs = usize::from(page[PAGE_BYTES - 1]);
    let Some(places) = page.get(4 * (n_runs + 1)..4 * (n_runs + 1) + n_runs) else {
        return;
    };
    let offsets = page.as_chunks::<4>().0;
    for (ends, place) in offsets.windows(2).zip(places) {
        let properties = page.get(usize::from(*place) * 2..).unwrap_or_default();
        let [start, end] = [ends[0], ends[1]].map(|end| u32::from_le_bytes(end) as usize);
        if *place == 0 || start >= end {
            continue;
        }
        let properties = properties_of(properties);
        if properties.is_deleted {
            found.deleted.push((start..end, ()));
        }
        let picture = properties.picture;
        let picture = picture.filter(|_| found.pictures.len() < MAX_PICTURES);
        found
            .pictures
            .extend(picture.map(|place| (start..end, place)));
        let form = properties.data.filter(|_| found.forms.len() < MAX_FORMS);
        found.forms.extend(form.map(|place| (start..end, place)));
    }
}

/// Reads the properties of a run, as far as they are whole.
fn properties_of(bytes: &[u8]) -> Properties {
    let mut found = Properties::default();
    let _ = read_properties(bytes, &mut found);
    found
}

fn read_properties(bytes: &[u8], found: &mut Properties) -> Option<()> {
    let mut cursor = Cursor(bytes);
    let n_bytes = usize::from(cursor.byte()?);
    let mut properties = Cursor(cursor.take(n_bytes)?);
    let mut is_data = false;
    let mut location = None;
    while !properties.0.is_empty() {
        match properties.le_u16()? {
            IS_DELETED => found.is_deleted = is_on(properties.byte()?),
            IS_DATA => is_data = is_on(properties.byte()?),
            LOCATION => location = Some(properties.le_u32()?),
            property => skip_value(&mut properties, property)?,
        }
        found.data = location.filter(|_| is_data);
        found.picture = location.filter(|_| !is_data);
    }
    Some(())
}

/// Returns whether a property is set (MS-DOC 2.9.327): 0x81 is the opposite of what the style of the text says, and no style deletes
/// text or holds data.
fn is_on(value: u8) -> bool {
    matches!(value, 1 | 0x81)
}

/// Reads the data of a form field, if it has choices (MS-DOC 2.9.157 and 2.9.78).
fn choices(data: &[u8]) -> Option<Choices> {
    let mut cursor = Cursor(data);
    let n_bytes = cursor.le_u32()? as usize;
    let n_header = usize::from(cursor.le_u16()?);
    let mut cursor = Cursor(data.get(n_header..n_bytes.min(data.len()))?);
    cursor.take(4)?;
    let bits = cursor.le_u16()?;
    cursor.take(4)?;
    if bits & 3 != CHOICES {
        return None;
    }
    string(&mut cursor)?;
    let default = cursor.le_u16()?;
    for _ in 0..5 {
        string(&mut cursor)?;
    }
    // The mark of strings of two bytes, their number, and the size of what follows each.
    cursor.take(2)?;
    let n_choices = cursor.le_u16()?.min(MAX_CHOICES);
    let n_extra = usize::from(cursor.le_u16()?);
    let mut all = Vec::new();
    for _ in 0..n_choices {
        let length = usize::from(cursor.le_u16()?);
        all.push(utf16(cursor.take(2 * length)?));
        cursor.take(n_extra)?;
    }
    let chosen = match bits >> 2 & 0x1f {
        NONE_CHOSEN => default,
        chosen => chosen,
    };
    let chosen = usize::from(chosen);
    let chosen = (chosen < all.len()).then(|| all.remove(chosen));
    Some(Choices {
        chosen,
        others: all,
    })
}

/// Reads a string that its length precedes and a zero ends.
fn string(cursor: &mut Cursor<'_>) -> Option<()> {
    let length = usize::from(cursor.le_u16()?);
    cursor.take(2 * length + 2).map(|_| ())
}

fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .copied()
        .map(u16::from_le_bytes)
        .collect();
    String::from_utf16_lossy(&units)
}
