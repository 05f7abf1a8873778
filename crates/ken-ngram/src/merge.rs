//! Merges several segments into one, without documents that are no longer needed.
//!
//! Documents keep their order, those of the first segment first, so lists are simply concatenated.
//! A document that was written twice gets the n-grams of both, since more may have been extracted
//! from a file the second time. No text is read again.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use crate::ngram::Ngram;
use crate::postings;
use crate::segment::{Postings, Segment, Version};
use crate::write::{Doc, SegmentWriter};

/// The number of a document that is left out.
const GONE: u32 = u32::MAX;
/// Number of ranges of n-grams for each thread: a thread holds one, and the writer another.
const RANGES: usize = 16;

/// Writes the documents in some segments that `keep` accepts into one segment, each of them once.
/// N-grams are divided among `threads` threads, while this thread writes.
///
/// # Errors
/// Fails if the segment cannot be written.
pub fn merge<W: Write>(
    segments: &[Segment],
    keep: &dyn Fn(Version) -> bool,
    threads: usize,
    out: W,
) -> io::Result<W> {
    let mut docs = Vec::new();
    let maps = numbered(segments, keep, &mut docs);
    let n_docs = docs.len() as u32;
    let merging = Merging {
        segments,
        keeps_all: maps.iter().flatten().copied().eq(0..n_docs),
        maps,
        n_docs,
    };
    let mut writer = SegmentWriter::new(out, n_docs);
    let largest = segments.iter().max_by_key(|segment| segment.n_postings());
    let threads = threads.max(1);
    let ranges = largest.map_or_else(Vec::new, |largest| largest.ranges(threads * RANGES));
    each_in_order(threads, &ranges, &|range| merging.lists(range), |lists| {
        writer.lists(&lists.ngrams, &lists.bytes)
    })?;
    writer.finish(&docs)
}

/// Calls `each` with the result of `make` for each item, in order. The results are made by several
/// threads besides this one, each of which holds one until its turn; a single thread is this one.
fn each_in_order<T: Sync, R: Send, E>(
    threads: usize,
    items: &[T],
    make: &(impl Fn(&T) -> R + Sync),
    mut each: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().try_for_each(|item| each(make(item)));
    }
    thread::scope(|scope| {
        let made: Vec<_> = (0..threads)
            .map(|first| {
                let (made, taken) = mpsc::sync_channel(0);
                scope.spawn(move || {
                    let own = items.iter().skip(first).step_by(threads);
                    // Nothing is received any more if a call failed.
                    own.map(make).try_for_each(|item| made.send(item).ok())
                });
                taken
            })
            .collect();
        let of_turn = made.iter().cycle().take(items.len());
        // If a thread panicked, its result is missing; then this thread panics too, at the end of
        // the scope.
        let mut made = of_turn.map_while(|thread| thread.recv().ok());
        made.try_for_each(&mut each)
    })
}

/// Merged lists of documents, as bits.
#[derive(Default)]
struct Lists {
    bytes: Vec<u8>,
    /// Each n-gram, with the number of its documents and bytes.
    ngrams: Vec<(Ngram, u32, usize)>,
}

impl Lists {
    fn add(&mut self, ngram: Ngram, docs: impl Iterator<Item = u32>, n: u32, n_docs: u32) {
        if n > 0 {
            let start = self.bytes.len();
            postings::encode(docs, n, n_docs, &mut self.bytes);
            self.ngrams.push((ngram, n, self.bytes.len() - start));
        }
    }
}

/// The input of a merge.
struct Merging<'a> {
    segments: &'a [Segment],
    /// The new numbers of each segment's documents.
    maps: Vec<Vec<u32>>,
    /// Whether all documents are kept.
    keeps_all: bool,
    n_docs: u32,
}

impl Merging<'_> {
    /// Merges the lists of a range of n-grams.
    ///
    /// The next n-gram is the smallest of the segments' next ones. These are compared one by one:
    /// many segments contain the same n-gram, and a heap would have to be reordered for each of
    /// them. If all documents are kept, their lists are encoded while they are decoded, which
    /// overlaps two chains of dependent operations.
    fn lists(&self, range: &Range<u64>) -> Lists {
        let mut lists = Lists::default();
        let mut files: Vec<_> = (self.segments.iter().zip(&self.maps))
            .map(|(segment, map)| Entries {
                segment,
                map,
                entries: segment.entries(range.clone()),
                postings: Postings::default(),
            })
            .collect();
        let mut heads: Vec<u64> = files.iter_mut().map(|file| file.next_after(None)).collect();
        let mut list = Vec::new();
        loop {
            let ngram = heads.iter().copied().fold(NO_MORE, u64::min);
            let Ok(found) = Ngram::try_from(ngram) else {
                return lists;
            };
            let same = || {
                let files = heads.iter().zip(&files).filter(|(head, _)| **head == ngram);
                files.map(|(_, file)| file)
            };
            if self.keeps_all {
                let n = same().map(Entries::n).sum();
                lists.add(found, same().flat_map(Entries::all), n, self.n_docs);
            } else {
                list.clear();
                list.extend(same().flat_map(Entries::kept));
                if !list.is_sorted_by(|one, next| one < next) {
                    list.sort_unstable();
                    list.dedup();
                }
                lists.add(found, list.iter().copied(), list.len() as u32, self.n_docs);
            }
            for (head, file) in heads.iter_mut().zip(&mut files) {
                if *head == ngram {
                    *head = file.next_after(Some(found));
                }
            }
        }
    }
}

/// Greater than any n-gram.
const NO_MORE: u64 = u64::MAX;

/// The lists of one segment in a merge.
struct Entries<'a, I> {
    segment: &'a Segment,
    /// The new numbers of its documents.
    map: &'a [u32],
    entries: I,
    /// The next list.
    postings: Postings,
}

impl<I: Iterator<Item = (Ngram, Postings)>> Entries<'_, I> {
    /// Advances to the next list and returns its n-gram; a damaged segment ends where n-grams are
    /// no longer in order.
    fn next_after(&mut self, last: Option<Ngram>) -> u64 {
        let next = self.entries.next();
        let next = next.filter(|(ngram, _)| last.is_none_or(|last| *ngram > last));
        let ngram = next.as_ref().map_or(NO_MORE, |(ngram, _)| (*ngram).into());
        self.postings = next.map(|(_, postings)| postings).unwrap_or_default();
        ngram
    }

    /// Returns the number of documents of the list, or more if it is damaged.
    fn n(&self) -> u32 {
        self.postings.n.min(self.segment.n_docs())
    }

    /// Returns the documents of the list, if all are kept: their new numbers are consecutive.
    fn all(&self) -> impl Iterator<Item = u32> {
        let first = self.map.first().copied().unwrap_or_default();
        let docs = self.segment.documents(&self.postings);
        docs.map(move |doc| first + doc)
    }

    /// Returns the documents of the list that are kept.
    fn kept(&self) -> impl Iterator<Item = u32> {
        let docs = self.segment.documents(&self.postings);
        let docs = docs.map(|doc| self.map[doc as usize]);
        docs.filter(|doc| *doc != GONE)
    }
}

/// Assigns new numbers to the documents, segment by segment.
fn numbered(
    segments: &[Segment],
    keep: &dyn Fn(Version) -> bool,
    docs: &mut Vec<Doc>,
) -> Vec<Vec<u32>> {
    // In one segment each document occurs once.
    let are_several = segments.len() > 1;
    let n_docs = segments.iter().map(|segment| segment.n_docs() as usize);
    let mut known = HashMap::with_capacity(if are_several { n_docs.sum() } else { 0 });
    let of = |segment: &Segment| {
        let n_docs = segment.n_docs() as usize;
        let mut map = vec![GONE; n_docs];
        let mut rows = vec![None; n_docs];
        for row in segment.rows().filter(|row| keep(row.version)) {
            if let Some(slot) = rows.get_mut(row.doc as usize) {
                *slot = Some(row);
            }
        }
        segment.each_name(&mut |doc, name| {
            let Some(row) = rows[doc as usize] else {
                return;
            };
            // Written twice by a run that was stopped, or read again. It may then cover more.
            let fact = (row.version, row.covers.to_bits(), name.len(), hash(name));
            let new = docs.len() as u32;
            let number = match are_several {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_make_comes_in_order() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [1, 2, 7, 200] {
            let mut got = Vec::new();
            let outcome = each_in_order(threads, &items, &|item| item * 2, |made| {
                got.push(made);
                match made < 150 {
                    true => Ok(()),
                    false => Err("full"),
                }
            });
            assert_eq!(outcome, Err("full"), "nobody waits for ever");
            assert_eq!(got, (0..=150).step_by(2).collect::<Vec<_>>());
            got.clear();
            let all = each_in_order(threads, &items, &|item| *item, |made| {
                got.push(made);
                Ok::<_, ()>(())
            });
            assert_eq!((all, &got), (Ok(()), &items));
        }
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn what_a_thread_could_not_make_is_not_left_out() {
        let make = |item: &u32| assert_ne!(*item, 5);
        let _ = each_in_order(3, &[1, 2, 3, 4, 5, 6, 7, 8], &make, |()| Ok::<_, ()>(()));
    }
}
