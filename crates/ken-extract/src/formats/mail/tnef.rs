//! `winmail.dat`, which Outlook attaches to mail for other Outlooks (MS-OXTNEF). It holds the text
//! again, as RTF or HTML, and the attachments, which other programs do not see.
//!
//! The attributes are written as an Outlook file, so that there is one reader of messages.

use super::msg;
use super::msg::properties::tag;
use crate::output::Output;
use crate::structure::compound::rebuild::{Builder, STORAGE_ROOT};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("TNEF", &["application/vnd.ms-tnef"], extract)
        .fields(msg::FORMAT.fields)
        .members("attachments, numbered from 1")
        .in_worker()
        .version(2);

/// More attachments than any message has.
const MAX_ATTACHMENTS: usize = 10_000;
const MAX_PROPERTIES: u32 = 10_000;

/// Attributes of the message, then those of its attachments.
const SUBJECT: u32 = 0x0001_8004;
const BODY: u32 = 0x0002_800c;
const MESSAGE_PROPERTIES: u32 = 0x0006_9003;
const CODE_PAGE: u32 = 0x0006_9007;
const NEW_ATTACHMENT: u32 = 0x0006_9002;
const ATTACHMENT_TITLE: u32 = 0x0001_8010;
const ATTACHMENT_DATA: u32 = 0x0006_800f;
const ATTACHMENT_PROPERTIES: u32 = 0x0006_9005;

/// Types of properties (MS-OXCDATA 2.11.1).
const LONG: u16 = 0x03;
const OBJECT: u16 = 0x0d;
const BYTES_TEXT: u16 = 0x1e;
const UNICODE: u16 = 0x1f;
const BINARY: u16 = 0x102;
const MANY: u16 = 0x1000;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let (file, is_whole) = as_file(input.bytes(limits)?);
    let mut message = Input::member(Member {
        ipath: input.ipath.clone(),
        name: input.name.clone(),
        bytes: file,
        expansion: Some(input.account(limits)),
        ..Member::default()
    });
    (msg::FORMAT.extract)(&mut message, output)?;
    match is_whole {
        true => Ok(()),
        false => Err(Error::malformed("the attributes are cut off or damaged")),
    }
}

/// Returns the message as an Outlook file, and whether it was complete.
fn as_file(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut file = File {
        builder: Builder::new(),
        message: Properties::new(STORAGE_ROOT, 32),
        attachment: None,
        n_attachments: 0,
    };
    let mut rest = Cursor(bytes);
    let is_whole = file.read(&mut rest).is_some();
    file.end_attachment();
    file.message.finish(&mut file.builder);
    (file.builder.finish(), is_whole)
}

/// The output file.
struct File {
    builder: Builder,
    message: Properties,
    attachment: Option<Properties>,
    n_attachments: usize,
}

impl File {
    /// Reads to the end, or to the first damaged attribute.
    fn read(&mut self, rest: &mut Cursor<'_>) -> Option<()> {
        // The signature, and a number without meaning.
        rest.take(6)?;
        // Each attribute begins with its level. Some programs add noise at the end.
        while let Some(1 | 2) = rest.byte() {
            let attribute = rest.le_u32()?;
            let length = rest.le_u32()? as usize;
            let data = rest.take(length)?;
            let _checksum = rest.le_u16()?;
            self.attribute(attribute, data)?;
        }
        Some(())
    }

    fn attribute(&mut self, attribute: u32, data: &[u8]) -> Option<()> {
        let builder = &mut self.builder;
        match attribute {
            NEW_ATTACHMENT => self.begin_attachment()?,
            SUBJECT => self.message.bytes(builder, tag::SUBJECT, BYTES_TEXT, data),
            BODY => self.message.bytes(builder, tag::BODY, BYTES_TEXT, data),
            CODE_PAGE => {
                let page = u64::from(Cursor(data).le_u32()?);
                self.message.number(tag::CODE_PAGE, LONG, page);
            }
            MESSAGE_PROPERTIES => self.message.properties(builder, Cursor(data))?,
            _ => {
                let Some(attachment) = &mut self.attachment else {
                    return Some(());
                };
                match attribute {
                    ATTACHMENT_TITLE => {
                        attachment.bytes(builder, tag::FILE_NAME, BYTES_TEXT, data);
                    }
                    ATTACHMENT_DATA => attachment.bytes(builder, tag::ATTACH_DATA, BINARY, data),
                    ATTACHMENT_PROPERTIES => attachment.properties(builder, Cursor(data))?,
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn begin_attachment(&mut self) -> Option<()> {
        self.end_attachment();
        if self.n_attachments >= MAX_ATTACHMENTS {
            return None;
        }
        let name = format!("__attach_version1.0_#{:08X}", self.n_attachments);
        self.n_attachments += 1;
        let storage = self.builder.storage(STORAGE_ROOT, &name);
        self.attachment = Some(Properties::new(storage, 8));
        Some(())
    }

    fn end_attachment(&mut self) {
        if let Some(attachment) = self.attachment.take() {
            attachment.finish(&mut self.builder);
        }
    }
}

/// The properties of the message or an attachment.
struct Properties {
    storage: usize,
    /// The stream of numbers, after a header without information.
    numbers: Vec<u8>,
}

impl Properties {
    fn new(storage: usize, header_bytes: usize) -> Self {
        Self {
            storage,
            numbers: vec![0; header_bytes],
        }
    }

    fn number(&mut self, tag: u16, kind: u16, value: u64) {
        self.numbers.extend(kind.to_le_bytes());
        self.numbers.extend(tag.to_le_bytes());
        self.numbers.extend([0; 4]);
        self.numbers.extend(value.to_le_bytes());
    }

    fn bytes(&self, builder: &mut Builder, tag: u16, kind: u16, bytes: &[u8]) {
        let name = format!("__substg1.0_{tag:04X}{kind:04X}");
        builder.stream(self.storage, &name, bytes.to_vec());
    }

    /// Reads a list of properties (MS-OXTNEF 2.1.3.5).
    fn properties(&mut self, builder: &mut Builder, mut list: Cursor<'_>) -> Option<()> {
        for _ in 0..list.le_u32()?.min(MAX_PROPERTIES) {
            let (kind, tag) = (list.le_u16()?, list.le_u16()?);
            if tag >= 0x8000 {
                skip_name(&mut list)?;
            }
            let is_long = matches!(kind & !MANY, OBJECT | BYTES_TEXT | UNICODE | BINARY);
            let n_values = match is_long || kind & MANY != 0 {
                true => list.le_u32()?,
                false => 1,
            };
            for _ in 0..n_values {
                let value = match is_long {
                    true => {
                        let length = list.le_u32()? as usize;
                        padded(&mut list, length)?
                    }
                    false => list.take(fixed_bytes(kind & !MANY)?)?,
                };
                if kind & MANY == 0 && tag::is_used(tag) {
                    self.property(builder, tag, kind, value);
                }
            }
        }
        Some(())
    }

    fn property(&mut self, builder: &mut Builder, tag: u16, kind: u16, value: &[u8]) {
        match kind {
            BYTES_TEXT | UNICODE | BINARY => self.bytes(builder, tag, kind, value),
            // After the number of its interface comes a file, or another TNEF.
            OBJECT => {
                let object = value.get(16..).unwrap_or_default();
                self.bytes(builder, tag, BINARY, object);
            }
            _ => {
                let mut bytes = [0; 8];
                let n_bytes = value.len().min(8);
                bytes[..n_bytes].copy_from_slice(&value[..n_bytes]);
                self.number(tag, kind, u64::from_le_bytes(bytes));
            }
        }
    }

    fn finish(self, builder: &mut Builder) {
        builder.stream(self.storage, "__properties_version1.0", self.numbers);
    }
}

/// Returns the size of a value of this type.
fn fixed_bytes(kind: u16) -> Option<usize> {
    match kind {
        0x01 | 0x02 | LONG | 0x04 | 0x0a | 0x0b => Some(4),
        0x05..=0x07 | 0x14 | 0x40 => Some(8),
        0x48 => Some(16),
        _ => None,
    }
}

/// Skips the name of a property: a set, and a number or words in it.
fn skip_name(list: &mut Cursor<'_>) -> Option<()> {
    list.take(16)?;
    match list.le_u32()? {
        0 => list.le_u32().map(|_| ()),
        _ => {
            let length = list.le_u32()? as usize;
            padded(list, length).map(|_| ())
        }
    }
}

/// Returns bytes that are padded to a multiple of four.
fn padded<'a>(list: &mut Cursor<'a>, length: usize) -> Option<&'a [u8]> {
    let value = list.take(length)?;
    list.take((4 - length % 4) % 4)?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use ken_core::{Field, Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, survives};

    const TNEF: Detected = Detected {
        media_type: "application/vnd.ms-tnef",
        kind: Kind::Archive,
    };
    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/mail/winmail.tnef");

    fn attribute(level: u8, attribute: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![level];
        bytes.extend(attribute.to_le_bytes());
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes.extend([0, 0]);
        bytes
    }

    fn property(kind: u16, tag: u16, name: &[u8], value: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(tag.to_le_bytes());
        bytes.extend(name);
        if !matches!(kind, LONG | 0x0b) {
            bytes.extend(1_u32.to_le_bytes());
            bytes.extend((value.len() as u32).to_le_bytes());
        }
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn list(properties: &[Vec<u8>]) -> Vec<u8> {
        let n_properties = (properties.len() as u32).to_le_bytes();
        [&n_properties[..], &properties.concat()].concat()
    }

    /// A message with text as RTF, an attachment, and a message attached.
    fn sample() -> Vec<u8> {
        let wide =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let rtf = b"{\\rtf1 The \\b dotterelmoss\\b0  is back}";
        let mut packed = (rtf.len() as u32 + 12).to_le_bytes().to_vec();
        packed.extend((rtf.len() as u32).to_le_bytes());
        packed.extend(b"MELA\0\0\0\0");
        packed.extend(rtf);
        let named = [
            &[7; 16][..],
            &1_u32.to_le_bytes(),
            &6_u32.to_le_bytes(),
            b"a\0b\0c\0\0\0",
        ];
        let message = list(&[
            property(UNICODE, 0x8001, &named.concat(), &wide("odd")),
            property(
                LONG,
                0x8002,
                &[&[7; 16][..], &[0; 8]].concat(),
                &[1, 0, 0, 0],
            ),
            property(0x0b, 0x0e1b, b"", &[1, 0, 0, 0]),
            property(UNICODE, tag::SUBJECT, b"", &wide("Frühling\0")),
            property(BINARY, tag::RTF, b"", &packed),
        ]);
        let signature = [&0x223e_9f78_u32.to_le_bytes()[..], &[1, 0]].concat();
        let inner = [
            signature.clone(),
            attribute(1, SUBJECT, b"Inside\0"),
            attribute(1, BODY, b"A ruff among them\0"),
        ];
        let object = [&[9; 16][..], &inner.concat()].concat();
        [
            signature,
            attribute(1, CODE_PAGE, &1251_u32.to_le_bytes()),
            attribute(1, MESSAGE_PROPERTIES, &message),
            attribute(2, NEW_ATTACHMENT, &[0; 14]),
            attribute(2, ATTACHMENT_TITLE, b"\xef\xf2\xe8\xf6\xfb.txt\0"),
            attribute(2, ATTACHMENT_DATA, b"Whooper swans"),
            attribute(2, NEW_ATTACHMENT, &[0; 14]),
            attribute(
                2,
                ATTACHMENT_PROPERTIES,
                &list(&[property(OBJECT, tag::ATTACH_DATA, b"", &object)]),
            ),
        ]
        .concat()
    }

    fn found(bytes: &[u8]) -> Extracted {
        run(extract, TNEF, "winmail.dat", bytes)
    }

    #[test]
    fn text_and_attachments_are_read() {
        assert_eq!(SAMPLE, sample());
        let found = found(SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("Frühling"));
        assert_eq!(own.body, "The dotterelmoss is back");
        assert_eq!(found.members.len(), 2);
        assert_eq!(found.members[0].name, "птицы.txt");
        assert_eq!(found.members[0].bytes, b"Whooper swans");
        let inner = run(extract, TNEF, "", &found.members[1].bytes);
        assert_eq!(inner.own().text(Field::Title), Some("Inside"));
        assert_eq!(inner.own().body, "A ruff among them");
    }

    #[test]
    fn what_is_cut_off_is_reported() {
        let found = found(&SAMPLE[..SAMPLE.len() - 150]);
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
        assert_eq!(found.own().body, "The dotterelmoss is back");
    }

    #[test]
    fn hostile_files_are_survived() {
        survives(extract, TNEF, "winmail.dat", SAMPLE);
        let many = attribute(2, NEW_ATTACHMENT, &[]).repeat(20_000);
        let found = found(&[&SAMPLE[..6], &many].concat());
        assert!(found.own().failure.is_some());
        // A list that announces more values than there are bytes.
        let list = [1, 0, 0, 0, 3, 0x10, 0x37, 0, 0xff, 0xff, 0xff, 0xff];
        let bytes = [&SAMPLE[..6], &attribute(1, MESSAGE_PROPERTIES, &list)].concat();
        assert!(run(extract, TNEF, "", &bytes).own().failure.is_some());
    }
}
