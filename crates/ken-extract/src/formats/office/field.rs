//! Instructions of fields, which Word, its older formats and RTF share (ECMA-376 part 1, 17.16).

/// Returns the target of a link: `HYPERLINK "https://example.org" \\o "tip"`; none if it is another
/// field, or a place in the same document.
pub(super) fn link_target(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start();
    let keyword = rest.get(.."HYPERLINK".len())?;
    if !keyword.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let mut rest = rest[keyword.len()..].trim_start();
    // Switches without an argument may come first; `\l` names a place in the document.
    while let Some(switch) = rest.strip_prefix('\\') {
        let letter = switch.chars().next()?;
        rest = switch[letter.len_utf8()..].trim_start();
        match letter {
            'l' => return None,
            'o' | 't' => rest = argument(rest).1,
            _ => {}
        }
    }
    let (target, _) = argument(rest);
    (!target.is_empty()).then(|| target.replace("\\\\", "\\"))
}

/// Returns the characters and their reading of a formula that prints one above the other:
/// `EQ \* jc2 \* hps10 \o\ad(\s\up 9(reading),characters)`.
pub(super) fn ruby(instruction: &str) -> Option<(&str, &str)> {
    let formula = instruction.trim_start().strip_prefix("EQ")?;
    let printed = formula.split_once("\\o")?.1.split_once('(')?.1;
    let raised = printed.trim_start().strip_prefix("\\s")?;
    let (up, rest) = raised.split_once('(')?;
    if !up.trim_start().starts_with("\\up") {
        return None;
    }
    let (reading, rest) = rest.split_once(')')?;
    let characters = rest.trim_start().strip_prefix([',', ';'])?;
    let (characters, _) = characters.rsplit_once(')')?;
    let (characters, reading) = (characters.trim(), reading.trim());
    (!characters.is_empty()).then_some((characters, reading))
}

/// Returns the first argument, which may be quoted, and what follows.
fn argument(text: &str) -> (&str, &str) {
    let (found, rest) = match text.strip_prefix(['"', '\u{201c}', '\u{201d}']) {
        Some(quoted) => quoted
            .split_once(['"', '\u{201c}', '\u{201d}'])
            .unwrap_or((quoted, "")),
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    };
    (found, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_readings() {
        let of_word = " EQ \\* jc2 \\* \"Font:MS Mincho\" \\* hps10 \\o\\ad(\\s\\up 9(とう),東京) ";
        assert_eq!(ruby(of_word), Some(("東京", "とう")));
        assert_eq!(ruby("EQ \\o\\al(\\s\\up 11(a);b)"), Some(("b", "a")));
        for other in [
            "EQ \\f(1,2)",
            "EQ \\o(a,b)",
            "EQ \\o(\\s\\do 3(a),b)",
            "EQ \\o(\\s\\up 3(a",
            "PAGE",
        ] {
            assert_eq!(ruby(other), None, "{other}");
        }
    }

    #[test]
    fn targets_of_links() {
        for (instruction, target) in [
            (
                " HYPERLINK \"https://example.org/a\" \\o \"tip\" ",
                Some("https://example.org/a"),
            ),
            (
                "HYPERLINK https://example.org/b",
                Some("https://example.org/b"),
            ),
            (
                "hyperlink \\h \"c:\\\\docs\\\\d.doc\"",
                Some("c:\\docs\\d.doc"),
            ),
            ("HYPERLINK \\o \"tip\" \"e.doc\"", Some("e.doc")),
            ("HYPERLINK \\l \"_Toc1\"", None),
            ("HYPERLINK", None),
            ("PAGEREF _Toc1", None),
            ("ä", None),
        ] {
            assert_eq!(link_target(instruction).as_deref(), target, "{instruction}");
        }
    }
}
