//! A dictionary as the automaton that it is, traversed together with another one.
//!
//! The engine can do this too (`TermDictionary::search`), but it first reads each child of a node
//! and then asks whether the child may lead to a match. A node has up to 256 children, in different
//! parts of the file, and for a fuzzy word nearly all of them lead nowhere. Here the automaton is
//! asked first. The posting info of a term is not available this way: the dictionary is asked for
//! it, once for each matching term; for consecutive terms, [`TermInfos`] has it.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use tantivy::directory::{CompositeFile, ManagedDirectory, OwnedBytes};
use tantivy::index::SegmentId;
use tantivy::schema::Field as Column;
use tantivy::{Directory, SegmentReader};
use tantivy_common::BinarySerializable;
use tantivy_fst::Automaton;
use tantivy_fst::raw::{Fst, Node};

use super::infos::{TermInfos, damaged};

/// The engine's file extension for the dictionaries of a segment.
const EXTENSION: &str = "term";
/// Size of the end of a dictionary: the length of the preceding table of infos (8 bytes), the
/// version of the automaton and the kind of dictionary (4 bytes each).
const FOOTER_BYTES: usize = 16;

/// The dictionaries of a snapshot, opened at first use and then read without a lock.
#[derive(Debug)]
pub(super) struct Tries {
    directory: ManagedDirectory,
    opened: Vec<(SegmentId, OnceLock<CompositeFile>)>,
}

impl Tries {
    pub(super) fn new(directory: ManagedDirectory, segments: &[SegmentReader]) -> Self {
        let segments = segments.iter().map(SegmentReader::segment_id);
        Self {
            directory,
            opened: segments.map(|id| (id, OnceLock::new())).collect(),
        }
    }

    /// Returns the dictionary of a field in a segment; `None` if it has no terms.
    pub(super) fn of(&self, segment: SegmentId, column: Column) -> io::Result<Option<Trie>> {
        let parts = self.parts(segment, column)?;
        parts.map(|parts| Trie::read(parts.automaton)).transpose()
    }

    /// Returns the posting infos of its terms; `None` if it has no terms.
    pub(super) fn infos(
        &self,
        segment: SegmentId,
        column: Column,
    ) -> io::Result<Option<TermInfos>> {
        let parts = self.parts(segment, column)?;
        parts.map(Parts::infos).transpose()
    }

    fn parts(&self, segment: SegmentId, column: Column) -> io::Result<Option<Parts>> {
        match self.file(segment)?.and_then(|file| file.open_read(column)) {
            Some(dictionary) => Parts::of(&dictionary.read_bytes()?).map(Some),
            None => Ok(None),
        }
    }

    /// Returns whether a field has no terms in a segment.
    pub(super) fn is_absent(&self, segment: SegmentId, column: Column) -> io::Result<bool> {
        let file = self.file(segment)?;
        Ok(file.is_some_and(|file| file.open_read(column).is_none()))
    }

    fn file(&self, segment: SegmentId) -> io::Result<Option<&CompositeFile>> {
        let Some((_, file)) = self.opened.iter().find(|(id, _)| *id == segment) else {
            return Ok(None);
        };
        if let Some(file) = file.get() {
            return Ok(Some(file));
        }
        let opened = self.open(segment)?;
        Ok(Some(file.get_or_init(|| opened)))
    }

    /// The engine has already mapped the file, and the directory returns the same map, even when
    /// the file was deleted in the meantime.
    fn open(&self, segment: SegmentId) -> io::Result<CompositeFile> {
        let name = PathBuf::from(segment.uuid_string()).with_extension(EXTENSION);
        let file = self.directory.open_read(&name).map_err(io::Error::other)?;
        CompositeFile::open(&file)
    }
}

/// The engine's data for the dictionary of a field.
struct Parts {
    automaton: OwnedBytes,
    infos: OwnedBytes,
}

impl Parts {
    fn of(dictionary: &OwnedBytes) -> io::Result<Self> {
        let ends = dictionary.len().checked_sub(FOOTER_BYTES);
        let ends = ends.ok_or_else(damaged)?;
        let n_bytes = u64::deserialize(&mut &dictionary.as_slice()[ends..])?;
        let n_bytes = usize::try_from(n_bytes).ok();
        let automaton = n_bytes.and_then(|n_bytes| ends.checked_sub(n_bytes));
        let automaton = automaton.ok_or_else(damaged)?;
        Ok(Self {
            automaton: dictionary.slice(0..automaton),
            infos: dictionary.slice(automaton..ends),
        })
    }

    /// Reads the table of infos, if it has as many terms as the automaton.
    fn infos(self) -> io::Result<TermInfos> {
        let infos = TermInfos::read(&self.infos)?;
        match Trie::read(self.automaton)?.0.len() as u64 == infos.n_terms {
            true => Ok(infos),
            false => Err(damaged()),
        }
    }
}

/// The dictionary of a field in a segment.
pub(crate) struct Trie(Fst<OwnedBytes>);

/// A node on the path from the root to the current node.
struct Step<'a, S> {
    node: Node<'a>,
    /// Index of its next child.
    next: usize,
    state: S,
}

impl Trie {
    fn read(automaton: OwnedBytes) -> io::Result<Self> {
        Fst::new(automaton).map(Self).map_err(io::Error::other)
    }

    /// Calls `each` with the terms that an automaton matches, in order.
    ///
    /// # Errors
    /// Ends with the first error of `each`.
    pub(crate) fn try_each<A: Automaton, E>(
        &self,
        automaton: &A,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut term = Vec::new();
        let mut steps = vec![Step {
            node: self.0.root(),
            next: 0,
            state: automaton.start(),
        }];
        while let Some(step) = steps.last_mut() {
            let alive = (step.next..step.node.len()).find_map(|child| {
                let way = step.node.transition(child);
                let state = automaton.accept(&step.state, way.inp);
                let way = automaton.can_match(&state).then_some(way)?;
                Some((child, way, state))
            });
            let Some((child, way, state)) = alive else {
                steps.pop();
                term.pop();
                continue;
            };
            step.next = child + 1;
            term.push(way.inp);
            let node = self.0.node(way.addr);
            if node.is_final() && automaton.is_match(&state) {
                each(&term)?;
            }
            steps.push(Step {
                node,
                next: 0,
                state,
            });
        }
        Ok(())
    }

    /// Calls `each` with the terms that an automaton matches, in order.
    pub(crate) fn each<A: Automaton>(&self, automaton: &A, each: &mut dyn FnMut(&[u8])) {
        let mut fine = |term: &[u8]| -> Result<(), Infallible> {
            each(term);
            Ok(())
        };
        let Ok(()) = self.try_each(automaton, &mut fine);
    }
}

#[cfg(test)]
mod tests {
    use levenshtein_automata::LevenshteinAutomatonBuilder;
    use proptest::prelude::*;
    use tantivy::postings::TermInfo;
    use tantivy::termdict::{TermDictionary, TermDictionaryBuilder};
    use tantivy_common::file_slice::FileSlice;

    use super::*;
    use crate::dictionary::automaton::FuzzyAutomaton;

    fn dictionary(terms: &std::collections::BTreeSet<String>) -> Vec<u8> {
        let infos = terms.iter().zip(0..).map(|(term, number)| {
            let info = TermInfo {
                doc_freq: 1,
                postings_range: number..number + 1,
                positions_range: number..number + 1,
            };
            (term.clone(), info)
        });
        dictionary_of(infos)
    }

    fn dictionary_of(terms: impl Iterator<Item = (String, TermInfo)>) -> Vec<u8> {
        let mut builder = TermDictionaryBuilder::create(Vec::new()).unwrap();
        for (term, info) in terms {
            builder.insert(term, &info).unwrap();
        }
        builder.finish().unwrap()
    }

    proptest! {
        #[test]
        fn a_walk_finds_what_the_engine_finds(
            terms in prop::collection::btree_set("[abcé]{0,6}", 0..60),
            word in "[abcé]{0,5}",
            distance in 1..3_u8,
        ) {
            let bytes = dictionary(&terms);
            let dfa = LevenshteinAutomatonBuilder::new(distance, true).build_dfa(&word);
            let engine = TermDictionary::open(FileSlice::from(bytes.clone())).unwrap();
            let mut stream = engine.search(FuzzyAutomaton(&dfa)).into_stream().unwrap();
            let mut expected = Vec::new();
            while stream.advance() {
                // The empty term is not a term, and the index has none.
                if !stream.key().is_empty() {
                    expected.push(stream.key().to_vec());
                }
            }
            let mut found = Vec::new();
            let trie = Trie::read(Parts::of(&OwnedBytes::new(bytes)).unwrap().automaton).unwrap();
            trie.each(&FuzzyAutomaton(&dfa), &mut |term| found.push(term.to_vec()));
            prop_assert_eq!(found, expected);
        }
    }

    proptest! {
        #[test]
        fn infos_are_those_that_the_engine_finds(
            // Several blocks, with long and short lists.
            sizes in prop::collection::vec((0..1_u32 << 20, 0..70_000_usize, 0..300_usize), 1..800),
            start in 0..1_usize << 50,
            from in 0..800_u64,
            n in 0..800_u64,
        ) {
            let (mut postings, mut positions) = (start, start / 3);
            let infos: Vec<TermInfo> = sizes.into_iter().map(|(doc_freq, bytes, more)| {
                let info = TermInfo {
                    doc_freq,
                    postings_range: postings..postings + bytes,
                    positions_range: positions..positions + more,
                };
                (postings, positions) = (postings + bytes, positions + more);
                info
            }).collect();
            let terms = infos.iter().enumerate().map(|(at, info)| (format!("{at:04}"), info.clone()));
            let bytes = dictionary_of(terms);
            let read = Parts::of(&OwnedBytes::new(bytes)).unwrap().infos().unwrap();
            prop_assert_eq!(read.n_terms, infos.len() as u64);
            let from = from.min(read.n_terms);
            let to = (from + n).min(read.n_terms);
            let mut found = Vec::new();
            read.each(from..to, &mut |info| {
                found.push(info.clone());
                Ok::<_, io::Error>(())
            }).unwrap();
            prop_assert_eq!(&found, &infos[from as usize..to as usize]);
            let more = read.each(from..read.n_terms + 1, &mut |_| Ok::<_, io::Error>(()));
            prop_assert!(more.is_err());
        }

        #[test]
        fn damaged_offsets_do_no_harm(
            n in 1..600_usize,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let terms = (0..n).map(|at| {
                let info = TermInfo {
                    doc_freq: at as u32,
                    postings_range: at * 9..at * 9 + 9,
                    positions_range: at * 5..at * 5 + 5,
                };
                (format!("{at:04}"), info)
            });
            let mut bytes = Parts::of(&OwnedBytes::new(dictionary_of(terms))).unwrap().infos.to_vec();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let whole = bytes.len();
            for length in [whole, cut.index(whole)] {
                let table = OwnedBytes::new(bytes[..length].to_vec());
                if let Ok(infos) = TermInfos::read(&table) {
                    let end = infos.n_terms.min(1_000);
                    let _ = infos.each(0..end, &mut |_| Ok::<_, io::Error>(()));
                }
            }
        }
    }

    #[test]
    fn a_table_of_another_number_of_terms_is_an_error() {
        let terms = (0..300).map(|number| format!("{number:03}")).collect();
        let bytes = dictionary(&terms);
        let table = bytes.len()
            - Parts::of(&OwnedBytes::new(bytes.clone()))
                .unwrap()
                .infos
                .len();
        let number = table - FOOTER_BYTES + 8;
        assert_eq!(bytes[number..number + 8], 300_u64.to_le_bytes());
        // One bit: in one block, in as many blocks, in far more than there are.
        for (at, bit) in [(1, 1), (0, 1), (4, 1), (7, 128)] {
            let mut damaged = bytes.clone();
            damaged[number + at] ^= bit;
            assert!(
                Parts::of(&OwnedBytes::new(damaged))
                    .unwrap()
                    .infos()
                    .is_err()
            );
        }
        assert!(Parts::of(&OwnedBytes::new(bytes)).unwrap().infos().is_ok());
    }

    #[test]
    fn a_damaged_footer_is_an_error() {
        let bytes = dictionary(&["a".to_owned(), "b".to_owned()].into());
        let read =
            |bytes: &[u8]| Trie::read(Parts::of(&OwnedBytes::new(bytes.to_vec()))?.automaton);
        assert!(read(&bytes).is_ok());
        assert!(read(&bytes[bytes.len() - 10..]).is_err());
        let mut damaged = bytes;
        let at = damaged.len() - 14;
        damaged[at] = 255;
        assert!(read(&damaged).is_err());
    }
}
