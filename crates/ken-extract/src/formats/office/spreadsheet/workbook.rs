//! The cells of a worksheet and the strings that a workbook's sheets share (ECMA-376 part 1,
//! 18.3 and 18.4).

use super::number_format::NumberFormat;
use crate::Error;
use crate::formats::office::escape::unescape;
use crate::output::body::Body;
use crate::structure::xml::{Node, Start, Xml};

/// Maximum number of cell styles in Excel; more are hostile.
pub(in crate::formats::office) const MAX_STYLES: usize = 1 << 16;

/// What the sheets of a workbook share.
#[derive(Default)]
pub(in crate::formats::office) struct Workbook {
    pub(in crate::formats::office) strings: Strings,
    /// Number formats by cell style.
    pub(in crate::formats::office) formats: Vec<NumberFormat>,
    /// Whether days are counted from 1904, as formerly on the Macintosh, not from 1900.
    pub(in crate::formats::office) from_1904: bool,
}

/// Strings by number, in one allocation.
#[derive(Default)]
pub(in crate::formats::office) struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// Returns a string; an empty one if the number is unknown.
    pub(in crate::formats::office) fn get(&self, number: usize) -> &str {
        let Some(&end) = self.ends.get(number) else {
            return "";
        };
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        &self.text[start..end]
    }

    /// Adds a string.
    pub(in crate::formats::office) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Reads the runs of an element called `name` after its start; pronunciation hints are left
    /// out.
    pub(in crate::formats::office) fn read_item(
        &mut self,
        xml: &mut Xml<'_>,
        name: &str,
    ) -> Result<(), Error> {
        let mut in_text = false;
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) if in_text => self.text.push_str(&unescape(text)),
                Node::Text(_) => {}
                Node::Start(tag) => match tag.name() {
                    "t" => in_text = true,
                    "rPh" => xml.skip()?,
                    _ => {}
                },
                Node::End(tag) if tag.name() == "t" => in_text = false,
                Node::End(tag) if tag.name() == name => break,
                Node::End(_) => {}
            }
        }
        self.ends.push(self.text.len());
        Ok(())
    }
}

pub(in crate::formats::office) fn read_strings(
    text: &str,
    strings: &mut Strings,
) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "si"
        {
            strings.read_item(&mut xml, "si")?;
        }
    }
    xml.whole()
}

/// A cell that is being read.
#[derive(Default)]
struct Cell {
    kind: CellKind,
    style: usize,
    /// Counted from 0.
    column: usize,
    value: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum CellKind {
    #[default]
    Number,
    SharedString,
    Boolean,
    Text,
    /// Dates and errors, which are stored as displayed.
    Plain,
}

impl CellKind {
    fn of(name: &str) -> Self {
        match name {
            "n" => Self::Number,
            "s" => Self::SharedString,
            "b" => Self::Boolean,
            "str" | "inlineStr" => Self::Text,
            _ => Self::Plain,
        }
    }
}

impl Cell {
    fn begin(&mut self, tag: &Start<'_>) {
        self.value.clear();
        self.style = 0;
        self.kind = CellKind::Number;
        for (name, value) in tag.raw_attributes() {
            match name {
                "r" => self.column = column_of(&value).unwrap_or(self.column),
                "s" => self.style = value.parse().unwrap_or(0),
                "t" => self.kind = CellKind::of(&value),
                _ => {}
            }
        }
    }

    fn end(&self, workbook: &Workbook, body: &mut Body) {
        if self.value.is_empty() {
            return;
        }
        let format = workbook.formats.get(self.style);
        let format = format.unwrap_or(&NumberFormat::General);
        match self.kind {
            CellKind::Text => {
                body.push(&format.show_text(&unescape(self.value.as_str().into())));
            }
            CellKind::Plain => body.push(&unescape(self.value.as_str().into())),
            CellKind::Boolean if self.value.trim() == "0" => body.push("FALSE"),
            CellKind::Boolean => body.push("TRUE"),
            CellKind::SharedString => {
                let number = self.value.trim().parse().unwrap_or(usize::MAX);
                body.push(&format.show_text(workbook.strings.get(number)));
            }
            CellKind::Number => body.push(&format.show(&self.value, workbook.from_1904)),
        }
    }
}

/// Returns the column of a reference, counted from 0: 27 in `AB12`.
pub(in crate::formats::office) fn column_of(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.take(4).fold(0, |number, letter| {
        26 * number + usize::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    number.checked_sub(1)
}

/// Reads the cells of a sheet, then its headers and footers.
pub(in crate::formats::office) fn read(
    text: &str,
    workbook: &Workbook,
    body: &mut Body,
) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut cell = Cell::default();
    let mut in_value = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(text) if in_value => cell.value.push_str(&text),
            Node::Text(_) => {}
            Node::Start(tag) => match tag.name() {
                "v" | "t" => in_value = true,
                "c" => {
                    cell.begin(&tag);
                    body.begin_cell_at(cell.column);
                }
                "row" => {
                    body.begin_row();
                    cell.column = 0;
                }
                "f" => read_formula(&mut xml, body)?,
                "rPh" | "extLst" => xml.skip()?,
                "oddHeader" | "evenHeader" | "firstHeader" | "oddFooter" | "evenFooter"
                | "firstFooter" => body.once(&without_codes(&xml.text()?)),
                "dataValidation" => read_validation(&tag, body),
                "formula1" => body.once(&choices(&xml.text()?)),
                "hyperlink" => {
                    body.line(unescape(tag.attribute("tooltip").unwrap_or_default()).trim());
                }
                _ => {}
            },
            Node::End(tag) => match tag.name() {
                "v" | "t" => in_value = false,
                "c" => {
                    cell.end(workbook, body);
                    body.end_cell();
                    // Cells without a reference follow one another.
                    cell.column = cell.column.saturating_add(1);
                }
                "row" => body.end_row(),
                _ => {}
            },
        }
        if body.is_full() {
            break;
        }
    }
    body.end_paragraph();
    xml.whole()
}

/// More names of cells were made by a program, and are no words of people.
const MAX_CELL_NAMES: usize = 200;

/// Adds the names that the user gave to cells.
pub(in crate::formats::office) fn add_cell_names(names: &[String], body: &mut Body) {
    // Those of Excel itself, as LibreOffice writes them.
    let is_built_in = |name: &&String| name.starts_with("Excel_BuiltIn");
    if names.len() <= MAX_CELL_NAMES {
        let own = names.iter().filter(|name| !is_built_in(name));
        own.for_each(|name| body.once(name));
    }
}

/// Reads a formula, of which only the target of a link is text.
fn read_formula(xml: &mut Xml<'_>, body: &mut Body) -> Result<(), Error> {
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(formula) => {
                if let Some(target) = link_target(&formula) {
                    body.link(target);
                }
            }
            Node::End(tag) if tag.name() == "f" => break,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the target in `HYPERLINK("https://example.org","label")`.
fn link_target(formula: &str) -> Option<&str> {
    let (_, target) = formula.split_once("HYPERLINK(\"")?;
    target.split('"').next()
}

/// Reads the messages of a rule for cells.
fn read_validation(tag: &Start<'_>, body: &mut Body) {
    for name in ["promptTitle", "prompt", "errorTitle", "error"] {
        let text = tag.attribute(name).unwrap_or_default();
        body.once(unescape(text).trim());
    }
}

/// Returns the choices of a rule for cells, as lines: `"red,blue"`. Choices in cells are text there.
pub(in crate::formats::office) fn choices(formula: &str) -> String {
    let list = formula.trim().strip_prefix('"');
    let list = list
        .and_then(|list| list.strip_suffix('"'))
        .unwrap_or_default();
    list.replace("\"\"", "\"").replace([',', ';'], "\n")
}

/// Returns a header or footer without its codes (18.3.1.46): `&L`, `&C` and `&R` begin its three sections, `&"font"`, `&12` size,
/// `&K00-24B` colour, `&P` page, `&&` an ampersand. Programs make sections of their own, of the number of the page and the name
/// of the sheet (`&A`), with one word at most; these say nothing.
pub(in crate::formats::office) fn without_codes(text: &str) -> String {
    let mut sections = vec![Section::default()];
    let mut pieces = text.split('&');
    let first = pieces.next().unwrap_or_default();
    sections[0].text.push_str(first);
    while let Some(piece) = pieces.next() {
        if piece.starts_with(['L', 'C', 'R']) {
            sections.push(Section::default());
        }
        let Some(section) = sections.last_mut() else {
            break;
        };
        let rest = match piece.chars().next() {
            None => {
                section.text.push('&');
                pieces.next().unwrap_or_default()
            }
            Some('"') => piece[1..].split_once('"').map_or("", |(_, rest)| rest),
            Some('K') => piece.get(7..).unwrap_or_default(),
            Some('0'..='9') => piece.trim_start_matches(|c: char| c.is_ascii_digit()),
            Some(code) => {
                section.is_made |= matches!(code, 'P' | 'A');
                section.text.push(' ');
                &piece[code.len_utf8()..]
            }
        };
        section.text.push_str(rest);
    }
    let shown = sections.iter().filter_map(Section::shown);
    shown.collect::<Vec<_>>().join(" ")
}

/// A part of a header or footer.
#[derive(Default)]
struct Section {
    text: String,
    /// Whether it has a number of the page or the name of the sheet.
    is_made: bool,
}

impl Section {
    fn shown(&self) -> Option<&str> {
        let text = self.text.trim();
        let says_nothing = self.is_made && text.split_whitespace().count() < 2;
        (!text.is_empty() && !says_nothing).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_lose_their_codes() {
        assert_eq!(
            without_codes("&L&\"Arial,Bold\"&12Report&CA && B&R&K000000Page &P"),
            "Report A & B"
        );
        assert_eq!(without_codes("&LConfidential&R&P"), "Confidential");
        assert_eq!(without_codes("&CPage &P"), "");
        assert_eq!(without_codes("&C&A"), "");
        assert_eq!(without_codes("&CDraft"), "Draft");
        assert_eq!(without_codes("&"), "&");
        assert_eq!(without_codes("&K12"), "");
        assert_eq!(without_codes("&ä&\"x"), "");
    }

    #[test]
    fn references_name_columns() {
        let columns = ["A1", "Z9", "AB12", "xfd1048576", "", "7"].map(column_of);
        assert_eq!(
            columns,
            [Some(0), Some(25), Some(27), Some(16_383), None, None]
        );
    }

    #[test]
    fn shared_strings_join_runs_and_skip_pronunciation() {
        let mut strings = Strings::default();
        let text = "<sst><si><t>a</t></si><si><r><rPr/><t>b</t></r><r><t> c</t></r>\
                    <rPh><t>x</t></rPh></si><si/></sst>";
        read_strings(text, &mut strings).unwrap();
        assert_eq!(
            [0, 1, 2, 3, usize::MAX].map(|number| strings.get(number)),
            ["a", "b c", "", "", ""]
        );
    }
}
