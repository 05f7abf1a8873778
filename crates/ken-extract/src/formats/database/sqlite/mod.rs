//! SQLite databases: histories and bookmarks of browsers, notes, chats, catalogues.
//!
//! The text of each table is a section of one document: its name, then a line for each row. Numbers
//! are left out, since most are keys and times, as are blobs. A write-ahead log next to the file is
//! read with it. Source: "Database File Format", <https://www.sqlite.org/fileformat2.html>.

mod log;
mod pages;
mod record;

use ken_core::Field;

use crate::output::Output;
use crate::{Error, Format, Input};
use log::Log;
use pages::Pages;
use record::{Encoding, Value};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("SQLite", &["application/vnd.sqlite3"], extract)
        .fields(&[Field::Pages])
        .sections("tables")
        .in_worker()
        .version(2)
        .streams();

const MAX_TABLES: usize = 10_000;
const HEADER_BYTES: usize = 100;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    let log = match input.log() {
        Some(log) if log.size() <= output.limits().max_file_bytes => Log::open(log, input.size())?,
        _ => None,
    };
    let header = match &log {
        Some(log) => log.page(1, HEADER_BYTES)?,
        None => None,
    };
    let header = header.map_or_else(|| input.range(0, HEADER_BYTES), Ok)?;
    let Some(mut pages) = Pages::open(input, log, &header) else {
        return Err(Error::Malformed(
            "no header of SQLite; the database may be encrypted".into(),
        ));
    };
    let encoding = Encoding::of_header(&header);
    let tables = tables(&mut pages, encoding)?;
    let n_tables = i64::try_from(tables.len()).unwrap_or(i64::MAX);
    output.own().add_number(Field::Pages, n_tables);
    let max_bytes = output.limits().max_text_bytes;
    let body = &mut output.own().body;
    for (number, table) in tables.iter().enumerate() {
        if number > 0 {
            body.push('\x0c');
        }
        body.push_str(&table.name);
        body.push('\n');
        pages.rows(table.root, max_bytes, &mut |row| {
            add_row(row, encoding, body);
            body.len() <= max_bytes
        })?;
        if body.len() > max_bytes {
            break;
        }
    }
    pages.into_failure().map_or(Ok(()), Err)
}

struct Table {
    name: String,
    /// Number of its first page.
    root: u64,
}

/// Reads the schema: a table with type, name, table, root page and statement of each object.
fn tables(pages: &mut Pages<'_>, encoding: Encoding) -> Result<Vec<Table>, Error> {
    let mut tables = Vec::new();
    let max_row_bytes = 1 << 20;
    pages.rows(1, max_row_bytes, &mut |row| {
        let mut values = record::values(row);
        if let (
            Some(Value::Text(kind)),
            Some(Value::Text(name)),
            Some(_),
            Some(Value::Integer(root)),
        ) = (values.next(), values.next(), values.next(), values.next())
        {
            let name = encoding.decode(name);
            let is_table = encoding.decode(kind) == "table";
            // Virtual tables have no pages; SQLite's own tables hold statistics.
            if is_table && root > 0 && !name.starts_with("sqlite_") {
                let root = root.unsigned_abs();
                tables.push(Table { name, root });
            }
        }
        tables.len() < MAX_TABLES
    })?;
    Ok(tables)
}

fn add_row(row: &[u8], encoding: Encoding, body: &mut String) {
    let start = body.len();
    for value in record::values(row) {
        if let Value::Text(bytes) = value
            && !bytes.is_empty()
        {
            if body.len() > start {
                body.push('\t');
            }
            let text = encoding.decode(bytes);
            // A form feed would count as the end of a table.
            body.extend(
                text.chars()
                    .map(|c| if c == '\x0c' || c == '\0' { ' ' } else { c }),
            );
        }
    }
    if body.len() > start {
        body.push('\n');
    }
}

#[cfg(test)]
mod tests;
