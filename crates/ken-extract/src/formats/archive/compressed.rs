//! Compressed files, which are transparent: they are read as if they were not compressed.
//!
//! `notes.txt.gz` is one document with the text, type and fields of `notes.txt`; a compressed tape
//! archive is that archive. The content takes the place of the input (same member path, same
//! output), and no member is made. All layers of compression are removed in one stream. Content
//! other than a tape archive or a mailbox is then held in memory, up to
//! [`crate::Limits::max_member_bytes`].

use std::io::{self, BufRead, BufReader, Cursor, Read};

use ken_core::Setting;

use crate::detect::{self, Detected, UNKNOWN};
use crate::formats::is_helped;
use crate::input::HEAD_BYTES;
use crate::input::carry::{CountingReader, carry, release};
use crate::input::text::cut_character;
use crate::output::Output;
use crate::output::members::{file_name, over};
use crate::structure::compression::{Allowance, Codec, Decoder};
use crate::{Error, Format, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "compressed",
    crate::structure::compression::MEDIA_TYPES,
    extract,
)
.members("those of the content")
.in_worker()
.version(3)
.streams();

/// Returns whether a media type is that of a compressed file.
pub fn is_compressed(media_type: &str) -> bool {
    FORMAT.media_types.contains(&media_type)
}

/// A file with more layers of compression is an attack.
const MAX_LAYERS: u32 = 4;
const BUFFER_BYTES: usize = 64 << 10;

/// File name endings, and their replacements without the compression.
const ENDINGS: &[(&str, &str)] = &[
    (".tgz", ".tar"),
    (".taz", ".tar"),
    (".tbz2", ".tar"),
    (".tbz", ".tar"),
    (".tb2", ".tar"),
    (".txz", ".tar"),
    (".tlz", ".tar"),
    (".tzst", ".tar"),
    (".svgz", ".svg"),
    (".zabw", ".abw"),
    (".gz", ""),
    (".bz2", ""),
    (".xz", ""),
    (".lzma", ""),
    (".zst", ""),
    (".lz", ""),
    (".lz4", ""),
    (".br", ""),
    (".z", ""),
    (".sz", ""),
    (".snappy", ""),
    (".zz", ""),
    (".zlib", ""),
];

/// Extracts the content of a compressed file in place of the file.
pub(in crate::formats) fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let input = &*input;
    let source = CountingReader::new(input.reader()?);
    let allowance = Allowance::new(source.n_read(), output.limits());
    let reader = Box::new(BufReader::with_capacity(BUFFER_BYTES, source));
    let content = peel(reader, &input.name, output.detected(), &allowance)?;
    if content.detected != UNKNOWN {
        output.set_detected(content.detected);
    }
    match crate::formats::by_media_type(content.detected.media_type) {
        None => content.reader.failure.map_or(Ok(()), Err),
        Some(_) if content.detected.media_type == "application/x-tar" => {
            crate::formats::archive::tar::extract_stream(content.reader, output)
        }
        Some(_) if content.detected.media_type == "application/x-cpio" => {
            crate::formats::archive::cpio::extract_stream(content.reader, output)
        }
        Some(_) if content.detected.media_type == "application/warc" => {
            crate::formats::web::warc::extract_stream(content.reader, output)
        }
        Some(_) if content.detected.media_type == "application/mbox" => {
            crate::formats::mail::mbox::extract_stream(
                content.reader,
                input.is_outermost_file,
                output,
            )
        }
        Some(_) => extract_whole(content, input, output),
    }
}

/// The content inside all layers of compression.
struct Content<'a> {
    name: String,
    detected: Detected,
    reader: Peeked<'a>,
}

fn peel<'a>(
    mut reader: Box<dyn BufRead + 'a>,
    name: &str,
    mut detected: Detected,
    allowance: &Allowance,
) -> Result<Content<'a>, Error> {
    let mut name = name.to_owned();
    for _ in 0..MAX_LAYERS {
        let Some(codec) = Codec::of(detected.media_type) else {
            break;
        };
        let decoder = Decoder::new(codec, reader, allowance.clone()).map_err(release)?;
        name = inner_name(&name, decoder.original_name());
        let peeked = Peeked::new(decoder);
        detected = detect::detect(&Input::bytes_of(name.as_str(), peeked.head()))?;
        if Codec::of(detected.media_type).is_none() {
            return Ok(Content {
                name,
                detected,
                reader: peeked,
            });
        }
        reader = Box::new(BufReader::with_capacity(BUFFER_BYTES, peeked));
    }
    Err(Error::built_in(format!(
        "the file is compressed more than {MAX_LAYERS} times"
    )))
}

/// Returns the name of the content: the original name, or the name without its compression ending.
fn inner_name(name: &str, original: Option<&str>) -> String {
    let stripped = ENDINGS.iter().find_map(|(ending, inner)| {
        let at = name.len().checked_sub(ending.len())?;
        let (stem, end) = name.split_at_checked(at)?;
        end.eq_ignore_ascii_case(ending)
            .then(|| format!("{stem}{inner}"))
    });
    let name = stripped.unwrap_or_else(|| name.to_owned());
    match original {
        // A renamed file may have lost the ending that shows its format.
        Some(original) if !name.contains('.') => file_name(original).to_owned(),
        _ => name,
    }
}

/// Extracts content that its parser needs whole. If the content is damaged or too large, the parser
/// gets its start, and that text is searchable.
fn extract_whole(
    mut content: Content<'_>,
    input: &Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let limit = output.limits().limit(Setting::MaxMemberBytes);
    let mut bytes = Vec::new();
    let read = content
        .reader
        .by_ref()
        .take(limit.in_force)
        .read_to_end(&mut bytes);
    let failure = match read {
        Err(error) => Some(release(error)),
        Ok(_) if content.reader.is_at_end() => None,
        Ok(_) => Some(over(limit)),
    };
    if failure.is_some() {
        cut_character(&mut bytes);
    }
    output.unpacked(bytes.len() as u64)?;
    let mut inner = Input::member(Member {
        is_attachment: false,
        ipath: input.ipath.clone(),
        name: content.name,
        modified: input.modified,
        bytes,
        ..Member::default()
    });
    let extracted = extract_as_detected(&mut inner, output);
    let media_type = output.detected().media_type;
    if is_helped(media_type) {
        output.content(Member {
            ipath: input.ipath.clone(),
            name: inner.name.clone(),
            bytes: inner.take_bytes(output.limits())?,
            ..Member::default()
        });
    }
    failure.map_or(extracted, Err)
}

fn extract_as_detected(inner: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    // The head alone may look like another format.
    let detected = detect::detect(inner)?;
    let format = crate::formats::by_media_type(detected.media_type);
    let Some(format) = format.filter(|_| Codec::of(detected.media_type).is_none()) else {
        return Ok(());
    };
    output.set_detected(detected);
    (format.extract)(inner, output)
}

/// A stream whose head is known before it is read. Its failures carry an [`Error`].
struct Peeked<'a> {
    head: Cursor<Vec<u8>>,
    failure: Option<Error>,
    rest: Box<dyn Read + 'a>,
}

impl<'a> Peeked<'a> {
    fn new(mut rest: impl Read + 'a) -> Self {
        let mut head = Vec::new();
        let read = rest.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
        Self {
            head: Cursor::new(head),
            failure: read.err().map(release),
            rest: Box::new(rest),
        }
    }

    fn head(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// Returns whether nothing is left; a failure at the end counts as content.
    fn is_at_end(&mut self) -> bool {
        matches!(self.read(&mut [0]), Ok(0))
    }
}

impl Read for Peeked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => match self.failure.take() {
                Some(failure) => Err(carry(failure)),
                None => self.rest.read(buffer),
            },
            n => Ok(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::testing::survives;

    #[test]
    fn names_lose_the_ending_of_the_compression() {
        for (name, original, inner) in [
            ("notes.txt.gz", None, "notes.txt"),
            ("notes.txt.gz", Some("old.txt"), "notes.txt"),
            ("notes.gz", Some("/home/a/old.txt"), "old.txt"),
            ("notes", Some("old.txt"), "old.txt"),
            ("SOURCE.TGZ", None, "SOURCE.tar"),
            ("a.tar.Zst", None, "a.tar"),
            ("größe.xz", None, "größe"),
            ("ß", None, "ß"),
            ("", None, ""),
        ] {
            assert_eq!(inner_name(name, original), inner);
        }
    }

    #[test]
    fn hostile_bytes_are_survived() {
        for (media_type, bytes) in [
            (
                "application/gzip",
                &include_bytes!("../../../tests/data/archive/tree.tgz")[..],
            ),
            (
                "application/x-bzip2",
                include_bytes!("../../../tests/data/archive/bzip2.txt.bz2"),
            ),
            (
                "application/x-xz",
                include_bytes!("../../../tests/data/archive/tree.tar.xz"),
            ),
            (
                "application/x-lzma",
                include_bytes!("../../../tests/data/archive/lzma.txt.lzma"),
            ),
            (
                "application/zstd",
                include_bytes!("../../../tests/data/archive/zstd.txt.zst"),
            ),
            (
                "application/x-lzip",
                include_bytes!("../../../tests/data/archive/lzip.txt.lz"),
            ),
            (
                "application/x-lz4",
                include_bytes!("../../../tests/data/archive/lz4.txt.lz4"),
            ),
            (
                "application/x-brotli",
                include_bytes!("../../../tests/data/archive/brotli.txt.br"),
            ),
            (
                "application/x-compress",
                include_bytes!("../../../tests/data/archive/compress.txt.Z"),
            ),
        ] {
            let kind = Kind::Archive;
            survives(extract, Detected { media_type, kind }, "a.tar", bytes);
        }
    }
}
