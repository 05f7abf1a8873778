//! Books of Mobipocket and Kindle (`mobi`, `prc`, `azw`, `azw3`) and of PalmDoc, in a database of Palm OS.
//!
//! The first record is a header with the title and other properties; the records after it hold the text, which is HTML, packed in pieces.
//! A file may hold the book twice, for old and new devices; the first one is read. Apple and Amazon published no specification;
//! the source is MobileRead's description (<https://wiki.mobileread.com/wiki/MOBI>).

mod header;
mod huffman;
mod palm;

use ken_core::{Encryption, Field};

use crate::formats::web::html::html_within;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input, text};
use header::{Database, Header};
use huffman::Huffman;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "Mobipocket",
    &[
        "application/x-mobipocket-ebook",
        "application/vnd.amazon.mobi8-ebook",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Date,
])
.sections("chapters")
.in_worker()
.version(2);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let database = Database::open(bytes)
        .ok_or_else(|| Error::Malformed("the list of records is damaged".into()))?;
    let header = Header::read(&database)
        .ok_or_else(|| Error::Malformed("the header of the book is damaged".into()))?;
    header.add_fields(output.own());
    if header.is_encrypted {
        return Err(Error::sealed(Encryption::Rights));
    }
    let (packed, is_whole) = book(&database, &header, limits.max_member_bytes as usize)?;
    let mut body = Body::new(limits.max_text_bytes);
    match header.is_html {
        true => add_chapters(&header.decode(&packed), limits.max_text_bytes, &mut body),
        false => body.push(&text::decode(&packed, None)),
    }
    body.finish_into(output.own());
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("the text is damaged".into())),
    }
}

/// Unpacks the text; returns also whether it is whole.
fn book(
    database: &Database<'_>,
    header: &Header,
    max_bytes: usize,
) -> Result<(Vec<u8>, bool), Error> {
    let huffman = match header.compression {
        header::HUFFMAN => Some(Huffman::read(database, header).ok_or_else(|| {
            Error::Malformed("the dictionary of the compression is damaged".into())
        })?),
        header::NONE | header::PALM => None,
        other => return Err(Error::unsupported(format!("compression method {other}"))),
    };
    let mut text = Vec::new();
    for number in 1..=header.n_records {
        let Some(record) = database.record(number) else {
            return Ok((text, false));
        };
        let record = header.without_trailing(record);
        let is_good = match &huffman {
            Some(huffman) => huffman.unpack(record, &mut text),
            None if header.compression == header::PALM => palm::unpack(record, &mut text),
            None => {
                text.extend_from_slice(record);
                true
            }
        };
        if !is_good {
            return Ok((text, false));
        }
        if text.len() > max_bytes {
            break;
        }
    }
    // Styles and pictures follow the text of newer books.
    text.truncate(header.text_end(database).unwrap_or(text.len()));
    Ok((text, true))
}

/// Adds the chapters: what breaks of pages divide, and files of newer books.
fn add_chapters(html: &str, max_bytes: usize, body: &mut Body) {
    let mut rest = html;
    let mut is_first = true;
    while !rest.is_empty() && !body.is_full() {
        let end = chapter_end(rest);
        let page = html_within(&rest.as_bytes()[..end], Some("utf-8"), max_bytes);
        rest = &rest[end..];
        let text = page.body.trim();
        if text.is_empty() {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            body.end_page();
        }
        body.push(text);
        page.headings
            .iter()
            .for_each(|text| body.note_heading(text));
    }
}

/// Returns where the next chapter begins.
fn chapter_end(html: &str) -> usize {
    let marks = ["<mbp:pagebreak", "<?xml", "<html"];
    let mut tags = memchr::memchr_iter(b'<', html.as_bytes()).skip_while(|at| *at == 0);
    let next = tags.find(|at| marks.iter().any(|mark| html[*at..].starts_with(mark)));
    next.unwrap_or(html.len())
}

#[cfg(test)]
mod tests;
