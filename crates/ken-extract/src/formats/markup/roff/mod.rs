//! Manual pages and other troff documents: the text, without the macros of man(7), mdoc(7) and ms.
//!
//! A line that begins with `.` or `'` is a request. Its words are text, unless the request is about
//! layout. Definitions and conditions that hold only for printers are skipped. Escapes become the
//! characters that they represent (groff_char(7)).

mod escape;

use ken_core::{Document, Field};

use self::escape::Strings;
use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::add_authors;
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("troff, manual pages", &["text/troff"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Description,
            Field::Date,
        ])
        .version(3)
        .streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let mut reader = RoffReader::new(output.limits().max_text_bytes);
    for line in text.lines() {
        reader.line(line);
        if reader.body.is_full() {
            break;
        }
    }
    reader.finish(output.own());
    result
}

/// Maximum number of nested conditional branches on one line; each takes stack space.
const MAX_BRANCHES: usize = 20;

/// The kind of the following lines.
#[derive(Clone, Copy, PartialEq)]
enum Block {
    Text,
    /// A definition, up to this line.
    Skipped(&'static str),
    /// The layout of a table, up to a line that ends with a dot.
    TableFormat,
    /// A table, with tabs between cells.
    Table,
}

/// The kind of the next line of text, with the macros of ms.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Text,
    Title,
    Author,
    Heading,
}

struct RoffReader {
    body: Body,
    strings: Strings,
    block: Block,
    next: Next,
    /// Number of open braces in a condition that does not hold.
    skipped_braces: usize,
    /// Whether the last `.ie` held.
    condition: bool,
    /// Number of conditional branches that the line has opened so far.
    n_branches: usize,
    /// Whether lines are filled, rather than kept as they are.
    is_filled: bool,
    /// The current heading.
    heading: String,
    /// The text of mdoc's `.Nm`.
    name: String,
    title: String,
    authors: Vec<String>,
    description: String,
    date: Option<i64>,
    /// What is between the cells of the table.
    separator: char,
}

impl RoffReader {
    fn new(max_bytes: usize) -> Self {
        Self {
            body: Body::new(max_bytes),
            strings: Strings::default(),
            block: Block::Text,
            next: Next::Text,
            skipped_braces: 0,
            condition: false,
            n_branches: 0,
            is_filled: true,
            heading: String::new(),
            name: String::new(),
            title: String::new(),
            authors: Vec::new(),
            separator: '\t',
            description: String::new(),
            date: None,
        }
    }

    fn finish(self, document: &mut Document) {
        document.add_text(Field::Title, &self.title);
        for author in &self.authors {
            add_authors(document, author);
        }
        document.add_text(Field::Description, &self.description);
        if let Some(date) = self.date {
            document.add_number(Field::Date, date);
        }
        self.body.finish_into(document);
    }

    fn line(&mut self, line: &str) {
        if let Block::Skipped(end) = self.block {
            if line.trim_end() == end {
                self.block = Block::Text;
            }
            return;
        }
        if self.skipped_braces > 0 {
            self.skipped_braces += line.matches("\\{").count();
            let n_closed = line.matches("\\}").count();
            self.skipped_braces = self.skipped_braces.saturating_sub(n_closed);
            return;
        }
        self.n_branches = 0;
        match line.strip_prefix(['.', '\'']) {
            Some(request) => self.request(request),
            None => self.text(line),
        }
    }

    fn text(&mut self, line: &str) {
        match self.block {
            Block::TableFormat => {
                if let Some((_, option)) = line.split_once("tab") {
                    let option = option.trim_start().strip_prefix('(');
                    self.separator = option
                        .and_then(|sign| sign.chars().next())
                        .unwrap_or(self.separator);
                }
                if line.trim_end().ends_with('.') {
                    self.block = Block::Table;
                }
                return;
            }
            Block::Table => return self.table_line(line),
            _ => {}
        }
        if line.trim().is_empty() {
            return self.body.end_paragraph();
        }
        let plain = self.strings.plain(line);
        match std::mem::replace(&mut self.next, Next::Text) {
            Next::Title => self.title.clone_from(&plain),
            // Pandoc writes the date as the last author.
            Next::Author => match date::iso(&plain).or_else(|| date::spoken(&plain)) {
                Some(date) => self.date = self.date.or(Some(date)),
                None => self.authors.push(plain.trim().to_owned()),
            },
            Next::Heading => {
                self.heading = plain.trim().to_owned();
                return self.body.heading(plain.trim());
            }
            Next::Text => self.note_name(&plain),
        }
        self.write(&plain);
    }

    fn table_line(&mut self, line: &str) {
        if matches!(line.trim(), "_" | "=" | "T{" | "T}") {
            return;
        }
        let plain = self.strings.plain(line);
        self.body.begin_row();
        for cell in plain.split(self.separator) {
            let cell = cell.trim_start_matches("T}").trim_end_matches("T{");
            self.body.begin_cell();
            self.body.push_folded(cell.trim());
            self.body.end_cell();
        }
        self.body.end_row();
    }

    /// Writes a line, which filled text continues.
    fn write(&mut self, plain: &str) {
        self.body.push_folded(plain);
        if self.is_filled {
            self.body.push_folded(" ");
        } else {
            self.body.end_paragraph();
        }
    }

    /// Reads the line below NAME: `ls - list directory contents`.
    fn note_name(&mut self, plain: &str) {
        if !self.heading.eq_ignore_ascii_case("name") || !self.description.is_empty() {
            return;
        }
        let dash = [" - ", " – ", " — "]
            .iter()
            .find_map(|dash| plain.split_once(dash));
        if let Some((_, description)) = dash {
            description.trim().clone_into(&mut self.description);
        }
    }

    fn request(&mut self, request: &str) {
        let request = request.trim_start();
        let end = request
            .find(|c: char| c.is_whitespace() || c == '\\')
            .unwrap_or(request.len());
        let (name, rest) = request.split_at(end);
        match name {
            "if" | "ie" | "while" => return self.conditional(rest.trim_start()),
            "el" => {
                let holds = !self.condition;
                return self.branch(holds, rest.trim_start());
            }
            "de" | "de1" | "am" | "ig" => {
                self.block = Block::Skipped("..");
                return;
            }
            "ds" | "as" => return self.strings.define(rest),
            _ => {}
        }
        if rest.trim_start().starts_with("\\\"") && rest.len() > 2 && name.is_empty() {
            return;
        }
        let words = arguments(rest);
        let words: Vec<String> = words.iter().map(|word| self.strings.plain(word)).collect();
        self.macro_call(name, &words);
    }

    /// Handles `.if n .br`: the condition for nroff holds, all others do not.
    fn conditional(&mut self, rest: &str) {
        let (negated, rest) = match rest.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (condition, branch) = rest.split_at(end);
        self.condition = (condition == "n") != negated && !condition.contains('\\')
            || (negated && condition == "t");
        self.branch(self.condition, branch.trim_start());
    }

    fn branch(&mut self, holds: bool, branch: &str) {
        self.n_branches += 1;
        if self.n_branches > MAX_BRANCHES {
            return;
        }
        if let Some(inside) = branch.strip_prefix("\\{") {
            if !holds {
                let n_open = 1 + inside.matches("\\{").count();
                self.skipped_braces = n_open.saturating_sub(inside.matches("\\}").count());
                return;
            }
            return self.branch(true, inside.trim_start_matches('\\').trim_start());
        }
        if !holds || branch.is_empty() {
            return;
        }
        // A branch that is itself an `.if` is not followed.
        match branch.strip_prefix(['.', '\'']) {
            Some(request) if !request.trim_start().starts_with("i") => self.request(request),
            Some(_) => {}
            None => self.text(branch),
        }
    }

    fn macro_call(&mut self, name: &str, words: &[String]) {
        match name {
            "TH" | "Dt" => self.title_line(name, words),
            "Dd" => self.date = self.date.or_else(|| date::spoken(&words.join(" "))),
            "SH" | "Sh" | "SS" | "Ss" | "NH" => {
                self.body.end_paragraph();
                self.is_filled = true;
                if matches!(name, "SH" | "Sh") {
                    self.heading = words.join(" ");
                }
                let text = words.join(" ");
                // In ms, the heading is the next line, and the number is its level.
                if name == "NH" || words.iter().all(|word| word.parse::<u8>().is_ok()) {
                    self.next = Next::Heading;
                } else {
                    self.body.heading(&text);
                }
            }
            "TL" => self.next = Next::Title,
            "AU" => self.next = Next::Author,
            "nf" | "EX" | "Vb" | "DS" | "Bd" => self.set_filled(false),
            "fi" | "EE" | "Ve" | "DE" | "Ed" => self.set_filled(true),
            "TS" => {
                self.body.end_paragraph();
                self.block = Block::TableFormat;
                self.separator = '\t';
            }
            "TE" => self.block = Block::Text,
            "EQ" => self.block = Block::Skipped(".EN"),
            "PP" | "LP" | "P" | "HP" | "TP" | "TQ" | "Pp" | "br" | "sp" | "bp" | "RS" | "RE"
            | "QP" | "IP" | "It" | "Bl" | "El" | "UE" | "ME" | "YS" => {
                self.begin_paragraph(name, words)
            }
            // Layout, and the index of pod2man.
            "IX" | "PD" | "AT" | "UC" | "DT" | "Os" | "Lb" | "FT" => {}
            "BR" | "BI" | "IB" | "IR" | "RB" | "RI" | "SB" => self.write(&words.concat()),
            "Nm" if words.is_empty() => {
                let name = self.name.clone();
                self.write(&name);
            }
            "Xr" => self.write(&reference(words)),
            "Nd" => {
                self.description = words.join(" ");
                self.write(&format!("– {}", words.join(" ")));
            }
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => self.words(name, words),
            _ => {}
        }
    }

    fn title_line(&mut self, name: &str, words: &[String]) {
        if let [title, rest @ ..] = words
            && self.title.is_empty()
        {
            self.title = match rest.first() {
                Some(section) if !section.is_empty() => format!("{title}({section})"),
                _ => title.clone(),
            };
        }
        if name == "TH"
            && let Some(day) = words.get(2)
        {
            self.date = date::iso(day).or_else(|| date::spoken(day));
        }
    }

    fn set_filled(&mut self, is_filled: bool) {
        self.is_filled = is_filled;
        self.body.end_paragraph();
    }

    /// Begins a paragraph; some macros have a word of text.
    fn begin_paragraph(&mut self, name: &str, words: &[String]) {
        self.body.end_paragraph();
        match name {
            "IP" => {
                if let Some(tag) = words.first() {
                    self.write(tag);
                }
            }
            "It" => self.words("It", words),
            _ => {}
        }
    }

    /// Adds text with macros of mdoc among the words: `.Op Fl f Ar file`.
    fn words(&mut self, name: &str, words: &[String]) {
        if name == "Nm" && self.name.is_empty() {
            self.name = words.join(" ");
        }
        let mut line = String::new();
        let mut is_flag = name == "Fl";
        for word in words {
            if is_callable(word) {
                is_flag = word == "Fl";
                continue;
            }
            if !line.is_empty() && !is_closing(word) {
                line.push(' ');
            }
            if std::mem::take(&mut is_flag) {
                line.push('-');
            }
            line.push_str(word);
        }
        self.write(&line);
    }
}

/// Returns whether a word is punctuation that follows another word without a space.
fn is_closing(word: &str) -> bool {
    matches!(word, "." | "," | ":" | ";" | ")" | "]" | "?" | "!")
}

/// Formats a reference: `ls 1 ,` → ls(1),
fn reference(words: &[String]) -> String {
    match words {
        [name, section, rest @ ..] => format!("{name}({section}){}", rest.concat()),
        _ => words.concat(),
    }
}

/// Returns whether a macro of mdoc(7) may occur among the words of another one.
fn is_callable(word: &str) -> bool {
    matches!(
        word,
        "Ac" | "Ad"
            | "An"
            | "Ao"
            | "Ap"
            | "Aq"
            | "Ar"
            | "Bc"
            | "Bo"
            | "Bq"
            | "Brc"
            | "Bro"
            | "Brq"
            | "Cd"
            | "Cm"
            | "Dc"
            | "Do"
            | "Dq"
            | "Dv"
            | "Ec"
            | "Em"
            | "Er"
            | "Ev"
            | "Fa"
            | "Fl"
            | "Fn"
            | "Ft"
            | "Ic"
            | "In"
            | "Li"
            | "Lk"
            | "Ms"
            | "Mt"
            | "Nm"
            | "No"
            | "Ns"
            | "Oc"
            | "Oo"
            | "Op"
            | "Pa"
            | "Pc"
            | "Pf"
            | "Po"
            | "Pq"
            | "Qc"
            | "Ql"
            | "Qo"
            | "Qq"
            | "Sc"
            | "So"
            | "Sq"
            | "Sx"
            | "Sy"
            | "Ta"
            | "Tn"
            | "Ux"
            | "Va"
            | "Vt"
            | "Xc"
            | "Xo"
            | "Xr"
    )
}

/// Splits the arguments of a request: words, or strings in quotes, in which `""` is a quote.
fn arguments(rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = rest.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let mut word = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted;
            loop {
                let end = rest.find('"').unwrap_or(rest.len());
                word.push_str(&rest[..end]);
                rest = rest.get(end + 1..).unwrap_or_default();
                match rest.strip_prefix('"') {
                    Some(after) => {
                        word.push('"');
                        rest = after;
                    }
                    None => break,
                }
            }
        } else {
            let end = word_end(rest);
            word.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        words.push(word);
        rest = rest.trim_start();
    }
    words
}

/// Returns the end of a word; a space after a backslash does not end it.
fn word_end(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices() {
        match character {
            '\\' => is_escaped = !is_escaped,
            c if c.is_whitespace() && !is_escaped => return at,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests;
