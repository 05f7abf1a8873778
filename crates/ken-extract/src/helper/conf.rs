//! Parses the syntax of Recoll's configuration files: `key = value`, sections, long lines.
//!
//! A line that begins with `#` is a comment, a backslash at the end of a line joins the next one,
//! `[name]` begins a section. Source: the manual of Recoll, "The configuration files on Unix".

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment<'t> {
    /// The enclosing section; empty before the first.
    pub(super) section: &'t str,
    pub(super) key: String,
    pub(super) value: String,
}

/// Reads all assignments; other lines are skipped, as in Recoll.
pub(super) fn parse(text: &str) -> Vec<Assignment<'_>> {
    let mut entries = Vec::new();
    let mut section = "";
    let mut joined = String::new();
    for line in text.lines() {
        if joined.is_empty() && line.trim_start().starts_with('#') {
            continue;
        }
        if let Some(start) = line.trim_end().strip_suffix('\\') {
            joined.push_str(start);
            continue;
        }
        if joined.is_empty() {
            let trimmed = line.trim();
            let name = trimmed.strip_prefix('[').and_then(|r| r.strip_suffix(']'));
            if let Some(name) = name {
                section = name.trim();
                continue;
            }
        }
        joined.push_str(line);
        if let Some((key, value)) = joined.split_once('=') {
            entries.push(Assignment {
                section,
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            });
        }
        joined.clear();
    }
    entries
}

/// Splits a value into words at spaces. Double quotes keep words together, and a backslash inside
/// them makes the next character literal.
pub(super) fn words(value: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if is_quoted => word.get_or_insert_default().extend(characters.next()),
            space if space.is_whitespace() && !is_quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Splits a value at its first semicolon outside quotes into the command and its attributes, as
/// names and values.
pub(super) fn attributes(value: &str) -> (&str, Vec<(String, String)>) {
    let mut is_quoted = false;
    let end = value.find(|character| {
        is_quoted ^= character == '"';
        character == ';' && !is_quoted
    });
    let Some(end) = end else {
        return (value, Vec::new());
    };
    let assigned = value[end + 1..].split(';').filter_map(|attribute| {
        let (name, value) = attribute.split_once('=')?;
        let value = value.trim().trim_matches('"');
        Some((name.trim().to_owned(), value.to_owned()))
    });
    (&value[..end], assigned.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_comments_and_long_lines() {
        let text = "# a comment\n\ntop = 1\n[index]\na/b = exec \\\n x.py\\\n y\n\
                    broken\n  # another\n[ other ]\n.c = d=e\n";
        let entries = parse(text);
        let found: Vec<_> = entries
            .iter()
            .map(|entry| (entry.section, &*entry.key, &*entry.value))
            .collect();
        assert_eq!(
            found,
            [
                ("", "top", "1"),
                ("index", "a/b", "exec  x.py y"),
                ("other", ".c", "d=e")
            ]
        );
    }

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(
            words(r#"rcluncomp "unzstd --rm -q" %f "a \" b" """#),
            ["rcluncomp", "unzstd --rm -q", "%f", "a \" b", ""]
        );
        assert!(words("  ").is_empty());
    }

    #[test]
    fn attributes_follow_a_semicolon() {
        let (command, found) =
            attributes("exec a \"b;c\" ; mimetype = text/html;maxseconds=\"30\"");
        assert_eq!(command.trim(), "exec a \"b;c\"");
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            found,
            [pair("mimetype", "text/html"), pair("maxseconds", "30")]
        );
    }
}
