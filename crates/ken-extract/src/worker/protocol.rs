//! The protocol between ken and its worker processes.
//!
//! A message consists of one byte for its kind, the lengths of its two parts (32 bits each,
//! little-endian), and the parts: a *head* of encoded values and a *blob* of raw bytes, a text or a
//! file, which is never copied. Both sides are the same program, so there is no version. The parent
//! trusts nothing that it reads: a worker whose parser was taken over may send anything.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use ken_core::{CustomField, Document, Failure, Field, Ipath, Kind, Setting, Value};

use crate::limits::milliseconds;
use crate::{Limits, Member, Opener, Passwords};

/// Length of the prefix before the two parts.
pub(super) const PREFIX_BYTES: usize = 9;
/// Maximum length of a head, which holds metadata only; the text is a blob.
pub(super) const MAX_HEAD_BYTES: usize = 16 << 20;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Message {
    /// Parent: the limits, once at the start.
    Limits,
    /// Worker: the sandbox is entered.
    Ready,
    /// Parent: extract or draw this file or member.
    Extract,
    /// Worker: a document inside the input.
    Part,
    /// Worker: a member of the input.
    Member,
    /// Worker: the input's own document; the end of the answer.
    Own,
    /// Worker: the unpacked content of the input, if a helper is to find its text.
    Content,
    /// Worker: what was drawn of the input; the whole answer.
    Drawn,
}

/// Why a message cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(pub(super) &'static str);

/// A message with its head and its blob.
pub(super) type Whole = (Message, Vec<u8>, Vec<u8>);

/// The first bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) message: Message,
    pub(super) n_head: usize,
    pub(super) n_blob: usize,
}

impl Prefix {
    /// Reads the prefix of a message whose blob may have `max_blob` bytes.
    pub(super) fn read(bytes: [u8; PREFIX_BYTES], max_blob: usize) -> Result<Self, Broken> {
        use Message::{Content, Drawn, Extract, Limits, Member, Own, Part, Ready};
        let [tag, a, b, c, d, e, f, g, h] = bytes;
        let known = [Limits, Ready, Extract, Part, Member, Own, Content, Drawn];
        let prefix = Self {
            message: *known
                .get(usize::from(tag))
                .ok_or(Broken("no such message"))?,
            n_head: u32::from_le_bytes([a, b, c, d]) as usize,
            n_blob: u32::from_le_bytes([e, f, g, h]) as usize,
        };
        if prefix.n_head > MAX_HEAD_BYTES || prefix.n_blob > max_blob {
            return Err(Broken("a message is too long"));
        }
        Ok(prefix)
    }

    /// Returns the prefix as bytes.
    ///
    /// # Errors
    /// Fails if a part is too long for its 32 bits.
    pub(super) fn bytes(
        message: Message,
        head: &[u8],
        blob: &[u8],
    ) -> io::Result<[u8; PREFIX_BYTES]> {
        let length = |part: &[u8]| {
            let length = u32::try_from(part.len());
            length.map_err(|_| io::Error::other("a message of 4 GiB"))
        };
        let mut bytes = [message as u8; PREFIX_BYTES];
        bytes[1..5].copy_from_slice(&length(head)?.to_le_bytes());
        bytes[5..].copy_from_slice(&length(blob)?.to_le_bytes());
        Ok(bytes)
    }
}

/// Writes a whole message.
pub(super) fn write(
    out: &mut impl Write,
    message: Message,
    head: &[u8],
    blob: &[u8],
) -> io::Result<()> {
    out.write_all(&Prefix::bytes(message, head, blob)?)?;
    out.write_all(head)?;
    out.write_all(blob)
}

/// Encodes values into a head.
#[derive(Default)]
pub(super) struct Encoder(pub(super) Vec<u8>);

impl Encoder {
    pub(super) fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn optional<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        self.optional(text, Self::text);
    }

    pub(super) fn optional_number(&mut self, number: Option<i64>) {
        self.optional(number, |encoder, number| encoder.number(number as u64));
    }

    /// Encodes a document without its text.
    pub(super) fn document(&mut self, document: &Document) {
        self.text(document.ipath.as_str());
        self.text(&document.media_type);
        self.0.push(document.kind as u8);
        self.optional(document.failure.as_ref(), Self::failure);
        self.fields(&document.fields);
    }

    fn fields(&mut self, fields: &[(Field, Value)]) {
        self.number(fields.len() as u64);
        for (field, value) in fields {
            self.0.push(*field as u8);
            match value {
                Value::Text(text) => {
                    self.flag(true);
                    self.text(text);
                }
                Value::Number(number) => {
                    self.flag(false);
                    self.number(*number as u64);
                }
            }
        }
    }

    pub(super) fn failure(&mut self, failure: &Failure) {
        // Plain data with named parts always has a JSON form.
        self.text(&serde_json::to_string(failure).unwrap_or_default());
    }

    /// Encodes a member without its bytes.
    pub(super) fn member(&mut self, member: &Member) {
        self.text(member.ipath.as_str());
        self.text(&member.name);
        self.optional_text(member.declared_type.as_deref());
        self.optional_number(member.modified);
        self.flag(member.is_attachment);
        self.optional_number(member.offset.map(|offset| offset as i64));
        self.fields(&member.fields);
    }

    pub(super) fn limits(&mut self, limits: &Limits) {
        for number in [
            limits.max_file_bytes,
            limits.max_text_bytes as u64,
            limits.max_member_bytes,
            limits.max_depth as u64,
            limits.max_members,
            limits.max_expanded_bytes,
            limits.max_expansion,
            limits.max_pages,
            milliseconds(limits.file_time),
            limits.worker_memory,
        ] {
            self.number(number);
        }
        self.number(limits.lowered.len() as u64);
        for (setting, memory) in &limits.lowered {
            self.0.push(*setting as u8);
            self.number(*memory);
        }
        self.number(limits.passwords.iter().count() as u64);
        for password in limits.passwords.iter() {
            self.text(password);
        }
        self.number(limits.headers.len() as u64);
        for header in &limits.headers {
            self.0.push(header.field as u8);
            self.text(&header.name);
            self.text(&header.header);
        }
    }
}

/// Decodes values from a head.
pub(super) struct Decoder<'b>(pub(super) &'b [u8]);

impl<'b> Decoder<'b> {
    fn take(&mut self, n_bytes: usize) -> Result<&'b [u8], Broken> {
        let (taken, rest) = self
            .0
            .split_at_checked(n_bytes)
            .ok_or(Broken("a message ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn flag(&mut self) -> Result<bool, Broken> {
        Ok(self.byte()? != 0)
    }

    pub(super) fn number(&mut self) -> Result<u64, Broken> {
        let bytes = self.take(8)?;
        let bytes = bytes.try_into().map_err(|_| Broken("no number"))?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn small(&mut self) -> Result<u32, Broken> {
        u32::try_from(self.number()?).map_err(|_| Broken("too large a number"))
    }

    pub(super) fn size(&mut self) -> Result<usize, Broken> {
        usize::try_from(self.number()?).map_err(|_| Broken("too large a number"))
    }

    pub(super) fn text(&mut self) -> Result<&'b str, Broken> {
        let n_bytes = self.size()?;
        std::str::from_utf8(self.take(n_bytes)?).map_err(|_| Broken("text that is not UTF-8"))
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<&'b str>, Broken> {
        self.flag()?.then(|| self.text()).transpose()
    }

    pub(super) fn optional_number(&mut self) -> Result<Option<i64>, Broken> {
        let number = self.flag()?.then(|| self.number()).transpose()?;
        Ok(number.map(|number| number as i64))
    }

    /// Decodes a document, whose text is added afterwards.
    pub(super) fn document(&mut self) -> Result<Document, Broken> {
        let ipath = Ipath::from_joined(self.text()?);
        let media_type = self.text()?;
        let (kind, _) = *Kind::ALL
            .get(usize::from(self.byte()?))
            .ok_or(Broken("no such kind"))?;
        let mut document = Document::new(ipath, media_type, kind);
        document.failure = self.flag()?.then(|| self.failure()).transpose()?;
        document.fields = self.fields()?;
        Ok(document)
    }

    fn fields(&mut self) -> Result<Vec<(Field, Value)>, Broken> {
        let mut fields = Vec::new();
        for _ in 0..self.number()? {
            let field = self.field()?;
            let value = match self.flag()? {
                true => Value::Text(self.text()?.to_owned()),
                false => Value::Number(self.number()? as i64),
            };
            fields.push((field, value));
        }
        Ok(fields)
    }

    fn field(&mut self) -> Result<Field, Broken> {
        let number = self.byte()?;
        let mut named = Field::all().filter(|field| *field as u8 == number);
        named.next().ok_or(Broken("no such field"))
    }

    pub(super) fn failure(&mut self) -> Result<Failure, Broken> {
        serde_json::from_str(self.text()?).map_err(|_| Broken("no such failure"))
    }

    /// Decodes a member, whose bytes are added afterwards.
    pub(super) fn member(&mut self) -> Result<Member, Broken> {
        Ok(Member {
            ipath: Ipath::from_joined(self.text()?),
            name: self.text()?.to_owned(),
            declared_type: self.optional_text()?.map(str::to_owned),
            modified: self.optional_number()?,
            is_attachment: self.flag()?,
            offset: self.optional_number()?.map(|offset| offset as u64),
            fields: self.fields()?,
            ..Member::default()
        })
    }

    pub(super) fn limits(&mut self) -> Result<Limits, Broken> {
        Ok(Limits {
            max_file_bytes: self.number()?,
            max_text_bytes: self.size()?,
            max_member_bytes: self.number()?,
            max_depth: self.size()?,
            max_members: self.number()?,
            max_expanded_bytes: self.number()?,
            max_expansion: self.number()?,
            max_pages: self.number()?,
            file_time: Duration::from_millis(self.number()?),
            worker_memory: self.number()?,
            lowered: self.lowered()?,
            passwords: self.passwords()?,
            headers: self.headers()?,
            // Messages are read outside of workers.
            opener: Opener::default(),
        })
    }

    fn headers(&mut self) -> Result<Vec<CustomField>, Broken> {
        let mut headers = Vec::new();
        for _ in 0..self.number()? {
            headers.push(CustomField {
                field: self.field()?,
                name: self.text()?.to_owned(),
                header: self.text()?.to_owned(),
            });
        }
        Ok(headers)
    }

    fn lowered(&mut self) -> Result<BTreeMap<Setting, u64>, Broken> {
        let mut lowered = BTreeMap::new();
        for _ in 0..self.number()? {
            let setting = Setting::ALL.get(usize::from(self.byte()?));
            lowered.insert(*setting.ok_or(Broken("no such setting"))?, self.number()?);
        }
        Ok(lowered)
    }

    fn passwords(&mut self) -> Result<Passwords, Broken> {
        let mut passwords = Vec::new();
        for _ in 0..self.number()? {
            passwords.push(self.text()?.to_owned());
        }
        Ok(Passwords::new(passwords))
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Cause;

    use super::*;

    fn document() -> Document {
        let mut document = Document::new(
            Ipath::root().child("a|b"),
            "application/pdf",
            Kind::Spreadsheet,
        );
        for field in Field::all() {
            document.add_text(field, field.name());
            document.add_number(field, -7);
        }
        document.failure = Some(Failure {
            elapsed_ms: 12,
            container: "application/zip".into(),
            ..Failure::new(Cause::Stopped)
        });
        document
    }

    #[test]
    fn what_is_put_in_is_taken_out() {
        let member = Member {
            ipath: Ipath::root().child("x"),
            name: "ü.txt".into(),
            declared_type: Some("text/plain".into()),
            modified: Some(-1),
            is_attachment: true,
            offset: Some(7),
            fields: vec![(Field::Title, Value::Text("note".into()))],
            ..Member::default()
        };
        let limits = Limits {
            max_depth: 3,
            worker_memory: 77,
            lowered: [(Setting::MaxTextBytes, 64 << 20)].into(),
            passwords: Passwords::new(["geheim".to_owned()]),
            headers: vec![CustomField {
                field: Field::Custom2,
                name: "project".into(),
                header: "X-Project".into(),
            }],
            ..Limits::default()
        };
        let mut encoder = Encoder::default();
        encoder.document(&document());
        encoder.member(&member);
        encoder.limits(&limits);
        let mut decoder = Decoder(&encoder.0);
        assert_eq!(decoder.document(), Ok(document()));
        let found = decoder.member().unwrap();
        assert_eq!(format!("{found:?}"), format!("{member:?}"));
        assert_eq!(decoder.limits(), Ok(limits));
        assert!(decoder.0.is_empty());
    }

    #[test]
    fn broken_heads_are_refused_without_taking_memory() {
        let mut encoder = Encoder::default();
        encoder.document(&document());
        for end in 0..encoder.0.len() {
            assert!(Decoder(&encoder.0[..end]).document().is_err(), "{end}");
        }
        for at in 0..encoder.0.len() {
            let mut bytes = encoder.0.clone();
            bytes[at] = 0xff;
            if let Ok(document) = Decoder(&bytes).document() {
                assert!(document.memory_bytes() < 100 * encoder.0.len());
            }
        }
        assert_eq!(
            Decoder(&[2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]).text(),
            Err(Broken("text that is not UTF-8"))
        );
    }

    #[test]
    fn prefixes_are_checked() {
        let bytes = Prefix::bytes(Message::Own, b"head", b"blob!").unwrap();
        let prefix = Prefix::read(bytes, 5).unwrap();
        assert_eq!(prefix.message, Message::Own);
        assert_eq!((prefix.n_head, prefix.n_blob), (4, 5));
        assert!(Prefix::read(bytes, 4).is_err(), "the blob is too long");
        assert!(Prefix::read([8, 0, 0, 0, 0, 0, 0, 0, 0], 9).is_err());
        assert!(Prefix::read([0, 0, 0, 0, 0xff, 0, 0, 0, 0], 9).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let documents = Decoder(&bytes).document();
            let members = Decoder(&bytes).member();
            let limits = Decoder(&bytes).limits();
            // Decoded values are never larger than the message.
            if let Ok(document) = documents {
                proptest::prop_assert!(document.fields.len() <= bytes.len());
            }
            if let Ok(member) = members {
                proptest::prop_assert!(member.name.len() <= bytes.len());
            }
            drop(limits);
        }
    }
}
