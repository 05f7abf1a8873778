//! Spreadsheets (.xlsx, .xlsm, .xltx, .xltm): SpreadsheetML, ECMA-376 part 1, chapter 18.
//!
//! There is one page per sheet, in the order of the workbook: its name, its cells row by row as
//! displayed, then comments, text boxes and chart titles. Formulas yield their last results.

use std::collections::HashMap;

use ken_core::{Document, Field};

use super::{Relation, drawing, read_part, related, relations, set_pages};
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::formats::office::spreadsheet::workbook::{self, MAX_STYLES, Strings, Workbook};
use crate::output::body::Body;
use crate::structure::package::Package;
use crate::structure::xml::{Node, Xml};
use crate::{Error, Format, Limits};

pub(in crate::formats) const FORMAT: Format = Format::new(
    "Excel",
    &[
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/vnd.ms-excel.template.macroenabled.12",
        "application/vnd.ms-excel.addin.macroenabled.12",
    ],
    |input, output| super::extract(input, output, "xl/workbook.xml", read),
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Created,
    Field::Date,
    Field::Pages,
])
.sections("sheets")
.members("embedded files")
.in_worker()
.version(4);

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let relations = relations(package, main);
    let mut workbook = Workbook::default();
    let mut sheets = Vec::new();
    read_part(package, main, |text| {
        read_workbook(text, &mut workbook, &mut sheets)
    });
    if let Some(part) = related(&relations, "styles").next() {
        read_part(package, part, |text| {
            read_formats(text, &mut workbook.formats)
        });
    }
    if let Some(part) = related(&relations, "sharedStrings").next() {
        read_part(package, part, |text| {
            workbook::read_strings(text, &mut workbook.strings)
        });
    }
    read_sheets(package, &sheets, &relations, &workbook, &mut body);
    document.body = body.finish();
    set_pages(document, sheets.len());
}

/// A sheet's name and the identifier of the relation to its part.
type SheetName = (String, String);

fn read_workbook(
    text: &str,
    workbook: &mut Workbook,
    sheets: &mut Vec<SheetName>,
) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "workbookPr" => {
                let value = tag.attribute("date1904").unwrap_or_default();
                // An extension of Office 2013 has the same name and comes later.
                workbook.from_1904 |= matches!(&*value, "1" | "true" | "on");
            }
            "sheet" => {
                let name = tag.attribute("name").unwrap_or_default().into_owned();
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                sheets.push((name, id.into_owned()));
            }
            _ => {}
        }
    }
    xml.whole()
}

/// Reads the number format of each cell style (18.8): `cellXfs` refer to `numFmts` by number.
fn read_formats(text: &str, formats: &mut Vec<NumberFormat>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut own = HashMap::new();
    let mut in_cell_styles = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => match tag.name() {
                "numFmt" => {
                    let code = tag.attribute("formatCode").unwrap_or_default();
                    own.insert(tag.number("numFmtId"), code.into_owned());
                }
                "cellXfs" => in_cell_styles = true,
                "xf" if in_cell_styles && formats.len() < MAX_STYLES => {
                    let number = tag.number("numFmtId");
                    formats.push(match own.get(&number) {
                        Some(code) => NumberFormat::parse(code),
                        None => NumberFormat::built_in(number.unwrap_or(0)),
                    });
                }
                _ => {}
            },
            Node::End(tag) if tag.name() == "cellXfs" => break,
            Node::End(_) | Node::Text(_) => {}
        }
    }
    xml.whole()
}

fn read_sheets(
    package: &mut Package<'_>,
    sheets: &[SheetName],
    relations: &[Relation],
    workbook: &Workbook,
    body: &mut Body,
) {
    let mut targets: HashMap<&str, &str> = relations
        .iter()
        .map(|relation| (relation.id.as_str(), relation.target.as_str()))
        .collect();
    for (position, (name, id)) in sheets.iter().enumerate() {
        if position > 0 {
            body.end_page();
        }
        if body.is_full() {
            break;
        }
        body.line(name);
        if let Some(part) = targets.remove(id.as_str()) {
            read_sheet(package, part, workbook, body);
        }
    }
}

fn read_sheet(package: &mut Package<'_>, part: &str, workbook: &Workbook, body: &mut Body) {
    let relations = relations(package, part);
    read_part(package, part, |text| workbook::read(text, workbook, body));
    for comments in related(&relations, "comments") {
        read_part(package, comments, |text| read_comments(text, body));
    }
    for shapes in related(&relations, "drawing") {
        let charts = super::relations(package, shapes);
        read_part(package, shapes, |text| drawing::read(text, body));
        for chart in related(&charts, "chart") {
            read_part(package, chart, |text| drawing::read(text, body));
        }
    }
}

fn read_comments(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "comment"
        {
            let mut comment = Strings::default();
            comment.read_item(&mut xml, "comment")?;
            body.line(comment.get(0));
        }
    }
    xml.whole()
}

#[cfg(test)]
mod tests {
    use ken_core::Field;

    use super::super::tests::{check_hostile, run};
    use super::*;
    use crate::structure::package::tests::zip_of;

    const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/sample.xlsx");

    #[test]
    fn sheets_are_pages_of_rows_as_they_are_displayed() {
        let found = run(&FORMAT, SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Crossings\nDate\tHarbour\tFare\tShare\tWhen\n\
             01.03.2024\tzwiebelhafen\t1,234.50 €\t12.5%\t2024-03-01 18:30\nTRUE\n\
             Ferry header\nHarbour closed in winter\u{c}Crew\nCaptain Nemo"
        );
        assert_eq!(own.text(Field::Title), Some("Ferry budget"));
        assert_eq!(own.text(Field::Author), Some("Erik Ahlgren"));
        assert_eq!(own.number(Field::Pages), Some(2));
    }

    #[test]
    fn all_types_of_cells_are_shown() {
        let zip = zip_of(&[
            ("xl/workbook.xml", b"<w><sheet name='S' r:id='r1'/></w>"),
            (
                "xl/_rels/workbook.xml.rels",
                b"<r><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.xml'/>\
                  <Relationship Id='r2' Type='x/sharedStrings' Target='s.xml'/></r>",
            ),
            (
                "xl/s.xml",
                b"<sst><si><t>zero</t></si><si><t>one</t></si></sst>",
            ),
            (
                "xl/worksheets/a.xml",
                b"<s><row><c t='s'><v>1</v></c><c t='s'><v>9</v></c><c t='inlineStr'><is><t>in\
                  </t></is></c><c t='str'><f>A1&amp;B1</f><v>sum</v></c><c t='b'><v>0</v></c>\
                  <c t='e'><v>#N/A</v></c><c><v>0.10000000000000001</v></c><c/></row></s>",
            ),
        ]);
        let found = run(&FORMAT, &zip);
        assert_eq!(found.own().body, "S\none\tin\tsum\tFALSE\t#N/A\t0.1");
    }

    #[test]
    fn days_may_count_from_1904() {
        let zip = zip_of(&[
            (
                "xl/workbook.xml",
                b"<w><workbookPr date1904='1'/><sheet name='S' r:id='r1'/><extLst><ext>\
                  <x15:workbookPr chartTrackingRefBase='1'/></ext></extLst></w>",
            ),
            (
                "xl/_rels/workbook.xml.rels",
                b"<r><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.xml'/>\
                  <Relationship Id='r2' Type='x/styles' Target='styles.xml'/></r>",
            ),
            (
                "xl/styles.xml",
                b"<s><cellXfs><xf numFmtId='14'/></cellXfs></s>",
            ),
            (
                "xl/worksheets/a.xml",
                b"<s><row><c s='0'><v>41051</v></c></row></s>",
            ),
        ]);
        assert_eq!(run(&FORMAT, &zip).own().body, "S\n2016-05-23");
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        check_hostile(&FORMAT, SAMPLE);
    }
}
