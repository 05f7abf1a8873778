//! Commands whose arguments are read in a way of their own: items, links, verbatim text, settings.

use ken_core::Field;

use super::{Group, MAX_COMMAND_BYTES, MAX_OPTION_BYTES, MAX_SETUPS, TexReader, plain_label};

impl TexReader<'_> {
    /// Handles `\item[label]`, whose label is text.
    pub(super) fn item(&mut self) {
        let before = self.rest;
        self.option();
        self.break_line();
        let option = &before[..before.len() - self.rest.len()];
        if let Some(label) = option
            .strip_prefix('[')
            .and_then(|option| option.strip_suffix(']'))
        {
            self.text(plain_label(label).trim());
            self.text(" ");
        }
    }

    /// Handles `\href{address}{label}`: the address follows the paragraph.
    pub(super) fn link(&mut self) {
        self.option();
        let target = self.name().replace('\\', "");
        let near = &self.rest[..self
            .rest
            .floor_char_boundary(target.len() + MAX_COMMAND_BYTES)];
        if self.shows() && !self.in_value && !near.contains(&target) {
            self.body.link(&target);
        }
    }

    /// Adds text unchanged, up to the end of its environment.
    pub(super) fn verbatim(&mut self, name: &str) {
        self.option();
        let end = format!("\\end{{{name}");
        let length = memchr::memmem::find(self.rest.as_bytes(), end.as_bytes());
        let (inside, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        self.break_line();
        if name != "comment" && self.n_skipped == 0 && !self.in_preamble && !self.in_value {
            self.body.push(inside.trim_matches('\n'));
        }
        self.break_line();
    }

    /// Handles `\verb|…|`.
    pub(super) fn verb(&mut self) {
        let Some(quote) = self.rest.chars().next() else {
            return;
        };
        let inside = &self.rest[quote.len_utf8()..];
        let near = &inside[..inside.floor_char_boundary(MAX_OPTION_BYTES)];
        let line = &near[..near.find('\n').unwrap_or(near.len())];
        if let Some(end) = line.find(quote) {
            self.text(&inside[..end]);
            self.rest = &inside[end + quote.len_utf8()..];
        }
    }

    /// Handles `\hypersetup{pdftitle={…}, pdfauthor={…}}`: the groups of known keys are values.
    pub(super) fn setup(&mut self) {
        self.next = (Group::Skipped, 1);
        self.n_setups += 1;
        if self.n_setups > MAX_SETUPS {
            return;
        }
        let inside = self.rest.strip_prefix('{').unwrap_or(self.rest);
        let near = &inside[..inside.floor_char_boundary(4 * MAX_OPTION_BYTES)];
        for (key, field) in [
            ("pdftitle", Field::Title),
            ("pdfauthor", Field::Author),
            ("pdfsubject", Field::Description),
            ("pdfkeywords", Field::Keywords),
        ] {
            let value = near.find(key).and_then(|at| {
                let value = near[at + key.len()..].trim_start().strip_prefix('=')?;
                let value = value.trim_start().strip_prefix('{')?;
                Some(&value[..value.find('}')?])
            });
            if let Some(value) = value.filter(|value| !value.contains(['\\', '{'])) {
                self.values.push((field, value.to_owned()));
            }
        }
    }
}
