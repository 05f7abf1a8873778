//! Tape archives: POSIX ustar and pax, GNU long names and sparse files, V7.
//!
//! They are read as a stream, since most are compressed. Where the input is seekable, the content
//! of members that are too large is skipped. Source: POSIX.1-2017 `pax`, and the manual of GNU tar,
//! "Basic Tar Format". Links and devices have no content and are left out.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use tar::{Archive, Entries, Entry, EntryType};

use ken_core::Setting;

use crate::input::carry::{CountingReader, carry, release};
use crate::output::Output;
use crate::output::members::{MemberNames, file_name, hand_on, over, read_up_to};
use crate::{Error, Format, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("tar", &["application/x-tar"], extract)
    .members("members, by their path")
    .version(3)
    .streams();

/// Maximum size of the long names and pax records of one member, which are read into memory.
const MAX_HEADER_BYTES: u64 = 1 << 20;
const BLOCK_BYTES: u64 = 512;

/// Extracts the members of a tape archive.
pub(in crate::formats) fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let guarded = Guarded::new(CountingReader::new(input.seekable()?));
    let end = guarded.end();
    let mut archive = Archive::new(guarded);
    let entries = archive.entries_with_seek().map_err(release)?;
    read_entries(entries, &end, output)
}

/// Extracts the members of a streamed tape archive, whose failures carry an [`Error`].
pub(in crate::formats) fn extract_stream(
    reader: impl Read,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let guarded = Guarded::new(reader);
    let end = guarded.end();
    let mut archive = Archive::new(guarded);
    let entries = archive.entries().map_err(release)?;
    read_entries(entries, &end, output)
}

fn read_entries<R: Read>(
    entries: Entries<'_, R>,
    end: &Cell<u64>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut names = MemberNames::default();
    let mut held = Held::default();
    let result = entries
        .map(|entry| entry.map_err(release))
        .try_for_each(|entry| {
            let mut entry = entry?;
            end.set(content_end(&entry).saturating_add(2 * MAX_HEADER_BYTES));
            read_member_of(&mut entry, &mut names, &mut held, output)
        });
    held.hand_on(&mut names, output)?;
    result
}

fn read_member_of<R: Read>(
    entry: &mut Entry<'_, R>,
    names: &mut MemberNames,
    held: &mut Held,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let sparse_name = pax_sparse_name(entry);
    let is_sparse = sparse_name.is_some();
    let name = sparse_name.unwrap_or_else(|| entry.path_bytes().into_owned());
    names.note(&name);
    // In V7 archives a folder is a file with a name that ends in a slash.
    if !has_content(entry.header().entry_type()) || name.ends_with(b"/") {
        return Ok(());
    }
    if names.is_undecided(&name) && !is_sparse && held.n_bytes + entry.size() <= MAX_HELD_BYTES {
        return held.hold(name, entry);
    }
    held.hand_on(names, output)?;
    let path = names.noted_path(&name);
    let component = names.unique(&path);
    if is_sparse {
        let error = Error::unsupported("ken does not read sparse files of the pax form");
        return output.failed_member(&component, file_name(&path), error);
    }
    read_entry(entry, &path, &component, output)
}

/// More bytes of members wait for no name.
const MAX_HELD_BYTES: u64 = 4 << 20;

/// The first members whose names are in a charset that only more names show.
#[derive(Default)]
struct Held {
    members: Vec<HeldMember>,
    n_bytes: u64,
}

struct HeldMember {
    name: Vec<u8>,
    modified: Option<i64>,
    content: Result<Vec<u8>, Error>,
}

impl Held {
    fn hold<R: Read>(&mut self, name: Vec<u8>, entry: &mut Entry<'_, R>) -> Result<(), Error> {
        let size = entry.size();
        let content = read_whole(entry, size, size);
        self.n_bytes += size;
        let modified = modified(entry);
        // A stream that failed once yields nothing more.
        let (content, result) = match content {
            Ok(content) => (Ok(content), Ok(())),
            Err(error) => (Err(ends_early()), Err(error)),
        };
        self.members.push(HeldMember {
            name,
            modified,
            content,
        });
        result
    }

    fn hand_on(&mut self, names: &mut MemberNames, output: &mut Output<'_>) -> Result<(), Error> {
        for member in self.members.drain(..) {
            let path = names.noted_path(&member.name);
            hand_on(&path, member.modified, member.content, names, output)?;
        }
        self.n_bytes = 0;
        Ok(())
    }
}

fn has_content(kind: EntryType) -> bool {
    kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()
}

/// Returns the position in the archive after the member's content, according to its header.
fn content_end<R: Read>(entry: &Entry<'_, R>) -> u64 {
    let stored = if entry.header().entry_type().is_gnu_sparse() {
        entry.header().entry_size().unwrap_or(0)
    } else {
        entry.size()
    };
    entry
        .raw_file_position()
        .saturating_add(stored)
        .saturating_add(BLOCK_BYTES)
}

fn read_entry<R: Read>(
    entry: &mut Entry<'_, R>,
    path: &str,
    component: &str,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let name = file_name(path);
    let limit = output.limits().limit(Setting::MaxMemberBytes);
    let size = entry.size();
    if size > limit.in_force {
        return output.failed_member(component, name, over(limit));
    }
    let modified = modified(entry);
    output.make_room(size);
    match read_whole(entry, size, limit.in_force) {
        Ok(bytes) => output.member(Member {
            is_attachment: false,
            ipath: output.child_ipath(component),
            name: name.to_owned(),
            modified,
            bytes,
            ..Member::default()
        }),
        // A stream that failed once yields nothing more.
        Err(error) => {
            output.failed_member(component, name, ends_early())?;
            Err(error)
        }
    }
}

fn modified<R: Read>(entry: &Entry<'_, R>) -> Option<i64> {
    let seconds = entry.header().mtime().ok()?;
    i64::try_from(seconds).ok()
}

/// Reads the content of a member; content beyond the end of an archive reads as nothing.
fn read_whole<R: Read>(entry: &mut Entry<'_, R>, size: u64, max: u64) -> Result<Vec<u8>, Error> {
    let bytes = read_up_to(entry, size, max)?;
    let is_whole = |bytes: &Vec<u8>| bytes.len() as u64 == size;
    bytes.filter(is_whole).ok_or_else(ends_early)
}

fn ends_early() -> Error {
    Error::Malformed("the archive ends or is damaged inside a member".into())
}

/// Returns the name of a sparse file whose content is a map followed by the non-empty parts; its
/// member has a made-up name.
fn pax_sparse_name<R: Read>(entry: &mut Entry<'_, R>) -> Option<Vec<u8>> {
    // With a header that stands alone, the reader would take the content for pax records.
    if !has_content(entry.header().entry_type()) {
        return None;
    }
    let mut records = entry.pax_extensions().ok()??.flatten();
    let name = records.find(|record| record.key_bytes() == b"GNU.sparse.name")?;
    Some(name.value_bytes().to_vec())
}

/// Stops reads at `end`, because the archive reader takes headers of any length into memory.
struct Guarded<R> {
    inner: BufReader<R>,
    position: u64,
    end: Rc<Cell<u64>>,
}

impl<R: Read> Guarded<R> {
    fn new(inner: R) -> Self {
        Self {
            inner: BufReader::new(inner),
            position: 0,
            end: Rc::new(Cell::new(MAX_HEADER_BYTES)),
        }
    }

    fn end(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.end)
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.end.get() {
            return Err(carry(Error::Malformed(format!(
                "a header is longer than {MAX_HEADER_BYTES} bytes"
            ))));
        }
        let n = self.inner.read(buffer)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl<R: Read + Seek> Seek for Guarded<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            // Keeps the buffer, which mostly holds the next header.
            SeekFrom::Current(offset) => {
                self.inner.seek_relative(offset)?;
                self.position.saturating_add_signed(offset)
            }
            _ => self.inner.seek(to)?,
        };
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Document, Kind, Reason};
    use tar::{Builder, Header};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const TAR: Detected = Detected {
        media_type: "application/x-tar",
        kind: Kind::Archive,
    };
    const GNU: &[u8] = include_bytes!("../../../tests/data/archive/gnu.tar");
    const PAX: &[u8] = include_bytes!("../../../tests/data/archive/pax.tar");

    fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, content) in members {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, name, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    /// Runs both ways of reading, whose results must agree.
    fn found(bytes: &[u8], limits: &Limits) -> Extracted {
        let found = run_limited(extract, TAR, "a.tar", bytes, limits);
        let stream = |input: &mut Input<'_>, output: &mut Output<'_>| {
            extract_stream(CountingReader::new(input.reader()?), output)
        };
        let streamed = run_limited(stream, TAR, "a.tar", bytes, limits);
        assert_eq!(ipaths(&found), ipaths(&streamed));
        found
    }

    fn ipaths(found: &Extracted) -> Vec<&str> {
        found.members.iter().map(|m| m.ipath.as_str()).collect()
    }

    fn reason(document: &Document) -> Option<Reason> {
        document.failure.as_ref().map(|failure| failure.reason())
    }

    #[test]
    fn later_names_show_the_charset_of_earlier_ones() {
        let names = [
            "合.txt",
            "会议纪要.doc",
            "新建文件夹/照片.jpg",
            "说明书.pdf",
        ];
        let mut builder = Builder::new(Vec::new());
        for name in names {
            let name = encoding_rs::GBK.encode(name).0;
            let mut header = Header::new_ustar();
            header.set_size(1);
            header.as_mut_bytes()[..name.len()].copy_from_slice(&name);
            header.set_cksum();
            builder.append(&header, &b"x"[..]).unwrap();
        }
        let tar = builder.into_inner().unwrap();
        assert_eq!(ipaths(&found(&tar, &Limits::default())), names);
        let cut = found(&tar[..2560], &Limits::default());
        assert_eq!(ipaths(&cut), names[..2]);
        survives(extract, TAR, "a.tar", &tar);
    }

    #[test]
    fn members_of_gnu_tar_are_read_and_links_left_out() {
        let found = found(GNU, &Limits::default());
        let long = format!("{}/name.txt", "long-".repeat(30));
        assert_eq!(ipaths(&found), [&long, "sparse.txt", "open.txt"]);
        assert_eq!(found.members[0].name, "name.txt");
        assert_eq!(found.members[0].bytes, b"A longlynx.\n");
        assert_eq!(found.members[0].modified, Some(1_714_979_290));
        let sparse = &found.members[1].bytes;
        assert_eq!(sparse.len(), 1 << 20);
        assert!(sparse[700_000..].starts_with(b"sparsesparrow"));
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn members_of_pax_archives_are_read_and_sparse_ones_named() {
        let found = found(PAX, &Limits::default());
        let long = format!("{}/name.txt", "long-".repeat(30));
        assert_eq!(ipaths(&found), [&long, "open.txt"]);
        assert_eq!(found.documents[0].ipath.as_str(), "sparse.txt");
        assert_eq!(reason(&found.documents[0]), Some(Reason::Malformed));
    }

    #[test]
    fn names_in_other_charsets_are_decoded() {
        let bytes = tar_of(&[("abcde.txt", b"a")]);
        let name = b"Gr\xf6\xdfe.txt";
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_size(1);
        header.set_cksum();
        let bytes = [header.as_bytes(), &bytes[512..]].concat();
        let found = found(&bytes, &Limits::default());
        assert_eq!(ipaths(&found), ["Größe.txt"]);
    }

    #[test]
    fn large_members_are_skipped() {
        let limits = Limits {
            max_member_bytes: 9_999,
            ..Limits::default()
        };
        let large = [b'x'; 10_000];
        let bytes = tar_of(&[("a", b"aaaa"), ("large", &large), ("c", b"cccc")]);
        let found = found(&bytes, &limits);
        assert_eq!(ipaths(&found), ["a", "c"]);
        assert_eq!(found.documents[0].ipath.as_str(), "large");
        assert_eq!(reason(&found.documents[0]), Some(Reason::Limit));
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn duplicate_names_stay_apart() {
        let found = found(&tar_of(&[("a", b"old"), ("a", b"new")]), &Limits::default());
        assert_eq!(ipaths(&found), ["a", "a#2"]);
    }

    #[test]
    fn members_before_a_damaged_header_stay() {
        let mut bytes = tar_of(&[("a", b"aaaa"), ("b", b"bbbb"), ("c", b"cccc")]);
        bytes[1024] ^= 1;
        let found = found(&bytes, &Limits::default());
        assert_eq!(ipaths(&found), ["a"]);
        assert_eq!(reason(found.own()), Some(Reason::Malformed));
    }

    #[test]
    fn members_before_the_cut_stay() {
        let bytes = tar_of(&[("a", b"aaaa"), ("b", &[b'b'; 5000])]);
        let found = found(&bytes[..4000], &Limits::default());
        assert_eq!(ipaths(&found), ["a"]);
        assert_eq!(found.documents[0].ipath.as_str(), "b");
        assert_eq!(reason(found.own()), Some(Reason::Malformed));
    }

    #[test]
    fn endless_long_names_are_refused() {
        let mut builder = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(8 << 20);
        header.set_cksum();
        builder
            .append(&header, io::repeat(b'n').take(8 << 20))
            .unwrap();
        let mut bytes = builder.into_inner().unwrap();
        bytes.truncate(bytes.len() - 1024);
        bytes.extend(tar_of(&[("a", b"aaaa")]));
        let found = found(&bytes, &Limits::default());
        let failure = found.own().failure.as_ref().expect("refused");
        assert!(
            format!("{failure:?}").contains("header is longer"),
            "{failure:?}"
        );
    }

    #[test]
    fn sizes_that_lie_cost_nothing() {
        let mut header = Header::new_gnu();
        header.set_path("a").unwrap();
        for size in [60 << 20, 1 << 40, u64::MAX] {
            header.set_size(size);
            header.set_cksum();
            let found = run(extract, TAR, "a.tar", header.as_bytes());
            assert_eq!(found.members.len(), 0);
            assert!(found.documents[0].failure.is_some(), "{size}");
        }
    }

    #[test]
    fn hostile_bytes_are_survived() {
        survives(extract, TAR, "a.tar", GNU);
        survives(extract, TAR, "a.tar", PAX);
        survives(extract, TAR, "a.tar", &tar_of(&[("a", &[b'x'; 700])]));
    }
}
