//! Finds files that need no scan because an index says that they cannot match.
//!
//! This is the seam between the walk and the index of n-grams. For each file that the walk finds,
//! the search asks whether the file *certainly* has no match. "No" is always a correct answer, so a
//! file is scanned if the index does not know it, or knows it under another stamp.
//!
//! If the user trusts the index, or a server watches the files, stamps are not checked. If few files may
//! then match, the walk goes only to these, which keeps all its rules in force.

mod need;
mod request;
mod segment_table;
mod stat;
mod tables;
#[cfg(test)]
mod tests;
mod trust;
mod typed_paths;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr};
use std::iter;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_core::{FileKey, Stamp, Token};
use ken_engine::Meta;
pub use ken_ngram::Need;
use ken_ngram::{Candidates, Covers, Row, Segment};
use ken_walk::{FileSystems, KeptListing};

pub use request::{Request, Why};
pub use stat::LastFolder;
pub use tables::{IndexTables, Map};
use tables::{OpenTables, has_all};
pub use trust::Trust;
use typed_paths::TypedPaths;

use crate::pieces::{Around, Pieces};

/// The answers of an index for one pattern. Many threads use it at once, without a lock.
#[derive(Default)]
pub struct Prefilter {
    index: Option<IndexFilter>,
    why: Option<Why>,
}

/// The answer of an index that can rule out files.
struct IndexFilter {
    tables: Arc<OpenTables>,
    roots: TypedPaths,
    /// The candidates in each n-gram segment.
    candidates: Vec<Candidates>,
    reading: Reading,
    /// What is believed of files that have no stamp checked.
    trust: Trust,
    /// The targets of the walk, if it is limited to them.
    targets: Option<WalkTargets>,
}

/// How a file that may match is searched.
#[derive(Clone, Copy)]
struct Reading {
    /// Whether all bytes of a file must be covered, not only those before a NUL.
    whole: bool,
    /// Whether pieces of large files that have no matching line may be skipped, with the context
    /// lines.
    by_pieces: Option<Around>,
}

impl Reading {
    const WHOLE: Self = Self {
        whole: true,
        by_pieces: None,
    };
}

/// A file's current stamp, and its hash.
type Now = (Stamp, u64);

/// The answer of an index for a file.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The file certainly has no match.
    Excluded,
    /// The file may have a match; if pieces are given, only in some of them.
    MayMatch(Option<Pieces>),
}

/// The targets of the walk, in paths as the walk names them.
#[derive(Debug, Default)]
struct WalkTargets {
    all: HashSet<Vec<u8>>,
    /// The names in each folder.
    names: HashMap<Vec<u8>, Vec<CString>>,
}

/// An n-gram segment with its candidates.
#[derive(Clone, Copy)]
struct SegmentAnswer<'a> {
    segment: &'a Segment,
    candidates: &'a Candidates,
}

impl SegmentAnswer<'_> {
    fn may_match(&self, doc: u32) -> bool {
        self.candidates.contains(doc)
    }
}

/// What an index knows about the files in one folder.
pub(crate) struct InFolder<'a> {
    index: &'a IndexFilter,
    /// The folder's path, with a trailing separator.
    path: Vec<u8>,
    /// Whether stamps need no look, but for some names.
    is_trusted: bool,
    except: Vec<&'a [u8]>,
    /// Keys of the files that are looked up.
    keys: Vec<u64>,
    /// For each key, the start of its rows in the first n-gram segment that has any.
    found: Vec<Option<RowAddress>>,
}

/// The start of a file's rows.
#[derive(Clone, Copy)]
struct RowAddress {
    /// Index of the n-gram segment.
    segment: usize,
    row: usize,
}

/// Maximum share of candidates among all files for which a list is made.
const MAX_SHARE: usize = 8;

impl Prefilter {
    /// Creates a prefilter that knows no file.
    pub fn nothing() -> Self {
        Self::because(Why::NotAsked)
    }

    /// Creates a prefilter that knows no file, for a reason.
    pub fn because(why: Why) -> Self {
        Self {
            index: None,
            why: Some(why),
        }
    }

    /// Asks an index for the files that have what the request needs.
    ///
    /// # Errors
    /// Fails if the index exists but cannot be read.
    pub fn new(
        tables: &IndexTables,
        request: &Request<'_>,
        need: &Need,
    ) -> Result<Self, ken_engine::Error> {
        let walk = request.walk;
        let roots = TypedPaths::new(&walk.paths, &walk.working_folder);
        let trust = match walk.follow {
            true => Trust::Stamps,
            false => request.trust.clone(),
        };
        let reading = Reading {
            whole: request.needs_whole(),
            by_pieces: request.by_pieces(),
        };
        Self::ask(tables, need, roots, reading, trust)
    }

    /// Asks an index for files below these paths, whose bytes are searched unchanged and as a
    /// whole.
    ///
    /// # Errors
    /// Fails if the index exists but cannot be read.
    pub fn of_whole_files(
        tables: &IndexTables,
        need: &Need,
        paths: &[PathBuf],
        working_folder: &Path,
    ) -> Result<Self, ken_engine::Error> {
        match need {
            Need::Anything => Ok(Self::because(Why::Everything)),
            need => {
                let roots = TypedPaths::new(paths, working_folder);
                Self::ask(tables, need, roots, Reading::WHOLE, Trust::Stamps)
            }
        }
    }

    fn ask(
        tables: &IndexTables,
        need: &Need,
        roots: TypedPaths,
        reading: Reading,
        trust: Trust,
    ) -> Result<Self, ken_engine::Error> {
        let because = |why| Ok(Self::because(why));
        let tables = match tables.latest() {
            Ok(tables) => tables,
            Err(ken_engine::Error::Missing(_)) => return because(Why::NoIndex),
            Err(error) => return Err(error),
        };
        if tables.segments().is_empty() {
            return because(Why::NoNgrams);
        }
        let segments = tables.segments().iter();
        let candidates: Vec<_> = segments.map(|segment| segment.candidates(need)).collect();
        if candidates.iter().all(|those| those.docs().is_none()) {
            return because(match tables.is_damaged() {
                true => Why::Damaged,
                false => Why::Everything,
            });
        }
        let is_complete = tables.meta.all_seen && tables.is_complete;
        let is_trusted = is_complete
            && roots.are_below(&tables.meta.roots)
            && tables.has_sound_rows()
            && !tables.is_damaged()
            // A server vouches for what it knows, and a run that is under way may have deleted other files.
            && !(trust.is_watched() && tables.meta.under_way.is_some());
        let mut index = IndexFilter {
            // A row that is missing may be the one that says that a file matches.
            trust: if is_trusted { trust } else { Trust::Stamps },
            tables,
            roots,
            candidates,
            reading,
            targets: None,
        };
        if index.trust.is_any() {
            index.targets = index.targets();
            if index.tables.is_damaged() {
                // A name may be missing.
                (index.trust, index.targets) = (Trust::Stamps, None);
            }
        }
        Ok(Self {
            index: Some(index),
            why: None,
        })
    }

    /// Returns whether the prefilter knows no file, so that it need not be asked.
    pub fn is_empty(&self) -> bool {
        self.index.is_none()
    }

    /// Returns whether stamps are ignored.
    pub fn is_trusted(&self) -> bool {
        self.index
            .as_ref()
            .is_some_and(|index| index.trust.is_any())
    }

    /// Returns whether the file certainly has no match. Stats the file only if the answer depends
    /// on it. A file that the user named is `explicit`: it is also searched beyond a NUL.
    pub fn excludes(&self, path: &Path, explicit: bool, last: &mut LastFolder) -> bool {
        matches!(self.judge(path, explicit, last), Verdict::Excluded)
    }

    /// Returns the verdict on a file, like [`Self::excludes`].
    pub(crate) fn judge(&self, path: &Path, explicit: bool, last: &mut LastFolder) -> Verdict {
        let Some(index) = &self.index else {
            return Verdict::MayMatch(None);
        };
        let Some(path) = index.roots.absolute(path) else {
            return Verdict::MayMatch(None);
        };
        let now = LazyCell::new(|| index.now(last.stamp(&path)));
        let FileKey(key) = index.tables.meta.hasher.key(&path);
        // A server does not watch files that only the user names.
        let is_trusted = index.trust == Trust::User;
        let whole = index.reading.whole || explicit;
        index.judge(&index.rows(key), whole, is_trusted, &now)
    }

    /// Returns what is known about the files in a folder; none if nothing is.
    pub(crate) fn in_folder(&self, folder: &Path) -> Option<InFolder<'_>> {
        let index = self.index.as_ref()?;
        let path = index.roots.absolute(folder)?;
        let mut path = path.into_os_string().into_encoded_bytes();
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        let folder = Path::new(OsStr::from_bytes(match path.as_slice() {
            b"/" => b"/",
            path => &path[..path.len() - 1],
        }));
        Some(InFolder {
            is_trusted: index.trust.is_any() && !index.trust.excepts_all_in(folder),
            except: index.trust.excepted_names(folder),
            index,
            path,
            keys: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Returns the names in a folder that the walk needs to examine; none for all names.
    pub(crate) fn names_in(&self, folder: &Path) -> Option<&[CString]> {
        let index = self.index.as_ref()?;
        let targets = index.targets.as_ref()?;
        if index.trust.is_watched() {
            let absolute = index.roots.absolute(folder)?;
            if index.trust.excepts_all_in(&absolute) {
                return None;
            }
        }
        let names = targets.names.get(key(folder));
        Some(names.map_or(&[], Vec::as_slice))
    }

    /// Returns why files were excluded, or why none were, in a message for `--explain`.
    pub fn explain(&self) -> String {
        match self.why {
            Some(why) => why.to_string(),
            None if self.is_trusted() => {
                let who = match self
                    .index
                    .as_ref()
                    .is_some_and(|index| index.trust.is_watched())
                {
                    true => "ken serve watches the files",
                    false => "the index is trusted",
                };
                let also = match self.walks_only_to_targets() {
                    true => ", also with where to walk",
                    false => "",
                };
                format!("{who}{also}")
            }
            None => "the index knows what is excluded, as it is now".to_owned(),
        }
    }

    /// Returns whether the walk goes only to targets from the index.
    fn walks_only_to_targets(&self) -> bool {
        let index = self.index.as_ref();
        index.is_some_and(|index| index.targets.is_some())
    }

    /// Returns whether the n-grams of all texts in a commit are there. Otherwise, the text of a
    /// file may be known from a reading with other settings, and its parts not at all.
    pub fn knows_texts(&self, meta: &Meta) -> bool {
        let tables = self.index.as_ref().map(|index| &index.tables);
        tables.is_some_and(|tables| has_all(&tables.ngrams, meta) && tables.has_sound_rows())
    }

    /// Returns whether no text extracted from a file in this version has a match: neither its own
    /// text nor that of its parts, where texts are known ([`Self::knows_texts`]).
    pub fn excludes_text(&self, FileKey(key): FileKey, token: Token) -> bool {
        let Some(index) = &self.index else {
            return false;
        };
        let mut has_own = false;
        let rows = index.rows(key);
        for (row, segment) in rows.filter(|(row, _)| row.version.stamp == token.stamp_hash()) {
            if !row.covers.text || segment.may_match(row.doc) {
                return false;
            }
            has_own |= !row.is_part;
        }
        // Without an own row, the n-grams were never taken.
        has_own
    }
}

impl IndexFilter {
    /// Returns the rows of a file, each with its n-gram segment.
    fn rows(&self, key: u64) -> impl Iterator<Item = (Row, SegmentAnswer<'_>)> + Clone {
        let rows = self.tables.rows(key);
        rows.map(|(row, segment)| (row, self.answer(segment)))
    }

    /// Returns the rows that begin at an address.
    fn rows_at(
        &self,
        key: u64,
        at: RowAddress,
    ) -> impl Iterator<Item = (Row, SegmentAnswer<'_>)> + Clone {
        let answer = self.answer(at.segment);
        let rows = answer.segment.of_at(key, at.row);
        rows.map(move |row| (row, answer))
    }

    fn answer(&self, segment: usize) -> SegmentAnswer<'_> {
        SegmentAnswer {
            segment: &self.tables.segments()[segment],
            candidates: &self.candidates[segment],
        }
    }

    /// Returns a file's stamp, and its hash in the form of the rows.
    fn now(&self, stamp: Option<Stamp>) -> Option<Now> {
        // Where inodes do not last, another file may have the same stamp. A file with a sidecar has
        // another stamp in the index, and is scanned.
        let stamp = stamp.filter(|stamp| stamp.volume.is_some());
        stamp.map(|stamp| (stamp, self.tables.stamp_hash(&stamp)))
    }

    /// Judges a file by its rows.
    fn judge<'a>(
        &self,
        rows: &(impl Iterator<Item = (Row, SegmentAnswer<'a>)> + Clone),
        whole: bool,
        is_trusted: bool,
        now: &LazyCell<Option<Now>, impl FnOnce() -> Option<Now>>,
    ) -> Verdict {
        let is_watched = self.trust.is_watched();
        let rules_out = |(row, asked): &(Row, SegmentAnswer<'_>)| {
            suffices(row.covers, whole)
                && !asked.may_match(row.doc)
                && !(is_watched && is_racy(row))
        };
        let is_of_now = |row: &Row| now.is_some_and(|(_, stamp)| stamp == row.version.stamp);
        let own = || rows.clone().filter(|(row, _)| !row.is_part);
        let is_excluded = match is_trusted {
            // With several versions, it is not known which one is there.
            true => own().next().is_some() && own().all(|row| rules_out(&row)),
            false => own().any(|row| rules_out(&row) && is_of_now(&row.0)),
        };
        if is_excluded {
            return Verdict::Excluded;
        }
        let Some(around) = self.reading.by_pieces else {
            return Verdict::MayMatch(None);
        };
        let mut in_pieces = own().filter(|(row, asked)| {
            let has_pieces = row.covers.whole && asked.segment.pieces(row.doc).next().is_some();
            has_pieces && is_of_now(row)
        });
        let pieces = in_pieces.next().and_then(|(row, asked)| {
            // Asked only where there are pieces: most files are small, and need no look.
            let (stamp, _) = (**now)?;
            let pieces = asked.segment.pieces(row.doc);
            let pieces = pieces.map(|(doc, extent)| (extent, asked.may_match(doc)));
            Pieces::new(stamp, pieces, around)
        });
        match pieces {
            Some(pieces) if pieces.none_matches() => Verdict::Excluded,
            pieces => Verdict::MayMatch(pieces),
        }
    }

    /// Returns the files that may match, with all folders on the way; none if there are too many.
    fn targets(&self) -> Option<WalkTargets> {
        let segments = || self.tables.segments().iter().zip(&self.candidates);
        let n_candidates: usize = self.candidates.iter().map(Candidates::n).sum();
        let n_docs: usize = segments()
            .map(|(segment, _)| segment.n_docs() as usize)
            .sum();
        // Compared with all files together, since one candidate may be all that a small segment
        // has.
        if n_candidates > n_docs / MAX_SHARE {
            return None;
        }
        let mut targets = WalkTargets::default();
        for (segment, candidates) in segments() {
            let is_watched = self.trust.is_watched();
            let uncovered = segment.rows().filter(|row| {
                let is_covered = suffices(row.covers, self.reading.whole);
                !row.is_part && (!is_covered || is_watched && is_racy(row))
            });
            let mut docs: Vec<u32> = uncovered.map(|row| row.doc).collect();
            docs.extend(candidates.iter());
            // Most of them may be elsewhere, so that reading their names takes longest.
            docs.sort_unstable();
            docs.dedup();
            let mut names = segment.names();
            for doc in docs {
                if let Some(path) = names.path(doc) {
                    self.roots.each_typed(path, &mut |path| targets.add(&path));
                }
            }
        }
        for path in self.trust.except() {
            self.roots.each_typed(path, &mut |path| targets.add(&path));
        }
        self.roots.each(&mut |path| targets.add(&path));
        Some(targets)
    }
}

impl WalkTargets {
    fn add(&mut self, mut path: &Path) {
        while self.all.insert(key(path).to_vec()) {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return;
            };
            // File names contain no NUL.
            if let Ok(name) = CString::new(name.as_bytes()) {
                let names = self.names.entry(key(parent).to_vec());
                names.or_default().push(name);
            }
            path = parent;
        }
    }
}

/// Returns whether the file may have changed since it was read, without a sign.
fn is_racy(row: &Row) -> bool {
    Token::is_racy_hash(row.version.stamp)
}

/// Returns whether the n-grams cover all bytes that are searched: the `whole` file, or up to a NUL.
fn suffices(covers: Covers, whole: bool) -> bool {
    match whole {
        true => covers.whole,
        false => covers.start,
    }
}

/// Returns a path in normal form: `./` equals `.`, and `a/` equals `a`.
fn key(path: &Path) -> &[u8] {
    path.components().as_path().as_os_str().as_bytes()
}

impl InFolder<'_> {
    /// Returns the content of the open folder, if it is known without listing it.
    pub(crate) fn listing(
        &self,
        open: BorrowedFd<'_>,
        file_systems: &mut FileSystems,
    ) -> Option<KeptListing<'_>> {
        let listings = self.index.tables.listings()?;
        let stat = rustix::fs::fstat(open).ok()?;
        let file_system = file_systems.number(open, &stat)?;
        // Without the trailing separator, which the path of `/` also is.
        let path = &self.path[..self.path.len().saturating_sub(1).max(1)];
        listings.of(Path::new(OsStr::from_bytes(path)), &stat, file_system)
    }

    /// Looks up several files at once, for [`Self::judge`].
    ///
    /// Most files of a folder are in one or two n-gram segments, because they were read one after
    /// the other. The segment that had the most last time (initially any) is `likely` and searched
    /// first; the others are searched only for the rest, so that their number hardly matters.
    pub(crate) fn look_up<'n>(
        &mut self,
        names: impl Iterator<Item = &'n [u8]>,
        likely: &mut usize,
    ) {
        let hasher = self.index.tables.meta.hasher.in_folder(&self.path);
        self.keys.clear();
        self.keys.extend(names.map(|name| hasher.key(name).0));
        self.found.clear();
        self.found.resize(self.keys.len(), None);
        *likely = self.find(*likely);
    }

    /// Searches for each key until it is found. Returns the segment that has the most keys.
    fn find(&mut self, first: usize) -> usize {
        let segments = self.index.tables.segments();
        let others = (0..segments.len()).filter(|other| *other != first);
        // Keys that are not found yet, with their indexes among all keys.
        let mut keys = self.keys.clone();
        let mut numbers: Vec<usize> = (0..keys.len()).collect();
        let mut rows = Vec::with_capacity(keys.len());
        let (mut best, mut most) = (first, 0);
        for segment in iter::once(first).chain(others) {
            if keys.is_empty() {
                break;
            }
            rows.clear();
            segments[segment].rows_of(&keys, &mut rows);
            let mut n_left = 0;
            for (at, &row) in rows.iter().enumerate() {
                let (key, number) = (keys[at], numbers[at]);
                if segments[segment].is_at(key, row) {
                    self.found[number] = Some(RowAddress { segment, row });
                } else {
                    (keys[n_left], numbers[n_left]) = (key, number);
                    n_left += 1;
                }
            }
            let n_found = keys.len() - n_left;
            if n_found > most {
                (best, most) = (segment, n_found);
            }
            keys.truncate(n_left);
            numbers.truncate(n_left);
        }
        best
    }

    /// Returns the verdict on the file with this index among those that were looked up. Stats the
    /// file, in the open folder, only if the answer depends on it.
    pub(crate) fn judge(
        &self,
        number: usize,
        folder: BorrowedFd<'_>,
        name: &CStr,
        file_systems: &mut FileSystems,
    ) -> Verdict {
        let (index, key) = (self.index, self.keys[number]);
        let now = LazyCell::new(|| index.now(stat::stamp_in(folder, name, file_systems)));
        let whole = index.reading.whole;
        let Some(address) = self.found[number] else {
            return Verdict::MayMatch(None);
        };
        let is_trusted = self.is_trusted && !self.except.contains(&name.to_bytes());
        let verdict = index.judge(&index.rows_at(key, address), whole, is_trusted, &now);
        // Without trust, one row of the current version suffices to exclude a file. Otherwise all
        // rows count, wherever they are: in a trusted index each may say that the file matches, and
        // a row of the current version knows more than one of an earlier version.
        let is_settled = match verdict {
            Verdict::Excluded => !is_trusted,
            Verdict::MayMatch(ref pieces) => pieces.is_some(),
        };
        match is_settled || index.tables.segments().len() == 1 {
            true => verdict,
            false => index.judge(&index.rows(key), whole, is_trusted, &now),
        }
    }
}
