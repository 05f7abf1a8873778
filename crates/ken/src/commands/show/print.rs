//! The output of `ken show` for people: what the document is, and its lines with their numbers.

use std::cell::Cell;
use std::ops::Range;

use ken_core::{Field, FieldKind, Kind as Type, TEXT_SEPARATOR, Value};
use ken_search::service::mail::Message;
use ken_search::service::{Addressed, Part, Place, Service, Stretch, sheet_at};

use super::Inside;
use crate::cli::ReadArgs;
use crate::commands::mail::header::{header, header_line};
use crate::commands::original::FileState;
use crate::output::{self, Room, Style};

/// The most members that are listed.
const MAX_MEMBERS: usize = 20;
/// The most characters of a value in the head.
const MAX_VALUE: usize = 300;
/// The fields that are shown elsewhere, or say nothing to people.
const ELSEWHERE: [Field; 9] = [
    Field::Title,
    Field::Filename,
    Field::Size,
    Field::Date,
    Field::Modified,
    Field::Has,
    Field::Headings,
    Field::References,
    Field::Pages,
];
/// Ends each page but the last.
const PAGE_END: char = '\u{c}';

/// What is shown, and how.
pub(super) struct Page<'a> {
    pub(super) service: &'a Service<'a>,
    pub(super) found: &'a Addressed,
    pub(super) members: Vec<Inside>,
    pub(super) state: FileState,
    pub(super) args: &'a ReadArgs,
    pub(super) style: Style,
    /// The columns of the terminal, if there is one.
    pub(super) columns: Option<usize>,
    /// The place of the match that the reader looks for, if it is known.
    pub(super) place: Option<Place>,
    /// The row of the output where that match is, counted from 1; at first unknown.
    pub(super) row: Cell<Option<usize>>,
}

impl Page<'_> {
    /// Returns the text of a part, with or without a head.
    pub(super) fn text(&self, part: &Part<'_>, with_head: bool) -> String {
        self.row.set(None);
        let mut text = String::new();
        if with_head {
            self.add_head(part, &mut text);
            text.push('\n');
        }
        let last = part
            .stretches
            .iter()
            .map(|of| of.first_line + of.text.lines().count());
        let gutter = last.max().unwrap_or(1).to_string().len();
        for (number, stretch) in part.stretches.iter().enumerate() {
            if number > 0 {
                text.push_str(&format!("{}\n", self.style.dim("--")));
            }
            self.add_stretch(stretch, part.n_pages > 1, gutter, &mut text);
        }
        text
    }

    fn add_head(&self, part: &Part<'_>, text: &mut String) {
        let named = &self.found.named;
        let document = &named.stored.document;
        match document.kind {
            Type::Message => {
                let message = Message::from(named.clone());
                let zone = &self.service.context().zone;
                text.push_str(&header(&message, zone, self.style));
            }
            _ => self.add_facts(part, text),
        }
        self.add_members(text);
        if let Some(failure) = &document.failure {
            let message = output::clean(&output::cause_text(&failure.cause)).into_owned();
            text.push_str(&format!("{}\n", self.style.dim(&format!("[{message}]"))));
        }
    }

    fn add_facts(&self, part: &Part<'_>, text: &mut String) {
        let named = &self.found.named;
        let (document, location) = (&named.stored.document, &named.stored.location);
        let title = named.title().unwrap_or("(no name)");
        let shown = output::clean_address(&location.to_string()).into_owned();
        let path = self.style.link(&location.path, &self.style.path(&shown));
        let mut facts = Vec::new();
        if let Some(date) = document.number(Field::Date) {
            facts.push(output::day(date, &self.service.context().zone));
        }
        if let Some(n_bytes) = document.number(Field::Size) {
            facts.push(output::size(n_bytes));
        }
        facts.push(document.media_type.clone());
        facts.push(match part.n_pages {
            0 | 1 => output::counted(part.n_lines, "line"),
            n_sheets if document.kind == Type::Spreadsheet => output::counted(n_sheets, "sheet"),
            n_pages => output::counted(n_pages, "page"),
        });
        let facts = self.style.dim(&output::clean(&facts.join("  ")));
        let title = self.style.bold(&output::clean(title));
        text.push_str(&format!("{title}\n{path}  {facts}\n"));
        self.add_fields(text);
    }

    fn add_fields(&self, text: &mut String) {
        let mut rows: Vec<(&str, String)> = Vec::new();
        for (field, value) in &self.found.named.stored.document.fields {
            let value = match value {
                _ if ELSEWHERE.contains(field) => continue,
                Value::Text(value) => value.clone(),
                Value::Number(number) if field.info().kind == FieldKind::Date => {
                    output::day(*number, &self.service.context().zone)
                }
                Value::Number(number) => number.to_string(),
            };
            let name = self.service.field_names().name(*field);
            match rows.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push_str(&format!(", {value}")),
                None => rows.push((name, value)),
            }
        }
        for (name, value) in rows {
            let end = value.char_indices().nth(MAX_VALUE);
            let shown = end.map_or(value.as_str(), |(end, _)| &value[..end]);
            text.push_str(&header_line(name, shown, self.style));
        }
    }

    fn add_members(&self, text: &mut String) {
        for member in self.members.iter().take(MAX_MEMBERS) {
            let about = member.about.as_ref().map(|(name, media_type, n_bytes)| {
                let size = n_bytes.map(output::size).unwrap_or_default();
                format!("  {name}  {media_type}  {size}")
            });
            let line = format!("{}{}", member.address, about.unwrap_or_default());
            let name = match member.about {
                Some(_) => "Attachment",
                None => "Member",
            };
            text.push_str(&header_line(name, line.trim_end(), self.style));
        }
        if let Some(more) = self.members.len().checked_sub(MAX_MEMBERS + 1) {
            let more = format!("and {}", output::counted(more + 1, "more member"));
            text.push_str(&format!("{}\n", self.style.dim(&more)));
        }
    }

    /// Adds the lines of a stretch, with their numbers and the numbers of pages.
    fn add_stretch(
        &self,
        stretch: &Stretch<'_>,
        has_pages: bool,
        gutter: usize,
        text: &mut String,
    ) {
        let (mut line, mut page) = (stretch.first_line, stretch.first_page);
        let mut at = 0;
        if has_pages {
            text.push_str(&self.page_head(page, stretch.at));
        }
        for piece in stretch.text.split_inclusive(['\n', PAGE_END]) {
            let shown = piece.trim_end_matches(['\n', '\r', PAGE_END]);
            let bytes = at..at + shown.len();
            // Nothing is on the line where a page ends at the end of its last line.
            if !(shown.is_empty() && piece.ends_with(PAGE_END)) {
                self.note_row(line, page, stretch, &bytes, text);
                self.add_line(line, stretch, bytes, gutter, text);
            }
            at += piece.len();
            if piece.ends_with('\n') {
                line += 1;
            }
            if piece.ends_with(PAGE_END) {
                page += 1;
                if at < stretch.text.len() {
                    text.push_str(&self.page_head(page, stretch.at + at));
                }
            }
        }
        if stretch.is_cut && text.ends_with('\n') {
            text.pop();
            text.push_str("…\n");
        }
    }

    /// Notes the row of the line that comes next, if the match that the reader looks for is in it.
    fn note_row(
        &self,
        line: usize,
        page: usize,
        stretch: &Stretch<'_>,
        bytes: &Range<usize>,
        text: &str,
    ) {
        if self.row.get().is_some() {
            return;
        }
        let mut found = stretch.matches.iter();
        let is_match = found.any(|found| found.start < bytes.end && found.end > bytes.start);
        let is_there = match self.place {
            Some(Place::Line(wanted)) => line == wanted,
            Some(Place::Page(wanted)) => page == wanted && is_match,
            None => is_match,
        };
        if is_there {
            self.row.set(Some(text.matches('\n').count() + 1));
        }
    }

    /// Returns the line above a page, or above the sheet of a spreadsheet that begins or goes on at this byte of the text.
    fn page_head(&self, page: usize, at: usize) -> String {
        let document = &self.found.named.stored.document;
        let name = match sheet_at(document, &document.body, at) {
            Some(sheet) => format!("sheet {}", output::clean(&sheet)),
            None => format!("p. {page}"),
        };
        format!("{}\n", self.style.dim(&format!("--- {name} ---")))
    }

    fn add_line(
        &self,
        line: usize,
        stretch: &Stretch<'_>,
        bytes: Range<usize>,
        gutter: usize,
        text: &mut String,
    ) {
        let found = stretch.matches.iter();
        let found = found.filter(|found| found.start < bytes.end && found.end > bytes.start);
        let marks: Vec<Range<usize>> = found
            .map(|found| {
                let start = found.start.max(bytes.start) - bytes.start;
                start..found.end.min(bytes.end) - bytes.start
            })
            .collect();
        let number = self.style.dim(&format!("{line:>gutter$}"));
        let room = Room {
            columns: self.columns,
            indent: gutter + 2,
        };
        let shown = output::wrapped(&stretch.text[bytes], &marks, room, self.style);
        let shown = shown.replace(TEXT_SEPARATOR, "");
        text.push_str(format!("{number}  {shown}").trim_end());
        text.push('\n');
    }
}
