//! A message: its header, its text and its attachments.

use std::borrow::Cow;

use ken_core::MessageState;

use crate::charset::Charset;
use crate::decode::Content;

/// A message, which borrows from its bytes.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// The subject, decoded and on one line.
    pub subject: String,
    /// The senders, each as `Name <user@host>`, as in the four lists below.
    pub from: Vec<String>,
    /// The recipients.
    pub to: Vec<String>,
    /// The recipients of a copy.
    pub cc: Vec<String>,
    /// The recipients of a blind copy.
    pub bcc: Vec<String>,
    /// The addresses for replies.
    pub reply_to: Vec<String>,
    /// The time at which the message was sent, else when it arrived, in seconds since 1970-01-01 UTC.
    pub date: Option<i64>,
    /// The Message-ID, without angle brackets, as in the identifiers below.
    pub id: String,
    /// The identifiers of the messages that this one answers.
    pub in_reply_to: Vec<String>,
    /// The identifiers of the earlier messages of the thread.
    pub references: Vec<String>,
    /// The identifier of the mailing list.
    pub list_id: String,
    /// The importance that the sender or a list declares.
    pub priority: Priority,
    /// The tags in the header: `X-Label`, `X-Keywords`, `Keywords`, `X-Gmail-Labels`,
    /// `X-Mozilla-Keys`.
    pub tags: Vec<String>,
    /// The states that a mailbox keeps in the header: `Status`, `X-Status`, `X-Mozilla-Status`, and labels.
    pub states: Vec<MessageState>,
    /// The body, in reading order; of alternatives the plain one, unless it is empty or a page has more text.
    pub texts: Vec<Text<'a>>,
    /// The media types that the header and all parts name, those of files and of multiparts among them; each once.
    pub media_types: Vec<String>,
    /// Attached files and messages, in order.
    pub attachments: Vec<Attachment<'a>>,
    /// Whether encrypted content is missing.
    pub is_encrypted: bool,
    /// Whether the message has signed content.
    pub is_signed: bool,
    /// Whether the message was sent to many or by a program, and is not of a discussion: a newsletter, a notification.
    pub is_bulk: bool,
    /// Whether parts are left out because there are too many.
    pub is_cut: bool,
}

/// The declared importance of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// No special importance is declared.
    #[default]
    Normal,
    /// The message is marked as urgent.
    High,
    /// The message is marked as less urgent, or sent to many.
    Low,
}

impl Priority {
    /// Returns the name in queries and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::High => "high",
            Self::Low => "low",
        }
    }

    /// Reads the value of `X-Priority`, `Importance`, `Priority` or `Precedence`, none of which is standardised: a
    /// digit or a word, and often both.
    pub(crate) fn read(value: &str) -> Self {
        let word = value.trim().to_ascii_lowercase();
        let word = word.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        match word.into_iter().next().unwrap_or_default() {
            "1" | "2" | "high" | "urgent" => Self::High,
            "4" | "5" | "low" | "non-urgent" | "list" | "bulk" | "junk" => Self::Low,
            _ => Self::Normal,
        }
    }
}

/// A piece of the body.
#[derive(Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// Text to be read as it is.
    Plain(Cow<'a, str>),
    /// A page, which the caller must strip of markup.
    Html(Html<'a>),
}

/// An HTML page that is a piece of the body.
#[derive(Debug, PartialEq, Eq)]
pub struct Html<'a> {
    /// The page.
    pub content: Content<'a>,
    /// The character set that the message declares for the page.
    pub charset: Charset,
    /// Where a saved page is from (`Content-Location`, RFC 2557); empty if the message does not say.
    pub location: String,
}

impl Html<'_> {
    /// Returns the bytes of the page, and the name of their character set if one is declared. Bytes in a character set
    /// that the web does not use are converted to UTF-8.
    pub fn page(&self) -> (Cow<'_, [u8]>, Option<&'static str>) {
        let bytes = self.content.decode();
        match self.charset {
            Charset::Unknown => (bytes, None),
            Charset::Web(encoding) => (bytes, Some(encoding.name())),
            charset => {
                let text = charset.decode(&bytes).unwrap_or_default();
                (text.into_owned().into_bytes().into(), Some("utf-8"))
            }
        }
    }
}

/// A file or message attached to a message.
#[derive(Debug)]
pub struct Attachment<'a> {
    /// The file name without folders; may be empty.
    pub name: String,
    /// The declared media type in lower case, without parameters.
    pub media_type: String,
    /// The content of the file.
    pub content: Content<'a>,
}
