//! Writes the n-grams of the files that a run reads, by which `ken grep` knows in which files a
//! pattern cannot match.
//!
//! The bytes of a file are taken as ripgrep searches them: up to the first 0, and decoded if they
//! begin with the byte order mark of UTF-16. A small file is in memory anyway; a larger one is read
//! a second time, from the system's cache, in pieces. The text of documents is added unless it
//! equals the bytes.
//!
//! N-gram segments hold facts about files under their stamps (see `ken-ngram`). They are written
//! before the commit that has the files and names the segments ([`missing`]).

pub(crate) mod missing;
mod versions;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ken_core::{Document, Kind, Token};
use ken_engine::Error;
use ken_extract::Input;
use ken_extract::helper::ocr;
use ken_index::Snapshot;
use ken_index::layout::ngrams_folder;
use ken_ngram::{Builder, Covers, NgramSet, Pieces, Store, Version};
use twox_hash::XxHash3_64;

use crate::options::Ngrams;
use crate::write::FileFacts;
use versions::Versions;

/// Minimum size of a builder: merging smaller n-gram segments costs more than a builder for each
/// thread saves.
const MIN_SLOT_BYTES: usize = 8 << 20;
/// Memory of an n-gram of a piece of a large file: until the file is added, and in the segment
/// being built.
const PIECE_GRAM_BYTES: usize = 8;
/// Number of bytes of a large file that are read at once. The first read is shorter, since most
/// binary files show at their start that they are binary.
const READ_BYTES: usize = 256 << 10;
const FIRST_BYTES: usize = 16 << 10;
/// Up to this size, the hash of content covers all of it.
const WHOLE_BYTES: usize = 4 << 20;

/// Returns the path of an n-gram segment of an index.
pub fn segment_path(index: &Path, number: u64) -> PathBuf {
    ken_ngram::segment_path(&ngrams_folder(index), number)
}

/// Writes the n-grams of all files of a run.
pub(crate) struct NgramWriter {
    folder: PathBuf,
    named: BTreeSet<u64>,
    of: Ngrams,
    store: OnceLock<Store>,
    opening: Mutex<()>,
    slots: Vec<Mutex<Builder>>,
    slot_bytes: usize,
    seed: u64,
    max_file_bytes: u64,
}

/// The n-grams of the current file.
#[derive(Default)]
pub(crate) struct FileNgrams {
    pub(crate) set: NgramSet,
    pub(crate) covers: Covers,
    /// The pieces of a large file.
    pieces: Option<Pieces>,
}

impl FileNgrams {
    fn clear(&mut self) {
        self.set.clear();
        self.covers = Covers::default();
        if let Some(pieces) = &mut self.pieces {
            pieces.clear();
        }
    }
}

/// Options that are known before a run begins.
pub(crate) struct NgramWriterOptions {
    pub(crate) folder: PathBuf,
    /// The n-gram segments that the last commit names.
    pub(crate) named: BTreeSet<u64>,
    pub(crate) of: Ngrams,
    pub(crate) memory_bytes: usize,
    pub(crate) threads: usize,
    /// See [`ken_core::KeyHasher::seed`].
    pub(crate) seed: u64,
    pub(crate) max_file_bytes: u64,
}

impl NgramWriter {
    pub(crate) fn new(options: NgramWriterOptions) -> Self {
        let affordable = (options.memory_bytes / MIN_SLOT_BYTES).max(1);
        let n_slots = options.threads.clamp(1, affordable);
        Self {
            folder: options.folder,
            named: options.named,
            of: options.of,
            store: OnceLock::new(),
            opening: Mutex::default(),
            slots: std::iter::repeat_with(Mutex::default)
                .take(n_slots)
                .collect(),
            slot_bytes: (options.memory_bytes / n_slots).max(MIN_SLOT_BYTES),
            seed: options.seed,
            max_file_bytes: options.max_file_bytes,
        }
    }

    /// Returns whether the n-grams of messages are wanted.
    pub(crate) fn are_of_messages(&self) -> bool {
        self.of == Ngrams::All
    }

    /// Returns whether any n-grams are wanted.
    pub(crate) fn are_wanted(&self) -> bool {
        self.of != Ngrams::None
    }

    /// Begins a file, with its bytes.
    pub(crate) fn begin(&self, taken: &mut FileNgrams, input: &mut Input<'_>, file: &File) {
        taken.clear();
        // A file of the kernel may have content although its size is 0.
        if !self.are_wanted() || input.size() == 0 || input.size() > self.max_file_bytes {
            return;
        }
        if self.of == Ngrams::Text && !is_text(input) {
            return;
        }
        // The extraction reports what cannot be read.
        let covers = match input.preload().map(|()| input.in_memory()) {
            Ok(Some(bytes)) => Ok(add_bytes(&mut taken.set, bytes)),
            Ok(None) => {
                let pieces = || Pieces::with_ngrams(self.slot_bytes / PIECE_GRAM_BYTES);
                add_file(
                    &mut taken.set,
                    taken.pieces.get_or_insert_with(pieces),
                    file,
                )
            }
            Err(error) => Err(error),
        };
        match covers {
            Ok(covers) => taken.covers = covers,
            Err(_) => taken.clear(),
        }
    }

    /// Adds the text of a file's own document.
    pub(crate) fn own(&self, taken: &mut FileNgrams, document: &Document) {
        let has_text = match self.of {
            Ngrams::None => false,
            Ngrams::Text => taken.covers.start,
            Ngrams::All => true,
        };
        if !has_text {
            return;
        }
        taken.covers.text = !ocr::is_textless(document);
        let body = document.body.as_bytes();
        let is_the_file = body.len() <= WHOLE_BYTES
            && document.content == Some(XxHash3_64::oneshot_with_seed(self.seed, body));
        if !(is_the_file && taken.covers.start) {
            add_text(&mut taken.set, body);
        }
    }

    /// Takes the bytes of a file from the text of its own document, and returns true, if they are the same.
    pub(crate) fn of_text(&self, taken: &mut FileNgrams, document: &Document) -> bool {
        let body = document.body.as_bytes();
        let is_the_file = (1..=WHOLE_BYTES).contains(&body.len())
            && document.content == Some(XxHash3_64::oneshot_with_seed(self.seed, body));
        taken.clear();
        if is_the_file && self.are_wanted() {
            taken.covers = add_bytes(&mut taken.set, body);
            self.own(taken, document);
        }
        is_the_file
    }

    /// Ends a file. If it has parts, n-grams of the text cover all parts or none.
    pub(crate) fn end(
        &self,
        taken: &mut FileNgrams,
        file: &FileFacts<'_>,
        token: Token,
        has_parts: bool,
    ) -> Result<(), Error> {
        taken.covers.text &= self.of == Ngrams::All || !has_parts;
        self.add(taken, file, token, "")
    }

    /// Adds a file of which nothing is known but its existence.
    pub(crate) fn unread(&self, file: &FileFacts<'_>, token: Token) -> Result<(), Error> {
        self.add(&FileNgrams::default(), file, token, "")
    }

    /// Adds a part of a file.
    pub(crate) fn part(
        &self,
        taken: &mut FileNgrams,
        document: &Document,
        file: &FileFacts<'_>,
        token: Token,
    ) -> Result<(), Error> {
        if self.of != Ngrams::All || document.body.is_empty() && !ocr::is_textless(document) {
            return Ok(());
        }
        taken.clear();
        taken.covers.text = !ocr::is_textless(document);
        add_text(&mut taken.set, document.body.as_bytes());
        self.add(taken, file, token, document.ipath.as_str())
    }

    fn add(
        &self,
        taken: &FileNgrams,
        file: &FileFacts<'_>,
        token: Token,
        inside: &str,
    ) -> Result<(), Error> {
        if !self.are_wanted() {
            return Ok(());
        }
        let version = Version::new(file.key, token);
        let mut slot = self.free_slot();
        slot.add(version, file.path, inside, taken.covers, &taken.set);
        if let Some(pieces) = &taken.pieces {
            slot.pieces(pieces);
        }
        if slot.is_full(self.slot_bytes) {
            self.store()?.write_ahead(&mut slot)?;
        }
        Ok(())
    }

    /// Returns an unused builder, if there is one.
    fn free_slot(&self) -> std::sync::MutexGuard<'_, Builder> {
        let free = self.slots.iter().find_map(|slot| slot.try_lock().ok());
        free.unwrap_or_else(|| lock(&self.slots[0]))
    }

    fn store(&self) -> Result<&Store, Error> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let _guard = lock(&self.opening);
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let store = Store::open(&self.folder, &self.named, ken_index::map)?;
        Ok(self.store.get_or_init(|| store))
    }

    /// Writes everything that was added, before the commit that has the files. Returns the segments
    /// for the commit to name; those of earlier runs are included only with `keeps_earlier`. Small
    /// segments are merged before the `last` commit of a run, so that no second commit is needed to
    /// name the merged ones.
    pub(crate) fn flush(&self, keeps_earlier: bool, last: bool) -> Result<BTreeSet<u64>, Error> {
        let store = self.store()?;
        let write = |slot| -> io::Result<()> {
            let mut builder = lock(slot);
            store.write(&mut builder)?;
            if last {
                // Nothing more is added, and the following work needs memory.
                *builder = Builder::default();
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let writing: Vec<_> = (self.slots.iter())
                .map(|slot| scope.spawn(move || write(slot)))
                .collect();
            writing.into_iter().try_for_each(|thread| {
                let outcome = thread.join();
                outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        store.settle()?;
        if !keeps_earlier {
            store.forget_earlier();
        }
        // If the merge fails, the segments stay, and the merge after the commit reports it.
        if last {
            _ = store.merge_small(self.slots.len());
        }
        // Segments written meanwhile are not synced by it.
        let files = store.files();
        store.sync()?;
        Ok(files)
    }

    /// Merges segments, without the facts that the last commit does not know. Returns the segments
    /// if they changed; the next commit names them.
    pub(crate) fn merge(&self, index: &Path) -> Result<Option<BTreeSet<u64>>, Error> {
        let store = self.store()?;
        let mut failed = None;
        let merged = store.merge(self.slots.len(), || {
            let versions = Snapshot::open(index).and_then(|snapshot| Versions::of(&snapshot));
            let versions = versions.map_err(|error| {
                failed = Some(error);
                io::Error::from(io::ErrorKind::Other)
            })?;
            Ok(move |version: Version| versions.knows(version))
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if !merged? {
            return Ok(None);
        }
        let files = store.files();
        store.sync()?;
        Ok(Some(files))
    }

    /// Deletes the segments that the last commit does not name.
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        Ok(self.store()?.sweep()?)
    }
}

/// Returns whether a file is plain text or source code. Web pages are mostly searched for their
/// text.
fn is_text(input: &mut Input<'_>) -> bool {
    input.detect().is_ok_and(|found| match found.media_type {
        "text/html" => false,
        "application/json" | "application/xml" => true,
        other => found.kind == Kind::Source || other.starts_with("text/"),
    })
}

/// Adds all bytes of a file. UTF-16 is added as it is searched by lines, so it is not covered for
/// searches in the bytes of whole files.
fn add_bytes(set: &mut NgramSet, bytes: &[u8]) -> Covers {
    let decoded;
    let mut is_decoded = false;
    let bytes = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, length)) if encoding != encoding_rs::UTF_8 => {
            decoded = encoding.decode_without_bom_handling(&bytes[length..]).0;
            is_decoded = true;
            decoded.as_bytes()
        }
        _ => bytes,
    };
    let end = memchr::memchr(0, bytes);
    set.add(&bytes[..end.unwrap_or(bytes.len())]);
    Covers {
        start: true,
        whole: end.is_none() && !is_decoded,
        text: false,
    }
}

/// Adds the bytes of a large file, with its pieces if it has no 0. A file in UTF-16 is not covered.
fn add_file(set: &mut NgramSet, pieces: &mut Pieces, file: &File) -> io::Result<Covers> {
    let mut buffer = vec![0; FIRST_BYTES];
    let mut at = 0;
    loop {
        let n = match file.read_at(&mut buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let bytes = &buffer[..n];
        if at == 0 && matches!(bytes, [0xfe, 0xff, ..] | [0xff, 0xfe, ..]) {
            return Ok(Covers::default());
        }
        let end = memchr::memchr(0, bytes);
        pieces.add(&bytes[..end.unwrap_or(n)], set);
        if n == 0 || end.is_some() || set.is_full() {
            pieces.end(set);
            if end.is_some() {
                pieces.clear();
            }
            return Ok(Covers {
                start: true,
                whole: end.is_none(),
                text: false,
            });
        }
        at += n as u64;
        buffer.resize(READ_BYTES, 0);
    }
}

/// Adds extracted text.
fn add_text(set: &mut NgramSet, text: &[u8]) {
    for part in text.split(|byte| *byte == 0) {
        set.add(part);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn covers(start: bool, whole: bool) -> Covers {
        Covers {
            start,
            whole,
            text: false,
        }
    }

    fn of_file(bytes: &[u8]) -> (NgramSet, Covers) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut set = NgramSet::default();
        let covers = add_file(&mut set, &mut Pieces::with_ngrams(1 << 20), &file).unwrap();
        (set, covers)
    }

    /// Returns the segment of one document with these n-grams.
    fn written(set: &NgramSet) -> Vec<u8> {
        let mut builder = Builder::default();
        let of = Version { key: 1, stamp: 1 };
        builder.add(of, Path::new("/a"), "", Covers::default(), set);
        builder.finish(Vec::new()).unwrap()
    }

    #[test]
    fn large_files_are_read_in_pieces() {
        let mut text: Vec<u8> = (0..1_000_000_u64)
            .map(|n| (n * n / 7 % 90 + 33) as u8)
            .collect();
        text.extend(b"{|}~");
        let (set, all) = of_file(&text);
        assert_eq!(all, covers(true, true));
        let mut whole = NgramSet::default();
        assert_eq!(add_bytes(&mut whole, &text), covers(true, true));
        assert_eq!(written(&set), written(&whole));

        let mut binary = text.clone();
        binary[500_000] = 0;
        let (set, start) = of_file(&binary);
        assert_eq!(start, covers(true, false));
        let mut before = NgramSet::default();
        add_bytes(&mut before, &binary);
        assert_eq!(written(&set), written(&before));
        assert_ne!(written(&set), written(&whole));
        assert_eq!(of_file(b"\xff\xfea\0").1, covers(false, false));
    }

    #[test]
    fn utf_16_is_taken_as_it_is_searched() {
        let mut wide = b"\xff\xfe".to_vec();
        wide.extend("Größe\n".encode_utf16().flat_map(u16::to_le_bytes));
        let (mut decoded, mut plain) = (NgramSet::default(), NgramSet::default());
        assert_eq!(add_bytes(&mut decoded, &wide), covers(true, false));
        add_bytes(&mut plain, "Größe\n".as_bytes());
        assert_eq!(written(&decoded), written(&plain));
    }
}
