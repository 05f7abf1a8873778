//! The log of tags next to the index: the tags that people gave their messages, which are in no
//! file.
//!
//! Lines are only ever appended, so the log survives a rebuilt index. Each commit records how much
//! of the log the index has. A run begins with the messages that later lines mention, and writes
//! them again from their data in the index.

use std::collections::HashSet;
use std::fs::File;
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ken_core::{Document, Field, FileKey, Order, Pattern, Plan, Value};
use ken_engine::Source;
use ken_mail::{TagChange, Tags};
use rustix::fs::{FlockOperation, flock};
use siphasher::sip::SipHasher13;

use crate::Error;

/// Number of messages that a thread writes at once; their texts are in memory.
pub(crate) const MESSAGES_AT_ONCE: usize = 64;

/// Returns the path of the log.
pub fn path(data: &Path) -> PathBuf {
    data.join("tags")
}

/// Appends lines to the log, atomically for readers; they are on disk when this returns. The next
/// run, or [`crate::update_files`], brings them into the index.
///
/// # Errors
/// Fails if the log cannot be written. The next call removes an incomplete line.
pub fn append(data: &Path, changes: &[TagChange]) -> Result<(), Error> {
    let lines = changes.iter().map(|change| format!("{change}\n"));
    append_lines(data, lines.collect())
}

/// Appends lines as [`append`] does. Lines that begin with `#` are for other programs that read the log.
///
/// # Errors
/// Fails as [`append`] does.
pub fn append_lines(data: &Path, mut lines: String) -> Result<(), Error> {
    ken_private::create_folder(data)?;
    let mut file = ken_private::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path(data))?;
    flock(file.file(), FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
    let end = whole_lines(file.file_mut())?;
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(end))?;
    file.read_to_end(&mut rest)?;
    // An incomplete write is removed; a line from an editor may only lack its line end.
    let rest = String::from_utf8(rest).unwrap_or_default();
    if matches!(TagChange::read(&rest), Ok(Some(_))) {
        lines.insert_str(0, &format!("{}\n", rest.trim_end()));
    }
    file.file().set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()?;
    if end == 0 {
        fs_err::File::open(data)?.sync_all()?;
    }
    Ok(())
}

/// Returns the end of the last complete line of a log.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    const STEP: u64 = 4096;
    let mut end = file.metadata()?.len();
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        buffer.resize((end - start) as usize, 0);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut buffer)?;
        if let Some(at) = buffer.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Returns a hash that never changes between versions, since it is stored. For no bytes it is 0, as
/// in an index without a log.
fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    if bytes.is_empty() { 0 } else { hasher.finish() }
}

/// The content of the log.
#[derive(Debug, Default)]
pub struct Log {
    /// The tags of every message.
    pub tags: Tags,
    /// Size of the log in bytes.
    pub(crate) n_bytes: u64,
    /// A hash of the whole log.
    pub(crate) hash: u64,
    /// Messages that lines after the known part mention.
    pub(crate) pending: Tags,
    /// Whether the log is not an extension of the one that the index knows: it may lack tags that
    /// the index has.
    pub(crate) is_another: bool,
    /// Lines that cannot be parsed, each with its number and what is wrong.
    pub wrong: Vec<(usize, String)>,
}

impl Log {
    /// Reads the log; a missing one is empty. `known` is the size and hash of the part that the
    /// index already has.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn read(data: &Path, known: (u64, u64)) -> Result<Self, Error> {
        let bytes = match fs_err::read(path(data)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self::of(&bytes, known))
    }

    fn of(bytes: &[u8], (known, hash): (u64, u64)) -> Self {
        // Anything after the last line end is still being written.
        let n_bytes = bytes.iter().rposition(|byte| *byte == b'\n');
        let bytes = &bytes[..n_bytes.map_or(0, |at| at + 1)];
        let before = usize::try_from(known).ok().and_then(|n| bytes.get(..n));
        let is_another = before.is_none_or(|before| hash_of(before) != hash);
        let known = if is_another { 0 } else { known };
        let mut log = Self {
            n_bytes: bytes.len() as u64,
            hash: hash_of(bytes),
            is_another,
            ..Self::default()
        };
        let mut start = 0;
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            match TagChange::read(&String::from_utf8_lossy(line)) {
                Ok(Some(change)) => {
                    log.tags.take(&change);
                    if start >= known {
                        log.pending.take(&change);
                    }
                }
                Ok(None) => {}
                Err(wrong) => log.wrong.push((number, wrong)),
            }
            start += line.len() as u64;
        }
        log
    }

    /// Returns how many messages are written again, not counting duplicates.
    pub(crate) fn n_pending(&self) -> usize {
        self.pending.ids().count()
    }

    /// Adds the tags that the log gives a message, and removes those that it takes away.
    pub(crate) fn apply(&self, document: &mut Document) {
        let Some(id) = document.text(Field::Msgid) else {
            return;
        };
        let said: Vec<(&str, bool)> = self.tags.of(id).collect();
        if said.is_empty() {
            return;
        }
        document.fields.retain(|(field, value)| match value {
            Value::Text(tag) if *field == Field::Tag => !said.iter().any(|(name, _)| name == tag),
            _ => true,
        });
        for (tag, _) in said.into_iter().filter(|(_, is_given)| *is_given) {
            document.add_verbatim(Field::Tag, tag);
        }
    }
}

/// Returns the files of all messages that have a tag.
pub(crate) fn tagged(snapshot: &dyn Source) -> Result<HashSet<FileKey>, ken_engine::Error> {
    let plan = Plan::Match {
        field: Field::Tag,
        pattern: Pattern::Prefix(String::new()),
    };
    let found = snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
    let mut files = HashSet::new();
    for hit in found.hits {
        let location = snapshot.location(hit.address)?;
        files.insert(snapshot.meta().hasher.key(&location.path));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind};

    use super::*;

    fn change(line: &str) -> TagChange {
        TagChange::read(line).unwrap().unwrap()
    }

    #[test]
    fn lines_are_added_and_half_lines_taken_back() {
        let data = tempfile::tempdir().unwrap();
        append(data.path(), &[change("+a -- id:1"), change("+b -- id:2")]).unwrap();
        let known = fs_err::metadata(path(data.path())).unwrap().len();
        let mut log = fs_err::OpenOptions::new()
            .append(true)
            .open(path(data.path()))
            .unwrap();
        log.write_all(b"+half -- id:").unwrap();
        let read = Log::read(data.path(), (0, 0)).unwrap();
        assert_eq!((read.n_bytes, read.pending.ids().count()), (known, 2));
        append(data.path(), &[change("-a -- id:1")]).unwrap();
        let text = fs_err::read_to_string(path(data.path())).unwrap();
        assert_eq!(text, "+a -- id:1\n+b -- id:2\n-a -- id:1\n");
        let known = (known, read.hash);
        let read = Log::read(data.path(), known).unwrap();
        assert!(!read.is_another);
        assert_eq!(read.pending.ids().collect::<Vec<_>>(), ["1"]);
        assert_eq!(read.tags.of("1").collect::<Vec<_>>(), [("a", false)]);
        // A different log in its place, whether longer or shorter.
        for text in [
            "+c -- id:3
",
            "+c -- id:3
+d -- id:4
+e -- id:5
",
        ] {
            fs_err::write(path(data.path()), text).unwrap();
            let read = Log::read(data.path(), known).unwrap();
            assert!(read.is_another);
            assert_eq!(read.pending.ids().count(), text.lines().count());
        }
        fs_err::remove_file(path(data.path())).unwrap();
        assert!(Log::read(data.path(), known).unwrap().is_another);
        assert!(!Log::read(data.path(), (0, 0)).unwrap().is_another);
    }

    #[test]
    fn what_cannot_be_read_is_reported() {
        let log = Log::of(b"+a -- id:1\nnonsense\n+b -- id:2\n", (0, 0));
        assert_eq!(log.tags.ids().count(), 2);
        assert_eq!(log.wrong.len(), 1);
        assert_eq!(log.wrong[0].0, 2);
    }

    #[test]
    fn the_log_outdoes_the_header() {
        let mut message = Document::new(Ipath::root(), "message/rfc822", Kind::Message);
        message.add_text(Field::Msgid, "1");
        message.add_text(Field::Tag, "own");
        message.add_text(Field::Tag, "other");
        let log = Log::of(b"+new -own -- id:1\n", (0, 0));
        for _ in 0..2 {
            log.apply(&mut message);
            let tags = message
                .fields
                .iter()
                .filter(|(field, _)| *field == Field::Tag);
            let tags: Vec<_> = tags.map(|(_, value)| value.clone()).collect();
            assert_eq!(
                tags,
                ["other", "new"].map(|tag| Value::Text(tag.to_owned()))
            );
        }
    }
}
