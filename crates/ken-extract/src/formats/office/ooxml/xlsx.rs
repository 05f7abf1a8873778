//! Spreadsheets (.xlsx, .xlsm, .xltx, .xltm): SpreadsheetML, ECMA-376 part 1, chapter 18.
//!
//! There is one page per sheet, in the order of the workbook: its name, its cells row by row as
//! displayed, then targets of links, comments, text boxes, charts and diagrams. Formulas yield their
//! last results. The names that the user gave to cells follow the last sheet.

use std::collections::HashMap;

use ken_core::{Document, Field};

use super::drawing::{self, Context};
use super::previews::{self, Previews};
use super::{Relation, links, people, read_part, related, relations, targets};
use crate::formats::office::escape::unescape;
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::formats::office::spreadsheet::workbook::{self, MAX_STYLES, Strings, Workbook};
use crate::output::body::Body;
use crate::output::metadata::set_pages;
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
.version(13);

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let relations = relations(package, main);
    let mut workbook = Workbook::default();
    let mut sheets = Vec::new();
    let mut names = Vec::new();
    read_part(package, main, |text| {
        read_workbook(text, &mut workbook, &mut sheets, &mut names)
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
    // MS-XLSX 2.6.203.
    let people = people(package, &relations, &["person"], "displayName");
    read_sheets(package, &sheets, &relations, &workbook, &people, &mut body);
    workbook::add_cell_names(&names, &mut body);
    document.body = body.finish();
    set_pages(document, sheets.len());
}

/// A sheet's name and the identifier of the relation to its part.
type SheetName = (String, String);

fn read_workbook(
    text: &str,
    workbook: &mut Workbook,
    sheets: &mut Vec<SheetName>,
    names: &mut Vec<String>,
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
                let name = unescape(tag.attribute("name").unwrap_or_default()).into_owned();
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                sheets.push((name, id.into_owned()));
            }
            "definedName" => {
                let is = |what| {
                    tag.attribute(what)
                        .is_some_and(|value| !matches!(&*value, "0" | "false"))
                };
                let is_macro = is("function") || is("vbProcedure");
                let name = tag.attribute("name").unwrap_or_default();
                // Those of Excel itself: the area to print, and of filters.
                if !is("hidden") && !is_macro && !name.starts_with('_') {
                    names.push(name.into_owned());
                    names.push(tag.attribute("comment").unwrap_or_default().into_owned());
                }
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
    people: &HashMap<String, String>,
    body: &mut Body,
) {
    let mut targets = targets(relations);
    for (position, (name, id)) in sheets.iter().enumerate() {
        if position > 0 {
            body.end_page();
        }
        if body.is_full() {
            break;
        }
        body.line(name);
        if let Some(part) = targets.remove(id.as_str()) {
            read_sheet(package, part, workbook, people, body);
        }
    }
}

fn read_sheet(
    package: &mut Package<'_>,
    part: &str,
    workbook: &Workbook,
    people: &HashMap<String, String>,
    body: &mut Body,
) {
    let relations = relations(package, part);
    let mut previews = Previews::default();
    read_part(package, part, |text| {
        previews = previews::of_objects(text);
        workbook::read(text, workbook, body)
    });
    links(&relations)
        .into_values()
        .for_each(|target| body.link(target));
    body.end_paragraph();
    for comments in related(&relations, "comments") {
        read_part(package, comments, |text| read_comments(text, body));
    }
    for comments in related(&relations, "threadedComment") {
        read_part(package, comments, |text| read_thread(text, people, body));
    }
    // The pictures of objects are those of an older kind of drawing.
    let has_others = previews.n_members == 0 || previews.n_others > 0;
    for shapes in related(&relations, "vmlDrawing").filter(|_| has_others) {
        let own = super::relations(package, shapes);
        super::read_metafiles(package, &own, body);
    }
    for shapes in related(&relations, "drawing") {
        let own = super::relations(package, shapes);
        read_part(package, shapes, |text| {
            drawing::read(text, Context::new(&own), body)
        });
        drawing::read_related(package, &own, body);
    }
}

fn read_comments(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut authors = Vec::new();
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "author" => authors.push(xml.text()?),
            "comment" => {
                let author = tag
                    .number("authorId")
                    .and_then(|number| authors.get(number));
                let author = author.map_or("", |author| author.trim());
                let mut comment = Strings::default();
                comment.read_item(&mut xml, "comment")?;
                // Excel writes a thread as a comment for older programs, too.
                if !author.starts_with("tc={") {
                    add_comment(author, comment.get(0), body);
                }
            }
            _ => {}
        }
    }
    xml.whole()
}

/// Reads comments that answer each other (MS-XLSX 2.6.204).
fn read_thread(text: &str, people: &HashMap<String, String>, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "threadedComment"
        {
            let author = tag.attribute("personId").unwrap_or_default();
            let author = people.get(&*author).map_or("", String::as_str);
            add_comment(author, &xml.text()?, body);
        }
    }
    xml.whole()
}

/// Adds a comment. Excel begins its text with the author, which the user may delete.
pub(super) fn add_comment(author: &str, comment: &str, body: &mut Body) {
    match author.is_empty() || comment.trim_start().starts_with(author) {
        true => body.line(comment),
        false => body.line(&format!("{author}: {comment}")),
    }
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
             01.03.2024\tzwiebelhafen\t1,234.50 €\t12.5%\t2024-03-01 18:30\n\tTRUE\n\
             Ferry header\nErik: Harbour closed in winter\u{c}Crew\n\tCaptain Nemo"
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
        assert_eq!(found.own().body, "S\none\t\tin\tsum\tFALSE\t#N/A\t0.1");
    }

    #[test]
    fn what_is_not_in_cells_is_read_too() {
        let zip = zip_of(&[
            (
                "xl/workbook.xml",
                b"<w><sheet name='S' r:id='r1'/><definedNames><definedName name='Umsatz_2024'>S!A1\
                  </definedName><definedName name='_xlnm.Print_Area'>S!A1</definedName>\
                  <definedName name='Button_Click' function='1' vbProcedure='1'>#REF!</definedName>\
                  </definedNames>\
                  </w>",
            ),
            (
                "xl/_rels/workbook.xml.rels",
                b"<r><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.xml'/>\
                  <Relationship Id='r2' Type='x/person' Target='p.xml'/></r>",
            ),
            ("xl/p.xml", b"<l><person displayName='Bo Lund' id='{1}'/></l>"),
            (
                "xl/worksheets/a.xml",
                b"<s><sheetData><row><c t='inlineStr'><is><t>line_x000D_two</t></is></c><c t='str'>\
                  <f>HYPERLINK(\"https://example.org/f\",\"f\")</f><v>f</v></c></row></sheetData>\
                  <dataValidations><dataValidation type='list' prompt='Choose one'><formula1>\
                  \"red,blue\"</formula1></dataValidation></dataValidations><hyperlinks>\
                  <hyperlink ref='A1' r:id='r1' tooltip='Open it_x000d__x000a_'/></hyperlinks></s>",
            ),
            (
                "xl/worksheets/_rels/a.xml.rels",
                b"<r><Relationship Id='r1' Type='x/hyperlink' Target='https://example.org/a' \
                  TargetMode='External'/><Relationship Id='r2' Type='x/comments' Target='c.xml'/>\
                  <Relationship Id='r3' Type='x/threadedComment' Target='t.xml'/></r>",
            ),
            (
                "xl/worksheets/c.xml",
                b"<c><authors><author>Ina</author><author>tc={2}</author></authors><comment \
                  authorId='0'><text><t>check</t></text></comment><comment authorId='0'><text><t>Ina: \
                  done</t></text></comment><comment authorId='1'><text><t>[Threaded comment]</t></text>\
                  </comment></c>",
            ),
            (
                "xl/worksheets/t.xml",
                b"<c><threadedComment personId='{1}'><text>why?</text></threadedComment></c>",
            ),
        ]);
        assert_eq!(
            run(&FORMAT, &zip).own().body,
            "S\nline two\tf\nhttps://example.org/f\nChoose one\nred\nblue\n\
             Open it\nhttps://example.org/a\nIna: check\nIna: done\nBo Lund: why?\nUmsatz_2024"
        );
    }

    #[test]
    fn values_stay_in_their_columns() {
        let zip = zip_of(&[
            ("xl/workbook.xml", b"<w><sheet name='S' r:id='r1'/></w>"),
            (
                "xl/_rels/workbook.xml.rels",
                b"<r><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.xml'/>\
                  <Relationship Id='r2' Type='x/styles' Target='styles.xml'/></r>",
            ),
            (
                "xl/styles.xml",
                b"<s><numFmts><numFmt numFmtId='164' formatCode='# ?/?;;;&quot;Mr &quot;@'/></numFmts>\
                  <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/></cellXfs></s>",
            ),
            (
                "xl/worksheets/a.xml",
                b"<s><row><c r='B1' t='str'><v>b\nand c</v></c><c r='E1'><v>5</v></c><c/><c><v>7</v></c>\
                  </row><row><c r='A2' s='1'><v>1.75</v></c><c r='C2' s='1' t='inlineStr'><is><t>Finch\
                  </t></is></c><c r='D2' s='1' t='e'><v>#N/A</v></c><c r='XFD2'><v>9</v></c></row></s>",
            ),
        ]);
        assert_eq!(
            run(&FORMAT, &zip).own().body,
            "S\n\tb and c\t\t\t5\t\t7\n1 3/4\t\tMr Finch\t#N/A\t\t9"
        );
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
