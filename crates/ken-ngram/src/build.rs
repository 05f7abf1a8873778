//! Builds a file of grams: documents in, each with its grams; all postings out.
//!
//! Grams are numbered as they come. A document is the numbers of its grams, one after the other; at the
//! end the documents are dealt out to the grams by counting, which takes no comparison. What is
//! held is 8 bytes a posting, so a builder is emptied often, and its files are merged.

use std::io::{self, Write};
use std::path::Path;

use crate::gram::{Gram, GramSet, Table};
use crate::pieces::{Piece, Pieces};
use crate::segment::{Covers, Name, Version};
use crate::write::{Doc, SegmentWriter};

/// A file of grams that is being put together.
#[derive(Default)]
pub struct Builder {
    docs: Vec<Doc>,
    name_bytes: usize,
    table: Table,
    /// In how many documents each gram is.
    counts: Vec<u32>,
    /// The grams of all documents, and where those of each end.
    grams: Vec<u32>,
    ends: Vec<u32>,
    /// The documents of all grams, while a file is written; kept for the next one.
    postings: Vec<u32>,
}

impl Builder {
    /// Adds a document. If it has too many grams it is known, but never left out.
    pub fn add(
        &mut self,
        version: Version,
        path: &Path,
        inside: &str,
        covers: Covers,
        grams: &GramSet,
    ) {
        let covers = match grams.grams() {
            Some(grams) => {
                self.count(grams);
                covers
            }
            None => Covers::default(),
        };
        self.ends.push(self.grams.len() as u32);
        let name = Name::bytes(path, inside);
        self.name_bytes += name.len() + size_of::<Doc>();
        self.docs.push(Doc {
            version,
            covers,
            name,
            extent: None,
        });
    }

    /// Adds the pieces of the document that was added last.
    pub fn pieces(&mut self, pieces: &Pieces) {
        for Piece { extent, grams } in pieces.pieces() {
            self.count(grams);
            self.ends.push(self.grams.len() as u32);
            self.name_bytes += size_of::<Doc>();
            self.docs.push(Doc::piece(*extent));
        }
    }

    fn count(&mut self, grams: &[Gram]) {
        self.grams.reserve(grams.len());
        self.table.number(grams, |number| {
            match self.counts.get_mut(number as usize) {
                Some(count) => *count += 1,
                None => self.counts.push(1),
            }
            self.grams.push(number);
        });
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Returns about how many bytes of memory it takes, with what finishing it will take.
    pub fn memory_bytes(&self) -> usize {
        let n_bytes = self.grams.len() * 2 + self.ends.len() + self.counts.len() * 2;
        n_bytes * size_of::<u32>() + self.table.memory_bytes() + self.name_bytes
    }

    /// Writes all of it and begins anew.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn finish<W: Write>(&mut self, out: W) -> io::Result<W> {
        let numbered = (0_u64..).zip(&self.table.keys);
        let mut order: Vec<u64> =
            (numbered.map(|(number, gram)| u64::from(*gram) << 32 | number)).collect();
        order.sort_unstable();
        // Where the next document of each gram goes.
        let mut places = vec![0_u32; order.len()];
        let mut at = 0;
        for entry in &order {
            let number = *entry as u32 as usize;
            places[number] = at;
            at += self.counts[number];
        }
        self.postings.resize(self.grams.len(), 0);
        let mut start = 0;
        for (doc, end) in (0..).zip(&self.ends) {
            for number in &self.grams[start..*end as usize] {
                let place = &mut places[*number as usize];
                self.postings[*place as usize] = doc;
                *place += 1;
            }
            start = *end as usize;
        }
        let mut writer = SegmentWriter::new(out, self.docs.len() as u32);
        let mut rest = self.postings.as_slice();
        for entry in order {
            let (gram, number) = ((entry >> 32) as Gram, entry as u32 as usize);
            let (docs, others) = rest.split_at(self.counts[number] as usize);
            writer.gram(gram, docs)?;
            rest = others;
        }
        let out = writer.finish(&self.docs)?;
        self.clear();
        Ok(out)
    }

    /// Forgets all but the room, which the next documents need as well.
    fn clear(&mut self) {
        self.docs.clear();
        self.name_bytes = 0;
        self.table.clear();
        self.counts.clear();
        self.grams.clear();
        self.ends.clear();
        self.postings.clear();
    }
}
