//! What is read of a file in this pass: which of its pictures wait, and the text in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ken_core::access::ACCESS;
use ken_core::{Document, Field, FileKey, Ipath, Token};
use ken_engine::{DocAddress, Source};
use ken_extract::helper::Helpers;
use ken_extract::{Extractor, Input, Member, Sink};

use super::cache::Cache;
use super::collected::Collected;
use crate::write::{RECOGNISED, TEXTLESS, has_state, is_recognised};
use crate::{Ocr, Options, Progress};

/// Reads text in pictures, on any machine.
pub(super) struct Reader<'r> {
    pub(super) options: &'r Options,
    pub(super) ocr: &'r Ocr,
    pub(super) helpers: &'r Helpers,
    pub(super) snapshot: &'r dyn Source,
    /// Whether earlier recognition used other languages, so that it is repeated.
    pub(super) other_languages: bool,
    pub(super) cache: Cache,
    pub(super) progress: &'r Progress,
    /// The texts for the machine of the run, if that is another one.
    pub(super) collected: Option<Collected>,
}

/// A file with pictures that wait.
pub(super) struct Wanted {
    pub(super) path: PathBuf,
    pub(super) written: Written,
    pub(super) addresses: Vec<DocAddress>,
    /// The documents of the pictures.
    pub(super) waiting: BTreeMap<Ipath, Document>,
}

/// The documents of a file in the index, as of its reading.
pub(super) struct Written {
    pub(super) size: Option<i64>,
    pub(super) mtime_seconds: i64,
    pub(super) token: Token,
    /// Whether only some people may read the file, so that nothing may be read of another one.
    pub(super) is_of_some: bool,
}

impl Reader<'_> {
    /// Returns the states of documents that wait.
    pub(super) fn states(other_languages: bool) -> &'static [&'static str] {
        match other_languages {
            true => &[TEXTLESS, RECOGNISED],
            false => &[TEXTLESS],
        }
    }

    /// Returns what waits in a file; none if the index may lack parts of the file, which is read again then.
    pub(super) fn wanted(&self, key: FileKey) -> Result<Option<Wanted>, ken_engine::Error> {
        let addresses = self.snapshot.files().documents_of(key)?;
        if self.snapshot.files().row_among(key, &addresses)?.is_none() {
            return Ok(None);
        }
        let mut own = None;
        let mut waiting = BTreeMap::new();
        for address in &addresses {
            let stored = self.snapshot.document(*address)?;
            if let Some(state) = stored.state {
                let written = Written::of(&stored.document, state.token);
                own = Some((stored.location.path, written));
            }
            if self.is_wanted(&stored.document) {
                waiting.insert(stored.document.ipath.clone(), stored.document);
            }
        }
        Ok(own.map(|(path, written)| Wanted {
            path,
            written,
            addresses,
            waiting,
        }))
    }

    fn is_wanted(&self, document: &Document) -> bool {
        has_state(document, TEXTLESS) || self.other_languages && is_recognised(document)
    }

    /// Adds the text of an input to its document, from the cache or by recognition; returns whether
    /// it did. A failure that may pass waits for the next run.
    pub(super) fn read(&self, input: &mut Input<'_>, document: &mut Document) -> Option<()> {
        let entry = self.cache.entry(&mut *input.reader().ok()?).ok()?;
        if let Some(body) = self.cache.get(&entry) {
            self.collect(&entry, &body);
            document.body = body;
            return Some(());
        }
        if is_recognised(document) {
            // Removes the text that was recognised in other languages.
            document.body = self.text_of(input)?;
        }
        let is_cancelled = || self.progress.is_cancelled();
        let limits = &self.options.extract.limits;
        let languages = &self.ocr.languages;
        let result = self
            .helpers
            .recognise(input, document, languages, limits, &is_cancelled);
        if is_cancelled() {
            return None;
        }
        match result {
            Ok(()) => {
                self.cache.put(&entry, &document.body);
                self.collect(&entry, &document.body);
            }
            Err(error) if error.is_passing() => return None,
            Err(error) => document.failure = Some(error.into()),
        }
        Some(())
    }

    fn collect(&self, entry: &str, body: &str) {
        if let Some(collected) = &self.collected {
            collected.add(entry, body);
        }
    }

    /// Returns the text that an input has by itself.
    fn text_of(&self, input: &mut Input<'_>) -> Option<String> {
        let mut own = Own {
            ipath: input.ipath.clone(),
            body: None,
        };
        Extractor::new(&self.options.extract).extract(input, &mut own);
        own.body
    }
}

impl Written {
    fn of(own: &Document, token: Token) -> Self {
        Self {
            token,
            is_of_some: own.text(ACCESS).is_some(),
            size: own.number(Field::Size),
            mtime_seconds: own.number(Field::Modified).unwrap_or_default(),
        }
    }
}

/// Keeps the text of an input's own document.
struct Own {
    ipath: Ipath,
    body: Option<String>,
}

impl Sink for Own {
    fn document(&mut self, document: Document) {
        if document.ipath == self.ipath {
            self.body = Some(document.body);
        }
    }

    fn member(&mut self, _: Member) {}
}
