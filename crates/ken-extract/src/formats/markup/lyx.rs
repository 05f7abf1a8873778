//! LyX (`.lyx`): one command or piece of text on each line.
//!
//! Text is in layouts (paragraphs), which are in insets (footnotes, tables), which are again in
//! layouts. Insets of raw TeX, labels and notes are left out.

use ken_core::{Document, Field};

use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("LyX", &["application/x-lyx"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Date,
    ])
    .streams();

/// Maximum depth of layouts and insets that are distinguished.
const MAX_DEPTH: usize = 1000;

/// An open layout or inset.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Layout(Option<Field>),
    Inset,
    /// A footnote or margin note.
    Note,
    /// An inset without text.
    Skipped,
    /// A link, whose name is text.
    Link,
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let body_start = text.find("\\begin_body").unwrap_or(0);
    let mut reader = LyxReader {
        body: Body::new(output.limits().max_text_bytes),
        open: Vec::new(),
        too_deep: 0,
        n_skipped: 0,
        value: String::new(),
    };
    for line in text[body_start..].lines() {
        reader.line(line, output.own());
        if reader.body.is_full() {
            break;
        }
    }
    output.own().body = reader.body.finish();
    result
}

struct LyxReader {
    body: Body,
    open: Vec<Open>,
    too_deep: usize,
    n_skipped: usize,
    value: String,
}

impl LyxReader {
    fn line(&mut self, line: &str, document: &mut Document) {
        if let Some(command) = line.strip_prefix('\\') {
            let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
            return self.command(name.trim_end(), rest.trim(), document);
        }
        let is_text = matches!(self.open.last(), Some(Open::Layout(_)));
        if is_text && self.n_skipped == 0 {
            self.line_of_text(line);
        } else if self.open.last() == Some(&Open::Link) {
            // A link shows its name.
            if let Some(name) = line.strip_prefix("name ") {
                self.text(name.trim().trim_matches('"'));
            }
        } else if line.starts_with("</row") {
            self.body.end_row();
        } else if line.starts_with("<row") {
            self.body.begin_row();
        } else if line.starts_with("<cell") {
            self.body.begin_cell();
        } else if line.starts_with("</cell") {
            self.body.end_cell();
        }
    }

    /// Adds a line, which may contain names of special characters.
    fn line_of_text(&mut self, line: &str) {
        let mut pieces = line.split("\\SpecialChar ");
        self.text(pieces.next().unwrap_or_default());
        for piece in pieces {
            let end = piece.find(char::is_whitespace).unwrap_or(piece.len());
            self.text(special(&piece[..end]));
            // The space after the name is part of it.
            self.text(piece.get(end + 1..).unwrap_or_default());
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Open::Layout(Some(_))) = self.open.first() {
            self.value.push_str(text);
        }
        self.body.push_folded(text);
    }

    fn command(&mut self, name: &str, rest: &str, document: &mut Document) {
        match name {
            "begin_layout" => self.begin(Open::Layout(field(rest))),
            "begin_inset" => self.begin_inset(rest),
            "end_layout" | "end_inset" => self.end(document),
            _ if self.n_skipped > 0 => {}
            "backslash" => self.text("\\"),
            "SpecialChar" => self.line_of_text(&format!("\\SpecialChar {rest}")),
            "twohyphens" => self.text("–"),
            "threehyphens" => self.text("—"),
            _ => {}
        }
    }

    fn begin(&mut self, open: Open) {
        if self.open.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        match open {
            Open::Skipped | Open::Link => self.n_skipped += 1,
            Open::Note => self.body.begin_aside(),
            // A paragraph in a cell must not end the previous cell.
            Open::Layout(_) if !self.body.is_in_cell() => self.body.end_paragraph(),
            _ => {}
        }
        self.open.push(open);
    }

    fn begin_inset(&mut self, rest: &str) {
        let (kind, argument) = rest.split_once(' ').unwrap_or((rest, ""));
        match kind {
            "Formula" if self.n_skipped == 0 => {
                self.text(&crate::formats::markup::tex::plain(argument))
            }
            "Quotes" if self.n_skipped == 0 => self.text("\""),
            "space" | "Newline" if self.n_skipped == 0 => self.text(" "),
            _ => {}
        }
        self.begin(match kind {
            "Foot" | "Marginal" => Open::Note,
            "CommandInset" if argument == "href" && self.n_skipped == 0 => Open::Link,
            "ERT" | "CommandInset" | "Graphics" | "Note" | "Formula" | "Quotes" | "space"
            | "Preview" | "External" | "Index" | "VSpace" | "Newline" | "Newpage" => Open::Skipped,
            _ => Open::Inset,
        });
    }

    fn end(&mut self, document: &mut Document) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        match self.open.pop() {
            Some(Open::Skipped | Open::Link) => self.n_skipped = self.n_skipped.saturating_sub(1),
            Some(Open::Note) => self.body.end_aside(),
            Some(Open::Layout(field)) => {
                self.body.end_paragraph();
                if let Some(field) = field.filter(|_| self.open.is_empty()) {
                    self.take_value(field, document);
                }
            }
            _ => {}
        }
    }

    fn take_value(&mut self, field: Field, document: &mut Document) {
        let value = std::mem::take(&mut self.value);
        if field != Field::Date {
            return document.add_text(field, &value);
        }
        let value = date::iso(&value).or_else(|| date::spoken(&value));
        if let Some(seconds) = value {
            document.add_number(field, seconds);
        }
    }
}

/// Returns what a special character prints.
fn special(name: &str) -> &str {
    match name {
        "ldots" | "\\ldots{}" => "…",
        "endofsentence" => ".",
        "LyX" | "TeX" | "LaTeX" | "LaTeX2e" => name,
        "menuseparator" => " ",
        "breakableslash" | "\\slash{}" => "/",
        "nobreakdash" | "\\nobreakdash-" => "-",
        _ => "",
    }
}

/// Returns the field of a paragraph that is also a value.
fn field(layout: &str) -> Option<Field> {
    Some(match layout {
        "Title" => Field::Title,
        "Author" => Field::Author,
        "Abstract" => Field::Description,
        "Keywords" => Field::Keywords,
        "Date" => Field::Date,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{run, survives};

    const LYX: Detected = Detected {
        media_type: "application/x-lyx",
        kind: Kind::Document,
    };
    const SURVEY: &[u8] = include_bytes!("../../../tests/data/text/survey.lyx");

    #[test]
    fn layouts_are_lines_and_insets_are_not() {
        let input = Input::bytes_of("survey", SURVEY);
        assert_eq!(detect::detect(&input).unwrap(), LYX);
        let found = run(extract, LYX, "survey.lyx", SURVEY);
        let own = found.own();
        assert_eq!(
            own.text(Field::Description),
            Some("A short survey of the fjord.")
        );
        let kelp = "Kelp forests\nThe lumpsucker clings to kelp & stone — a naïve fish.\n\
                    Its disc is called a sucker.\n";
        assert!(own.body.contains(kelp), "{}", own.body);
        assert!(
            own.body.contains("depth\tfish\n3 m\twolffish\n"),
            "{}",
            own.body
        );
        assert!(!own.body.contains("hypertarget"), "{}", own.body);
    }

    #[test]
    fn titles_and_authors_are_layouts() {
        let text = "\\begin_body\n\\begin_layout Title\nOn\n\\emph on\n kelp\n\\end_layout\n\
            \\begin_layout Author\nYlva Strand\n\\end_layout\n\\begin_layout Date\n2024-02-29\n\\end_layout\n\
            \\begin_layout Standard\nWe see \n\\begin_inset Formula $\\alpha^2$\n\\end_inset\n, and\n\
            \\begin_inset space ~\n\\end_inset\nmore\n\\SpecialChar ldots\n with \\SpecialChar LyX\n at \n\\begin_inset CommandInset href\nLatexCommand href\n\
             name \"the pier\"\ntarget \"http://a.b\"\n\n\\end_inset\n\n\\end_layout\n";
        let found = run(extract, LYX, "a.lyx", text.as_bytes());
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("On kelp"));
        assert_eq!(own.text(Field::Author), Some("Ylva Strand"));
        assert_eq!(own.number(Field::Date), Some(1_709_164_800));
        assert_eq!(
            own.body,
            "On kelp\nYlva Strand\n2024-02-29\nWe see alpha ^2, and more… with LyX at the pier"
        );
    }

    #[test]
    fn hostile_documents_are_survived() {
        survives(extract, LYX, "survey.lyx", SURVEY);
    }
}
