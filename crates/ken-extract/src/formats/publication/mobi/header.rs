//! The database of Palm OS, and the header of a book in its first record.

use ken_core::{Document, Field};

use crate::output::metadata::{add_once, add_time, keywords};
use crate::structure::cursor::Cursor;
use crate::text::code_page;

/// Methods of compression.
pub(super) const NONE: u16 = 1;
pub(super) const PALM: u16 = 2;
pub(super) const HUFFMAN: u16 = 17480;

const UTF8: u32 = 65001;
/// More properties than any book has.
const MAX_PROPERTIES: u32 = 1000;

/// A database: a list of records.
pub(super) struct Database<'a> {
    bytes: &'a [u8],
    offsets: Vec<usize>,
    /// The name of the database, which is a short title.
    name: &'a [u8],
}

impl<'a> Database<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut list = Cursor(bytes.get(76..)?);
        let n = usize::from(list.be_u16()?);
        let mut offsets = Vec::with_capacity(n + 1);
        for _ in 0..n {
            offsets.push(list.be_u32()? as usize);
            list.take(4)?;
        }
        offsets.push(bytes.len());
        let name = bytes.get(..32)?;
        let end = memchr::memchr(0, name).unwrap_or(name.len());
        Some(Self {
            bytes,
            offsets,
            name: &name[..end],
        })
    }

    pub(super) fn record(&self, number: usize) -> Option<&'a [u8]> {
        let end = *self.offsets.get(number.checked_add(1)?)?;
        self.bytes.get(self.offsets[number]..end)
    }
}

/// What the first record says.
pub(super) struct Header {
    pub(super) compression: u16,
    pub(super) n_records: usize,
    pub(super) is_encrypted: bool,
    /// Whether the text is HTML, and not plain text as in PalmDoc.
    pub(super) is_html: bool,
    /// The records with the codes and the dictionary of HUFF/CDIC: the first one, and their number.
    pub(super) huffman: Option<(usize, usize)>,
    code_page: u32,
    title: Vec<u8>,
    /// What follows the text in each record.
    trailing: u16,
    /// The record with the borders of text, styles and pictures.
    flows: Option<usize>,
    properties: Vec<(u32, Vec<u8>)>,
}

impl Header {
    pub(super) fn read(database: &Database<'_>) -> Option<Self> {
        let record = database.record(0)?;
        let number = |at: usize| Cursor(record.get(at..)?).be_u32();
        let short = |at: usize| Cursor(record.get(at..)?).be_u16();
        let mut header = Self {
            compression: short(0)?,
            n_records: usize::from(short(8)?),
            is_encrypted: false,
            is_html: false,
            huffman: None,
            code_page: u32::from(code_page::WESTERN),
            title: database.name.to_vec(),
            trailing: 0,
            flows: None,
            properties: Vec::new(),
        };
        if record.get(16..20) != Some(b"MOBI") {
            return Some(header);
        }
        header.is_html = true;
        header.is_encrypted = short(12)? != 0;
        let length = number(20)? as usize;
        header.code_page = number(28)?;
        if let (Some(at), Some(n)) = (number(84), number(88)) {
            let end = (at as usize).saturating_add(n as usize);
            if let Some(title) = record.get(at as usize..end) {
                header.title = title.to_vec();
            }
        }
        header.huffman = number(112)
            .zip(number(116))
            .map(|(at, n)| (at as usize, n as usize));
        // Longer headers have more.
        if length >= 228 {
            header.trailing = short(242).unwrap_or(0);
        }
        let version = number(36)?;
        if version >= 8 {
            header.flows = number(192).map(|number| number as usize);
        }
        if number(128).unwrap_or(0) & 0x40 != 0 {
            header.properties = properties(record.get(16 + length..)?).unwrap_or_default();
        }
        Some(header)
    }

    /// Adds the properties (EXTH), by their numbers.
    pub(super) fn add_fields(&self, document: &mut Document) {
        let texts = |wanted: u32| {
            let found = self
                .properties
                .iter()
                .filter(move |(kind, _)| *kind == wanted);
            found.map(|(_, bytes)| self.decode(bytes))
        };
        // The title that replaces the one in the header.
        let title = texts(503)
            .next()
            .unwrap_or_else(|| self.decode(&self.title));
        document.add_text(Field::Title, &title);
        for (kind, field) in [
            (100, Field::Author),
            (108, Field::Author),
            (101, Field::Description),
            (103, Field::Description),
            (104, Field::Description),
            (524, Field::Lang),
        ] {
            for text in texts(kind) {
                let plain = match field {
                    Field::Description => {
                        crate::formats::web::html::html_to_text(text.as_bytes(), Some("utf-8")).body
                    }
                    _ => text,
                };
                add_once(document, field, &plain);
            }
        }
        for text in texts(105) {
            keywords(&text).for_each(|keyword| document.join_text(Field::Keywords, keyword));
        }
        texts(106).for_each(|text| add_time(document, Field::Date, &text));
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> String {
        match u16::try_from(self.code_page) {
            Ok(page) if u32::from(page) != UTF8 => code_page::decode(bytes, page).into_owned(),
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// Returns a record without what follows its text.
    pub(super) fn without_trailing<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        let mut end = record.len();
        for _ in 0..(self.trailing >> 1).count_ones() {
            end = end.saturating_sub(size_at_end(&record[..end]));
        }
        if self.trailing & 1 != 0 && end > 0 {
            end = end.saturating_sub(usize::from(record[end - 1] & 3) + 1);
        }
        &record[..end]
    }

    /// Returns where the text ends, if a record says so.
    pub(super) fn text_end(&self, database: &Database<'_>) -> Option<usize> {
        let mut borders = Cursor(database.record(self.flows?)?.strip_prefix(b"FDST")?);
        let _at = borders.be_u32()?;
        let _n = borders.be_u32()?;
        let _start = borders.be_u32()?;
        Some(borders.be_u32()? as usize)
    }
}

/// Reads a number of seven bits a byte that stands at the end of a record, of which the first byte is marked.
fn size_at_end(record: &[u8]) -> usize {
    let start = record.len().saturating_sub(4);
    let mut size = 0;
    for &byte in &record[start..] {
        if byte & 0x80 != 0 {
            size = 0;
        }
        size = size << 7 | usize::from(byte & 0x7f);
    }
    size
}

fn properties(bytes: &[u8]) -> Option<Vec<(u32, Vec<u8>)>> {
    let mut list = Cursor(bytes.strip_prefix(b"EXTH")?);
    let _length = list.be_u32()?;
    let n = list.be_u32()?.min(MAX_PROPERTIES);
    let mut properties = Vec::new();
    for _ in 0..n {
        let kind = list.be_u32()?;
        let length = list.be_u32()?.checked_sub(8)? as usize;
        properties.push((kind, list.take(length)?.to_vec()));
    }
    Some(properties)
}
