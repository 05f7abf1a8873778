//! Reads a file into memory, or reports why not.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use fs_err::File;

use super::binary;
use super::report::Report;

/// Maximum size of a file: PCRE 1 cannot search larger ones, and they would be in memory.
const MAX_BYTES: u64 = i32::MAX as u64;

/// Maximum size of the content of a compressed file.
const MAX_DECOMPRESSED_BYTES: u64 = 1 << 30;

/// For larger files the head is read first, since most large files are binary.
const WORTH_A_LOOK_BYTES: u64 = 64 << 10;

/// Memory that a buffer keeps between files.
const KEPT_BYTES: usize = 4 << 20;

/// Options for reading a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    /// Whether binary files are searched.
    pub(super) binary: bool,
    /// Whether compressed files are searched.
    pub(super) compressed: bool,
    /// Device and inode of the file that output is written to.
    pub(super) output: Option<(u64, u64)>,
}

/// The outcome of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The text is in the buffer.
    Text,
    /// The file is empty.
    Empty,
    /// The file is not searched, which was reported.
    Skipped,
}

/// Reads a file into a buffer; `known_regular` if the folder lists it as a regular file.
pub(super) fn read(
    path: &[u8],
    known_regular: bool,
    want: Want,
    buffer: &mut Vec<u8>,
    report: &Report<'_>,
) -> Content {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES);
    match try_read(
        Path::new(OsStr::from_bytes(path)),
        known_regular,
        want,
        buffer,
    ) {
        Ok(content) => content,
        Err(Reason::Quiet(reason)) => {
            let path = path.escape_ascii();
            report.debug(|| format!("Skipping {path}: {reason}"));
            Content::Skipped
        }
        Err(Reason::Reported(reason)) => {
            report.error(&[b"Skipping ", path, b": ", reason.as_bytes()]);
            Content::Skipped
        }
    }
}

/// Why a file is not searched.
enum Reason {
    Quiet(&'static str),
    Reported(String),
}

fn try_read(
    path: &Path,
    known_regular: bool,
    want: Want,
    buffer: &mut Vec<u8>,
) -> Result<Content, Reason> {
    if !known_regular {
        // Opening a device is not allowed.
        check(&fs_err::metadata(path).map_err(|_| no_status())?, want)?;
    }
    let file = ken_walk::open_named(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => no_status(),
        _ => Reason::Reported(format!("Error opening file: {}", words(&error))),
    })?;
    let metadata = file.metadata().map_err(|_| no_status())?;
    check(&metadata, want)?;
    if metadata.file_type().is_fifo() {
        fill(&file, MAX_BYTES, buffer)?;
    } else {
        let length = metadata.len();
        if length > MAX_BYTES {
            return Err(too_large(MAX_BYTES));
        }
        if length > WORTH_A_LOOK_BYTES && !want.binary && !want.compressed {
            let mut head = [0; binary::HEAD];
            let read = rustix::io::read(&file, &mut head).unwrap_or(0);
            buffer.extend_from_slice(&head[..read]);
            if binary::is_binary(buffer) {
                return Err(Reason::Quiet("file is binary"));
            }
        }
        buffer.reserve((length as usize).saturating_sub(buffer.len()));
        fill(&file, length, buffer)?;
    }
    if want.compressed {
        decompress(buffer)?;
    }
    match buffer.is_empty() {
        true => Ok(Content::Empty),
        false => Ok(Content::Text),
    }
}

fn check(metadata: &Metadata, want: Want) -> Result<(), Reason> {
    if want.output == Some((metadata.dev(), metadata.ino())) {
        return Err(Reason::Quiet("stdout is redirected to it"));
    }
    let kind = metadata.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        let mode = metadata.mode();
        return Err(Reason::Reported(format!("Mode {mode} is not a file.")));
    }
    Ok(())
}

/// Reads until the buffer has this length or the file ends. A file of known length takes one call.
fn fill(file: &File, length: u64, buffer: &mut Vec<u8>) -> Result<(), Reason> {
    while (buffer.len() as u64) < length {
        if buffer.len() == buffer.capacity() {
            buffer.reserve(WORTH_A_LOOK_BYTES as usize);
        }
        match rustix::io::read(file, rustix::buffer::spare_capacity(buffer)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                let words = words(&error.into());
                return Err(Reason::Reported(format!("Error reading file: {words}")));
            }
        }
    }
    Ok(())
}

/// Replaces the content of a compressed file by its decompressed form.
fn decompress(buffer: &mut Vec<u8>) -> Result<(), Reason> {
    let mut text = Vec::new();
    let source = buffer.as_slice();
    let read = match source {
        [0x1f, 0x8b, ..] => bounded(flate2::read::MultiGzDecoder::new(source), &mut text),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => bounded(
            liblzma::read::XzDecoder::new_multi_decoder(source),
            &mut text,
        ),
        [0x5d, 0, 0, ..] => match liblzma::stream::Stream::new_lzma_decoder(u64::MAX) {
            Ok(stream) => bounded(
                liblzma::read::XzDecoder::new_stream(source, stream),
                &mut text,
            ),
            Err(error) => Err(error.into()),
        },
        [0x1f, 0x9b, ..] | [b'P', b'K', 3, 4, ..] => {
            return Err(Reason::Reported("this compression is not known".to_owned()));
        }
        _ => return Ok(()),
    };
    read.map_err(|error| Reason::Reported(format!("Cannot decompress: {error}")))?;
    if text.len() as u64 > MAX_DECOMPRESSED_BYTES {
        return Err(too_large(MAX_DECOMPRESSED_BYTES));
    }
    *buffer = text;
    Ok(())
}

fn bounded(reader: impl Read, text: &mut Vec<u8>) -> io::Result<usize> {
    reader.take(MAX_DECOMPRESSED_BYTES + 1).read_to_end(text)
}

fn no_status() -> Reason {
    Reason::Reported("Error fstat()ing file.".to_owned())
}

fn too_large(limit: u64) -> Reason {
    Reason::Reported(format!(
        "pcre_exec() can't handle files larger than {limit} bytes."
    ))
}

/// Returns the system's text for an error, without the path before and the number after it.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.rsplit(": ").next().unwrap_or(&text);
    let number = words.find(" (os error");
    words[..number.unwrap_or(words.len())].to_owned()
}
