//! A message: what its header says, its text, and the files that it carries.
//!
//! The parts are walked once, with bounded depth and number. `mail-parser` 0.11.9 alone would not
//! do for foreign bytes: a million nested messages (29 MB) overflow the stack when its structure
//! is dropped, which nobody can catch, and half a million multiparts whose boundary never comes
//! take minutes. It is also twice as slow, because it reads every header field.

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
            kind if kind.starts_with("multipart/") => self.multipart(&info, body, depth),
            kind if is_signature(kind) && depth > 0 => self.message.is_signed = true,
            kind if is_plain(kind) && !is_file => self.plain(&info, body),
            "text/html" if !is_file => self.html(info, body),
            _ => self.attachment(info, body),
        }
    }

    fn multipart(&mut self, info: &PartInfo, body: &'a [u8], depth: usize) {
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
            _ if parts.is_empty() => self.plain(info, body),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    fn parse(message: &str) -> Message<'_> {
        Message::parse(message.as_bytes(), &latin1)
    }

    /// The texts in short: pages in angle brackets.
    fn body(message: &Message<'_>) -> String {
        let texts: Vec<_> = message
            .texts
            .iter()
            .map(|text| match text {
                Text::Plain(text) => text.trim().to_owned(),
                Text::Html(html) => {
                    let page = html.content.decode();
                    format!("<{}>", String::from_utf8_lossy(&page).trim())
                }
            })
            .collect();
        texts.join("|")
    }

    /// A multipart of parts, each a type and a content.
    fn multipart(subtype: &str, boundary: &str, parts: &[(&str, &str)]) -> (String, String) {
        let mut content = String::new();
        for (media_type, text) in parts {
            content += &format!("--{boundary}\nContent-Type: {media_type}\n\n{text}\n");
        }
        content += &format!("--{boundary}--\n");
        (format!("multipart/{subtype}; boundary={boundary}"), content)
    }

    fn message(part: &(String, String)) -> String {
        format!("Subject: x\nContent-Type: {}\n\n{}", part.0, part.1)
    }

    #[test]
    fn header_fields_are_read_whatever_their_case_and_order() {
        let text = "\r\nSUBJECT: One\nsubject: two\nfrom: a@example.org\nTo: b@example.org\n\
            to: c@example.org\nMESSAGE-Id: <1@x>\nIn-Reply-To: <0@x>\nReferences: <9@x>\n <0@x>\n\
            List-ID: A list <a.example.org>\n\ntext";
        let message = parse(text);
        assert_eq!(message.subject, "One");
        assert_eq!(message.to, "b@example.org, c@example.org");
        assert_eq!(message.id, "1@x");
        assert_eq!(message.in_reply_to, ["0@x"]);
        assert_eq!(message.references, ["9@x", "0@x"]);
        assert_eq!(message.list_id, "a.example.org");
        assert_eq!(message.texts, [Text::Plain("text".into())]);
    }

    #[test]
    fn a_broken_date_gives_way_to_the_time_of_arrival() {
        let received = "Received: from a by b; Fri, 31 Jan 2003 12:34:56 +0000\n\
            Received: from c by a; Fri, 31 Jan 2003 11:11:11 +0000\n";
        for (date, expected) in [
            ("Date: Thu, 1 Jan 1970 00:00:09 +0000\n", Some(9)),
            ("Date: yesterday\n", Some(1_044_016_496)),
            ("", Some(1_044_016_496)),
        ] {
            assert_eq!(
                parse(&format!("{received}{date}\n")).date,
                expected,
                "{date}"
            );
        }
        assert_eq!(parse("Date: soon\n\n").date, None);
    }

    #[test]
    fn one_alternative_is_kept() {
        let plain = ("text/plain", "plain");
        let page = ("text/html", "page");
        let inner = multipart("mixed", "in", &[page, ("text/plain", "footer")]);
        for (parts, expected) in [
            (&[plain, page][..], "plain"),
            (&[page, plain], "plain"),
            (&[("text/plain", " \n"), page], "<page>"),
            (&[page], "<page>"),
            (&[(&*inner.0, &*inner.1)], "<page>|footer"),
            (&[plain, (&*inner.0, &*inner.1)], "plain"),
        ] {
            let text = message(&multipart("alternative", "out", parts));
            assert_eq!(body(&parse(&text)), expected, "{text}");
        }
        let mixed = message(&multipart("mixed", "out", &[page, plain]));
        assert_eq!(body(&parse(&mixed)), "<page>|plain");
    }

    #[test]
    fn files_are_told_from_text() {
        let text = message(&multipart(
            "mixed",
            "out",
            &[
                ("text/plain", "hello"),
                ("text/x-diff; name=a.patch", "patch"),
                ("text/plain; name=b.txt", "text"),
                ("image/png", "png"),
                ("message/rfc822", "Subject: inner\n\ntext"),
                ("message/delivery-status", "Status: 5.1.1"),
                ("application/pgp-signature; name=signature.asc", "sig"),
            ],
        ));
        let message = parse(&text);
        let files: Vec<_> = message
            .attachments
            .iter()
            .map(|file| format!("{} {}", file.media_type, file.name))
            .collect();
        assert_eq!(
            files,
            [
                "text/x-diff a.patch",
                "text/plain b.txt",
                "image/png ",
                "message/rfc822 "
            ]
        );
        assert_eq!(body(&message), "hello|Status: 5.1.1");
        assert!(message.is_signed);
        let sole = parse("Content-Type: text/plain; name=a.txt\n\nbody");
        assert_eq!(body(&sole), "body");
        let sole = parse("Content-Type: application/pdf; name=a.pdf\n\n%PDF");
        assert_eq!(sole.attachments[0].name, "a.pdf");
    }

    #[test]
    fn digests_hold_messages() {
        let text = "Content-Type: multipart/digest; boundary=d\n\n\
            --d\n\nSubject: one\n\n1\n--d\n\nSubject: two\n\n2\n--d--\n";
        let message = parse(text);
        let kinds: Vec<_> = message
            .attachments
            .iter()
            .map(|file| &*file.media_type)
            .collect();
        assert_eq!(kinds, ["message/rfc822", "message/rfc822"]);
        assert_eq!(
            &*message.attachments[1].content.decode(),
            b"Subject: two\n\n2"
        );
    }

    #[test]
    fn encryption_is_recognised() {
        for (text, is_encrypted) in [
            (
                "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--",
                true,
            ),
            (
                "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx",
                true,
            ),
            (
                "Content-Type: application/x-pkcs7-mime; name=smime.p7m\n\nx",
                true,
            ),
            (
                "Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nx",
                false,
            ),
            ("A: b\n\n-----BEGIN PGP MESSAGE-----\n\nabc\n", true),
            ("A: b\n\nsee -----BEGIN PGP MESSAGE-----\n", false),
        ] {
            assert_eq!(parse(text).is_encrypted, is_encrypted, "{text}");
        }
    }

    #[test]
    fn broken_structures_lose_no_text() {
        for (text, expected) in [
            (
                "Content-Type: multipart/mixed\n\nno boundary",
                "no boundary",
            ),
            (
                "Content-Type: multipart/mixed; boundary=b\n\nnever used",
                "never used",
            ),
            (
                "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nopen",
                "open",
            ),
            (
                "Content-Type: multipart/mixed; boundary=b\n\n--b\nno header at all\n",
                "no header at all",
            ),
            ("Content-Type: text\n\nbare", "bare"),
            ("Content-Type: ;;;\n\nodd", "odd"),
            ("no header, only text", "no header, only text"),
            (
                "Content-Transfer-Encoding: x-unknown\n\nas it is",
                "as it is",
            ),
        ] {
            assert_eq!(body(&parse(text)), expected, "{text}");
        }
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let mut deep = String::new();
        for level in 0..10_000 {
            deep += &format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n");
        }
        assert!(parse(&deep).is_cut);
        let many = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n{}",
            "--b\n\nx\n".repeat(2 * MAX_PARTS)
        );
        let message = parse(&many);
        assert!(message.is_cut);
        assert_eq!(message.texts.len(), MAX_PARTS);
        let nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
        assert_eq!(parse(&nested).attachments.len(), 1);
    }
}
