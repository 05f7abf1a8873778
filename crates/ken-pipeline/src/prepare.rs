//! The first stage of a run: everything that is known before it looks at a file.
//!
//! The stage opens the last commit and compares it with the current settings: the extraction
//! profile, tags given since, missing n-grams, and added and forgotten roots.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ken_core::{
    Field, FileKey, FileRow, KeyHasher, Order, Pattern, Plan, Profile, Root, Span, Token,
    escape_bytes,
};
use ken_engine::{Meta, Source};
use ken_index::Snapshot;
use ken_index::layout::index_folder;
use ken_walk::Catalogue;

use crate::access::Access;
use crate::ngrams::missing::MissingNgrams;
use crate::options::{afford, share_machine};
use crate::replace;
use crate::roots;
use crate::stale::{self, Now, Staleness};
use crate::tags::{self, Log};
use crate::{Error, Ngrams, Options, RootChange};

/// A folder that changed this short a time before a run began may have changed after it.
pub(crate) const CLOCK_MARGIN_NS: i64 = 2_000_000_000;
/// A lazy run looks for at most this many files that are tried again.
const MAX_UNSETTLED: usize = 1_000;

/// Where a run looks that is lazy.
pub(crate) struct Lazy {
    /// Folders that changed since, in nanoseconds since 1970-01-01 UTC.
    pub(crate) since: i64,
    /// These folders, whether they changed or not.
    pub(crate) again: HashSet<PathBuf>,
}
/// From this number of files on, reading all rows is faster than looking up each file.
const MANY_FILES: usize = 2_000;

/// The files that a run looks at.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'s> {
    /// All files below the roots.
    All,
    /// These files, and all files at and below these folders, whether they still exist or not.
    Paths(&'s [PathBuf]),
}

/// What is known before a run looks at a file.
pub(crate) struct Prepared<'s> {
    pub(crate) options: Options,
    pub(crate) scope: Scope<'s>,
    /// The last commit.
    pub(crate) snapshot: Option<Arc<dyn Source>>,
    pub(crate) stale: Staleness,
    pub(crate) roots: Vec<Root>,
    pub(crate) tags: Log,
    /// Files of messages with tags that the log may no longer hold: the files are read again.
    tagged: HashSet<FileKey>,
    /// Start of the run, in nanoseconds since 1970-01-01 UTC.
    pub(crate) began: i64,
    pub(crate) roots_changed: bool,
    /// Whether no run with these roots has come to its end.
    pub(crate) never_ended: bool,
    /// N-grams of earlier runs that are missing.
    pub(crate) missing_ngrams: Option<MissingNgrams>,
    /// Who may read files, if the index keeps that.
    pub(crate) access: Option<Access>,
}

impl Scope<'_> {
    pub(crate) fn is_all(self) -> bool {
        matches!(self, Self::All)
    }

    /// Returns how many of `most` threads have something to do.
    fn threads(self, most: usize, tags: &Log) -> usize {
        let Self::Paths(paths) = self else {
            return most;
        };
        let mounts = ken_walk::Mounts::read();
        // What may not answer is not asked.
        let is_folder = |path: &PathBuf| mounts.are_above(path) || path.is_dir();
        if paths.iter().any(is_folder) {
            return most;
        }
        let n_jobs = paths.len() + tags.n_pending().div_ceil(tags::MESSAGES_AT_ONCE);
        most.min(n_jobs).max(1)
    }
}

impl<'s> Prepared<'s> {
    /// Opens the last commit and applies the changes of roots. With `full`, an index in another
    /// format is replaced by an empty one.
    pub(crate) fn load(
        options: &Options,
        changes: &[RootChange],
        scope: Scope<'s>,
    ) -> Result<Self, Error> {
        let index = index_folder(&options.data);
        let snapshot = open(options, changes, scope, &index)?;
        let known = snapshot.as_deref().map(Source::meta);
        let mut options = fitted(options, known)?;
        let now = now(&options);
        let mut stale = Staleness::new(known, &now);
        if let Some(snapshot) = snapshot.as_deref()
            && scope.is_all()
        {
            stale.look(snapshot, now.helpers, options.retry_failed)?;
        }
        let known_tags = known.map_or((0, 0), |meta| (meta.tags, meta.tags_hash));
        let tags = Log::read(&options, known_tags)?;
        options.threads = scope.threads(options.threads, &tags);
        let tagged = match &snapshot {
            Some(snapshot) if tags.is_another => tags::tagged(&**snapshot)?,
            _ => HashSet::new(),
        };
        let missing_ngrams = match known {
            Some(meta) if options.ngrams != Ngrams::None => MissingNgrams::of(&index, meta)?,
            _ => None,
        };
        let access = match options.access {
            true => Some(Access::load(snapshot.as_ref(), scope.is_all())?),
            false => None,
        };
        let mut roots = known.map(|meta| meta.roots.clone()).unwrap_or_default();
        roots::change(&mut roots, changes, &options)?;
        note_mounts(&mut roots);
        Ok(Self {
            roots_changed: known.is_none_or(|meta| meta.roots != roots),
            never_ended: known.is_none_or(|meta| !meta.all_seen),
            options,
            scope,
            snapshot,
            stale,
            roots,
            tags,
            tagged,
            began: nanoseconds(SystemTime::now()),
            missing_ngrams,
            access,
        })
    }

    /// Returns the folder of the index.
    pub(crate) fn index(&self) -> PathBuf {
        index_folder(&self.options.data)
    }

    /// Returns the metadata of the last commit.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        self.snapshot.as_deref().map(Source::meta)
    }

    /// Returns the hasher for keys of files, if there is an index.
    pub(crate) fn hasher(&self) -> Option<KeyHasher> {
        self.meta().map(|meta| meta.hasher)
    }

    /// Returns whether a file in the index is read again although it did not change.
    pub(crate) fn is_stale(&self, path: &Path, row: &FileRow) -> bool {
        let missing = self.missing_ngrams.as_ref();
        self.stale.reason(path, row).is_some()
            || self.tagged.contains(&row.key)
            || missing.is_some_and(|missing| missing.may_hold(self.snapshot.as_deref(), row))
    }

    /// Returns whether this run may store something else of a file that it cannot open, too.
    pub(crate) fn reads_otherwise(&self) -> bool {
        self.options.full || self.stale.has_earlier()
    }

    /// Returns whether a file in the index is read again whatever its stamp.
    pub(crate) fn reads_again(&self, path: &Path, row: &FileRow) -> bool {
        self.options.full || self.is_stale(path, row)
    }

    /// Returns which folders are looked at; none if all are.
    pub(crate) fn lazy(
        &self,
        catalogue: &Catalogue,
        reads_otherwise: impl FnOnce() -> bool,
    ) -> Option<Lazy> {
        let options = &self.options;
        let is_asked = options.lazy && !options.full && !options.retry_failed;
        // Files to be read again may be anywhere.
        let is_asked = is_asked
            && self.scope.is_all()
            && self.tagged.is_empty()
            && self.missing_ngrams.is_none();
        if !is_asked || self.roots_changed || reads_otherwise() {
            return None;
        }
        let meta = self.meta()?;
        let began = meta.began.filter(|_| meta.under_way.is_none())?;
        // If the clock was set back since, nothing is known about changes.
        let since = (began < self.began).then_some(began - CLOCK_MARGIN_NS)?;
        let again = self.folders_of_unsettled(catalogue)?;
        Some(Lazy { since, again })
    }

    /// Returns the folders of the files that are tried again; none if they are too many, or one is not known.
    fn folders_of_unsettled(&self, catalogue: &Catalogue) -> Option<HashSet<PathBuf>> {
        let unsettled: Vec<FileKey> = catalogue.unsettled().take(MAX_UNSETTLED + 1).collect();
        if unsettled.is_empty() {
            return Some(HashSet::new());
        }
        if unsettled.len() > MAX_UNSETTLED {
            return None;
        }
        let paths = self.snapshot.as_ref()?.files().paths(&unsettled).ok()?;
        let folder = |path: Option<PathBuf>| Some(path?.parent()?.to_path_buf());
        paths.into_iter().map(folder).collect()
    }

    /// Returns the rows of the files in the scope.
    pub(crate) fn known_files(&self) -> Result<Vec<FileRow>, Error> {
        let Some(snapshot) = self.snapshot.as_deref() else {
            return Ok(Vec::new());
        };
        let paths = match self.scope {
            Scope::All => return Ok(snapshot.files().rows()?),
            Scope::Paths(paths) => paths,
        };
        let mut keys: Vec<FileKey> = Vec::with_capacity(paths.len());
        for path in paths {
            let key = snapshot.meta().hasher.key(path);
            keys.push(key);
            // Nothing lies below a file.
            if snapshot.files().documents_of(key)?.is_empty() {
                files_below(snapshot, path, &mut keys)?;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        if keys.len() > MANY_FILES {
            let mut rows = snapshot.files().rows()?;
            rows.retain(|row| keys.binary_search(&row.key).is_ok());
            return Ok(rows);
        }
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            rows.extend(row(snapshot, key)?);
        }
        Ok(rows)
    }
}

/// Returns the row of a file; parts of a file that was not indexed completely get an unknown token.
fn row(snapshot: &dyn Source, key: FileKey) -> Result<Option<FileRow>, Error> {
    let addresses = snapshot.files().documents_of(key)?;
    if let Some((_, row)) = snapshot.files().row_among(key, &addresses)? {
        return Ok(Some(row));
    }
    Ok((!addresses.is_empty()).then_some(FileRow {
        key,
        token: Token::UNFINISHED,
        identity: 0,
    }))
}

/// Adds the keys of the known files below a folder.
fn files_below(snapshot: &dyn Source, folder: &Path, keys: &mut Vec<FileKey>) -> Result<(), Error> {
    let plan = Plan::Span {
        field: Field::Dir,
        span: names_of(folder),
    };
    let found = snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
    for hit in found.hits {
        let path = snapshot.location(hit.address)?.path;
        // The same names may also occur further down in a path.
        if path.starts_with(folder) {
            keys.push(snapshot.meta().hasher.key(&path));
        }
    }
    Ok(())
}

/// Returns the names in an absolute path, in the form in which the index stores the folder of a
/// document.
fn names_of(folder: &Path) -> Span {
    let names = folder.iter().map(|name| match name.as_bytes() {
        b"/" => Pattern::Term("/".to_owned()),
        name => Pattern::Term(escape_bytes(name).into_owned()),
    });
    let mut names: Vec<(u32, Pattern)> = (0..).zip(names).collect();
    match names.len() {
        1 => Span::Match(names.remove(0).1),
        _ => Span::Phrase(names),
    }
}

fn open(
    options: &Options,
    changes: &[RootChange],
    scope: Scope<'_>,
    index: &Path,
) -> Result<Option<Arc<dyn Source>>, Error> {
    if options.engine.is_some() {
        return match options.source() {
            Err(ken_engine::Error::Missing(_)) => Ok(None),
            opened => Ok(Some(opened?)),
        };
    }
    let is_new = options.full && scope.is_all() && !options.dry_run;
    match open_sound(options, index) {
        Ok(snapshot) => Ok(Some(Arc::new(snapshot))),
        Err(ken_engine::Error::Missing(_)) => Ok(None),
        Err(error @ (ken_engine::Error::Version { .. } | ken_engine::Error::Damaged { .. }))
            if is_new =>
        {
            let mut roots = ken_index::salvage_roots(index).unwrap_or_default();
            // A mistake in the changes leaves the index unchanged.
            let kept = roots.clone();
            roots::change(&mut roots, changes, options)?;
            if roots.is_empty() {
                return Err(error.into());
            }
            replace::replace(index, kept)?;
            Ok(Some(Arc::new(Snapshot::open(index)?)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens the last commit. A run that may write drops damaged segments first, and reads their files again.
fn open_sound(options: &Options, index: &Path) -> Result<Snapshot, ken_engine::Error> {
    let drop_damaged = || match ken_index::drop_damaged(index) {
        // The open writer of this process does not know the damage; the next run drops it.
        Err(ken_engine::Error::Busy(_)) => Ok(false),
        dropped => dropped,
    };
    if !options.dry_run {
        drop_damaged()?;
    }
    let snapshot = Snapshot::open(index)?;
    match snapshot.n_left_out() > 0 && !options.dry_run && drop_damaged()? {
        true => Snapshot::open(index),
        false => Ok(snapshot),
    }
}

/// Returns how files are read with fitted options, for an index that was there before.
pub(crate) fn profile(options: &Options, known: &Meta) -> Profile {
    now(options).profile(Some(&known.profile))
}

fn now(options: &Options) -> Now<'_> {
    Now {
        folders: &options.folders,
        helpers: options.extract.helpers.as_deref(),
        limits: &options.extract.limits,
        knows_passwords: true,
    }
}

/// Assigns custom fields to their fields in the index, and lowers the limits to what the memory
/// allows.
pub(crate) fn fitted(options: &Options, known: Option<&Meta>) -> Result<Options, Error> {
    let mut options = options.clone();
    share_machine(&mut options);
    if options.engine.is_some() {
        // They lie beside an index in the data folder.
        options.ngrams = Ngrams::None;
    }
    let limits = &mut options.extract.limits;
    afford(limits, options.memory_bytes);
    limits.headers = stale::custom_fields(limits, known).map_err(Error::Headers)?;
    Ok(options)
}

/// Records which roots are mount points, while a file system is mounted there.
fn note_mounts(roots: &mut [Root]) {
    for root in roots {
        root.mounted |= ken_walk::is_mount_point(&root.path);
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
