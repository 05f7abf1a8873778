//! The objects of a metafile, of which only fonts matter: their character sets decode texts.

use crate::text::charset;
use crate::text::code_page::{self, WESTERN};

/// More objects than any program has at a time.
const MAX_OBJECTS: usize = 1 << 12;

/// The table of objects: the code page of each font.
#[derive(Default)]
pub(super) struct Objects {
    slots: Vec<Slot>,
    current: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Free,
    Font(Option<u16>),
    Other,
}

impl Objects {
    /// Adds a font with this character set, or another object, at the first free place, as WMF numbers them.
    pub(super) fn add(&mut self, charset: Option<u8>) {
        let slot = charset.map_or(Slot::Other, |charset| Slot::Font(page_of(charset)));
        match self.slots.iter().position(|slot| *slot == Slot::Free) {
            Some(free) => self.slots[free] = slot,
            None if self.slots.len() < MAX_OBJECTS => self.slots.push(slot),
            None => {}
        }
    }

    /// Sets the font of a number, as EMF gives them.
    pub(super) fn set(&mut self, number: usize, charset: u8) {
        if number < MAX_OBJECTS {
            if self.slots.len() <= number {
                self.slots.resize(number + 1, Slot::Free);
            }
            self.slots[number] = Slot::Font(page_of(charset));
        }
    }

    pub(super) fn select(&mut self, number: usize) {
        if let Some(Slot::Font(page)) = self.slots.get(number) {
            self.current = *page;
        }
    }

    pub(super) fn delete(&mut self, number: usize) {
        if let Some(slot) = self.slots.get_mut(number) {
            *slot = Slot::Free;
        }
    }

    /// Decodes text in the code page of the current font.
    pub(super) fn decode(&self, bytes: &[u8]) -> String {
        code_page::decode(bytes, self.current.unwrap_or(WESTERN)).into_owned()
    }
}

fn page_of(charset: u8) -> Option<u16> {
    charset::of_charset(i32::from(charset))
}
