//! Text with simple markup from before HTML in mail: `text/enriched` (RFC 1896) and `text/richtext` (RFC 1341, 7.1.3).

/// The two dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `<<` is a sign, and an empty line ends a paragraph.
    Enriched,
    /// `<lt>` is a sign, and `<nl>` ends a line.
    Rich,
}

/// Returns the dialect of a media type.
pub(crate) fn dialect(media_type: &str) -> Option<Dialect> {
    match media_type {
        "text/enriched" => Some(Dialect::Enriched),
        "text/richtext" => Some(Dialect::Rich),
        _ => None,
    }
}

/// Returns the text without its markup.
pub(crate) fn plain(text: &str, dialect: Dialect) -> String {
    let mut writer = Writer {
        dialect,
        text: String::with_capacity(text.len()),
        n_line_ends: 0,
        n_hidden: 0,
        n_kept: 0,
    };
    let mut rest = text;
    while let Some(at) = rest.find(['<', '\r', '\n']) {
        writer.push(&rest[..at]);
        rest = writer.special(&rest[at..]);
    }
    writer.push(rest);
    writer.text
}

struct Writer {
    dialect: Dialect,
    text: String,
    /// Line ends since the last text.
    n_line_ends: usize,
    /// Open elements whose text is none: parameters and comments.
    n_hidden: usize,
    /// Open elements whose lines are kept.
    n_kept: usize,
}

impl Writer {
    fn push(&mut self, text: &str) {
        if text.is_empty() || self.n_hidden > 0 {
            return;
        }
        match std::mem::take(&mut self.n_line_ends) {
            0 => {}
            _ if self.text.is_empty() => {}
            1 => self.text.push(' '),
            n => self.text.extend(std::iter::repeat_n('\n', n - 1)),
        }
        self.text.push_str(text);
    }

    /// Handles a line end or a tag; returns what follows.
    fn special<'t>(&mut self, rest: &'t str) -> &'t str {
        if let Some(after) = rest
            .strip_prefix("\r\n")
            .or(rest.strip_prefix(['\n', '\r']))
        {
            self.line_end();
            return after;
        }
        if self.dialect == Dialect::Enriched && rest.starts_with("<<") {
            self.push("<");
            return &rest[2..];
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/');
        let after = rest[1..].trim_start_matches(is_name);
        let name = &rest[1..rest.len() - after.len()];
        match after.strip_prefix('>').filter(|_| !name.is_empty()) {
            Some(after) => {
                self.tag(&name.to_ascii_lowercase());
                after
            }
            None => {
                self.push("<");
                &rest[1..]
            }
        }
    }

    fn line_end(&mut self) {
        if self.n_hidden > 0 {
        } else if self.n_kept > 0 {
            self.push("");
            self.text.push('\n');
        } else {
            // In the older dialect, several line ends are one space, too.
            self.n_line_ends = match self.dialect {
                Dialect::Enriched => self.n_line_ends + 1,
                Dialect::Rich => 1,
            };
        }
    }

    fn tag(&mut self, name: &str) {
        match name {
            "param" | "comment" => self.n_hidden += 1,
            "/param" | "/comment" => self.n_hidden = self.n_hidden.saturating_sub(1),
            "nofill" => self.n_kept += 1,
            "/nofill" => self.n_kept = self.n_kept.saturating_sub(1),
            "lt" if self.dialect == Dialect::Rich => self.push("<"),
            "nl" | "np" | "/paragraph" if self.dialect == Dialect::Rich && self.n_hidden == 0 => {
                self.n_line_ends = 0;
                self.text.push('\n');
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enriched_text_loses_its_markup() {
        let text = "<bold>Now</bold> is the time for\r\n<italic>all</italic> good men\r\n\r\n\
                    <color><param>red</param>red</color> a<<b\r\n\r\n\r\nend<nofill>1\n2</nofill> <3";
        let expected = "Now is the time for all good men\nred a<b\n\nend1\n2 <3";
        assert_eq!(plain(text, Dialect::Enriched), expected);
    }

    #[test]
    fn rich_text_has_its_own_line_ends() {
        let text = "<bold>Now</bold> is\n\nthe time<nl>\nfor a <lt>b><comment>x\ny</comment>!";
        let expected = "Now is the time\n for a <b>!";
        assert_eq!(plain(text, Dialect::Rich), expected);
    }

    #[test]
    fn odd_markup_is_text() {
        for text in ["a < b", "<", "<>", "a <b", "</param></nofill>x"] {
            let expected = text.trim_start_matches("</param></nofill>");
            assert_eq!(plain(text, Dialect::Enriched), expected);
        }
        assert_eq!(plain("<param>open", Dialect::Enriched), "");
    }
}
