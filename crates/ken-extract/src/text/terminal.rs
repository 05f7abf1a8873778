//! Text with the controls of terminals, as it is displayed: logs with colours, manual pages with
//! overstrikes.
//!
//! Colours (`ESC [ 1 m`), links (`ESC ] 8`) and charsets (`ESC ( B`) stand within words and are
//! removed; so are overstrikes (`a\ba` is bold, `_\ba` underlined). All other controls become
//! spaces. Source: ECMA-48, and `ctlseqs` of xterm.

use super::is_control;

/// More parameters than any colour has.
const MAX_SEQUENCE_BYTES: usize = 64;
/// Maximum size of the address of a link or of the title of a window.
const MAX_COMMAND_BYTES: usize = 4096;
/// Maximum number of characters that are struck over at once.
const MAX_OVERSTRIKE: usize = 64;

/// Returns the text without controls.
pub(super) fn displayed(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_control) {
        shown.push_str(&rest[..at]);
        let controlled = &rest[at..];
        let n_bytes = match controlled.as_bytes()[0] {
            0x1b => sequence_bytes(controlled.as_bytes()),
            0x08 => overstrike(controlled, &mut shown),
            _ => None,
        };
        if n_bytes.is_none() {
            shown.push(' ');
        }
        rest = &controlled[n_bytes.unwrap_or(1)..];
    }
    shown.push_str(rest);
    shown
}

/// Returns the length of an escape sequence that takes no room between two characters.
fn sequence_bytes(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => {
            let is_parameter = |byte: &&u8| (0x20..=0x3f).contains(*byte);
            let parameters = bytes[2..].iter().take(MAX_SEQUENCE_BYTES);
            let end = 2 + parameters.take_while(is_parameter).count();
            // Colours, and the end of a line in them.
            matches!(bytes.get(end)?, b'm' | b'K').then_some(end + 1)
        }
        b']' => {
            let command = &bytes[2..bytes.len().min(MAX_COMMAND_BYTES)];
            let is_end = |&byte: &u8| is_control(byte) || byte == b'\n';
            let end = 2 + command.iter().position(is_end)?;
            match bytes[end..] {
                [0x07, ..] => Some(end + 1),
                [0x1b, b'\\', ..] => Some(end + 2),
                _ => None,
            }
        }
        b'(' | b')' if bytes.get(2)?.is_ascii_graphic() => Some(3),
        _ => None,
    }
}

/// Strikes the characters after backspaces over those before them; returns the length of both, or
/// none if one of them is missing.
fn overstrike(controlled: &str, shown: &mut String) -> Option<usize> {
    // The rest of a longer run is not looked at: the caller comes back for each of its bytes.
    let run = controlled.bytes().take(MAX_OVERSTRIKE + 1);
    let n_back = run.take_while(|&byte| byte == 0x08).count();
    if n_back > MAX_OVERSTRIKE {
        return None;
    }
    let is_shown = |c: &char| !c.is_control();
    let before = shown.chars().rev().take_while(is_shown).take(n_back);
    let before: Vec<char> = before.collect();
    let over = controlled[n_back..].chars().take_while(is_shown);
    let over: Vec<char> = over.take(n_back).collect();
    if before.len() < n_back || over.len() < n_back {
        return None;
    }
    let bytes = |characters: &[char]| characters.iter().map(|c| c.len_utf8()).sum::<usize>();
    shown.truncate(shown.len() - bytes(&before));
    let pairs = before.iter().rev().zip(&over);
    shown.extend(pairs.map(|(&before, &over)| if over == '_' { before } else { over }));
    Some(n_back + bytes(&over))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_links_and_charsets_leave_words_whole() {
        for (text, shown) in [
            ("\x1b[1mun\x1b[0mbelievable", "unbelievable"),
            ("\x1b[38;5;196mred\x1b[Kdish\x1b[m", "reddish"),
            ("\x1b(B\x1b[mplain", "plain"),
            (
                "\x1b]8;;http://a.b/\x1b\\the link\x1b]8;;\x1b\\s",
                "the links",
            ),
            ("\x1b]0;title\x07text", "text"),
            ("a\x1b[2Jb\x1b[3;4Hc", "a [2Jb [3;4Hc"),
            ("a\x1b", "a "),
            ("a\x1b[", "a ["),
            ("a\x1b[1\nb", "a [1\nb"),
            ("a\x1b]0;never\nends", "a ]0;never\nends"),
            ("a\0b\x07c", "a b c"),
        ] {
            assert_eq!(displayed(text), shown, "{text:?}");
        }
    }

    /// Looking at the whole run for each of its bytes would take hours.
    #[test]
    fn a_long_run_of_backspaces_takes_time_in_proportion_to_its_length() {
        let n_back = 4 << 20;
        let shown = displayed(&"\x08".repeat(n_back));
        assert!(shown.len() == n_back && shown.bytes().all(|byte| byte == b' '));
    }

    #[test]
    fn overstrikes_are_the_characters_that_one_reads() {
        for (text, shown) in [
            ("N\x08NA\x08AM\x08ME\x08E", "NAME"),
            ("_\x08f_\x08i_\x08l_\x08e", "file"),
            ("f\x08_i\x08_", "fi"),
            ("a\x08a\x08a", "a"),
            ("__\x08\x08ab", "ab"),
            ("ü\x08ü+\x08o", "üo"),
            ("\x08a", " a"),
            ("a\n\x08b", "a\n b"),
            ("a\x08\n", "a \n"),
        ] {
            assert_eq!(displayed(text), shown, "{text:?}");
        }
    }
}
