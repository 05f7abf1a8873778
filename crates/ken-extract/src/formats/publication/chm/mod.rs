//! Compiled HTML Help (.chm), Microsoft's format of manuals: a directory of pages (`ITSF`), whose
//! content is compressed as one piece.
//!
//! Source: the description by Matthew T. Russotto and others,
//! <https://www.russotto.net/chm/chmformat.html>. Pages are members; pictures, styles and scripts
//! are left out, as are the tables for the viewer.

mod lzx;

use ken_core::{Field, Kind, Setting};

use crate::output::Output;
use crate::output::members::{MemberNames, file_name, over};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input, Member, detect, text};
use lzx::Section;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("CHM", &["application/x-chm"], extract)
    .fields(&[Field::Title])
    .members("pages, by their path")
    .in_worker()
    .version(2)
    .streams();

/// Maximum size of a directory chunk: they have 4 KiB, and larger ones than this are an attack.
const MAX_CHUNK_BYTES: usize = 1 << 20;
/// Maximum size of the file `#SYSTEM`, which holds a few strings.
const MAX_SYSTEM_BYTES: usize = 64 << 10;
/// Prefix of the names of files that the format itself needs.
const SYSTEM_PREFIX: &[u8] = b"::DataSpace/Storage/MSCompressed/";

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    let directory = Directory::read(input)?;
    let mut pages = directory.pages();
    let mut section = Section::open(input, &directory);
    if let Some(title) = directory.title(input) {
        output.own().add_text(Field::Title, &title);
    }
    // Storage order, in which the content can be unpacked.
    pages.sort_by_key(|page| (page.section, page.offset));
    let mut names = MemberNames::default();
    let limit = output.limits().limit(Setting::MaxMemberBytes);
    for page in pages {
        let path = String::from_utf8_lossy(&page.name[1..]);
        let component = names.unique(&path);
        let content = match page.section {
            _ if page.length > limit.in_force => Err(over(limit)),
            0 => directory.stored(input, page),
            _ => match &mut section {
                Some(section) => section.read(page.offset, page.length),
                None => Err(Error::Malformed(
                    "the compressed section is not described".into(),
                )),
            },
        };
        let name = file_name(&path);
        match content {
            Ok(bytes) => output.member(Member {
                ipath: output.child_ipath(&component),
                name: name.to_owned(),
                bytes,
                ..Member::default()
            })?,
            Err(error @ Error::Read(_)) => return Err(error),
            Err(error) => output.failed_member(&component, name, error)?,
        }
    }
    directory.failure.map_or(Ok(()), Err)
}

/// A file in the archive.
struct ArchivedFile {
    name: Vec<u8>,
    /// 0 is uncompressed, 1 compressed.
    section: u64,
    offset: u64,
    length: u64,
}

/// The list of files.
struct Directory {
    entries: Vec<ArchivedFile>,
    /// Where the stored content begins.
    contents_start: u64,
    /// Why the list is incomplete.
    failure: Option<Error>,
}

impl Directory {
    fn read(input: &Input<'_>) -> Result<Self, Error> {
        let cut_off = || Error::Malformed("the header is cut off".into());
        let head = input.range(0, 96)?;
        let mut header = Cursor(&head);
        let version = header.take(8).map(|start| start[4]).ok_or_else(cut_off)?;
        let mut rest = Cursor(head.get(72..).unwrap_or_default());
        let start = rest.le_u64().ok_or_else(cut_off)?;
        let length = rest.le_u64().ok_or_else(cut_off)?;
        // Version 2 has no such offset: the content follows the list.
        let contents_start = match version {
            3 => rest.le_u64().ok_or_else(cut_off)?,
            _ => start.saturating_add(length),
        };
        let head = input.range(start, 48)?;
        let mut list = Cursor(&head);
        let mut number = || list.le_u32().ok_or_else(cut_off);
        let (_signature, _version, header_bytes, _) = (number()?, number()?, number()?, number()?);
        let chunk_bytes = number()? as usize;
        let mut directory = Self {
            entries: Vec::new(),
            contents_start,
            failure: None,
        };
        if !(32..=MAX_CHUNK_BYTES).contains(&chunk_bytes) {
            return Err(Error::Malformed(
                "chunks of the directory have no size".into(),
            ));
        }
        let first = start.saturating_add(header_bytes.into());
        let end = start.saturating_add(length).min(input.size());
        for at in (first..end).step_by(chunk_bytes) {
            let chunk = input.range(at, chunk_bytes)?;
            if directory.list(&chunk).is_none() {
                let damaged = "a part of the directory is damaged".into();
                directory.failure = Some(Error::Malformed(damaged));
            }
        }
        Ok(directory)
    }

    /// Reads a chunk; index chunks, which only speed up look-ups (`PMGI`), are skipped.
    fn list(&mut self, chunk: &[u8]) -> Option<()> {
        let mut cursor = Cursor(chunk);
        if cursor.take(4)? != b"PMGL" {
            return Some(());
        }
        let n_free = cursor.le_u32()? as usize;
        cursor.take(12)?;
        let n_used = cursor.0.len().checked_sub(n_free)?;
        let mut entries = Cursor(cursor.take(n_used)?);
        while !entries.0.is_empty() {
            let length = usize::try_from(number(&mut entries)?).ok()?;
            self.entries.push(ArchivedFile {
                name: entries.take(length)?.to_vec(),
                section: number(&mut entries)?,
                offset: number(&mut entries)?,
                length: number(&mut entries)?,
            });
        }
        Some(())
    }

    /// Returns the files that people read.
    fn pages(&self) -> Vec<&ArchivedFile> {
        let is_page = |entry: &&ArchivedFile| {
            let is_file = entry.name.len() > 1
                && entry.name[0] == b'/'
                && !matches!(entry.name[1], b'#' | b'$')
                && !entry.name.ends_with(b"/");
            is_file && {
                let kind = detect::by_name(&String::from_utf8_lossy(&entry.name)).kind;
                matches!(
                    kind,
                    Kind::Document | Kind::Spreadsheet | Kind::Presentation
                )
            }
        };
        self.entries.iter().filter(is_page).collect()
    }

    /// Returns a file that the format itself needs, by the end of its name.
    fn system(&self, name: &str) -> Option<&ArchivedFile> {
        self.entries.iter().find(|entry| {
            entry.name.starts_with(SYSTEM_PREFIX) && entry.name.ends_with(name.as_bytes())
        })
    }

    fn stored(&self, input: &Input<'_>, entry: &ArchivedFile) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(entry.length).unwrap_or(usize::MAX);
        let start = self.contents_start.saturating_add(entry.offset);
        let content = input.range(start, length)?;
        if content.len() < length {
            return Err(Error::Malformed(
                "it lies beyond the end of the file".into(),
            ));
        }
        Ok(content.into_owned())
    }

    /// Returns a stored file, at most its first `max_bytes` bytes.
    fn content(
        &self,
        input: &Input<'_>,
        entry: &ArchivedFile,
        max_bytes: usize,
    ) -> Option<Vec<u8>> {
        let length = usize::try_from(entry.length).unwrap_or(max_bytes);
        let start = self.contents_start.saturating_add(entry.offset);
        let content = input.range(start, length.min(max_bytes)).ok()?;
        Some(content.into_owned())
    }

    /// Returns the title, which is entry 3 of the file `#SYSTEM`.
    fn title(&self, input: &Input<'_>) -> Option<String> {
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.name == b"/#SYSTEM")?;
        let content = self.content(input, entry, MAX_SYSTEM_BYTES)?;
        let mut entries = Cursor(content.get(4..)?);
        loop {
            let code = entries.le_u16()?;
            let length = usize::from(entries.le_u16()?);
            let value = entries.take(length)?;
            if code == 3 {
                let end = memchr::memchr(0, value).unwrap_or(value.len());
                return Some(text::decode(&value[..end], None).into_owned());
            }
        }
    }
}

/// Reads a big-endian number with seven bits in each byte; the last byte has its high bit clear.
fn number(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut number: u64 = 0;
    for _ in 0..9 {
        let byte = cursor.byte()?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use ken_core::Reason;

    use super::*;
    use crate::detect::Detected;
    use crate::{Limits, testing};

    const MANUAL: &[u8] = include_bytes!("../../../../tests/data/media/manual.chm");
    const DETECTED: Detected = Detected {
        media_type: "application/x-chm",
        kind: Kind::Document,
    };

    #[test]
    fn pages_are_members() {
        let found = testing::run(extract, DETECTED, "x", MANUAL);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("Manatee manual"));
        let pages: Vec<_> = found
            .members
            .iter()
            .map(|page| page.ipath.as_str())
            .collect();
        assert_eq!(pages, ["index.html", "pages/care.html", "pages/long.html"]);
        assert_eq!(found.members[1].name, "care.html");
        let care = String::from_utf8_lossy(&found.members[1].bytes);
        assert!(care.contains("A manatee eats sea lettuce."), "{care}");
    }

    #[test]
    fn content_of_many_blocks_is_whole() {
        let found = testing::run(extract, DETECTED, "x", MANUAL);
        let long = String::from_utf8_lossy(&found.members[2].bytes);
        assert_eq!(long.matches("<p>").count(), 1501);
        for n in 0..1500 {
            let (a, b) = (n * 7919 % 10_007, n * 104_729 % 9973);
            let line = format!("Paragraph {n}: the dugong number {a} swims past buoy {b}.");
            assert!(long.contains(&line), "{line}");
        }
        assert!(
            long.trim_end()
                .ends_with("the last sirenian</p></body></html>")
        );
    }

    #[test]
    fn a_damaged_block_leaves_the_others() {
        let mut manual = MANUAL.to_vec();
        let at = manual.len() - 3000;
        manual[at..at + 40].fill(0xff);
        let found = testing::run(extract, DETECTED, "x", &manual);
        assert_eq!(found.members.len(), 2);
        let failed = &found.documents[0];
        assert_eq!(failed.ipath.as_str(), "pages/long.html");
        assert_eq!(failed.failure.as_ref().unwrap().reason(), Reason::Malformed);
    }

    #[test]
    fn large_pages_are_found_by_name() {
        let limits = Limits {
            max_member_bytes: 1000,
            ..Limits::default()
        };
        let found = testing::run_limited(extract, DETECTED, "x", MANUAL, &limits);
        assert_eq!(found.members.len(), 2);
        let failure = found.documents[0].failure.as_ref().unwrap();
        let limit = limits.limit(Setting::MaxMemberBytes);
        assert_eq!(failure.cause, ken_core::Cause::limit(limit));
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        let input = Input::bytes_of("notes.txt", MANUAL);
        assert_eq!(detect::detect(&input).unwrap(), DETECTED);
        testing::survives(extract, DETECTED, "x", MANUAL);
        testing::survives(extract, DETECTED, "x", &MANUAL[..MANUAL.len() / 2]);
    }
}
