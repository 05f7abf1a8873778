//! What the index knows of mail: the messages of a mailbox, threads, and contacts.

pub(crate) mod contacts;
pub(crate) mod links;
pub(crate) mod mailbox;
