//! Counts by the terms of keyword fields: one pass over postings, without reading documents.

use std::collections::BTreeMap;

use ken_core::{Field, FileKey, Kind};
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, TERMINATED};

use crate::schema::{Columns, KEY};

/// The number of documents of a media type and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Media type.
    pub media_type: String,
    /// Name of the kind.
    pub kind: &'static str,
    /// Number of files, without documents inside them.
    pub files: u64,
    /// Number of files whose own document has a failure.
    pub failed_files: u64,
    /// Number of documents, including files.
    pub documents: u64,
    /// Number of documents with a failure.
    pub failed_documents: u64,
}

/// Properties of each document of a segment, besides its media type.
#[derive(Clone, Copy)]
struct Traits {
    kind: Kind,
    is_member: bool,
    is_failed: bool,
}

/// Counts the documents of all segments.
pub(crate) fn tally(segments: &[SegmentReader], columns: &Columns) -> tantivy::Result<Vec<Tally>> {
    let mut tallies: BTreeMap<(String, &'static str), Tally> = BTreeMap::new();
    for segment in segments {
        let traits = traits(segment, columns)?;
        each_term(segment, columns.of(Field::Mime), &mut |media_type, docs| {
            let mut by_kind = [const { Tally::none() }; Kind::ALL.len()];
            each_alive(segment, docs, &mut |doc| {
                if let Some(of) = traits.get(doc as usize) {
                    by_kind[of.kind as usize].add(*of);
                }
            });
            for ((_, kind), tally) in Kind::ALL.into_iter().zip(by_kind) {
                if tally.documents > 0 {
                    let key = (media_type.to_owned(), kind);
                    tallies.entry(key).or_default().join(&tally);
                }
            }
        })?;
    }
    let named = tallies
        .into_iter()
        .map(|((media_type, kind), tally)| Tally {
            media_type,
            kind,
            ..tally
        });
    Ok(named.collect())
}

impl Tally {
    const fn none() -> Self {
        Self {
            media_type: String::new(),
            kind: "",
            files: 0,
            failed_files: 0,
            documents: 0,
            failed_documents: 0,
        }
    }

    fn join(&mut self, other: &Self) {
        self.files += other.files;
        self.failed_files += other.failed_files;
        self.documents += other.documents;
        self.failed_documents += other.failed_documents;
    }

    fn add(&mut self, of: Traits) {
        self.documents += 1;
        self.failed_documents += u64::from(of.is_failed);
        self.files += u64::from(!of.is_member);
        self.failed_files += u64::from(!of.is_member && of.is_failed);
    }
}

fn traits(segment: &SegmentReader, columns: &Columns) -> tantivy::Result<Vec<Traits>> {
    let nothing = Traits {
        kind: Kind::Other,
        is_member: false,
        is_failed: false,
    };
    let mut traits = vec![nothing; segment.max_doc() as usize];
    let mut set = |docs: &mut SegmentPostings, set: &dyn Fn(&mut Traits)| {
        each_alive(segment, docs, &mut |doc| {
            if let Some(of) = traits.get_mut(doc as usize) {
                set(of);
            }
        });
    };
    each_term(segment, columns.of(Field::Type), &mut |name, docs| {
        let kind = name.parse().unwrap_or(Kind::Other);
        set(docs, &|of| of.kind = kind);
    })?;
    each_term(
        segment,
        columns.of(Field::Is),
        &mut |name, docs| match name {
            "member" => set(docs, &|of| of.is_member = true),
            "failed" => set(docs, &|of| of.is_failed = true),
            _ => {}
        },
    )?;
    Ok(traits)
}

/// Returns the files with a document that has an accepted term; see
/// [`crate::Snapshot::files_with`].
pub(crate) fn files_with(
    segments: &[SegmentReader],
    column: Column,
    accepts: &dyn Fn(&str) -> bool,
) -> tantivy::Result<Vec<FileKey>> {
    let mut files = Vec::new();
    for segment in segments {
        let keys = segment.fast_fields().u64(KEY)?;
        each_term(segment, column, &mut |term, docs| {
            if accepts(term) {
                each_alive(segment, docs, &mut |doc| {
                    files.extend(keys.first(doc).map(FileKey));
                });
            }
        })?;
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

fn each_term(
    segment: &SegmentReader,
    column: Column,
    take: &mut dyn FnMut(&str, &mut SegmentPostings),
) -> tantivy::Result<()> {
    let index = segment.inverted_index(column)?;
    let mut terms = index.terms().stream()?;
    while terms.advance() {
        // Keywords are text; anything else would be from another program.
        let Ok(term) = std::str::from_utf8(terms.key()) else {
            continue;
        };
        let mut postings =
            index.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
        take(term, &mut postings);
    }
    Ok(())
}

fn each_alive(segment: &SegmentReader, docs: &mut SegmentPostings, take: &mut dyn FnMut(u32)) {
    while docs.doc() != TERMINATED {
        if !segment.is_deleted(docs.doc()) {
            take(docs.doc());
        }
        docs.advance();
    }
}
