//! Binary property lists (`bplist00`, as described by Apple's `CFBinaryPList.c`): objects that
//! refer to each other by number, and a table of their offsets at the end.
//!
//! Only requested objects are read, from the outermost one inwards, so objects that contain each
//! other are harmless if the caller bounds the steps.

use std::borrow::Cow;

use crate::structure::cursor::Cursor;

/// A property list.
pub(crate) struct List<'a> {
    bytes: &'a [u8],
    offsets: &'a [u8],
    offset_bytes: usize,
    number_bytes: usize,
    top: u64,
}

/// An object of a list.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    list: &'a List<'a>,
    kind: u8,
    /// The number of bytes, characters or entries, and the following bytes.
    length: usize,
    data: &'a [u8],
}

impl<'a> List<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        let (rest, trailer) = bytes.split_last_chunk::<32>()?;
        let mut numbers = Cursor(&trailer[8..]);
        let (n_objects, top, table) = (numbers.be_u64()?, numbers.be_u64()?, numbers.be_u64()?);
        let offset_bytes = usize::from(trailer[6]);
        let number_bytes = usize::from(trailer[7]);
        if !(1..=8).contains(&offset_bytes) || !(1..=8).contains(&number_bytes) {
            return None;
        }
        let offsets = rest.get(usize::try_from(table).ok()?..)?;
        let wanted = usize::try_from(n_objects).ok()?.checked_mul(offset_bytes)?;
        Some(Self {
            bytes: rest,
            offsets: offsets.get(..wanted)?,
            offset_bytes,
            number_bytes,
            top,
        })
    }

    /// Returns the outermost object.
    pub(crate) fn top(&'a self) -> Option<Object<'a>> {
        self.object(self.top)
    }

    fn object(&'a self, number: u64) -> Option<Object<'a>> {
        let at = usize::try_from(number)
            .ok()?
            .checked_mul(self.offset_bytes)?;
        let offset = Cursor(self.offsets.get(at..)?).be_number(self.offset_bytes)?;
        let mut data = Cursor(self.bytes.get(usize::try_from(offset).ok()?..)?);
        let mark = data.byte()?;
        let length = match mark & 15 {
            // A number of 1, 2, 4 or 8 bytes follows.
            15 => {
                let bytes = 1 << (data.byte()? & 3);
                usize::try_from(data.be_number(bytes)?).ok()?
            }
            length => usize::from(length),
        };
        Some(Object {
            list: self,
            kind: mark >> 4,
            length,
            data: data.0,
        })
    }
}

impl<'a> Object<'a> {
    /// Returns the value for a key in a dictionary.
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        let (keys, values) = self.entries(0xd)?;
        let is_it = |key_number| {
            let object: Option<Self> = self.list.object(key_number);
            object.and_then(Object::text).as_deref() == Some(key)
        };
        let mut pairs = keys.zip(values);
        pairs.find_map(|(found, value)| is_it(found).then(|| self.list.object(value))?)
    }

    /// Returns the entries of an array.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let numbers = self.entries(0xa).map(|(numbers, _)| numbers);
        numbers
            .into_iter()
            .flatten()
            .filter_map(move |number| self.list.object(number))
    }

    /// Returns the number of bytes, characters or entries that the object declares.
    pub(crate) fn declared_length(self) -> usize {
        self.length
    }

    /// Returns the keys of a dictionary with their values.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (Self, Self)> {
        let pairs = self.entries(0xd).map(|(keys, values)| keys.zip(values));
        let object = move |(key, value)| Some((self.list.object(key)?, self.list.object(value)?));
        pairs.into_iter().flatten().filter_map(object)
    }

    /// Returns the numbers of entries, and the same count of numbers after them.
    fn entries(self, kind: u8) -> Option<(impl Iterator<Item = u64>, impl Iterator<Item = u64>)> {
        let width = self.list.number_bytes;
        let n_bytes = self.length.checked_mul(width)?;
        let (first, rest) = self.data.split_at_checked(n_bytes)?;
        let numbers = move |bytes: &'a [u8]| {
            let entries = bytes.chunks_exact(width);
            entries.filter_map(move |entry| Cursor(entry).be_number(width))
        };
        let second = &rest[..n_bytes.min(rest.len())];
        (self.kind == kind).then(|| (numbers(first), numbers(second)))
    }

    /// Returns bytes.
    pub(crate) fn bytes(self) -> Option<&'a [u8]> {
        self.data.get(..self.length).filter(|_| self.kind == 4)
    }

    /// Returns a text.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self.kind {
            5 => self.data.get(..self.length).map(String::from_utf8_lossy),
            6 => {
                let units = self.data.get(..self.length.checked_mul(2)?)?;
                Some(encoding_rs::UTF_16BE.decode_without_bom_handling(units).0)
            }
            _ => None,
        }
    }
}
