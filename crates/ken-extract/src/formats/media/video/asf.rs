//! Windows Media (.wmv, .wma, .asf): the header objects of the Advanced Systems Format, revision
//! 01.20.03.

use encoding_rs::UTF_16LE;
use ken_core::Field;

use super::{FIELDS, add_measures, larger};
use crate::formats::media::audio::{add_date, name_author};
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "Windows Media",
    &["audio/x-ms-wma", "video/x-ms-asf", "video/x-ms-wmv"],
    extract,
)
.fields(FIELDS)
.in_worker()
.streams();

/// Maximum size of a header; larger ones hold cover pictures.
const MAX_HEADER_BYTES: usize = 8 << 20;

/// Seconds from 1601-01-01 to 1970-01-01.
const EPOCH_SECONDS: i64 = 11_644_473_600;

// The first four bytes of an object's identifier, in file order, are enough to distinguish objects.
const FILE_PROPERTIES: u32 = 0x8cab_dca1;
const STREAM_PROPERTIES: u32 = 0xb7dc_0791;
const CONTENT_DESCRIPTION: u32 = 0x75b2_2633;
const EXTENDED_DESCRIPTION: u32 = 0xd2d0_a440;
const VIDEO: u32 = 0xbc19_efc0;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let head = input.range(0, 30)?;
    let mut header = Cursor(&head);
    let _identifier = header.take(16);
    let length = header.le_u64().unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(MAX_HEADER_BYTES);
    let objects = input.range(30, length.min(MAX_HEADER_BYTES).saturating_sub(30))?;
    let mut film = Film::default();
    let result = film.objects(&mut Cursor(&objects));
    name_author(&mut film.metadata);
    if let Some(created) = film.created {
        film.metadata.number(Field::Created, created);
        film.metadata.number(Field::Date, created);
    }
    add_measures(&mut film.metadata, film.size, film.seconds);
    film.metadata.add_to(output.own());
    result.ok_or_else(|| Error::Malformed("the header is cut off".into()))
}

#[derive(Default)]
struct Film {
    metadata: Metadata,
    size: (u64, u64),
    seconds: f64,
    created: Option<i64>,
}

impl Film {
    fn objects(&mut self, objects: &mut Cursor<'_>) -> Option<()> {
        if objects.0.is_empty() {
            return None;
        }
        while !objects.0.is_empty() {
            let kind = objects.le_u32()?;
            objects.take(12)?;
            let length = usize::try_from(objects.le_u64()?).ok()?.checked_sub(24)?;
            let mut content = Cursor(objects.take(length)?);
            // Damage inside one object does not affect the next.
            let _ = match kind {
                FILE_PROPERTIES => self.file(&mut content),
                STREAM_PROPERTIES => self.stream(&mut content),
                CONTENT_DESCRIPTION => self.description(&mut content),
                EXTENDED_DESCRIPTION => self.extended_description(&mut content),
                _ => None,
            };
        }
        Some(())
    }

    fn file(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        content.take(24)?;
        // In units of 100 ns; the length includes the time of loading, in ms.
        let created = content.le_u64()?;
        content.take(8)?;
        let length = content.le_u64()?;
        content.take(8)?;
        let preroll_ms = content.le_u64()?;
        self.seconds = length as f64 / 1e7 - preroll_ms as f64 / 1e3;
        let created = i64::try_from(created / 10_000_000).ok()? - EPOCH_SECONDS;
        self.created = (created > 0).then_some(created);
        Some(())
    }

    fn stream(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        if content.le_u32()? == VIDEO {
            content.take(50)?;
            let size = (content.le_u32()?.into(), content.le_u32()?.into());
            self.size = larger(self.size, size);
        }
        Some(())
    }

    fn description(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        let mut lengths = [0; 5];
        for length in &mut lengths {
            *length = usize::from(content.le_u16()?);
        }
        let [title, artist, _copyright, description, _rating] = lengths.map(|n| content.take(n));
        self.metadata.text(Field::Title, &words(title?));
        self.metadata.text(Field::Artist, &words(artist?));
        self.metadata.text(Field::Description, &words(description?));
        Some(())
    }

    fn extended_description(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        for _ in 0..content.le_u16()? {
            let length = usize::from(content.le_u16()?);
            let name = words(content.take(length)?);
            let kind = content.le_u16()?;
            let length = usize::from(content.le_u16()?);
            let value = content.take(length)?;
            // Type 0 is text.
            if kind == 0 {
                self.add(&name, &words(value));
            }
        }
        Some(())
    }

    fn add(&mut self, name: &str, text: &str) {
        let field = match name {
            "Title" => Field::Title,
            "Author" => Field::Artist,
            "Description" => Field::Description,
            "WM/AlbumTitle" => Field::Album,
            "WM/AlbumArtist" | "WM/Conductor" => Field::Artist,
            "WM/Composer" | "WM/Writer" | "WM/Director" => Field::Author,
            "WM/Genre" => Field::Genre,
            "WM/SubTitle" | "WM/SubTitleDescription" => Field::Description,
            "WM/Category" | "WM/Mood" => Field::Keywords,
            "WM/Language" => Field::Lang,
            "WM/Year" => return add_date(&mut self.metadata, text),
            "WM/Lyrics" => return self.metadata.lines(text),
            _ => return,
        };
        self.metadata.text(field, text);
    }
}

/// Decodes a text in UTF-16 that ends with a NUL.
fn words(bytes: &[u8]) -> String {
    let (text, _) = UTF_16LE.decode_without_bom_handling(bytes);
    text.trim_end_matches('\0').to_owned()
}
