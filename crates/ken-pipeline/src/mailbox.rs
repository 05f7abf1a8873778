//! Keeps the unchanged messages of a changed mailbox in the index.
//!
//! The mailbox is read and divided into messages again, which takes little time. A message with the
//! same number, bytes and time of delivery as in the index has the same documents, whatever
//! happened to the other messages, so it is neither parsed nor analysed nor written. A mailbox that
//! grew therefore costs only its new messages. After a message is removed, the later ones have
//! other numbers and are written again.
//!
//! A compressed mailbox is treated the same. Its first member shows whether the content still is a
//! mailbox.
//!
//! The file's own document is deleted first: if the run is stopped, the file counts as not indexed.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;

use ken_core::{Cause, FileKey, Ipath, MessageSpan, Reason, Setting};
use ken_engine::{Error, Mailbox, MessageId, Source};
use ken_extract::{Input, detect, is_compressed};

use crate::prepare::Prepared;

/// Returns whether a file of a type is a mailbox, or may hold one. The content of a compressed file
/// is known only after reading.
fn may_be_mailbox(media_type: &str) -> bool {
    media_type == "application/mbox" || is_compressed(media_type)
}

/// The messages that the index has of a mailbox that is read again.
#[derive(Debug, Default)]
pub(crate) struct KnownMailbox {
    /// Messages that have not been found yet.
    messages: HashMap<MessageId, Option<MessageSpan>>,
    /// Messages that are read again even if they are unchanged.
    failed: HashSet<MessageId>,
    /// Messages that stay.
    kept: HashSet<MessageId>,
}

/// The fate of a message of a mailbox.
pub(crate) enum MessageFate {
    /// The message is unchanged.
    Kept,
    /// The index has a different message with this number.
    Replaced(MessageId),
    New,
}

impl KnownMailbox {
    /// Returns the messages that the index has of a mailbox, which is open and has this class, if some may stay; `None`
    /// otherwise.
    pub(crate) fn of(
        prepared: &Prepared<'_>,
        path: &Path,
        key: FileKey,
        file: &File,
        size: u64,
        class: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let Some(snapshot) = prepared.snapshot.as_deref() else {
            return Ok(None);
        };
        let Some((_, row)) = snapshot.files().row(key)? else {
            return Ok(None);
        };
        let access = prepared.access.as_ref();
        // Messages that stay keep their class.
        let is_known = |class| access.is_some_and(|access| access.knows(key, class));
        let is_reclassified = class.is_some_and(|class| !is_known(class));
        if !row.token.is_finished() || is_reclassified || prepared.reads_again(path, &row) {
            return Ok(None);
        }
        let input = Input::at(path, file, size);
        if !detect::detect(&input).is_ok_and(|found| may_be_mailbox(found.media_type)) {
            return Ok(None);
        }
        known(snapshot, snapshot.mail().mailbox(key)?)
    }

    /// Returns roughly how many bytes of memory this takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        // Includes the messages that stay.
        2 * self.messages.capacity() * size_of::<(MessageId, Option<MessageSpan>)>()
    }

    /// Decides the fate of a message that was found.
    pub(crate) fn meet(&mut self, ipath: &Ipath, span: Option<MessageSpan>) -> MessageFate {
        let id = MessageId::of(ipath, 1);
        let Some(known) = self.messages.remove(&id) else {
            return MessageFate::New;
        };
        // Its offset may differ, since an earlier header may have become longer.
        let spans = span.zip(known);
        let is_same = spans.is_some_and(|(span, known)| span.digest == known.digest);
        if is_same && !self.failed.contains(&id) {
            self.kept.insert(id);
            return MessageFate::Kept;
        }
        MessageFate::Replaced(id)
    }

    /// Returns the messages that are no longer in the mailbox, and those that stay.
    pub(crate) fn end(self) -> (impl Iterator<Item = MessageId>, HashSet<MessageId>) {
        (self.messages.into_keys(), self.kept)
    }

    /// Returns all messages that were not found, for a file that is no longer a mailbox.
    pub(crate) fn give_up(&mut self) -> Vec<MessageId> {
        self.messages.drain().map(|(id, _)| id).collect()
    }
}

fn known(snapshot: &dyn Source, mailbox: Mailbox) -> Result<Option<KnownMailbox>, Error> {
    let mut known = KnownMailbox {
        messages: mailbox.messages,
        ..KnownMailbox::default()
    };
    // Not a mailbox, or one inside an archive.
    if !known.messages.values().any(Option::is_some) {
        return Ok(None);
    }
    for (message, address) in mailbox.failed {
        let Some(failure) = snapshot.document(address)?.document.failure else {
            continue;
        };
        // What may expand depends on the whole file, and a temporary failure on nothing in it.
        if may_be_of_expansion(&failure.cause) {
            return Ok(None);
        }
        match (failure.reason(), message) {
            (Reason::Encrypted | Reason::Malformed, _) => {}
            (_, Some(message)) => {
                known.failed.insert(message);
            }
            // The file's own document is written again.
            (_, None) => {}
        }
    }
    Ok(Some(known))
}

/// Returns whether a document failed, or may have failed, because its file expands too far.
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
