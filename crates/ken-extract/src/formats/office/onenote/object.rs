//! Objects of a revision store and their properties (MS-ONESTORE 2.6), which both ways of packing share.
//!
//! The properties of an object are found when it is visited, so that old revisions cost nothing.

use std::collections::HashMap;
use std::rc::Rc;

use crate::structure::cursor::Cursor;

/// The name of an object, a revision or a space of objects (MS-ONESTORE 2.2.1): a GUID and a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) guid: [u8; 16],
    pub(super) number: u32,
}

/// The GUIDs of a revision by their indices.
pub(super) type Guids = HashMap<u32, [u8; 16]>;

impl Id {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            guid: *cursor.take(16)?.first_chunk()?,
            number: cursor.le_u32()?,
        })
    }

    /// Returns the name that a short form stands for (MS-ONESTORE 2.2.2).
    pub(super) fn of_compact(compact: u32, guids: &Guids) -> Option<Self> {
        Some(Self {
            guid: *guids.get(&(compact >> 8))?,
            number: compact & 0xff,
        })
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What the references of an object mean.
#[derive(Clone)]
pub(super) enum References {
    /// The short forms in its data, by the GUIDs of its revision.
    Short(Rc<Guids>),
    /// These, in the order in which its data refer to them.
    Listed { objects: Vec<Id>, spaces: Vec<Id> },
}

/// An object as it is stored.
#[derive(Clone)]
pub(super) struct Stored<'a> {
    /// What the object is: the number of its class (MS-ONE 2.1.12).
    pub(super) class: u16,
    pub(super) data: &'a [u8],
    pub(super) references: References,
    /// The content of a file.
    pub(super) file: Option<&'a [u8]>,
}

/// The objects of one page, or of the section itself, in their last revision.
#[derive(Default)]
pub(super) struct Space<'a> {
    /// The first objects by their roles.
    pub(super) roots: HashMap<u32, Id>,
    pub(super) objects: HashMap<Id, Stored<'a>>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Objects(Vec<Id>),
    Spaces(Vec<Id>),
}

/// The part of a property's number that names it; its type and truth are in the others.
const NAME: u32 = 0x03ff_ffff;

/// The properties of an object, with those of the sets within it.
#[derive(Debug, Default)]
pub(super) struct Properties<'a>(Vec<(u32, Value<'a>)>);

impl<'a> Properties<'a> {
    pub(super) fn bytes(&self, wanted: u32) -> Option<&'a [u8]> {
        self.0.iter().find_map(|(id, value)| match value {
            Value::Bytes(bytes) if *id == wanted => Some(*bytes),
            _ => None,
        })
    }

    pub(super) fn number(&self, wanted: u32) -> Option<u64> {
        self.0.iter().find_map(|(id, value)| match value {
            Value::Number(number) if *id == wanted => Some(*number),
            _ => None,
        })
    }

    /// Returns the objects or the spaces that properties of this name refer to.
    pub(super) fn ids(&self, wanted: u32) -> impl Iterator<Item = Id> {
        let lists = self.0.iter().filter(move |(id, _)| *id == wanted);
        let ids = lists.flat_map(|(_, value)| match value {
            Value::Objects(ids) | Value::Spaces(ids) => ids.as_slice(),
            _ => &[],
        });
        ids.copied()
    }
}

/// Sets within sets; OneNote nests two.
const MAX_DEPTH: usize = 8;

/// Returns the properties of an object (MS-ONESTORE 2.6.1), as far as they can be read, and whether that is all.
pub(super) fn properties<'a>(stored: &Stored<'a>) -> (Properties<'a>, bool) {
    let mut found = Properties::default();
    let mut reader = Reader {
        cursor: Cursor(stored.data),
        objects: Vec::new().into_iter(),
        spaces: Vec::new().into_iter(),
    };
    let is_whole =
        reader.streams(&stored.references).is_some() && reader.set(&mut found.0, 0).is_some();
    (found, is_whole)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// The references that no property has taken yet.
    objects: std::vec::IntoIter<Option<Id>>,
    spaces: std::vec::IntoIter<Option<Id>>,
}

impl<'a> Reader<'a> {
    /// Reads the references before the properties: those to objects, to spaces, and to contexts.
    fn streams(&mut self, references: &References) -> Option<()> {
        const HAS_NO_SPACES: u32 = 1 << 31;
        const HAS_CONTEXTS: u32 = 1 << 30;
        let (objects, flags) = self.stream()?;
        self.objects = resolved(objects, references, false);
        if flags & HAS_NO_SPACES != 0 {
            return Some(());
        }
        let (spaces, flags) = self.stream()?;
        self.spaces = resolved(spaces, references, true);
        if flags & HAS_CONTEXTS != 0 {
            self.stream()?;
        }
        Some(())
    }

    fn stream(&mut self) -> Option<(&'a [u8], u32)> {
        const COUNT: u32 = 0x00ff_ffff;
        let header = self.cursor.le_u32()?;
        let short = self.cursor.take((header & COUNT) as usize * 4)?;
        Some((short, header))
    }

    /// Reads a set of properties, together with the sets in it.
    fn set(&mut self, found: &mut Vec<(u32, Value<'a>)>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let n_properties = usize::from(self.cursor.le_u16()?);
        let mut ids = Cursor(self.cursor.take(n_properties * 4)?);
        while let Some(id) = ids.le_u32() {
            if let Some(value) = self.value(id, found, depth)? {
                found.push((id & NAME, value));
            }
        }
        Some(())
    }

    /// Reads the value of a property, whose type is part of its name (MS-ONESTORE 2.6.6).
    fn value(
        &mut self,
        id: u32,
        found: &mut Vec<(u32, Value<'a>)>,
        depth: usize,
    ) -> Option<Option<Value<'a>>> {
        let value = match id >> 26 & 0x1f {
            0x2 => Value::Number(u64::from(id >> 31)),
            0x3 => Value::Number(self.cursor.byte()?.into()),
            0x4 => Value::Number(self.cursor.le_u16()?.into()),
            0x5 => Value::Number(self.cursor.le_u32()?.into()),
            0x6 => Value::Number(self.cursor.le_u64()?),
            0x7 => {
                let n_bytes = self.cursor.le_u32()? as usize;
                Value::Bytes(self.cursor.take(n_bytes)?)
            }
            0x8 => Value::Objects(self.objects.next().flatten().into_iter().collect()),
            0x9 => {
                let n_ids = self.cursor.le_u32()? as usize;
                Value::Objects(self.objects.by_ref().take(n_ids).flatten().collect())
            }
            0xa => Value::Spaces(self.spaces.next().flatten().into_iter().collect()),
            0xb => {
                let n_ids = self.cursor.le_u32()? as usize;
                Value::Spaces(self.spaces.by_ref().take(n_ids).flatten().collect())
            }
            0xd => {
                self.cursor.le_u32()?;
                return Some(None);
            }
            0x10 => {
                let n_sets = self.cursor.le_u32()?;
                if n_sets > 0 {
                    self.cursor.le_u32()?;
                }
                for _ in 0..n_sets {
                    self.set(found, depth + 1)?;
                }
                return Some(None);
            }
            0x11 => {
                self.set(found, depth + 1)?;
                return Some(None);
            }
            _ => return Some(None),
        };
        Some(Some(value))
    }
}

/// Returns what references stand for; none for those whose GUID is not known.
fn resolved(
    short: &[u8],
    references: &References,
    is_space: bool,
) -> std::vec::IntoIter<Option<Id>> {
    let resolved: Vec<Option<Id>> = match references {
        References::Short(guids) => short
            .chunks_exact(4)
            .map(|bytes| Id::of_compact(u32::from_le_bytes(*bytes.first_chunk()?), guids))
            .collect(),
        References::Listed { spaces, .. } if is_space => spaces.iter().copied().map(Some).collect(),
        References::Listed { objects, .. } => objects.iter().copied().map(Some).collect(),
    };
    resolved.into_iter()
}
