//! A message as notmuch knows it: all files with one identifier together.

use std::collections::HashMap;
use std::path::PathBuf;

use ken_core::{Document, Field, Value};
use ken_engine::{DocAddress, Source};

use super::Error;

/// A message of the database.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// The number of its identifier.
    pub(super) number: u64,
    /// The identifier.
    pub id: String,
    /// Its files, sorted.
    pub files: Vec<PathBuf>,
    /// When it was sent, in seconds since 1970-01-01 UTC.
    pub date: i64,
    /// The subject.
    pub subject: String,
    /// The senders: `Name <user@host>` or an address each, as in the next three lists.
    pub from: Vec<String>,
    /// The recipients.
    pub to: Vec<String>,
    /// The recipients of a copy.
    pub cc: Vec<String>,
    /// The recipients of a blind copy.
    pub bcc: Vec<String>,
    /// The tags, sorted.
    pub tags: Vec<String>,
    /// Whether the query finds it.
    pub is_matched: bool,
    /// Whether a tag excludes it.
    pub is_excluded: bool,
}

impl Message {
    fn of(number: u64, document: &Document) -> Self {
        let texts = |field| -> Vec<String> { texts(document, field).map(str::to_owned).collect() };
        let text = |field| document.text(field).unwrap_or_default().to_owned();
        let mut tags = texts(Field::Tag);
        tags.sort();
        tags.dedup();
        Self {
            number,
            id: text(Field::Msgid),
            date: document.number(Field::Date).unwrap_or_default(),
            subject: text(Field::Title),
            from: texts(Field::Author),
            to: texts(Field::To),
            cc: texts(Field::Cc),
            bcc: texts(Field::Bcc),
            tags,
            ..Self::default()
        }
    }

    /// Returns whether the message has a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }
}

fn texts(document: &Document, field: Field) -> impl Iterator<Item = &str> {
    let values = document.fields.iter();
    values.filter_map(move |(of, value)| match value {
        Value::Text(text) if *of == field => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the number of a message's identifier.
pub(super) fn number_of(source: &dyn Source, at: DocAddress) -> Result<Option<u64>, Error> {
    Ok(source.mail().links(at)?.first().copied())
}

/// Returns the messages with some of their files, in the order of their first files in `documents`. Files of one
/// message must all be among them.
pub(super) fn read(source: &dyn Source, documents: &[DocAddress]) -> Result<Vec<Message>, Error> {
    let mut messages: Vec<Message> = Vec::new();
    let mut positions = HashMap::new();
    for at in documents {
        let Some(number) = number_of(source, *at)? else {
            continue;
        };
        let stored = source.document_without_body(*at)?;
        if !stored.location.ipath.is_root() {
            continue;
        }
        let path = stored.location.path;
        let position = *positions.entry(number).or_insert(messages.len());
        match messages.get_mut(position) {
            // The first file says what the message says.
            Some(known) if known.files.iter().all(|file| *file < path) => known.files.push(path),
            Some(known) => {
                let mut message = Message::of(number, &stored.document);
                message.files = std::mem::take(&mut known.files);
                let at = message.files.partition_point(|file| *file < path);
                message.files.insert(at, path);
                if at == 0 {
                    *known = message;
                } else {
                    known.files = message.files;
                }
            }
            None => {
                let mut message = Message::of(number, &stored.document);
                message.files.push(path);
                messages.push(message);
            }
        }
    }
    Ok(messages)
}

/// Returns all files of the messages with these numbers, which must be sorted.
pub(super) fn files_of(source: &dyn Source, numbers: &[u64]) -> Result<Vec<DocAddress>, Error> {
    let mut files = Vec::new();
    for at in source.mail().linked(numbers)? {
        let number = number_of(source, at)?;
        if number.is_some_and(|number| numbers.binary_search(&number).is_ok()) {
            files.push(at);
        }
    }
    Ok(files)
}
