//! Which files need no scan, because an index says that they cannot match.
//!
//! The seam between the walk and the index of n-grams: for each file that the walk finds, the scan
//! asks whether it *certainly* has no match. No is always a right answer, so whatever an index does
//! not know, or knows under another stamp, is scanned.
//!
//! Who trusts the index gets no stamps checked. If few files may match, the walk goes only where they
//! are, so that all its rules hold as ever.

mod holders;
mod look;
mod need;
mod question;
mod roots;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr};
use std::iter;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_core::{FileKey, KeyHasher, Stamp, Token};
use ken_index::Meta;
pub use ken_ngram::Need;
use ken_ngram::{Candidates, Covers, Opened, Row, Segment};
use ken_walk::{FileSystems, KeptListing, Listings};

pub use question::{Question, Why};
use roots::Roots;

use crate::pieces::{Around, Pieces};

/// What an index knows of one pattern. Asked by many threads at once, without a lock.
#[derive(Default)]
pub struct Narrow {
    known: Option<Known>,
    why: Option<Why>,
}

struct Known {
    search: look::Search,
    hasher: KeyHasher,
    roots: Roots,
    grams: Opened,
    /// Which of them may know a file.
    holders: holders::Lazy,
    /// What folders hold that did not change since.
    listings: Option<Listings>,
    /// For each file of grams.
    candidates: Vec<Candidates>,
    reading: Reading,
    trusted: bool,
    /// Where the walk goes, if that is told.
    places: Option<Arc<Places>>,
}

/// How a file is searched that may match.
#[derive(Clone, Copy)]
struct Reading {
    /// All bytes of a file must be covered, not only those before a NUL.
    whole: bool,
    /// Pieces of large files may be passed over that have no line that matches.
    by_pieces: Option<Around>,
}

impl Reading {
    const WHOLE: Self = Self {
        whole: true,
        by_pieces: None,
    };
}

/// A file's stamp as it is now, and its hash.
type Now = (Stamp, u64);

/// What an index says of a file.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It certainly has no match.
    Excluded,
    /// It may have one, in some pieces only if those are told.
    MayMatch(Option<Pieces>),
}

/// Where the walk goes, in paths as it names them.
#[derive(Debug, Default)]
struct Places {
    all: HashSet<Vec<u8>>,
    /// The names in each folder.
    names: HashMap<Vec<u8>, Vec<CString>>,
}

/// A file of grams, and what in it may match.
#[derive(Clone, Copy)]
struct Asked<'a> {
    segment: &'a Segment,
    candidates: &'a Candidates,
}

impl Asked<'_> {
    fn may_match(&self, doc: u32) -> bool {
        self.candidates.contains(doc)
    }
}

/// What an index knows of the files in one folder.
pub(crate) struct InFolder<'a> {
    known: &'a Known,
    /// The folder's path, with a separator behind it.
    path: Vec<u8>,
    /// Of the files that are looked up.
    keys: Vec<u64>,
    /// For each key, the first file of grams in which it was found.
    found: Vec<Option<Place>>,
}

/// Where the rows of a file begin.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the file of grams.
    segment: usize,
    row: usize,
}

/// More candidates, as a share of all files, are not worth a list of them.
const MAX_SHARE: usize = 8;

impl Narrow {
    /// Knows of no file.
    pub fn nothing() -> Self {
        Self::because(Why::NotAsked)
    }

    /// Knows of no file, and why.
    pub fn because(why: Why) -> Self {
        Self {
            known: None,
            why: Some(why),
        }
    }

    /// Asks the index whose folder is `index` for the files that have what the question needs.
    ///
    /// # Errors
    /// Fails if there is an index that cannot be read.
    pub fn new(
        index: &Path,
        question: &Question<'_>,
        need: &Need,
    ) -> Result<Self, ken_index::Error> {
        let walk = question.walk;
        let roots = Roots::new(&walk.paths, &walk.working_folder);
        let trusts = question.trusts && !walk.follow;
        let reading = Reading {
            whole: question.needs_whole(),
            by_pieces: question.by_pieces(),
        };
        Self::ask(index, need, roots, reading, trusts)
    }

    /// Asks the index whose folder is `index` for files below these paths, whose bytes are searched as
    /// they are, all of them.
    ///
    /// # Errors
    /// Fails if there is an index that cannot be read.
    pub fn of_whole_files(
        index: &Path,
        need: &Need,
        paths: &[PathBuf],
        working_folder: &Path,
    ) -> Result<Self, ken_index::Error> {
        match need {
            Need::Anything => Ok(Self::because(Why::Everything)),
            need => {
                let roots = Roots::new(paths, working_folder);
                Self::ask(index, need, roots, Reading::WHOLE, false)
            }
        }
    }

    fn ask(
        index: &Path,
        need: &Need,
        roots: Roots,
        reading: Reading,
        trusts: bool,
    ) -> Result<Self, ken_index::Error> {
        let because = |why| Ok(Self::because(why));
        let meta = match Meta::read(index) {
            Ok(meta) => meta,
            Err(ken_index::Error::Missing(_)) => return because(Why::NoIndex),
            Err(error) => return Err(error),
        };
        let grams = ken_ngram::open(&index.join("ngrams"), ken_index::map)?;
        if grams.segments.is_empty() {
            return because(Why::NoGrams);
        }
        let segments = grams.segments.iter();
        let candidates: Vec<_> = segments.map(|segment| segment.candidates(need)).collect();
        if candidates.iter().all(|those| those.docs().is_none()) {
            return because(Why::Everything);
        }
        let is_complete = meta.all_seen && has_all(&grams, &meta);
        let mut known = Known {
            search: look::Search::new(),
            hasher: meta.hasher,
            trusted: trusts && is_complete && roots.are_below(&meta.roots),
            roots,
            grams,
            holders: holders::Lazy::default(),
            listings: Listings::open(index, meta.hasher, ken_index::map),
            candidates,
            reading,
            places: None,
        };
        if known.trusted {
            known.places = known.places();
        }
        Ok(Self {
            known: Some(known),
            why: None,
        })
    }

    /// Returns whether there is nothing to ask, so that nobody asks for each file.
    pub fn is_empty(&self) -> bool {
        self.known.is_none()
    }

    /// Returns whether stamps are not looked at.
    pub fn is_trusted(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.trusted)
    }

    /// Returns whether the file certainly has no match. It is looked at only if the answer depends
    /// on it. A file that the user named is `explicit`: it is searched behind a NUL too.
    pub fn excludes(&self, path: &Path, explicit: bool) -> bool {
        matches!(self.judge(path, explicit), Verdict::Excluded)
    }

    /// Returns what is known of a file, as [`Self::excludes`] does.
    pub(crate) fn judge(&self, path: &Path, explicit: bool) -> Verdict {
        let Some(known) = &self.known else {
            return Verdict::MayMatch(None);
        };
        let Some(path) = known.roots.absolute(path) else {
            return Verdict::MayMatch(None);
        };
        let now = LazyCell::new(|| known.now(look::stamp(known.search, &path)));
        let FileKey(key) = known.hasher.key(&path);
        known.judge(&known.rows(key), known.reading.whole || explicit, &now)
    }

    /// Returns what is known of the files in a folder; none if nothing.
    pub(crate) fn in_folder(&self, folder: &Path) -> Option<InFolder<'_>> {
        let known = self.known.as_ref()?;
        let path = known.roots.absolute(folder)?;
        let mut path = path.into_os_string().into_encoded_bytes();
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        Some(InFolder {
            known,
            path,
            keys: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Returns the names in a folder that the walk needs to look at; none if all.
    pub(crate) fn names_in(&self, folder: &Path) -> Option<&[CString]> {
        let places = self.known.as_ref()?.places.as_ref()?;
        let names = places.names.get(key(folder));
        Some(names.map_or(&[], Vec::as_slice))
    }

    /// Returns why files were excluded, or why none were, in words for `--explain`.
    pub fn explain(&self) -> String {
        match self.why {
            Some(why) => why.to_string(),
            None if self.goes_only_where_told() => {
                "the index is trusted, also with where to walk".to_owned()
            }
            None if self.is_trusted() => "the index is trusted".to_owned(),
            None => "the index knows what is excluded, as it is now".to_owned(),
        }
    }

    fn goes_only_where_told(&self) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.places.is_some())
    }

    /// Returns whether there are the grams of all texts that a commit holds. Else the text of a file may
    /// be known as it was when the file was read with other settings, and its parts not at all.
    pub fn knows_texts(&self, meta: &Meta) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| has_all(&known.grams, meta))
    }

    /// Returns whether nothing that was extracted of a file in this version has a match: neither its
    /// own text nor that of its parts, where texts are known ([`Self::knows_texts`]).
    pub fn excludes_text(&self, FileKey(key): FileKey, token: Token) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let mut has_own = false;
        let rows = known.rows(key);
        for (row, segment) in rows.filter(|(row, _)| row.version.stamp == token.stamp_hash()) {
            if !row.covers.text || segment.may_match(row.doc) {
                return false;
            }
            has_own |= !row.is_part;
        }
        // Without a row of its own nobody took its grams.
        has_own
    }
}

impl Known {
    /// Returns the rows of a file, each with the file of grams that it stands in.
    fn rows(&self, key: u64) -> impl Iterator<Item = (Row, Asked<'_>)> + Clone {
        let segments = &self.grams.segments;
        let holders = self.holders.get(segments);
        let all = 0..segments.len();
        let holding =
            all.filter(move |segment| holders.is_none_or(|of| of.may_know(*segment, key)));
        holding.flat_map(move |segment| {
            let asked = self.asked(segment);
            asked.segment.of(key).map(move |row| (row, asked))
        })
    }

    /// Returns those of its rows that begin in one place.
    fn rows_at(&self, key: u64, place: Place) -> impl Iterator<Item = (Row, Asked<'_>)> + Clone {
        let asked = self.asked(place.segment);
        let rows = asked.segment.of_at(key, place.row);
        rows.map(move |row| (row, asked))
    }

    fn asked(&self, segment: usize) -> Asked<'_> {
        Asked {
            segment: &self.grams.segments[segment],
            candidates: &self.candidates[segment],
        }
    }

    /// Returns a file's stamp, and how it stands in rows.
    fn now(&self, stamp: Option<Stamp>) -> Option<Now> {
        // One with a sidecar has another stamp in the index, and is scanned.
        stamp.map(|stamp| (stamp, stamp.token(&self.hasher, 0).stamp_hash()))
    }

    /// Judges a file by its rows.
    fn judge<'a>(
        &self,
        rows: &(impl Iterator<Item = (Row, Asked<'a>)> + Clone),
        whole: bool,
        now: &LazyCell<Option<Now>, impl FnOnce() -> Option<Now>>,
    ) -> Verdict {
        let rules_out = |(row, asked): &(Row, Asked<'_>)| {
            suffices(row.covers, whole) && !asked.may_match(row.doc)
        };
        let is_of_now = |row: &Row| now.is_some_and(|(_, stamp)| stamp == row.version.stamp);
        let own = || rows.clone().filter(|(row, _)| !row.is_part);
        let is_excluded = match self.trusted {
            // Of several versions nobody knows which one is there.
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
        let pieces = in_pieces
            .next()
            .zip(**now)
            .and_then(|((row, asked), (stamp, _))| {
                let pieces = asked.segment.pieces(row.doc);
                let pieces = pieces.map(|(doc, extent)| (extent, asked.may_match(doc)));
                Pieces::new(stamp, pieces, around)
            });
        match pieces {
            Some(pieces) if pieces.none_matches() => Verdict::Excluded,
            pieces => Verdict::MayMatch(pieces),
        }
    }

    /// Returns where files are that may match, with all folders on the way; none if there are too many.
    fn places(&self) -> Option<Arc<Places>> {
        let segments = || self.grams.segments.iter().zip(&self.candidates);
        let n_candidates: usize = self.candidates.iter().map(Candidates::n).sum();
        let n_docs: usize = segments()
            .map(|(segment, _)| segment.n_docs() as usize)
            .sum();
        // Of all files together: one of a small file of grams may be all that this has.
        if n_candidates > n_docs / MAX_SHARE {
            return None;
        }
        let mut places = Places::default();
        for (segment, candidates) in segments() {
            let uncovered = segment
                .rows()
                .filter(|row| !row.is_part && !suffices(row.covers, self.reading.whole));
            let uncovered = uncovered.map(|row| row.doc);
            for doc in candidates.iter().chain(uncovered) {
                if let Some(name) = segment.name(doc) {
                    self.roots
                        .each_typed(&name.path, &mut |path| places.add(&path));
                }
            }
        }
        self.roots.each(&mut |path| places.add(&path));
        Some(Arc::new(places))
    }
}

impl Places {
    fn add(&mut self, mut path: &Path) {
        while self.all.insert(key(path).to_vec()) {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return;
            };
            // No name of a file holds a NUL.
            if let Ok(name) = CString::new(name.as_bytes()) {
                let names = self.names.entry(key(parent).to_vec());
                names.or_default().push(name);
            }
            path = parent;
        }
    }
}

/// Returns whether all files of grams are there that a commit names.
fn has_all(grams: &Opened, meta: &Meta) -> bool {
    let named = meta.gram_files.as_ref();
    named.is_some_and(|named| grams.missing(named).is_empty())
}

/// Returns whether the grams are of all bytes that are searched: of the `whole` file, or up to a NUL.
fn suffices(covers: Covers, whole: bool) -> bool {
    match whole {
        true => covers.whole,
        false => covers.start,
    }
}

/// Returns a path without what it may end with: `./` and `.` are the same, and `a/` and `a`.
fn key(path: &Path) -> &[u8] {
    path.components().as_path().as_os_str().as_bytes()
}

impl InFolder<'_> {
    /// Returns what the open folder holds, if that is known without listing it.
    pub(crate) fn listing(
        &self,
        open: BorrowedFd<'_>,
        file_systems: &mut FileSystems,
    ) -> Option<KeptListing<'_>> {
        let listings = self.known.listings.as_ref()?;
        let stat = rustix::fs::fstat(open).ok()?;
        let file_system = file_systems.number(open, &stat)?;
        // Without the separator behind it, which that of all files is too.
        let path = &self.path[..self.path.len().saturating_sub(1).max(1)];
        listings.of(Path::new(OsStr::from_bytes(path)), &stat, file_system)
    }

    /// Looks up some files, all of them at once: [`Self::judge`] tells of one of them.
    ///
    /// Most files of a folder are in one or two files of grams, as they were read one after the other, and in no
    /// other. The one that had the most the last time, at first any, is `likely` and asked first; the others only for
    /// what it has not, so that it hardly matters how many they are.
    pub(crate) fn look_up<'n>(
        &mut self,
        names: impl Iterator<Item = &'n [u8]>,
        likely: &mut usize,
    ) {
        let hasher = self.known.hasher.in_folder(&self.path);
        self.keys.clear();
        self.keys.extend(names.map(|name| hasher.key(name).0));
        self.found.clear();
        self.found.resize(self.keys.len(), None);
        *likely = self.find(*likely);
    }

    /// Looks for each key until it is found. Returns which file of grams has the most.
    fn find(&mut self, first: usize) -> usize {
        let segments = &self.known.grams.segments;
        let others = (0..segments.len()).filter(|other| *other != first);
        // Those that were not found yet: their keys, and their numbers among all.
        let mut keys = self.keys.clone();
        let mut numbers: Vec<usize> = (0..keys.len()).collect();
        let mut places = Vec::with_capacity(keys.len());
        let (mut best, mut most) = (first, 0);
        for segment in iter::once(first).chain(others) {
            if keys.is_empty() {
                break;
            }
            places.clear();
            segments[segment].places_of(&keys, &mut places);
            let mut n_left = 0;
            for (at, &row) in places.iter().enumerate() {
                let (key, number) = (keys[at], numbers[at]);
                if segments[segment].is_at(key, row) {
                    self.found[number] = Some(Place { segment, row });
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

    /// Returns what is known of the file of this number among those that were looked up. It is looked at, in the
    /// open folder, only if the answer depends on it.
    pub(crate) fn judge(&self, number: usize, folder: BorrowedFd<'_>, name: &CStr) -> Verdict {
        let (known, key) = (self.known, self.keys[number]);
        let now = LazyCell::new(|| known.now(look::stamp_in(folder, name)));
        let whole = known.reading.whole;
        let Some(place) = self.found[number] else {
            return Verdict::MayMatch(None);
        };
        let verdict = known.judge(&known.rows_at(key, place), whole, &now);
        // Without trust one row of now suffices to leave a file out. Else others count too, wherever they stand: of a
        // trusted index each may say that the file matches, and one of now knows more than one of before.
        let is_settled = match verdict {
            Verdict::Excluded => !known.trusted,
            Verdict::MayMatch(ref pieces) => pieces.is_some(),
        };
        match is_settled || known.grams.segments.len() == 1 {
            true => verdict,
            false => known.judge(&known.rows(key), whole, &now),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use ken_index::{Writer, WriterOptions};
    use ken_ngram::{Builder, GramSet, Store, Version};

    use super::*;

    /// Commits an index of nothing, and opens the files of grams beside it.
    fn empty(index: &Path) -> (Meta, Store) {
        let options = WriterOptions {
            memory_bytes: 0,
            threads: 1,
        };
        let writer = Writer::open(index, options).unwrap();
        let meta = writer.meta().clone();
        writer.commit(&meta).unwrap();
        let none = std::collections::BTreeSet::new();
        let store = Store::open(&index.join("ngrams"), &none, ken_index::map).unwrap();
        (meta, store)
    }

    #[test]
    fn a_file_is_known_by_whichever_grams_are_of_now() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        let (meta, store) = empty(&index);
        let path = |name: &str| folder.path().join(name);
        let covers = Covers {
            start: true,
            ..Covers::default()
        };
        let add = |builder: &mut Builder, name: &str, is_of_now: bool, text: &[u8]| {
            let stamp = look::stamp(look::Search::new(), &path(name)).unwrap();
            let version = Version {
                key: meta.hasher.key(&path(name)).0,
                stamp: stamp.token(&meta.hasher, 0).stamp_hash() ^ u64::from(!is_of_now),
            };
            let mut grams = GramSet::default();
            grams.add(text);
            builder.add(version, &path(name), "", covers, &grams);
        };
        let names = ["a", "b", "c", "d", "e", "f"];
        for name in names {
            fs_err::write(path(name), name).unwrap();
        }
        let files: [&[(&str, bool, &[u8])]; 3] = [
            &[("a", true, b""), ("b", false, b""), ("d", false, b"quux")],
            &[("b", true, b"quux"), ("c", true, b"")],
            &[("d", true, b""), ("e", false, b"")],
        ];
        for rows in files {
            let mut builder = Builder::default();
            for (name, is_of_now, text) in rows {
                add(&mut builder, name, *is_of_now, text);
            }
            store.write(&mut builder).unwrap();
        }

        let need = Need::Bytes(b"quux".to_vec());
        let paths = [folder.path().to_owned()];
        let roots = Roots::new(&paths, folder.path());
        let reading = Reading {
            whole: false,
            by_pieces: None,
        };
        let mut narrow = Narrow::ask(&index, &need, roots, reading, false).unwrap();
        let open = fs_err::File::open(folder.path()).unwrap();
        let stamped = [true, false, true, true, false, false];
        // Of those that have several versions, all must rule it out.
        let trusted = [true, false, true, false, true, false];
        for (trusts, expected) in [(false, stamped), (true, trusted)] {
            narrow.known.as_mut().unwrap().trusted = trusts;
            let alone = names.map(|name| narrow.excludes(&path(name), false));
            assert_eq!(alone, expected);
            for first in 0..files.len() {
                let mut likely = first;
                let mut known = narrow.in_folder(folder.path()).unwrap();
                known.look_up(names.iter().map(|name| name.as_bytes()), &mut likely);
                let together = std::array::from_fn(|number| {
                    let name = CString::new(names[number]).unwrap();
                    let verdict = known.judge(number, open.as_fd(), &name);
                    matches!(verdict, Verdict::Excluded)
                });
                assert_eq!(together, expected, "{first} is asked first");
            }
        }

        narrow.known.as_mut().unwrap().trusted = false;
        let mut known = narrow.in_folder(folder.path()).unwrap();
        let mut likely = 0;
        known.look_up(
            [b"c", b"d", b"e"].into_iter().map(|name| &name[..]),
            &mut likely,
        );
        assert_eq!(likely, 0, "each of them has one");
        known.look_up([b"d", b"e"].into_iter().map(|name| &name[..]), &mut likely);
        assert_eq!(likely, 0, "it was found before");
        known.look_up([b"e", b"c"].into_iter().map(|name| &name[..]), &mut likely);
        let found = |number: usize| known.found[number].map(|place| place.segment);
        assert_eq!((found(0), found(1), likely), (Some(2), Some(1), 1));
        known.look_up([b"b", b"f"].into_iter().map(|name| &name[..]), &mut likely);
        let found = |number: usize| known.found[number].map(|place| place.segment);
        assert_eq!(
            (found(0), found(1)),
            (Some(1), None),
            "the likely one is asked first"
        );
    }

    #[test]
    fn texts_are_known_if_all_grams_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        let (mut meta, store) = empty(index);
        let mut builder = Builder::default();
        let of = Version { key: 1, stamp: 1 };
        let covers = Covers::default();
        builder.add(of, Path::new("/a"), "", covers, &GramSet::default());
        store.write(&mut builder).unwrap();
        let need = Need::Bytes(b"quux".to_vec());
        let narrow = Narrow::of_whole_files(index, &need, &[], index).unwrap();
        assert!(!narrow.is_empty() && !narrow.knows_texts(&meta));
        meta.gram_files = Some([0].into());
        assert!(narrow.knows_texts(&meta));
        meta.gram_files = Some([0, 1].into());
        assert!(!narrow.knows_texts(&meta), "one is lost");
    }
}
