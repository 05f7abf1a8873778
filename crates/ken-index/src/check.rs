//! Whether the files of an index are as they were written, and what to do if they are not.
//!
//! The engine ends each of its files with a checksum, which nobody compares when the file is opened: that
//! would read all of it. Here all are read. What is damaged of a segment damages all its documents, since
//! each of its files tells of each of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;
use tantivy::directory::INDEX_WRITER_LOCK;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentComponent;
use tantivy::{Directory, Index, SegmentMeta};

use crate::directory::{LIST, WriteDirectory};
use crate::snapshot::open_engine;
use crate::{Error, Meta, dictionary};

/// How often it is looked again when there is a newer commit than the one that was checked.
const MAX_TRIES: usize = 20;

/// What was found wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its name in the folder of the index.
    pub file: PathBuf,
    /// What is wrong.
    pub message: String,
    /// How many documents are in doubt; 0 if it can be made again without reading any.
    pub documents: u32,
    /// The segment that it is a part of, as the list of segments names it.
    segment: Option<String>,
}

/// What was found of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soundness {
    /// Files that were read.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong with them.
    pub damages: Vec<Damage>,
}

/// A file that an index cannot do without, or a list of terms.
struct Part<'m> {
    file: PathBuf,
    segment: &'m SegmentMeta,
    is_list: bool,
}

/// Reads all files that the last commit of an index names, by so many threads, and compares them with their
/// checksums.
///
/// # Errors
/// Fails if the commit itself cannot be read.
pub fn check(path: &Path, threads: usize) -> Result<Soundness, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let list = fs_err::read(path.join(LIST)).ok();
        let found = check_commit(path, threads)?;
        // A writer deletes files that its next commit does not name.
        if found.damages.is_empty()
            || tries == MAX_TRIES
            || fs_err::read(path.join(LIST)).ok() == list
        {
            return Ok(found);
        }
    }
}

fn check_commit(path: &Path, threads: usize) -> Result<Soundness, Error> {
    let (_, index, _) = open_engine(path)?;
    let metas = index.searchable_segment_metas();
    let metas = metas.map_err(|source| Error::Engine {
        path: path.to_path_buf(),
        source,
    })?;
    let parts: Vec<Part<'_>> = metas.iter().flat_map(parts).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Soundness::default());
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (n_bytes, message) = examine(&index, part);
            let mut found = found
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            found.files += usize::from(n_bytes.is_some());
            found.bytes += n_bytes.unwrap_or(0);
            found.damages.extend(message.map(|message| Damage {
                file: part.file.clone(),
                message,
                documents: if part.is_list {
                    0
                } else {
                    part.segment.num_docs()
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
    let mut found = found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    found.damages.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

fn parts(segment: &SegmentMeta) -> Vec<Part<'_>> {
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
    let part = |file, is_list| Part {
        file,
        segment,
        is_list,
    };
    let files = components.into_iter();
    let files = files.map(|component| part(segment.relative_path(component), false));
    let list = part(dictionary::list_of(segment.id()), true);
    files.chain([list]).collect()
}

/// Returns how long a file is, if it is there, and what is wrong with it.
fn examine(index: &Index, part: &Part<'_>) -> (Option<u64>, Option<String>) {
    let directory = index.directory();
    if part.is_list {
        // It may not be there, and its end is not the engine's.
        return match directory.atomic_read(&part.file) {
            Ok(bytes) => {
                let is_sound = dictionary::is_sound(&bytes);
                (Some(bytes.len() as u64), (!is_sound).then(other_checksum))
            }
            Err(OpenReadError::FileDoesNotExist(_)) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
    }
    // Also tells of an end that names another format.
    let opened = directory.open_read(&part.file);
    let n_bytes = opened
        .as_ref()
        .ok()
        .map(|file| tantivy_common::HasLen::len(file) as u64);
    let message = match opened.and_then(|_| directory.validate_checksum(&part.file)) {
        Ok(true) => None,
        Ok(false) => Some(other_checksum()),
        Err(OpenReadError::FileDoesNotExist(_)) => Some("it is gone".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    (n_bytes, message)
}

fn other_checksum() -> String {
    "its checksum is of another content".to_owned()
}

/// Takes damaged files out of an index: segments with all their documents, in one commit that says so, and
/// lists of terms. The next run reads the files of these documents again.
///
/// # Errors
/// Fails if another process writes the index, or it cannot be written.
pub fn drop_damaged(path: &Path, damages: &[Damage]) -> Result<(), Error> {
    let lists = damages.iter().filter(|damage| damage.segment.is_none());
    for list in lists {
        fs_err::remove_file(path.join(&list.file))?;
    }
    let segments: BTreeSet<&str> = damages
        .iter()
        .filter_map(|damage| damage.segment.as_deref())
        .collect();
    if segments.is_empty() {
        return Ok(());
    }
    let engine_error = |source| Error::Engine {
        path: path.to_path_buf(),
        source,
    };
    let directory = WriteDirectory::open(path).map_err(engine_error)?;
    let _lock = directory
        .acquire_lock(&INDEX_WRITER_LOCK)
        .map_err(|_| Error::Busy(path.to_path_buf()))?;
    // Under the lock: nobody commits meanwhile.
    let meta = Meta {
        parts_lost: true,
        all_seen: false,
        began: None,
        ..Meta::read(path)?
    };
    let list = directory.atomic_read(Path::new(LIST));
    let list = list.map_err(|error| engine_error(error.into()))?;
    let list = without(&list, &segments, &meta).ok_or_else(|| Error::Damaged {
        path: path.to_path_buf(),
        message: "its list of segments has another form".to_owned(),
    })?;
    Ok(directory.atomic_write(Path::new(LIST), &list)?)
}

/// Returns the list of segments without some of them, and with another meta.
fn without(list: &[u8], segments: &BTreeSet<&str>, meta: &Meta) -> Option<Vec<u8>> {
    let mut list: Json = serde_json::from_slice(list).ok()?;
    list.get_mut("segments")?.as_array_mut()?.retain(|segment| {
        let id = segment
            .get("segment_id")
            .and_then(Json::as_str)
            .unwrap_or_default();
        // Written with hyphens there, without in the names of files.
        !segments.contains(id.replace('-', "").as_str())
    });
    *list.get_mut("payload")? = Json::String(serde_json::to_string(meta).ok()?);
    serde_json::to_vec_pretty(&list).ok()
}
