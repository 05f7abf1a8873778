//! Writes the text of a page: with white space folded, and lines for blocks.

/// The gap between the last word and the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// Collects words; gaps are written only between words, and the widest one is used.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    gap: Gap,
    /// The readings of characters in the current line, which follow it.
    readings: String,
    /// Where the text ended at the end of the last reading.
    readings_end: usize,
}

impl Writer {
    pub(super) fn with_capacity(n_bytes: usize) -> Self {
        Self {
            text: String::with_capacity(n_bytes),
            ..Self::default()
        }
    }

    /// Requests a gap before the next word.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
        if gap == Gap::Line {
            self.write_readings();
        }
    }

    /// Begins the readings of the next characters. Readings are one word if their characters are
    /// side by side.
    pub(super) fn begin_readings(&mut self) {
        if !self.readings.is_empty()
            && (self.gap != Gap::None || self.text.len() != self.readings_end)
        {
            self.readings.push(' ');
        }
    }

    /// Adds to the reading of the characters before, which follows the line.
    pub(super) fn reading(&mut self, text: &str) {
        self.readings.push_str(text.trim());
    }

    /// Ends the readings of the characters before.
    pub(super) fn end_readings(&mut self) {
        self.readings_end = self.text.len();
    }

    fn write_readings(&mut self) {
        if !self.readings.is_empty() {
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.text.push_str(self.readings.trim_end());
            self.readings.clear();
        }
    }

    /// Returns the text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the characters that the next text joins, which are none after a gap.
    pub(super) fn joined(&self) -> &str {
        match self.gap {
            Gap::None => &self.text,
            _ => "",
        }
    }

    /// Returns whether the next text begins a line.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.gap == Gap::Line || self.text.is_empty() || self.text.ends_with('\n')
    }

    /// Writes text with its white space folded.
    pub(super) fn fold(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            let start = at + bytes[at..].iter().take_while(|&&byte| byte <= b' ').count();
            if start > at {
                self.gap(Gap::Space);
            }
            if start == bytes.len() {
                return;
            }
            at = run_end(bytes, start);
            self.write_gap();
            self.text.push_str(&text[start..at]);
        }
    }

    /// Writes text with its lines and spaces kept.
    pub(super) fn keep(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.write_gap();
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'\r', 0x0c, rest.as_bytes()) {
            self.text.push_str(&rest[..at]);
            let is_page_break = rest.as_bytes()[at] == 0x0c;
            rest = &rest[at + 1..];
            if is_page_break {
                self.text.push(' ');
            } else if !rest.starts_with('\n') {
                self.text.push('\n');
            }
        }
        self.text.push_str(rest);
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text that was written from `start`.
    pub(super) fn since(&self, start: usize) -> &str {
        self.text.get(start..).unwrap_or("")
    }

    pub(super) fn into_text(mut self) -> String {
        self.write_readings();
        self.text
    }

    fn write_gap(&mut self) {
        match std::mem::take(&mut self.gap) {
            _ if self.text.is_empty() => {}
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line if self.text.ends_with('\n') => {}
            Gap::Line => self.text.push('\n'),
        }
    }
}

/// Returns the end of the words from `start` that have single spaces between them: most lines are
/// copied in one piece.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        at += bytes[at..].iter().take_while(|&&byte| byte > b' ').count();
        let is_single_space =
            bytes.get(at) == Some(&b' ') && bytes.get(at + 1).is_some_and(|&next| next > b' ');
        if !is_single_space {
            return at;
        }
        at += 1;
    }
}

/// Folds white space; returns none for an empty title.
pub(super) fn folded(text: &str) -> Option<String> {
    let mut writer = Writer::default();
    writer.fold(text);
    Some(writer.into_text()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_follow_their_line() {
        let mut writer = Writer::default();
        for (before, characters, reading) in [
            ("", "東", "とう"),
            ("", "京", "きょう"),
            ("へ", "川", " かわ "),
        ] {
            writer.fold(before);
            writer.begin_readings();
            writer.fold(characters);
            writer.reading(reading);
            writer.end_readings();
        }
        writer.gap(Gap::Line);
        writer.fold("end");
        assert_eq!(writer.into_text(), "東京へ川 とうきょう かわ\nend");
    }

    #[test]
    fn space_is_folded_and_kept() {
        let mut writer = Writer::default();
        writer.fold("  one  two\n three ");
        writer.gap(Gap::Line);
        writer.fold("\tfour");
        writer.fold("teen");
        writer.gap(Gap::Line);
        writer.keep("  a\r\n b\rc\x0cd\n");
        writer.gap(Gap::Line);
        writer.fold("end ");
        assert_eq!(
            writer.into_text(),
            "one two three\nfourteen\n  a\n b\nc d\nend"
        );
    }
}
