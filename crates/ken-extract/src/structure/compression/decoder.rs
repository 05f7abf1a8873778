//! Decompresses gzip (RFC 1952), bzip2, xz, lzma, lzip, zstd (RFC 8878), lz4, brotli (RFC 7932), compress,
//! Snappy (its framing format) and zlib (RFC 1950) streams.
//!
//! A file may hold several frames one after the other (`cat a.gz b.gz`, pigz, pixz, pzstd);
//! anything after the last one (tape padding, signatures) is ignored. A bomb is recognised by the
//! ratio of its output to its input, a greedy frame by the memory that it requests.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use liblzma::stream::{Error as LzmaError, Stream};

use ken_core::{Cause, Limit, Setting};

use super::lzw::LzwReader;
use crate::expansion::max_expanded;
use crate::input::carry::carry;
use crate::{Error, Limits};

/// Maximum number of frames in one file, each of which needs a new decoder. It ends files with
/// millions of empty frames.
const MAX_FRAMES: u32 = 1 << 20;
/// The window that the zstd decoder takes by default; `zstd --long=31` makes larger ones.
const MAX_ZSTD_WINDOW: u64 = (128 << 20) + 1;
/// Memory of one xz, lzma or lzip decoder; `xz -9` needs 65 MiB. lz4 blocks have at most 8 MiB, brotli windows 16 MiB.
const MAX_LZMA_BYTES: u64 = 160 << 20;
const BROTLI_BUFFER_BYTES: usize = 4 << 10;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Bzip2,
    Xz,
    Lzma,
    Lzip,
    Zstd,
    Lz4,
    Brotli,
    Compress,
    Snappy,
    Zlib,
}

/// The media types of every codec.
pub(crate) const MEDIA_TYPES: &[&str] = &[
    "application/gzip",
    "application/x-bzip2",
    "application/x-xz",
    "application/x-lzma",
    "application/x-lzip",
    "application/zstd",
    "application/x-lz4",
    "application/x-brotli",
    "application/x-compress",
    "application/x-snappy-framed",
    "application/zlib",
];

impl Codec {
    /// Returns the codec of a media type.
    pub(crate) fn of(media_type: &str) -> Option<Self> {
        Some(match media_type {
            "application/gzip" => Self::Gzip,
            "application/x-bzip2" => Self::Bzip2,
            "application/x-xz" => Self::Xz,
            "application/x-lzma" => Self::Lzma,
            "application/x-lzip" => Self::Lzip,
            "application/zstd" => Self::Zstd,
            "application/x-lz4" => Self::Lz4,
            "application/x-brotli" => Self::Brotli,
            "application/x-compress" => Self::Compress,
            "application/x-snappy-framed" => Self::Snappy,
            "application/zlib" => Self::Zlib,
            _ => return None,
        })
    }

    /// Returns whether another frame starts with these bytes, which may be too few.
    fn starts_frame(self, bytes: &[u8]) -> bool {
        let magic: &[u8] = match self {
            Self::Gzip => b"\x1f\x8b",
            Self::Bzip2 => b"BZh",
            Self::Xz => b"\xfd7zXZ\0",
            Self::Lzip => b"LZIP",
            Self::Lz4 => b"\x04\x22\x4d\x18",
            // These have no magic bytes, or no end, and are never concatenated.
            // The decoder of Snappy reads all of them.
            Self::Lzma | Self::Brotli | Self::Compress | Self::Snappy | Self::Zlib => return false,
            Self::Zstd if is_skippable(bytes) => return true,
            Self::Zstd => b"\x28\xb5\x2f\xfd",
        };
        !bytes.is_empty() && bytes.iter().zip(magic).all(|(a, b)| a == b)
    }
}

/// Returns whether this is a skippable zstd frame, as pzstd writes them.
fn is_skippable(bytes: &[u8]) -> bool {
    let magic = b"\x2a\x4d\x18";
    matches!(bytes.first(), Some(0x50..=0x5f)) && bytes[1..].iter().zip(magic).all(|(a, b)| a == b)
}

/// Bounds the output by the input, over all layers of compression.
#[derive(Clone)]
pub(crate) struct Allowance {
    n_read: Rc<Cell<u64>>,
    max_expansion: Limit,
    max_expanded_bytes: Limit,
}

impl Allowance {
    /// Creates the allowance for an input of which `n_read` bytes have been read.
    pub(crate) fn new(n_read: Rc<Cell<u64>>, limits: &Limits) -> Self {
        Self {
            n_read,
            max_expansion: limits.limit(Setting::MaxExpansion),
            max_expanded_bytes: limits.limit(Setting::MaxExpandedBytes),
        }
    }

    fn check(&self, n_expanded: u64) -> Result<(), Error> {
        let by_ratio = max_expanded(self.n_read.get(), self.max_expansion.in_force);
        let reached = if n_expanded > by_ratio {
            self.max_expansion
        } else if n_expanded > self.max_expanded_bytes.in_force {
            self.max_expanded_bytes
        } else {
            return Ok(());
        };
        Err(Error::Failed(Cause::limit(reached)))
    }
}

/// Decompresses a stream of frames. Its I/O errors carry an [`Error`].
pub(crate) struct Decoder<R: BufRead> {
    codec: Codec,
    frame: Option<Frame<R>>,
    original_name: Option<String>,
    n_frames: u32,
    n_expanded: u64,
    allowance: Allowance,
}

enum Frame<R: BufRead> {
    Gzip(flate2::bufread::GzDecoder<R>),
    Bzip2(bzip2::bufread::BzDecoder<R>),
    Lzma(liblzma::bufread::XzDecoder<R>),
    Zstd(zstd::stream::read::Decoder<'static, R>),
    Lz4(lz4_flex::frame::FrameDecoder<R>),
    Brotli(Box<brotli_decompressor::Decompressor<R>>),
    Compress(LzwReader<R>),
    Snappy(Box<snap::read::FrameDecoder<R>>),
    Zlib(flate2::bufread::ZlibDecoder<R>),
}

/// Returns the size of the window of a zstd frame (RFC 8878 section 3.1.1.1), if the bytes reach far enough.
fn zstd_window(frame: &[u8]) -> Option<u64> {
    let header = frame.strip_prefix(b"\x28\xb5\x2f\xfd")?;
    let (descriptor, rest) = header.split_first()?;
    if descriptor & 0x20 == 0 {
        let window = *rest.first()?;
        let base = 1 << (10 + u64::from(window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The window is the whole content, whose size follows the number of the dictionary.
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let n_bytes = 1 << (descriptor >> 6);
    let mut size = [0; 8];
    size[..n_bytes].copy_from_slice(rest.get(dictionary..dictionary + n_bytes)?);
    Some(u64::from_le_bytes(size))
}

impl<R: BufRead> Frame<R> {
    fn new(codec: Codec, reader: R) -> io::Result<Self> {
        Ok(match codec {
            Codec::Gzip => Self::Gzip(flate2::bufread::GzDecoder::new(reader)),
            Codec::Bzip2 => Self::Bzip2(bzip2::bufread::BzDecoder::new(reader)),
            Codec::Xz => Self::lzma(reader, Stream::new_stream_decoder(MAX_LZMA_BYTES, 0)?),
            Codec::Lzma => Self::lzma(reader, Stream::new_lzma_decoder(MAX_LZMA_BYTES)?),
            Codec::Lzip => Self::lzma(reader, Stream::new_lzip_decoder(MAX_LZMA_BYTES, 0)?),
            Codec::Zstd => {
                let mut reader = reader;
                if zstd_window(reader.fill_buf()?).is_some_and(|bytes| bytes > MAX_ZSTD_WINDOW) {
                    return Err(carry(Error::built_in(
                        "its zstd window takes more than 128 MiB of memory",
                    )));
                }
                let decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
                Self::Zstd(decoder.single_frame())
            }
            Codec::Lz4 => Self::Lz4(lz4_flex::frame::FrameDecoder::new(reader)),
            Codec::Brotli => {
                let decoder = brotli_decompressor::Decompressor::new(reader, BROTLI_BUFFER_BYTES);
                Self::Brotli(Box::new(decoder))
            }
            Codec::Compress => Self::Compress(LzwReader::new(reader)?),
            Codec::Snappy => Self::Snappy(Box::new(snap::read::FrameDecoder::new(reader))),
            Codec::Zlib => Self::Zlib(flate2::bufread::ZlibDecoder::new(reader)),
        })
    }

    fn lzma(reader: R, stream: Stream) -> Self {
        Self::Lzma(liblzma::bufread::XzDecoder::new_stream(reader, stream))
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder) => decoder.read(buffer),
            Self::Lzma(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
            Self::Lz4(decoder) => decoder.read(buffer),
            Self::Brotli(decoder) => decoder.read(buffer),
            Self::Compress(decoder) => decoder.read(buffer),
            Self::Snappy(decoder) => decoder.read(buffer),
            Self::Zlib(decoder) => decoder.read(buffer),
        }
    }

    fn into_inner(self) -> R {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Lzma(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
            Self::Lz4(decoder) => decoder.into_inner(),
            Self::Brotli(decoder) => decoder.into_inner(),
            Self::Compress(decoder) => decoder.into_inner(),
            Self::Snappy(decoder) => decoder.into_inner(),
            Self::Zlib(decoder) => decoder.into_inner(),
        }
    }
}

impl<R: BufRead> Decoder<R> {
    /// Starts decompression.
    ///
    /// # Errors
    /// Fails if there is no memory for a decoder.
    pub(crate) fn new(codec: Codec, reader: R, allowance: Allowance) -> io::Result<Self> {
        let frame = Frame::new(codec, reader)?;
        let original_name = match &frame {
            Frame::Gzip(decoder) => decoder.header().and_then(|header| header.filename()),
            _ => None,
        };
        Ok(Self {
            codec,
            original_name: original_name.map(decode_name),
            frame: Some(frame),
            n_frames: 1,
            n_expanded: 0,
            allowance,
        })
    }

    /// Returns the original name of a gzip file, if the header has it.
    pub(crate) fn original_name(&self) -> Option<&str> {
        self.original_name.as_deref()
    }

    /// Advances to the next frame; without one, the stream ends.
    fn next_frame(&mut self) -> io::Result<()> {
        let Some(frame) = self.frame.take() else {
            return Ok(());
        };
        let mut reader = frame.into_inner();
        if self.codec == Codec::Xz {
            skip_zeros(&mut reader)?;
        }
        if !self.codec.starts_frame(reader.fill_buf()?) {
            return Ok(());
        }
        self.n_frames += 1;
        if self.n_frames > MAX_FRAMES {
            return Err(carry(Error::built_in(format!(
                "the stream has more than {MAX_FRAMES} frames"
            ))));
        }
        self.frame = Some(Frame::new(self.codec, reader)?);
        Ok(())
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(frame) = &mut self.frame {
            let n = frame.read(buffer).map_err(in_words)?;
            if n > 0 {
                self.n_expanded += n as u64;
                self.allowance.check(self.n_expanded).map_err(carry)?;
                return Ok(n);
            }
            self.next_frame()?;
        }
        Ok(0)
    }
}

/// Skips the zeros that pad the streams of an xz file.
fn skip_zeros(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let available = reader.fill_buf()?;
        let n_zeros = available.iter().take_while(|&&byte| byte == 0).count();
        if n_zeros == 0 {
            return Ok(());
        }
        reader.consume(n_zeros);
    }
}

/// Decodes a file name: RFC 1952 says Latin-1, gzip writes the bytes of the file system.
fn decode_name(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

fn in_words(error: io::Error) -> io::Error {
    let is_lzma_limit = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<LzmaError>())
        .is_some_and(|cause| matches!(cause, LzmaError::MemLimit));
    if is_lzma_limit {
        return carry(Error::built_in(format!(
            "decompressing it needs more than {MAX_LZMA_BYTES} bytes of memory"
        )));
    }
    error
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::input::carry::{CountingReader, release};

    const CODECS: [Codec; 6] = [
        Codec::Gzip,
        Codec::Bzip2,
        Codec::Xz,
        Codec::Lzma,
        Codec::Zstd,
        Codec::Lz4,
    ];

    fn compressed(codec: Codec, content: &[u8]) -> Vec<u8> {
        match codec {
            Codec::Gzip => {
                let mut encoder = flate2::GzBuilder::new()
                    .filename("gr\u{f6}\u{df}e.txt")
                    .write(Vec::new(), flate2::Compression::default());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Bzip2 => {
                let level = bzip2::Compression::default();
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Xz => liblzma::encode_all(content, 6).unwrap(),
            Codec::Lzma => {
                let options = liblzma::stream::LzmaOptions::new_preset(6).unwrap();
                let stream = Stream::new_lzma_encoder(&options).unwrap();
                let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Zstd => zstd::encode_all(content, 3).unwrap(),
            Codec::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Snappy => {
                let mut encoder = snap::write::FrameEncoder::new(Vec::new());
                encoder.write_all(content).unwrap();
                encoder.into_inner().unwrap()
            }
            Codec::Zlib => {
                let level = flate2::Compression::default();
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Lzip | Codec::Brotli | Codec::Compress => {
                unreachable!("ken has no encoder of {codec:?}; samples are files")
            }
        }
    }

    fn decompressed(codec: Codec, bytes: &[u8]) -> (Vec<u8>, Option<Error>) {
        let limits = Limits {
            max_expansion: 100,
            ..Limits::default()
        };
        let source = CountingReader::new(bytes);
        let allowance = Allowance::new(source.n_read(), &limits);
        // A small buffer puts magic bytes on its edges.
        let reader = io::BufReader::with_capacity(7, source);
        let mut content = Vec::new();
        let read = Decoder::new(codec, reader, allowance)
            .and_then(|mut decoder| decoder.read_to_end(&mut content));
        (content, read.err().map(release))
    }

    #[test]
    fn a_zstd_window_that_is_too_large_is_a_limit() {
        // zstd --long=31 from a pipe, the largest that is read, and whole contents of 2 GiB and 300 bytes.
        for (header, window) in [
            (&[0x04, 0xa8][..], 1 << 31),
            (&[0x00, 0x88], 128 << 20),
            (&[0x00, 0x89], 144 << 20),
            (&[0xa4, 0, 0, 0, 0x80], 1 << 31),
            (&[0x21, 9, 77], 77),
        ] {
            let frame = [b"\x28\xb5\x2f\xfd", header].concat();
            assert_eq!(zstd_window(&frame), Some(window), "{header:x?}");
            assert_eq!(zstd_window(&frame[..frame.len() - 1]), None);
            let made = Frame::new(Codec::Zstd, &frame[..]);
            let cause = made.err().map(|error| Cause::from(Error::from(error)));
            let is_limit = matches!(cause, Some(Cause::BuiltIn { .. }));
            assert_eq!(is_limit, window > MAX_ZSTD_WINDOW, "{header:x?}");
        }
    }

    #[test]
    fn frames_follow_each_other_and_garbage_is_ignored() {
        for codec in CODECS {
            let mut bytes = compressed(codec, b"reindeer ");
            let mut expected = b"reindeer ".to_vec();
            if codec != Codec::Lzma {
                bytes.extend(compressed(codec, b""));
                bytes.extend(compressed(codec, b"moose"));
                expected.extend(b"moose");
            }
            for garbage in [&b""[..], &[0; 512], b"signature"] {
                let whole = [&bytes, garbage].concat();
                let (content, failure) = decompressed(codec, &whole);
                assert_eq!(content, expected, "{codec:?}");
                assert!(failure.is_none(), "{codec:?}: {failure:?}");
            }
        }
    }

    #[test]
    fn snappy_and_zlib_are_read_as_far_as_they_are_whole() {
        for codec in [Codec::Snappy, Codec::Zlib] {
            let bytes = compressed(codec, &b"reindeer and moose ".repeat(9));
            let (content, failure) = decompressed(codec, &bytes);
            assert_eq!(content, b"reindeer and moose ".repeat(9), "{codec:?}");
            assert!(failure.is_none(), "{codec:?}: {failure:?}");
            let (_, failure) = decompressed(codec, &bytes[..bytes.len() - 3]);
            assert!(failure.is_some(), "{codec:?}");
        }
    }

    const SAMPLES: [(Codec, &[u8], &str); 3] = [
        (
            Codec::Lzip,
            include_bytes!("../../../tests/data/archive/lzip.txt.lz"),
            "lzipllama",
        ),
        (
            Codec::Brotli,
            include_bytes!("../../../tests/data/archive/brotli.txt.br"),
            "brotlibadger",
        ),
        (
            Codec::Compress,
            include_bytes!("../../../tests/data/archive/compress.txt.Z"),
            "lzwlemur",
        ),
    ];

    #[test]
    fn what_other_programs_compressed_is_read() {
        for (codec, bytes, word) in SAMPLES {
            let (content, failure) = decompressed(codec, bytes);
            assert!(failure.is_none(), "{codec:?}: {failure:?}");
            let text = String::from_utf8(content).unwrap();
            assert!(text.starts_with(word), "{codec:?}");
            assert!(text.ends_with("3167600.\n"), "{codec:?}");
        }
        let (_, bytes, _) = SAMPLES[0];
        let (content, failure) = decompressed(Codec::Lzip, &[bytes, bytes].concat());
        assert!(failure.is_none(), "{failure:?}");
        assert_eq!(memchr::memmem::find_iter(&content, "word of").count(), 2);
    }

    #[test]
    fn skippable_frames_are_skipped() {
        let skippable = b"\x5e\x2a\x4d\x18\x03\0\0\0abc";
        let frame = compressed(Codec::Zstd, b"reindeer");
        let bytes = [&skippable[..], &frame, skippable, &frame].concat();
        let (content, failure) = decompressed(Codec::Zstd, &bytes);
        assert_eq!(content, b"reindeerreindeer");
        assert!(failure.is_none(), "{failure:?}");
    }

    #[test]
    fn what_is_cut_off_is_read_so_far_and_reported() {
        let mut state = 1_u32;
        let content: Vec<u8> = (0..20_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        for codec in CODECS {
            let bytes = compressed(codec, &content);
            for n in 1..20 {
                let (start, failure) = decompressed(codec, &bytes[..bytes.len() * n / 20]);
                assert!(content.starts_with(&start), "{codec:?}");
                assert!(
                    matches!(failure, Some(Error::Malformed(_))),
                    "{codec:?} {failure:?}"
                );
            }
        }
    }

    #[test]
    fn bombs_are_stopped() {
        // An lz4 block expands by 255 at most.
        for codec in [
            Codec::Gzip,
            Codec::Bzip2,
            Codec::Xz,
            Codec::Zstd,
            Codec::Lz4,
        ] {
            let zeros = vec![0; 4 << 20];
            let (content, failure) = decompressed(codec, &compressed(codec, &zeros));
            assert!(
                failure.as_ref().is_some_and(Error::is_limit),
                "{codec:?} {failure:?}"
            );
            assert!(content.len() < zeros.len(), "{codec:?}");
        }
    }

    #[test]
    fn memory_of_a_greedy_header_is_refused() {
        // Properties, a dictionary of 4 GiB, unknown size.
        let mut bytes = vec![0x5d, 0xff, 0xff, 0xff, 0xff];
        bytes.extend([0xff; 8]);
        bytes.extend([0; 32]);
        let (_, failure) = decompressed(Codec::Lzma, &bytes);
        assert!(failure.as_ref().is_some_and(Error::is_limit), "{failure:?}");
    }

    #[test]
    fn gzip_gives_the_original_name() {
        let bytes = compressed(Codec::Gzip, b"x");
        let allowance = Allowance::new(Rc::default(), &Limits::default());
        let decoder = Decoder::new(Codec::Gzip, &bytes[..], allowance).unwrap();
        assert_eq!(decoder.original_name(), Some("größe.txt"));
        assert_eq!(decode_name(b"gr\xf6\xdfe"), "größe");
    }

    #[test]
    fn a_failing_disk_is_not_called_damage() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::TimedOut.into())
            }
        }
        for codec in CODECS {
            let source = CountingReader::new(Broken);
            let allowance = Allowance::new(source.n_read(), &Limits::default());
            let read = Decoder::new(codec, io::BufReader::new(source), allowance)
                .and_then(|mut decoder| decoder.read(&mut [0; 9]));
            let error = release(read.unwrap_err());
            assert!(matches!(error, Error::Read(_)), "{codec:?} {error:?}");
        }
    }
}
