//! Which values some fields have in what a query finds, how often, and when last: the people of mail.
//!
//! Counted by columns like facets: one addition and one comparison for each value of each hit, and
//! one pass over the dictionary of each column at the end.

use ken_core::Field;
use ken_engine::Seen;
use tantivy::columnar::StrColumn;
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::{DocId, Searcher, SegmentReader};

use crate::columns::value;
use crate::limits::{Limits, Pace, reached};
use crate::parallel;
use crate::schema::value_column;

/// Returns the values of some text fields in what a query finds, in no order. Once limits are reached, the other documents
/// are left out.
pub(crate) fn seen(
    searcher: &Searcher,
    query: &dyn Query,
    fields: &[Field],
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<Seen>> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let of_segments = parallel::over(searcher.segment_readers(), |_, segment| {
        match reached(limits) {
            true => Ok(Vec::new()),
            false => in_segment(segment, &*weight, fields, limits),
        }
    })?;
    Ok(of_segments.into_iter().flatten().collect())
}

fn in_segment(
    segment: &SegmentReader,
    weight: &dyn Weight,
    fields: &[Field],
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<Seen>> {
    let fields = fields.iter();
    let fields = fields.filter_map(|field| Values::open(segment, *field).transpose());
    let mut fields: Vec<Values> = fields.collect::<tantivy::Result<_>>()?;
    let dates = segment.fast_fields().i64(Field::Date.name())?;
    let mut pace = Pace::default();
    // Once for all fields: to find the messages takes longer than to count in one.
    weight.for_each_no_score(segment, &mut |docs: &[DocId]| {
        if pace.step(limits) {
            return;
        }
        for doc in docs.iter().filter(|doc| !segment.is_deleted(**doc)) {
            let date = dates.first(*doc).unwrap_or(i64::MIN);
            fields
                .iter_mut()
                .for_each(|values| values.count(*doc, date));
        }
    })?;
    let mut seen = Vec::new();
    for values in fields {
        values.add_to(&mut seen)?;
    }
    Ok(seen)
}

/// The values of one field in one segment.
struct Values {
    texts: StrColumn,
    /// By number of the value: how often, and when last.
    counts: Vec<(u64, i64)>,
}

impl Values {
    fn open(segment: &SegmentReader, field: Field) -> tantivy::Result<Option<Self>> {
        let texts = segment.fast_fields().str(&value_column(field))?;
        Ok(texts.map(|texts| Self {
            counts: vec![(0, i64::MIN); texts.num_terms()],
            texts,
        }))
    }

    fn count(&mut self, doc: DocId, date: i64) {
        for number in self.texts.ords().values_for_doc(doc) {
            if let Some((count, last)) = self.counts.get_mut(number as usize) {
                *count += 1;
                *last = date.max(*last);
            }
        }
    }

    fn add_to(self, seen: &mut Vec<Seen>) -> tantivy::Result<()> {
        let counts = self.counts.into_iter().enumerate();
        let (numbers, counts): (Vec<u64>, Vec<_>) = counts
            .filter(|(_, (count, _))| *count > 0)
            .map(|(number, count)| (number as u64, count))
            .unzip();
        let mut counts = counts.into_iter();
        seen.reserve(numbers.len());
        let dictionary = self.texts.dictionary();
        dictionary.sorted_ords_to_term_cb(&numbers, |value| {
            let (count, last) = counts.next().unwrap_or_default();
            let value = String::from_utf8_lossy(value);
            seen.push(Seen {
                value: value::written(&value).into_owned(),
                count,
                last,
            });
        })?;
        Ok(())
    }
}
