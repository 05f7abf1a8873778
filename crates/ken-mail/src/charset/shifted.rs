//! Character sets that write all characters in ASCII bytes, between marks.

use std::borrow::Cow;

use encoding_rs::{EUC_KR, GBK};
use memchr::memchr_iter;

/// Decodes UTF-7 (RFC 2152): a `+` starts UTF-16 in base64.
pub(super) fn utf7(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.first()) {
            (b'+', Some(b'-')) => {
                text.push('+');
                rest = &after[1..];
            }
            (b'+', Some(next)) if sextet(*next).is_some() => {
                let n_bytes = after.iter().take_while(|byte| sextet(**byte).is_some());
                let (shifted, after) = after.split_at(n_bytes.count());
                let units = char::decode_utf16(units(shifted));
                text.extend(units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
                rest = after.strip_prefix(b"-").unwrap_or(after);
            }
            _ => text.push(char::from(byte)),
        }
    }
    text
}

/// Decodes base64 to the units of UTF-16, without the bits that fill no unit.
fn units(base64: &[u8]) -> impl Iterator<Item = u16> {
    let (mut bits, mut n_bits) = (0_u32, 0);
    let sextets = base64.iter().filter_map(|byte| sextet(*byte));
    sextets.filter_map(move |sextet| {
        bits = bits << 6 | u32::from(sextet);
        n_bits += 6;
        (n_bits >= 16).then(|| {
            n_bits -= 16;
            (bits >> n_bits) as u16
        })
    })
}

/// Returns the six bits of a character of base64.
pub(crate) fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Removes each escape sequence of ISO-2022-JP directly before another one, as in joined encoded words:
/// `encoding_rs` takes such a pair for an attack.
pub(super) fn without_idle_escapes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_idle =
        |at: &usize| bytes.get(at + 3) == Some(&0x1b) && !bytes[at + 1..at + 3].contains(&0x1b);
    let mut escapes = memchr_iter(0x1b, bytes).filter(is_idle).peekable();
    if escapes.peek().is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for at in escapes {
        kept.extend_from_slice(&bytes[start..at]);
        start = at + 3;
    }
    kept.extend_from_slice(&bytes[start..]);
    Cow::Owned(kept)
}

/// Decodes HZ (RFC 1843): GB 2312 without its high bits between `~{` and `~}`.
pub(super) fn hz(bytes: &[u8]) -> String {
    let mut gbk = Vec::with_capacity(bytes.len());
    let mut high = 0;
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let mark = if byte == b'~' { after.first() } else { None };
        match mark {
            Some(b'{') => high = 0x80,
            Some(b'}') => high = 0,
            Some(b'~') if high == 0 => gbk.push(b'~'),
            Some(b'\n') => {}
            // The mode ends with the line.
            _ if byte == b'\n' => {
                high = 0;
                gbk.push(byte);
                continue;
            }
            _ => {
                gbk.push(byte | high);
                continue;
            }
        }
        rest = &after[1..];
    }
    GBK.decode_without_bom_handling(&gbk).0.into_owned()
}

/// Decodes ISO-2022-KR (RFC 1557): KS C 5601 without its high bits between the controls SO and SI.
pub(super) fn iso_2022_kr(bytes: &[u8]) -> String {
    let mut euc = Vec::with_capacity(bytes.len());
    let mut high = 0;
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x0e => high = 0x80,
            0x0f => high = 0,
            0x1b => rest = after.strip_prefix(b"$)C").unwrap_or(after),
            b'\n' => {
                high = 0;
                euc.push(byte);
            }
            b' ' | b'\r' => euc.push(byte),
            _ => euc.push(byte | high),
        }
    }
    EUC_KR.decode_without_bom_handling(&euc).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf7_is_decoded_with_and_without_its_end() {
        for (bytes, text) in [
            ("Hello, World+ACE-", "Hello, World!"),
            ("Hi Mom -+Jjo--!", "Hi Mom -☺-!"),
            ("+ZeVnLIqe-", "日本語"),
            ("+ZeVnLIqe", "日本語"),
            ("1 +- 1 + 1", "1 + 1 + 1"),
            ("+APw.ber", "ü.ber"),
            ("+2D3cqQ-", "💩"),
            ("+", "+"),
        ] {
            assert_eq!(utf7(bytes.as_bytes()), text, "{bytes}");
        }
    }

    #[test]
    fn chinese_and_korean_are_decoded() {
        assert_eq!(hz(b"a ~{VPND~} b~~\n"), "a 中文 b~\n");
        assert_eq!(hz(b"~{VPND\nabc"), "中文\nabc");
        assert_eq!(hz(b"~"), "~");
        assert_eq!(iso_2022_kr(b"\x1b$)C\x0eGQ1[\x0f ok\n"), "한글 ok\n");
    }
}
