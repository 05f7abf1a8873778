//! Doors for the targets in `fuzz/` to readers of stored bytes that are not public.

/// A document as it is stored.
pub fn stored_document(bytes: &[u8]) {
    let values = crate::store::values::values(bytes);
    assert!(values.is_none_or(|values| values.len() <= bytes.len()));
}

/// A list of terms as plain text; its end, which no fuzzer finds, is completed.
pub fn term_list(bytes: &[u8]) {
    crate::dictionary::read_terms(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            stored_document(&bytes);
            term_list(&bytes);
        }

        #[test]
        fn lines_of_terms_may_be_in_any_order(lines in prop::collection::vec("[a-d\n]{0,4}", 0..20)) {
            let mut bytes = lines.join("\n").into_bytes();
            bytes.push(b'\n');
            let length = bytes.len() as u64;
            for number in [0, 0, length, 1] {
                bytes.extend(u64::to_le_bytes(number));
            }
            term_list(&bytes);
        }
    }
}
