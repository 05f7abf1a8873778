//! Signed documents: CMS signed data (RFC 5652) with the content inside (`.p7m`), and documents with
//! time stamps (`.tsd`, RFC 5544), in binary form or as text (RFC 7468).
//!
//! The content is a member. Who signed is in the fields: the names in the certificates of the
//! signers, and the time that the first signer or the time stamp declares. Whether a signature is
//! right is left to other programs.

use base64ct::{Base64, Encoding};
use ken_core::{Encryption, Field};

use crate::output::Output;
use crate::output::members::TRUSTED_BYTES;
use crate::structure::ber::{Element, Elements, IDENTIFIER, INTEGER, SEQUENCE, SET};
use crate::text;
use crate::{Error, Format, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "signed document",
    &[
        "application/pkcs7-mime",
        "application/pkcs7-signature",
        "application/timestamped-data",
    ],
    extract,
)
.fields(&[Field::Author, Field::Date])
.members("the signed content, by its name");

/// Object identifiers, as their bytes.
mod oid {
    pub(super) const SIGNED: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
    pub(super) const ENVELOPED: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03";
    pub(super) const AUTH_ENVELOPED: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17";
    pub(super) const TIME_STAMPED: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x1f";
    pub(super) const SIGNING_TIME: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x05";
    pub(super) const EMAIL: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01";
    pub(super) const COMMON_NAME: &[u8] = b"\x55\x04\x03";
    pub(super) const SURNAME: &[u8] = b"\x55\x04\x04";
    pub(super) const ORGANISATION: &[u8] = b"\x55\x04\x0a";
    pub(super) const GIVEN_NAME: &[u8] = b"\x55\x04\x2a";
    pub(super) const KEY_IDENTIFIER: &[u8] = b"\x55\x1d\x0e";
}

const EXPLICIT_0: u8 = 0xa0;
const EXPLICIT_1: u8 = 0xa1;
const EXPLICIT_3: u8 = 0xa3;
const IMPLICIT_0: u8 = 0x80;
const UTF8: u8 = 0x0c;
const IA5: u8 = 0x16;
const UTC_TIME: u8 = 0x17;
const TIME: u8 = 0x18;
/// More signers and certificates than any document has.
const MAX_SIGNERS: usize = 1000;
/// Time stamps around time stamps; no program nests them.
const MAX_DEPTH: usize = 4;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let bytes = input.bytes(output.limits())?;
    let decoded = is_text(bytes).then(|| unarmoured(bytes));
    let data = decoded.as_deref().unwrap_or(bytes);
    let mut found = Found::default();
    let kind = found
        .read(data, 0)
        .ok_or_else(|| malformed("it is no signed document"))?;
    if matches!(kind, oid::ENVELOPED | oid::AUTH_ENVELOPED) {
        return Err(Error::sealed(Encryption::Key));
    }
    let own = output.own();
    for author in &found.authors {
        own.add_text(Field::Author, author);
    }
    if let Some(time) = found.time {
        own.add_number(Field::Date, time);
    }
    let Some((content, is_whole)) = found.content else {
        // A signature of another file.
        return Ok(());
    };
    let name = found.name.unwrap_or_else(|| inner_name(&input.name));
    output.make_room(content.len() as u64);
    output.member(Member {
        ipath: output.child_ipath(if name.is_empty() { "1" } else { &name }),
        declared_type: found
            .media_type
            .or_else(|| is_part(&content).then(|| MESSAGE.to_owned())),
        name,
        modified: found.time,
        bytes: content,
        ..Member::default()
    })?;
    match is_whole {
        true => Ok(()),
        false => Err(malformed("the signed document is cut off")),
    }
}

const MESSAGE: &str = "message/rfc822";

fn malformed(cause: &str) -> Error {
    Error::Malformed(cause.to_owned())
}

/// Returns whether signed content is a part of a message, as S/MIME signs it.
fn is_part(content: &[u8]) -> bool {
    [&b"content-type:"[..], b"mime-version:"]
        .iter()
        .any(|start| {
            let head = content.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        })
}

/// Returns the name of the content of a file: `invoice.xml` of `invoice.xml.p7m`.
fn inner_name(name: &str) -> String {
    for ending in [".p7m", ".tsd", ".p7s"] {
        let at = name.len().saturating_sub(ending.len());
        if name.is_char_boundary(at) && name[at..].eq_ignore_ascii_case(ending) {
            return name[..at].to_owned();
        }
    }
    String::new()
}

fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    start.first() != Some(&SEQUENCE) || start.iter().all(|byte| byte.is_ascii_graphic())
}

/// Decodes the base64 between marks, or all of a text without marks.
fn unarmoured(text: &[u8]) -> Vec<u8> {
    let is_mark = |line: &&[u8]| line.starts_with(b"-----");
    let lines = || text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let n_before = lines()
        .position(|line| is_mark(&line))
        .map_or(0, |at| at + 1);
    let mut base64 = Vec::with_capacity(text.len());
    for line in lines().skip(n_before).take_while(|line| !is_mark(line)) {
        base64.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }
    let text = String::from_utf8_lossy(&base64);
    Base64::decode_vec(&text).unwrap_or_default()
}

/// What a signed document holds.
#[derive(Default)]
struct Found {
    content: Option<(Vec<u8>, bool)>,
    name: Option<String>,
    media_type: Option<String>,
    authors: Vec<String>,
    time: Option<i64>,
}

impl Found {
    /// Reads a `ContentInfo`; returns the identifier of its type.
    fn read<'a>(&mut self, data: &'a [u8], depth: usize) -> Option<&'a [u8]> {
        let mut outer = Elements(data).optional(SEQUENCE)?.inside();
        let kind = outer.optional(IDENTIFIER)?.content;
        let inner = outer
            .optional(EXPLICIT_0)
            .and_then(|inner| inner.inside().next());
        match kind {
            oid::SIGNED => self.signed_data(inner?.inside())?,
            oid::TIME_STAMPED => self.time_stamped(inner?.inside(), depth)?,
            oid::ENVELOPED | oid::AUTH_ENVELOPED => {}
            _ => return None,
        }
        Some(kind)
    }

    /// Reads `SignedData` (RFC 5652 section 5.1).
    fn signed_data(&mut self, mut data: Elements<'_>) -> Option<()> {
        data.optional(INTEGER)?;
        data.optional(SET)?;
        let mut encapsulated = data.optional(SEQUENCE)?.inside();
        encapsulated.optional(IDENTIFIER)?;
        if let Some(content) = encapsulated.optional(EXPLICIT_0) {
            let string = content.inside().next().and_then(Element::string);
            self.content = string.map(|(bytes, is_whole)| (bytes, is_whole && !content.is_cut));
        }
        let certificates = data.optional(EXPLICIT_0);
        let certificates: Vec<_> = certificates
            .into_iter()
            .flat_map(Element::inside)
            .filter_map(Certificate::read)
            .take(MAX_SIGNERS)
            .collect();
        data.optional(EXPLICIT_1);
        let signers = data.optional(SET).into_iter().flat_map(Element::inside);
        for signer in signers.take(MAX_SIGNERS) {
            self.signer(signer.inside(), &certificates);
        }
        Some(())
    }

    /// Reads `SignerInfo` (RFC 5652 section 5.3).
    fn signer(&mut self, mut signer: Elements<'_>, certificates: &[Certificate<'_>]) -> Option<()> {
        signer.optional(INTEGER)?;
        let identifier = signer.next()?;
        let is_it = |certificate: &&Certificate<'_>| certificate.is_named_by(identifier);
        let certificate = certificates.iter().find(is_it);
        let author = certificate.and_then(|certificate| person(certificate.subject));
        if let Some(author) = author.filter(|author| !self.authors.contains(author)) {
            self.authors.push(author);
        }
        signer.optional(SEQUENCE)?;
        for attribute in signer.optional(EXPLICIT_0)?.inside() {
            let mut attribute = attribute.inside();
            if attribute.next()?.content == oid::SIGNING_TIME {
                let time = attribute.optional(SET)?.inside().next().and_then(seconds);
                self.time = self.time.or(time);
            }
        }
        Some(())
    }

    /// Reads `TimeStampedData` (RFC 5544 section 2).
    fn time_stamped(&mut self, mut data: Elements<'_>, depth: usize) -> Option<()> {
        data.optional(INTEGER)?;
        data.optional(IA5);
        if let Some(about) = data.optional(SEQUENCE) {
            let mut about = about.inside();
            about.next()?;
            self.name = about
                .optional(UTF8)
                .and_then(string)
                .map(|name| crate::output::members::file_name(&name).to_owned());
            self.media_type = about.optional(IA5).and_then(string);
        }
        let content = data.next()?;
        let (bytes, is_whole) = content.string()?;
        let evidence = data.optional(EXPLICIT_0);
        let stamps = evidence.into_iter().flat_map(Element::inside);
        for stamp in stamps.take(MAX_SIGNERS) {
            let token = stamp.inside().0;
            if depth < MAX_DEPTH {
                self.time_stamp(token, depth);
            }
        }
        self.content = Some((bytes, is_whole));
        Some(())
    }

    /// Reads the time of a time stamp, which is signed data (RFC 3161 section 2.4.2).
    fn time_stamp(&mut self, token: &[u8], depth: usize) -> Option<()> {
        let mut stamp = Self::default();
        stamp.read(token, depth + 1)?;
        let (content, _) = stamp.content?;
        let time = Elements(&content)
            .optional(SEQUENCE)?
            .inside()
            .find(|e| e.tag == TIME);
        self.time = self.time.or(time.and_then(seconds));
        Some(())
    }
}

/// What of a certificate says whose it is (RFC 5280 section 4.1).
struct Certificate<'a> {
    issuer: &'a [u8],
    serial: &'a [u8],
    subject: Element<'a>,
    key: Option<&'a [u8]>,
}

impl<'a> Certificate<'a> {
    fn read(certificate: Element<'a>) -> Option<Self> {
        let mut fields = certificate.inside().optional(SEQUENCE)?.inside();
        fields.optional(EXPLICIT_0);
        let serial = fields.optional(INTEGER)?.content;
        fields.optional(SEQUENCE)?;
        let issuer = fields.optional(SEQUENCE)?.content;
        fields.optional(SEQUENCE)?;
        let subject = fields.optional(SEQUENCE)?;
        let key = fields
            .find(|field| field.tag == EXPLICIT_3)
            .and_then(key_identifier);
        Some(Self {
            issuer,
            serial,
            subject,
            key,
        })
    }

    /// Returns whether the identifier of a signer is that of this certificate.
    fn is_named_by(&self, signer: Element<'a>) -> bool {
        match signer.tag {
            IMPLICIT_0 => self.key == Some(signer.content),
            _ => {
                let mut parts = signer.inside();
                parts
                    .next()
                    .is_some_and(|issuer| issuer.content == self.issuer)
                    && parts
                        .next()
                        .is_some_and(|serial| serial.content == self.serial)
            }
        }
    }
}

fn key_identifier(extensions: Element<'_>) -> Option<&[u8]> {
    for extension in extensions.inside().next()?.inside() {
        let mut parts = extension.inside();
        if parts.next()?.content == oid::KEY_IDENTIFIER {
            return Some(Elements(parts.last()?.content).next()?.content);
        }
    }
    None
}

/// Returns the person or organisation of a distinguished name, with the address if it has one.
fn person(name: Element<'_>) -> Option<String> {
    let value = |wanted: &[u8]| {
        name.inside()
            .flat_map(Element::inside)
            .find_map(|attribute| {
                let mut parts = attribute.inside();
                let is_wanted = parts.next()?.content == wanted;
                parts.next().filter(|_| is_wanted).and_then(string)
            })
    };
    let full = match (value(oid::GIVEN_NAME), value(oid::SURNAME)) {
        (Some(given), Some(surname)) => Some(format!("{given} {surname}")),
        _ => None,
    };
    let shown = full
        .or_else(|| value(oid::COMMON_NAME))
        .or_else(|| value(oid::ORGANISATION));
    match (shown, value(oid::EMAIL)) {
        (Some(shown), Some(address)) => Some(format!("{shown} <{address}>")),
        (shown, address) => shown.or(address),
    }
}

/// Returns the text of a string of any kind (X.690 8.23).
fn string(element: Element<'_>) -> Option<String> {
    if element.content.len() as u64 > TRUSTED_BYTES {
        return None;
    }
    let text = match element.tag {
        // UTF-16, high byte first.
        0x1e => text::code_page::decode(element.content, 1201).into_owned(),
        0x0c | 0x12..=0x16 | 0x1a | 0x1b => text::decode(element.content, None).into_owned(),
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reads `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`; two digits of a year are of 1950 to 2049.
fn seconds(time: Element<'_>) -> Option<i64> {
    let digits = std::str::from_utf8(time.content).ok()?;
    let digits = match time.tag {
        UTC_TIME if digits.get(..2)? < "50" => format!("20{digits}"),
        UTC_TIME => format!("19{digits}"),
        TIME => digits.to_owned(),
        _ => return None,
    };
    let part = |from: usize, to: usize| digits.get(from..to);
    let (date, clock) = (
        [part(0, 4)?, part(4, 6)?, part(6, 8)?].join("-"),
        [part(8, 10)?, part(10, 12)?, part(12, 14)?].join(":"),
    );
    crate::date::iso(&format!("{date}T{clock}Z"))
}

#[cfg(test)]
mod tests;
