//! The marks within texts of drawings: those of single lines (`%%d` is a degree sign) and those of paragraphs (`\P` ends a line).

/// Returns a single line without its marks.
pub(super) fn of_line(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find(['%', '\\']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = match sign(rest, &mut text).or_else(|| escape(rest, &mut text)) {
            Some(after) => after,
            None => {
                text.push_str(&rest[..1]);
                &rest[1..]
            }
        };
    }
    text.push_str(rest);
    text
}

/// Returns paragraphs without their marks.
pub(super) fn of_paragraphs(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find(['%', '\\', '{', '}', '^']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = match rest.as_bytes() {
            [b'{' | b'}', ..] => &rest[1..],
            // A control character: a tab is `^I`.
            [b'^', b'I' | b'J' | b'M', ..] => {
                text.push(if rest.starts_with("^I") { '\t' } else { '\n' });
                &rest[2..]
            }
            _ => sign(rest, &mut text)
                .or_else(|| escape(rest, &mut text))
                .or_else(|| code(rest, &mut text))
                .unwrap_or_else(|| {
                    text.push_str(&rest[..1]);
                    &rest[1..]
                }),
        };
    }
    text.push_str(rest);
    text
}

/// Reads a mark such as `%%c`; returns what follows.
fn sign<'t>(rest: &'t str, text: &mut String) -> Option<&'t str> {
    let after = rest.strip_prefix("%%")?;
    let letter = after.chars().next()?;
    let follows = &after[letter.len_utf8()..];
    match letter.to_ascii_lowercase() {
        'd' => text.push('°'),
        'c' => text.push('Ø'),
        'p' => text.push('±'),
        '%' => text.push('%'),
        // Lines above, below and through the text.
        'u' | 'o' | 'k' => {}
        '0'..='9' => {
            let number: u8 = after.get(..3)?.parse().ok()?;
            text.push(char::from(number));
            return after.get(3..);
        }
        _ => return None,
    }
    Some(follows)
}

/// Reads a character by its number: `\U+00D8`, or `\M+18CC4` in a code page of East Asia.
fn escape<'t>(rest: &'t str, text: &mut String) -> Option<&'t str> {
    if let Some(after) = rest.strip_prefix("\\U+") {
        let number = u32::from_str_radix(after.get(..4)?, 16).ok()?;
        text.push(char::from_u32(number)?);
        return after.get(4..);
    }
    let after = rest.strip_prefix("\\M+")?;
    let page = match after.as_bytes().first()? {
        b'1' => 932,
        b'2' => 950,
        b'3' => 949,
        b'4' => 1361,
        b'5' => 936,
        _ => return None,
    };
    let number = u16::from_str_radix(after.get(1..5)?, 16).ok()?;
    text.push_str(&crate::text::code_page::decode(&number.to_be_bytes(), page));
    after.get(5..)
}

/// Reads a code of paragraphs; returns what follows.
fn code<'t>(rest: &'t str, text: &mut String) -> Option<&'t str> {
    let after = rest.strip_prefix('\\')?;
    let letter = after.chars().next()?;
    let follows = &after[letter.len_utf8()..];
    match letter {
        'P' | 'X' | 'N' => text.push('\n'),
        '~' => text.push(' '),
        '\\' | '{' | '}' => text.push(letter),
        // Lines above, below and through the text.
        'L' | 'l' | 'O' | 'o' | 'K' | 'k' => {}
        // Alignment, colour, font, height, slant, width, spacing: a value and a semicolon.
        'A' | 'C' | 'c' | 'f' | 'F' | 'H' | 'Q' | 'T' | 'W' | 'p' => {
            return Some(follows.split_once(';').map_or("", |(_, after)| after));
        }
        // A fraction: its parts are above each other.
        'S' => {
            let (parts, after) = follows.split_once(';').unwrap_or((follows, ""));
            text.push_str(&parts.replace(['^', '#'], "/"));
            return Some(after);
        }
        _ => return None,
    }
    Some(follows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_lines() {
        assert_eq!(
            of_line("%%uNote%%u: 45%%d %%c20 %%p0.1 50%%%"),
            "Note: 45° Ø20 ±0.1 50%"
        );
        assert_eq!(
            of_line("\\U+00C4nderung 100% \\M+18CC4 %%065"),
            "Änderung 100% 呼 A"
        );
        assert_eq!(of_line("a\\b %%"), "a\\b %%");
    }

    #[test]
    fn marks_of_paragraphs() {
        assert_eq!(
            of_paragraphs(
                "{\\fArial|b1|i0;\\H2.5x;Ground floor}\\P\\A1;\\S1/2; in\\~all \\Lunder\\l \\{x\\}"
            ),
            "Ground floor\n1/2 in all under {x}"
        );
        assert_eq!(of_paragraphs("a^Ib^Jc 5^2 \\pxqc;d"), "a\tb\nc 5^2 d");
        assert_eq!(of_paragraphs("\\fArial"), "");
    }
}
