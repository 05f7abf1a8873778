//! The pages of a database, and the rows in them.

use std::borrow::Cow;
use std::cell::Cell;

use ken_core::Encryption;
use rc4::{KeyInit, Rc4, StreamCipher};

use crate::Error;
use crate::structure::cursor::Cursor;
use crate::text::code_page::{self, WESTERN};

/// Flags of the place of a row in its page. A row that became longer is marked as deleted where it is, and its old place refers to it; a
/// row that is deleted has both flags.
const IS_DELETED: u16 = 0x8000;
const IS_ELSEWHERE: u16 = 0x4000;
const PLACE: u16 = 0x1fff;

/// Kinds of pages.
pub(super) const DATA: u8 = 1;
pub(super) const DEFINITION: u8 = 2;
const BITMAP: u8 = 5;

/// Encodes or decodes bytes.
pub(super) fn mix(key: [u8; 4], bytes: &mut [u8]) {
    // RC4 takes keys of any length up to 256 bytes.
    if let Ok(mut cipher) = Rc4::new_from_slice(&key) {
        cipher.apply_keystream(bytes);
    }
}

/// How many times the size of the file may be read: values lie in shared pages, and hostile tables share all of them.
const MAX_READS: u64 = 16;
/// What it costs to find a row, and each place that is passed.
const ROW_COST: u64 = 128;
const PLACE_COST: u64 = 8;

pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    page_bytes: usize,
    /// Whether it is of Access 97, with texts in a code page.
    pub(super) is_97: bool,
    code_page: u16,
    /// What the number of a page is mixed with to decode the page; 0 if no page is encoded.
    key: u32,
    /// Bytes that may still be read.
    left: Cell<u64>,
    is_spent: Cell<bool>,
}

impl<'a> Pages<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        /// What the header is mixed with.
        const HEADER_KEY: [u8; 4] = [0xc7, 0xda, 0x39, 0x6b];
        let damaged = || Error::Malformed("there is no header of Access".into());
        let version = *bytes.get(0x14).ok_or_else(damaged)?;
        let mut header = *bytes
            .get(0x18..)
            .and_then(|header| header.first_chunk::<126>())
            .ok_or_else(damaged)?;
        mix(HEADER_KEY, &mut header);
        let mut mixed = Cursor(&header[0x3c - 0x18..]);
        let code_page = mixed.le_u16().unwrap_or_default();
        let key = mixed.le_u32().unwrap_or_default();
        let is_97 = version == 0;
        // Access since 2007 encrypts with the password, before it mixed pages with a key in the header.
        if version > 1 && key != 0 {
            return Err(Error::sealed(Encryption::UnknownMethod));
        }
        Ok(Self {
            bytes,
            page_bytes: if is_97 { 2048 } else { 4096 },
            is_97,
            code_page,
            key,
            left: Cell::new((bytes.len() as u64).saturating_mul(MAX_READS)),
            is_spent: Cell::new(false),
        })
    }

    /// Returns the size of the file.
    pub(super) fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether reading ended because it cost too much.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// Counts bytes that are read; returns none if no more may be.
    pub(super) fn spend(&self, n_bytes: u64) -> Option<()> {
        let left = self.left.get().checked_sub(n_bytes);
        self.is_spent.set(self.is_spent() || left.is_none());
        self.left.set(left.unwrap_or_default());
        left.map(|_| ())
    }

    /// Returns a page of the wanted kind.
    pub(super) fn page(&self, number: u32, kind: u8) -> Option<Cow<'a, [u8]>> {
        self.spend(self.page_bytes as u64)?;
        self.find(number, kind)
    }

    fn find(&self, number: u32, kind: u8) -> Option<Cow<'a, [u8]>> {
        let start = usize::try_from(number).ok()?.checked_mul(self.page_bytes)?;
        let page = self.bytes.get(start..start.checked_add(self.page_bytes)?)?;
        let page = match self.key {
            0 => Cow::Borrowed(page),
            key => {
                let mut page = page.to_vec();
                mix((key ^ number).to_le_bytes(), &mut page);
                Cow::Owned(page)
            }
        };
        (page[0] == kind).then_some(page)
    }

    /// Decodes text of Access 97.
    pub(super) fn decode(&self, bytes: &[u8]) -> String {
        let page = if self.code_page == 0 {
            WESTERN
        } else {
            self.code_page
        };
        code_page::decode(bytes, page).into_owned()
    }

    /// Returns where the rows of a data page are.
    pub(super) fn places(&self, page: &[u8]) -> Vec<Place> {
        let mut list = Cursor(
            page.get(if self.is_97 { 8 } else { 12 }..)
                .unwrap_or_default(),
        );
        let n_rows = list.le_u16().unwrap_or_default();
        let mut end = self.page_bytes;
        let mut places = Vec::new();
        for _ in 0..n_rows {
            let Some(place) = list.le_u16() else { break };
            let start = usize::from(place & PLACE);
            // A row lies before the one that was added before it.
            let is_deleted = place & IS_DELETED != 0;
            places.push(Place {
                start,
                end,
                is_deleted,
                is_elsewhere: place & IS_ELSEWHERE != 0 && !is_deleted,
            });
            end = end.min(start);
        }
        places
    }

    /// Returns a row by its reference: the number of its page and its own. A row that became longer may be in another page.
    pub(super) fn row(&self, reference: u32) -> Option<Vec<u8>> {
        let mut reference = reference;
        for _ in 0..2 {
            self.spend(ROW_COST)?;
            let page = self.find(reference >> 8, DATA)?;
            let places = self.places(&page);
            let place = *places.get((reference & 0xff) as usize)?;
            let row = page.get(place.start..place.end)?;
            self.spend(row.len() as u64 + places.len() as u64 * PLACE_COST)?;
            if !place.is_elsewhere {
                return Some(row.to_vec());
            }
            reference = Cursor(row).le_u32()?;
        }
        None
    }

    /// Returns the numbers of the pages that a map in a row marks.
    pub(super) fn marked(&self, reference: u32) -> Option<Vec<u32>> {
        let row = self.row(reference)?;
        let mut map = Cursor(&row);
        let mut marked = Vec::new();
        if map.byte()? == 0 {
            let first = map.le_u32()?;
            add_marked(map.0, first, &mut marked);
            return Some(marked);
        }
        // A large table has pages of marks.
        let per_page = (self.page_bytes - 4) as u32 * 8;
        let mut first = 0_u32;
        while let Some(number) = map.le_u32() {
            if number != 0 {
                let page = self.page(number, BITMAP)?;
                add_marked(&page[4..], first, &mut marked);
            }
            first = first.checked_add(per_page)?;
            // Each page is marked once.
            if marked.len() > self.bytes.len() / self.page_bytes {
                marked.truncate(self.bytes.len() / self.page_bytes);
                break;
            }
        }
        Some(marked)
    }
}

fn add_marked(bits: &[u8], first: u32, marked: &mut Vec<u32>) {
    for (index, byte) in bits.iter().enumerate().filter(|(_, byte)| **byte != 0) {
        let of_byte = (0..8).filter(|bit| byte >> bit & 1 == 1);
        let numbers = of_byte.map(|bit| first.saturating_add(index as u32 * 8 + bit));
        marked.extend(numbers);
    }
}

/// Where a row is in its page.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_deleted: bool,
    pub(super) is_elsewhere: bool,
}
