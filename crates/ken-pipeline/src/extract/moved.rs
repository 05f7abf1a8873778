//! Handles a file under a new path: writes it again from the index, or reads it if its type may
//! depend on the name.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_core::{Document, Field, FileKey, FileRow, Kind, Location, Stamp, Token};
use ken_engine::DocAddress;
use ken_extract::Input;

use super::access::term;
use super::counts::Made;
use super::{Pool, Thread};
use crate::write::FileFacts;

/// A file that has the content that the index has.
pub(super) struct Verified {
    pub(super) stamp: Stamp,
    /// Who may read it, if the index keeps that.
    pub(super) class: Option<Arc<str>>,
    /// The file, if it was opened.
    file: Option<File>,
}

impl Pool<'_> {
    /// Writes a file under its new path from its data in the index. A file whose type may depend on
    /// the name is extracted.
    pub(super) fn moved(&self, from: FileKey, path: PathBuf, stamp: Stamp, thread: &Thread<'_>) {
        let tags = match self.old_path(from) {
            Ok(old) => old.map(|old| self.prepared.tags.follow(&old, &path)),
            Err(error) => return self.errors.note(Err(error)),
        };
        match self.rewritten(from, &path, stamp, thread) {
            Ok(true) => {
                self.progress.files_done.fetch_add(1, Ordering::Relaxed);
                self.progress
                    .bytes_done
                    .fetch_add(stamp.size, Ordering::Relaxed);
            }
            Ok(false) => {
                if !self.file(path, stamp, Made::Moved, None, thread) {
                    // It stays under its old path.
                    return;
                }
            }
            Err(error) => self.errors.note(Err(error)),
        }
        self.errors.note(self.documents.delete(from));
        self.prepared.tags.moved(tags.unwrap_or_default());
    }

    /// Returns the path of a file that moved, if anything has tags that have to follow it.
    fn old_path(&self, from: FileKey) -> Result<Option<PathBuf>, ken_engine::Error> {
        let snapshot = self.prepared.snapshot.as_ref();
        let has_tags = self.prepared.tags.tags.addresses().next().is_some();
        let Some(snapshot) = snapshot.filter(|_| has_tags) else {
            return Ok(None);
        };
        let addresses = snapshot.files().documents_of(from)?;
        let row = snapshot.files().row_among(from, &addresses)?;
        Ok(row.map(|(old, _)| old.path))
    }

    /// Adds the documents of a moved file again, under its new path. Returns false if the file must
    /// be read.
    fn rewritten(
        &self,
        from: FileKey,
        path: &Path,
        stamp: Stamp,
        thread: &Thread<'_>,
    ) -> Result<bool, ken_engine::Error> {
        let Some(snapshot) = &self.prepared.snapshot else {
            return Ok(false);
        };
        let addresses = snapshot.files().documents_of(from)?;
        let Some((old, row)) = snapshot.files().row_among(from, &addresses)? else {
            return Ok(false);
        };
        let name = Location::file(path).file_name();
        let fields_of = |path| self.prepared.stale.profile.fields_of(path);
        // If the name does not hold the state of a message, its header does.
        let is_maildir = ken_mail::maildir::is_maildir_path;
        if is_read_otherwise(&old.file_name(), &name)
            || is_maildir(&old.path) != is_maildir(path)
            || fields_of(&old.path) != fields_of(path)
            || !row.token.is_finished()
            || self.prepared.stale.reason(&old.path, &row).is_some()
        {
            return Ok(false);
        }
        let Some(verified) = self.verified(&row, &addresses, path, stamp)? else {
            return Ok(false);
        };
        let stamp = verified.stamp;
        let mut own = None;
        let facts = self.facts(path, &stamp, verified.class);
        let state = self.state(&stamp);
        let part = &mut thread.part_ngrams.borrow_mut();
        let has_parts = addresses.len() > 1;
        for address in addresses {
            let stored = snapshot.document(address)?;
            if stored.state.is_some() {
                own = Some(stored.document);
            } else {
                self.ngrams
                    .part(part, &stored.document, &facts, state.token)?;
                self.documents.add(&facts, None, stored.document)?;
            }
        }
        let Some(mut own) = own else {
            return Ok(false);
        };
        own.fields.retain(|(field, _)| *field != Field::Filename);
        ken_extract::add_file_name(&mut own, &name);
        let moved = (verified.file, stamp);
        self.moved_ngrams(&facts, moved, &own, state.token, has_parts, thread)?;
        self.documents.add(&facts, Some(state), own)?;
        Ok(true)
    }

    /// Returns what a file is that has the content that the index has; none if it may have another.
    ///
    /// A file in a folder that was renamed, or with other rights of a folder, keeps its whole stamp. Renaming the file itself
    /// moves its `ctime`, as do its own rights and a change of its content, and an inode that was given to a new file may
    /// have the old size and time: the content is compared.
    pub(super) fn verified(
        &self,
        row: &FileRow,
        addresses: &[DocAddress],
        path: &Path,
        found: Stamp,
    ) -> Result<Option<Verified>, ken_engine::Error> {
        let is_whole = |stamp: &Stamp| stamp.volume.is_some() && row.is_of(stamp, &self.hasher);
        // Who may read a file is asked of the open one, and not of what the walk found at the path.
        let believes_walk = self.prepared.access.is_none();
        if believes_walk && is_whole(&found) {
            return Ok(Some(Verified {
                stamp: found,
                class: None,
                file: None,
            }));
        }
        // Whether the words of a sidecar belong to those who may read the file is decided where both are read.
        if !believes_walk && found.sidecar.is_some() {
            return Ok(None);
        }
        let known = found.sidecar.is_none().then(|| self.own_content(addresses));
        let known = known.transpose()?.flatten();
        if believes_walk && known.is_none() {
            return Ok(None);
        }
        let Ok(Some(opened)) = self.open(path, &found) else {
            return Ok(None);
        };
        let (file, class) = (opened.file, opened.class);
        let stamp = Stamp {
            sidecar: found.sidecar,
            mh: found.mh,
            ..opened.stamp
        };
        let has_content = || {
            let input = Input::file("", &file, stamp.size);
            let now = ken_extract::whole_content(&input, self.hasher.seed());
            known.is_some() && now.ok().flatten() == known
        };
        Ok((is_whole(&stamp) || has_content()).then(|| Verified {
            stamp,
            class: class.as_ref().map(term),
            file: Some(file),
        }))
    }

    /// Returns the hash of the content from which a file's own document was made.
    fn own_content(&self, addresses: &[DocAddress]) -> Result<Option<u64>, ken_engine::Error> {
        let Some(snapshot) = &self.prepared.snapshot else {
            return Ok(None);
        };
        // It was added last.
        for address in addresses.iter().rev() {
            let stored = snapshot.document_without_body(*address)?;
            if stored.state.is_some() {
                return Ok(stored.document.content);
            }
        }
        Ok(None)
    }

    /// Takes the n-grams of a moved file from its bytes, since they are not kept with its
    /// documents.
    fn moved_ngrams(
        &self,
        facts: &FileFacts<'_>,
        (file, stamp): (Option<File>, Stamp),
        own: &Document,
        token: Token,
        has_parts: bool,
        thread: &Thread<'_>,
    ) -> Result<(), ken_engine::Error> {
        if !self.ngrams.are_wanted() {
            return Ok(());
        }
        if own.kind == Kind::Message && !self.ngrams.are_of_messages() {
            return self.ngrams.unread(facts, token);
        }
        // A file that changed meanwhile has another stamp, under which no search looks for these
        // n-grams.
        let opened = match file {
            Some(file) => Some((file, stamp)),
            None => {
                let opened = self.open(facts.path, &stamp).ok().flatten();
                opened.map(|opened| (opened.file, opened.stamp))
            }
        };
        let Some((file, stamp)) = opened else {
            return self.ngrams.unread(facts, token);
        };
        let ngrams = &mut thread.own_ngrams.borrow_mut();
        let mut input = Input::file("", &file, stamp.size);
        self.ngrams.begin(ngrams, &mut input, &file);
        self.ngrams.own(ngrams, own);
        self.ngrams.end(ngrams, facts, token, has_parts)
    }
}

/// Returns whether a file may have another type under its new name. The name of a compressed file
/// without its last extension determines the type of the content.
fn is_read_otherwise(old: &str, new: &str) -> bool {
    let media_type = |name: &str| ken_extract::detect::by_name(name).media_type;
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| media_type(stem));
    media_type(old) != media_type(new) || stem(old) != stem(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_of_the_same_type_need_no_reading() {
        for (old, new, expected) in [
            ("a.txt", "b.txt", false),
            ("a.txt", "a.md", true),
            ("a.txt.gz", "a.md.gz", true),
            ("a.gz", "a.tar.gz", true),
            ("Makefile", "notes", true),
            ("12345678.1.host:2,", "12345678.1.host:2,RS", false),
        ] {
            assert_eq!(is_read_otherwise(old, new), expected, "{old} {new}");
        }
    }
}
