//! The older metafiles, of 16 bits (MS-WMF): records of a length in words, a function, and parameters in reverse order.

use super::font::Objects;
use super::pieces::Pieces;
use crate::structure::cursor::Cursor;

const PLACEABLE: &[u8] = b"\xd7\xcd\xc6\x9a";
const PLACEABLE_BYTES: usize = 22;
/// Flags of `ExtTextOut`: a rectangle precedes the text.
const HAS_RECTANGLE: u16 = 0x06;
/// The text consists of numbers of glyphs.
const IS_GLYPHS: u16 = 0x10;
/// The text begins where the last one ended.
const UPDATES_PLACE: u16 = 1;

/// Adds the texts of a metafile; returns whether it is whole.
pub(super) fn read(bytes: &[u8], pieces: &mut Pieces) -> bool {
    let mut rest = bytes;
    if rest.starts_with(PLACEABLE) {
        rest = rest.get(PLACEABLE_BYTES..).unwrap_or_default();
    }
    let Some(mut records) = after_header(rest) else {
        return false;
    };
    let mut player = Player::default();
    while !pieces.is_full() {
        let Some((function, data)) = next(&mut records) else {
            return false;
        };
        if function == 0 {
            break;
        }
        // A record that is too short for its function is ignored.
        let _ = player.play(function, Cursor(data), pieces);
    }
    true
}

/// Skips the header, whose length is in words (2.3.2.2).
fn after_header(bytes: &[u8]) -> Option<Cursor<'_>> {
    let mut header = Cursor(bytes);
    let kind = header.le_u16()?;
    let n_words = usize::from(header.le_u16()?);
    let is_header = matches!(kind, 1 | 2) && n_words == 9;
    is_header.then(|| bytes.get(18..).map(Cursor))?
}

fn next<'a>(records: &mut Cursor<'a>) -> Option<(u16, &'a [u8])> {
    let n_words = records.le_u32()? as usize;
    let function = records.le_u16()?;
    let length = n_words.checked_sub(3)?.checked_mul(2)?;
    Some((function, records.take(length)?))
}

#[derive(Default)]
struct Player {
    objects: Objects,
    alignment: u16,
    place: (f64, f64),
}

impl Player {
    fn play(&mut self, function: u16, mut data: Cursor<'_>, pieces: &mut Pieces) -> Option<()> {
        match function {
            // The character set follows five numbers and three flags (2.2.1.2).
            0x02fb => self.objects.add(Some(data.0.get(13).copied()?)),
            0x02fa | 0x02fc | 0x0142 | 0x00f7 | 0x06ff | 0x01f9 => self.objects.add(None),
            0x012d => self.objects.select(usize::from(data.le_u16()?)),
            0x01f0 => self.objects.delete(usize::from(data.le_u16()?)),
            0x012e => self.alignment = data.le_u16()?,
            0x0214 => self.place = place(&mut data)?,
            0x0521 => {
                let length = usize::from(data.le_u16()?);
                let text = data.take(length)?;
                data.take(length % 2)?;
                let at = place(&mut data)?;
                self.draw(text, at, None, pieces);
            }
            0x0a32 => {
                let at = place(&mut data)?;
                let length = usize::from(data.le_u16()?);
                let flags = data.le_u16()?;
                if flags & HAS_RECTANGLE != 0 {
                    data.take(8)?;
                }
                if flags & IS_GLYPHS != 0 {
                    return None;
                }
                let text = data.take(length)?;
                data.take((length % 2).min(data.0.len()))?;
                let width = widths(data, length);
                self.draw(text, at, width, pieces);
            }
            _ => {}
        }
        Some(())
    }

    fn draw(&mut self, text: &[u8], at: (f64, f64), width: Option<f64>, pieces: &mut Pieces) {
        let is_continued = self.alignment & UPDATES_PLACE != 0;
        let at = if is_continued { self.place } else { at };
        pieces.add(&self.objects.decode(text), at, width);
        if is_continued {
            self.place.0 += width.unwrap_or(0.0);
        }
    }
}

/// Reads a place, whose y comes first.
fn place(data: &mut Cursor<'_>) -> Option<(f64, f64)> {
    let y = f64::from(data.le_u16()? as i16);
    Some((f64::from(data.le_u16()? as i16), y))
}

/// Returns how wide a text is, if a width follows for each of its bytes.
fn widths(mut data: Cursor<'_>, n: usize) -> Option<f64> {
    let mut sum = 0.0;
    for _ in 0..n {
        sum += f64::from(data.le_u16()? as i16);
    }
    Some(sum)
}
