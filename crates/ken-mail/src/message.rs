//! A message: what its header says, its text, and the files that it carries.

use std::borrow::Cow;

use ken_core::MessageState;

use crate::charset::Charset;
use crate::decode::Content;

/// A message, with what it borrows from its bytes.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// Subject, decoded and on one line.
    pub subject: String,
    /// Senders, each as `Name <user@host>`, as in the four lists below.
    pub from: Vec<String>,
    /// Recipients.
    pub to: Vec<String>,
    /// Recipients of a copy.
    pub cc: Vec<String>,
    /// Recipients of a blind copy.
    pub bcc: Vec<String>,
    /// Where answers are to go.
    pub reply_to: Vec<String>,
    /// When it was sent, or else when it arrived, in seconds since 1970-01-01 UTC.
    pub date: Option<i64>,
    /// Message-ID, without angle brackets as the others below.
    pub id: String,
    /// Identifiers of the messages that it answers.
    pub in_reply_to: Vec<String>,
    /// Identifiers of the messages of its thread before it.
    pub references: Vec<String>,
    /// Identifier of the mailing list.
    pub list_id: String,
    /// What the sender or a list says of its weight.
    pub priority: Priority,
    /// Tags that the header gives it: `X-Label`, `X-Keywords`, `Keywords`, `X-Gmail-Labels`,
    /// `X-Mozilla-Keys`.
    pub tags: Vec<String>,
    /// States that a mailbox keeps in the header: `Status`, `X-Status`, `X-Mozilla-Status`, and labels.
    pub states: Vec<MessageState>,
    /// The body, in reading order; of alternatives the plain one, if it holds anything.
    pub texts: Vec<Text<'a>>,
    /// Media types of its own parts, which are no attachments, also of alternatives that are not kept; each once.
    pub media_types: Vec<String>,
    /// Attached files and messages, in order.
    pub attachments: Vec<Attachment<'a>>,
    /// Whether content is missing because it is encrypted.
    pub is_encrypted: bool,
    /// Whether content is signed.
    pub is_signed: bool,
    /// Whether parts are missing because there are too many of them.
    pub is_cut: bool,
}

/// How much a message is said to matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// Nothing, or nothing special, is said.
    #[default]
    Normal,
    /// It is marked as urgent.
    High,
    /// It is marked as less urgent, or sent to many.
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

    /// Reads the value of `X-Priority`, `Importance`, `Priority` or `Precedence`, none of which is a
    /// standard: a digit or a word, and often both.
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
    /// Text as it is to be read.
    Plain(Cow<'a, str>),
    /// A page, to be stripped by the caller.
    Html(Html<'a>),
}

/// A page that is a piece of the body.
#[derive(Debug, PartialEq, Eq)]
pub struct Html<'a> {
    /// The page.
    pub content: Content<'a>,
    /// Character set that the message declares for it.
    pub charset: Charset,
}

impl Html<'_> {
    /// Returns the bytes of the page and the name of their character set, if one is declared: one that
    /// the web knows.
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

/// A file or message that a message carries.
#[derive(Debug)]
pub struct Attachment<'a> {
    /// File name without folders; may be empty.
    pub name: String,
    /// Declared media type in lower case, without parameters.
    pub media_type: String,
    /// The file.
    pub content: Content<'a>,
}
