//! The checksum of the list of segments.
//!
//! The engine writes a checksum at the end of each segment file, but not of `meta.json`, which
//! names these files and holds the metadata of a commit: a flipped bit there could change a number.
//! A last line with a checksum is therefore appended to its JSON, and removed when the file is
//! read. A list without that line, from an earlier version, is accepted.

use std::io;
use std::path::Path;

use crate::layout::COMMIT_FILE;

const MARK: &[u8] = b"\n#crc32 ";
const DIGITS: usize = 8;

/// Returns the list with its checksum, and any other file unchanged.
pub(super) fn seal(path: &Path, content: &[u8]) -> Vec<u8> {
    let mut sealed = content.to_vec();
    if path == Path::new(COMMIT_FILE) {
        sealed.extend_from_slice(MARK);
        sealed.extend_from_slice(format!("{:08x}\n", crc32fast::hash(content)).as_bytes());
    }
    sealed
}

/// Returns the list without its checksum, and any other file unchanged.
///
/// # Errors
/// Fails if the checksum does not match.
pub(super) fn unseal(path: &Path, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let end = bytes.len().saturating_sub(MARK.len() + DIGITS + 1);
    let (content, line) = bytes.split_at(end);
    if path != Path::new(COMMIT_FILE) || !line.starts_with(MARK) {
        return Ok(bytes);
    }
    let expected = format!("{:08x}\n", crc32fast::hash(content));
    if line[MARK.len()..] != *expected.as_bytes() {
        let message = format!("the checksum of {COMMIT_FILE} does not match");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    bytes.truncate(end);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_list_is_noticed() {
        let list = Path::new(COMMIT_FILE);
        let content = br#"{"segments":[],"opstamp":12}"#;
        let sealed = seal(list, content);
        assert_eq!(unseal(list, sealed.clone()).unwrap(), content);
        assert_eq!(unseal(list, content.to_vec()).unwrap(), content);
        assert_eq!(unseal(list, Vec::new()).unwrap(), b"");
        for at in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[at / 8] ^= 1 << (at % 8);
            // Without the mark it is not valid JSON.
            let read = unseal(list, changed).ok();
            assert!(
                read.is_none_or(
                    |bytes| serde_json::from_slice::<serde_json::Value>(&bytes).is_err()
                )
            );
        }
    }

    #[test]
    fn other_files_have_no_checksum_here() {
        let other = Path::new("other.json");
        assert_eq!(seal(other, b"[]"), b"[]");
        let sealed = seal(Path::new(COMMIT_FILE), b"[]");
        assert_eq!(unseal(other, sealed.clone()).unwrap(), sealed);
    }
}
