//! Excel workbooks before 2007 (.xls): BIFF8 of Excel 97 to 2003 and BIFF5 of Excel 5 and 95
//! (MS-XLS), in a compound file, and those before them ([`old`]).
//!
//! A workbook is one stream of records: shared data, then the sheets one after the other. It is
//! read once, from start to end. Numbers appear as in newer workbooks
//! (`spreadsheet/number_format.rs`).

mod encryption;
mod link;
mod old;
mod record;
mod sheet;
mod string;

use crate::formats::Format;
use crate::formats::drawing::metafile::blips;
use crate::output::Output;
use crate::output::metadata::set_pages;
use crate::structure::compound::ROOT;
use crate::structure::compound::{self, Compound, objects, summary};
use crate::{Error, Input};
use record::Records;
use sheet::SheetReader;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Excel 97", &["application/vnd.ms-excel"], extract)
        .fields(compound::FIELDS)
        .sections("sheets")
        .members("embedded files")
        .in_worker()
        .version(10);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    if old::is_old(&input.head()?) {
        let workbook = old::renewed(input.bytes(limits)?);
        return read(&workbook, output);
    }
    let file = Compound::open(input.bytes(limits)?)?;
    summary::read(&file, output.own());
    let workbook = ["Workbook", "Book"]
        .iter()
        .find_map(|name| file.stream(ROOT, name))
        .ok_or_else(|| Error::Malformed("there is no stream Workbook".into()))?;
    let workbook = encryption::decrypt(workbook, &limits.passwords)?;
    let result = read(&workbook, output);
    objects::hand_on(&file, ROOT, |name| name.starts_with("MBD"), output)?;
    result.and_then(|()| file.finish())
}

/// Reads the records of a workbook.
fn read(workbook: &[u8], output: &mut Output<'_>) -> Result<(), Error> {
    let mut reader = SheetReader::new(output.limits().max_text_bytes);
    let result = reader.read(Records::new(workbook));
    let pictures = reader.take_pictures();
    let (text, n_sheets) = reader.finish();
    let limits = output.limits();
    let own = output.own();
    own.body = text;
    set_pages(own, n_sheets);
    blips::add_texts(&pictures, limits, own);
    result
}

#[cfg(test)]
mod tests;
