//! Recognises text formats by content: messages, markup, scripts.
//!
//! The rules for HTML follow the WHATWG MIME Sniffing Standard. Those for messages follow RFC 5322
//! (a block of header fields) and RFC 4155 (mbox: a `From ` line before that).

use ken_core::Kind::{Archive, Data, Document, Image, Message, Other, Spreadsheet};

use super::{Detected, names};

const fn format(media_type: &'static str, kind: ken_core::Kind) -> Detected {
    Detected { media_type, kind }
}

pub(super) const MESSAGE: Detected = format("message/rfc822", Message);
const MBOX: Detected = format("application/mbox", Archive);
const HTML: Detected = format("text/html", Document);

/// Recognises a message or mailbox by its header lines. In a Maildir one header field that is
/// typical of messages is enough.
pub(super) fn message(head: &[u8], in_maildir: bool) -> Option<Detected> {
    let is_mailbox = head.starts_with(b"From ") && !in_maildir;
    let fields = without_separators(head);
    if is_mailbox {
        return is_header(fields, 1).then_some(MBOX);
    }
    let is_message = is_header(fields, if in_maildir { 1 } else { 2 }) || is_bare_multipart(fields);
    is_message.then_some(MESSAGE)
}

/// Returns whether a text is a message without a sender, as Outlook stores the signed part of one: the version of MIME comes
/// first, and the type says that parts follow.
fn is_bare_multipart(text: &[u8]) -> bool {
    let has_prefix = |line: &[u8], prefix: &[u8]| {
        let start = line.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let mut lines = text.split(|byte| *byte == b'\n');
    let is_first = lines
        .next()
        .is_some_and(|line| has_prefix(line, b"mime-version: 1.0"));
    let mut fields = lines
        .map(<[u8]>::trim_ascii_end)
        .take(MAX_BARE_LINES)
        .take_while(|line| !line.is_empty());
    is_first && fields.any(|line| has_prefix(line, b"content-type: multipart/"))
}

/// Messages without a sender have few fields.
const MAX_BARE_LINES: usize = 20;

/// Returns what follows the lines `From ` and `>From ` at the start of a mailbox, or of a message that was
/// once in a mailbox.
fn without_separators(head: &[u8]) -> &[u8] {
    let mut rest = head;
    for prefix in [&b"From "[..], b">From "] {
        if rest.starts_with(prefix) {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            rest = &rest[end..];
        }
    }
    rest
}

/// Returns whether `text` starts with header fields, of which at least `wanted` occur in messages
/// only.
fn is_header(text: &[u8], wanted: usize) -> bool {
    let mut known = 0;
    let mut proofs = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    let mut start = 0;
    for end in ends {
        let line = &text[start..end];
        start = end + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.first() {
            None => break,
            Some(b' ' | b'\t') => continue,
            Some(_) => {}
        }
        let Some(colon) = memchr::memchr(b':', &line[..line.len().min(80)]) else {
            // The head may end within a line, but only once.
            return known > wanted && proofs > 0 && text.ends_with(line);
        };
        if !line[..colon]
            .iter()
            .all(|byte| matches!(byte, b'!'..=b'9' | b';'..=b'~'))
        {
            return false;
        }
        match ken_mail::field_weight(&line[..colon]) {
            0 if known == 0 && wanted > 1 && !may_lead(line) => return false,
            0 => {}
            1 => known += 1,
            _ => {
                known += 1;
                proofs += 1;
            }
        }
    }
    known >= wanted && (proofs > 0 || known > 2 || wanted == 1)
}

/// Returns whether a header field may stand before those by which a message is known. Python's `email`, for one, begins with
/// `Content-Type`.
fn may_lead(line: &[u8]) -> bool {
    let begins = |prefix: &[u8]| {
        let start = line.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    line.starts_with(b"X-") || begins(b"content-") || begins(b"mime-version:")
}

/// How strongly the content speaks against the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// This format, even if the name suggests another text format.
    Certain(Detected),
    /// This format, if the name says nothing more exact.
    Likely(Detected),
}

/// Recognises markup and scripts at the start of a UTF-8 text.
pub(super) fn text(head: &[u8]) -> Option<Sniffed> {
    let start = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    match start {
        [b'#', b'!', ..] => shebang(start).map(Sniffed::Likely),
        [b'<', b'M', b'I', b'F', b'F', ..] => {
            Some(Sniffed::Certain(format("application/vnd.mif", Document)))
        }
        [b'<', ..] => markup(start),
        [b'{', b'\\', b'r', b't', b'f', ..] => {
            Some(Sniffed::Certain(format("application/rtf", Document)))
        }
        [b'%', b'!', b'P', b'S', b'-', b'A', ..] => {
            Some(Sniffed::Certain(format("application/postscript", Document)))
        }
        [b'B', b'E', b'G', b'I', b'N', b':', b'V', kind, ..] => match kind {
            b'C' if start.starts_with(b"BEGIN:VCALENDAR") => {
                Some(Sniffed::Likely(format("text/calendar", Data)))
            }
            b'C' => Some(Sniffed::Likely(format("text/vcard", Data))),
            _ => None,
        },
        [b'{', after @ ..] if after.trim_ascii_start().starts_with(b"\"") => {
            Some(Sniffed::Likely(format("application/json", Data)))
        }
        _ if [&b"-----BEGIN PKCS7"[..], b"-----BEGIN CMS"]
            .iter()
            .any(|mark| start.starts_with(mark)) =>
        {
            Some(Sniffed::Certain(format("application/pkcs7-mime", Archive)))
        }
        _ if is_drawing(start) => Some(Sniffed::Likely(format("image/vnd.dxf", Image))),
        // The armour of keys, but not of signed messages, which are readable.
        _ if start.starts_with(b"-----BEGIN ") && !start.starts_with(b"-----BEGIN PGP SIGNED") => {
            Some(Sniffed::Likely(format("application/x-pem-file", Other)))
        }
        [b'#', b'L', b'y', b'X', b' ', ..] => {
            Some(Sniffed::Certain(format("application/x-lyx", Document)))
        }
        [b'\\', b'i' | b'd', ..] => tex(start).map(Sniffed::Likely),
        [b'T', b'h', b'i', b's', b' ', ..] if is_info(start) => {
            Some(Sniffed::Certain(format("application/x-gnuinfo", Document)))
        }
        // The entry for the list of all manuals may come first.
        _ if start.starts_with(b"INFO-DIR-SECTION ") => {
            Some(Sniffed::Certain(format("application/x-gnuinfo", Document)))
        }
        _ if start.starts_with(b"/* XPM */") => {
            Some(Sniffed::Certain(format("image/x-xpixmap", Image)))
        }
        _ => None,
    }
}

/// Returns whether a text begins as a drawing in DXF: the group code 0, a section, and the code of its name.
fn is_drawing(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    [&b"0"[..], b"SECTION", b"2"]
        .iter()
        .all(|wanted| lines.next() == Some(wanted))
}

/// Recognises a line like `This is knots.info, produced by makeinfo version 6.8 from knots.texi.`
fn is_info(start: &[u8]) -> bool {
    let line = &start[..memchr::memchr(b'\n', start).unwrap_or(start.len())];
    memchr::memmem::find(line, b"produced by makeinfo").is_some()
}

/// Returns the format that the first command of a TeX source suggests.
fn tex(start: &[u8]) -> Option<Detected> {
    if start.starts_with(b"\\input texinfo") {
        return Some(format("text/x-texinfo", Document));
    }
    let begins = |command: &[u8]| start.starts_with(command);
    (begins(b"\\documentclass") || begins(b"\\documentstyle"))
        .then_some(format("text/x-tex", Document))
}

/// Returns whether a text has lines of troff requests. Names such as `notes-1.2` look like those of
/// manual pages, and lines of other texts may begin with a dot.
pub(super) fn is_troff(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.any(|line| {
        let [b'.' | b'\'', request @ ..] = line else {
            return false;
        };
        let request = request.trim_ascii_start();
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
        let end = request.iter().position(is_end).unwrap_or(request.len());
        request.starts_with(b"\\\"") || TROFF_REQUESTS.contains(&&request[..end])
    })
}

/// Requests and macros that troff documents begin with.
const TROFF_REQUESTS: [&[u8]; 38] = [
    b"TH", b"SH", b"SS", b"PP", b"LP", b"TP", b"IP", b"Dd", b"Dt", b"Os", b"Sh", b"Ss", b"Nm",
    b"Pp", b"TL", b"AU", b"NH", b"RP", b"so", b"de", b"de1", b"ds", b"nr", b"br", b"sp", b"ft",
    b"ps", b"vs", b"ll", b"po", b"nf", b"fi", b"ad", b"na", b"hy", b"ig", b"ie", b"TITLE",
];

/// Returns the format of a script by its first line: `#!/usr/bin/env -S FOO=bar python3 -u` →
/// python3
fn shebang(start: &[u8]) -> Option<Detected> {
    let line = start[2..].split(|&byte| byte == b'\n').next()?;
    let words = || {
        line.split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty() && word[0] != b'-' && !word.contains(&b'='))
    };
    let first = words().next()?;
    if first.ends_with(b"/env") || first == b"env" {
        return names::by_interpreter(words().nth(1)?);
    }
    names::by_interpreter(first)
}

fn markup(start: &[u8]) -> Option<Sniffed> {
    let is_xml = start.starts_with(b"<?xml");
    let mut rest = start;
    // Skips declarations and comments before the root; each turn removes at least three bytes.
    loop {
        rest = rest.trim_ascii_start();
        if rest.starts_with(b"<!--") {
            let end = memchr::memmem::find(rest, b"-->")?;
            rest = &rest[end + 3..];
        } else if starts_with_word(rest, b"<!doctype html") {
            let named = if is_xml { XHTML } else { HTML };
            return Some(Sniffed::Certain(named));
        } else if is_doctype(rest, b"//DTD DocBook") {
            return Some(Sniffed::Certain(DOCBOOK));
        } else if is_doctype(rest, b"//NLM//DTD J") {
            return Some(Sniffed::Certain(JATS));
        } else if rest.starts_with(b"<?") || rest.starts_with(b"<!") {
            let Some(end) = memchr::memchr(b'>', rest) else {
                return is_xml.then_some(Sniffed::Certain(XML));
            };
            rest = &rest[end + 1..];
        } else {
            break;
        }
    }
    root(rest, is_xml)
}

const DOCBOOK: Detected = format("application/docbook+xml", Document);
const JATS: Detected = format("application/jats+xml", Document);
const INDESIGN: Detected = format("application/x-indesign-story+xml", Document);
const XML: Detected = format("application/xml", Data);
const XHTML: Detected = format("application/xhtml+xml", Document);

/// Returns whether the first lines hold a public identifier, in XML or SGML.
fn is_doctype(rest: &[u8], identifier: &[u8]) -> bool {
    let start = &rest[..rest.len().min(200)];
    starts_with_word(start, b"<!doctype") && memchr::memmem::find(start, identifier).is_some()
}

/// Returns whether an article begins as those of journals do.
fn is_jats(rest: &[u8]) -> bool {
    let start = &rest[..rest.len().min(1000)];
    [&b"<front>"[..], b"dtd-version="]
        .iter()
        .any(|mark| memchr::memmem::find(start, mark).is_some())
}

/// Returns the format that the first element suggests.
fn root(rest: &[u8], is_xml: bool) -> Option<Sniffed> {
    let name = rest.strip_prefix(b"<")?;
    let end = name
        .iter()
        .position(|byte| matches!(byte, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'));
    let name = &name[..end.unwrap_or(name.len())];
    let local = name.rsplit(|&byte| byte == b':').next().unwrap_or(name);
    // XMP packets begin with a processing instruction of their own.
    if local == b"xmpmeta" {
        return Some(Sniffed::Certain(format("application/x-xmp+xml", Data)));
    }
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    if is("html") {
        return Some(Sniffed::Certain(if is_xml { XHTML } else { HTML }));
    }
    if !is_xml {
        if is("head") || is("body") {
            return Some(Sniffed::Certain(HTML));
        }
        if let Some(found) = dialect(local, rest) {
            return Some(Sniffed::Likely(found));
        }
        let is_html = HTML_ELEMENTS.iter().any(|known| is(known));
        return is_html.then_some(Sniffed::Likely(HTML));
    }
    Some(Sniffed::Certain(dialect(local, rest).unwrap_or(XML)))
}

/// Returns the format that a root element proves.
fn dialect(local: &[u8], rest: &[u8]) -> Option<Detected> {
    let names = |namespace: &[u8]| {
        let end = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        memchr::memmem::find(&rest[..end], namespace).is_some()
    };
    Some(match local {
        b"svg" => format("image/svg+xml", Image),
        b"rss" => format("application/rss+xml", Document),
        b"feed" if names(b"Atom") || names(b"purl.org/atom") => {
            format("application/atom+xml", Document)
        }
        b"RDF" if names(b"purl.org/rss/1.0") => format("application/rss+xml", Document),
        b"RDF" => format("application/rdf+xml", Data),
        b"FictionBook" => format("application/x-fictionbook+xml", Document),
        b"opml" => format("text/x-opml", Document),
        b"plist" => format("application/x-plist", Data),
        b"gpx" => format("application/gpx+xml", Data),
        b"kml" => format("application/vnd.google-earth.kml+xml", Data),
        b"abiword" => format("application/x-abiword", Document),
        b"Workbook" if names(b"gnumeric.org") => format("application/x-gnumeric", Spreadsheet),
        b"Workbook" if names(b"office:spreadsheet") => {
            format("application/vnd.ms-spreadsheetml", Spreadsheet)
        }
        b"wordDocument" => format("application/vnd.ms-wordml", Document),
        b"package" if names(b"2006/xmlPackage") => format(
            "application/vnd.openxmlformats-package.flat-opc+xml",
            Document,
        ),
        b"TEI" | b"teiCorpus" | b"TEI.2" => format("application/tei+xml", Document),
        b"Document" if names(b"DOMVersion") => INDESIGN,
        b"Story" if names(b"idPkg:Story") => INDESIGN,
        b"article" if is_jats(rest) => JATS,
        b"en-export" => format("application/x-enex+xml", Document),
        b"mxfile" => format("application/vnd.jgraph.mxfile", Image),
        b"gnc-v2" => format("application/x-gnucash", Data),
        _ if names(b"docbook.org/ns/docbook") => DOCBOOK,
        _ => return None,
    })
}

/// Elements that web pages without a doctype start with (WHATWG MIME Sniffing, section 7.1, and
/// `meta`).
const HTML_ELEMENTS: [&str; 14] = [
    "title", "script", "style", "meta", "table", "div", "p", "a", "h1", "br", "font", "iframe",
    "center", "link",
];

fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(text_: &str) -> &'static str {
        match text(text_.as_bytes()) {
            Some(Sniffed::Certain(detected)) => detected.media_type,
            _ => "",
        }
    }

    fn likely(text_: &str) -> &'static str {
        match text(text_.as_bytes()) {
            Some(Sniffed::Likely(detected)) => detected.media_type,
            _ => "",
        }
    }

    #[test]
    fn messages_and_mailboxes() {
        let mail = b"Return-Path: <a@example.org>\r\nFrom: a\r\nSubject: x\r\n\r\nbody";
        assert_eq!(message(mail, false), Some(MESSAGE));
        assert_eq!(
            message(b"From: a\nTo: b\nSubject: x\n\nbody", false),
            Some(MESSAGE)
        );
        assert_eq!(
            message(b"X-Foo: 1\nFrom: a\nMessage-ID: <x>\n\n", false),
            Some(MESSAGE)
        );
        assert_eq!(
            message(b"From a Mon Jan 1\nFrom: a\nSubject: x\n\nhi", false),
            Some(MBOX)
        );
        let of_python = b"Content-Type: text/plain; charset=\"utf-8\"\nMIME-Version: 1.0\nSubject: x\nFrom: a\nTo: b\n\n";
        assert_eq!(message(of_python, false), Some(MESSAGE));
        let of_a_server = b"Content-Type: text/html\nContent-Length: 12\nDate: today\n\n<p>";
        assert_eq!(message(of_a_server, false), None);
        let signed = b"MIME-Version: 1.0\r\nX-MimeOLE: x\r\nContent-Type: multipart/signed;\r\n\tboundary=a\r\n\r\n--a\r\n";
        assert_eq!(message(signed, false), Some(MESSAGE));
        let of_one_part = b"MIME-Version: 1.0\nContent-Type: text/plain\n\nmultipart/";
        assert_eq!(message(of_one_part, false), None);
        let quoted = b">From a Mon Jan 1\nFrom: a\nMessage-ID: <x>\n\nhi";
        assert_eq!(message(quoted, false), Some(MESSAGE));
        let separated = b"From a Mon Jan 1\n>From b\nSubject: x\n\nhi";
        assert_eq!(message(separated, true), Some(MESSAGE));
        let draft = b"Fcc: /m/sent\nUser-Agent: x\nTo: b\nSubject: x\n\nbody";
        assert_eq!(message(draft, false), None);
        assert_eq!(message(draft, true), Some(MESSAGE));
        assert_eq!(message(b"Fcc: /m/sent\nnothing more", true), None);
        for text in [
            "From here on it is text\nand more: of it\n",
            "Subject: matter\nthat matters\n",
            "Date: today\n\nText",
            "key: value\nfrom: a\nto: b\ndate: c\n",
            "",
        ] {
            assert_eq!(message(text.as_bytes(), false), None, "{text}");
        }
    }

    #[test]
    fn markup_by_declaration_and_root() {
        assert_eq!(certain("<!DOCTYPE html><p>"), "text/html");
        assert_eq!(certain(" \n<!-- x --><HTML lang=de>"), "text/html");
        assert_eq!(certain("\u{feff}<!doctype HTML PUBLIC \"x\">"), "text/html");
        assert_eq!(
            certain("<?xml version='1.0'?>\n<html>"),
            "application/xhtml+xml"
        );
        assert_eq!(
            certain("<?xml version='1.0'?><!DOCTYPE svg><svg:svg>"),
            "image/svg+xml"
        );
        assert_eq!(certain("<?xml version='1.0'?><book/>"), "application/xml");
        assert_eq!(likely("<p>hello"), "text/html");
        assert_eq!(likely("<unknown>"), "");
        assert_eq!(certain("<!-- unclosed"), "");
        assert_eq!(certain(&"<!-->".repeat(100)), "");
    }

    #[test]
    fn scripts_and_others() {
        assert_eq!(likely("#!/bin/sh -e\n"), "text/x-shellscript");
        assert_eq!(
            likely("#! /usr/bin/env -S A=b python3 -u\n"),
            "text/x-python"
        );
        assert_eq!(likely("#!"), "");
        assert_eq!(certain("{\\rtf1\\ansi"), "application/rtf");
        assert_eq!(certain("%!PS-Adobe-3.0"), "application/postscript");
        assert_eq!(likely("BEGIN:VCARD\r\n"), "text/vcard");
        assert_eq!(likely("BEGIN:VCALENDAR\r\n"), "text/calendar");
        assert_eq!(likely("{\n  \"a\": 1}"), "application/json");
        assert_eq!(likely("{ return; }"), "");
        assert_eq!(
            likely("-----BEGIN CERTIFICATE-----"),
            "application/x-pem-file"
        );
        assert_eq!(likely("-----BEGIN PGP SIGNED MESSAGE-----"), "");
    }
}
