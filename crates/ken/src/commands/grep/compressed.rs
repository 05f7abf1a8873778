//! `--search-zip`: compressed files, by ken's own decoders.

use std::io::{self, BufReader, Read};
use std::path::Path;

use ken_extract::compression::{decompressed, is_compressed};

/// Opens a compressed file as its content.
pub(super) fn open(path: &Path) -> io::Result<Option<Box<dyn Read>>> {
    if !is_compressed(path) {
        return Ok(None);
    }
    let file = ken_walk::open_file(path)?;
    decompressed(path, BufReader::new(file))
}
