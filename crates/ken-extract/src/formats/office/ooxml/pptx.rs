//! Presentations (.pptx, .pptm, .ppsx, .ppsm, .potx, .potm): PresentationML, ECMA-376 part 1,
//! chapter 19.
//!
//! There is one page per slide, in the order of the presentation, each with its charts, diagrams,
//! comments and notes. Masters and layouts are left out, since their text is a prompt.

use std::collections::HashMap;

use ken_core::{Document, Field};

use super::{drawing, read_part, related, relations, set_pages};
use crate::output::body::Body;
use crate::structure::package::Package;
use crate::structure::xml::{Node, Xml};
use crate::{Error, Format, Limits};

pub(in crate::formats) const FORMAT: Format = Format::new(
    "PowerPoint",
    &[
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.openxmlformats-officedocument.presentationml.template",
        "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
        "application/vnd.ms-powerpoint.template.macroenabled.12",
    ],
    |input, output| super::extract(input, output, "ppt/presentation.xml", read),
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
.sections("slides")
.members("embedded files")
.in_worker()
.version(3);

/// Kinds of parts of a slide, in the order in which they are appended.
const SLIDE_PARTS: &[&str] = &["chart", "diagramData", "comments", "notesSlide"];

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let slides = slides(package, main);
    for (position, slide) in slides.iter().enumerate() {
        if position > 0 {
            body.end_page();
        }
        if body.is_full() {
            break;
        }
        read_slide(package, slide, &mut body);
    }
    document.body = body.finish();
    set_pages(document, slides.len());
}

fn read_slide(package: &mut Package<'_>, slide: &str, body: &mut Body) {
    let relations = relations(package, slide);
    read_part(package, slide, |text| drawing::read(text, body));
    for kind in SLIDE_PARTS {
        for part in related(&relations, kind) {
            read_part(package, part, |text| drawing::read(text, body));
        }
    }
}

/// Returns the slides in order, each once.
fn slides(package: &mut Package<'_>, main: &str) -> Vec<String> {
    let relations = relations(package, main);
    let mut ids = Vec::new();
    read_part(package, main, |text| read_slide_ids(text, &mut ids));
    let mut targets: HashMap<&str, &str> = relations
        .iter()
        .map(|relation| (relation.id.as_str(), relation.target.as_str()))
        .collect();
    ids.iter()
        .filter_map(|id| targets.remove(id.as_str()))
        .map(str::to_owned)
        .collect()
}

fn read_slide_ids(text: &str, ids: &mut Vec<String>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "sldId"
            && let Some(id) = tag.prefixed_attribute("id")
        {
            ids.push(id.into_owned());
        }
    }
    xml.whole()
}

#[cfg(test)]
mod tests {
    use ken_core::Field;

    use super::super::tests::{check_hostile, run, run_main};
    use super::*;
    use crate::structure::package::tests::zip_of;

    const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/sample.pptx");

    #[test]
    fn slides_are_pages_with_tables_charts_and_notes() {
        let found = run(&FORMAT, SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Moraine snowfinch\nFirst slide\nSpeak slowly here\u{c}\
             Table of ice\nYear\tMetres\n1999\t42\nMelting\nArctic\nAlps"
        );
        assert_eq!(own.text(Field::Title), Some("Glacier talk"));
        assert_eq!(own.text(Field::Author), Some("Siv Lund"));
        assert_eq!(own.number(Field::Pages), Some(2));
        assert_eq!(found.members.len(), 1, "the sheet of the chart");
    }

    #[test]
    fn descriptions_are_text_and_slide_numbers_are_not() {
        let mut body = Body::new(100);
        let slide = "<cNvPr descr='A cat'/><p><r><t>a</t></r><fld type='slidenum'><t>7</t></fld><br/>\
                     <fld type='datetime'><t>May</t></fld></p>";
        drawing::read(slide, &mut body).unwrap();
        assert_eq!(body.finish(), "A cat\na\nMay");
    }

    #[test]
    fn a_slide_that_is_listed_often_is_read_once() {
        let ids = "<sldId id='1' r:id='rId1'/>".repeat(1000);
        let document = run_main(&FORMAT, "ppt/presentation.xml", &format!("<p>{ids}</p>"));
        assert_eq!(document.body, "");
        assert_eq!(document.number(Field::Pages), Some(0));
    }

    #[test]
    fn slides_are_counted_whatever_the_properties_say() {
        let zip = zip_of(&[
            ("ppt/presentation.xml", b"<p/>"),
            ("docProps/app.xml", b"<p><Pages>7</Pages></p>"),
        ]);
        let found = run(&FORMAT, &zip);
        let pages = found
            .own()
            .fields
            .iter()
            .filter(|(field, _)| *field == Field::Pages);
        assert_eq!(pages.count(), 1);
        assert_eq!(found.own().number(Field::Pages), Some(0));
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        check_hostile(&FORMAT, SAMPLE);
    }
}
