//! `--documents`: searches the text in an index of PDFs, office files, mail, archive members and
//! all others, without opening a file.
//!
//! Each page is searched separately, under the name `path|member path:page`, so that every form of
//! output shows the page; lines are counted within it. For file names or counts, a document is
//! searched as a whole.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::Match;
use ignore::overrides::Override;
use ignore::types::Types;
use ken_core::{Document, FileRow, Ipath, Location};
use ken_engine::{DocAddress, Source};
use serde_json::Value;

use crate::format::Mode;
use crate::output::{Output, Paint, Sheet};
use crate::prefilter::Prefilter;
use crate::run::Search;
use crate::tally::{Summary, Tally};
use crate::worker::Worker;

/// Number of documents that a thread takes at once: neighbours share a block of the store.
const BATCH: usize = 64;

/// The documents to search.
pub struct Documents<'a> {
    /// The index that holds them.
    pub snapshot: &'a dyn Source,
    /// Their addresses.
    pub addresses: &'a [DocAddress],
    /// The files of the index, in the order of their keys.
    pub files: &'a [FileRow],
    /// Folders and files, each by its name in the index and as the user named it.
    pub roots: &'a [(PathBuf, PathBuf)],
    /// Globs of the files to search.
    pub globs: &'a Override,
    /// Types of the files to search.
    pub types: &'a Types,
}

impl Documents<'_> {
    /// Returns whether the globs and types admit the file.
    fn admit(&self, path: &Path) -> bool {
        match self.globs.matched(path, false) {
            Match::Ignore(_) => return false,
            Match::Whitelist(_) => return true,
            Match::None => {}
        }
        !self.types.matched(path, false).is_ignore()
    }

    /// Returns whether an index says that nothing in the file matches.
    fn excludes(&self, path: &Path, prefilter: &Prefilter) -> bool {
        let key = self.snapshot.meta().hasher.key(path);
        let found = self.files.binary_search_by_key(&key.0, |file| file.key.0);
        found.is_ok_and(|at| prefilter.excludes_text(key, self.files[at].token))
    }

    /// Returns the document's name as displayed.
    fn name(&self, location: &Location) -> Name {
        let path = &location.path;
        let shown = self.roots.iter().find_map(|(root, typed)| {
            let below = path.strip_prefix(root).ok()?;
            Some(match below.as_os_str().is_empty() {
                true => typed.clone(),
                false => typed.join(below),
            })
        });
        Name(Location {
            path: shown.unwrap_or_else(|| path.clone()),
            ipath: location.ipath.clone(),
        })
    }
}

/// The name of a file, or of a document in it: its location, by the path that the user typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) Location);

impl Name {
    /// Returns `path`, `path|member path` or, for a page, `path|member path:page`.
    pub(crate) fn shown(&self, page: Option<usize>) -> PathBuf {
        let mut shown = self.0.address().into_os_string();
        if let Some(page) = page {
            shown.push(format!(":{page}"));
        }
        shown.into()
    }
}

impl Search<'_> {
    /// Searches documents, with many threads if requested.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn documents<W: Write + Send>(
        &self,
        documents: &Documents<'_>,
        output: &Output<W>,
    ) -> Result<Summary, ken_engine::Error> {
        let (tally, next) = (Tally::new(self.format.stats), AtomicUsize::new(0));
        self.with_threads(|| {
            let printer = self.format.printer(output.whole_sheet(), false);
            let mut worker = self.worker(printer);
            self.each_document(documents, &next, &tally, &mut |_, name, document| {
                self.one_document(&mut worker, &name, &document.body, &tally)
            })
        })?;
        Ok(tally.summary())
    }

    /// Runs this on many threads, if requested; returns an error of any.
    pub(crate) fn with_threads(
        &self,
        run: impl Fn() -> Result<(), ken_engine::Error> + Sync,
    ) -> Result<(), ken_engine::Error> {
        let threads = self.walk.threads.max(1);
        let failures: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(&run)).collect();
            let joined = handles.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.flatten().filter_map(Result::err).collect()
        });
        failures.into_iter().next().map_or(Ok(()), Err)
    }

    /// Takes batch after batch until there are none left, and visits the documents that may match; ends early if the
    /// visitor returns false. Threads share `next`.
    pub(crate) fn each_document(
        &self,
        documents: &Documents<'_>,
        next: &AtomicUsize,
        tally: &Tally,
        visit: &mut dyn FnMut(DocAddress, Name, &Document) -> bool,
    ) -> Result<(), ken_engine::Error> {
        let is_asked = self.prefilter.knows_texts(documents.snapshot.meta());
        let mut last: Option<(PathBuf, bool)> = None;
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            let rest = documents.addresses.get(from..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            for &address in &rest[..rest.len().min(BATCH)] {
                let location = documents.snapshot.location(address)?;
                if !documents.admit(&location.path) {
                    continue;
                }
                tally.count(1, 0);
                // Documents of one file are neighbours.
                let excluded = match &last {
                    Some((path, excluded)) if *path == location.path => *excluded,
                    _ => is_asked && documents.excludes(&location.path, self.prefilter),
                };
                last = Some((location.path.clone(), excluded));
                if excluded {
                    tally.count(0, 1);
                    continue;
                }
                let name = documents.name(&location);
                let stored = documents.snapshot.document(address)?;
                if !visit(address, name, &stored.document) {
                    return Ok(());
                }
            }
        }
    }

    /// Searches one document; returns false if no more results are wanted.
    pub(crate) fn one_document<W: Write>(
        &self,
        worker: &mut Worker<'_, Paint<Sheet<'_, W>>>,
        name: &Name,
        body: &str,
        tally: &Tally,
    ) -> bool {
        let json = self.format.mode == Mode::Json;
        for (page, text) in pages(body, self.format.mode) {
            let shown = match json {
                true => name.0.path.clone(),
                false => name.shown(page),
            };
            let start = worker.writer().inner().bytes.len();
            match worker.search_text(&shown, text.as_bytes()) {
                Ok(outcome) => tally.add(outcome.matched, outcome.stats.as_ref()),
                Err(error) => self.failed(&shown, &error),
            }
            if let (true, Some(page)) = (json, page) {
                let sheet = &mut worker.writer().inner().bytes;
                add_location(sheet, start, page, &name.0.ipath);
            }
        }
        let written = worker.writer().inner().finish();
        let goes_on = !(tally.has_match() && self.format.stops_at_first());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
            Err(error) => {
                self.failed(&name.0.path, &error);
                goes_on
            }
            Ok(()) => goes_on,
        }
    }
}

/// Returns the pages with their numbers, or the whole text where pages do not matter.
pub(crate) fn pages(body: &str, mode: Mode) -> Vec<(Option<usize>, &str)> {
    if !matches!(mode, Mode::Lines | Mode::Json) {
        return vec![(None, body)];
    }
    let pages = (1..).zip(body.split('\u{c}'));
    pages.map(|(number, text)| (Some(number), text)).collect()
}

/// Adds the page and the member path to the JSON lines from `start` on.
fn add_location(sheet: &mut Vec<u8>, start: usize, page: usize, inside: &Ipath) {
    let lines = sheet.split_off(start);
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
            sheet.extend_from_slice(line);
            continue;
        };
        if let Some(data) = value.get_mut("data").and_then(Value::as_object_mut) {
            data.insert("page".to_owned(), page.into());
            if !inside.is_root() {
                data.insert("internal".to_owned(), inside.as_str().into());
            }
        }
        sheet.extend_from_slice(value.to_string().as_bytes());
        sheet.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_gives_page_and_member_path() {
        let mut sheet =
            b"kept\n{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a|b.zip\"}}}\n".to_vec();
        add_location(&mut sheet, 5, 3, &Ipath::from_joined("b.pdf"));
        let text = String::from_utf8(sheet).unwrap();
        let value: Value = serde_json::from_str(text.strip_prefix("kept\n").unwrap()).unwrap();
        assert_eq!(value["data"]["path"]["text"], "a|b.zip");
        assert_eq!(
            (&value["data"]["internal"], &value["data"]["page"]),
            (&"b.pdf".into(), &3.into())
        );
    }

    #[test]
    fn pages_are_counted_from_one() {
        let lines = pages("a\u{c}b", Mode::Lines);
        assert_eq!(lines, [(Some(1), "a"), (Some(2), "b")]);
        assert_eq!(pages("a\u{c}b", Mode::Count), [(None, "a\u{c}b")]);
    }
}
