//! Enhanced metafiles (MS-EMF), and the records of EMF+ within their comments (MS-EMFPLUS).
//!
//! Most programs write both kinds of records with the same texts, so that those of EMF+ count only if there are no others.

use super::font::Objects;
use super::pieces::Pieces;
use crate::structure::cursor::Cursor;
use crate::text::code_page;

/// The text consists of numbers of glyphs.
const IS_GLYPHS: u32 = 0x10;
/// No rectangle precedes a small text.
const NO_RECTANGLE: u32 = 0x100;
/// The characters of a small text have eight bits.
const IS_NARROW: u32 = 0x200;
/// The text begins where the last one ended.
const UPDATES_PLACE: u32 = 1;
/// Deeper nests of saved states are hostile.
const MAX_SAVED: usize = 256;

/// Adds the texts of a metafile; returns whether it is whole.
pub(super) fn read(bytes: &[u8], pieces: &mut Pieces) -> bool {
    let mut player = Player::default();
    let mut plus = String::new();
    let mut rest = bytes;
    let is_whole = loop {
        let Some((kind, record, after)) = next(rest) else {
            break false;
        };
        rest = after;
        match kind {
            14 => break true,
            70 => {
                let _ = read_plus(record, &mut plus);
            }
            // A record that is too short for its kind is ignored.
            _ => {
                let _ = player.play(kind, record, pieces);
            }
        }
        if pieces.is_full() || plus.len() > bytes.len() {
            break true;
        }
    };
    if pieces.is_empty() {
        pieces.add(&plus, (0.0, 0.0), None);
    }
    is_whole
}

/// Returns the kind of the first record, the whole record, and what follows.
fn next(rest: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let mut header = Cursor(rest);
    let kind = header.le_u32()?;
    let size = header.le_u32()? as usize;
    if size < 8 || !size.is_multiple_of(4) {
        return None;
    }
    let (record, after) = rest.split_at_checked(size)?;
    Some((kind, record, after))
}

/// What maps places of texts to places of the picture: factors and shifts (2.2.28).
#[derive(Clone, Copy)]
struct Transform([f64; 6]);

impl Transform {
    const NONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn read(record: &[u8]) -> Option<Self> {
        let mut data = Cursor(record.get(8..)?);
        let mut numbers = [0.0; 6];
        for number in &mut numbers {
            *number = f64::from(f32::from_bits(data.le_u32()?));
        }
        Some(Self(numbers))
    }

    fn apply(self, (x, y): (f64, f64)) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// Returns the transform that does this one, then another.
    fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [o, p, q, r, s, t] = other.0;
        Self([
            a * o + b * q,
            a * p + b * r,
            c * o + d * q,
            c * p + d * r,
            e * o + f * q + s,
            e * p + f * r + t,
        ])
    }

    /// Returns by how much widths grow.
    fn scale(self) -> f64 {
        self.0[0].hypot(self.0[1])
    }
}

struct Player {
    objects: Objects,
    transform: Transform,
    saved: Vec<Transform>,
    alignment: u32,
    place: (f64, f64),
}

impl Default for Player {
    fn default() -> Self {
        Self {
            objects: Objects::default(),
            transform: Transform::NONE,
            saved: Vec::new(),
            alignment: 0,
            place: (0.0, 0.0),
        }
    }
}

impl Player {
    fn play(&mut self, kind: u32, record: &[u8], pieces: &mut Pieces) -> Option<()> {
        let number = |at: usize| number(record, at);
        match kind {
            22 => self.alignment = number(8)?,
            27 => self.place = place(record, 8)?,
            33 if self.saved.len() < MAX_SAVED => self.saved.push(self.transform),
            34 => self.transform = self.saved.pop().unwrap_or(Transform::NONE),
            35 => self.transform = Transform::read(record)?,
            36 => {
                let other = Transform::read(record)?;
                self.transform = match number(32)? {
                    1 => Transform::NONE,
                    2 => other.then(self.transform),
                    3 => self.transform.then(other),
                    _ => other,
                };
            }
            37 => self.objects.select(number(8)? as usize),
            40 => self.objects.delete(number(8)? as usize),
            82 => self.objects.set(number(8)? as usize, *record.get(35)?),
            83 | 84 => self.text(record, 36, kind == 84, pieces)?,
            96 | 97 => {
                let n_texts = number(36)? as usize;
                for text in 0..n_texts.min(record.len() / 40) {
                    self.text(record, 40 + 40 * text, kind == 97, pieces)?;
                }
            }
            108 => self.small_text(record, pieces)?,
            _ => {}
        }
        Some(())
    }

    /// Reads the description of a text, and the text within the record that it refers to (2.2.5).
    fn text(&mut self, record: &[u8], at: usize, is_wide: bool, pieces: &mut Pieces) -> Option<()> {
        let n = number(record, at + 8)? as usize;
        let start = number(record, at + 12)? as usize;
        let flags = number(record, at + 16)?;
        let widths_at = number(record, at + 36)? as usize;
        if flags & IS_GLYPHS != 0 {
            return None;
        }
        let text = characters(record, start, n, is_wide, &self.objects)?;
        let width = widths(record, widths_at, n);
        self.draw(&text, place(record, at)?, width, pieces);
        Some(())
    }

    /// 2.3.5.37.
    fn small_text(&mut self, record: &[u8], pieces: &mut Pieces) -> Option<()> {
        let n = number(record, 16)? as usize;
        let flags = number(record, 20)?;
        let start = if flags & NO_RECTANGLE == 0 { 52 } else { 36 };
        if flags & IS_GLYPHS != 0 {
            return None;
        }
        let text = match flags & IS_NARROW {
            0 => characters(record, start, n, true, &self.objects)?,
            _ => {
                let bytes = record.get(start..start.checked_add(n)?)?;
                bytes.iter().copied().map(char::from).collect()
            }
        };
        self.draw(&text, place(record, 8)?, None, pieces);
        Some(())
    }

    fn draw(&mut self, text: &str, at: (f64, f64), width: Option<f64>, pieces: &mut Pieces) {
        let is_continued = self.alignment & UPDATES_PLACE != 0;
        let at = if is_continued { self.place } else { at };
        let scaled = width.map(|width| width * self.transform.scale());
        pieces.add(text, self.transform.apply(at), scaled);
        if is_continued {
            self.place.0 += width.unwrap_or(0.0);
        }
    }
}

fn number(record: &[u8], at: usize) -> Option<u32> {
    Cursor(record.get(at..)?).le_u32()
}

fn place(record: &[u8], at: usize) -> Option<(f64, f64)> {
    let x = f64::from(number(record, at)? as i32);
    Some((x, f64::from(number(record, at + 4)? as i32)))
}

fn characters(
    record: &[u8],
    start: usize,
    n: usize,
    is_wide: bool,
    objects: &Objects,
) -> Option<String> {
    let length = if is_wide { n.checked_mul(2)? } else { n };
    let bytes = record.get(start..start.checked_add(length)?)?;
    Some(match is_wide {
        true => code_page::utf16(bytes).into_owned(),
        false => objects.decode(bytes),
    })
}

fn widths(record: &[u8], at: usize, n: usize) -> Option<f64> {
    let end = at.checked_add(n.checked_mul(4)?)?;
    let bytes = record.get(at..end).filter(|_| at > 0)?;
    let widths = bytes.as_chunks::<4>().0.iter().copied();
    Some(
        widths
            .map(|width| f64::from(u32::from_le_bytes(width) as i32))
            .sum(),
    )
}

/// Adds the texts in the records of EMF+ within a comment (MS-EMFPLUS 2.3.4.14).
fn read_plus(comment: &[u8], text: &mut String) -> Option<()> {
    const DRAW_STRING: u16 = 0x401c;
    let mut rest = Cursor(comment.get(12..)?.strip_prefix(b"EMF+")?);
    loop {
        let kind = rest.le_u16()?;
        let _flags = rest.le_u16()?;
        let size = rest.le_u32()? as usize;
        let data_size = rest.le_u32()? as usize;
        let data = rest.take(size.checked_sub(12)?)?;
        if kind == DRAW_STRING && data_size <= data.len() {
            let n = number(data, 8)? as usize;
            let bytes = data.get(28..28 + n.checked_mul(2)?)?;
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&code_page::utf16(bytes));
        }
    }
}
