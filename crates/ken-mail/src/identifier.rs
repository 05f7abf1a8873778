//! The identifier of a message whose header has none.

use std::fmt::Write;

use sha1::{Digest, Sha1};

/// Returns the identifier that notmuch makes from the bytes of a message: `notmuch-sha1-` and their hash. It stays the same
/// when the file is renamed, copies of a message share it, and tags that notmuch wrote down under it fit.
pub fn made_id(message: &[u8]) -> String {
    let mut id = "notmuch-sha1-".to_owned();
    for byte in Sha1::digest(message) {
        _ = write!(id, "{byte:02x}");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_made_from_bytes() {
        // FIPS 180-4, the example of one block.
        let id = made_id(b"abc");
        assert_eq!(id, "notmuch-sha1-a9993e364706816aba3e25717850c26c9cd0d89d");
    }
}
