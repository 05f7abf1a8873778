//! A message as one line or one object of a list.

use ken_core::{Field, MessageState};
use ken_index::{Address, Stored};
use ken_mail::Mailbox;
use serde_json::{Value as Json, json};

use super::Mail;
use super::show::values;
use crate::failure::Failure;
use crate::output;

/// A message of a list.
pub(super) struct Message {
    pub(super) stored: Stored,
    /// Whether the query found it, not only others of its thread.
    pub(super) is_matched: bool,
}

impl Message {
    pub(super) fn read(mail: &Mail, address: Address, is_matched: bool) -> Result<Self, Failure> {
        Ok(Self {
            stored: mail.snapshot.document(address)?,
            is_matched,
        })
    }

    pub(super) fn id(&self) -> &str {
        self.stored.document.text(Field::Msgid).unwrap_or_default()
    }

    pub(super) fn date(&self) -> i64 {
        self.stored.document.number(Field::Date).unwrap_or_default()
    }

    pub(super) fn subject(&self) -> &str {
        self.stored.document.text(Field::Title).unwrap_or_default()
    }

    pub(super) fn references(&self) -> Vec<String> {
        let references = values(&self.stored.document, Field::References);
        references.into_iter().map(str::to_owned).collect()
    }

    /// Returns the name of the sender, or the address.
    pub(super) fn sender(&self) -> &str {
        let sender = self.stored.document.text(Field::Author).unwrap_or_default();
        match Mailbox::read(sender) {
            Some(mailbox) if !mailbox.name.is_empty() => mailbox.name,
            Some(mailbox) => mailbox.address,
            None => sender,
        }
    }

    /// Returns its states and tags, but that it was seen: most were.
    pub(super) fn marks(&self) -> Vec<&str> {
        let mut marks = values(&self.stored.document, Field::Is);
        marks.extend(values(&self.stored.document, Field::Tag));
        marks.retain(|mark| *mark != MessageState::Seen.name());
        marks
    }

    pub(super) fn json(&self) -> Json {
        let document = &self.stored.document;
        json!({
            "path": self.stored.location.path.to_string_lossy(),
            "ipath": self.stored.location.ipath,
            "id": self.id(),
            "date": output::time(self.date()),
            "from": values(document, Field::Author),
            "subject": self.subject(),
            "is": values(document, Field::Is),
            "tags": values(document, Field::Tag),
            "matched": self.is_matched,
        })
    }
}
