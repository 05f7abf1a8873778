//! Counts hits by a property: type, folder, author, year …

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use ken_core::{Field, FieldKind, Root, Value};
use ken_engine::{FacetBy, Request};
use serde::Serialize;

use super::columns::{DatePart, FacetKey, facet_key};
use super::{Error, Facets, SCHEMA, Service, day};

/// The most ranges of time; 100 years have 36,525 days.
const MAX_RANGES: usize = 100_000;
/// Sizes are counted by powers of ten.
const SIZES: [(i64, &str); 8] = [
    (0, "0..1k"),
    (1 << 10, "1k..10k"),
    (10 << 10, "10k..100k"),
    (100 << 10, "100k..1M"),
    (1 << 20, "1M..10M"),
    (10 << 20, "10M..100M"),
    (100 << 20, "100M..1G"),
    (1 << 30, "1G.."),
];

/// A property with the number of hits for each of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facet {
    /// The name of the facet, as in the request.
    pub facet: String,
    /// The values, those with the most hits first; times are from new to old.
    pub values: Vec<FacetValue>,
}

/// A value and its hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FacetValue {
    /// The number of hits with the value.
    pub count: u64,
    /// The value in words.
    pub value: String,
}

/// A value of a facet as an object of its own.
#[derive(Serialize)]
struct ValueForm<'a> {
    count: u64,
    facet: &'a str,
    v: u32,
    value: &'a str,
}

impl FacetValue {
    /// Returns the value of a facet as an object of its own, as `ken search --json` prints it.
    pub fn line<'a>(&'a self, facet: &'a str) -> impl Serialize + 'a {
        ValueForm {
            count: self.count,
            facet,
            v: SCHEMA,
            value: &self.value,
        }
    }
}

impl Service<'_> {
    pub(super) fn facets(
        &self,
        request: &Request<'_>,
        facets: &Facets,
    ) -> Result<Vec<Facet>, Error> {
        let keys = facets.by.iter().map(|name| facet_key(name, &self.names));
        let keys: Vec<FacetKey> = keys.collect::<Result<_, _>>()?;
        let by = keys.iter().map(|key| self.by(*key));
        let by: Vec<FacetBy> = by.collect::<Result<_, _>>()?;
        let counts = self.snapshot.facets(request, &by)?;
        let all = facets.by.iter().zip(keys).zip(counts);
        let all = all.map(|((name, key), counts)| {
            let mut values = self.named(key, counts, facets.depth);
            values.truncate(facets.limit.unwrap_or(usize::MAX));
            let values = values.into_iter();
            let values = values.map(|(value, count)| FacetValue { count, value });
            Facet {
                facet: name.clone(),
                values: values.collect(),
            }
        });
        Ok(all.collect())
    }

    fn by(&self, key: FacetKey) -> Result<FacetBy, Error> {
        let field = key.field;
        Ok(match (key.part, field.info().kind) {
            (Some(part), _) => {
                let extent = self.snapshot.extent(field)?;
                let starts = extent.map(|extent| self.starts(extent, part));
                FacetBy::Ranges(field, starts.unwrap_or_default())
            }
            (None, FieldKind::Size) => {
                FacetBy::Ranges(field, SIZES.map(|(start, _)| start).to_vec())
            }
            // The folder determines the root.
            _ if field == Field::Root => FacetBy::Values(Field::Dir),
            _ => FacetBy::Values(field),
        })
    }

    /// Returns the beginnings of the years, months or days that overlap a range of time.
    fn starts(&self, (from, to): (i64, i64), part: DatePart) -> Vec<i64> {
        let zone = &self.context.zone;
        let day = |seconds| {
            let time = Timestamp::from_second(seconds).ok()?;
            Some(time.to_zoned(zone.clone()).date())
        };
        let Some(first) = day(from) else {
            return Vec::new();
        };
        let (first, step) = match part {
            DatePart::Year => (first.first_of_year(), Span::new().years(1)),
            DatePart::Month => (first.first_of_month(), Span::new().months(1)),
            DatePart::Day => (first, Span::new().days(1)),
        };
        let begin = |date: Date| Some(date.to_zoned(zone.clone()).ok()?.timestamp().as_second());
        let mut starts = Vec::new();
        let mut number = 0;
        while starts.len() < MAX_RANGES
            && let Ok(span) = step.checked_mul(number)
            && let Ok(date) = first.checked_add(span)
            && let Some(start) = begin(date)
            && start <= to
        {
            starts.push(start);
            number += 1;
        }
        starts
    }

    /// Returns the values in words, with their counts.
    fn named(&self, key: FacetKey, counts: Vec<(Value, u64)>, depth: usize) -> Vec<(String, u64)> {
        match key.field {
            Field::Dir => return self.folders(&counts, depth),
            Field::Root => return self.folders(&counts, 0),
            _ => {}
        }
        let named = counts.into_iter().map(|(value, count)| match value {
            Value::Text(text) => (text, count),
            Value::Number(number) => (self.number(key, number), count),
        });
        let mut named: Vec<(String, u64)> = named.collect();
        if key.part.is_some() {
            named.sort_by(|(a, _), (b, _)| b.cmp(a));
        }
        named
    }

    fn number(&self, key: FacetKey, number: i64) -> String {
        if let Some(part) = key.part {
            let day = day(number, &self.context.zone);
            let length = match part {
                DatePart::Year => day.len().saturating_sub(6),
                DatePart::Month => day.len().saturating_sub(3),
                DatePart::Day => day.len(),
            };
            return day[..length].to_owned();
        }
        let range = SIZES.iter().find(|(start, _)| *start == number);
        match range {
            Some((_, name)) if key.field.info().kind == FieldKind::Size => (*name).to_owned(),
            _ => number.to_string(),
        }
    }

    /// Adds up folders by their ancestors at the wanted depth below the root.
    fn folders(&self, counts: &[(Value, u64)], depth: usize) -> Vec<(String, u64)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (value, count) in counts {
            if let Value::Text(folder) = value {
                *sums.entry(self.ancestor(folder, depth)).or_default() += count;
            }
        }
        let sums = sums.into_iter();
        let mut sums: Vec<_> = sums.map(|(folder, n)| (folder.to_owned(), n)).collect();
        sums.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sums
    }

    /// Returns the ancestor of a folder at this depth below its root, or the folder itself if it is not that deep.
    fn ancestor<'f>(&self, folder: &'f str, depth: usize) -> &'f str {
        let end_of = |root: &Root| {
            let root = root.path.to_str()?.trim_end_matches('/');
            let below = folder.strip_prefix(root)?;
            (below.is_empty() || below.starts_with('/')).then_some(root.len())
        };
        let root = self.roots().iter().filter_map(end_of).max().unwrap_or(0);
        let slash = folder[root..].match_indices('/').nth(depth);
        match slash.map_or(folder.len(), |(at, _)| root + at) {
            0 => "/",
            end => &folder[..end],
        }
    }
}
