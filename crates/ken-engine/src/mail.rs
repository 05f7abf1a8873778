//! Messages: in which file they are, what belongs to them, and their threads.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::quality::FixedState;
use ken_core::{Field, FileKey, Ipath, MessageSpan, Plan};

use crate::{DocAddress, Error, Limits};

/// Distinguishes a message from the other messages of its file. Two messages almost never have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(u64);

impl MessageId {
    /// Returns the message that the first `components` components of an internal path lead to.
    pub fn of(ipath: &Ipath, components: u8) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        hasher.write(ipath.prefix(components.into()).as_bytes());
        Self(hasher.finish() << 8 | u64::from(components))
    }

    /// Returns the message with a number that [`MessageId::number`] returned.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number that an engine keeps.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns how many components of its internal path lead to the message.
    pub const fn components(self) -> u8 {
        self.0 as u8
    }
}

/// A file and a message in it. The message is absent for documents of the file that are in no message.
pub type MessageOfFile = (FileKey, Option<MessageId>);

/// A mailbox in a commit.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// The file's own document; absent if the file was not indexed to its end.
    pub own: Option<DocAddress>,
    /// Its messages, each with its position in the file if it can be read from there.
    pub messages: HashMap<MessageId, Option<MessageSpan>>,
    /// Documents that were not read, or not all of them.
    pub failed: Vec<(Option<MessageId>, DocAddress)>,
}

/// A value of a field of mail, and its frequency. A value may come several times; the caller adds the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value as it was written.
    pub value: String,
    /// The number of documents that have it.
    pub count: u64,
    /// The date of the newest of them, in seconds since 1970-01-01 UTC.
    pub last: i64,
}

/// The messages of a commit.
pub trait Mail {
    /// Returns what the commit has of a mailbox.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn mailbox(&self, key: FileKey) -> Result<Mailbox, Error>;

    /// Returns the bytes of a message in its file, if it can be read from there. The file may have changed.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn message_span(&self, key: FileKey, message: MessageId) -> Result<Option<MessageSpan>, Error>;

    /// Returns the file and the message of each of these documents.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn messages_at(&self, documents: &[DocAddress]) -> Result<Vec<MessageOfFile>, Error>;

    /// Returns the documents of each of these messages, which must be sorted. Where the message is absent, returns the
    /// documents of the file that are in no message.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn documents_of(&self, messages: &[MessageOfFile]) -> Result<Vec<Vec<DocAddress>>, Error>;

    /// Returns the documents of the message that a document is in, in the order of addresses. For a document in no message,
    /// returns all documents of its file that are in no message.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn siblings(&self, at: DocAddress) -> Result<Vec<DocAddress>, Error>;

    /// Returns the message that a document is, or is a part of; none if it is in no message.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn carrier(&self, at: DocAddress) -> Result<Option<DocAddress>, Error>;

    /// Returns all messages in the threads of some documents, with those documents, in no order. Once limits are
    /// reached, the other messages are left out.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn threads(
        &self,
        of: &[DocAddress],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error>;

    /// Returns the few documents among which a message is that had this key before its flags changed, if the index has it;
    /// nothing if the engine cannot say, so that all messages must be asked.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn formerly(&self, key: FileKey) -> Result<Option<Vec<DocAddress>>, Error> {
        let _ = key;
        Ok(None)
    }

    /// Returns the number of a message, and those of the messages that it names as earlier ones in its thread; nothing
    /// for what is no message. A message has the same number in every source.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    fn links(&self, at: DocAddress) -> Result<Vec<u64>, Error>;

    /// Returns the messages that have one of these numbers, or name a message that has it, in no order.
    ///
    /// # Errors
    /// Fails if the column cannot be read.
    fn linked(&self, numbers: &[u64]) -> Result<Vec<DocAddress>, Error>;

    /// Returns the values of some text fields in what a plan finds, in no order. Once limits are reached, the other
    /// documents are left out.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn seen(
        &self,
        plan: &Plan,
        fields: &[Field],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Seen>, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_message_have_its_number() {
        let mail = Ipath::root().child("12");
        let attached = mail.child("2").child("a.txt");
        assert_eq!(MessageId::of(&mail, 1), MessageId::of(&attached, 1));
        assert_ne!(
            MessageId::of(&mail, 1),
            MessageId::of(&Ipath::root().child("13"), 1)
        );
        assert_eq!(MessageId::of(&attached, 3).components(), 3);
    }
}
