//! Counts by the terms of keyword fields: one pass over postings, without reading documents.

use std::collections::{BTreeMap, BTreeSet};

use ken_core::{Field, FileKey, Kind};
use ken_engine::Tally;
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use crate::schema::{Columns, KEY};

/// Properties of each document of a segment besides its media type.
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
            let mut by_kind = Kind::ALL.map(|_| Tally::default());
            each_alive(segment, docs, &mut |doc| {
                if let Some(of) = traits.get(doc as usize) {
                    count(&mut by_kind[of.kind as usize], *of);
                }
            });
            for ((_, kind), tally) in Kind::ALL.into_iter().zip(by_kind) {
                if tally.documents > 0 {
                    let key = (media_type.to_owned(), kind);
                    join(tallies.entry(key).or_default(), &tally);
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

fn join(tally: &mut Tally, other: &Tally) {
    tally.files += other.files;
    tally.failed_files += other.failed_files;
    tally.documents += other.documents;
    tally.failed_documents += other.failed_documents;
}

fn count(tally: &mut Tally, of: Traits) {
    tally.documents += 1;
    tally.failed_documents += u64::from(of.is_failed);
    tally.files += u64::from(!of.is_member);
    tally.failed_files += u64::from(!of.is_member && of.is_failed);
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

/// Returns the terms of a field of keywords, in no order.
pub(crate) fn values(segments: &[SegmentReader], column: Column) -> tantivy::Result<Vec<String>> {
    let mut values = BTreeSet::new();
    for segment in segments {
        let index = segment.inverted_index(column)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            if let Ok(term) = std::str::from_utf8(terms.key()) {
                values.insert(term.to_owned());
            }
        }
    }
    Ok(values.into_iter().collect())
}

/// Returns the files with a document that has one of some terms, sorted.
pub(crate) fn files_with(
    segments: &[SegmentReader],
    column: Column,
    values: &[&str],
) -> tantivy::Result<Vec<FileKey>> {
    let mut files = Vec::new();
    for segment in segments {
        let keys = segment.fast_fields().u64(KEY)?;
        let index = segment.inverted_index(column)?;
        for value in values {
            let term = Term::from_field_text(column, value);
            if let Some(mut docs) = index.read_postings(&term, IndexRecordOption::Basic)? {
                each_alive(segment, &mut docs, &mut |doc| {
                    files.extend(keys.first(doc).map(FileKey));
                });
            }
        }
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
