//! Damages good bytes: single bytes, numbers, pieces that are copied, moved, repeated or left out,
//! and pieces of another sample in the same format. Members of zip archives are damaged inside,
//! since nearly all other damage would end at their checksums.

use std::io::{Cursor, Read, Write};

use fastrand::Rng;

/// Maximum size of a mutated file.
const MAX_BYTES: usize = 512 << 10;
/// Numbers that parsers often mishandle.
const BOUNDARIES: [u64; 10] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    u64::MAX,
];

/// Returns a damaged copy of `good`; `other` is a file in the same format.
pub fn mutate(good: &[u8], other: &[u8], random: &mut Rng) -> Vec<u8> {
    let is_zip = good.starts_with(b"PK\x03\x04");
    if is_zip
        && random.usize(..4) > 0
        && let Some(bytes) = mutate_member(good, random)
    {
        return bytes;
    }
    let mut bytes = good.to_vec();
    damage(&mut bytes, other, random);
    bytes
}

/// Damages the content of one member of a zip archive.
fn mutate_member(good: &[u8], random: &mut Rng) -> Option<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(good)).ok()?;
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let chosen = random.usize(..archive.len().max(1));
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).ok()?;
        let mut content = Vec::new();
        member.read_to_end(&mut content).ok()?;
        if at == chosen {
            let other = content.clone();
            damage(&mut content, &other, random);
        }
        let name = member.name().ok()?.into_owned();
        writer.start_file(name, options).ok()?;
        writer.write_all(&content).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}

/// Damages bytes at one to eight positions, mostly few.
fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    for _ in 0..1 << random.usize(..4) {
        damage_once(bytes, other, random);
        bytes.truncate(MAX_BYTES);
    }
}

fn damage_once(bytes: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let at = random.usize(..bytes.len().max(1));
    match random.usize(..10) {
        0 => flip(bytes, at, random),
        1 => set(bytes, at, random),
        2 => number(bytes, at, random),
        3 => bytes.truncate(at),
        4 => leave_out(bytes, at, random),
        5 => repeat(bytes, at, random),
        6 => move_piece(bytes, at, random),
        7 => splice(bytes, at, other, random),
        8 => digits(bytes, at, random),
        _ => noise(bytes, at, random),
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Rng) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.usize(..8);
    }
}

fn set(bytes: &mut [u8], at: usize, random: &mut Rng) {
    let value = random.u8(..);
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Writes a special number of one to eight bytes.
fn number(bytes: &mut [u8], at: usize, random: &mut Rng) {
    let width = 1 << random.usize(..4);
    let delta = random.usize(..3) as u64;
    let value = BOUNDARIES[random.usize(..BOUNDARIES.len())].wrapping_sub(delta);
    let mut encoded = value.to_le_bytes()[..width].to_vec();
    if random.bool() {
        encoded.reverse();
    }
    for (byte, new) in bytes.iter_mut().skip(at).zip(encoded) {
        *byte = new;
    }
}

/// Returns the end of a piece that begins at `at`, mostly a short one.
fn end_of_piece(bytes: &[u8], at: usize, random: &mut Rng) -> usize {
    let longest = 1 << random.usize(..14);
    (at + 1 + random.usize(..longest.max(1))).min(bytes.len())
}

fn leave_out(bytes: &mut Vec<u8>, at: usize, random: &mut Rng) {
    let end = end_of_piece(bytes, at, random);
    if at < end {
        bytes.drain(at..end);
    }
}

/// Repeats a piece, sometimes so often that nesting becomes deep and lists long.
fn repeat(bytes: &mut Vec<u8>, at: usize, random: &mut Rng) {
    let piece = bytes[at..end_of_piece(bytes, at, random).max(at)].to_vec();
    let times = 1 << random.usize(..14);
    let room = MAX_BYTES.saturating_sub(bytes.len()) / piece.len().max(1);
    bytes.splice(at..at, piece.repeat(times.min(room)));
}

fn move_piece(bytes: &mut Vec<u8>, at: usize, random: &mut Rng) {
    let piece = bytes[at..end_of_piece(bytes, at, random).max(at)].to_vec();
    let to = random.usize(..bytes.len().max(1));
    let end = (to + piece.len()).min(bytes.len());
    let replaced = if random.bool() { end } else { to };
    bytes.splice(to..replaced, piece);
}

fn splice(bytes: &mut Vec<u8>, at: usize, other: &[u8], random: &mut Rng) {
    let from = random.usize(..other.len().max(1));
    let piece = &other[from..end_of_piece(other, from, random).max(from)];
    let end = (at + piece.len()).min(bytes.len());
    bytes.splice(at..end, piece.iter().copied());
}

/// Replaces the digits of a number in text.
fn digits(bytes: &mut Vec<u8>, at: usize, random: &mut Rng) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = at + start;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + length.count();
    let value = BOUNDARIES[random.usize(..BOUNDARIES.len())].wrapping_sub(random.usize(..2) as u64);
    let sign = if random.usize(..4) == 0 { "-" } else { "" };
    bytes.splice(start..end, format!("{sign}{value}").into_bytes());
}

fn noise(bytes: &mut [u8], at: usize, random: &mut Rng) {
    let end = end_of_piece(bytes, at, random).max(at);
    for byte in &mut bytes[at..end] {
        *byte = random.u8(..);
    }
}
