//! TeX and LaTeX: the text without its commands, in one pass.
//!
//! An unknown command is dropped and its arguments are kept; a table lists commands whose arguments
//! are not text. Accents become letters. In formulas the names of commands are words: `\alpha` is
//! *alpha*. Groups are on a stack, so nothing is read twice and nothing recurses.

mod commands;
mod special;
mod symbols;

use ken_core::{Document, Field};

use self::commands::{Command, command, environment};
pub(in crate::formats) use self::symbols::accented;
use self::symbols::symbol;
use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::{add_authors, keywords};
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("TeX, LaTeX", &["text/x-tex"], extract)
    .fields(&[
        Field::Title,
        Field::Headings,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Date,
    ])
    .version(3)
    .streams();

/// Maximum depth of groups that are distinguished.
const MAX_DEPTH: usize = 1000;
/// Maximum number of `\hypersetup` commands, each of which is searched far ahead.
const MAX_SETUPS: usize = 20;
/// Commands around the label of a link are shorter.
const MAX_COMMAND_BYTES: usize = 40;
/// Maximum length of the head of a table.
const MAX_HEAD_BYTES: usize = 4000;
/// Maximum length of options in brackets.
const MAX_OPTION_BYTES: usize = 500;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let mut reader = TexReader::new(&text, output.limits().max_text_bytes);
    reader.in_preamble = text.contains("\\begin{document}");
    reader.read();
    reader.finish(output.own());
    result
}

/// Returns a piece of TeX, such as a value in BibTeX, as text.
pub(in crate::formats) fn plain(tex: &str) -> String {
    let mut reader = TexReader::new(tex, tex.len() * 4);
    reader.read();
    reader.body.finish()
}

/// Returns the label of an item as text. Labels within labels are left as they are.
fn plain_label(label: &str) -> String {
    match label.contains("\\item") {
        true => label.to_owned(),
        false => plain(label),
    }
}

/// The kind of an open group.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Text,
    /// An argument that is not text.
    Skipped,
    /// A separate line.
    Line,
    /// A separate line that is a heading.
    Heading,
    /// A note that follows its paragraph.
    Note,
    /// The value of a field.
    Value(Field),
    /// Text, after which an argument is skipped.
    First,
}

struct TexReader<'t> {
    rest: &'t str,
    body: Body,
    groups: Vec<Group>,
    too_deep: usize,
    /// The kind of the next groups, and their number.
    next: (Group, usize),
    n_skipped: usize,
    n_setups: usize,
    /// The current value, and its field.
    value: String,
    values: Vec<(Field, String)>,
    in_value: bool,
    in_abstract: bool,
    abstract_text: String,
    in_preamble: bool,
    in_formula: bool,
    is_at_end: bool,
}

impl<'t> TexReader<'t> {
    fn new(text: &'t str, max_bytes: usize) -> Self {
        Self {
            rest: text,
            body: Body::new(max_bytes),
            groups: Vec::new(),
            too_deep: 0,
            next: (Group::Text, 0),
            n_skipped: 0,
            n_setups: 0,
            value: String::new(),
            values: Vec::new(),
            in_value: false,
            in_abstract: false,
            abstract_text: String::new(),
            in_preamble: false,
            in_formula: false,
            is_at_end: false,
        }
    }

    fn finish(self, document: &mut Document) {
        for (field, value) in self.values {
            match field {
                Field::Keywords => {
                    keywords(&value).for_each(|keyword| document.join_text(field, keyword));
                }
                Field::Date => {
                    let value = date::iso(&value).or_else(|| date::spoken(&value));
                    if let Some(seconds) = value.filter(|_| document.number(field).is_none()) {
                        document.add_number(field, seconds);
                    }
                }
                Field::Title if document.text(field).is_some() => {}
                Field::Author => add_authors(document, &value),
                _ => document.join_text(field, &value),
            }
        }
        document.add_text(Field::Description, &self.abstract_text);
        self.body.finish_into(document);
    }

    fn read(&mut self) {
        let is_special = |c: char| {
            matches!(
                c,
                '\\' | '{' | '}' | '%' | '$' | '~' | '&' | '\n' | '`' | '\'' | '-' | '^' | '_'
            )
        };
        while !self.rest.is_empty() && !self.is_at_end && !self.body.is_full() {
            let end = self.rest.find(is_special).unwrap_or(self.rest.len());
            let (text, rest) = self.rest.split_at(end);
            self.text(text);
            self.rest = rest;
            self.special();
        }
        self.end_value();
    }

    fn special(&mut self) {
        let Some(character) = self.rest.chars().next() else {
            return;
        };
        self.rest = &self.rest[character.len_utf8()..];
        match character {
            '\\' => self.control(),
            '{' => self.open(),
            '}' => self.close(),
            '%' => {
                let end = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
                self.rest = self.rest[end..].trim_start_matches([' ', '\t']);
            }
            '$' => {
                self.rest = self.rest.strip_prefix('$').unwrap_or(self.rest);
                self.in_formula = !self.in_formula;
            }
            '~' => self.text(" "),
            '&' => self.cell(),
            '\n' => self.line_end(),
            '`' => self.ligature('`', "“", "‘"),
            '\'' => self.ligature('\'', "”", "’"),
            '-' => self.dash(),
            // Indices and powers: the letters are next to each other.
            _ if self.in_formula => self.text(if character == '^' { "^" } else { " " }),
            other => self.text(other.encode_utf8(&mut [0; 4])),
        }
    }

    fn ligature(&mut self, mark: char, double: &str, single: &str) {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                self.text(double);
            }
            None if self.in_formula => self.text("'"),
            None => self.text(single),
        }
    }

    fn dash(&mut self) {
        let n = self
            .rest
            .bytes()
            .take(2)
            .take_while(|&byte| byte == b'-')
            .count();
        self.rest = &self.rest[n..];
        self.text(["-", "–", "—"][n]);
    }

    /// Handles a blank line, which ends a paragraph, and the value of a field that was never
    /// closed.
    fn line_end(&mut self) {
        let after = self.rest.trim_start_matches([' ', '\t', '\r']);
        if !after.starts_with('\n') {
            return self.text(" ");
        }
        self.rest = after.trim_start_matches([' ', '\t', '\r', '\n']);
        self.end_value();
        self.next.1 = 0;
        self.in_formula = false;
        self.break_line();
    }

    fn break_line(&mut self) {
        self.text(" ");
        if self.n_skipped == 0 && !self.in_value && !self.in_preamble {
            self.body.end_paragraph();
            self.body.begin_row();
        }
    }

    fn cell(&mut self) {
        if self.n_skipped == 0 && !self.in_value && !self.in_preamble && !self.in_formula {
            self.body.end_cell();
        }
    }

    fn text(&mut self, text: &str) {
        if self.n_skipped > 0 {
            return;
        }
        if self.in_value {
            self.value.push_str(text);
            return;
        }
        if self.in_preamble {
            return;
        }
        if self.in_abstract && self.abstract_text.len() < MAX_ABSTRACT_BYTES {
            self.abstract_text.push_str(text);
        }
        self.body.push_folded(text);
    }

    fn open(&mut self) {
        self.formula_space();
        let group = match &mut self.next {
            (group, n) if *n > 0 => {
                *n -= 1;
                *group
            }
            _ => Group::Text,
        };
        if self.groups.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        // A value within a value is part of it.
        let group = match group {
            Group::Value(_) | Group::Note | Group::Heading | Group::Line if self.in_value => {
                Group::Text
            }
            group => group,
        };
        match group {
            Group::Skipped => self.n_skipped += 1,
            Group::Line => self.break_line(),
            Group::Heading => {
                self.break_line();
                if self.shows() {
                    self.body.begin_heading();
                }
            }
            Group::Note if self.shows() => self.body.begin_aside(),
            Group::Value(_) => {
                self.in_value = true;
                self.value.clear();
            }
            Group::Text | Group::Note | Group::First => {}
        }
        self.groups.push(group);
    }

    fn shows(&self) -> bool {
        !self.in_preamble && self.n_skipped == 0
    }

    fn close(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        match self.groups.pop() {
            Some(Group::Skipped) => self.n_skipped = self.n_skipped.saturating_sub(1),
            Some(Group::Heading) => {
                self.body.end_heading();
                self.break_line();
            }
            Some(Group::Line) => self.break_line(),
            Some(Group::First) => self.next = (Group::Skipped, 1),
            Some(Group::Note) if self.shows() => self.body.end_aside(),
            Some(Group::Value(field)) => {
                self.take_value(field);
                self.in_value = false;
            }
            _ => {}
        }
    }

    /// Adds a value; several authors or keywords may be in one argument.
    fn take_value(&mut self, field: Field) {
        let value = std::mem::take(&mut self.value);
        if field == Field::Author {
            let authors = value.split('\u{1f}').flat_map(|name| name.split(" \\and "));
            self.values
                .extend(authors.map(|name| (field, name.to_owned())));
        } else {
            self.values.push((field, value.replace('\u{1f}', " ")));
        }
    }

    /// Ends a value that was not closed in its paragraph.
    fn end_value(&mut self) {
        if !self.in_value {
            return;
        }
        while let Some(group) = self.groups.last()
            && self.in_value
        {
            if let Group::Value(_) = group {
                self.in_value = false;
                self.value.clear();
            }
            self.groups.pop();
        }
        self.in_value = false;
    }

    /// Handles what follows a backslash.
    fn control(&mut self) {
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '@';
        let end = self.rest.find(|c| !is_letter(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return self.control_symbol();
        }
        let (name, rest) = self.rest.split_at(end);
        // A space after a command is part of it.
        self.rest = rest.strip_prefix('*').unwrap_or(rest);
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if let Some(text) = accented(name, self.rest) {
            return self.accent(text);
        }
        if let Some(text) = symbol(name) {
            self.formula_space();
            self.text(text);
            return self.formula_space();
        }
        self.command(name);
    }

    fn accent(&mut self, (text, length): (String, usize)) {
        self.text(&text);
        self.rest = &self.rest[length..];
    }

    fn control_symbol(&mut self) {
        let Some(character) = self.rest.chars().next() else {
            return;
        };
        self.rest = &self.rest[character.len_utf8()..];
        let name = character.encode_utf8(&mut [0; 4]).to_owned();
        if let Some(text) = accented(&name, self.rest) {
            return self.accent(text);
        }
        match character {
            '\\' => {
                self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
                self.option();
                self.break_line();
            }
            '(' | '[' => self.in_formula = true,
            ')' | ']' => {
                self.in_formula = false;
                self.text(" ");
            }
            ' ' | '\n' | ',' | ';' | ':' => self.text(" "),
            // Hyphenation, thin spaces, italic correction.
            '-' | '/' | '!' | '@' => {}
            other => self.text(other.encode_utf8(&mut [0; 4])),
        }
    }

    /// Skips `[…]`.
    fn option(&mut self) {
        let Some(inside) = self.rest.strip_prefix('[') else {
            return;
        };
        let near = &inside[..inside.floor_char_boundary(MAX_OPTION_BYTES)];
        if let Some(end) = near.find(']') {
            self.rest = &inside[end + 1..];
        }
    }

    fn command(&mut self, name: &str) {
        match command(name) {
            Command::Skipped(n) => {
                self.option();
                self.next = (Group::Skipped, n);
            }
            Command::Definition => self.definition(),
            Command::Heading => {
                self.option();
                self.next = (Group::Heading, 1);
            }
            Command::Caption => {
                self.option();
                self.next = (Group::Line, 1);
            }
            Command::Note => {
                self.option();
                self.next = (Group::Note, 1);
            }
            Command::Value(field) => {
                self.option();
                self.next = (Group::Value(field), 1);
            }
            Command::Begin => self.begin(),
            Command::End => self.end(),
            Command::Line => {
                self.option();
                self.break_line();
            }
            Command::Item => self.item(),
            Command::Link => self.link(),
            Command::First => self.next = (Group::First, 1),
            Command::RepeatedHead => {
                let near = &self.rest[..self.rest.floor_char_boundary(MAX_HEAD_BYTES)];
                // A table may have a first head only.
                let is_of_table = |at: &usize| !near[..*at].contains("\\end{longtable");
                if let Some(at) = near.find("\\endhead").filter(is_of_table) {
                    self.rest = &self.rest[at..];
                }
                self.break_line();
            }
            Command::And => self.text("\u{1f}"),
            Command::Verbatim => self.verb(),
            Command::Setup => self.setup(),
            Command::Ends => self.is_at_end = true,
            Command::Unknown if self.in_formula => {
                self.option();
                self.formula_space();
                self.text(name);
                self.formula_space();
            }
            Command::Layout => self.option(),
            Command::Unknown => {
                self.option();
                // A command without an argument prints something, or ends a word.
                if self.rest.starts_with("{}") || !self.rest.starts_with('{') {
                    self.text(" ");
                }
            }
        }
    }

    fn formula_space(&mut self) {
        if self.in_formula {
            self.text(" ");
        }
    }

    /// Handles `\def\name#1{…}`: the text up to the group is part of the command.
    fn definition(&mut self) {
        let near = &self.rest[..self.rest.floor_char_boundary(MAX_OPTION_BYTES)];
        if let Some(brace) = near.find('{') {
            self.rest = &self.rest[brace..];
            self.next = (Group::Skipped, 1);
        }
    }

    /// Reads `{name}`.
    fn name(&mut self) -> &'t str {
        let Some(inside) = self.rest.strip_prefix('{') else {
            return "";
        };
        let near = &inside[..inside.floor_char_boundary(MAX_OPTION_BYTES)];
        let Some(end) = near.find('}') else {
            return "";
        };
        self.rest = &inside[end + 1..];
        &inside[..end]
    }

    fn begin(&mut self) {
        let name = self.name();
        if name == "document" {
            self.in_preamble = false;
            return;
        }
        let name = name.trim_end_matches('*');
        if commands::is_verbatim(name) {
            return self.verbatim(name);
        }
        self.option();
        self.in_formula = commands::is_formula(name);
        self.in_abstract |= name == "abstract";
        self.next = (Group::Skipped, environment(name));
        self.break_line();
    }

    fn end(&mut self) {
        let name = self.name();
        self.is_at_end = name == "document";
        self.in_abstract &= name != "abstract";
        self.in_formula = false;
        self.break_line();
    }
}

/// Maximum size of a description, which is the start of the abstract.
const MAX_ABSTRACT_BYTES: usize = 4000;

#[cfg(test)]
mod tests;
