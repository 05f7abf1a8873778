//! Excel workbooks before 2007 (.xls): BIFF8 of Excel 97 to 2003 and BIFF5 of Excel 5 and 95
//! (MS-XLS), in a compound file.
//!
//! A workbook is one stream of records: shared data, then the sheets one after the other. It is
//! read once, from start to end. Numbers appear as in newer workbooks
//! (`spreadsheet/number_format.rs`).

mod encryption;
mod link;
mod record;
mod sheet;
mod string;

use ken_core::Field;

use crate::formats::Format;
use crate::output::Output;
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
        .version(4);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let file = Compound::open(input.bytes(limits)?)?;
    summary::read(&file, output.own());
    let workbook = ["Workbook", "Book"]
        .iter()
        .find_map(|name| file.stream(ROOT, name))
        .ok_or_else(|| Error::Malformed("there is no stream Workbook".into()))?;
    let workbook = encryption::decrypt(workbook, &limits.passwords)?;
    let mut reader = SheetReader::new(limits.max_text_bytes);
    let result = reader.read(Records::new(&workbook));
    let (text, n_sheets) = reader.finish();
    let own = output.own();
    own.body = text;
    own.fields.retain(|(field, _)| *field != Field::Pages);
    own.add_number(Field::Pages, n_sheets as i64);
    objects::hand_on(&file, ROOT, |name| name.starts_with("MBD"), output)?;
    result.and_then(|()| file.finish())
}

#[cfg(test)]
mod tests;
