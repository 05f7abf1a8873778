//! Text with `format=flowed` (RFC 3676): a line that ends in a space continues in the next line.

/// Returns flowed text with its paragraphs joined; `delete_space` is true for the parameter `DelSp=yes`.
pub(crate) fn unwrap(text: &str, delete_space: bool) -> String {
    let mut unwrapped = String::with_capacity(text.len());
    let mut open_quotes = None;
    for line in text.lines() {
        let n_quotes = line.bytes().take_while(|byte| *byte == b'>').count();
        let content = &line[n_quotes..];
        // Space stuffing: one space before text that could be misread.
        let content = content.strip_prefix(' ').unwrap_or(content);
        if open_quotes != Some(n_quotes) || content == "-- " {
            end_line(&mut unwrapped);
            start_line(&mut unwrapped, n_quotes);
        }
        let is_flowed = content.ends_with(' ') && content != "-- ";
        let kept = if is_flowed && delete_space {
            &content[..content.len() - 1]
        } else {
            content
        };
        unwrapped.push_str(kept);
        open_quotes = is_flowed.then_some(n_quotes);
    }
    end_line(&mut unwrapped);
    unwrapped
}

fn end_line(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

fn start_line(text: &mut String, n_quotes: usize) {
    text.extend(std::iter::repeat_n('>', n_quotes));
    if n_quotes > 0 {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_within_their_quotes() {
        for (text, expected) in [
            ("one \ntwo\nthree", "one two\nthree\n"),
            ("one \r\ntwo\r\n\r\nthree\r\n", "one two\n\nthree\n"),
            ("> a \n> b\nanswer", "> a b\nanswer\n"),
            (">> a \n> b", ">> a \n> b\n"),
            ("bye \n-- \nname", "bye \n-- \nname\n"),
            (" From me", "From me\n"),
            ("\n\nx", "x\n"),
            ("", ""),
        ] {
            assert_eq!(unwrap(text, false), expected, "{text:?}");
        }
        assert_eq!(unwrap("long \nword", true), "longword\n");
    }
}
