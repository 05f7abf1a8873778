//! A dictionary as the automaton that it is, walked together with another one.
//!
//! The engine does so too (`TermDictionary::search`), but it looks at each child of a node and asks
//! then whether that may lead to a match. A node has up to 256 children, each somewhere else in the
//! file, and in the walk for a fuzzy word nearly all of them lead nowhere. Here the automaton is
//! asked first. What cannot be had this way is the place of a term's postings: the dictionary is
//! asked for that, once for each term that matches.

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

/// What the engine names the file of a segment's dictionaries.
const EXTENSION: &str = "term";
/// At the end of a dictionary: how long the list of postings before it is (8 bytes), the version of
/// the automaton and the kind of dictionary (4 bytes each).
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
        match self.file(segment)?.and_then(|file| file.open_read(column)) {
            Some(dictionary) => Trie::read(&dictionary.read_bytes()?).map(Some),
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

    /// The engine has the file mapped already, and the directory hands out the same map, also when
    /// the file was deleted in the meantime.
    fn open(&self, segment: SegmentId) -> io::Result<CompositeFile> {
        let name = PathBuf::from(segment.uuid_string()).with_extension(EXTENSION);
        let file = self.directory.open_read(&name).map_err(io::Error::other)?;
        CompositeFile::open(&file)
    }
}

/// The dictionary of a field in a segment.
pub(crate) struct Trie(Fst<OwnedBytes>);

/// A node on the way from the root to where the walk is.
struct Step<'a, S> {
    node: Node<'a>,
    /// Which of its children comes next.
    next: usize,
    state: S,
}

impl Trie {
    /// Reads what the engine wrote for a field.
    fn read(dictionary: &OwnedBytes) -> io::Result<Self> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a damaged dictionary");
        let ends = dictionary.len().checked_sub(FOOTER_BYTES);
        let ends = ends.ok_or_else(damaged)?;
        let postings = u64::deserialize(&mut &dictionary.as_slice()[ends..])?;
        let postings = usize::try_from(postings).ok();
        let automaton = postings.and_then(|bytes| ends.checked_sub(bytes));
        let automaton = dictionary.slice(0..automaton.ok_or_else(damaged)?);
        Fst::new(automaton).map(Self).map_err(io::Error::other)
    }

    /// Calls `each` with the terms that an automaton matches, in their order.
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

    /// Calls `each` with the terms that an automaton matches, in their order.
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
    use tantivy::termdict::{TermDictionary, TermDictionaryBuilder};
    use tantivy_common::file_slice::FileSlice;

    use super::*;
    use crate::query::FuzzyAutomaton;

    fn dictionary(terms: &std::collections::BTreeSet<String>) -> Vec<u8> {
        let mut builder = TermDictionaryBuilder::create(Vec::new()).unwrap();
        for (number, term) in terms.iter().enumerate() {
            let info = tantivy::postings::TermInfo {
                doc_freq: 1,
                postings_range: number..number + 1,
                positions_range: number..number + 1,
            };
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
                // The empty term is none, and the index has none.
                if !stream.key().is_empty() {
                    expected.push(stream.key().to_vec());
                }
            }
            let mut found = Vec::new();
            let trie = Trie::read(&OwnedBytes::new(bytes)).unwrap();
            trie.each(&FuzzyAutomaton(&dfa), &mut |term| found.push(term.to_vec()));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_damaged_footer_is_an_error() {
        let bytes = dictionary(&["a".to_owned(), "b".to_owned()].into());
        let read = |bytes: &[u8]| Trie::read(&OwnedBytes::new(bytes.to_vec()));
        assert!(read(&bytes).is_ok());
        assert!(read(&bytes[bytes.len() - 10..]).is_err());
        let mut damaged = bytes;
        let at = damaged.len() - 14;
        damaged[at] = 255;
        assert!(read(&damaged).is_err());
    }
}
