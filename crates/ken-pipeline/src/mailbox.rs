//! A mailbox that changed: its unchanged messages stay in the index.
//!
//! The mailbox is read and divided into messages again, which takes little time. A message with the same number,
//! bytes and time of delivery as in the index has the same documents, whatever happened to the others: it is neither
//! parsed nor analysed nor written. So a mailbox that grew costs its new messages. After a message was removed, the
//! later ones have other numbers and are written again.
//!
//! A compressed mailbox counts as one. Its first member shows whether the content still is a mailbox.
//!
//! The file's own document is deleted first: if the run is stopped, the file counts as not indexed.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;

use ken_core::{Cause, FileKey, Ipath, Location, Place, Reason, Setting};
use ken_engine::{Error, Mailbox, MessageId, Source};
use ken_extract::{Input, detect, is_compressed};

use crate::prepare::Prepared;

/// Returns whether a file of a type is a mailbox, or may hold one. The content of a compressed file is known when it
/// is read.
fn may_be_mailbox(media_type: &str) -> bool {
    media_type == "application/mbox" || is_compressed(media_type)
}

/// What the index has of a mailbox that is read again.
#[derive(Debug, Default)]
pub(crate) struct KnownMailbox {
    /// Messages that were not met yet.
    messages: HashMap<MessageId, Option<Place>>,
    /// Messages that are read again even if they are the same.
    failed: HashSet<MessageId>,
    /// Messages that stay.
    kept: HashSet<MessageId>,
}

/// What becomes of a message of a mailbox.
pub(crate) enum MessageFate {
    /// It is as it was.
    Kept,
    /// The index has another one of this number.
    Replaced(MessageId),
    New,
}

impl KnownMailbox {
    /// Returns what the index has of a mailbox, if messages of it may stay; the file lies open.
    pub(crate) fn of(
        prepared: &Prepared<'_>,
        path: &Path,
        key: FileKey,
        file: &File,
        size: u64,
    ) -> Result<Option<Self>, Error> {
        let Some(snapshot) = prepared.snapshot.as_deref() else {
            return Ok(None);
        };
        let Some((_, row)) = snapshot.files().row(key)? else {
            return Ok(None);
        };
        if !row.token.is_finished() || prepared.reads_again(path, &row) {
            return Ok(None);
        }
        let input = Input::file(Location::file(path).file_name(), file, size);
        if !detect::detect(&input).is_ok_and(|found| may_be_mailbox(found.media_type)) {
            return Ok(None);
        }
        known(snapshot, snapshot.mail().mailbox(key)?)
    }

    /// Returns about how many bytes of memory it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        // And the messages that stay.
        2 * self.messages.capacity() * size_of::<(MessageId, Option<Place>)>()
    }

    /// Takes a message that was met.
    pub(crate) fn meet(&mut self, ipath: &Ipath, place: Option<Place>) -> MessageFate {
        let id = MessageId::of(ipath, 1);
        let Some(known) = self.messages.remove(&id) else {
            return MessageFate::New;
        };
        // Where it stands may be another: a header before it may have become longer.
        let places = place.zip(known);
        let is_same = places.is_some_and(|(place, known)| place.digest == known.digest);
        if is_same && !self.failed.contains(&id) {
            self.kept.insert(id);
            return MessageFate::Kept;
        }
        MessageFate::Replaced(id)
    }

    /// Returns the messages that the mailbox does not hold any more, and those that stay.
    pub(crate) fn end(self) -> (impl Iterator<Item = MessageId>, HashSet<MessageId>) {
        (self.messages.into_keys(), self.kept)
    }

    /// Returns all messages that were not met, for a file that is no mailbox any more.
    pub(crate) fn give_up(&mut self) -> Vec<MessageId> {
        self.messages.drain().map(|(id, _)| id).collect()
    }
}

fn known(snapshot: &dyn Source, mailbox: Mailbox) -> Result<Option<KnownMailbox>, Error> {
    let mut known = KnownMailbox {
        messages: mailbox.messages,
        ..KnownMailbox::default()
    };
    // Of no mailbox, or one inside of an archive.
    if !known.messages.values().any(Option::is_some) {
        return Ok(None);
    }
    for (message, address) in mailbox.failed {
        let Some(failure) = snapshot.document(address)?.document.failure else {
            continue;
        };
        // What may expand depends on all of the file, and a failure of the moment on nothing in it.
        if may_be_of_expansion(&failure.cause) {
            return Ok(None);
        }
        match (failure.reason(), message) {
            (Reason::Encrypted | Reason::Malformed, _) => {}
            (_, Some(message)) => {
                known.failed.insert(message);
            }
            // The file's own document is written anew.
            (_, None) => {}
        }
    }
    Ok(Some(known))
}

/// Returns whether a document failed, or may have, since its file expands too far.
fn may_be_of_expansion(cause: &Cause) -> bool {
    match cause {
        Cause::Limit { limit, .. } => matches!(
            limit.setting,
            Setting::MaxExpansion | Setting::MaxExpandedBytes
        ),
        Cause::Other { reason, .. } => *reason == Reason::Limit,
        _ => false,
    }
}
