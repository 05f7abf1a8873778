//! Which files need no scan, because an index says that they cannot match.
//!
//! The seam between the walk and the index of n-grams: for each file that the walk finds, the scan
//! asks whether it *certainly* has no match. No is always a right answer, so whatever an index does
//! not know, or knows under another stamp, is scanned.
//!
//! Who trusts the index gets no stamps checked. If few files may match, the walk goes only where they
//! are, so that all its rules hold as ever.

mod look;
mod need;
mod question;
mod roots;

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_core::{FileKey, KeyHasher, Stamp};
use ken_index::Meta;
use ken_ngram::{Candidates, Covers, Need, Opened, Row, Segment};

pub use question::{Question, Why};
use roots::Roots;

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
    segments: Vec<(Segment, Candidates)>,
    /// All bytes of a file must be covered, not only those before a NUL.
    whole: bool,
    trusted: bool,
    /// Where the walk goes, if that is told.
    places: Option<Arc<Places>>,
}

/// Where the walk goes, in paths as it names them.
#[derive(Debug, Default)]
struct Places {
    all: HashSet<Vec<u8>>,
    /// The names in each folder.
    names: HashMap<Vec<u8>, Vec<CString>>,
}

/// What an index knows of the files in one folder.
pub(crate) struct InFolder<'a> {
    known: &'a Known,
    /// The path of a file, the folder's first.
    path: Vec<u8>,
    folder_length: usize,
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

    /// Asks the index whose folder is `index`.
    ///
    /// # Errors
    /// Fails if there is an index that cannot be read.
    pub fn new(index: &Path, question: &Question<'_>) -> Result<Self, ken_index::Error> {
        let need = match question.need() {
            Ok(need) => need,
            Err(why) => return Ok(Self::because(why)),
        };
        let walk = question.walk;
        let roots = Roots::new(&walk.paths, &walk.working_folder);
        let trusts = question.trusts && !walk.follow;
        Self::ask(index, &need, roots, question.needs_whole(), trusts)
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
            need => Self::ask(index, need, Roots::new(paths, working_folder), true, false),
        }
    }

    fn ask(
        index: &Path,
        need: &Need,
        roots: Roots,
        whole: bool,
        trusts: bool,
    ) -> Result<Self, ken_index::Error> {
        let because = |why| Ok(Self::because(why));
        let meta = match Meta::read(index) {
            Ok(meta) => meta,
            Err(ken_index::Error::Missing(_)) => return because(Why::NoIndex),
            Err(error) => return Err(error),
        };
        let Opened { segments, complete } = ken_ngram::open(&index.join("ngrams"), ken_index::map)?;
        if segments.is_empty() {
            return because(Why::NoGrams);
        }
        let asked = segments.into_iter().map(|segment| {
            let candidates = segment.candidates(need);
            (segment, candidates)
        });
        let mut known = Known {
            search: look::Search::new(),
            hasher: meta.hasher,
            trusted: trusts && roots.are_below(&meta.roots),
            roots,
            segments: asked.collect(),
            whole,
            places: None,
        };
        if known.trusted && meta.ngrams && complete {
            known.places = known.places();
        } else {
            known.trusted = false;
        }
        if known
            .segments
            .iter()
            .all(|(_, candidates)| candidates.docs().is_none())
        {
            return because(Why::Everything);
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
        let Some(known) = &self.known else {
            return false;
        };
        let Some(path) = known.roots.absolute(path) else {
            return false;
        };
        let stamp = || look::stamp(known.search, &path);
        known.excludes(&path, known.whole || explicit, stamp)
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
            folder_length: path.len(),
            path,
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
            None if self.places().is_some() => {
                "the index is trusted, also with where to walk".to_owned()
            }
            None if self.is_trusted() => "the index is trusted".to_owned(),
            None => "the index knows what is excluded, as it is now".to_owned(),
        }
    }

    /// Returns whether nothing that was extracted of a file in this version has a match: neither its
    /// own text nor that of its parts.
    pub fn excludes_text(&self, FileKey(key): FileKey, token: u64) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let mut has_own = false;
        for (segment, candidates) in &known.segments {
            for row in segment
                .of(key)
                .filter(|row| row.version.stamp == token >> 16)
            {
                if !row.covers.text || candidates.contains(row.doc) {
                    return false;
                }
                has_own |= !row.is_part;
            }
        }
        // Without a row of its own nobody took its grams.
        has_own
    }

    /// Returns what says of a path whether the walk needs to go there; none if everywhere.
    pub(crate) fn places(&self) -> Option<impl Fn(&Path) -> bool + Send + Sync + 'static> {
        let places = self.known.as_ref()?.places.clone()?;
        Some(move |path: &Path| places.all.contains(key(path)))
    }
}

impl Known {
    fn excludes(&self, path: &Path, whole: bool, stamp: impl FnOnce() -> Option<Stamp>) -> bool {
        let FileKey(key) = self.hasher.key(path);
        let covers = |covers: Covers| if whole { covers.whole } else { covers.start };
        let rows = || {
            self.segments
                .iter()
                .flat_map(|(segment, candidates)| segment.of(key).map(move |row| (row, candidates)))
        };
        let rules_out =
            |row: Row, candidates: &Candidates| covers(row.covers) && !candidates.contains(row.doc);
        if !rows().any(|(row, candidates)| rules_out(row, candidates)) {
            return false;
        }
        if self.trusted {
            // Of several versions nobody knows which one is there.
            let mut own = rows().filter(|(row, _)| !row.is_part);
            return own.all(|(row, candidates)| rules_out(row, candidates));
        }
        // One with a sidecar has another stamp in the index, and is scanned.
        let Some(stamp) = stamp() else {
            return false;
        };
        let stamp = stamp.token(&self.hasher, 0) >> 16;
        rows().any(|(row, candidates)| row.version.stamp == stamp && rules_out(row, candidates))
    }

    fn covers(&self, covers: Covers) -> bool {
        if self.whole {
            covers.whole
        } else {
            covers.start
        }
    }

    /// Returns where files are that may match, with all folders on the way; none if there are too many.
    fn places(&self) -> Option<Arc<Places>> {
        let mut places = Places::default();
        for (segment, candidates) in &self.segments {
            let n_candidates = candidates.docs()?.len();
            if n_candidates > segment.n_docs() as usize / MAX_SHARE {
                return None;
            }
            let uncovered = segment
                .rows()
                .filter(|row| !row.is_part && !self.covers(row.covers));
            let uncovered = uncovered.map(|row| row.doc);
            for doc in candidates.docs()?.iter().copied().chain(uncovered) {
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

/// Returns a path without what it may end with: `./` and `.` are the same, and `a/` and `a`.
fn key(path: &Path) -> &[u8] {
    path.components().as_path().as_os_str().as_bytes()
}

impl InFolder<'_> {
    /// Returns whether a file certainly has no match. It is looked at, in the open folder, only if the
    /// answer depends on it.
    pub(crate) fn excludes(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> bool {
        self.path.truncate(self.folder_length);
        self.path.extend_from_slice(name.to_bytes());
        let path = Path::new(OsStr::from_bytes(&self.path));
        let stamp = || look::stamp_in(folder, name);
        self.known.excludes(path, self.known.whole, stamp)
    }
}
