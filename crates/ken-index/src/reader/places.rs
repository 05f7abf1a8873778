//! Locations of many documents, and the documents of a location.
//!
//! The locations of a segment are a column of ordinals with a sorted dictionary. A location is looked up in the dictionary
//! once; then the documents of its file are told by their ordinals, which are numbers of the column. In a mailbox of 100,000
//! messages that is one look-up instead of 100,000.

use std::ops::{Bound, Range};

use ken_core::Location;
use ken_engine::{DocAddress, Error, Files};
use tantivy::TantivyError;

use super::Snapshot;
use crate::doc_address::AddressParts;

/// Stands between components of a member path.
const BETWEEN: u8 = b'|';

impl Snapshot {
    /// Returns the locations of documents in the order of their addresses in `addresses`.
    pub(super) fn many_locations(&self, addresses: &[DocAddress]) -> Result<Vec<Location>, Error> {
        let mut numbers: Vec<usize> = (0..addresses.len()).collect();
        numbers.sort_unstable_by_key(|number| addresses[*number]);
        let mut found = Vec::with_capacity(addresses.len());
        for numbers in numbers.chunk_by(|a, b| addresses[*a].segment() == addresses[*b].segment()) {
            let locations = self.locations_in_segment(numbers, addresses)?;
            found.extend(numbers.iter().copied().zip(locations));
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, location)| location).collect())
    }

    /// Returns the locations of documents of one segment.
    pub(super) fn locations_in_segment(
        &self,
        numbers: &[usize],
        addresses: &[DocAddress],
    ) -> Result<Vec<Location>, Error> {
        let column = self.location_column(addresses[numbers[0]].segment())?;
        let ordinal = |number: &usize| column.ords().first(addresses[*number].doc());
        let ordinals: Vec<Option<u64>> = numbers.iter().map(ordinal).collect();
        let mut sorted: Vec<u64> = ordinals.iter().flatten().copied().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut read = Vec::with_capacity(sorted.len());
        column
            .dictionary()
            .sorted_ords_to_term_cb(&sorted, |bytes| read.push(Location::from_bytes(bytes)))
            .map_err(|error| self.error(TantivyError::from(error)))?;
        let location = |ordinal: &Option<u64>| {
            let at = ordinal.and_then(|ordinal| sorted.binary_search(&ordinal).ok());
            at.and_then(|at| read.get(at).cloned())
                .unwrap_or_else(|| Location::from_bytes(&[]))
        };
        Ok(ordinals.iter().map(location).collect())
    }

    /// Returns the documents at a location, and its members if they are wanted.
    pub(super) fn documents_named(
        &self,
        location: &Location,
        with_members: bool,
    ) -> Result<Vec<DocAddress>, Error> {
        let mut documents = self.documents_of(self.meta.hasher.key(&location.path))?;
        if with_members && location.ipath.is_root() {
            return Ok(documents);
        }
        documents.sort_unstable();
        let mut named = Vec::new();
        for documents in documents.chunk_by(|a, b| a.segment() == b.segment()) {
            let segment = documents[0].segment();
            let ordinals = self.ordinals(segment, location, with_members)?;
            let column = self.location_column(segment)?;
            let is_named = |at: &&DocAddress| {
                let own = column.ords().first(at.doc());
                own.is_some_and(|own| ordinals.iter().any(|ordinals| ordinals.contains(&own)))
            };
            named.extend(documents.iter().filter(is_named));
        }
        Ok(named)
    }

    /// Returns the ordinals of a location in a segment, and of its members if they are wanted.
    fn ordinals(
        &self,
        segment: u32,
        location: &Location,
        with_members: bool,
    ) -> Result<Vec<Range<u64>>, Error> {
        let dictionary = self.location_column(segment)?.dictionary();
        let failed = |error| self.error(TantivyError::from(error));
        let own_bytes = location.to_bytes();
        let own = dictionary.term_ord(&own_bytes).map_err(failed)?;
        let mut ordinals: Vec<Range<u64>> = own.map(|own| own..own + 1).into_iter().collect();
        if with_members {
            let behind = |byte| [own_bytes.as_slice(), &[byte]].concat();
            let (first, end) = (behind(BETWEEN), behind(BETWEEN + 1));
            let bounds =
                dictionary.term_bounds_to_ord(Bound::Included(first), Bound::Excluded(end));
            let (first, end) = bounds.map_err(failed)?;
            ordinals.push(start_of(first)..end_of(end));
        }
        Ok(ordinals)
    }
}

fn start_of(bound: Bound<u64>) -> u64 {
    match bound {
        Bound::Included(first) => first,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    }
}

fn end_of(bound: Bound<u64>) -> u64 {
    match bound {
        Bound::Included(last) => last + 1,
        Bound::Excluded(end) => end,
        Bound::Unbounded => u64::MAX,
    }
}
