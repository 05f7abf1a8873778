//! The compression of PalmDoc: bytes, copies of the last 2,047 bytes, and pairs of a space and a letter.

/// Unpacks a record behind the text so far; returns whether it is good.
pub(super) fn unpack(record: &[u8], text: &mut Vec<u8>) -> bool {
    let start = text.len();
    let mut rest = record;
    while let [code, after @ ..] = rest {
        rest = after;
        match code {
            0 | 9..=0x7f => text.push(*code),
            1..=8 => {
                let Some((literal, after)) = rest.split_at_checked(usize::from(*code)) else {
                    return false;
                };
                text.extend_from_slice(literal);
                rest = after;
            }
            0xc0.. => text.extend([b' ', code ^ 0x80]),
            _ => {
                let [low, after @ ..] = rest else {
                    return false;
                };
                rest = after;
                let pair = u16::from_be_bytes([*code, *low]);
                let distance = usize::from(pair >> 3 & 0x7ff);
                let length = usize::from(pair & 7) + 3;
                if distance == 0 || distance > text.len() - start {
                    return false;
                }
                // A copy may overlap its own source.
                for _ in 0..length {
                    text.push(text[text.len() - distance]);
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_copies_and_spaces() {
        let mut text = Vec::new();
        assert!(unpack(b"abc\x80\x1b\xe4\x02\xff\x80", &mut text));
        assert_eq!(text, b"abcabcabc d\xff\x80");
        assert!(!unpack(b"\x80\x08", &mut Vec::new()));
        assert!(!unpack(b"\x05ab", &mut Vec::new()));
    }
}
