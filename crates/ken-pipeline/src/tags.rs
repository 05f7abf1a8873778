//! The log of tags next to the index: the tags that people gave their messages and other documents,
//! which are in no file.
//!
//! Lines are only ever appended, so the log survives a rebuilt index. Each commit records how much
//! of the log the index has. A run begins with the documents that later lines mention, and writes
//! them again from their data in the index. Tags follow a document that moves: a run appends lines
//! for its new address.
//!
//! Where the index is in a cluster, the log is there too, and is the same for all machines.

use std::collections::HashSet;
use std::fs::File;
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use ken_core::{Document, Field, FileKey, Kind, Location, Order, Pattern, Plan, Value};
use ken_engine::Source;
use ken_mail::{TagChange, Tagged, Tags};
use rustix::fs::{FlockOperation, flock};
use siphasher::sip::SipHasher13;

use crate::{Error, Options};

/// Number of messages that a thread writes at once; their texts are in memory.
pub(crate) const MESSAGES_AT_ONCE: usize = 64;

/// Returns the path of the log.
pub fn path(data: &Path) -> PathBuf {
    data.join("tags")
}

/// Adds changes to the log of the index that these options mean. The next run, or [`crate::update_files`], brings them
/// into the index.
///
/// # Errors
/// Fails if the log cannot be written.
pub fn add(options: &Options, changes: &[TagChange]) -> Result<(), Error> {
    let Some(engine) = &options.engine else {
        return append(&options.data, changes);
    };
    let lines = changes.iter().map(|change| format!("{change}\n"));
    Ok(engine.add_to_tag_log(&lines.collect::<String>())?)
}

/// Appends lines to the log in a data folder, atomically for readers; they are on disk when this returns.
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

/// Returns the log of the index that these options mean; a missing one is empty.
pub(crate) fn bytes(options: &Options) -> Result<Vec<u8>, Error> {
    if let Some(engine) = &options.engine {
        return Ok(engine.tag_log()?);
    }
    match fs_err::read(path(&options.data)) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
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
    /// The tags of documents that this run found at another address.
    moved: RwLock<Tags>,
    /// The lines for these that the log does not have yet.
    of_moved: Mutex<Vec<TagChange>>,
}

impl Log {
    /// Reads the log of the index that these options mean; a missing one is empty. `known` is the size and hash of the
    /// part that the index already has.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn read(options: &Options, known: (u64, u64)) -> Result<Self, Error> {
        Ok(Self::of(&bytes(options)?, known))
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

    /// Returns how many messages and other documents are written again, not counting duplicates.
    pub(crate) fn n_pending(&self) -> usize {
        self.pending.ids().count() + self.pending.addresses().count()
    }

    /// Adds the tags that the log gives a document of a file, and removes those that it takes away.
    pub(crate) fn apply(&self, document: &mut Document, file: &Path) {
        let mut said: Vec<(String, bool)> = Vec::new();
        let mut take = |tag: &str, is_given: bool| said.push((tag.to_owned(), is_given));
        let id = document.text(Field::Msgid);
        if let Some(id) = id.filter(|_| document.kind == Kind::Message) {
            let tags = self.tags.of(id);
            tags.for_each(|(tag, is_given)| take(tag, is_given));
        }
        let moved = self.moved.read().unwrap_or_else(PoisonError::into_inner);
        let mut named = [&self.tags, &moved]
            .into_iter()
            .filter(|tags| tags.addresses().next().is_some())
            .peekable();
        if named.peek().is_some() {
            let ipath = document.ipath.clone();
            let path = file.to_path_buf();
            let address = Tagged::address(&Location { path, ipath });
            let tags = named.flat_map(|tags| tags.of_document(&address));
            tags.for_each(|(tag, is_given)| take(tag, is_given));
        }
        for (tag, is_given) in said {
            document.fields.retain(|(field, value)| {
                *field != Field::Tag || !matches!(value, Value::Text(own) if *own == tag)
            });
            if is_given {
                document.add_verbatim(Field::Tag, &tag);
            }
        }
    }

    /// Gives the tags of a file and of what it contains to its new path, for documents that are added from now on.
    /// Returns the lines that say so, for [`Self::moved`].
    pub(crate) fn follow(&self, old: &Path, new: &Path) -> Vec<TagChange> {
        let (old, new) = (Location::file(old), Location::file(new));
        let (old, new) = (Tagged::address(&old), Tagged::address(&new));
        let mut changes = Vec::new();
        for address in self.tags.addresses_in(&old) {
            let moved = format!("{new}{}", &address[old.len()..]);
            // A run that was stopped before its commit may have said it already, and this one finds the same move.
            let is_said = |tag: &str| self.tags.of_document(&moved).any(|(said, _)| said == tag);
            let there = self.tags.of_document(address);
            let there = there.filter(|(tag, _)| !is_said(tag));
            let there = there.map(|(tag, is_given)| (tag.to_owned(), is_given));
            let there: Vec<_> = there.collect();
            // Another file may come to the old path.
            let gone = self.tags.of_document(address);
            let gone = gone.filter(|(_, is_given)| *is_given);
            let gone: Vec<_> = gone.map(|(tag, _)| (tag.to_owned(), false)).collect();
            for (address, tags) in [(moved, there), (address.to_owned(), gone)] {
                let on = Tagged::Document(address);
                changes.extend((!tags.is_empty()).then_some(TagChange { on, tags }));
            }
        }
        if !changes.is_empty() {
            let mut moved = self.moved.write().unwrap_or_else(PoisonError::into_inner);
            changes.iter().for_each(|change| moved.take(change));
        }
        changes
    }

    /// Keeps the lines for a file that moved until the next commit.
    pub(crate) fn moved(&self, mut changes: Vec<TagChange>) {
        if !changes.is_empty() {
            let of_moved = self.of_moved.lock();
            let mut of_moved = of_moved.unwrap_or_else(PoisonError::into_inner);
            of_moved.append(&mut changes);
        }
    }

    /// Appends the lines for documents that moved to the log. Every commit that may have their new
    /// addresses calls this before.
    pub(crate) fn write_moved(&self, options: &Options) -> Result<(), Error> {
        let mut of_moved = self.of_moved.lock().unwrap_or_else(PoisonError::into_inner);
        if !of_moved.is_empty() {
            add(options, &of_moved)?;
            of_moved.clear();
        }
        Ok(())
    }
}

/// Returns the files of all documents that have a tag.
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
        let read = Log::read(&Options::new(data.path()), (0, 0)).unwrap();
        assert_eq!((read.n_bytes, read.pending.ids().count()), (known, 2));
        append(data.path(), &[change("-a -- id:1")]).unwrap();
        let text = fs_err::read_to_string(path(data.path())).unwrap();
        assert_eq!(text, "+a -- id:1\n+b -- id:2\n-a -- id:1\n");
        let known = (known, read.hash);
        let read = Log::read(&Options::new(data.path()), known).unwrap();
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
            let read = Log::read(&Options::new(data.path()), known).unwrap();
            assert!(read.is_another);
            assert_eq!(read.pending.ids().count(), text.lines().count());
        }
        fs_err::remove_file(path(data.path())).unwrap();
        assert!(
            Log::read(&Options::new(data.path()), known)
                .unwrap()
                .is_another
        );
        assert!(
            !Log::read(&Options::new(data.path()), (0, 0))
                .unwrap()
                .is_another
        );
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
            log.apply(&mut message, Path::new("/m/1"));
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

    #[test]
    fn tags_follow_a_file_and_its_members() {
        let log = Log::of(
            b"+a -b -- path:/d/x.zip\n+c -- path:/d/x.zip|m.txt\n+d -- path:/d/x.zip2\n",
            (0, 0),
        );
        let changes = log.follow(Path::new("/d/x.zip"), Path::new("/e/y.zip"));
        log.moved(changes);
        let tags = |ipath: Ipath, path: &str| {
            let mut document = Document::new(ipath, "text/plain", Kind::Document);
            document.add_text(Field::Tag, "b");
            log.apply(&mut document, Path::new(path));
            let fields = document.fields.into_iter();
            let tags = fields.filter_map(|(field, value)| match value {
                Value::Text(tag) if field == Field::Tag => Some(tag),
                _ => None,
            });
            tags.collect::<Vec<_>>()
        };
        assert_eq!(tags(Ipath::root(), "/e/y.zip"), ["a"]);
        let member = Ipath::root().child("m.txt");
        assert_eq!(tags(member.clone(), "/e/y.zip"), ["b", "c"]);
        // What comes to the old path is another file. What was taken away there stays away.
        assert_eq!(tags(Ipath::root(), "/d/x.zip"), [""; 0]);
        assert_eq!(tags(member, "/d/x.zip"), ["b"]);
        let data = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            log.write_moved(&Options::new(data.path())).unwrap();
        }
        let text = fs_err::read_to_string(path(data.path())).unwrap();
        assert_eq!(
            text,
            "+a -b -- path:/e/y.zip\n-a -- path:/d/x.zip\n+c -- path:/e/y.zip|m.txt\n-c -- path:/d/x.zip|m.txt\n"
        );
        // The commit failed, so the next run sees the same move: the log already says what follows from it.
        let again = Log::of(
            format!("+a -b -- path:/d/x.zip\n+c -- path:/d/x.zip|m.txt\n{text}").as_bytes(),
            (0, 0),
        );
        let changes = again.follow(Path::new("/d/x.zip"), Path::new("/e/y.zip"));
        assert_eq!(changes, []);
        assert_eq!(
            again.tags.of_document("/e/y.zip").collect::<Vec<_>>(),
            [("a", true), ("b", false)]
        );
    }
}
