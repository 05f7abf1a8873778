//! A message with everything that mu says of it.
//!
//! The index suffices for a list of messages. A message that is opened, moved or answered is read from its file, which
//! is more recent than the index.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ken_core::{Document, Field, MESSAGE_STATES, MessageState, MessageStateInfo, Reason, Value};
use ken_mail::maildir::{Flags, MaildirPath};
use ken_mail::thread::ancestors;
use ken_mail::{Message, MimePart, Personal, Text, header_values, made_id, mime_parts};
use ken_search::service::mail::Message as IndexMessage;

use super::error::ErrorKind;
use super::{Address, Error};

/// The most bytes of a message's file; nobody reads larger ones.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// The scheme of an address in a header.
const MAILTO: &str = "mailto:";

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// The file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub size: u64,
    /// The time of the last change or rename of the file, in seconds since 1970-01-01 UTC.
    pub changed: i64,
    /// The time of the last change of content.
    pub modified: i64,
    /// The time at which the message was sent.
    pub date: i64,
    /// The subject.
    pub subject: String,
    /// The senders.
    pub from: Vec<Address>,
    /// The recipients.
    pub to: Vec<Address>,
    /// The recipients of a copy.
    pub cc: Vec<Address>,
    /// The recipients of a blind copy.
    pub bcc: Vec<Address>,
    /// The addresses for replies.
    pub reply_to: Vec<Address>,
    /// The Message-ID; made up if the message has none.
    pub id: String,
    /// The identifiers of the earlier messages in the thread.
    pub references: Vec<String>,
    /// The mailing list.
    pub list: String,
    /// The address for messages to the list, if the file was read.
    pub list_post: Vec<Address>,
    /// The tags from the header.
    pub tags: Vec<String>,
    /// `high`, `normal` or `low`.
    pub priority: String,
    /// The language, if known.
    pub language: String,
    /// Whether the message is signed.
    pub is_signed: bool,
    /// Whether the message is encrypted.
    pub is_encrypted: bool,
    /// Whether the message has attachments.
    pub has_attachments: bool,
    /// Whether an attachment is an invitation.
    pub has_calendar: bool,
    /// Whether the message is from or to the user.
    pub is_personal: bool,
}

/// The form in which the body of a message is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyForm {
    /// Plain text; HTML if the message has no other text.
    Plain,
    /// The HTML of the message.
    Html,
}

impl Mail {
    /// Makes a [`Mail`] from a message of the index.
    pub(crate) fn of_message_of_index(message: &IndexMessage, personal: &Personal) -> Self {
        let document = &message.document;
        let number = |field| document.number(field).unwrap_or_default();
        let text = |field| document.text(field).unwrap_or_default().to_owned();
        let has = |field, wanted: &str| texts(document, field).any(|value| value == wanted);
        let encrypted = document.failure.as_ref().map(|failure| failure.reason());
        let mut mail = Self {
            size: u64::try_from(number(Field::Size)).unwrap_or_default(),
            changed: number(Field::Modified),
            modified: number(Field::Modified),
            date: number(Field::Date),
            subject: text(Field::Title),
            from: addresses(document, Field::Author),
            to: addresses(document, Field::To),
            cc: addresses(document, Field::Cc),
            bcc: addresses(document, Field::Bcc),
            reply_to: addresses(document, Field::Replyto),
            id: text(Field::Msgid),
            references: texts(document, Field::References)
                .map(str::to_owned)
                .collect(),
            list: text(Field::List),
            tags: texts(document, Field::Tag).map(str::to_owned).collect(),
            priority: text(Field::Prio),
            language: text(Field::Lang),
            is_signed: has(Field::Is, "signed"),
            is_encrypted: encrypted == Some(Reason::Encrypted),
            has_attachments: has(Field::Has, "attachment"),
            has_calendar: has(Field::Has, "text/calendar"),
            ..Self::default()
        };
        mail.lie_at(message.location.path.clone());
        mail.complete(personal);
        mail
    }

    /// Reads the file of a message.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn read(path: &Path, personal: &Personal) -> Result<Self, Error> {
        let bytes = read_file(path)?;
        Ok(Self::of_message(path, &bytes, personal))
    }

    /// Makes a [`Mail`] from the bytes of a message.
    pub fn of_message(path: &Path, bytes: &[u8], personal: &Personal) -> Self {
        let message = Message::parse(bytes, &detect_charset);
        let read = |list: &[String]| list.iter().map(|text| Address::read(text)).collect();
        let calendar = |media_type: &str| media_type == "text/calendar";
        let mut mail = Self {
            size: bytes.len() as u64,
            date: message.date.unwrap_or_default(),
            subject: message.subject.clone(),
            from: read(&message.from),
            to: read(&message.to),
            cc: read(&message.cc),
            bcc: read(&message.bcc),
            reply_to: read(&message.reply_to),
            id: match message.id.as_str() {
                "" => made_id(bytes),
                id => id.to_owned(),
            },
            references: ancestors(&message.references, &message.in_reply_to),
            list: message.list_id.clone(),
            list_post: list_post(bytes),
            tags: message.tags.clone(),
            priority: message.priority.name().to_owned(),
            is_signed: message.is_signed,
            is_encrypted: message.is_encrypted,
            has_attachments: !message.attachments.is_empty(),
            has_calendar: message.attachments.iter().any(|a| calendar(&a.media_type)),
            ..Self::default()
        };
        mail.lie_at(path.to_path_buf());
        mail.complete(personal);
        mail
    }

    /// Sets the path, and the time of its last change if the file exists.
    pub(crate) fn lie_at(&mut self, path: PathBuf) {
        if let Ok(metadata) = fs_err::metadata(&path) {
            self.changed = metadata.ctime();
            self.modified = metadata.mtime();
        }
        self.path = path;
    }

    fn complete(&mut self, personal: &Personal) {
        if self.priority.is_empty() {
            "normal".clone_into(&mut self.priority);
        }
        let all = [&self.from, &self.to, &self.cc, &self.bcc];
        self.is_personal = all
            .into_iter()
            .flatten()
            .any(|address| personal.is(&address.email));
    }

    /// Returns the names of the flags, in mu's order.
    pub fn flags(&self) -> Vec<&'static str> {
        let flags = Flags::of_path(&self.path);
        let is_set = |row: &&MessageStateInfo| match row.state {
            MessageState::New => flags.is_new(),
            MessageState::Signed => self.is_signed,
            MessageState::Encrypted => self.is_encrypted,
            MessageState::Attachment => self.has_attachments,
            MessageState::Unread => flags.is_unread(),
            MessageState::List => !self.list.is_empty(),
            MessageState::Personal => self.is_personal,
            MessageState::Calendar => self.has_calendar,
            _ => flags.has(row.letter),
        };
        let rows = MESSAGE_STATES.iter().filter(is_set);
        rows.map(|row| row.mu).collect()
    }

    /// Returns the folder, starting at the folder of all mail: `/inbox`, and `/` for that folder itself.
    pub fn maildir(&self, root: &Path) -> String {
        let folder = MaildirPath::of_path(&self.path).map(|found| found.maildir);
        let below = folder
            .as_deref()
            .and_then(|folder| folder.strip_prefix(root).ok());
        format!("/{}", below.unwrap_or(Path::new("")).to_string_lossy())
    }
}

/// Returns all parts of a message, in order.
pub fn parts(message: &[u8]) -> Vec<MimePart<'_>> {
    mime_parts(message, &detect_charset)
}

/// Returns the body of a message; empty if it has none in this form.
pub fn body(message: &[u8], form: BodyForm) -> String {
    let texts = Message::parse(message, &detect_charset).texts;
    let plain: String = texts
        .iter()
        .filter_map(|text| match text {
            Text::Plain(text) => Some(&**text),
            Text::Html(_) => None,
        })
        .collect();
    if form == BodyForm::Plain && !plain.trim().is_empty() {
        return plain;
    }
    let parts = parts(message);
    let pages = parts
        .iter()
        .filter(|part| part.media_type == "text/html" && !part.is_file);
    pages.map(|page| page.text(&detect_charset)).collect()
}

/// Returns the address in `List-Post: <mailto:dev@lists.example.org>`.
fn list_post(message: &[u8]) -> Vec<Address> {
    let values = header_values(message, &["List-Post"], &detect_charset);
    let address = values.iter().find_map(|(_, value)| {
        let at = value.to_ascii_lowercase().find(MAILTO)?;
        let address = value[at + MAILTO.len()..]
            .split(['>', '?', ',', ' '])
            .next()?;
        (!address.is_empty()).then(|| Address::read(address))
    });
    address.into_iter().collect()
}

/// Returns the content of a message's file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |_| {
        let message = format!("file @ '{}' is not readable", path.display());
        Error::new(ErrorKind::File, message)
    };
    let metadata = fs_err::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(unreadable(std::io::ErrorKind::InvalidInput.into()));
    }
    let mut bytes = Vec::new();
    let read = ken_pipeline::open_named(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(unreadable)
}

/// Decodes bytes without a declared character set.
fn detect_charset(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

fn texts(document: &Document, field: Field) -> impl Iterator<Item = &str> {
    document
        .fields
        .iter()
        .filter_map(move |(of, value)| match value {
            Value::Text(text) if *of == field => Some(text.as_str()),
            _ => None,
        })
}

fn addresses(document: &Document, field: Field) -> Vec<Address> {
    texts(document, field).map(Address::read).collect()
}
