//! The parts of a message (RFC 2046): text, files, and encrypted content.
//!
//! The parts are walked once, with bounded depth and number. `mail-parser` 0.11.9 alone is not safe for foreign bytes.
//! A million nested messages (29 MB) overflow the stack when its structure is dropped, which cannot be caught, and
//! half a million multiparts without their boundary take minutes. It is also half as fast, because it reads every
//! header field.

use std::borrow::Cow;

use crate::charset::Charset;
use crate::decode::{Content, Detect, Transfer, text};
use crate::flowed;
use crate::header::Fields;
use crate::message::{Attachment, Html, Message, Text};
use crate::part::{PartInfo, file_name, split};
use crate::richer::{self, Kept};
use crate::{enriched, uuencode};

/// Multiparts nested deeper than this are handed on as files.
const MAX_DEPTH: usize = 20;

/// The most parts of one message; the others are left out.
const MAX_PARTS: usize = 10_000;

/// Adds the text and files in the content of a message to it.
pub(crate) fn read<'a>(
    info: PartInfo,
    body: &'a [u8],
    message: &mut Message<'a>,
    detect: Detect<'_>,
) {
    let mut reader = ContentReader {
        message,
        detect,
        n_parts: 0,
    };
    reader.content(info, body, 0);
}

/// The most media types of a message's own parts.
const MAX_TYPES: usize = 16;

struct ContentReader<'m, 'a, 'd> {
    message: &'m mut Message<'a>,
    detect: Detect<'d>,
    n_parts: usize,
}

impl<'a> ContentReader<'_, 'a, '_> {
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
        self.note(match info.media_type.as_str() {
            "" => "text/plain",
            kind => kind,
        });
        match info.media_type.as_str() {
            kind if is_smime(kind) && !(is_file && is_signed_file(&info.name)) => {
                self.smime(info, body)
            }
            "multipart/encrypted" => self.encrypted(&info, body),
            kind if kind.starts_with("multipart/") => self.multipart(&info, body, depth),
            kind if is_signature(kind) && depth > 0 => self.message.is_signed = true,
            kind if is_plain(kind) && !is_file => self.plain(&info, body),
            "text/html" if !is_file => self.html(&info, body),
            kind if !is_file && let Some(dialect) = enriched::dialect(kind) => {
                self.enriched(&info, body, dialect);
            }
            _ => self.attachment(info, body),
        }
    }

    fn note(&mut self, media_type: &str) {
        let known = &mut self.message.media_types;
        if known.len() < MAX_TYPES && !known.iter().any(|known| known == media_type) {
            known.push(media_type.to_owned());
        }
    }

    /// Notes encrypted content (RFC 1847): the part that says how it is encrypted, and the part that is.
    fn encrypted(&mut self, info: &PartInfo, body: &'a [u8]) {
        self.message.is_encrypted = true;
        let boundary = info.boundary.as_deref().unwrap_or_default();
        for part in split(body, boundary, MAX_TYPES) {
            let mut info = PartInfo::default();
            for (name, value) in Fields::new(part) {
                info.take(name, value, self.detect);
            }
            if !info.media_type.is_empty() {
                self.note(&info.media_type);
            }
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
            // A multipart without boundaries is text, or empty.
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

    /// Keeps the text of one alternative: the first plain one, else the last, which the sender prefers. A page that says
    /// more than the plain text is kept too, or instead. Other forms of the same text that ken does not read
    /// (`text/enriched`, AMP) do not become files.
    fn alternatives(&mut self, parts: &[&'a [u8]], depth: usize) {
        let first_file = self.message.attachments.len();
        let mut found = Vec::new();
        for part in parts {
            let before = self.message.texts.len();
            self.part(part, "", depth + 1);
            let texts = self.message.texts.split_off(before);
            if !texts.is_empty() {
                found.push(texts);
            }
        }
        if found.is_empty() {
            return;
        }
        self.message.texts.extend(richest(found, self.detect));
        let files = self.message.attachments.split_off(first_file);
        let files = files.into_iter().filter(|file| !is_other_form(file));
        self.message.attachments.extend(files);
    }

    /// Adds the files in uuencode within a text, and returns the text without them.
    fn without_files(&mut self, body: &'a [u8]) -> Cow<'a, [u8]> {
        let mut text_before = Vec::new();
        let mut rest = body;
        while let Some(block) = uuencode::find(rest) {
            if self.n_parts >= MAX_PARTS {
                self.message.is_cut = true;
                break;
            }
            self.n_parts += 1;
            text_before.extend_from_slice(&rest[..block.range.start]);
            let name = text(Cow::Borrowed(block.name), Charset::Unknown, self.detect);
            self.message.attachments.push(Attachment {
                name: file_name(&name),
                media_type: "application/octet-stream".to_owned(),
                content: Content {
                    raw: &rest[block.range.clone()],
                    transfer: Transfer::Uuencode,
                },
            });
            rest = &rest[block.range.end..];
        }
        if rest.len() == body.len() {
            return Cow::Borrowed(body);
        }
        text_before.extend_from_slice(rest);
        Cow::Owned(text_before)
    }

    fn plain(&mut self, info: &PartInfo, body: &'a [u8]) {
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        let bytes = match info.transfer {
            Transfer::Identity => self.without_files(body),
            _ => content.decode(),
        };
        let text = text(bytes, info.charset, self.detect);
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

    fn enriched(&mut self, info: &PartInfo, body: &'a [u8], dialect: enriched::Dialect) {
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        let marked = text(content.decode(), info.charset, self.detect);
        let plain = enriched::plain(&marked, dialect);
        if !plain.trim_ascii().is_empty() {
            self.message.texts.push(Text::Plain(Cow::Owned(plain)));
        }
    }

    fn html(&mut self, info: &PartInfo, body: &'a [u8]) {
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
            location: info.location.clone(),
        }));
    }

    /// Adds the content inside a signature as an attached message without a sender.
    fn smime(&mut self, info: PartInfo, body: &'a [u8]) {
        let content = Content {
            raw: body,
            transfer: info.transfer,
        };
        // RFC 8551 section 3.2.2.
        let kind = info.smime_type.as_deref();
        let signed = match kind {
            None | Some("signed-data") => content.as_signed(),
            Some(_) => None,
        };
        if let Some(content) = signed {
            self.message.is_signed = true;
            self.message.attachments.push(Attachment {
                name: String::new(),
                media_type: "message/rfc822".to_owned(),
                content,
            });
        } else if kind.is_none_or(|kind| kind.ends_with("enveloped-data")) {
            // A part without this parameter is enveloped, the only type in early versions.
            self.message.is_encrypted = true;
        } else {
            self.attachment(info, body);
        }
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

/// Returns the texts that are kept of alternatives; there must be at least one alternative.
fn richest<'a>(mut found: Vec<Vec<Text<'a>>>, detect: Detect<'_>) -> Vec<Text<'a>> {
    let is_plain = |texts: &Vec<Text<'_>>| texts.iter().all(|text| matches!(text, Text::Plain(_)));
    let last = found.len() - 1;
    let Some(plain) = found.iter().position(is_plain) else {
        return found.swap_remove(last);
    };
    let Some(page) = found.iter().rposition(|texts| !is_plain(texts)) else {
        return found.swap_remove(plain);
    };
    match richer::compare(&found[plain], &found[page], detect) {
        Kept::Plain => found.swap_remove(plain),
        Kept::Page => found.swap_remove(page),
        Kept::Both => {
            let page = std::mem::take(&mut found[page]);
            let mut texts = found.swap_remove(plain);
            texts.extend(page);
            texts
        }
    }
}

fn is_smime(media_type: &str) -> bool {
    matches!(
        media_type,
        "application/pkcs7-mime" | "application/x-pkcs7-mime"
    )
}

/// Returns whether a file is a signed document that was attached, such as `invoice.xml.p7m`, by its name.
fn is_signed_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.is_empty() && !matches!(name.as_str(), "smime.p7m" | "smime.p7z")
}

/// Returns whether a part is the text of a message in another form, and not a file. A calendar is more than its text.
fn is_other_form(file: &Attachment<'_>) -> bool {
    let is_text = file.media_type.starts_with("text/") && file.media_type != "text/calendar";
    is_text && file.name.is_empty()
}

fn is_signature(media_type: &str) -> bool {
    matches!(
        media_type,
        "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// Returns whether people read a type of text as it is, which includes the reports of bounced messages.
fn is_plain(media_type: &str) -> bool {
    matches!(
        media_type,
        "" | "text/plain" | "message/delivery-status" | "text/rfc822-headers"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(message: &str) -> Message<'_> {
        Message::parse(message.as_bytes(), &|bytes| {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        })
    }

    /// Returns the texts in short form, with pages in angle brackets.
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

    /// Returns a multipart of parts, each given by type and content.
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
    fn one_alternative_is_kept() {
        let plain = ("text/plain", "plain page");
        let page = ("text/html", "page");
        let inner = multipart("mixed", "in", &[page, ("text/plain", "footer")]);
        for (parts, expected) in [
            (&[plain, page][..], "plain page"),
            (&[page, plain], "plain page"),
            (&[("text/plain", " \n"), page], "<page>"),
            (&[page], "<page>"),
            (&[(&*inner.0, &*inner.1)], "<page>|footer"),
            (&[plain, (&*inner.0, &*inner.1)], "plain page|<page>|footer"),
            (
                &[("text/plain", "see the other"), page],
                "see the other|<page>",
            ),
            (
                &[("text/plain", "page"), ("text/html", "page and more")],
                "<page and more>",
            ),
        ] {
            let text = message(&multipart("alternative", "out", parts));
            assert_eq!(body(&parse(&text)), expected, "{text}");
        }
        let mixed = message(&multipart("mixed", "out", &[page, plain]));
        assert_eq!(body(&parse(&mixed)), "<page>|plain page");
    }

    #[test]
    fn types_are_those_of_all_parts_that_are_no_files() {
        let forms = multipart(
            "alternative",
            "in",
            &[
                ("text/plain", "plain"),
                ("text/enriched", "rich"),
                ("text/html", "page"),
            ],
        );
        let parts = [
            (&*forms.0, &*forms.1),
            ("image/png", "png"),
            ("text/html", "footer"),
            ("application/pgp-signature", "sig"),
        ];
        let text = message(&multipart("signed", "out", &parts));
        let expected = [
            "multipart/signed",
            "multipart/alternative",
            "text/plain",
            "text/enriched",
            "text/html",
            "image/png",
            "application/pgp-signature",
        ];
        assert_eq!(parse(&text).media_types, expected);
        assert_eq!(parse("Subject: x\n\ntext").media_types, ["text/plain"]);
        let file = "Content-Type: application/pdf; name=a.pdf\n\n%PDF";
        assert_eq!(parse(file).media_types, ["application/pdf"]);
        let mut many = String::new();
        for number in 0..40 {
            many += &format!("--b\nContent-Type: application/x-{number}\n\nx\n");
            many += &format!("--b\nContent-Type: multipart/x-{number}\n\nx\n");
        }
        let many = format!("Content-Type: multipart/mixed; boundary=b\n\n{many}--b--\n");
        assert!(parse(&many).media_types.len() <= MAX_TYPES);
    }

    #[test]
    fn files_are_distinguished_from_text() {
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
    fn files_in_uuencode_are_found_in_the_text() {
        let text = "Subject: x\n\nhello\nbegin 644 a/cat.txt\n#0V%T\n`\nend\nbye\nbegin 644 b\n#0V%T\n`\nend\n";
        let message = parse(text);
        assert_eq!(body(&message), "hello\nbye");
        let files = message.attachments.iter();
        let files: Vec<_> = files
            .map(|file| (&*file.name, file.content.decode()))
            .collect();
        let cat = Cow::Borrowed(&b"Cat"[..]);
        assert_eq!(files, [("cat.txt", cat.clone()), ("b", cat)]);
        let encoded = "Content-Transfer-Encoding: x-uuencode\nContent-Type: image/png\n\n\
            begin 644 a.png\n#0V%T\n`\nend\n";
        assert_eq!(&*parse(encoded).attachments[0].content.decode(), b"Cat");
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
    fn the_types_of_what_is_encrypted_are_known() {
        let text = "Content-Type: multipart/encrypted; boundary=b\n\n\
            --b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n\
            --b\nContent-Type: application/octet-stream; name=a.asc\n\nx\n--b--";
        let message = parse(text);
        let expected = [
            "multipart/encrypted",
            "application/pgp-encrypted",
            "application/octet-stream",
        ];
        assert_eq!(message.media_types, expected);
        assert!(message.attachments.is_empty());
    }

    #[test]
    fn other_forms_of_the_text_are_no_files() {
        let part = |kind: &str| format!("--b\nContent-Type: {kind}\n\nx\n");
        let text = |kinds: &[&str]| {
            let parts: String = kinds.iter().map(|kind| part(kind)).collect();
            format!("Content-Type: multipart/alternative; boundary=b\n\n{parts}--b--")
        };
        let files = |kinds: &[&str]| parse(&text(kinds)).attachments.len();
        assert_eq!(
            files(&["text/plain", "text/enriched", "text/x-amp-html"]),
            0
        );
        assert_eq!(files(&["text/plain", "text/calendar"]), 1);
        assert_eq!(files(&["text/plain", "text/enriched; name=a"]), 1);
        assert_eq!(files(&["text/x-amp-html"]), 1, "there is no other");
        let rich = parse("Content-Type: text/enriched\n\n<bold>Now</bold> <<3\n");
        assert_eq!(body(&rich), "Now <3");
    }

    #[test]
    fn a_type_without_its_semicolon_is_read() {
        let message = parse("Content-Type: TEXT/PLAIN charset=iso-8859-1\n\ntext");
        assert_eq!((message.texts.len(), message.attachments.len()), (1, 0));
        let multipart = "Content-Type: multipart/mixed boundary=\"b\"\n\n--b\n\ntext\n--b--";
        assert_eq!(parse(multipart).texts, [Text::Plain("text".into())]);
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
            (
                "Content-Type: multipart/mixed; boundary=b\n\n--c\nContent-Type: text/plain\n\nother\n--c--",
                "other",
            ),
            (
                "Content-Type: multipart/mixed;\nboundary=c\n\n--c\nContent-Type: text/plain\n\nother\n--c--",
                "other",
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
