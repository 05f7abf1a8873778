//! The most frequent terms that a pattern matches.

use std::collections::HashMap;

use ken_core::Pattern;
use tantivy::index::SegmentReader;
use tantivy::schema::Field as Column;

use super::{Matcher, Shortcuts};
use crate::limits::{Limits, reached};

/// Returns the most frequent terms that a pattern matches, and the total number of matching terms;
/// see [`crate::Snapshot::terms`].
pub(crate) fn frequent(
    segments: &[SegmentReader],
    shortcuts: &Shortcuts,
    column: Column,
    pattern: &Pattern,
    limit: usize,
    limits: Option<&Limits>,
) -> tantivy::Result<(Vec<(String, u64)>, usize)> {
    let matcher = Matcher::new(pattern)?;
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    for segment in segments {
        if reached(limits) {
            break;
        }
        let Some(index) = shortcuts.index(segment, column)? else {
            continue;
        };
        let shortcut = shortcuts.of(segment, column);
        matcher.each(&index, shortcut, limits, |term, info| {
            let count = u64::from(info.doc_freq);
            match counts.get_mut(term) {
                Some(sum) => *sum += count,
                None => _ = counts.insert(term.to_vec(), count),
            }
            Ok(())
        })?;
    }
    let total = counts.len();
    let text = |term: Vec<u8>| String::from_utf8_lossy(&term).into_owned();
    let mut all: Vec<(String, u64)> = counts
        .into_iter()
        .map(|(term, n)| (text(term), n))
        .collect();
    all.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    all.truncate(limit);
    Ok((all, total))
}
