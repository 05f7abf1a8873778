//! Databases of Access (`mdb` since Access 97, `accdb`): each table is a section with its name, the names of its columns, and its rows.
//!
//! There is no public specification; the layout is that of the notes of mdbtools
//! (<https://github.com/mdbtools/mdbtools/blob/dev/HACKING.md>). Tables of the system, objects, attachments and links to other databases
//! are left out.

mod pages;
mod table;
mod value;

use std::collections::HashSet;

use ken_core::Field;

use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};
use pages::Pages;
use table::Table;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Access", &["application/x-msaccess"], extract)
        .fields(&[Field::Pages])
        .sections("tables")
        .in_worker()
        .version(2);

/// The page with the definition of the table of all objects.
const CATALOG: u32 = 2;
const MAX_TABLES: usize = 10_000;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let pages = Pages::open(input.bytes(limits)?)?;
    let catalog = Table::read(&pages, CATALOG)
        .ok_or_else(|| Error::Malformed("the table of the objects is damaged".into()))?;
    let mut is_whole = true;
    let tables = tables(&pages, &catalog, &mut is_whole);
    output.own().add_number(Field::Pages, tables.len() as i64);
    let mut body = Body::new(limits.max_text_bytes);
    for (number, (name, page)) in tables.iter().enumerate() {
        if number > 0 {
            body.end_page();
        }
        body.line(&table::cell(name));
        match Table::read(&pages, *page) {
            Some(table) => is_whole &= table.add_to(&pages, &mut body),
            None => is_whole = false,
        }
        if body.is_full() {
            break;
        }
    }
    output.own().body = body.finish();
    match is_whole && !pages.is_spent() {
        true => Ok(()),
        false => Err(Error::Malformed("a part of the database is damaged".into())),
    }
}

/// Returns the names of the tables of users, and the pages of their definitions.
fn tables(pages: &Pages<'_>, catalog: &Table, is_whole: &mut bool) -> Vec<(String, u32)> {
    const IS_TABLE: &str = "1";
    /// Tables of the system, and those that are hidden or in the bin.
    const IS_HIDDEN: u32 = 0x8000_000a;
    let columns = ["Id", "Name", "Type", "Flags"].map(|name| catalog.column(name));
    let [Some(id), Some(name), Some(kind), Some(flags)] = columns else {
        *is_whole = false;
        return Vec::new();
    };
    let mut tables = Vec::new();
    let mut seen = HashSet::new();
    *is_whole &= catalog.rows(pages, &mut |row| {
        let value = |column| row.value(column).unwrap_or_default();
        let number = |column| value(column).parse::<i32>().unwrap_or_default() as u32;
        if value(kind) == IS_TABLE && number(flags) & IS_HIDDEN == 0 {
            let page = number(id) & 0x00ff_ffff;
            if seen.insert(page) {
                tables.push((value(name), page));
            }
        }
        tables.len() < MAX_TABLES
    });
    tables
}

#[cfg(test)]
mod tests;
