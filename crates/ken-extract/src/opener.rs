//! Who reads what is encrypted for somebody: the content of messages that only their receiver can decrypt.

use std::fmt;
use std::sync::Arc;

/// Decrypts messages while they are extracted. It is called from several threads at once.
pub trait OpenMessage: Send + Sync {
    /// Returns what a message says inside of its encrypted parts; nothing if these cannot be read, or shall not be.
    ///
    /// `id` is the identifier of the message, `message` its bytes.
    fn open(&self, id: &str, message: &[u8]) -> Opened;
}

/// What a message says inside of its encrypted parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The content of each encrypted part: a part in the form of MIME (RFC 2045), with its header fields.
    pub contents: Vec<Vec<u8>>,
    /// Whether all encrypted parts could be read.
    pub is_whole: bool,
    /// The subject inside, if it stands for the one outside (protected headers).
    pub subject: Option<String>,
}

/// Decrypts messages, if it is given somebody who can.
#[derive(Clone, Default)]
pub struct Opener(Option<Arc<dyn OpenMessage>>);

impl Opener {
    /// Returns one that asks somebody.
    pub fn new(opener: Arc<dyn OpenMessage>) -> Self {
        Self(Some(opener))
    }

    /// Returns what somebody can read of a message.
    pub(crate) fn open(&self, id: &str, message: &[u8]) -> Opened {
        match &self.0 {
            Some(opener) => opener.open(id, message),
            None => Opened::default(),
        }
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opener({})", self.0.is_some())
    }
}

impl PartialEq for Opener {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for Opener {}
