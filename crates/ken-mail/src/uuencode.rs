//! Files in uuencode within the text of a message, from before MIME.

use std::ops::Range;

use memchr::memmem;

use crate::lines::line_end;

/// A file within a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// The range in the text, with the first and last line.
    pub(crate) range: Range<usize>,
    /// The name of the file.
    pub(crate) name: &'a [u8],
}

/// Returns the first file in a text. It ends with the line `end`, or before a line that is not uuencode.
pub(crate) fn find(text: &[u8]) -> Option<Block<'_>> {
    let is_line = |start: &usize| *start == 0 || text[start - 1] == b'\n';
    memmem::find_iter(text, b"begin ")
        .filter(is_line)
        .find_map(|start| {
            let first_end = start + line_end(&text[start..]);
            let name = name(&text[start..first_end])?;
            let mut end = first_end;
            while end < text.len() {
                let next = end + line_end(&text[end..]);
                let line = without_line_end(&text[end..next]);
                if line == b"end" {
                    let range = start..next;
                    return Some(Block { range, name });
                }
                if data(line).is_none() {
                    break;
                }
                end = next;
            }
            // Without `end`, a full line is required.
            let is_whole = text[first_end..].starts_with(b"M") && end > first_end;
            let range = start..end;
            is_whole.then_some(Block { range, name })
        })
}

/// Reads `begin 644 name`.
fn name(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"begin ")?.trim_ascii();
    let (mode, name) = rest.split_at(rest.iter().position(|byte| *byte == b' ')?);
    let is_mode =
        matches!(mode.len(), 3 | 4) && mode.iter().all(|byte| matches!(byte, b'0'..=b'7'));
    is_mode.then_some(name.trim_ascii())
}

/// Decodes lines of uuencode up to `end`, or all if there is no `end`. Other lines are left out. The result is not
/// longer than the lines.
pub(crate) fn decoded(lines: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(lines.len() / 4 * 3);
    for line in lines.split(|byte| *byte == b'\n').map(without_line_end) {
        if line == b"end" {
            break;
        }
        let Some((n_bytes, data)) = data(line) else {
            continue;
        };
        let end = decoded.len() + n_bytes;
        if end > lines.len() {
            break;
        }
        for four in data.chunks(4) {
            // Spaces at the end of a line get lost.
            let sextet = |at: usize| u32::from(four.get(at).map_or(0, |byte| (byte - 32) & 63));
            let bits = sextet(0) << 18 | sextet(1) << 12 | sextet(2) << 6 | sextet(3);
            decoded.extend_from_slice(&bits.to_be_bytes()[1..]);
        }
        decoded.resize(end, 0);
    }
    decoded
}

/// Returns the number of bytes that a line declares, and the characters that encode them.
fn data(line: &[u8]) -> Option<(usize, &[u8])> {
    let is_character = |byte: &u8| (32..=96).contains(byte);
    let (length, data) = line.split_first()?;
    if !line.iter().all(is_character) {
        return None;
    }
    let n_bytes = usize::from((length - 32) & 63);
    let n_characters = n_bytes.div_ceil(3) * 4;
    // Some programs add a checksum.
    let is_whole = data.len() <= n_characters + 2;
    is_whole.then(|| (n_bytes, &data[..data.len().min(n_characters)]))
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_decoded_with_their_flaws() {
        for (lines, expected) in [
            ("#0V%T\n`\nend\n", "Cat"),
            ("#0V%T\r\n`\r\nend\r\n#0V%T\n", "Cat"),
            ("#0V%TX\n", "Cat"),
            ("$0V%T<P\n \nend", "Cats"),
            ("#0V%T\nnot a line of it\n#0V%T\n", "CatCat"),
            ("begin 644 a.txt\n#0V%T\n", "Cat"),
            ("", ""),
        ] {
            assert_eq!(decoded(lines.as_bytes()), expected.as_bytes(), "{lines:?}");
        }
    }

    #[test]
    fn files_are_distinguished_from_text() {
        for (text, expected) in [
            (
                "hi\nbegin 644 my cat.txt\n#0V%T\n`\nend\nbye",
                Some((3..36, "my cat.txt")),
            ),
            ("begin 0644 a\r\n#0V%T\r\n`\r\nend\r\n", Some((0..29, "a"))),
            ("begin 644 a\nM0V%T\nthe end", Some((0..18, "a"))),
            ("begin 644 a\n#0V%T\nthe end", None),
            ("begin 644 a\nwith words\nend\n", None),
            ("begin 999 a\n#0V%T\nend\n", None),
            ("we begin 644 a\n#0V%T\nend\n", None),
            ("begin the day", None),
            ("begin 644 a", None),
        ] {
            let found = find(text.as_bytes()).map(|block| (block.range, block.name));
            let expected = expected.map(|(range, name)| (range, name.as_bytes()));
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
