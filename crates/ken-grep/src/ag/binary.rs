//! Whether a file is text, by its first 512 bytes, as ag decides it.
//!
//! Bytes that text seldom has are counted; valid UTF-8 sequences of two and three bytes are text.
//! More than one byte in ten of the others, or a NUL: binary.

/// Bytes that are looked at.
pub(super) const HEAD: usize = 512;

/// From this byte on the verdict may come before all are counted.
const EARLIEST: usize = 32;

/// Suspicious bytes in a hundred that text may have.
const TOLERATED_PERCENT: usize = 10;

/// Returns whether a file that begins like this is binary; an empty one is not.
pub(super) fn is_binary(text: &[u8]) -> bool {
    if text.is_empty() || text.starts_with(b"\xef\xbb\xbf") {
        return false;
    }
    if text.starts_with(b"%PDF-") {
        return true;
    }
    let head = &text[..text.len().min(HEAD)];
    let mut suspicious = 0;
    let mut at = 0;
    while let Some(&byte) = head.get(at) {
        if byte == 0 {
            return true;
        }
        if !is_usual(byte) {
            let (length, valid) = sequence(&head[at..]);
            at += length - 1;
            if !valid {
                suspicious += 1;
                if at >= EARLIEST && too_many(suspicious, head.len()) {
                    return true;
                }
            }
        }
        at += 1;
    }
    too_many(suspicious, head.len())
}

fn is_usual(byte: u8) -> bool {
    matches!(byte, 7..=14 | 32..=127)
}

fn too_many(suspicious: usize, total: usize) -> bool {
    suspicious * 100 / total > TOLERATED_PERCENT
}

/// Returns how many bytes are taken, and whether they are one character of UTF-8.
///
/// Where the second byte of a character is wrong, it is taken too: so does ag.
fn sequence(bytes: &[u8]) -> (usize, bool) {
    let follows = |byte: &u8| matches!(byte, 128..=191);
    match bytes {
        [194..=223, second, ..] => (2, follows(second)),
        [224..=239, second, third, ..] if follows(second) && follows(third) => (3, true),
        [224..=239, _, _, ..] => (2, false),
        _ => (1, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_ag_takes_for_text() {
        for text in [
            &b""[..],
            b"plain\n",
            "déjà vu, naïve façade, œuvre\n".as_bytes(),
            "日本語のテキスト\n".as_bytes(),
            b"\xef\xbb\xbf\0\0\0",
        ] {
            assert!(!is_binary(text), "{text:?}");
        }
    }

    #[test]
    fn binary_is_what_ag_takes_for_binary() {
        for text in [
            &b"%PDF-1.4 all of it text"[..],
            b"with a \0 in it",
            b"\x01\x02\x03",
            "😀😀".as_bytes(),
            b"caf\xe9 cr\xe8me br\xfbl\xe9e",
        ] {
            assert!(is_binary(text), "{text:?}");
        }
    }

    #[test]
    fn only_the_first_bytes_count() {
        let mut text = vec![b'a'; HEAD];
        text.push(0);
        assert!(!is_binary(&text));
        text[HEAD - 1] = 0;
        assert!(is_binary(&text));
    }
}
