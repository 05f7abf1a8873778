//! Matroska and WebM (RFC 9559) over EBML (RFC 8794): information, tracks, chapters and tags.
//!
//! The names of chapters are the text. Clusters, which hold the film, are skipped; tags may come
//! after them.

use ken_core::Field;

use super::place::add_iso6709;
use super::{FIELDS, MAX_BLOCK_BYTES, add_measures, larger};
use crate::formats::media::audio::{add_date, name_author};
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "Matroska, WebM",
    &["audio/x-matroska", "video/webm", "video/x-matroska"],
    extract,
)
.fields(FIELDS)
.in_worker()
.version(2)
.streams();

/// A film of a day has 20,000 clusters.
const MAX_ELEMENTS: usize = 100_000;

/// Seconds from 1970-01-01 to 2001-01-01.
const EPOCH_SECONDS: i64 = 978_307_200;

const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_a966;
const TIMESTAMP_SCALE: u32 = 0x2a_d7b1;
const DURATION: u32 = 0x4489;
const DATE_UTC: u32 = 0x4461;
const TITLE: u32 = 0x7ba9;
const TRACKS: u32 = 0x1654_ae6b;
const TRACK_ENTRY: u32 = 0xae;
const VIDEO: u32 = 0xe0;
const PIXEL_WIDTH: u32 = 0xb0;
const PIXEL_HEIGHT: u32 = 0xba;
const CHAPTERS: u32 = 0x1043_a770;
const EDITION_ENTRY: u32 = 0x45b9;
const CHAPTER_ATOM: u32 = 0xb6;
const CHAPTER_DISPLAY: u32 = 0x80;
const CHAPTER_STRING: u32 = 0x85;
const TAGS: u32 = 0x1254_c367;
const TAG: u32 = 0x7373;
const SIMPLE_TAG: u32 = 0x67c8;
const TAG_NAME: u32 = 0x45a3;
const TAG_STRING: u32 = 0x4487;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut film = Film::default();
    let has_segment = film.segments(input)?;
    name_author(&mut film.metadata);
    if let Some(created) = film.created {
        film.metadata.number(Field::Created, created);
        film.metadata.number(Field::Date, created);
    }
    let scale_ns = film.scale_ns.unwrap_or(1_000_000);
    let seconds = film.duration * scale_ns as f64 / 1e9;
    add_measures(&mut film.metadata, film.size, seconds);
    film.metadata.add_to(output.own());
    if has_segment {
        Ok(())
    } else {
        Err(Error::Malformed("there is no segment".into()))
    }
}

#[derive(Default)]
struct Film {
    metadata: Metadata,
    size: (u64, u64),
    scale_ns: Option<u64>,
    duration: f64,
    created: Option<i64>,
}

impl Film {
    /// Walks the elements of the file, and those of its segments.
    fn segments(&mut self, input: &Input<'_>) -> Result<bool, Error> {
        let mut at = 0;
        let mut has_segment = false;
        for _ in 0..MAX_ELEMENTS {
            let head = input.range(at, 12)?;
            let mut head_cursor = Cursor(&head);
            let Some((id, length)) = header(&mut head_cursor) else {
                break;
            };
            let start = at + (head.len() - head_cursor.0.len()) as u64;
            if id == SEGMENT {
                has_segment = true;
                at = start;
                continue;
            }
            if matches!(id, INFO | TRACKS | CHAPTERS | TAGS) {
                let length = usize::try_from(length.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
                let content = input.range(start, length.min(MAX_BLOCK_BYTES))?;
                self.element(id, &content);
            }
            match length {
                Some(length) => at = start.saturating_add(length),
                // A live stream ends its clusters where the next one begins; its metadata precede
                // them.
                None => break,
            }
        }
        Ok(has_segment)
    }

    fn element(&mut self, id: u32, content: &[u8]) {
        match id {
            INFO => each(content, |id, value| self.information(id, value)),
            TRACKS => each_path(content, &[TRACK_ENTRY, VIDEO], |video| {
                let mut size = (0, 0);
                each(video, |id, value| match id {
                    PIXEL_WIDTH => size.0 = number(value),
                    PIXEL_HEIGHT => size.1 = number(value),
                    _ => {}
                });
                self.size = larger(self.size, size);
            }),
            CHAPTERS => each_path(content, &[EDITION_ENTRY], |edition| self.chapters(edition)),
            TAGS => each_path(content, &[TAG, SIMPLE_TAG], |tag| {
                let (mut name, mut value) = (String::new(), String::new());
                each(tag, |id, content| match id {
                    TAG_NAME => name = words(content).to_ascii_uppercase(),
                    TAG_STRING => value = words(content),
                    _ => {}
                });
                self.tag(&name, &value);
            }),
            _ => {}
        }
    }

    fn information(&mut self, id: u32, value: &[u8]) {
        match id {
            TIMESTAMP_SCALE => self.scale_ns = Some(number(value)),
            DURATION => self.duration = float(value),
            TITLE => self.metadata.text(Field::Title, &words(value)),
            DATE_UTC => {
                let ns = number(value).cast_signed();
                self.created = Some(EPOCH_SECONDS.saturating_add(ns / 1_000_000_000));
            }
            _ => {}
        }
    }

    /// Adds the names of chapters, one per line; of nested chapters only the outer ones.
    fn chapters(&mut self, edition: &[u8]) {
        each_path(edition, &[CHAPTER_ATOM, CHAPTER_DISPLAY], |display| {
            each(display, |id, value| {
                if id == CHAPTER_STRING {
                    self.metadata.lines(&words(value));
                }
            });
        });
    }

    fn tag(&mut self, name: &str, value: &str) {
        let field = match name {
            "TITLE" => Field::Title,
            "ARTIST" | "LEAD_PERFORMER" | "ACTOR" | "CONDUCTOR" => Field::Artist,
            "ALBUM" => Field::Album,
            "GENRE" => Field::Genre,
            "COMPOSER" | "DIRECTOR" | "WRITTEN_BY" | "AUTHOR" | "LYRICIST" => Field::Author,
            "COMMENT" | "DESCRIPTION" | "SUMMARY" | "SYNOPSIS" | "SUBTITLE" => Field::Description,
            "KEYWORDS" | "SUBJECT" => Field::Keywords,
            "DATE_RELEASED" | "DATE_RECORDED" | "DATE" | "DATE_RELEASE" => {
                return add_date(&mut self.metadata, value);
            }
            "LYRICS" => return self.metadata.lines(value),
            "LOCATION" | "COM.APPLE.QUICKTIME.LOCATION.ISO6709" => {
                return add_iso6709(&mut self.metadata, value);
            }
            _ => return,
        };
        self.metadata.text(field, value);
    }
}

/// Reads identifier and length of an element; a length with all bits set is unknown.
fn header(cursor: &mut Cursor<'_>) -> Option<(u32, Option<u64>)> {
    let first = *cursor.0.first()?;
    let id_bytes = first.leading_zeros() as usize + 1;
    if id_bytes > 4 {
        return None;
    }
    let id = u32::try_from(cursor.be_number(id_bytes)?).ok()?;
    let first = *cursor.0.first()?;
    let length_bytes = first.leading_zeros() as usize + 1;
    if length_bytes > 8 {
        return None;
    }
    let mask = (1_u64 << (7 * length_bytes)) - 1;
    let length = cursor.be_number(length_bytes)? & mask;
    Some((id, (length != mask).then_some(length)))
}

/// Calls `take` with each element in `content`; a truncated one is left out.
fn each(content: &[u8], mut take: impl FnMut(u32, &[u8])) {
    let mut cursor = Cursor(content);
    while let Some((id, Some(length))) = header(&mut cursor) {
        let Some(value) = usize::try_from(length).ok().and_then(|n| cursor.take(n)) else {
            return;
        };
        take(id, value);
    }
}

/// Calls `take` with each element at a path of identifiers.
fn each_path(content: &[u8], path: &[u32], mut take: impl FnMut(&[u8])) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    each(content, |id, value| {
        if id == *first {
            match rest.first() {
                Some(_) => each_path(value, rest, &mut take as &mut dyn FnMut(&[u8])),
                None => take(value),
            }
        }
    });
}

fn number(value: &[u8]) -> u64 {
    Cursor(value)
        .be_number(value.len().min(8))
        .unwrap_or_default()
}

fn float(value: &[u8]) -> f64 {
    let whole = number(value);
    match value.len() {
        4 => f64::from(f32::from_bits(whole as u32)),
        8 => f64::from_bits(whole),
        _ => 0.0,
    }
}

fn words(value: &[u8]) -> String {
    String::from_utf8_lossy(value)
        .trim_end_matches('\0')
        .to_owned()
}
