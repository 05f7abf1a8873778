//! The terms of large dictionaries as plain text, for patterns that do not determine how a term
//! starts.
//!
//! Traversing an automaton and the dictionary together skips terms that cannot match. However,
//! `*ology` can match anywhere, and going from one term to the next takes the dictionary about 100
//! ns. The same terms as lines of text are searched for a literal of the pattern at the speed of
//! memory. Each large segment therefore has an additional file of lines, with a table of the start
//! of each field:
//!
//! ```text
//! terms of a field, in order, each followed by a line feed; then those of the next field
//! for each field: its column, the first byte, the number of bytes
//! the number of fields, the CRC-32 of all before it, MAGIC
//! ```
//!
//! Numbers have 8 bytes, little-endian. A segment that is built here writes the file while its
//! terms arrive in order; a merged segment gets it at the end of the run. The file is redundant:
//! where it is missing, the dictionary is used.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fs_err::File;
use memchr::{memchr, memmem, memrchr};
use tantivy::Directory;
use tantivy::directory::OwnedBytes;
use tantivy::index::{SegmentComponent, SegmentId};
use tantivy::schema::Field as Column;
use tantivy::{Index, SegmentReader};
use tantivy_common::HasLen;

use super::successor;
use crate::directory::ReadDirectory;
use crate::layout::{TERM_LIST, is_term_list, term_list};
use crate::limits::{Limits, Pace, reached};

const MAGIC: [u8; 8] = *b"kenword2";
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes that are searched for a literal before limits are asked for again: about 100 µs.
const WINDOW_BYTES: usize = 1 << 20;
/// Size of the buffer for lines.
const LINES_BYTES: usize = 64 << 10;

/// The terms of a field of a segment, in order, one per line.
pub(crate) struct PlainTerms<'a>(&'a [u8]);

/// Decides whether a term matches.
pub(crate) trait Accept {
    fn accepts(&self, term: &[u8]) -> bool;
}

/// The lines that are wanted.
pub(crate) struct Wanted<'a> {
    /// Their prefix.
    pub(crate) prefix: &'a str,
    /// A substring that they contain, including their line feed.
    pub(crate) part: Option<&'a memmem::Finder<'static>>,
    /// A further test of them.
    pub(crate) accepts: &'a dyn Accept,
}

impl PlainTerms<'_> {
    /// Calls `each` with the wanted terms, in order, until a limit is reached.
    pub(crate) fn each<E>(
        &self,
        wanted: &Wanted<'_>,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = successor(wanted.prefix);
        let end = end.map_or(self.0.len(), |end| self.lower_bound(end.as_bytes()));
        let start = self.lower_bound(wanted.prefix.as_bytes());
        let lines = self.0.get(start..end).unwrap_or_default();
        let mut at = 0;
        let mut pace = Pace::default();
        while at < lines.len() && !pace.step(limits) {
            if let Some(part) = wanted.part {
                let Some(found) = find(part, lines, at, limits) else {
                    break;
                };
                at = found;
            }
            let line = line_at(lines, at);
            if wanted.accepts.accepts(&lines[line.clone()]) {
                each(&lines[line.clone()])?;
            }
            at = line.end + 1;
        }
        Ok(())
    }

    /// Returns the start of the first term that is not less than `key`.
    fn lower_bound(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.0.len());
        while low < high {
            let line = line_at(self.0, low.midpoint(high));
            if &self.0[line.clone()] < key {
                low = line.end + 1;
            } else {
                high = line.start;
            }
        }
        low
    }
}

/// Returns where a part begins in a text, from `at` on, unless a limit is reached before.
fn find(
    part: &memmem::Finder<'_>,
    text: &[u8],
    mut at: usize,
    limits: Option<&Limits>,
) -> Option<usize> {
    let n_more = part.needle().len().saturating_sub(1);
    loop {
        let end = at.saturating_add(WINDOW_BYTES);
        let window = &text[at..text.len().min(end + n_more)];
        if let Some(found) = part.find(window) {
            return Some(at + found);
        }
        if end >= text.len() || reached(limits) {
            return None;
        }
        at = end;
    }
}

/// Returns the line around a byte, without its line feed.
fn line_at(text: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    start..end
}

/// The lists of a snapshot, opened at first use and then read without a lock.
#[derive(Debug)]
pub(super) struct PlainLists {
    directory: ReadDirectory,
    opened: Vec<(SegmentId, OnceLock<Option<Lists>>)>,
}

/// The lists of a segment.
#[derive(Debug)]
struct Lists {
    bytes: OwnedBytes,
    fields: Vec<(u32, Range<usize>)>,
}

impl PlainLists {
    pub(crate) fn new(directory: ReadDirectory, segments: &[SegmentReader]) -> Self {
        let segments = segments.iter().map(SegmentReader::segment_id);
        Self {
            directory,
            opened: segments.map(|id| (id, OnceLock::new())).collect(),
        }
    }

    /// Returns the terms of a field of a segment, if there is a list of them.
    pub(crate) fn of(&self, segment: SegmentId, column: Column) -> Option<PlainTerms<'_>> {
        let (_, lists) = self.opened.iter().find(|(id, _)| *id == segment)?;
        let lists = lists.get_or_init(|| self.open(segment)).as_ref()?;
        let mut fields = lists.fields.iter();
        let (_, range) = fields.find(|(id, _)| *id == column.field_id())?;
        lists.bytes.as_slice().get(range.clone()).map(PlainTerms)
    }

    /// Returns the size of the lists on disk.
    pub(crate) fn n_bytes(&self) -> u64 {
        let open = |(id, _): &(SegmentId, _)| self.directory.open_read(&term_list(*id)).ok();
        let files = self.opened.iter().filter_map(open);
        files.map(|file| file.len() as u64).sum()
    }

    fn open(&self, segment: SegmentId) -> Option<Lists> {
        let file = self.directory.open_read(&term_list(segment)).ok()?;
        let bytes = file.read_bytes().ok()?;
        let fields = read_table(bytes.as_slice())?;
        Some(Lists { bytes, fields })
    }
}

/// Returns the column of each field and the range of its terms; `None` if the file is not such a
/// list.
fn read_table(bytes: &[u8]) -> Option<Vec<(u32, Range<usize>)>> {
    let (rest, _) = split_number(bytes.strip_suffix(&MAGIC)?)?;
    let (rest, n_fields) = split_number(rest)?;
    let mut fields = Vec::new();
    let mut rest = rest;
    for _ in 0..n_fields {
        let (before, length) = split_number(rest)?;
        let (before, start) = split_number(before)?;
        let (before, column) = split_number(before)?;
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let ends = end <= bytes.len() && (start == end || bytes.get(end - 1) == Some(&b'\n'));
        fields.push((u32::try_from(column).ok().filter(|_| ends)?, start..end));
        rest = before;
    }
    Some(fields)
}

/// Reads a file, given the bytes before the checksum, and all terms in it.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_terms(bytes: &[u8]) {
    struct All;
    impl Accept for All {
        fn accepts(&self, _: &[u8]) -> bool {
            true
        }
    }
    let mut file = bytes.to_vec();
    file.extend(u64::from(crc32fast::hash(bytes)).to_le_bytes());
    file.extend(MAGIC);
    assert!(is_sound(&file));
    for (_, range) in read_table(&file).unwrap_or_default() {
        let terms = PlainTerms(&file[range]);
        for (prefix, part) in [("", None), ("b", None), ("", Some("c"))] {
            let part = part.map(memmem::Finder::new);
            let wanted = Wanted {
                prefix,
                part: part.as_ref(),
                accepts: &All,
            };
            let read = terms.each(&wanted, None, &mut |_| Ok::<_, ()>(()));
            assert_eq!(read, Ok(()));
        }
    }
}

/// Returns whether a list is unchanged since it was written; one of another version counts as no
/// list.
pub(crate) fn is_sound(bytes: &[u8]) -> bool {
    let Some((rest, sum)) = bytes.strip_suffix(&MAGIC).and_then(split_number) else {
        return true;
    };
    u64::from(crc32fast::hash(rest)) == sum
}

fn split_number(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let (rest, number) = bytes.split_last_chunk::<8>()?;
    Some((rest, u64::from_le_bytes(*number)))
}

/// Bounds of dictionaries that are fast enough without a list.
#[derive(Clone, Copy)]
pub(crate) struct Small {
    /// Total bytes of the dictionaries of a segment.
    bytes: u64,
    /// Terms of a field.
    terms: usize,
}

impl Default for Small {
    fn default() -> Self {
        Self {
            bytes: 2 << 20,
            terms: 1 << 15,
        }
    }
}

/// Writes the missing lists of large segments, and deletes those of segments that are gone.
///
/// # Errors
/// Fails if the index cannot be read or a list cannot be written; the index stays unchanged.
pub(crate) fn update(index: &Index, folder: &Path, small: Small) -> tantivy::Result<()> {
    let segments = index.searchable_segments()?;
    delete_others(folder, segments.iter().map(tantivy::Segment::id))?;
    let is_missing = |segment: &&tantivy::Segment| -> io::Result<bool> {
        let terms = segment.relative_path(SegmentComponent::Terms);
        let is_large = fs_err::metadata(folder.join(terms))?.len() >= small.bytes;
        Ok(is_large && !is_there(&folder.join(term_list(segment.id())))?)
    };
    std::thread::scope(|scope| {
        let mut writing = Vec::new();
        for segment in &segments {
            if is_missing(&segment)? {
                writing.push(scope.spawn(|| write(segment, folder, small)));
            }
        }
        writing.into_iter().try_for_each(|thread| {
            let done = thread.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// Deletes the lists of all other segments, which were merged or never committed.
///
/// # Errors
/// Fails if the folder cannot be read, or a list not deleted.
pub(crate) fn delete_others(
    folder: &Path,
    segments: impl Iterator<Item = SegmentId>,
) -> io::Result<()> {
    let names: Vec<PathBuf> = segments.map(term_list).collect();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?.file_name();
        if is_term_list(&entry) && !names.iter().any(|name| name.as_os_str() == entry) {
            delete(&folder.join(entry))?;
        }
    }
    Ok(())
}

/// Returns whether there is a list in this version.
fn is_there(path: &Path) -> io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(mut file) => {
            let is_long = file.seek(SeekFrom::End(-(MAGIC.len() as i64))).is_ok();
            Ok(is_long && file.read_exact(&mut magic).is_ok() && magic == MAGIC)
        }
    }
}

/// Deletes a list, if it exists.
pub(crate) fn delete(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes the lists of a segment from its dictionaries.
fn write(segment: &tantivy::Segment, folder: &Path, small: Small) -> tantivy::Result<()> {
    let reader = SegmentReader::open(segment)?;
    let mut lists = ListWriter::create(folder, segment.id(), small)?;
    for (column, entry) in reader.schema().fields() {
        // Text fields are those with positions; other fields are searched by prefix.
        let option = entry.field_type().index_record_option();
        if !option.is_some_and(|option| option.has_positions()) {
            continue;
        }
        let index = reader.inverted_index(column)?;
        if index.terms().num_terms() < small.terms {
            continue;
        }
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            lists.term(terms.key())?;
        }
        lists.end_field(column)?;
    }
    Ok(lists.finish()?)
}

/// Writes the lists of a segment, under a temporary name until they are complete and on disk.
pub(crate) struct ListWriter {
    next: PathBuf,
    path: PathBuf,
    small: Small,
    out: BufWriter<File>,
    sum: crc32fast::Hasher,
    table: Vec<u8>,
    n_fields: u64,
    /// The current field: the start of its lines, and its number of terms.
    start: u64,
    n_terms: usize,
    /// Whether a term of it cannot be a line, so that the field has no list.
    is_unfit: bool,
    /// Its lines that are not written yet.
    lines: Vec<u8>,
    end: u64,
}

impl ListWriter {
    pub(crate) fn create(folder: &Path, segment: SegmentId, small: Small) -> io::Result<Self> {
        let path = folder.join(term_list(segment));
        let next = path.with_extension(format!("{TERM_LIST}.{}", std::process::id()));
        Ok(Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, ken_private::create(&next)?),
            next,
            path,
            small,
            sum: crc32fast::Hasher::new(),
            table: Vec::new(),
            n_fields: 0,
            start: 0,
            n_terms: 0,
            is_unfit: false,
            lines: Vec::new(),
            end: 0,
        })
    }

    /// Adds a term of the current field, after all its other terms.
    #[inline]
    pub(crate) fn term(&mut self, term: &[u8]) -> io::Result<()> {
        self.is_unfit |= memchr(b'\n', term).is_some();
        self.n_terms += 1;
        self.lines.extend_from_slice(term);
        self.lines.push(b'\n');
        match self.n_terms >= self.small.terms && self.lines.len() >= LINES_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end += self.lines.len() as u64;
        self.sum.update(&self.lines);
        self.out.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Ends the field of a column, which gets no list if it has few terms.
    pub(crate) fn end_field(&mut self, column: Column) -> io::Result<()> {
        if self.n_terms >= self.small.terms && !self.is_unfit {
            self.flush()?;
            let column = u64::from(column.field_id());
            for number in [column, self.start, self.end - self.start] {
                self.table.extend_from_slice(&number.to_le_bytes());
            }
            self.n_fields += 1;
        }
        self.lines.clear();
        self.start = self.end;
        self.n_terms = 0;
        self.is_unfit = false;
        Ok(())
    }

    /// Syncs the file to disk under its final name, unless it is empty.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.n_fields == 0 {
            return Ok(());
        }
        let table = std::mem::take(&mut self.table);
        for bytes in [&table[..], &self.n_fields.to_le_bytes()] {
            self.sum.update(bytes);
            self.out.write_all(bytes)?;
        }
        let sum = u64::from(self.sum.clone().finalize());
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.flush()?;
        self.out.get_ref().sync_data()?;
        fs_err::rename(&self.next, &self.path)
    }
}

impl Drop for ListWriter {
    /// Deletes an unfinished file.
    fn drop(&mut self) {
        let _ = delete(&self.next);
    }
}

#[cfg(test)]
mod tests {
    use ken_engine::{Sink, Terms};

    use super::*;

    struct NotBeta;

    impl Accept for NotBeta {
        fn accepts(&self, term: &[u8]) -> bool {
            term != b"beta"
        }
    }

    fn found(terms: &[&str], prefix: &str, part: Option<&str>) -> Vec<String> {
        found_within(None, terms, prefix, part)
    }

    fn found_within(
        limits: Option<&Limits>,
        terms: &[&str],
        prefix: &str,
        part: Option<&str>,
    ) -> Vec<String> {
        let text: String = terms.iter().map(|term| format!("{term}\n")).collect();
        let part = part.map(|part| memmem::Finder::new(part.as_bytes()).into_owned());
        let wanted = Wanted {
            prefix,
            part: part.as_ref(),
            accepts: &NotBeta,
        };
        let mut found = Vec::new();
        let mut each = |term: &[u8]| -> Result<(), ()> {
            found.push(String::from_utf8(term.to_vec()).unwrap());
            Ok(())
        };
        PlainTerms(text.as_bytes())
            .each(&wanted, limits, &mut each)
            .unwrap();
        found
    }

    #[test]
    fn lines_are_found_by_their_start_and_a_part() {
        let terms = ["alpha", "be", "beta", "betamax", "better", "gamma"];
        let all = |prefix, part| found(&terms, prefix, part).join(" ");
        assert_eq!(all("", None), "alpha be betamax better gamma");
        assert_eq!(all("be", None), "be betamax better");
        assert_eq!(all("bet", None), "betamax better");
        assert_eq!(all("", Some("ma")), "betamax gamma");
        assert_eq!(all("", Some("ma\n")), "gamma");
        assert_eq!(all("", Some("max\n")), "betamax");
        assert_eq!(all("c", None), "");
        assert_eq!(all("zz", Some("a")), "");
        assert_eq!(all("gamma", Some("a\n")), "gamma");
        assert!(found(&[], "a", None).is_empty());
    }

    #[test]
    fn a_search_for_a_part_ends_between_windows() {
        // The part lies across the border of two windows.
        let filler = "x".repeat(WINDOW_BYTES - 3);
        let terms = [&*filler, "gamma", &*filler, "delta"];
        let within = |n_questions, part| {
            let limits = Limits::after(n_questions);
            let found = found_within(Some(&limits), &terms, "", Some(part));
            (found.join(" "), limits.ended_early())
        };
        assert_eq!(found(&terms, "", Some("gamma")), ["gamma"]);
        assert_eq!(found(&terms, "", Some("delta")), ["delta"]);
        assert_eq!(within(9, "gamma"), ("gamma".to_owned(), false));
        assert_eq!(within(1, "delta"), (String::new(), true));
        assert_eq!(within(1, "nothing"), (String::new(), true));
    }

    #[test]
    fn a_field_of_few_terms_or_with_a_line_feed_has_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let segment = SegmentId::generate_random();
        let small = Small { bytes: 0, terms: 3 };
        let mut lists = ListWriter::create(folder.path(), segment, small).unwrap();
        let fields: [&[&str]; 4] = [
            &["a\nb"],
            &["a", "b", "c"],
            &["a", "b\n", "c"],
            &["d", "e", "f"],
        ];
        for (number, terms) in (0..).zip(fields) {
            terms
                .iter()
                .for_each(|term| lists.term(term.as_bytes()).unwrap());
            lists.end_field(Column::from_field_id(number)).unwrap();
        }
        lists.finish().unwrap();
        let file = fs_err::read(folder.path().join(term_list(segment))).unwrap();
        assert!(is_sound(&file));
        let mut table = read_table(&file).unwrap();
        table.sort_by_key(|(column, _)| *column);
        let lists: Vec<_> = table
            .into_iter()
            .map(|(column, range)| (column, str::from_utf8(&file[range]).unwrap()))
            .collect();
        assert_eq!(lists, [(1, "a\nb\nc\n"), (3, "d\ne\nf\n")]);

        let lists = ListWriter::create(folder.path(), segment, small).unwrap();
        lists.finish().unwrap();
        let other = [SegmentId::generate_random()];
        delete_others(folder.path(), other.into_iter()).unwrap();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_table_is_no_table() {
        let mut file = b"a\nb\n".to_vec();
        for number in [7_u64, 0, 4, 1] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        let sum = u64::from(crc32fast::hash(&file));
        file.extend_from_slice(&sum.to_le_bytes());
        file.extend_from_slice(&MAGIC);
        assert_eq!(read_table(&file), Some(vec![(7, 0..4)]));
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(
                !is_sound(&damaged) || read_table(&damaged).is_none(),
                "byte {at}"
            );
        }
        for (at, byte) in [(file.len() - 1, 0), (20, 200), (28, 9)] {
            let mut damaged = file.clone();
            damaged[at] = byte;
            assert_eq!(read_table(&damaged), None, "byte {at}");
        }
        for length in 0..file.len() {
            assert_eq!(read_table(&file[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn patterns_mean_the_same_terms_with_a_list_and_without() {
        use ken_core::{Document, Field, FileKey, Glob, GlobPart, Ipath, Kind, Location, Pattern};

        let folder = tempfile::tempdir().unwrap();
        let options = crate::WriterOptions {
            memory_bytes: 16 << 20,
            threads: 1,
        };
        let writer = crate::Writer::open(folder.path(), options).unwrap();
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.add_text(Field::Title, "mode of the made");
        for number in 0..2000 {
            document.body += &format!("m{}de x{number} ", number % 100);
        }
        document.body += "code mode größe 日本語 mde demand";
        let location = Location {
            path: "a".into(),
            ipath: Ipath::root(),
        };
        let record = crate::Record {
            key: FileKey(1),
            location,
            document,
            state: None,
        };
        writer.add(record).unwrap();
        writer.commit(&writer.meta().clone()).unwrap();
        writer.close().unwrap();

        let many = || GlobPart::Many;
        let literal = |text: &str| GlobPart::Literal(text.to_owned());
        let patterns = [
            Pattern::Glob(Glob(vec![literal("m"), many(), literal("de")])),
            Pattern::Glob(Glob(vec![many(), literal("od"), GlobPart::One])),
            Pattern::Glob(Glob(vec![many(), literal("9")])),
            Pattern::Glob(Glob(vec![GlobPart::One, GlobPart::One, GlobPart::One])),
            Pattern::Regex("^[mc]o?de$".to_owned()),
            Pattern::Regex("1.*1".to_owned()),
            Pattern::Regex("本".to_owned()),
        ];
        let terms = || {
            let snapshot = crate::Snapshot::open(folder.path()).unwrap();
            let terms = |pattern| snapshot.frequent(Field::Body, pattern, 5000, None).unwrap();
            let lists = &snapshot.shortcuts.plain;
            let column = crate::schema::Columns::new().of(Field::Body);
            let has_list = lists
                .opened
                .iter()
                .all(|(id, _)| lists.of(*id, column).is_some());
            (has_list, patterns.iter().map(terms).collect::<Vec<_>>())
        };
        let (has_list, without) = terms();
        assert!(!has_list, "the dictionaries are small");
        assert!(without.iter().all(|(terms, _)| !terms.is_empty()));

        let again = crate::open::Access::ManyQueries;
        let (_, index, _) =
            crate::open::open_engine(folder.path(), again, &Default::default()).unwrap();
        let stale = folder.path().join(format!("{}.words", "ab".repeat(16)));
        fs_err::write(&stale, "").unwrap();
        update(&index, folder.path(), Small { bytes: 0, terms: 0 }).unwrap();
        assert!(!fs_err::exists(&stale).unwrap());
        let (has_list, with) = terms();
        assert!(has_list);
        assert_eq!(with, without);

        for entry in fs_err::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if is_term_list(path.file_name().unwrap()) {
                fs_err::write(path, "damaged").unwrap();
            }
        }
        let (has_list, after_damage) = terms();
        assert!(!has_list);
        assert_eq!(after_damage, without);
    }
}
