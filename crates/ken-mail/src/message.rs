//! A message: what its header says, its text, and the files that it carries.
//!
//! The parts are walked once, with bounded depth and number. `mail-parser` alone would not do for
//! foreign bytes: nested messages make a structure as deep as the input that overflows the stack
//! when it is dropped, and boundaries that never come are searched to the end again and again.

use std::borrow::Cow;
use std::ops::Range;

use crate::decode::{Content, Detect, text};
use crate::header::{Fields, add_addresses, clean, id, ids, words};
use crate::part::{PartInfo, split};
use crate::{date, flowed};

/// Multiparts inside multiparts deeper than this are handed on as files.
const MAX_DEPTH: usize = 20;

/// Parts of one message beyond this number are left out.
const MAX_PARTS: usize = 10_000;

/// Lists of recipients beyond this are left out.
const MAX_LIST_BYTES: usize = 1 << 20;

/// A message, with what it borrows from its bytes.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// Subject, decoded and on one line.
    pub subject: String,
    /// Senders: `Name <user@host>`, joined by commas, as the three lists below.
    pub from: String,
    /// Recipients.
    pub to: String,
    /// Recipients of a copy.
    pub cc: String,
    /// Recipients of a blind copy.
    pub bcc: String,
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
    /// The body, in reading order; of alternatives the plain one, if it holds anything.
    pub texts: Vec<Text<'a>>,
    /// Attached files and messages, in order.
    pub attachments: Vec<Attachment<'a>>,
    /// Whether content is missing because it is encrypted.
    pub is_encrypted: bool,
    /// Whether content is signed.
    pub is_signed: bool,
    /// Whether parts are missing because there are too many of them.
    pub is_cut: bool,
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
    pub charset: Option<String>,
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

impl<'a> Message<'a> {
    /// Reads a message. Whatever the bytes are, it is at least an empty one.
    ///
    /// `detect` makes text of bytes whose character set nobody declared. Takes time linear in the
    /// number of bytes; text and files are borrowed from them where they are not encoded.
    pub fn parse(bytes: &'a [u8], detect: Detect<'_>) -> Self {
        let mut message = Self::default();
        let mut header = Header::default();
        let mut info = PartInfo::default();
        let mut fields = Fields::new(without_empty_lines(bytes));
        for (name, value) in fields.by_ref() {
            info.take(name, value, detect);
            header.take(name, value, detect, &mut message);
        }
        message.date = header.sent.or(header.received);
        let mut walk = Walk {
            message: &mut message,
            detect,
            n_parts: 0,
        };
        walk.content(info, fields.body(), 0);
        message
    }
}

fn without_empty_lines(bytes: &[u8]) -> &[u8] {
    let start = bytes
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))
        .unwrap_or(bytes.len());
    &bytes[start..]
}

/// The dates of a header, of which the better one is taken at the end.
#[derive(Default)]
struct Header {
    sent: Option<i64>,
    received: Option<i64>,
}

impl Header {
    fn take(&mut self, name: &[u8], value: &[u8], detect: Detect<'_>, message: &mut Message<'_>) {
        let mut lower = [0; 16];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let value = || clean(value, detect);
        match &*lower {
            b"subject" if message.subject.is_empty() => message.subject = words(&value()),
            b"from" => add_list(&value(), &mut message.from),
            b"to" => add_list(&value(), &mut message.to),
            b"cc" => add_list(&value(), &mut message.cc),
            b"bcc" => add_list(&value(), &mut message.bcc),
            b"date" if self.sent.is_none() => self.sent = date::parse(&value()),
            b"received" if self.received.is_none() => self.received = received(&value()),
            b"message-id" if message.id.is_empty() => message.id = id(&value()),
            b"in-reply-to" => message.in_reply_to = ids(&value()),
            b"references" => message.references = ids(&value()),
            b"list-id" => message.list_id = id(&value()),
            _ => {}
        }
    }
}

fn add_list(value: &str, list: &mut String) {
    if list.len() < MAX_LIST_BYTES {
        add_addresses(value, list);
    }
}

/// Returns the date that a Received field ends with.
fn received(value: &str) -> Option<i64> {
    date::parse(value.rsplit_once(';')?.1)
}

struct Walk<'m, 'a, 'd> {
    message: &'m mut Message<'a>,
    detect: Detect<'d>,
    n_parts: usize,
}

impl<'a> Walk<'_, 'a, '_> {
    fn part(&mut self, bytes: &'a [u8], default_type: &str, depth: usize) {
        let mut info = PartInfo::default();
        let mut fields = Fields::new(bytes);
        for (name, value) in fields.by_ref() {
            info.take(name, value, self.detect);
        }
        if info.media_type.is_empty() {
            default_type.clone_into(&mut info.media_type);
        }
        self.content(info, fields.body(), depth);
    }

    fn content(&mut self, info: PartInfo, body: &'a [u8], depth: usize) {
        let is_file = info.is_attachment || depth > 0 && !info.name.is_empty();
        match info.media_type.as_str() {
            _ if is_encrypted(&info) => self.message.is_encrypted = true,
            kind if kind.starts_with("multipart/") => self.multipart(info, body, depth),
            kind if is_signature(kind) && depth > 0 => self.message.is_signed = true,
            kind if is_plain(kind) && !is_file => self.plain(&info, body),
            "text/html" if !is_file => self.html(info, body),
            _ => self.attachment(info, body),
        }
    }

    fn multipart(&mut self, info: PartInfo, body: &'a [u8], depth: usize) {
        if depth >= MAX_DEPTH {
            self.message.is_cut = true;
            return;
        }
        let boundary = info.boundary.as_deref().unwrap_or_default();
        let left = MAX_PARTS.saturating_sub(self.n_parts);
        let parts = split(body, boundary, left);
        self.n_parts += parts.len();
        self.message.is_cut |= self.n_parts >= MAX_PARTS;
        match info.media_type.as_str() {
            // Without boundaries it is text, or nothing.
            _ if parts.is_empty() => self.plain(&info, body),
            "multipart/alternative" => self.alternatives(&parts, depth),
            "multipart/digest" => self.parts(&parts, "message/rfc822", depth),
            _ => self.parts(&parts, "", depth),
        }
    }

    fn parts(&mut self, parts: &[&'a [u8]], default_type: &str, depth: usize) {
        for part in parts {
            self.part(part, default_type, depth + 1);
        }
    }

    /// Keeps the text of one alternative: of the first that is plain, else of the last, which
    /// the sender thinks best.
    fn alternatives(&mut self, parts: &[&'a [u8]], depth: usize) {
        let start = self.message.texts.len();
        let mut kept: Option<Range<usize>> = None;
        let mut is_plain = false;
        for part in parts {
            let before = self.message.texts.len();
            self.part(part, "", depth + 1);
            let range = before..self.message.texts.len();
            if !is_plain && !range.is_empty() {
                let texts = &self.message.texts[range.clone()];
                is_plain = texts.iter().all(|text| matches!(text, Text::Plain(_)));
                kept = Some(range);
            }
        }
        if let Some(kept) = kept {
            self.message.texts.truncate(kept.end);
            self.message.texts.drain(start..kept.start);
        }
    }

    fn plain(&mut self, info: &PartInfo, body: &'a [u8]) {
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        let text = text(content.decode(), info.charset.as_deref(), self.detect);
        let start = text.trim_ascii_start();
        if start.starts_with("-----BEGIN PGP MESSAGE-----") {
            self.message.is_encrypted = true;
        } else if start.starts_with("-----BEGIN PGP SIGNED MESSAGE-----") {
            self.message.is_signed = true;
        }
        if start.is_empty() || start.starts_with("-----BEGIN PGP MESSAGE-----") {
            return;
        }
        let text = if info.is_flowed {
            Cow::Owned(flowed::unwrap(&text, info.deletes_space))
        } else {
            text
        };
        self.message.texts.push(Text::Plain(text));
    }

    fn html(&mut self, info: PartInfo, body: &'a [u8]) {
        if body.trim_ascii_start().is_empty() {
            return;
        }
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        self.message.texts.push(Text::Html(Html {
            content,
            charset: info.charset,
        }));
    }

    fn attachment(&mut self, info: PartInfo, body: &'a [u8]) {
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        self.message.attachments.push(Attachment {
            name: info.name,
            media_type: info.media_type,
            content,
        });
    }
}

/// RFC 1847, RFC 8551 section 3.2.2.
fn is_encrypted(info: &PartInfo) -> bool {
    match info.media_type.as_str() {
        "multipart/encrypted" => true,
        "application/pkcs7-mime" | "application/x-pkcs7-mime" => {
            // What is not named otherwise is enveloped, as it was before other types existed.
            info.smime_type
                .as_deref()
                .is_none_or(|kind| kind.ends_with("enveloped-data"))
        }
        _ => false,
    }
}

fn is_signature(media_type: &str) -> bool {
    matches!(
        media_type,
        "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// Types of text that people read as it stands: also what a bounced message reports.
fn is_plain(media_type: &str) -> bool {
    matches!(
        media_type,
        "" | "text/plain" | "message/delivery-status" | "text/rfc822-headers"
    )
}
