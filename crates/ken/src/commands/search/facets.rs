//! `ken search --facets`: how many hits there are of each type, folder, author, year.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use ken_core::{Field, FieldKind, Root, Value};
use ken_index::{FacetBy, Request, Snapshot};
use serde_json::json;

use crate::cli::{DatePart, Facet};
use crate::failure::Failure;
use crate::output::{self, Style};

/// More ranges are not made: of days in 100 years there are 36,525.
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

/// How counts are made and printed.
pub(crate) struct Facets<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) facets: &'a [Facet],
    /// Levels of folders below a root.
    pub(crate) depth: usize,
    pub(crate) zone: &'a TimeZone,
    /// Values printed of each.
    pub(crate) limit: usize,
}

impl Facets<'_> {
    /// Prints the counts; returns whether there are any.
    pub(crate) fn print(
        &self,
        request: &Request<'_>,
        as_json: bool,
        style: Style,
    ) -> Result<bool, Failure> {
        let by: Vec<FacetBy> = self
            .facets
            .iter()
            .map(|facet| self.by(facet))
            .collect::<Result<_, _>>()?;
        let counts = self.snapshot.facets(request, &by)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut any = false;
        for (facet, counts) in self.facets.iter().zip(counts) {
            let mut counts = self.named(facet, counts);
            any |= !counts.is_empty();
            counts.truncate(self.limit);
            if as_json {
                for (value, count) in counts {
                    out.write_all(&output::json_line(&json!({
                        "v": output::SCHEMA,
                        "facet": facet.name,
                        "value": value,
                        "count": count,
                    })))?;
                }
                continue;
            }
            writeln!(out, "{}", style.bold(&facet.name))?;
            for (value, count) in counts {
                writeln!(out, "{count:>9}  {}", output::clean(&value))?;
            }
        }
        out.flush()?;
        Ok(any)
    }

    fn by(&self, facet: &Facet) -> Result<FacetBy, Failure> {
        let field = facet.field;
        Ok(match (facet.part, field.info().kind) {
            (Some(part), _) => {
                let extent = self.snapshot.extent(field)?;
                let starts = extent.map(|extent| self.starts(extent, part));
                FacetBy::Ranges(field, starts.unwrap_or_default())
            }
            (None, FieldKind::Size) => {
                FacetBy::Ranges(field, SIZES.map(|(start, _)| start).to_vec())
            }
            // The root is told by the folder.
            _ if field == Field::Root => FacetBy::Values(Field::Dir),
            _ => FacetBy::Values(field),
        })
    }

    /// Returns where the years, months or days begin that a range of time touches.
    fn starts(&self, (from, to): (i64, i64), part: DatePart) -> Vec<i64> {
        let day = |seconds| {
            let time = Timestamp::from_second(seconds).ok()?;
            Some(time.to_zoned(self.zone.clone()).date())
        };
        let Some(first) = day(from) else {
            return Vec::new();
        };
        let (first, step) = match part {
            DatePart::Year => (first.first_of_year(), Span::new().years(1)),
            DatePart::Month => (first.first_of_month(), Span::new().months(1)),
            DatePart::Day => (first, Span::new().days(1)),
        };
        let begin = |date: Date| {
            Some(
                date.to_zoned(self.zone.clone())
                    .ok()?
                    .timestamp()
                    .as_second(),
            )
        };
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

    /// Returns the values in words, those with most hits first; times in their own order.
    fn named(&self, facet: &Facet, counts: Vec<(Value, u64)>) -> Vec<(String, u64)> {
        match facet.field {
            Field::Dir => return self.folders(counts, self.depth),
            Field::Root => return self.folders(counts, 0),
            _ => {}
        }
        let mut named: Vec<(String, u64)> = counts
            .into_iter()
            .map(|(value, count)| match value {
                Value::Text(text) => (text, count),
                Value::Number(number) => (self.number(facet, number), count),
            })
            .collect();
        if facet.part.is_some() {
            named.sort_by(|(a, _), (b, _)| b.cmp(a));
        }
        named
    }

    fn number(&self, facet: &Facet, number: i64) -> String {
        if let Some(part) = facet.part {
            let day = output::day(number, self.zone);
            let length = match part {
                DatePart::Year => day.len().saturating_sub(6),
                DatePart::Month => day.len().saturating_sub(3),
                DatePart::Day => day.len(),
            };
            return day[..length].to_owned();
        }
        let range = SIZES.iter().find(|(start, _)| *start == number);
        match range {
            Some((_, name)) if facet.field.info().kind == FieldKind::Size => (*name).to_owned(),
            _ => number.to_string(),
        }
    }

    /// Adds folders up to those at the wanted depth below their root.
    fn folders(&self, counts: Vec<(Value, u64)>, depth: usize) -> Vec<(String, u64)> {
        let roots = &self.snapshot.meta().roots;
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (value, count) in counts {
            if let Value::Text(folder) = value {
                let folder = ancestor(Path::new(&folder), roots, depth);
                *sums.entry(folder).or_default() += count;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sums
    }
}

/// Returns the folder so many levels below the root that a folder is in, or the folder itself.
fn ancestor(folder: &Path, roots: &[Root], depth: usize) -> String {
    let root = ken_walk::covering(roots, folder).map(|root| root.path.as_path());
    let root = root.unwrap_or_else(|| Path::new("/"));
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let names: std::path::PathBuf = below.components().take(depth).collect();
    let mut path = root.to_path_buf();
    if !names.as_os_str().is_empty() {
        path.push(names);
    }
    path.display().to_string()
}
