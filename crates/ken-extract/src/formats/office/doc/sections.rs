//! Finds which sections begin a page and which continue it (MS-DOC 2.8.26 and 2.6.4): both have the
//! character of a page break.

use std::collections::HashSet;

use super::fib::Fib;
use crate::structure::cursor::Cursor;

/// The property *kind of break*, in Word 97 and before.
const BREAK_KIND: u16 = 0x3009;
const BREAK_KIND_6: u8 = 142;

/// The positions of section marks, and which of them begin no page.
#[derive(Default)]
pub(super) struct Breaks {
    flowing: HashSet<usize>,
}

impl Breaks {
    /// Returns whether the break at this character begins a page.
    pub(super) fn is_page(&self, position: usize) -> bool {
        !self.flowing.contains(&position)
    }
}

/// Reads the table of sections.
pub(super) fn page_breaks(fib: &Fib, main: &[u8], table: &[u8]) -> Breaks {
    let mut breaks = Breaks::default();
    let Some(table) = fib.sections.of(table) else {
        return breaks;
    };
    let n_sections = table.len().saturating_sub(4) / 16;
    let (positions, descriptors) = table.split_at(4 * (n_sections + 1).min(table.len() / 4));
    let positions = positions.as_chunks::<4>().0;
    let descriptors = descriptors.as_chunks::<12>().0;
    for (start, descriptor) in positions.iter().zip(descriptors).skip(1) {
        let at = u32::from_le_bytes([descriptor[2], descriptor[3], descriptor[4], descriptor[5]]);
        let flows_on = main
            .get(at as usize..)
            .and_then(|properties| flows_on(properties, fib.is_word_97));
        // The mark is the last character of the previous section.
        let start = u32::from_le_bytes(*start) as usize;
        if flows_on == Some(true) && start > 0 {
            breaks.flowing.insert(start - 1);
        }
    }
    breaks
}

/// Returns whether a section begins on the same page; none if its properties do not say.
fn flows_on(bytes: &[u8], is_word_97: bool) -> Option<bool> {
    let mut length = Cursor(bytes);
    let n_bytes = usize::from(length.le_u16()?);
    let mut properties = Cursor(length.take(n_bytes)?);
    if !is_word_97 {
        // Each property has its own size; the kind of break is mostly the first one.
        return (properties.byte()? == BREAK_KIND_6).then_some(properties.byte()? <= 1);
    }
    loop {
        let property = properties.le_u16()?;
        if property == BREAK_KIND {
            return Some(properties.byte()? <= 1);
        }
        skip_value(&mut properties, property)?;
    }
}

/// Skips the value of a property (MS-DOC 2.2.5.1).
pub(super) fn skip_value(properties: &mut Cursor<'_>, property: u16) -> Option<()> {
    let n_bytes = match property >> 13 {
        0 | 1 => 1,
        2 | 4 | 5 => 2,
        3 => 4,
        7 => 3,
        _ => usize::from(properties.byte()?),
    };
    properties.take(n_bytes).map(drop)
}
