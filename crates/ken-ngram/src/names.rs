//! The names of the documents of a segment, each stored as what it adds to the name before it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::take_number;

use crate::segment::{NAME, NAME_OFFSETS, NAMES, Segment};

/// Returns the stored form of a name: the path of a file, and the member path in it, joined; empty for the file itself.
pub(crate) fn stored(path: &Path, inside: &str) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b"\0", inside.as_bytes()].concat()
}

/// Reads names of documents. Ascending numbers are fast: each block of names is then unpacked once.
pub struct Names<'s> {
    segment: &'s Segment,
    /// The names of the current block that are not unpacked yet.
    packed: &'s [u8],
    /// The document whose name is next in `packed`.
    next: usize,
    /// The name before it.
    name: Vec<u8>,
}

impl Names<'_> {
    /// Returns the path of the file that a document is or is in; none if it is damaged.
    pub fn path(&mut self, doc: u32) -> Option<&Path> {
        let name = self.stored(doc)?;
        let end = memchr::memchr(0, name)?;
        Some(Path::new(OsStr::from_bytes(&name[..end])))
    }

    fn stored(&mut self, doc: u32) -> Option<&[u8]> {
        let doc = doc as usize;
        // The next document may be the first of another block.
        let is_ahead = self.next <= doc
            && !self.next.is_multiple_of(NAMES)
            && self.next / NAMES == doc / NAMES;
        if !is_ahead {
            self.packed = self.segment.name_block(doc / NAMES)?;
            self.next = doc / NAMES * NAMES;
        }
        while self.next <= doc {
            if next_name(&mut self.packed, &mut self.name).is_none() {
                self.next = 0;
                return None;
            }
            self.next += 1;
        }
        Some(&self.name)
    }
}

impl Segment {
    /// Reads names of documents.
    pub fn names(&self) -> Names<'_> {
        Names {
            segment: self,
            packed: &[],
            next: 0,
            name: Vec::new(),
        }
    }

    /// Calls `each` with the names of all documents, in order; they are not compared with their sums.
    pub(crate) fn each_name(&self, each: &mut dyn FnMut(u32, &[u8])) {
        let mut name = Vec::new();
        let mut names = self.part(NAME);
        for doc in 0..self.n_docs() {
            if next_name(&mut names, &mut name).is_none() {
                name.clear();
            }
            each(doc, &name);
        }
    }

    /// Returns the names from the first of a block on; none if the block is damaged.
    fn name_block(&self, block: usize) -> Option<&[u8]> {
        let start = self.name_offset(block)?;
        let end = self.name_offset(block + 1);
        let end = end.unwrap_or(self.part(NAME).len());
        let offsets = 8 * block..8 * (block + 2);
        let is_unchanged =
            self.is_unchanged(NAME_OFFSETS, offsets) && self.is_unchanged(NAME, start..end);
        self.part(NAME).get(start..).filter(|_| is_unchanged)
    }

    fn name_offset(&self, block: usize) -> Option<usize> {
        let offsets = self.part(NAME_OFFSETS).as_chunks::<8>().0;
        usize::try_from(u64::from_le_bytes(*offsets.get(block)?)).ok()
    }
}

/// Unpacks the next name, given the one before it.
fn next_name(names: &mut &[u8], name: &mut Vec<u8>) -> Option<()> {
    let shared = usize::try_from(take_number(names)?).ok()?;
    let length = usize::try_from(take_number(names)?).ok()?;
    let (more, rest) = names.split_at_checked(length)?;
    name.truncate(shared);
    name.extend_from_slice(more);
    *names = rest;
    Some(())
}
