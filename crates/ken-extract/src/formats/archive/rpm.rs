//! RPM packages: a header with the description, then a compressed cpio archive.
//!
//! Source: "RPM V4 Package format" and `rpmtag.h` of rpm 4.18. The header is an index of entries
//! (tag, type, offset, count) and a store of their values. An earlier header of the same form holds
//! signatures.

use std::io::{BufReader, Seek, SeekFrom};

use ken_core::Field;

use super::cpio;
use crate::detect::detect;
use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::structure::compression::{Allowance, Codec, Decoder};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("RPM package", &["application/x-rpm"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Created,
            Field::Date,
        ])
        .members("files, by their path")
        .in_worker()
        .streams();

const LEAD_BYTES: u64 = 96;
const INTRO_BYTES: usize = 16;
const ENTRY_BYTES: usize = 16;
/// The limits of rpm itself.
const MAX_ENTRIES: u32 = 0xffff;
const MAX_STORE_BYTES: u32 = 256 << 20;
/// Number of bytes of values that are read; descriptions come before the lists of files.
const READ_STORE_BYTES: u32 = 16 << 20;

const NAME: u32 = 1000;
const VERSION: u32 = 1001;
const RELEASE: u32 = 1002;
const SUMMARY: u32 = 1004;
const DESCRIPTION: u32 = 1005;
const BUILD_TIME: u32 = 1006;
const VENDOR: u32 = 1011;
const LICENSE: u32 = 1014;
const PACKAGER: u32 = 1015;
const GROUP: u32 = 1016;
const URL: u32 = 1020;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    let damaged = || Error::Malformed("the header is damaged".into());
    let signatures = Header::read(input, LEAD_BYTES)?.ok_or_else(damaged)?;
    let start = signatures.end.next_multiple_of(8);
    let header = Header::read(input, start)?.ok_or_else(damaged)?;
    describe(&header, output);
    payload(input, header.end, output)
}

/// An index and its values.
struct Header {
    entries: Vec<u8>,
    store: Vec<u8>,
    /// End of the header in the file.
    end: u64,
}

impl Header {
    fn read(input: &Input<'_>, at: u64) -> Result<Option<Self>, Error> {
        let intro = input.range(at, INTRO_BYTES)?;
        let Some((n_entries, store_bytes)) = sizes(&intro) else {
            return Ok(None);
        };
        let entries_at = at + INTRO_BYTES as u64;
        let entries_bytes = n_entries as usize * ENTRY_BYTES;
        let store_at = entries_at + entries_bytes as u64;
        let read_bytes = store_bytes.min(READ_STORE_BYTES) as usize;
        Ok(Some(Self {
            entries: input.range(entries_at, entries_bytes)?.into_owned(),
            store: input.range(store_at, read_bytes)?.into_owned(),
            end: store_at + u64::from(store_bytes),
        }))
    }

    /// Returns the first value of a tag.
    fn value(&self, wanted: u32) -> Option<Value<'_>> {
        self.entries.chunks_exact(ENTRY_BYTES).find_map(|entry| {
            let mut entry = Cursor(entry);
            let (tag, kind, offset) = (entry.be_u32()?, entry.be_u32()?, entry.be_u32()?);
            let bytes = self.store.get(usize::try_from(offset).ok()?..)?;
            match kind {
                _ if tag != wanted => None,
                4 => Cursor(bytes).be_u32().map(Value::Number),
                6 | 8 | 9 => {
                    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
                    Some(Value::Text(&bytes[..end]))
                }
                _ => None,
            }
        })
    }

    fn text(&self, tag: u32) -> String {
        match self.value(tag) {
            Some(Value::Text(bytes)) => text::decode(bytes, None).trim().to_owned(),
            _ => String::new(),
        }
    }
}

enum Value<'a> {
    Number(u32),
    Text(&'a [u8]),
}

fn sizes(intro: &[u8]) -> Option<(u32, u32)> {
    let mut cursor = Cursor(intro);
    let is_header = cursor.take(3)? == b"\x8e\xad\xe8";
    let _version_and_reserved = cursor.take(5)?;
    let (n_entries, store_bytes) = (cursor.be_u32()?, cursor.be_u32()?);
    (is_header && n_entries <= MAX_ENTRIES && store_bytes <= MAX_STORE_BYTES)
        .then_some((n_entries, store_bytes))
}

fn describe(header: &Header, output: &mut Output<'_>) {
    let own = output.own();
    let (name, version, release) = (
        header.text(NAME),
        header.text(VERSION),
        header.text(RELEASE),
    );
    own.add_text(Field::Title, &format!("{name} {version}-{release}"));
    for tag in [PACKAGER, VENDOR] {
        own.add_text(Field::Author, &header.text(tag));
    }
    own.add_text(Field::Description, &header.text(SUMMARY));
    let group = header.text(GROUP);
    // rpmbuild writes this if there is none.
    if group != "Unspecified" {
        own.add_text(Field::Keywords, &group);
    }
    if let Some(Value::Number(seconds)) = header.value(BUILD_TIME) {
        own.add_number(Field::Created, seconds.into());
        own.add_number(Field::Date, seconds.into());
    }
    for tag in [DESCRIPTION, URL, LICENSE] {
        let text = header.text(tag);
        if !text.is_empty() {
            own.body.push_str(&text);
            own.body.push('\n');
        }
    }
}

fn payload(input: &Input<'_>, at: u64, output: &mut Output<'_>) -> Result<(), Error> {
    let head = input.range(at, 64)?;
    let detected = detect(&Input::bytes_of("", &head))?;
    let mut reader = input.seekable()?;
    reader.seek(SeekFrom::Start(at))?;
    let source = CountingReader::new(reader);
    match Codec::of(detected.media_type).or_else(|| is_lzma(&head).then_some(Codec::Lzma)) {
        None => cpio::extract_stream(source, output),
        Some(codec) => {
            let allowance = Allowance::new(source.n_read(), output.limits());
            let reader = BufReader::new(source);
            let decoder = Decoder::new(codec, reader, allowance).map_err(release)?;
            cpio::extract_stream(decoder, output)
        }
    }
}

/// Returns whether the archive is compressed by lzma, as in old packages. lzma has no magic number,
/// so the usual properties are compared.
fn is_lzma(head: &[u8]) -> bool {
    head.starts_with(b"\x5d\0\0")
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/x-rpm",
        kind: Kind::Archive,
    };
    const SAMPLES: [&[u8]; 2] = [
        include_bytes!("../../../tests/data/archive/zstd.rpm"),
        include_bytes!("../../../tests/data/archive/gzip.rpm"),
    ];

    #[test]
    fn header_and_files_are_read() {
        for package in SAMPLES {
            let found = run(extract, DETECTED, "a.rpm", package);
            let own = found.own();
            assert!(own.failure.is_none(), "{own:?}");
            assert_eq!(own.text(Field::Title), Some("ken-sample 1.2-3"));
            assert_eq!(
                own.text(Field::Author),
                Some("Rowena Pmouse <rowena@example.org>")
            );
            assert_eq!(own.text(Field::Description), Some("A sample for ken"));
            assert_eq!(own.text(Field::Keywords), Some("Applications/Text"));
            assert_eq!(own.number(Field::Created), Some(1_714_979_290));
            assert!(own.body.contains("The rpmraven describes itself."));
            assert!(own.body.contains("https://example.org/ken"));
            let [file] = &found.members[..] else {
                panic!("{:?}", found.members);
            };
            assert_eq!(file.ipath.as_str(), "usr/share/doc/ken-sample/letter.txt");
            assert!(file.bytes.starts_with(b"The payloadpanda"));
        }
    }

    #[test]
    fn hostile_bytes_are_survived() {
        for package in SAMPLES {
            survives(extract, DETECTED, "a.rpm", package);
        }
    }
}
