//! Decides whether a file is text, by its first 512 bytes, like ag.
//!
//! Bytes that are rare in text are counted; valid UTF-8 sequences of two and three bytes are text.
//! A file is binary if more than one byte in ten is suspicious, or if there is a NUL.

/// Number of bytes that are examined.
pub(super) const HEAD: usize = 512;

/// The verdict may come from this byte on, before all are counted.
const EARLIEST: usize = 32;

/// Percentage of suspicious bytes that text may have.
const TOLERATED_PERCENT: usize = 10;

/// Returns whether a file that begins with these bytes is binary; an empty one is not.
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

/// Returns the length of a sequence, and whether it is one UTF-8 character.
///
/// If the second byte of a character is wrong, it is included, as in ag.
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
