//! TIFF 6.0, BigTIFF, EXIF (CIPA DC-008) and the raw pictures that are TIFF (DNG, NEF, CR2, ARW …).
//!
//! A file is a chain of directories, one for each page, with tags that may point to further
//! directories. Values are read at their offset, so that pixels are skipped.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

use encoding_rs::UTF_16LE;
use ken_core::Field;

use super::{MAX_BLOCK_BYTES, Picture, iptc, photoshop};
use crate::output::metadata::Metadata;
use crate::{Error, Input, date, text};

/// Maximum number of directories in a chain; pages after it are not counted.
const MAX_DIRECTORIES: usize = 10_000;
/// Maximum number of bytes of all directories and values together, which may overlap.
const MAX_READ_BYTES: usize = 32 << 20;
/// Maximum number of bytes of text in a tag.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Reads a file; `has_pages` says whether its directories are pages.
pub(super) fn read(input: &Input<'_>, has_pages: bool, picture: &mut Picture) -> Result<(), Error> {
    let file = File::open(input)?;
    let mut pending = vec![file.first];
    let mut seen = HashSet::new();
    let mut n_pages = 0;
    while let Some(at) = pending.pop() {
        if at == 0 || seen.len() == MAX_DIRECTORIES || !seen.insert(at) {
            continue;
        }
        let (entries, next) = file.directory(at)?;
        let mut size = (0, 0);
        let mut is_reduced = false;
        for entry in &entries {
            match entry.tag {
                0x00fe => is_reduced = file.number(entry) & 1 == 1,
                0x0100 => size.0 = file.number(entry),
                0x0101 => size.1 = file.number(entry),
                // Raw pictures keep the full size in a directory below.
                0x014a => pending.extend(file.numbers(entry)),
                0x02bc => picture.add_xmp(&file.value(entry, MAX_BLOCK_BYTES)?),
                0x83bb => iptc::read(&file.value(entry, MAX_BLOCK_BYTES)?, &mut picture.iptc),
                0x8649 => photoshop::resources(&file.value(entry, MAX_BLOCK_BYTES)?, picture),
                _ => {}
            }
        }
        picture.enlarge(size.0, size.1);
        n_pages += u64::from(!is_reduced && size.0 > 0);
        if seen.len() == 1 {
            file.describe(&entries, &mut picture.exif)?;
        }
        pending.push(next);
    }
    if has_pages && n_pages > 0 {
        picture.n_pages = Some(n_pages);
    }
    Ok(())
}

/// Reads a block of EXIF, without the sizes and pages of its preview.
pub(super) fn read_exif(block: &Input<'_>, metadata: &mut Metadata) -> Result<(), Error> {
    let file = File::open(block)?;
    let (entries, _) = file.directory(file.first)?;
    file.describe(&entries, metadata)
}

struct File<'i> {
    input: &'i Input<'i>,
    is_big_endian: bool,
    /// BigTIFF has offsets of eight bytes.
    is_big: bool,
    first: u64,
    n_read: Cell<usize>,
}

/// A tag and its value, or the value's offset.
struct Tag {
    tag: u16,
    kind: u16,
    n_bytes: u64,
    at: u64,
}

impl<'i> File<'i> {
    fn open(input: &'i Input<'i>) -> Result<Self, Error> {
        let head = input.range(0, 16)?;
        let not_tiff = || Error::Malformed("the header is not that of TIFF".into());
        let is_big_endian = match head.get(..2) {
            Some(b"MM") => true,
            Some(b"II") => false,
            _ => return Err(not_tiff()),
        };
        let mut file = Self {
            input,
            is_big_endian,
            is_big: false,
            first: 0,
            n_read: Cell::new(0),
        };
        match file.integer(&head[2..], 2) {
            // The others are from Olympus (ORF) and Panasonic (RW2).
            42 | 0x4f52 | 0x5352 | 0x55 => file.first = file.integer(&head[4..], 4),
            43 => {
                file.is_big = true;
                file.first = file.integer(head.get(8..).unwrap_or_default(), 8);
            }
            _ => return Err(not_tiff()),
        }
        Ok(file)
    }

    fn range(&self, at: u64, length: usize) -> Result<Cow<'i, [u8]>, Error> {
        let bytes = self.input.range(at, length)?;
        self.n_read.set(self.n_read.get() + bytes.len());
        if self.n_read.get() > MAX_READ_BYTES {
            return Err(Error::Malformed("the directories overlap".into()));
        }
        Ok(bytes)
    }

    /// Returns the number in the first bytes; 0 if there are too few.
    fn integer(&self, bytes: &[u8], n_bytes: usize) -> u64 {
        let bytes = bytes.get(..n_bytes).unwrap_or_default();
        let add = |number, &byte: &u8| number << 8 | u64::from(byte);
        if self.is_big_endian {
            bytes.iter().fold(0, add)
        } else {
            bytes.iter().rev().fold(0, add)
        }
    }

    /// Returns the entries of a directory, and the offset of the next one.
    fn directory(&self, at: u64) -> Result<(Vec<Tag>, u64), Error> {
        let (count_bytes, entry_bytes, offset_bytes) =
            if self.is_big { (8, 20, 8) } else { (2, 12, 4) };
        let count = self.range(at, count_bytes)?;
        if count.len() < count_bytes {
            return Err(Error::Malformed("a directory lies beyond the end".into()));
        }
        // Tags are numbers of two bytes, each of which occurs once.
        let n_entries = self.integer(&count, count_bytes).min(1 << 16) as usize;
        let start = at.saturating_add(count_bytes as u64);
        let table = self.range(start, n_entries * entry_bytes + offset_bytes)?;
        let entries = table.chunks_exact(entry_bytes).take(n_entries).enumerate();
        let entries = entries.map(|(position, entry)| {
            let value_at = start + (position * entry_bytes + entry_bytes - offset_bytes) as u64;
            self.entry(entry, value_at, offset_bytes)
        });
        let next = table.get(n_entries * entry_bytes..).unwrap_or_default();
        Ok((entries.collect(), self.integer(next, offset_bytes)))
    }

    fn entry(&self, entry: &[u8], value_at: u64, offset_bytes: usize) -> Tag {
        let kind = self.integer(&entry[2..], 2) as u16;
        let n_values = self.integer(&entry[4..], offset_bytes);
        let n_bytes = n_values.saturating_mul(value_bytes(kind));
        let is_inline = n_bytes <= offset_bytes as u64;
        Tag {
            tag: self.integer(entry, 2) as u16,
            kind,
            n_bytes,
            at: if is_inline {
                value_at
            } else {
                self.integer(&entry[4 + offset_bytes..], offset_bytes)
            },
        }
    }

    fn value(&self, entry: &Tag, max_bytes: usize) -> Result<Cow<'i, [u8]>, Error> {
        let length = usize::try_from(entry.n_bytes).unwrap_or(max_bytes);
        self.range(entry.at, length.min(max_bytes))
    }

    fn numbers(&self, entry: &Tag) -> Vec<u64> {
        let bytes = self.value(entry, 256).unwrap_or_default();
        let n_bytes = value_bytes(entry.kind) as usize;
        let values = bytes.chunks_exact(n_bytes.max(1));
        values.map(|value| self.integer(value, n_bytes)).collect()
    }

    fn number(&self, entry: &Tag) -> u64 {
        self.numbers(entry).first().copied().unwrap_or_default()
    }

    fn text(&self, entry: &Tag) -> Result<String, Error> {
        let bytes = self.value(entry, MAX_TEXT_BYTES)?;
        Ok(text::decode(bytes.trim_ascii_end(), None).into_owned())
    }

    /// Reads the texts and dates of a directory, and of the EXIF directory below it.
    fn describe(&self, entries: &[Tag], metadata: &mut Metadata) -> Result<(), Error> {
        let mut dates = Dates::default();
        for entry in entries {
            if entry.tag == 0x8769 {
                let (below, _) = self.directory(self.number(entry))?;
                for entry in &below {
                    self.add(entry, metadata, &mut dates)?;
                }
            } else if entry.tag == 0x8825 {
                // Damage of the place is none of the picture.
                if let Ok((below, _)) = self.directory(self.number(entry)) {
                    self.place(&below, metadata);
                }
            } else {
                self.add(entry, metadata, &mut dates)?;
            }
        }
        dates.add_to(metadata);
        Ok(())
    }

    fn add(&self, entry: &Tag, metadata: &mut Metadata, dates: &mut Dates) -> Result<(), Error> {
        match entry.tag {
            0x010f => metadata.make(&self.text(entry)?),
            0x0110 => metadata.model(&self.text(entry)?),
            // Name of the document, caption, copyright.
            0x010d => metadata.text(Field::Title, &self.text(entry)?),
            0x010e | 0x8298 => metadata.text(Field::Description, &self.text(entry)?),
            // Artist, owner of the camera.
            0x013b | 0xa430 => metadata.text(Field::Author, &self.text(entry)?),
            0x9286 => {
                let comment = self.value(entry, MAX_TEXT_BYTES)?;
                metadata.text(Field::Description, &self.user_comment(&comment));
            }
            0x9c9b => metadata.text(Field::Title, &self.wide(entry)?),
            0x9c9c | 0x9c9f => metadata.text(Field::Description, &self.wide(entry)?),
            0x9c9d => metadata.text(Field::Author, &self.wide(entry)?),
            0x9c9e => {
                for keyword in self.wide(entry)?.split(';') {
                    metadata.text(Field::Keywords, keyword);
                }
            }
            0x0132 => dates.changed = Some(self.text(entry)?),
            0x9003 => dates.taken = Some(self.text(entry)?),
            0x9004 => dates.digitized = Some(self.text(entry)?),
            0x9010 => dates.changed_zone = Some(self.text(entry)?),
            0x9011 => dates.taken_zone = Some(self.text(entry)?),
            _ => {}
        }
        Ok(())
    }

    /// Reads the place where a picture was taken (EXIF 4.6.6).
    fn place(&self, entries: &[Tag], metadata: &mut Metadata) {
        let coordinate = |sign_tag: u16, minus: &[u8]| {
            let of = |tag: u16| entries.iter().find(|entry| entry.tag == tag);
            let parts = self.value(of(sign_tag + 1)?, 24).ok()?;
            let mut degrees = 0.0;
            for (position, part) in parts.as_chunks::<8>().0.iter().enumerate() {
                let (numerator, denominator) = (self.integer(part, 4), self.integer(&part[4..], 4));
                if denominator > 0 {
                    let divisor = 60.0_f64.powi(i32::try_from(position).ok()?);
                    degrees += numerator as f64 / denominator as f64 / divisor;
                }
            }
            let sign = self.value(of(sign_tag)?, 1).ok()?;
            Some(if &*sign == minus { -degrees } else { degrees })
        };
        if let (Some(latitude), Some(longitude)) = (coordinate(1, b"S"), coordinate(3, b"W")) {
            metadata.place(latitude, longitude);
        }
    }

    /// Decodes a comment whose first eight bytes declare its character set.
    fn user_comment(&self, comment: &[u8]) -> String {
        let Some((charset, comment)) = comment.split_first_chunk::<8>() else {
            return String::new();
        };
        match charset {
            b"UNICODE\0" => {
                let (le, be) = (UTF_16LE, encoding_rs::UTF_16BE);
                let encoding = if self.is_big_endian { be } else { le };
                encoding.decode(comment).0.replace('\0', " ")
            }
            b"JIS\0\0\0\0\0" => text::decode(comment, Some("iso-2022-jp")).into_owned(),
            _ => text::decode(comment, None).into_owned(),
        }
    }

    /// Decodes Windows' texts: little-endian UTF-16, whatever the byte order of the file.
    fn wide(&self, entry: &Tag) -> Result<String, Error> {
        let value = self.value(entry, MAX_TEXT_BYTES)?;
        Ok(UTF_16LE.decode(&value).0.replace('\0', " "))
    }
}

/// Returns the size of a value of this type.
fn value_bytes(kind: u16) -> u64 {
    match kind {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16..=18 => 8,
        _ => 1,
    }
}

/// Local times, such as `2024:02:29 12:30:00`, and zones, such as `+02:00`.
#[derive(Default)]
struct Dates {
    taken: Option<String>,
    taken_zone: Option<String>,
    digitized: Option<String>,
    changed: Option<String>,
    changed_zone: Option<String>,
}

impl Dates {
    /// Adds the date, which is when the picture was taken.
    fn add_to(self, metadata: &mut Metadata) {
        let taken = self
            .taken
            .and_then(|date| date::exif(&date, self.taken_zone.as_deref()));
        let taken = taken.or_else(|| date::exif(&self.digitized?, self.taken_zone.as_deref()));
        let changed = self
            .changed
            .and_then(|date| date::exif(&date, self.changed_zone.as_deref()));
        if let Some(created) = taken {
            metadata.number(Field::Created, created);
        }
        if let Some(date) = taken.or(changed) {
            metadata.number(Field::Date, date);
        }
    }
}
