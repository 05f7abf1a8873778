//! `ken search --in PATH`: every place of one document, or of a file with all that is in it, that
//! matches.

use std::cmp::Ordering;
use std::io::Write;
use std::path::Path;

use ken_core::{Field, Plan};
use ken_index::{Request, Snapshot, Stored};
use ken_search::plan::Context;
use ken_search::snippet::{self, Finder};

use super::MAX_UNPACKERS;
use super::target::Target;
use crate::failure::{Failure, Kind};
use crate::output::{self, Style};

/// Characters of the text around a match.
const LENGTH: usize = 120;

/// How places are looked for and printed.
pub(crate) struct Inside<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) plan: &'a Plan,
    pub(crate) context: &'a Context,
    /// Places that are printed at most.
    pub(crate) limit: usize,
    pub(crate) json: bool,
    pub(crate) style: Style,
}

impl Inside<'_> {
    /// Prints the places; returns whether any document matches.
    pub(crate) fn print(&self, named: &Path) -> Result<bool, Failure> {
        let target = Target::find(self.snapshot, named)?;
        if target.addresses.is_empty() {
            let message = format!("\"{}\" is not in the index", target.path.display());
            let hint = "ken status --why PATH says why a file is not there";
            return Err(Failure::new(Kind::Input, message).hint(hint));
        }
        let request = Request {
            only: Some(&target.addresses),
            ..Request::new(self.plan)
        };
        let mut documents = Vec::new();
        for hit in self.snapshot.find(&request)?.hits {
            documents.push((self.snapshot.location(hit.address)?.ipath, hit.address));
        }
        documents.sort_by(|(a, _), (b, _)| in_order(a.as_str(), b.as_str()));
        let matchers = snippet::matchers(self.plan, Field::Body);
        let finder = Finder::new(matchers, self.context.analyze);
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut left = self.limit;
        for (_, address) in &documents {
            if left == 0 {
                break;
            }
            let stored = self.snapshot.document_by(*address, MAX_UNPACKERS)?;
            self.document(&stored, &finder, &mut left, &mut out)?;
        }
        out.flush()?;
        Ok(!documents.is_empty())
    }

    fn document(
        &self,
        stored: &Stored,
        finder: &Finder,
        left: &mut usize,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if !self.json {
            let location = output::clean(&stored.location.to_string()).into_owned();
            let path = self.style.path(&location);
            writeln!(out, "{}", self.style.link(&stored.location.path, &path))?;
        }
        let mut result = Ok(());
        finder.all(&stored.document.body, LENGTH, &mut |place| {
            let line = match self.json {
                true => output::json_line(&output::place_json(stored, &place)),
                false => output::place_text(&place, self.style).into_bytes(),
            };
            result = out.write_all(&line);
            *left -= 1;
            result.is_ok() && *left > 0
        });
        Ok(result?)
    }
}

/// Compares ways inside a file as people count: `2` before `10`.
fn in_order(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let (x, y) = (piece(a), piece(b));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len());
        }
        let number = |text: &str| text.parse::<u64>().ok();
        let order = match (number(x), number(y)) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[x.len()..], &b[y.len()..]);
    }
}

/// Returns the digits, or what is none, at the start.
fn piece(text: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = text.starts_with(is_digit);
    let end = text.find(|c| is_digit(c) != first);
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_their_numbers() {
        let mut ipaths = ["10", "2|b", "2", "a|2", "2|a10", "2|a9", ""];
        ipaths.sort_by(|a, b| in_order(a, b));
        assert_eq!(ipaths, ["", "2", "2|a9", "2|a10", "2|b", "10", "a|2"]);
    }
}
