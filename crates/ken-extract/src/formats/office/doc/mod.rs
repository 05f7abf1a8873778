//! Word documents before 2007 (.doc): MS-DOC, and Word 6 and 95 with the same structure.
//!
//! The stream `WordDocument` begins with a table of offsets (FIB). The text is one run of
//! characters that is stored in pieces, in any order, because that is how Word's fast save worked.
//! After the text of the pages come footnotes, headers, comments, endnotes and text boxes.

mod comments;
mod drop_caps;
mod encryption;
mod fib;
mod pieces;
mod previews;
mod runs;
mod sections;
mod text;

use std::collections::HashSet;

use ken_core::Document;

use crate::formats::Format;
use crate::formats::drawing::metafile::blips;
use crate::formats::office::art;
use crate::output::Output;
use crate::structure::compound::ROOT;
use crate::structure::compound::{self, Compound, objects, summary};
use crate::{Error, Input, Limits};
use fib::Fib;
use text::Marks;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Word 97", &["application/msword"], extract)
        .fields(compound::FIELDS)
        .sections("pages, where the writer began one")
        .members("embedded files")
        .in_worker()
        .version(10);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let file = Compound::open(input.bytes(limits)?)?;
    summary::read(&file, output.own());
    let Some(mut main) = file.stream(ROOT, "WordDocument") else {
        return Err(Error::Malformed("there is no stream WordDocument".into()));
    };
    let mut table = fib::table_of(&main).and_then(|name| file.stream(ROOT, name));
    encryption::decrypt(&mut main, table.as_deref_mut(), &limits.passwords)?;
    let fib = Fib::read(&main)?;
    let table = table.unwrap_or_else(|| main.clone());
    let (mut units, is_whole) = pieces::read(&fib, &main, &table);
    let data = file.stream(ROOT, "Data").unwrap_or_default();
    let marks = Marks {
        breaks: sections::page_breaks(&fib, &main, &table),
        drop_caps: drop_caps::ends(&fib, &main, &table),
        authors: comments::authors(&fib, &table),
        runs: runs::read(&fib, &main, &table, &data),
    };
    let previews = previews::places(&units, &marks.runs.pictures, &data);
    output.own().body = text::text(&fib, &mut units, &marks, limits);
    add_descriptions(&[&data, &table], limits, output.own());
    let is_preview = |at: usize| {
        let after = previews.partition_point(|range| range.start <= at);
        after > 0 && previews[after - 1].contains(&at)
    };
    blips::add_texts_but(is_preview, &data, limits, output.own());
    blips::add_texts(&main, limits, output.own());
    if let Some(pool) = file.find(ROOT, "ObjectPool") {
        objects::hand_on(&file, pool, |_| true, output)?;
    }
    if units.is_empty() && fib.n_characters() > 0 {
        return Err(Error::Malformed("the text cannot be found".into()));
    }
    if !is_whole {
        return Err(Error::Malformed(
            "pieces of the text overlap or are missing".into(),
        ));
    }
    file.finish()
}

/// Adds the alternative texts of pictures in the text, then of shapes beside it, each once.
fn add_descriptions(streams: &[&[u8]], limits: &Limits, document: &mut Document) {
    let mut seen = HashSet::new();
    for description in streams.iter().flat_map(|stream| art::descriptions(stream)) {
        let left = limits.max_text_bytes.saturating_sub(document.body.len());
        if description.len() < left && !seen.contains(&description) {
            if !document.body.is_empty() {
                document.body.push('\n');
            }
            document.body.push_str(&description);
            seen.insert(description);
        }
    }
}

#[cfg(test)]
mod tests;
