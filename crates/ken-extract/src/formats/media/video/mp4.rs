//! MP4, QuickTime and 3GP (ISO/IEC 14496-12, QuickTime File Format): the box `moov`.
//!
//! Depending on the program that wrote the file, the box holds metadata as items of iTunes, as keys
//! and values of QuickTime, or as texts of user data.

use ken_core::Field;

use super::place::add_iso6709;
use super::{FIELDS, MAX_BLOCK_BYTES, add_measures, larger};
use crate::formats::media::audio::{add_date, name_author, position_of};
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::chunks::{Chunk, Chunks, Layout};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "MP4, QuickTime",
    &[
        "audio/mp4",
        "video/3gpp",
        "video/3gpp2",
        "video/mp4",
        "video/quicktime",
    ],
    extract,
)
.fields(FIELDS)
.in_worker()
.version(3)
.streams();

/// Seconds from 1904-01-01 to 1970-01-01.
const EPOCH_SECONDS: i64 = 2_082_844_800;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut film = Film::default();
    let mut boxes = Chunks::of_file(input, Layout::Iso, 0);
    let mut has_header = false;
    while let Some(found) = boxes.next()? {
        if &found.kind == b"moov" {
            has_header = true;
            film.read(&found, input)?;
        }
    }
    film.finish(output);
    if has_header {
        Ok(())
    } else {
        Err(Error::Malformed("there is no header (moov)".into()))
    }
}

#[derive(Default)]
struct Film {
    metadata: Metadata,
    size: (u64, u64),
    seconds: f64,
    created: Option<i64>,
    /// Number of a piece in its album, and how many there are.
    track: [u32; 2],
    disc: [u32; 2],
}

/// Returns the two numbers in an item of type 0.
fn pair(content: &[u8]) -> Option<[u32; 2]> {
    let mut content = Cursor(content);
    // The type, a locale, and two bytes of padding.
    content.take(10)?;
    Some([content.be_u16()?.into(), content.be_u16()?.into()])
}

impl Film {
    fn read(&mut self, moov: &Chunk, input: &Input<'_>) -> Result<(), Error> {
        let mut boxes = moov.children(input, 0);
        while let Some(found) = boxes.next()? {
            match &found.kind {
                b"mvhd" => drop(self.movie_header(&found.content(input, 32)?)),
                b"trak" => self.track(&found, input)?,
                b"udta" => self.user_data(&found, input)?,
                b"meta" => self.meta(&found, input)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn movie_header(&mut self, content: &[u8]) -> Option<()> {
        let mut header = Cursor(content);
        let version = header.byte()?;
        header.take(3)?;
        let wide = if version == 0 { 4 } else { 8 };
        let created = i64::try_from(header.be_number(wide)?).ok()?;
        let _modified = header.be_number(wide)?;
        let units = header.be_u32()?;
        let duration = header.be_number(wide)?;
        // A clock that was never set is at 0.
        if created > EPOCH_SECONDS {
            self.created = Some(created - EPOCH_SECONDS);
        }
        // All bits set means not known.
        let is_known = duration != u64::MAX >> (64 - 8 * wide);
        if units > 0 && is_known {
            self.seconds = duration as f64 / f64::from(units);
        }
        Some(())
    }

    fn track(&mut self, trak: &Chunk, input: &Input<'_>) -> Result<(), Error> {
        let mut boxes = trak.children(input, 0);
        while let Some(found) = boxes.next()? {
            if &found.kind == b"tkhd" {
                let header = found.content(input, 96)?;
                // The last numbers, in 16.16 fixed point.
                let at = if header.first() == Some(&0) { 76 } else { 88 };
                let mut size = Cursor(header.get(at..).unwrap_or_default());
                if let (Some(width), Some(height)) = (size.be_u32(), size.be_u32()) {
                    self.size = larger(self.size, ((width >> 16).into(), (height >> 16).into()));
                }
            }
        }
        Ok(())
    }

    fn user_data(&mut self, udta: &Chunk, input: &Input<'_>) -> Result<(), Error> {
        let mut boxes = udta.children(input, 0);
        while let Some(found) = boxes.next()? {
            if &found.kind == b"meta" {
                self.meta(&found, input)?;
                continue;
            }
            let content = found.content(input, MAX_BLOCK_BYTES)?;
            if &found.kind == b"loci" {
                self.location(&content).unwrap_or_default();
                continue;
            }
            let mut value = Cursor(&content);
            // QuickTime: length, language, text. 3GP: version and flags, language, text.
            let is_quicktime = found.kind[0] == 0xa9;
            let length = if is_quicktime {
                value.be_u16().map(usize::from)
            } else {
                value.be_u32().map(|_| usize::MAX)
            };
            let _language = value.be_u16();
            if let Some(length) = length {
                let text = &value.0[..length.min(value.0.len())];
                self.item(&found.kind, &text::decode(text, None));
            }
        }
        Ok(())
    }

    /// Reads the place of 3GP (3GPP TS 26.244, 8.10): its name, its role, and its coordinates.
    fn location(&mut self, content: &[u8]) -> Option<()> {
        let mut place = Cursor(content);
        place.take(6)?;
        let is_wide = place.0.starts_with(b"\xfe\xff");
        let end = match is_wide {
            true => place.0.chunks_exact(2).position(|unit| unit == [0, 0])? * 2,
            false => memchr::memchr(0, place.0)?,
        };
        let name = text::decode(place.take(end)?, (!is_wide).then_some("utf-8"));
        self.metadata.text(Field::Keywords, &name);
        place.take(if is_wide { 3 } else { 2 })?;
        let mut degrees = || Some(f64::from(place.be_u32()?.cast_signed()) / 65_536.0);
        let (longitude, latitude) = (degrees()?, degrees()?);
        self.metadata.place(latitude, longitude);
        Some(())
    }

    /// Reads keys, if there are any, and items.
    fn meta(&mut self, meta: &Chunk, input: &Input<'_>) -> Result<(), Error> {
        // In QuickTime it is a plain box, in MP4 one with version and flags.
        let head = meta.content(input, 8)?;
        let is_plain = head.get(4..8) == Some(b"hdlr");
        let mut keys = Vec::new();
        let mut boxes = meta.children(input, if is_plain { 0 } else { 4 });
        while let Some(found) = boxes.next()? {
            match &found.kind {
                b"keys" => {
                    let mut names = found.children(input, 8);
                    while let Some(name) = names.next()? {
                        let name = name.content(input, 256)?;
                        keys.push(String::from_utf8_lossy(&name).into_owned());
                    }
                }
                b"ilst" => self.items(&found, &keys, input)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn items(&mut self, ilst: &Chunk, keys: &[String], input: &Input<'_>) -> Result<(), Error> {
        let mut items = ilst.children(input, 0);
        while let Some(item) = items.next()? {
            let number = u32::from_be_bytes(item.kind) as usize;
            let key = number.checked_sub(1).and_then(|number| keys.get(number));
            let mut values = item.children(input, 0);
            while let Some(value) = values.next()? {
                let content = value.content(input, MAX_BLOCK_BYTES)?;
                match &item.kind {
                    b"trkn" => self.track = pair(&content).unwrap_or_default(),
                    b"disk" => self.disc = pair(&content).unwrap_or_default(),
                    _ => {}
                }
                // Type 1 is UTF-8; a locale follows it.
                if &value.kind != b"data" || !content.starts_with(&[0, 0, 0, 1]) {
                    continue;
                }
                let text = text::decode(content.get(8..).unwrap_or_default(), Some("utf-8"));
                match key {
                    Some(key) => self.value(key, &text),
                    None => self.item(&item.kind, &text),
                }
            }
        }
        Ok(())
    }

    /// Adds an item by its code of four characters.
    fn item(&mut self, code: &[u8; 4], text: &str) {
        let field = match code {
            b"\xa9nam" | b"titl" => Field::Title,
            b"\xa9ART" | b"\xa9art" | b"aART" | b"perf" | b"\xa9prf" => Field::Artist,
            b"\xa9alb" | b"albm" | b"tvsh" => Field::Album,
            b"\xa9gen" | b"gnre" => Field::Genre,
            b"\xa9wrt" | b"\xa9com" | b"\xa9aut" | b"auth" | b"\xa9dir" => Field::Author,
            b"\xa9cmt" | b"\xa9des" | b"desc" | b"ldes" | b"dscp" | b"\xa9inf" => {
                Field::Description
            }
            b"keyw" | b"\xa9key" | b"kywd" => Field::Keywords,
            b"\xa9mak" => return self.metadata.make(text),
            b"\xa9mod" => return self.metadata.model(text),
            b"\xa9day" => return add_date(&mut self.metadata, text),
            b"\xa9xyz" => return add_iso6709(&mut self.metadata, text),
            b"\xa9lyr" => return self.metadata.lines(text),
            _ => return,
        };
        self.metadata.text(field, text);
    }

    /// Adds a value by its key, `com.apple.quicktime.title` or `title`.
    fn value(&mut self, key: &str, text: &str) {
        let field = match key.rsplit('.').next().unwrap_or(key) {
            "title" | "displayname" => Field::Title,
            "artist" | "album_artist" | "performer" => Field::Artist,
            "album" | "show" => Field::Album,
            "genre" => Field::Genre,
            "author" | "composer" | "director" => Field::Author,
            "comment" | "description" | "synopsis" | "information" => Field::Description,
            "keywords" => Field::Keywords,
            "make" => return self.metadata.make(text),
            "model" => return self.metadata.model(text),
            "creationdate" | "date" | "year" => return add_date(&mut self.metadata, text),
            "ISO6709" => return add_iso6709(&mut self.metadata, text),
            "lyrics" => return self.metadata.lines(text),
            _ => return,
        };
        self.metadata.text(field, text);
    }

    fn finish(mut self, output: &mut Output<'_>) {
        name_author(&mut self.metadata);
        self.metadata.lines(&position_of(self.track, self.disc));
        if let Some(created) = self.created {
            self.metadata.number(Field::Created, created);
            self.metadata.number(Field::Date, created);
        }
        add_measures(&mut self.metadata, self.size, self.seconds);
        self.metadata.add_to(output.own());
    }
}
