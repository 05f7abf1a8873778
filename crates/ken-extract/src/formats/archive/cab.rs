//! Cabinets of Windows (`cab`), also the packages of notebooks that OneNote writes (`onepkg`): files one after another in streams,
//! called folders, that are compressed in blocks of 32 KiB (MS-CAB).
//!
//! A folder is unpacked once, in order. The crate `cab` would unpack it anew up to each file.

use flate2::{Decompress, FlushDecompress, Status};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use lzxd::{Lzxd, WindowSize};

use crate::output::Output;
use crate::output::members::{Budget, MemberNames, hand_on};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("cabinet", &["application/vnd.ms-cab-compressed"], extract)
        .members("members, by their path")
        .in_worker();

/// Unpacked size of a block, except the last one.
const BLOCK_BYTES: usize = 32 << 10;
/// Installers have cabinets of another kind, with the same extension.
const SIGNATURE: &[u8] = b"MSCF";
/// Numbers of folders that stand for a part of a file in another cabinet: the first number for those from the cabinet before, the last
/// one for those that go on as well.
const CONTINUED: u16 = 0xfffd;
const CONTINUED_BOTH: u16 = 0xffff;

/// A stream of files.
struct Folder {
    offset: usize,
    n_blocks: u16,
    method: u16,
}

struct File<'a> {
    name: &'a [u8],
    folder: u16,
    offset: u64,
    n_bytes: u64,
    modified: Option<i64>,
}

/// The lists at the start of a cabinet.
struct Directory<'a> {
    folders: Vec<Folder>,
    files: Vec<File<'a>>,
    /// Bytes before the content of each block that only other programs know.
    reserved_bytes: usize,
    /// Whether the first folder begins in the cabinet before.
    is_continued: bool,
    is_whole: bool,
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let size = input.size();
    let bytes = input.bytes(output.limits())?;
    if !bytes.starts_with(SIGNATURE) {
        return Err(Error::unsupported("a cabinet of another kind"));
    }
    let mut directory = Directory::read(bytes)
        .ok_or_else(|| Error::Malformed("the header of the cabinet is damaged".into()))?;
    let mut names = MemberNames::default();
    for file in &directory.files {
        names.note(file.name);
    }
    let mut cabinet = Cabinet {
        bytes,
        names,
        budget: Budget::new(size, output.limits()),
        output,
    };
    directory
        .files
        .sort_by_key(|file| (file.folder, file.offset));
    for files in directory
        .files
        .chunk_by(|one, other| one.folder == other.folder)
    {
        cabinet.folder(files, &directory)?;
    }
    match directory.is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("the list of members is cut off".into())),
    }
}

impl<'a> Directory<'a> {
    /// Reads the header and what follows it (MS-CAB 2.1 to 2.3).
    fn read(bytes: &'a [u8]) -> Option<Self> {
        const HAS_PREVIOUS: u16 = 1;
        const HAS_NEXT: u16 = 2;
        const HAS_RESERVED: u16 = 4;
        let mut header = Cursor(bytes);
        header.take(16)?;
        let files_offset = header.le_u32()? as usize;
        header.take(6)?;
        let (n_folders, n_files, flags) = (header.le_u16()?, header.le_u16()?, header.le_u16()?);
        header.take(4)?;
        let (mut in_folder, mut in_block) = (0, 0);
        if flags & HAS_RESERVED != 0 {
            let in_header = header.le_u16()?;
            in_folder = usize::from(header.byte()?);
            in_block = usize::from(header.byte()?);
            header.take(in_header.into())?;
        }
        // Cabinets of a set name the one before and the one after, with its disk.
        for flag in [HAS_PREVIOUS, HAS_NEXT] {
            if flags & flag != 0 {
                text(&mut header)?;
                text(&mut header)?;
            }
        }
        let mut directory = Self {
            folders: Vec::new(),
            files: Vec::new(),
            reserved_bytes: in_block,
            is_continued: false,
            is_whole: true,
        };
        for _ in 0..n_folders {
            directory.folders.push(Folder {
                offset: header.le_u32()? as usize,
                n_blocks: header.le_u16()?,
                method: header.le_u16()?,
            });
            header.take(in_folder)?;
        }
        let mut list = Cursor(bytes.get(files_offset..)?);
        for _ in 0..n_files {
            let Some(file) = File::read(&mut list) else {
                directory.is_whole = false;
                break;
            };
            directory.is_continued |= matches!(file.folder, CONTINUED | CONTINUED_BOTH);
            directory.files.push(file);
        }
        Some(directory)
    }
}

impl<'a> File<'a> {
    fn read(list: &mut Cursor<'a>) -> Option<Self> {
        let n_bytes = list.le_u32()?.into();
        let offset = list.le_u32()?.into();
        let folder = list.le_u16()?;
        let (date, time) = (list.le_u16()?, list.le_u16()?);
        list.take(2)?;
        Some(Self {
            name: text(list)?,
            folder,
            offset,
            n_bytes,
            modified: dos_time(date, time),
        })
    }
}

/// Reads a text up to its zero byte.
fn text<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let text = cursor.take(memchr::memchr(0, cursor.0)?)?;
    cursor.byte()?;
    Some(text)
}

/// Returns the seconds since 1970-01-01 UTC of a local time in steps of two seconds, taken as UTC.
fn dos_time(date: u16, time: u16) -> Option<i64> {
    let part = |of: u16, shift: u16, bits: u16| (of >> shift & ((1 << bits) - 1)) as i8;
    let year = 1980 + (date >> 9) as i16;
    let local = DateTime::new(
        year,
        part(date, 5, 4),
        part(date, 0, 5),
        part(time, 11, 5),
        part(time, 5, 6),
        part(time, 0, 5) * 2,
        0,
    );
    let zoned = local.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

struct Cabinet<'a, 'o, 's> {
    bytes: &'a [u8],
    names: MemberNames,
    budget: Budget,
    output: &'o mut Output<'s>,
}

impl<'a> Cabinet<'a, '_, '_> {
    /// Hands on the files of a folder, which are in the order of their content.
    fn folder(&mut self, files: &[File<'_>], directory: &Directory<'_>) -> Result<(), Error> {
        let mut stream = match self.stream(files, directory) {
            Ok(stream) => stream,
            Err(error) => {
                let cause = ken_core::Cause::from(error);
                for file in files {
                    self.hand_on(file, Err(Error::Failed(cause.clone())))?;
                }
                return Ok(());
            }
        };
        for file in files {
            let content = match self.budget.check_size(file.n_bytes) {
                Ok(()) => stream.read(file.offset, file.n_bytes, &mut self.budget),
                Err(error) => Err(error),
            };
            self.hand_on(file, content)?;
            self.budget.check()?;
        }
        Ok(())
    }

    fn stream(&self, files: &[File<'_>], directory: &Directory<'_>) -> Result<Stream<'a>, Error> {
        let number = files[0].folder;
        if number >= CONTINUED || number == 0 && directory.is_continued {
            return Err(Error::unsupported("a member that is in several cabinets"));
        }
        let folder = directory
            .folders
            .get(usize::from(number))
            .ok_or_else(|| Error::Malformed("the cabinet has no such folder".into()))?;
        let blocks = self.bytes.get(folder.offset..).unwrap_or_default();
        Ok(Stream {
            blocks: Cursor(blocks),
            n_blocks: folder.n_blocks,
            reserved_bytes: directory.reserved_bytes,
            method: Method::of(folder.method)?,
            block: Vec::new(),
            start: 0,
            read_to: 0,
        })
    }

    fn hand_on(&mut self, file: &File<'_>, content: Result<Vec<u8>, Error>) -> Result<(), Error> {
        let path = self.names.noted_path(file.name).replace('\\', "/");
        hand_on(&path, file.modified, content, &mut self.names, self.output)
    }
}

/// How blocks are compressed.
enum Method {
    Stored,
    /// Deflate; a block may repeat what the block before it has.
    Zip,
    Lzx(Box<Lzxd>),
}

impl Method {
    fn of(method: u16) -> Result<Self, Error> {
        match method & 0xf {
            0 => Ok(Self::Stored),
            1 => Ok(Self::Zip),
            3 => {
                let window = window_size(method >> 8 & 0x1f)
                    .ok_or_else(|| Error::Malformed("the window of LZX has a wrong size".into()))?;
                Ok(Self::Lzx(Box::new(Lzxd::new(window))))
            }
            _ => Err(Error::unsupported("compression by Quantum")),
        }
    }

    /// Returns the content of a block of `n_bytes`; `before` is the block before it.
    fn unpack(&mut self, packed: &[u8], n_bytes: usize, before: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            Self::Stored if packed.len() != n_bytes => Err(damaged_block()),
            Self::Stored => Ok(packed.to_vec()),
            Self::Zip => inflate(packed, n_bytes, before),
            Self::Lzx(decoder) => {
                let block = decoder.decompress_next(packed, n_bytes);
                block.map(<[u8]>::to_vec).map_err(Error::malformed)
            }
        }
    }
}

fn window_size(bits: u16) -> Option<WindowSize> {
    Some(match bits {
        15 => WindowSize::KB32,
        16 => WindowSize::KB64,
        17 => WindowSize::KB128,
        18 => WindowSize::KB256,
        19 => WindowSize::KB512,
        20 => WindowSize::MB1,
        21 => WindowSize::MB2,
        _ => return None,
    })
}

/// Unpacks a block of MSZIP (MS-MCI 2): Deflate behind two letters. What it may repeat precedes it as a block that is stored.
fn inflate(packed: &[u8], n_bytes: usize, before: &[u8]) -> Result<Vec<u8>, Error> {
    let deflated = packed.strip_prefix(b"CK").ok_or_else(damaged_block)?;
    let mut decoder = Decompress::new(false);
    let mut content = Vec::with_capacity(before.len() + n_bytes);
    if !before.is_empty() {
        let length = u16::try_from(before.len()).map_err(|_| damaged_block())?;
        let [low, high] = length.to_le_bytes();
        let stored = [&[0, low, high, !low, !high][..], before].concat();
        decoder
            .decompress_vec(&stored, &mut content, FlushDecompress::None)
            .map_err(Error::malformed)?;
    }
    let status = decoder
        .decompress_vec(deflated, &mut content, FlushDecompress::Finish)
        .map_err(Error::malformed)?;
    let block = content.split_off(before.len().min(content.len()));
    match status == Status::StreamEnd && block.len() == n_bytes {
        true => Ok(block),
        false => Err(damaged_block()),
    }
}

fn damaged_block() -> Error {
    Error::Malformed("a block is damaged".into())
}

/// The content of a folder, which is read from its start to its end.
struct Stream<'a> {
    blocks: Cursor<'a>,
    n_blocks: u16,
    reserved_bytes: usize,
    method: Method,
    /// The current block, and where it starts.
    block: Vec<u8>,
    start: u64,
    /// Where the last file ends.
    read_to: u64,
}

impl<'a> Stream<'a> {
    /// Returns the bytes of a file. Files that overlap an earlier one further back than its last block are not read.
    fn read(&mut self, offset: u64, n_bytes: u64, budget: &mut Budget) -> Result<Vec<u8>, Error> {
        if offset < self.start {
            return Err(Error::Malformed("it overlaps another member".into()));
        }
        let mut content = Vec::new();
        let mut at = offset;
        let end = offset + n_bytes;
        // Files that overlap unpack to more than the blocks do.
        budget.spend(self.read_to.min(end).saturating_sub(offset));
        budget.check()?;
        self.read_to = self.read_to.max(end);
        while at < end {
            while at >= self.start + self.block.len() as u64 {
                self.next_block()?;
                budget.spend(self.block.len() as u64);
                budget.check()?;
            }
            let from = (at - self.start) as usize;
            let to = self.block.len().min(from + (end - at) as usize);
            content.extend_from_slice(&self.block[from..to]);
            at = self.start + to as u64;
        }
        Ok(content)
    }

    fn next_block(&mut self) -> Result<(), Error> {
        let cut_off = || Error::Malformed("the cabinet is cut off, or damaged before it".into());
        self.n_blocks = self.n_blocks.checked_sub(1).ok_or_else(cut_off)?;
        let header = self.header().ok_or_else(cut_off);
        let unpacked = header.and_then(|(packed, n_bytes)| self.unpack(packed, n_bytes));
        match unpacked {
            Ok(block) => {
                self.start += self.block.len() as u64;
                self.block = block;
                Ok(())
            }
            Err(error) => {
                // What follows depends on it.
                self.n_blocks = 0;
                Err(error)
            }
        }
    }

    /// Reads the header of a block (MS-CAB 2.4), whose checksum is not compared.
    fn header(&mut self) -> Option<(&'a [u8], usize)> {
        self.blocks.take(4)?;
        let (n_packed, n_bytes) = (self.blocks.le_u16()?, self.blocks.le_u16()?);
        self.blocks.take(self.reserved_bytes)?;
        Some((self.blocks.take(n_packed.into())?, n_bytes.into()))
    }

    fn unpack(&mut self, packed: &[u8], n_bytes: usize) -> Result<Vec<u8>, Error> {
        if n_bytes > BLOCK_BYTES {
            return Err(damaged_block());
        }
        self.method.unpack(packed, n_bytes, &self.block)
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Cause, Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/vnd.ms-cab-compressed",
        kind: Kind::Archive,
    };
    /// Made by `gcab`, of a text of 80 KB and a short one.
    const ZIPPED: &[u8] = include_bytes!("../../../tests/data/archive/letters.cab");

    fn names(found: &Extracted) -> Vec<&str> {
        found.members.iter().map(|m| m.ipath.as_str()).collect()
    }

    /// Returns a cabinet of one folder with these blocks, of which `n_bytes` are one file.
    fn cabinet(method: u16, blocks: &[(Vec<u8>, u16)], n_bytes: u32) -> Vec<u8> {
        let mut cabinet = b"MSCF\0\0\0\0".to_vec();
        let mut number = |n: u32, n_bytes: usize| cabinet.extend(&n.to_le_bytes()[..n_bytes]);
        for n in [0, 0, 44, 0] {
            number(n, 4);
        }
        for (n, n_bytes) in [(0x0103, 2), (1, 2), (1, 2), (0, 2), (0, 4)] {
            number(n, n_bytes);
        }
        for (n, n_bytes) in [(66, 4), (blocks.len() as u32, 2), (method.into(), 2)] {
            number(n, n_bytes);
        }
        for (n, n_bytes) in [
            (n_bytes, 4),
            (0, 4),
            (0, 2),
            (0x58a5, 2),
            (0x6020, 2),
            (0x20, 2),
        ] {
            number(n, n_bytes);
        }
        cabinet.extend(b"a.txt\0");
        for (packed, n_bytes) in blocks {
            cabinet.extend([0; 4]);
            cabinet.extend((packed.len() as u16).to_le_bytes());
            cabinet.extend(n_bytes.to_le_bytes());
            cabinet.extend(packed);
        }
        cabinet
    }

    /// Returns text as LZX stores it without compressing it.
    fn uncompressed_lzx(text: &[u8]) -> Vec<u8> {
        // No translation, a block of kind 3, and its length in 24 bits; then bits up to the next word.
        let header = 3_u32 << 28 | (text.len() as u32) << 4;
        let words = [(header >> 16) as u16, header as u16];
        let mut packed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        packed.extend([1_u32, 1, 1].iter().flat_map(|offset| offset.to_le_bytes()));
        packed.extend(text);
        packed
    }

    #[test]
    fn members_are_read_across_blocks() {
        let found = run(extract, DETECTED, "a.cab", ZIPPED);
        assert!(found.own().failure.is_none(), "{:?}", found.own().failure);
        assert_eq!(names(&found), ["letters/long.txt", "letters/größe.txt"]);
        let long = String::from_utf8(found.members[0].bytes.clone()).unwrap();
        assert_eq!(long.lines().count(), 2000);
        assert!(long.ends_with("line 1999 of the cabinetcuckoo\n"));
        assert_eq!(found.members[1].bytes, b"The shelfduck\n");
    }

    #[test]
    fn stored_and_lzx_folders_are_read() {
        let text = b"The cabinetmaker writes a letter";
        let length = text.len() as u16;
        let stored = cabinet(0, &[(text.to_vec(), length)], length.into());
        let lzx = cabinet(
            15 << 8 | 3,
            &[(uncompressed_lzx(text), length)],
            length.into(),
        );
        for cabinet in [stored, lzx] {
            let found = run(extract, DETECTED, "a.cab", &cabinet);
            assert!(found.own().failure.is_none(), "{:?}", found.own().failure);
            assert_eq!(names(&found), ["a.txt"]);
            assert_eq!(found.members[0].bytes, text);
            // 2024-05-05 12:01.
            assert_eq!(found.members[0].modified, Some(1_714_910_460));
        }
    }

    #[test]
    fn members_that_cannot_be_read_are_found_by_name() {
        let quantum = cabinet(2, &[(b"x".to_vec(), 1)], 1);
        let cut = &ZIPPED[..ZIPPED.len() - 40];
        for (cabinet, n_failed) in [(&quantum[..], 1), (cut, 2)] {
            let found = run(extract, DETECTED, "a.cab", cabinet);
            let failures = found
                .documents
                .iter()
                .filter_map(|member| member.failure.as_ref());
            let malformed = failures.filter(|failure| failure.reason() == Reason::Malformed);
            assert_eq!(malformed.count(), n_failed);
        }
    }

    fn unsupported(failure: Option<&ken_core::Failure>) -> bool {
        failure.is_some_and(|failure| matches!(failure.cause, Cause::Unsupported { .. }))
    }

    #[test]
    fn cabinets_of_other_kinds_are_not_supported() {
        let found = run(
            extract,
            DETECTED,
            "data1.cab",
            b"ISc(\0\0\0\0 and more of it",
        );
        assert!(unsupported(found.own().failure.as_ref()));
    }

    #[test]
    fn folders_that_begin_in_another_cabinet_are_not_read() {
        let text = b"the end of what another cabinet begins";
        let mut bytes = cabinet(0, &[(text.to_vec(), text.len() as u16)], text.len() as u32);
        let entry = bytes[44..66].to_vec();
        bytes.splice(66..66, entry);
        // A second file, which continues, with its number, and the new place of the block.
        bytes[28] = 2;
        bytes[36] = 88;
        bytes[66 + 8..66 + 10].copy_from_slice(&CONTINUED.to_le_bytes());
        let found = run(extract, DETECTED, "a.cab", &bytes);
        assert!(found.members.is_empty());
        let mut failures = found.documents.iter().map(|member| member.failure.as_ref());
        assert_eq!(
            failures
                .by_ref()
                .filter(|failure| unsupported(*failure))
                .count(),
            2
        );
    }

    #[test]
    fn blocks_have_the_length_that_they_declare() {
        let stored = cabinet(0, &[(b"letter".to_vec(), 9)], 6);
        let found = run(extract, DETECTED, "a.cab", &stored);
        assert!(found.members.is_empty());
    }

    #[test]
    fn hostile_cabinets_end_with_a_document() {
        survives(extract, DETECTED, "a.cab", ZIPPED);
    }
}
