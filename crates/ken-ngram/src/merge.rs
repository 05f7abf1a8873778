//! Makes one file of several, without what is no longer of use.
//!
//! Documents keep their order, those of the first file first; so lists are joined one after the other.
//! A document that was written twice gets the grams of both: what was extracted of a file may have
//! become more. No text is read again.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Write};

use crate::gram::Gram;
use crate::segment::{Postings, Segment, Version};
use crate::write::{Doc, SegmentWriter};

/// A document that is left out.
const GONE: u32 = u32::MAX;

/// Writes the documents of some files into one: those to `keep`, each once.
///
/// # Errors
/// Fails if it cannot be written.
pub fn merge<W: Write>(
    segments: &[Segment],
    keep: &dyn Fn(Version) -> bool,
    out: W,
) -> io::Result<W> {
    let mut docs = Vec::new();
    let maps: Vec<_> = numbered(segments, keep, &mut docs);
    let mut writer = SegmentWriter::new(out, docs.len() as u32);
    let mut entries: Vec<_> = segments.iter().map(Segment::entries).collect();
    let mut heads: Vec<Option<(Gram, Postings)>> = entries.iter_mut().map(Iterator::next).collect();
    let mut queue: BinaryHeap<_> = (0..heads.len())
        .filter_map(|of| heads[of].as_ref().map(|(gram, _)| Reverse((*gram, of))))
        .collect();
    let mut list = Vec::new();
    loop {
        let Some(mut first) = queue.peek_mut() else {
            break;
        };
        let Reverse((gram, of)) = *first;
        if let Some((_, postings)) = heads[of].take() {
            let new = segments[of]
                .documents(&postings)
                .map(|doc| maps[of][doc as usize]);
            list.extend(new.filter(|doc| *doc != GONE));
        }
        heads[of] = entries[of].next();
        // A damaged file may not be in order.
        match heads[of].as_ref().filter(|(next, _)| *next > gram) {
            Some((next, _)) => {
                *first = Reverse((*next, of));
                drop(first);
            }
            None => _ = PeekMut::pop(first),
        }
        if queue.peek().is_none_or(|Reverse((next, _))| *next != gram) {
            if !list.is_sorted_by(|one, next| one < next) {
                list.sort_unstable();
                list.dedup();
            }
            writer.gram(gram, &list)?;
            list.clear();
        }
    }
    writer.finish(&docs)
}

/// Gives the documents their new numbers, by file.
fn numbered(
    segments: &[Segment],
    keep: &dyn Fn(Version) -> bool,
    docs: &mut Vec<Doc>,
) -> Vec<Vec<u32>> {
    let mut known = BTreeMap::new();
    let of = |segment: &Segment| {
        let n_docs = segment.n_docs() as usize;
        let mut map = vec![GONE; n_docs];
        let mut rows = vec![None; n_docs];
        for row in segment.rows().filter(|row| keep(row.version)) {
            if let Some(place) = rows.get_mut(row.doc as usize) {
                *place = Some(row);
            }
        }
        segment.each_name(&mut |doc, name| {
            let Some(row) = rows[doc as usize] else {
                return;
            };
            // Written twice by a run that was stopped, or read anew. What it covers may be more then.
            let fact = (row.version, row.covers.to_bits(), name.len(), hash(name));
            let new = docs.len() as u32;
            let number = match segments.len() > 1 {
                true => *known.entry(fact).or_insert(new),
                false => new,
            };
            map[doc as usize] = number;
            if number == new {
                docs.push(Doc {
                    version: row.version,
                    covers: row.covers,
                    name: name.to_vec(),
                    extent: None,
                });
                for (piece, extent) in segment.pieces(doc) {
                    if let Some(number) = map.get_mut(piece as usize) {
                        *number = docs.len() as u32;
                        docs.push(Doc::piece(extent));
                    }
                }
            }
        });
        map
    };
    segments.iter().map(of).collect()
}

fn hash(name: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
}
