//! Repairs a zip file whose list of members at the end is missing or damaged, as after a download
//! that broke off.
//!
//! A header precedes each member, too (PKWARE's APPNOTE.TXT 4.3.7). The members that follow such
//! headers are written into a new file with a new list, which is then read as any other. Of a member
//! that is cut or damaged, the start is kept, unpacked. A header may lack sizes and checksum, which
//! then follow the content: the content of a deflated member says itself where it ends, and any
//! other ends before the next header.

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use crate::Limits;
use crate::expansion::max_expanded;
use crate::structure::cursor::Cursor;

const LOCAL: &[u8] = b"PK\x03\x04";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Flags of a header: the content is encrypted; sizes follow it; the name is UTF-8.
const IS_ENCRYPTED: u16 = 1;
const SIZES_FOLLOW: u16 = 8;
const IS_UTF8: u16 = 0x800;
/// The size of a member whose real size is in an extension.
const UNKNOWN: u32 = u32::MAX;
const CHUNK_BYTES: usize = 32 << 10;
/// More members than are worth a repair.
const MAX_MEMBERS: usize = 60_000;

/// Returns a zip file with the members that can be found; none if there are none.
pub(crate) fn rescued(bytes: &[u8], limits: &Limits) -> Option<Vec<u8>> {
    let mut writer = Writer::default();
    let mut budget = max_expanded(bytes.len() as u64, limits.max_expansion)
        .min(limits.max_expanded_bytes)
        .min(limits.max_file_bytes);
    let mut at = memmem::find(bytes, LOCAL)?;
    while writer.n_members < MAX_MEMBERS {
        let end = match Header::read(&bytes[at..]) {
            Some(header) => at + header.read_member(&bytes[at..], &mut budget, &mut writer),
            None => at + LOCAL.len(),
        };
        match memmem::find(&bytes[end..], LOCAL) {
            Some(next) => at = end + next,
            None => break,
        }
    }
    (writer.n_members > 0).then(|| writer.finish())
}

/// Returns a zip file of parts that are not packed.
pub(crate) fn stored(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = Writer::default();
    for (name, content) in parts.iter().take(MAX_MEMBERS) {
        let header = Header {
            flags: IS_UTF8,
            method: STORED,
            time: 0,
            crc: 0,
            packed: 0,
            size: 0,
            name: name.as_bytes(),
            n_bytes: 0,
        };
        writer.add(
            &header,
            STORED,
            crc32(content),
            content.len() as u32,
            content,
        );
    }
    writer.finish()
}

/// The header of a member.
struct Header<'a> {
    flags: u16,
    method: u16,
    time: u32,
    crc: u32,
    packed: u32,
    size: u32,
    name: &'a [u8],
    /// Where the content begins.
    n_bytes: usize,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes.strip_prefix(LOCAL)?);
        let _version = cursor.le_u16()?;
        let (flags, method) = (cursor.le_u16()?, cursor.le_u16()?);
        let time = cursor.le_u32()?;
        let (crc, packed, size) = (cursor.le_u32()?, cursor.le_u32()?, cursor.le_u32()?);
        let (name, extra) = (cursor.le_u16()?, cursor.le_u16()?);
        let name = cursor.take(usize::from(name))?;
        cursor.take(usize::from(extra))?;
        Some(Self {
            flags,
            method,
            time,
            crc,
            packed,
            size,
            name,
            n_bytes: bytes.len() - cursor.0.len(),
        })
    }

    /// Writes the member; returns where its content ends, or where it is damaged.
    fn read_member(&self, bytes: &[u8], budget: &mut u64, writer: &mut Writer) -> usize {
        let content = &bytes[self.n_bytes..];
        let is_sized = self.flags & SIZES_FOLLOW == 0 && self.packed != UNKNOWN;
        if is_sized && let Some(packed) = content.get(..self.packed as usize) {
            writer.add(self, self.method, self.crc, self.size, packed);
            return self.n_bytes + packed.len();
        }
        let is_encrypted = self.flags & IS_ENCRYPTED != 0;
        match self.method {
            DEFLATED if !is_encrypted => self.n_bytes + self.inflate(content, budget, writer),
            STORED if !is_encrypted => {
                let stored = before_next(content);
                let size = stored.len() as u32;
                writer.add(self, STORED, crc32(stored), size, stored);
                self.n_bytes + stored.len()
            }
            // The end is not known.
            _ => self.n_bytes,
        }
    }

    /// Unpacks a deflated member, and writes it packed if it is whole.
    fn inflate(&self, content: &[u8], budget: &mut u64, writer: &mut Writer) -> usize {
        let mut inflater = Decompress::new(false);
        let mut plain = Vec::new();
        let mut is_whole = false;
        while (plain.len() as u64) < *budget {
            let n_read = inflater.total_in() as usize;
            plain.reserve(CHUNK_BYTES);
            let status =
                inflater.decompress_vec(&content[n_read..], &mut plain, FlushDecompress::None);
            let has_moved = inflater.total_in() as usize > n_read;
            is_whole = matches!(status, Ok(Status::StreamEnd));
            let is_full = plain.len() == plain.capacity();
            if is_whole || status.is_err() || !(has_moved || is_full) {
                break;
            }
        }
        *budget = budget.saturating_sub(plain.len() as u64);
        let packed = &content[..inflater.total_in() as usize];
        let size = plain.len() as u32;
        if is_whole {
            writer.add(self, DEFLATED, crc32(&plain), size, packed);
        } else if !plain.is_empty() {
            writer.add(self, STORED, crc32(&plain), size, &plain);
        }
        packed.len()
    }
}

/// Returns the content before the next header, or the sizes that follow the content.
fn before_next(content: &[u8]) -> &[u8] {
    let ends = [LOCAL, DESCRIPTOR, b"PK\x01\x02"];
    let ends = ends.iter().filter_map(|end| memmem::find(content, end));
    &content[..ends.min().unwrap_or(content.len())]
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A zip file under construction.
#[derive(Default)]
struct Writer {
    file: Vec<u8>,
    list: Vec<u8>,
    n_members: usize,
}

impl Writer {
    fn add(&mut self, header: &Header<'_>, method: u16, crc: u32, size: u32, packed: &[u8]) {
        let at = self.file.len() as u32;
        let mut common = 20_u16.to_le_bytes().to_vec();
        let flags = header.flags & (IS_ENCRYPTED | IS_UTF8);
        common.extend([flags, method].map(u16::to_le_bytes).concat());
        let numbers = [header.time, crc, packed.len() as u32, size];
        common.extend(numbers.map(u32::to_le_bytes).concat());
        common.extend((header.name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        self.file
            .extend([LOCAL, &common, header.name, packed].concat());
        self.list.extend(b"PK\x01\x02\x14\0");
        self.list.extend(common);
        self.list.extend([0; 10]);
        self.list.extend(at.to_le_bytes());
        self.list.extend(header.name);
        self.n_members += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let at = self.file.len() as u32;
        self.file.extend(&self.list);
        self.file.extend(b"PK\x05\x06\0\0\0\0");
        let n_members = (self.n_members as u16).to_le_bytes();
        self.file.extend([n_members, n_members].concat());
        self.file.extend((self.list.len() as u32).to_le_bytes());
        self.file.extend(at.to_le_bytes());
        self.file.extend([0; 2]);
        self.file
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor as File, Read};

    use proptest::prelude::*;
    use zip::ZipArchive;

    use super::*;
    use crate::structure::package::tests::zip_of;

    fn members(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
        let Some(zip) = rescued(zip, &Limits::default()) else {
            return Vec::new();
        };
        let mut archive = ZipArchive::new(File::new(zip)).unwrap();
        let n_members = archive.len();
        let read = |position| {
            let mut member = archive.by_index(position).unwrap();
            let mut content = Vec::new();
            member.read_to_end(&mut content).unwrap();
            (member.name().unwrap().into_owned(), content)
        };
        (0..n_members).map(read).collect()
    }

    fn text(n_lines: u32) -> Vec<u8> {
        let line = |n: u32| format!("line {} of a text\n", n.wrapping_mul(2_654_435_761));
        (0..n_lines).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn members_are_found_without_the_list_at_the_end() {
        let (one, two) = (text(100), text(3000));
        let zip = zip_of(&[("a/one.txt", &one), ("two", &two), ("empty", b"")]);
        let whole = [
            ("a/one.txt".to_owned(), one),
            ("two".to_owned(), two.clone()),
            ("empty".to_owned(), Vec::new()),
        ];
        let list = memmem::find(&zip, b"PK\x01\x02").unwrap();
        assert_eq!(members(&zip[..list]), whole);
        assert_eq!(members(&[&b"junk PK"[..], &zip[..list]].concat()), whole);
        let found = members(&zip[..list / 2]);
        assert_eq!(found[0], whole[0]);
        assert!(found[1].1.len() > 1000 && two.starts_with(&found[1].1));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn sizes_may_follow_the_content() {
        let zip = zip_of(&[("one", &text(100)), ("two", b"x")]);
        let mut streamed = zip[..memmem::find(&zip, b"PK\x01\x02").unwrap()].to_vec();
        streamed[6] |= SIZES_FOLLOW as u8;
        streamed[14..26].fill(0);
        assert_eq!(members(&streamed), members(&zip));
        let mut stored = b"PK\x03\x04\x14\0\x08\0\0\0".to_vec();
        stored.extend([0; 16]);
        stored.extend(b"\x01\0\0\0acontentPK\x07\x08");
        assert_eq!(members(&stored), [("a".to_owned(), b"content".to_vec())]);
    }

    #[test]
    fn damage_within_a_member_keeps_what_is_before_and_behind() {
        let zip = zip_of(&[("one", &text(3000)), ("two", b"behind")]);
        let mut damaged = zip[..memmem::find(&zip, b"PK\x01\x02").unwrap()].to_vec();
        damaged[6] |= SIZES_FOLLOW as u8;
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].fill(0xff);
        let found = members(&damaged);
        assert!(text(3000).starts_with(&found[0].1[..1000]));
        assert_eq!(found.last().unwrap().1, b"behind");
    }

    #[test]
    fn a_bomb_is_bounded() {
        let zip = zip_of(&[("a", &vec![b' '; 3 << 20])]);
        let limits = Limits {
            max_expanded_bytes: 1000,
            ..Limits::default()
        };
        let cut = &zip[..zip.len() / 2];
        assert!(rescued(cut, &limits).unwrap().len() < 100_000);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(
            cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte: u8
        ) {
            let mut zip = zip_of(&[("one", &text(50)), ("two", b"behind")]);
            *at.get_mut(&mut zip) = byte;
            zip.truncate(cut.index(zip.len()));
            rescued(&zip, &Limits::default());
        }
    }
}
