//! What was added or deleted, and is not acknowledged yet.

use std::collections::HashMap;

use foldhash::HashSet;
use ken_core::FileKey;
use ken_engine::{MessageId, Scope};

use crate::bulk::Item;

/// What was added and is not sent yet, and what was deleted since the last commit.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) batch: Batch,
    pub(super) deletions: HashMap<FileKey, Vec<Deletion>>,
    /// Documents that were sent since the last commit, which no search finds yet.
    pub(super) sent: HashMap<FileKey, Vec<Sent>>,
}

#[derive(Clone, Copy)]
pub(super) struct Deletion {
    pub(super) scope: Scope,
    pub(super) moment: u64,
    pub(super) is_done: bool,
}

/// A document that is in the cluster.
pub(super) struct Sent {
    pub(super) id: String,
    pub(super) is_own: bool,
    pub(super) message: Option<MessageId>,
    pub(super) version: u64,
}

#[derive(Default)]
pub(super) struct Batch {
    pub(super) words: Vec<Item>,
    /// Hashes of these words.
    pub(super) hashes: HashSet<u64>,
    pub(super) parts: Vec<Added>,
    pub(super) own: Vec<Added>,
    pub(super) bytes: usize,
}

pub(super) struct Added {
    pub(super) key: FileKey,
    pub(super) message: Option<MessageId>,
    pub(super) version: u64,
    pub(super) item: Item,
}

impl Deletion {
    pub(super) fn takes(&self, is_own: bool, message: Option<MessageId>) -> bool {
        match self.scope {
            Scope::File => true,
            Scope::Own => is_own,
            Scope::Message(of) => message == Some(of),
        }
    }
}
