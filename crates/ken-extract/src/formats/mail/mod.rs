//! Messages, mailboxes, calendars and address books.

pub(in crate::formats) mod calendar;
pub(in crate::formats) mod mbox;
pub(in crate::formats) mod message;
pub(in crate::formats) mod msg;
pub(in crate::formats) mod pst;
pub(in crate::formats) mod tnef;
