//! DjVu (Lizardtech DjVu Reference, DjVu 3): scanned pages with their recognised text.
//!
//! Only the text layer, annotations and headers are read, never pictures. A document with its pages
//! in separate files is an index of them and has no text itself.

use djvu_bzz::bzz_decode;
use ken_core::{Field, Setting};

use crate::formats::media::xmp;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::Metadata;
use crate::structure::chunks::{Chunk, Chunks, Layout};
use crate::structure::cursor::{Cursor, octal};
use crate::{Error, Format, Input, date, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("DjVu", &["image/vnd.djvu"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Camera,
        Field::Created,
        Field::Date,
        Field::Pages,
    ])
    .sections("pages")
    .in_worker()
    .streams();

/// Maximum size of a chunk: the text of a page takes a few KiB, annotations less.
const MAX_CHUNK_BYTES: usize = 4 << 20;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut file = Chunks::of_file(input, Layout::Iff, 4);
    let Some(form) = file.next()?.filter(|chunk| &chunk.kind == b"FORM") else {
        return Err(Error::Malformed("there is no FORM chunk".into()));
    };
    let mut book = Book {
        input,
        body: Body::new(output.limits().max_text_bytes),
        metadata: Metadata::default(),
        n_pages: 0,
        failure: None,
    };
    let result = book.form(&form, output, true);
    book.metadata.number(Field::Pages, book.n_pages);
    let (body, failure) = (book.body.finish(), book.failure);
    book.metadata.add_to(output.own());
    output.own().body = body;
    result.and(failure.map_or(Ok(()), Err))
}

struct Book<'i> {
    input: &'i Input<'i>,
    body: Body,
    metadata: Metadata,
    n_pages: i64,
    /// The failure of the first damaged chunk.
    failure: Option<Error>,
}

impl Book<'_> {
    /// Reads a page, a part that pages share, or the document of all pages.
    fn form(&mut self, form: &Chunk, output: &Output<'_>, is_outermost: bool) -> Result<(), Error> {
        let name = form.content(self.input, 4)?;
        let is_page = &*name == b"DJVU";
        if is_page {
            if self.n_pages as u64 >= output.limits().max_pages {
                return Err(output.limits().reached(Setting::MaxPages));
            }
            if self.n_pages > 0 {
                self.body.end_page();
            }
            self.n_pages += 1;
        }
        let mut chunks = form.children(self.input, 4);
        while let Some(chunk) = chunks.next()? {
            match &chunk.kind {
                b"FORM" if is_outermost && &*name == b"DJVM" => self.form(&chunk, output, false)?,
                b"TXTa" | b"TXTz" if is_page && !self.body.is_full() => {
                    let content = self.content(&chunk, output)?;
                    self.text(&content);
                }
                b"ANTa" | b"ANTz" => {
                    let content = self.content(&chunk, output)?;
                    annotations(&text::decode(&content, Some("utf-8")), &mut self.metadata);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the content of a chunk, unpacked if its name ends in `z`.
    fn content(&mut self, chunk: &Chunk, output: &Output<'_>) -> Result<Vec<u8>, Error> {
        let content = chunk.content(self.input, MAX_CHUNK_BYTES)?;
        if !chunk.kind.ends_with(b"z") {
            return Ok(content.into_owned());
        }
        match bzz_decode(&content) {
            Ok(unpacked) => {
                output.unpacked(unpacked.len() as u64)?;
                Ok(unpacked)
            }
            Err(error) => {
                self.failure.get_or_insert_with(|| Error::malformed(error));
                Ok(Vec::new())
            }
        }
    }

    /// Adds the text of a page: its length, the text, then the positions of its words.
    fn text(&mut self, content: &[u8]) {
        let mut cursor = Cursor(content);
        let Some(length) = cursor.be_number(3) else {
            return;
        };
        let text = &cursor.0[..cursor.0.len().min(length as usize)];
        // Columns, regions and paragraphs end with their own control characters.
        let is_end = |char| matches!(char, '\n' | '\x0b' | '\x1d' | '\x1f' | '\x0c');
        for line in String::from_utf8_lossy(text).split(is_end) {
            let line = line.trim();
            if !line.is_empty() {
                self.body.line(line);
            }
        }
    }
}

/// Reads `(metadata (key "value") …)` and `(xmp "…")`.
fn annotations(text: &str, metadata: &mut Metadata) {
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        rest = rest[open + 1..].trim_start();
        let end = rest.find(|char: char| char.is_whitespace() || matches!(char, '(' | ')' | '"'));
        let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (value, after) = string(quoted);
            rest = after;
            add(key, &value, metadata);
        }
    }
}

/// Returns a string with its escapes resolved, and the rest.
fn string(quoted: &str) -> (String, &str) {
    let mut value = Vec::new();
    let mut rest = quoted.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, rest) {
            (b'"', _) => break,
            (b'\\', _) if let Some((byte, after)) = octal(rest) => {
                value.push(byte);
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                value.push(match escaped {
                    b'n' | b'r' | b't' => b' ',
                    other => *other,
                });
                rest = after;
            }
            _ => value.push(byte),
        }
    }
    // Quotes and digits are ASCII, so this is the start of a character.
    let after = quoted.get(quoted.len() - rest.len()..).unwrap_or_default();
    (String::from_utf8_lossy(&value).into_owned(), after)
}

/// Adds a value by its key, which is one of BibTeX or PDF.
fn add(key: &str, value: &str, metadata: &mut Metadata) {
    let field = match key.to_ascii_lowercase().as_str() {
        "title" | "booktitle" => Field::Title,
        "author" | "editor" => Field::Author,
        "keywords" => Field::Keywords,
        "subject" | "abstract" | "note" => Field::Description,
        "language" => Field::Lang,
        "creationdate" | "year" => {
            if let Some(seconds) = date::iso(value) {
                metadata.number(Field::Created, seconds);
            }
            return;
        }
        "moddate" => {
            if let Some(seconds) = date::iso(value) {
                metadata.number(Field::Date, seconds);
            }
            return;
        }
        "xmp" => return metadata.merge(xmp::read(value.as_bytes())),
        _ => return,
    };
    metadata.text(field, value);
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing;

    const BOOK: &[u8] = include_bytes!("../../../tests/data/media/book.djvu");
    const DETECTED: Detected = Detected {
        media_type: "image/vnd.djvu",
        kind: Kind::Document,
    };

    #[test]
    fn every_page_has_its_text() {
        let found = testing::run(extract, DETECTED, "x", BOOK);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Harpooner's log\nkept at sea\nFür Anna\u{c}\u{c}the whale swam \"away\""
        );
        assert_eq!(own.number(Field::Pages), Some(3));
    }

    #[test]
    fn metadata_are_read_from_annotations() {
        let found = testing::run(extract, DETECTED, "x", BOOK);
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("A harpooner's log"));
        assert_eq!(own.text(Field::Author), Some("Elling Carlsen"));
        assert_eq!(own.text(Field::Keywords), Some("whaling, Østersund"));
        assert_eq!(own.number(Field::Created), Some(-3_124_137_600));
    }

    #[test]
    fn strings_are_unescaped_and_may_end_early() {
        assert_eq!(
            string(r#"a \"b\" \303\274\\" c"#),
            ("a \"b\" ü\\".into(), " c")
        );
        assert_eq!(string("ä\\"), ("ä\\".into(), ""));
        let mut metadata = Metadata::default();
        annotations("(metadata (Title \"T\")(x)(author \"A", &mut metadata);
        assert!(metadata.has(Field::Title) && metadata.has(Field::Author));
    }

    #[test]
    fn a_damaged_page_leaves_the_others() {
        let mut book = BOOK.to_vec();
        let at = memchr::memmem::find(&book, b"TXTz").unwrap();
        book[at + 8..at + 16].fill(0);
        let found = testing::run(extract, DETECTED, "x", &book);
        let own = found.own();
        assert_eq!(own.failure.as_ref().unwrap().reason(), Reason::Malformed);
        assert_eq!(own.body, "\u{c}\u{c}the whale swam \"away\"");
        assert_eq!(own.text(Field::Title), Some("A harpooner's log"));
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        let input = Input::bytes_of("notes.txt", BOOK);
        assert_eq!(detect::detect(&input).unwrap(), DETECTED);
        testing::survives(extract, DETECTED, "x", BOOK);
    }
}
