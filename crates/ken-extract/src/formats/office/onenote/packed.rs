//! The sections that OneNote of the web and of phones stores (MS-ONESTORE 2.7 and 2.8): the same objects in a stream of data elements
//! (MS-FSSHTTPB 2.2).

use std::collections::HashMap;

use super::object::{Id, References, Space, Stored};
use crate::Error;
use crate::structure::cursor::Cursor;

/// Where the stream begins, behind four GUIDs and a blank.
const START: usize = 68;
/// The GUID of the names of the roles of first objects (MS-ONESTORE 2.7.5).
const ROLE: [u8; 16] = [
    0xf8, 0x17, 0x37, 0x4a, 0x14, 0x1c, 0xe7, 0x49, 0x95, 0x26, 0x81, 0xd9, 0x42, 0xde, 0x17, 0x41,
];
/// The root with the section itself (MS-ONESTORE 2.7.1).
const CONTENT_ROOT: u32 = 2;
/// The GUID of the context of what is shown; former versions of pages have others (MS-ONESTORE 2.7.2).
const SHOWN: [u8; 16] = [
    0xb9, 0xfa, 0xde, 0x84, 0xa3, 0xaa, 0x0d, 0x4a, 0xa3, 0xa8, 0x52, 0x0c, 0x77, 0xac, 0x70, 0x73,
];
/// Parts of an object (MS-ONESTORE 2.7.6): its properties, the content of a file, and its class.
const PROPERTIES: u64 = 1;
const FILE: u64 = 2;
const CLASS: u64 = 4;

/// Kinds of stream objects (MS-FSSHTTPB 2.2.1.5).
mod kind {
    pub(super) const ELEMENT: u16 = 0x01;
    pub(super) const BLOB: u16 = 0x02;
    pub(super) const BLOB_DECLARED: u16 = 0x05;
    pub(super) const STORAGE_ROOT: u16 = 0x07;
    pub(super) const REVISION_ROOT: u16 = 0x0a;
    pub(super) const CELL: u16 = 0x0b;
    pub(super) const REVISION_PLACE: u16 = 0x0d;
    pub(super) const CELL_PLACE: u16 = 0x0e;
    pub(super) const OBJECT_DATA: u16 = 0x16;
    pub(super) const OBJECT_DECLARED: u16 = 0x18;
    pub(super) const GROUP_REFERENCE: u16 = 0x19;
    pub(super) const REVISION: u16 = 0x1a;
    pub(super) const BLOB_REFERENCE: u16 = 0x1c;
}

/// An object of the stream: its kind, and what its header counts as its own.
struct Item<'a> {
    kind: u16,
    data: Cursor<'a>,
}

/// A part of an object, as a group declares it.
struct Declared {
    id: Id,
    part: u64,
}

#[derive(Default)]
struct Revision {
    before: Id,
    roots: Vec<(u32, Id)>,
    groups: Vec<Id>,
}

pub(super) struct Packed<'a> {
    root: Id,
    /// The spaces in the order of the file, with the elements of their cells.
    cells: Vec<(Id, Id)>,
    /// The elements of revisions.
    places: HashMap<Id, Id>,
    /// The revisions that cells show.
    shown: HashMap<Id, Id>,
    revisions: HashMap<Id, Revision>,
    /// The items of elements of groups.
    groups: HashMap<Id, Vec<Item<'a>>>,
    blobs: HashMap<Id, &'a [u8]>,
    pub(super) is_whole: bool,
}

impl<'a> Packed<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut store = Self {
            root: Id::default(),
            cells: Vec::new(),
            places: HashMap::new(),
            shown: HashMap::new(),
            revisions: HashMap::new(),
            groups: HashMap::new(),
            blobs: HashMap::new(),
            is_whole: true,
        };
        let mut stream = Stream(Cursor(bytes.get(START..).unwrap_or_default()));
        let mut element = Id::default();
        while let Some(item) = stream.next() {
            store.is_whole &= store.take(item, &mut element).is_some();
        }
        store.is_whole &= stream.0.0.is_empty();
        if store.cells.is_empty() {
            return Err(Error::Malformed("there is no index of the section".into()));
        }
        Ok(store)
    }

    /// Takes an item into account; `element` is the name of the data element that has it.
    fn take(&mut self, item: Item<'a>, element: &mut Id) -> Option<()> {
        let mut data = item.data;
        match item.kind {
            kind::ELEMENT => *element = id(&mut data)?,
            kind::CELL_PLACE => {
                let (context, space) = (id(&mut data)?, id(&mut data)?);
                if context.guid == SHOWN {
                    self.cells.push((space, id(&mut data)?));
                }
            }
            kind::REVISION_PLACE => {
                let revision = id(&mut data)?;
                self.places.insert(revision, id(&mut data)?);
            }
            kind::STORAGE_ROOT => {
                let number = id(&mut data)?.number;
                let (_, space) = (id(&mut data)?, id(&mut data)?);
                if number == CONTENT_ROOT {
                    self.root = space;
                }
            }
            kind::CELL => {
                self.shown.insert(*element, id(&mut data)?);
            }
            kind::REVISION => {
                id(&mut data)?;
                self.revisions.entry(*element).or_default().before = id(&mut data)?;
            }
            kind::REVISION_ROOT => {
                let role = id(&mut data)?;
                let object = id(&mut data)?;
                if role.guid == ROLE {
                    let revision = self.revisions.entry(*element).or_default();
                    revision.roots.push((role.number, object));
                }
            }
            kind::GROUP_REFERENCE => {
                let group = id(&mut data)?;
                let revision = self.revisions.entry(*element).or_default();
                revision.groups.push(group);
            }
            kind::OBJECT_DECLARED
            | kind::BLOB_DECLARED
            | kind::OBJECT_DATA
            | kind::BLOB_REFERENCE => {
                self.groups.entry(*element).or_default().push(item);
            }
            kind::BLOB => {
                self.blobs.insert(*element, counted(&mut data)?);
            }
            _ => {}
        }
        Some(())
    }

    pub(super) fn root(&self) -> Id {
        self.root
    }

    pub(super) fn ids(&self) -> Vec<Id> {
        self.cells.iter().map(|(space, _)| *space).collect()
    }

    /// Returns the objects of a space in the revision that is shown.
    pub(super) fn space(&mut self, wanted: &Id) -> Option<Space<'a>> {
        let (_, cell) = self.cells.iter().find(|(space, _)| space == wanted)?;
        let mut at = *self.shown.get(cell)?;
        let mut chain = Vec::new();
        while let Some(place) = self.places.get(&at)
            && let Some(revision) = self.revisions.remove(place)
        {
            at = revision.before;
            chain.push(revision);
        }
        self.is_whole &= at.is_none();
        let mut space = Space::default();
        for revision in chain.into_iter().rev() {
            space.roots.extend(revision.roots);
            for group in revision.groups {
                let items = self.groups.remove(&group);
                self.is_whole &= items
                    .and_then(|items| self.load(items, wanted, &mut space))
                    .is_some();
            }
        }
        Some(space)
    }

    /// Adds the objects of a group: first their names are declared, then their parts follow in the same order (MS-FSSHTTPB 2.2.1.12.6).
    fn load(&self, items: Vec<Item<'a>>, own: &Id, space: &mut Space<'a>) -> Option<()> {
        let mut declared = Vec::new();
        let mut n_read = 0;
        for mut item in items {
            match item.kind {
                kind::OBJECT_DECLARED => declared.push(declaration(&mut item.data, false)?),
                kind::BLOB_DECLARED => declared.push(declaration(&mut item.data, true)?),
                _ => {
                    let part = declared.get(n_read)?;
                    n_read += 1;
                    self.add_part(part, &mut item, own, space)?;
                }
            }
        }
        Some(())
    }

    fn add_part(
        &self,
        part: &Declared,
        item: &mut Item<'a>,
        own: &Id,
        space: &mut Space<'a>,
    ) -> Option<()> {
        let data = &mut item.data;
        let objects = ids(data, 1)?;
        // References to the space itself mean former versions of its page.
        let mut spaces = ids(data, 2)?;
        spaces.retain(|space| space != own);
        let bytes = match item.kind {
            kind::BLOB_REFERENCE => self.blobs.get(&id(data)?).copied()?,
            _ => counted(data)?,
        };
        let object = space.objects.entry(part.id).or_insert_with(|| Stored {
            class: 0,
            data: &[],
            references: References::Listed {
                objects: Vec::new(),
                spaces: Vec::new(),
            },
            file: None,
        });
        match part.part {
            CLASS => object.class = (Cursor(bytes).le_u32()? & 0xffff) as u16,
            PROPERTIES => {
                object.data = bytes;
                object.references = References::Listed { objects, spaces };
            }
            FILE => object.file = Some(bytes),
            _ => {}
        }
        Some(())
    }
}

/// The items of the stream, without their ends: what is within another is not told apart.
struct Stream<'a>(Cursor<'a>);

impl<'a> Stream<'a> {
    /// Returns the next item; none at the end, or where the stream is damaged.
    fn next(&mut self) -> Option<Item<'a>> {
        /// A longer item has its length behind its header.
        const LONG: u32 = 0x7fff;
        loop {
            let first = *self.0.0.first()?;
            match first & 0x3 {
                0 => {
                    let header = self.0.le_u16()?;
                    let kind = header >> 3 & 0x3f;
                    let data = Cursor(self.0.take(usize::from(header >> 9))?);
                    return Some(Item { kind, data });
                }
                2 => {
                    let header = self.0.le_u32()?;
                    let kind = (header >> 3 & 0x3fff) as u16;
                    let n_bytes = match header >> 17 {
                        LONG => usize::try_from(number(&mut self.0)?).ok()?,
                        n_bytes => n_bytes as usize,
                    };
                    let data = Cursor(self.0.take(n_bytes)?);
                    return Some(Item { kind, data });
                }
                // An end, of one byte or of two.
                1 => drop(self.0.byte()?),
                _ => drop(self.0.le_u16()?),
            }
        }
    }
}

/// Reads a number, whose last set bits say how many bytes it has (MS-FSSHTTPB 2.2.1.1).
fn number(data: &mut Cursor<'_>) -> Option<u64> {
    let first = *data.0.first()?;
    match first.trailing_zeros() as usize {
        8 => data.byte().map(u64::from),
        7 => {
            data.byte()?;
            data.le_u64()
        }
        n_zeros => {
            let bytes = data.take(n_zeros + 1)?;
            let number = bytes
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(*byte));
            Some(number >> (n_zeros + 1))
        }
    }
}

/// Reads a name (MS-FSSHTTPB 2.2.1.7).
fn id(data: &mut Cursor<'_>) -> Option<Id> {
    let first = *data.0.first()?;
    let (n_bytes, shift) = match first.trailing_zeros() {
        8 => {
            data.byte()?;
            return Some(Id::default());
        }
        2 => (1, 3),
        5 => (2, 6),
        6 => (3, 7),
        7 => (5, 8),
        _ => return None,
    };
    let bytes = data.take(n_bytes)?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    Some(Id {
        guid: *data.take(16)?.first_chunk()?,
        number: u32::try_from(number >> shift).ok()?,
    })
}

/// Reads a list of names of `n_parts` parts each, of which the last counts.
fn ids(data: &mut Cursor<'_>, n_parts: usize) -> Option<Vec<Id>> {
    let n_ids = number(data)?;
    let mut ids = Vec::new();
    for _ in 0..n_ids {
        let mut last = Id::default();
        for _ in 0..n_parts {
            last = id(data)?;
        }
        ids.push(last);
    }
    Some(ids)
}

/// Reads bytes behind their number.
fn counted<'a>(data: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let n_bytes = usize::try_from(number(data)?).ok()?;
    data.take(n_bytes)
}

fn declaration(data: &mut Cursor<'_>, is_blob: bool) -> Option<Declared> {
    let object = id(data)?;
    if is_blob {
        id(data)?;
    }
    Some(Declared {
        id: object,
        part: number(data)?,
    })
}
