//! Handles a file that other people may read than before: writes its documents again from the index, with nothing changed
//! but that. Nothing is extracted again. Only the bytes of a file with another stamp are compared with those that were read,
//! since another file may have its name, its inode, its size and its time of modification.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_core::access::Class;
use ken_core::{Document, SidecarStamp, Stamp, Token};
use ken_engine::{DocAddress, Source};

use super::attached::Attached;
use super::counts::Made;
use super::{Pool, Thread};
use crate::write::FileFacts;

impl Pool<'_> {
    /// Writes the documents of a file again with its class. A file that could not be read before is read.
    pub(super) fn reclassified(&self, path: PathBuf, stamp: Stamp, thread: &Thread<'_>) {
        match self.with_class(&path, &stamp, thread) {
            Ok(true) => {
                let progress = self.progress;
                progress.files_done.fetch_add(1, Ordering::Relaxed);
                progress.bytes_done.fetch_add(stamp.size, Ordering::Relaxed);
            }
            Ok(false) => _ = self.file(path, stamp, Made::Changed, None, thread),
            Err(error) => self.errors.note(Err(error)),
        }
    }

    /// Returns false if the file must be read.
    fn with_class(
        &self,
        path: &Path,
        stamp: &Stamp,
        thread: &Thread<'_>,
    ) -> Result<bool, ken_engine::Error> {
        let Some(snapshot) = self.prepared.snapshot.as_deref() else {
            return Ok(false);
        };
        let key = self.hasher.key(path);
        let addresses = snapshot.files().documents_of(key)?;
        let Some((_, row)) = snapshot.files().row_among(key, &addresses)? else {
            return Ok(false);
        };
        let Some((own, before)) = readable(snapshot, &addresses)? else {
            return Ok(false);
        };
        if before.generation() != self.prepared.stale.generation {
            return Ok(false);
        }
        let Some(verified) = self.verified(&row, &addresses, path, *stamp)? else {
            return Ok(false);
        };
        let state = self.state(&verified.stamp);
        let facts = self.facts(path, &verified.stamp, verified.class);
        // The n-grams of the file are known by its token.
        let are_ngrams_known = before == state.token;
        self.documents.delete(facts.key)?;
        let part = &mut thread.part_ngrams.borrow_mut();
        for address in addresses.iter().filter(|at| **at != own) {
            let document = snapshot.document(*address)?.document;
            if !are_ngrams_known {
                self.ngrams.part(part, &document, &facts, state.token)?;
            }
            self.documents.add(&facts, None, document)?;
        }
        let document = snapshot.document(own)?.document;
        if !are_ngrams_known {
            self.known_ngrams(&document, &facts, state.token, addresses.len() > 1, thread)?;
        }
        self.documents.add(&facts, Some(state), document)?;
        Ok(true)
    }

    /// Returns who may read an open file, if the index keeps that.
    pub(super) fn class_of(&self, file: &File, path: &Path) -> Option<Class> {
        let access = self.prepared.access.as_ref();
        access.map(|access| access.of_open(file, path))
    }

    /// Reads what is attached to an open file with this class. A sidecar that not all of its people may read is left out.
    pub(super) fn attached(
        &self,
        file: &File,
        path: &Path,
        found: Option<SidecarStamp>,
        class: Option<&Class>,
    ) -> Attached {
        Attached::read(file, path, found, &|sidecar, path| {
            let own = self.class_of(sidecar, path);
            own.zip(class)
                .is_none_or(|(own, class)| own.allows_all_of(class))
        })
    }

    /// Takes the n-grams of a file from its text in the index, if that is all that the file contains. Of other files searches
    /// for expressions read the bytes.
    fn known_ngrams(
        &self,
        own: &Document,
        facts: &FileFacts<'_>,
        token: Token,
        has_parts: bool,
        thread: &Thread<'_>,
    ) -> Result<(), ken_engine::Error> {
        let ngrams = &mut thread.own_ngrams.borrow_mut();
        match self.ngrams.of_text(ngrams, own) {
            true => self.ngrams.end(ngrams, facts, token, has_parts),
            false => self.ngrams.unread(facts, token),
        }
    }
}

/// Returns the term of a class.
pub(super) fn term(class: &Class) -> Arc<str> {
    class.to_string().into()
}

/// Returns a file's own document among others, with its token, if the file was read to its end and without a failure.
fn readable(
    snapshot: &dyn Source,
    addresses: &[DocAddress],
) -> Result<Option<(DocAddress, Token)>, ken_engine::Error> {
    for address in addresses.iter().rev() {
        let stored = snapshot.document_without_body(*address)?;
        if let Some(state) = stored.state {
            let is_read = stored.document.failure.is_none() && state.token.is_finished();
            return Ok(is_read.then_some((*address, state.token)));
        }
    }
    Ok(None)
}
