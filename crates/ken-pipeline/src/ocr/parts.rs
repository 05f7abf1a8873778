//! The pictures of one file: the file itself, and those in archives and messages, which are
//! extracted again. Only containers that lead to a picture are opened.

use std::collections::BTreeMap;
use std::path::Path;

use ken_core::{Document, Ipath, Location, Stamp};
use ken_extract::{Extractor, Input, Member, Sink, detect};

use super::reader::{Reader, Written};
use crate::open;
use crate::write::{RECOGNISED, TEXTLESS, is_recognised, set_state};

/// Recognises the text in the pictures of an unchanged file. Returns the documents that changed:
/// those that were recognised, and those whose earlier recognition was in other languages and that
/// cannot be recognised now, which wait until they can.
pub(super) fn read(
    reader: &Reader<'_>,
    path: &Path,
    written: &Written,
    waiting: BTreeMap<Ipath, Document>,
) -> BTreeMap<Ipath, Document> {
    let extractor = Extractor::new(&reader.options.extract);
    let mut parts = Parts {
        reader,
        extractor: &extractor,
        waiting,
        done: BTreeMap::new(),
    };
    if let Ok(Some((file, stamp))) = open::open(path)
        && i64::try_from(stamp.size).ok() == written.size
        && stamp.mtime_seconds() == written.mtime_seconds
        && (!written.is_of_some || is_whole(reader, path, written, stamp))
    {
        let name = Location::file(path).file_name();
        parts.input(Input::file(name, &file, stamp.size));
    }
    for (ipath, mut document) in parts.waiting {
        if is_recognised(&document) {
            set_state(&mut document, TEXTLESS);
            parts.done.insert(ipath, document);
        }
    }
    parts.done
}

/// Returns whether an open file with this stamp is surely the one that was read.
fn is_whole(reader: &Reader<'_>, path: &Path, written: &Written, stamp: Stamp) -> bool {
    // What another machine recognises is used for the same content only.
    if reader.collected.is_some() {
        return true;
    }
    let stamp = Stamp {
        sidecar: ken_walk::sidecar_beside(path),
        mh: ken_walk::mh_state(path),
        ..stamp
    };
    let token = stamp.token(&reader.snapshot.meta().hasher, 0);
    written.token.is_settled() && written.token.stamp_hash() == token.stamp_hash()
}

struct Parts<'p> {
    reader: &'p Reader<'p>,
    extractor: &'p Extractor<'p>,
    waiting: BTreeMap<Ipath, Document>,
    done: BTreeMap<Ipath, Document>,
}

impl Parts<'_> {
    /// Recognises an input if its text is waited for, and the inputs inside it for which that is
    /// so.
    fn input(&mut self, mut input: Input<'_>) {
        self.own(&mut input);
        let around = input.ipath.as_str();
        let leads_to = |wanted: &Ipath| wanted.prefix(input.ipath.depth()) == around;
        if self.waiting.keys().any(leads_to) {
            self.extractor.extract(&mut input, self);
        }
    }

    /// Recognises an input, unless it is compressed: then its content follows when it is extracted.
    fn own(&mut self, input: &mut Input<'_>) {
        let Some(document) = self.waiting.get(&input.ipath) else {
            return;
        };
        let is_it = detect::detect(input).is_ok_and(|it| it.media_type == document.media_type);
        if !is_it || self.is_cancelled() {
            return;
        }
        let mut document = document.clone();
        if self.reader.read(input, &mut document).is_some() {
            set_state(&mut document, RECOGNISED);
            self.waiting.remove(&input.ipath);
            self.done.insert(input.ipath.clone(), document);
        }
    }
}

impl Sink for Parts<'_> {
    fn document(&mut self, _: Document) {}

    fn member(&mut self, member: Member) {
        self.input(Input::member(member));
    }

    fn content(&mut self, content: Member) {
        self.own(&mut Input::member(content));
    }

    fn is_cancelled(&self) -> bool {
        self.reader.progress.is_cancelled()
    }
}
