//! Which values some fields have in what a query finds, how often, and when last: the people of mail.
//!
//! Counted by columns like facets: one addition and one comparison for each value of each hit, and
//! one pass over the dictionary of each column at the end.

use std::collections::HashMap;
use std::sync::Arc;

use ken_core::{Field, Plan};
use tantivy::columnar::{Column, StrColumn};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, Searcher, SegmentReader};

use crate::query::{self, Scoring};
use crate::schema::value_column;
use crate::value;

/// A value, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value.
    pub value: String,
    /// In how many documents it stands; twice in one that has it in two fields.
    pub count: u64,
    /// The date of the newest of them, in seconds since 1970-01-01 UTC.
    pub last: i64,
}

/// Returns the values of some text fields in what a plan finds, in no order.
pub(crate) fn seen(
    searcher: &Searcher,
    scoring: &Arc<Scoring>,
    plan: &Plan,
    fields: &[Field],
) -> tantivy::Result<Vec<Seen>> {
    let query = query::build(scoring, plan);
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut all: HashMap<String, (u64, i64)> = HashMap::new();
    for segment in searcher.segment_readers() {
        for field in fields {
            if let Some(values) = Values::open(segment, *field)? {
                values.count(segment, &*weight, &mut all)?;
            }
        }
    }
    let seen = all.into_iter().map(|(value, (count, last))| Seen {
        value: value::written(&value).into_owned(),
        count,
        last,
    });
    Ok(seen.collect())
}

/// The values of one field in one segment.
struct Values {
    texts: StrColumn,
    dates: Column<i64>,
    /// By number of the value: how often, and when last.
    counts: Vec<(u64, i64)>,
}

impl Values {
    fn open(segment: &SegmentReader, field: Field) -> tantivy::Result<Option<Self>> {
        let columns = segment.fast_fields();
        let dates = columns.i64(Field::Date.name())?;
        let texts = columns.str(&value_column(field))?;
        Ok(texts.map(|texts| Self {
            counts: vec![(0, i64::MIN); texts.num_terms()],
            texts,
            dates,
        }))
    }

    fn count(
        mut self,
        segment: &SegmentReader,
        weight: &dyn Weight,
        all: &mut HashMap<String, (u64, i64)>,
    ) -> tantivy::Result<()> {
        weight.for_each_no_score(segment, &mut |docs: &[DocId]| {
            for doc in docs.iter().filter(|doc| !segment.is_deleted(**doc)) {
                let date = self.dates.first(*doc).unwrap_or(i64::MIN);
                for number in self.texts.ords().values_for_doc(*doc) {
                    if let Some((count, last)) = self.counts.get_mut(number as usize) {
                        *count += 1;
                        *last = date.max(*last);
                    }
                }
            }
        })?;
        let counts = self.counts.into_iter().enumerate();
        let (numbers, counts): (Vec<u64>, Vec<_>) = counts
            .filter(|(_, (count, _))| *count > 0)
            .map(|(number, count)| (number as u64, count))
            .unzip();
        let mut counts = counts.into_iter();
        let dictionary = self.texts.dictionary();
        dictionary.sorted_ords_to_term_cb(&numbers, |value| {
            let (count, last) = counts.next().unwrap_or_default();
            let value = String::from_utf8_lossy(value).into_owned();
            let sum = all.entry(value).or_insert((0, i64::MIN));
            *sum = (sum.0 + count, sum.1.max(last));
        })?;
        Ok(())
    }
}
