//! Handles a file under a new path: writes it again from the index, or reads it if its type may
//! depend on the name.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ken_core::{Document, Field, FileKey, FileRow, Kind, Location, Stamp, Token};
use ken_engine::DocAddress;
use ken_extract::Input;

use super::counts::Made;
use super::remote::Opened;
use super::{Pool, Thread};
use crate::write::FileFacts;

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
        let Some(stamp) = self.verified(&row, &addresses, path, stamp)? else {
            return Ok(false);
        };
        let mut own = None;
        let facts = self.facts(path, &stamp);
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
        self.moved_ngrams(&facts, &stamp, &own, state.token, has_parts, thread)?;
        self.documents.add(&facts, Some(state), own)?;
        Ok(true)
    }

    /// Returns the stamp under which a file has the content that the index has; none if it may have another.
    ///
    /// A file in a folder that was renamed keeps its whole stamp. Renaming the file itself moves its `ctime`, as does a
    /// change of its content, and an inode that was given to a new file may have the old size and time: the content
    /// is compared.
    fn verified(
        &self,
        row: &FileRow,
        addresses: &[DocAddress],
        path: &Path,
        stamp: Stamp,
    ) -> Result<Option<Stamp>, ken_engine::Error> {
        if stamp.volume.is_some() && row.is_of(&stamp, &self.hasher) {
            return Ok(Some(stamp));
        }
        let known = stamp.sidecar.is_none().then(|| self.own_content(addresses));
        let Some(known) = known.transpose()?.flatten() else {
            return Ok(None);
        };
        let Ok(Some(Opened {
            file, stamp: own, ..
        })) = self.open(path, &stamp)
        else {
            return Ok(None);
        };
        let input = Input::file("", &file, own.size);
        let now = ken_extract::whole_content(&input, self.hasher.seed());
        let own = Stamp {
            mh: stamp.mh,
            ..own
        };
        Ok((now.ok().flatten() == Some(known)).then_some(own))
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
        stamp: &Stamp,
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
        let Ok(Some(Opened { file, stamp, .. })) = self.open(facts.path, stamp) else {
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
