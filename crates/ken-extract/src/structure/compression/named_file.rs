//! Reads a compressed file as a stream, for searches in text without documents.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::rc::Rc;

use super::decoder::{Allowance, Codec, Decoder};
use crate::Limits;

/// File name endings and their compression.
const ENDS: &[(&str, Codec)] = &[
    (".gz", Codec::Gzip),
    (".tgz", Codec::Gzip),
    (".bz2", Codec::Bzip2),
    (".tbz2", Codec::Bzip2),
    (".xz", Codec::Xz),
    (".txz", Codec::Xz),
    (".lz4", Codec::Lz4),
    (".lzma", Codec::Lzma),
    (".lz", Codec::Lzip),
    (".br", Codec::Brotli),
    (".zst", Codec::Zstd),
    (".zstd", Codec::Zstd),
    (".Z", Codec::Compress),
    (".sz", Codec::Snappy),
    (".snappy", Codec::Snappy),
    (".zz", Codec::Zlib),
    (".zlib", Codec::Zlib),
];

/// Returns whether the name is that of a compressed file.
pub fn is_compressed(path: &Path) -> bool {
    codec(path).is_some()
}

/// Returns the content of a compressed file; none if its name is not that of a compressed file.
///
/// The content is not limited, since it is read once and kept nowhere.
///
/// # Errors
/// Fails if there is no memory for a decoder. Damaged content is reported when it is read.
pub fn decompressed(
    path: &Path,
    reader: impl BufRead + 'static,
) -> io::Result<Option<Box<dyn Read>>> {
    let Some(codec) = codec(path) else {
        return Ok(None);
    };
    let limits = Limits {
        max_expansion: u64::MAX,
        max_expanded_bytes: u64::MAX,
        ..Limits::default()
    };
    let allowance = Allowance::new(Rc::new(Cell::new(u64::MAX)), &limits);
    let decoder = Decoder::new(codec, reader, allowance)?;
    Ok(Some(Box::new(decoder)))
}

fn codec(path: &Path) -> Option<Codec> {
    let name = path.file_name()?.to_str()?;
    let end = ENDS.iter().find(|(end, _)| name.ends_with(end))?;
    Some(end.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_how_a_file_is_compressed() {
        assert!(is_compressed(Path::new("a/b.tar.gz")));
        assert!(!is_compressed(Path::new("a.gz/b")));
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\xe6\x02\0\x4e\x81\x88\x47\x04\0\0\0";
        let mut reader = decompressed(Path::new("x.gz"), &gzip[..]).unwrap().unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc\n");
        assert!(decompressed(Path::new("x"), &gzip[..]).unwrap().is_none());
    }
}
