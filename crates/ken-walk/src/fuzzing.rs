//! Gives the targets in `fuzz/` access to private parsers of foreign bytes.

/// Reads the list of an MH folder.
pub fn mh_sequences(bytes: &[u8]) {
    crate::mh::read_list(bytes);
}

/// Reads a file of listings; its footer, which no fuzzer finds, is completed.
pub fn listings(bytes: &[u8]) {
    crate::listings::read_file(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            mh_sequences(&bytes);
            listings(&bytes);
        }

        #[test]
        fn lists_of_mh_hold_any_text(lines in prop::collection::vec("[a-z]{0,3}:?[0-9 -]{0,30}", 0..20)) {
            mh_sequences(lines.join("\n").as_bytes());
        }
    }
}
