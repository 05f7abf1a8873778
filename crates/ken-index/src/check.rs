//! Checks whether the files of an index are as they were written, and takes out what is not.
//!
//! The engine ends each of its files with a checksum. Opening a file does not compare it, since that would read
//! the whole file; this check does. A damaged file of a segment damages all documents of the segment, since each
//! file of a segment has data of each document.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ken_core::Root;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::directory::{FileSlice, INDEX_WRITER_LOCK};
use tantivy::index::SegmentComponent;
use tantivy::{Directory, SegmentMeta};
use tantivy_common::HasLen;

use crate::damage::{self, Segments};
use crate::directory::{ReadDirectory, WriteDirectory};
use crate::layout::COMMIT_FILE;
use crate::meta::Payload;
use crate::open::{Access, open_engine};
use crate::{Error, dictionary, error, layout};

/// The maximum number of further checks if there is a newer commit than the one that was checked.
const MAX_TRIES: usize = 20;

/// A damaged file of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its name in the folder of the index.
    pub file: PathBuf,
    /// The damage.
    pub message: String,
    /// The number of documents in doubt; 0 if the file can be made again without reading documents.
    pub documents: u32,
    /// The segment that it is a part of, as the list of segments names it.
    segment: Option<String>,
    /// Whether the file's bytes are wrong; otherwise it could not be read, which may pass.
    is_certain: bool,
}

/// The result of a check of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soundness {
    /// The number of files that were read.
    pub files: usize,
    /// The number of their bytes.
    pub bytes: u64,
    /// The damaged ones.
    pub damages: Vec<Damage>,
}

/// A file that an index cannot do without, or a list of terms.
struct IndexFile {
    file: PathBuf,
    segment: SegmentMeta,
    is_list: bool,
    /// The whole file, mapped, so that it stays when a writer deletes it. A list may be missing.
    opened: Result<FileSlice, OpenReadError>,
}

impl IndexFile {
    fn is_gone(&self) -> bool {
        match &self.opened {
            Err(OpenReadError::FileDoesNotExist(_)) => true,
            // Readers report missing positions so.
            Err(OpenReadError::IoError { io_error, .. }) => {
                io_error.kind() == io::ErrorKind::NotFound
            }
            _ => false,
        }
    }
}

/// Reads all files that the last commit of an index names, on this many threads, and compares them with their
/// checksums. Other processes may write at the same time.
///
/// # Errors
/// Fails if the commit itself cannot be read.
pub fn check(path: &Path, threads: usize) -> Result<Soundness, Error> {
    let parts = open_parts(path)?;
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Soundness::default());
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let message = examine(part);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = &part.opened {
                found.files += 1;
                found.bytes += file.len() as u64;
            }
            found
                .damages
                .extend(message.map(|(message, is_certain)| Damage {
                    file: part.file.clone(),
                    message,
                    is_certain,
                    documents: match part.is_list {
                        true => 0,
                        false => part.segment.num_docs(),
                    },
                    segment: (!part.is_list).then(|| part.segment.id().uuid_string()),
                }));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.damages.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

/// Makes sure that all files that the last commit names are there, without reading them: the folder may have been deleted
/// while a run wrote it.
///
/// # Errors
/// Fails with [`Error::Missing`] if there is no commit, and with [`Error::Damaged`] if a file is gone.
pub fn verify_presence(path: &Path) -> Result<(), Error> {
    let parts = open_parts(path)?;
    match parts.iter().find(|part| part.is_gone() && !part.is_list) {
        None => Ok(()),
        Some(part) => Err(Error::Damaged {
            path: path.to_path_buf(),
            message: format!("another program deleted \"{}\"", part.file.display()),
        }),
    }
}

/// Opens all files of the last commit; of a newer one if a writer deletes some meanwhile.
fn open_parts(path: &Path) -> Result<Vec<IndexFile>, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let list = fs_err::read(path.join(COMMIT_FILE)).ok();
        let (directory, index, _) = open_engine(path, Access::ManyQueries, &Segments::new())?;
        let metas = index.searchable_segment_metas();
        let metas = metas.map_err(|source| error::of_opening(path, source))?;
        let parts: Vec<IndexFile> = metas
            .iter()
            .flat_map(|meta| parts(&directory, meta))
            .collect();
        let is_one_gone = parts.iter().any(|part| part.is_gone() && !part.is_list);
        let is_newer = || fs_err::read(path.join(COMMIT_FILE)).ok() != list;
        if !is_one_gone || tries == MAX_TRIES || !is_newer() {
            return Ok(parts);
        }
    }
}

fn parts(directory: &ReadDirectory, segment: &SegmentMeta) -> Vec<IndexFile> {
    let mut components = vec![
        SegmentComponent::Postings,
        SegmentComponent::Positions,
        SegmentComponent::FastFields,
        SegmentComponent::FieldNorms,
        SegmentComponent::Terms,
        SegmentComponent::Store,
    ];
    if segment.has_deletes() {
        components.push(SegmentComponent::Delete);
    }
    let part = |file: PathBuf, is_list| IndexFile {
        opened: directory.open_read(&file),
        file,
        segment: segment.clone(),
        is_list,
    };
    let files = components.into_iter();
    let files = files.map(|component| part(segment.relative_path(component), false));
    let list = part(layout::term_list(segment.id()), true);
    files.chain([list]).collect()
}

/// Returns what is wrong with a file, if anything is, and whether that is certain.
fn examine(part: &IndexFile) -> Option<(String, bool)> {
    let file = match &part.opened {
        Ok(file) => file,
        Err(_) if part.is_gone() => {
            return (!part.is_list).then(|| ("it is gone".to_owned(), true));
        }
        Err(OpenReadError::IoError { io_error, .. }) => {
            return Some((io_error.to_string(), is_damage(io_error)));
        }
        Err(error) => return Some((error.to_string(), true)),
    };
    let is_sound = match part.is_list {
        true => file.read_bytes().map(|bytes| dictionary::is_sound(&bytes)),
        false => is_as_written(file),
    };
    match is_sound {
        Ok(true) => None,
        Ok(false) => Some(("its checksum does not match".to_owned(), true)),
        Err(error) => Some((error.to_string(), is_damage(&error))),
    }
}

/// Returns whether an error says that a file's bytes are wrong, and not that the system refused to read them.
fn is_damage(error: &io::Error) -> bool {
    // The engine's own errors, such as a footer that is none, have no number of the system.
    error.raw_os_error().is_none()
        && !matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory
        )
}

/// Compares a file of the engine with the checksum at its end.
fn is_as_written(file: &FileSlice) -> io::Result<bool> {
    let (footer, body) = Footer::extract_footer(file.clone())?;
    // Only a damaged one names another format: the list of segments was read.
    footer
        .is_compatible()
        .map_err(|_| io::Error::other("another version of the engine wrote it"))?;
    Ok(crc32fast::hash(&body.read_bytes()?) == footer.crc)
}

/// Checks all files of an index on this many threads, and remembers damaged segments, so that readers leave them out.
/// Damaged lists of terms are deleted: they only make questions faster.
///
/// # Errors
/// Fails if the list of segments cannot be read.
pub fn note_damage(path: &Path, threads: usize) -> Result<Vec<Damage>, Error> {
    Ok(find(path, threads)?.0)
}

/// Does what [`note_damage`] does, and returns the names of all damaged segments too.
pub(crate) fn find(path: &Path, threads: usize) -> Result<(Vec<Damage>, Segments), Error> {
    let damages = check(path, threads)?.damages;
    let mut segments = damage::noted(path);
    for damage in damages.iter().filter(|damage| damage.is_certain) {
        match &damage.segment {
            Some(segment) => _ = segments.insert(segment.clone()),
            // Who may only read the index finds the same damage again.
            None => _ = dictionary::delete(&path.join(&damage.file)),
        }
    }
    if !segments.is_empty() {
        // The answer does not depend on it.
        let _ = damage::remember(path, &segments);
    }
    Ok((damages, segments))
}

/// Drops the segments that [`note_damage`] remembered from the index. The next run reads the files of their documents again.
/// Returns whether there were any.
///
/// # Errors
/// Fails if another process writes the index, or it cannot be written.
pub fn drop_damaged(path: &Path) -> Result<bool, Error> {
    let segments = damage::noted(path);
    if segments.is_empty() {
        return Ok(false);
    }
    drop_segments(path, &segments)?;
    damage::forget(path)?;
    Ok(true)
}

/// Takes segments with all their documents out of an index, in one commit that says so. The next run reads the files of
/// these documents again.
///
/// # Errors
/// Fails if another process writes the index, or it cannot be written.
fn drop_segments(path: &Path, segments: &Segments) -> Result<(), Error> {
    let engine_error = |source| error::engine_error(path, source);
    let directory = WriteDirectory::open(path).map_err(engine_error)?;
    let _lock = directory
        .acquire_lock(&INDEX_WRITER_LOCK)
        .map_err(|_| Error::Busy(path.to_path_buf()))?;
    // Under the lock no other process commits.
    let (_, _, commit) = open_engine(path, Access::ManyQueries, segments)?;
    let mut payload = commit.payload;
    let meta = &mut payload.meta;
    meta.parts_lost = true;
    meta.all_seen = false;
    meta.began = None;
    // No process has this number, so each compares all files.
    meta.under_way = Some(0);
    // Files that are read again from now on are known by their generation.
    meta.generation = meta.generation.checked_add(1).unwrap_or(1);
    if !meta.earlier.contains(&meta.profile) {
        meta.earlier.push(meta.profile.clone());
    }
    let list = directory.atomic_read(Path::new(COMMIT_FILE));
    let list = list.map_err(|error| engine_error(error.into()))?;
    let list = with_payload(&list, segments, &payload).ok_or_else(|| Error::Damaged {
        path: path.to_path_buf(),
        message: "its list of segments has an unknown format".to_owned(),
    })?;
    Ok(directory.atomic_write(Path::new(COMMIT_FILE), &list)?)
}

/// Returns the list of segments without some of them, and with another payload.
fn with_payload(list: &[u8], segments: &Segments, payload: &Payload) -> Option<Vec<u8>> {
    let (mut list, _) = damage::without(list, segments)?;
    *list.get_mut("payload")? = Json::String(payload.to_json());
    serde_json::to_vec_pretty(&list).ok()
}

/// Returns the roots in a damaged list of segments, if they can still be read.
pub fn salvage_roots(path: &Path) -> Option<Vec<Root>> {
    let bytes = fs_err::read(path.join(COMMIT_FILE)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let payload: String = value_after(&text, "\"payload\":")?;
    value_after(&payload, "\"roots\":")
}

/// Reads the value of a name wherever it stands: what is before and behind it may be damaged.
fn value_after<T: DeserializeOwned>(text: &str, name: &str) -> Option<T> {
    let (_, rest) = text.split_once(name)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    values.next()?.ok()
}
