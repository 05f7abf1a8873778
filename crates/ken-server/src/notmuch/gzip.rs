//! Messages that lie compressed in the folder of mail.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

/// The first bytes of a file that is compressed by gzip (RFC 1952).
const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The most bytes of a message.
const MAX_BYTES: u64 = 512 << 20;

/// Returns the content of a file, unpacked if it is compressed by gzip. Of a damaged file it is what comes before the damage.
pub fn unpacked(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&MAGIC) {
        return Cow::Borrowed(bytes);
    }
    let mut content = Vec::new();
    // What could be read is there even after an error.
    _ = MultiGzDecoder::new(bytes)
        .take(MAX_BYTES)
        .read_to_end(&mut content);
    Cow::Owned(content)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_are_unpacked() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"Subject: a\n").unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(&*unpacked(&packed), b"Subject: a\n");
        assert_eq!(&*unpacked(&packed[..packed.len() - 8]), b"Subject: a\n");
        assert_eq!(&*unpacked(b"Subject"), b"Subject");
    }
}
