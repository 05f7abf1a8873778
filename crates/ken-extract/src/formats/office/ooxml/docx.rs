//! Word documents (.docx, .docm, .dotx, .dotm): WordprocessingML, ECMA-376 part 1, chapter 17.
//!
//! The body comes first, then footnotes, endnotes, headers, footers and comments. Deleted and
//! moved-away text and field codes are left out. Pages are those of the last program that laid out
//! the document.

use std::collections::HashSet;

use ken_core::{Document, Field};

use super::{drawing, read_part, related, relations, set_pages};
use crate::output::body::{Body, is_note_number};
use crate::structure::package::Package;
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Limits};

pub(in crate::formats) const FORMAT: Format = Format::new(
    "Word",
    &[
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.template.macroenabled.12",
    ],
    |input, output| super::extract(input, output, "word/document.xml", read),
)
.fields(&[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Created,
    Field::Date,
    Field::Pages,
])
.sections("pages, as last laid out")
.members("embedded files")
.in_worker()
.version(4);

/// Kinds of parts that hold text like the main part, in the order in which they are appended.
const TEXT_PARTS: &[&str] = &["footnotes", "endnotes", "header", "footer", "comments"];
/// More styles of headings than any document has.
const MAX_STYLES: usize = 1000;
/// Kinds of parts that are drawings.
const DRAWING_PARTS: &[&str] = &["chart", "diagramData"];

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let relations = relations(package, main);
    let mut styles = HashSet::new();
    for part in related(&relations, "styles") {
        read_part(package, part, |text| heading_styles(text, &mut styles));
    }
    read_part(package, main, |text| read_text(text, &styles, &mut body));
    for kind in TEXT_PARTS {
        for part in related(&relations, kind) {
            read_part(package, part, |text| read_text(text, &styles, &mut body));
        }
    }
    for kind in DRAWING_PARTS {
        for part in related(&relations, kind) {
            read_part(package, part, |text| drawing::read(text, &mut body));
        }
    }
    body.finish_into(document);
    raise_pages(document);
}

/// Raises the number of pages to that in the text, if the document declares fewer.
fn raise_pages(document: &mut Document) {
    let breaks = memchr::memchr_iter(b'\x0c', document.body.as_bytes()).count();
    if breaks as i64 >= document.number(Field::Pages).unwrap_or(1) {
        set_pages(document, breaks + 1);
    }
}

/// Finds the heading styles, whose names are the same in every language.
fn heading_styles(text: &str, styles: &mut HashSet<String>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut style = None;
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "style" => style = tag.attribute("styleId").map(|id| id.into_owned()),
            "name" => {
                let name = tag.attribute("val").unwrap_or_default().to_lowercase();
                let is_heading = name.starts_with("heading ") || name == "title";
                if let Some(style) = style.take().filter(|_| is_heading) {
                    styles.insert(style);
                }
            }
            _ => {}
        }
        if styles.len() >= MAX_STYLES {
            break;
        }
    }
    Ok(())
}

fn read_text(text: &str, styles: &HashSet<String>, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut in_text = false;
    let mut is_raised = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(text) if in_text => {
                if is_raised && is_note_number(body.joined(), &text) {
                    body.push(" ");
                }
                body.push(&text);
            }
            Node::Text(_) => {}
            Node::Start(tag) => match tag.name() {
                "t" => in_text = true,
                "pPr" => {
                    if is_heading(&mut xml, styles)? {
                        body.begin_heading();
                    }
                }
                "r" => is_raised = false,
                "rPr" => is_raised = has_raised_text(&mut xml)?,
                name if is_skipped(name) => xml.skip()?,
                _ => start(&tag, body),
            },
            Node::End(tag) => match tag.name() {
                "t" => in_text = false,
                name => end(name, body),
            },
        }
        if body.is_full() {
            break;
        }
    }
    body.end_paragraph();
    xml.whole()
}

/// Reads the properties of a paragraph; returns whether it is a heading.
fn is_heading(xml: &mut Xml<'_>, styles: &HashSet<String>) -> Result<bool, Error> {
    let mut is_heading = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                let value = tag.attribute("val").unwrap_or_default();
                match tag.name() {
                    "pStyle" => is_heading |= styles.contains(&*value),
                    // 9 is the level of body text.
                    "outlineLvl" => is_heading |= *value != *"9",
                    _ => {}
                }
                xml.skip()?;
            }
            Node::End(tag) if tag.name() == "pPr" => break,
            _ => {}
        }
    }
    Ok(is_heading)
}

/// Reads the properties of a run; returns whether its text is raised.
fn has_raised_text(xml: &mut Xml<'_>) -> Result<bool, Error> {
    let mut is_raised = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                is_raised |= tag.name() == "vertAlign"
                    && tag.attribute("val").as_deref() == Some("superscript");
                xml.skip()?;
            }
            Node::End(tag) if tag.name() == "rPr" => break,
            _ => {}
        }
    }
    Ok(is_raised)
}

/// Returns whether an element is skipped: properties have no text but elements with the same names,
/// and `Fallback` duplicates a text box.
fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "tblPr" | "trPr" | "tcPr" | "sectPr" | "sdtPr" | "del" | "moveFrom" | "Fallback"
    )
}

fn start(tag: &Start<'_>, body: &mut Body) {
    match tag.name() {
        "tab" | "ptab" => body.push("\t"),
        "br" if tag.attribute("type").as_deref() == Some("page") => body.break_page(),
        "lastRenderedPageBreak" => body.break_page(),
        "br" | "cr" => body.push("\n"),
        "noBreakHyphen" => body.push("-"),
        "tr" => body.begin_row(),
        "tc" => body.begin_cell(),
        "txbxContent" => body.begin_aside(),
        "ruby" => body.begin_ruby(),
        "rt" => body.begin_reading(),
        "docPr" => {
            body.begin_aside();
            body.push(&tag.attribute("descr").unwrap_or_default());
            body.end_aside();
        }
        _ => {}
    }
}

fn end(name: &str, body: &mut Body) {
    match name {
        "p" => {
            body.end_heading();
            body.end_paragraph();
        }
        "tc" => body.end_cell(),
        "tr" => body.end_row(),
        "txbxContent" => body.end_aside(),
        "ruby" => body.end_ruby(),
        "rt" => body.end_reading(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Reason, Value};

    use super::super::tests::{check_hostile, run, run_main};
    use super::*;
    use crate::structure::package::tests::zip_of;

    const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/sample.docx");

    /// Returns the text of a document with these body elements.
    fn text_of(body: &str) -> String {
        let document = format!("<w:document><w:body>{body}</w:body></w:document>");
        run_main(&FORMAT, "word/document.xml", &document).body
    }

    #[test]
    fn a_document_with_everything_is_read() {
        let found = run(&FORMAT, SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Counting quokkaberg\nThe herd of quokkaberg counts\tseven\nheads.\nName\tAge\n\
             Rudolf\t12\nCommented run\nKept inserted\nFirst half \u{c}second half\n\
             Council of Inari\nConfidential footer\nCheck this remark"
        );
        assert_eq!(own.text(Field::Title), Some("Reindeer census"));
        assert_eq!(own.text(Field::Headings), Some("Counting quokkaberg"));
        assert_eq!(own.text(Field::Author), Some("Aino Virtanen"));
        let keywords = Value::Text("herds tundra".into());
        assert!(own.fields.contains(&(Field::Keywords, keywords)));
        assert_eq!(own.text(Field::Description), Some("Draft for the council"));
        assert_eq!(own.text(Field::Lang), Some("en-GB"));
        assert_eq!(own.number(Field::Created), Some(1_770_091_506));
        assert_eq!(own.number(Field::Date), Some(1_770_177_906));
        assert_eq!(own.number(Field::Pages), Some(2));
    }

    #[test]
    fn what_is_no_text_of_the_document_is_left_out() {
        assert_eq!(
            text_of(
                "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t></w:r>\
                 <w:del><w:r><w:delText>gone</w:delText></w:r></w:del>\
                 <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>\
                 <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>b</w:t></w:r></w:p>"
            ),
            "ab"
        );
    }

    #[test]
    fn readings_follow_and_raised_numbers_stand_apart() {
        let ruby = |characters, reading| {
            format!(
                "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>{reading}</w:t></w:r></w:rt><w:rubyBase>\
                 <w:r><w:t>{characters}</w:t></w:r></w:rubyBase></w:ruby></w:r>"
            )
        };
        assert_eq!(
            text_of(&format!(
                "<w:p>{}{}<w:r><w:t>へ</w:t></w:r></w:p><w:p><w:t>next</w:t></w:p>",
                ruby("東", "とう"),
                ruby("京", "きょう")
            )),
            "東京へ\nとうきょう\nnext"
        );
        let raised =
            "<w:r><w:rPr><w:b/><w:vertAlign w:val='superscript'/></w:rPr><w:t>2</w:t></w:r>";
        assert_eq!(
            text_of(&format!(
                "<w:p><w:r><w:t>word</w:t></w:r>{raised}<w:r><w:t>, km</w:t></w:r>{raised}\
                 <w:r><w:t>, word2</w:t></w:r></w:p>"
            )),
            "word 2, km2, word2"
        );
    }

    #[test]
    fn hyphens_tabs_and_breaks_are_kept() {
        assert_eq!(
            text_of(
                "<w:p><w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t>\
                 <w:tab/><w:t>d</w:t><w:br/><w:t>e</w:t><w:br w:type='page'/></w:r></w:p>\
                 <w:p><w:r><w:lastRenderedPageBreak/><w:t>f</w:t></w:r></w:p>"
            ),
            "a-bc\td\ne\u{c}f"
        );
    }

    #[test]
    fn a_text_box_stands_once_and_after_its_paragraph() {
        let content = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>";
        let text = format!(
            "<w:p><w:r><w:t>be</w:t><mc:AlternateContent><mc:Choice>{content}</mc:Choice>\
             <mc:Fallback>{content}</mc:Fallback></mc:AlternateContent><w:t>fore</w:t></w:r></w:p>\
             <w:p><w:r><w:t>after</w:t></w:r></w:p>"
        );
        assert_eq!(text_of(&text), "before\nbox\nafter");
    }

    #[test]
    fn pictures_are_found_by_their_description() {
        assert_eq!(
            text_of(
                "<w:p><w:r><w:t>a</w:t><w:drawing><wp:docPr id='1' name='x' descr='A cat'/>\
                 </w:drawing><w:t>b</w:t></w:r></w:p>"
            ),
            "ab\nA cat"
        );
    }

    #[test]
    fn footnotes_follow_and_embedded_files_are_members() {
        let zip = zip_of(&[
            ("word/document.xml", b"<d><p><t>body</t></p></d>"),
            (
                "word/_rels/document.xml.rels",
                b"<r><Relationship Id='1' Type='x/endnotes' Target='end.xml'/>\
                  <Relationship Id='2' Type='x/footnotes' Target='/word/foot.xml'/>\
                  <Relationship Id='3' Type='x/footer' Target='gone.xml'/></r>",
            ),
            ("word/foot.xml", b"<f><p><t>foot</t></p></f>"),
            ("word/end.xml", b"<f><p><t>end</t></p></f>"),
            ("word/embeddings/table.xlsx", b"PK"),
            ("word/media/image1.png", b"png"),
        ]);
        let found = run(&FORMAT, &zip);
        assert_eq!(found.own().body, "body\nfoot\nend");
        assert_eq!(found.members.len(), 1);
        assert_eq!(found.members[0].name, "table.xlsx");
        assert_eq!(
            found.members[0].ipath.as_str(),
            "word/embeddings/table.xlsx"
        );
    }

    #[test]
    fn damage_in_one_part_leaves_the_others() {
        let zip = zip_of(&[
            ("word/document.xml", b"<d><p><t>body</t></p><t>tail</t>< "),
            ("docProps/core.xml", b"<c><dc:title>Title</dc:title></c>"),
        ]);
        let found = run(&FORMAT, &zip);
        assert_eq!(found.own().body, "body\ntail");
        assert_eq!(found.own().text(Field::Title), Some("Title"));
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
    }

    #[test]
    fn text_in_utf16_is_read() {
        let text = "<?xml version='1.0' encoding='UTF-16'?><d><p><t>žlutý</t></p></d>";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let zip = zip_of(&[("word/document.xml", &[b"\xff\xfe", &bytes[..]].concat())]);
        assert_eq!(run(&FORMAT, &zip).own().body, "žlutý");
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        check_hostile(&FORMAT, SAMPLE);
    }
}
