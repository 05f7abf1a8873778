//! Presentations (.pptx, .pptm, .ppsx, .ppsm, .potx, .potm): PresentationML, ECMA-376 part 1,
//! chapter 19.
//!
//! There is one page per slide, in the order of the presentation, each with its charts, diagrams,
//! comments and notes. What masters, layouts, headers and footers show on many slides stands once;
//! the prompts of their placeholders are left out.

use std::collections::{HashMap, HashSet};

use ken_core::{Document, Field};

use super::drawing::{self, Context};
use super::previews::{self, Previews};
use super::{Relation, people, read_part, related, relations, targets};
use crate::output::body::Body;
use crate::output::metadata::set_pages;
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
.version(10);

/// The text of a presentation as it is read.
struct Reader {
    body: Body,
    /// Names of the authors of comments, by their identifiers.
    authors: HashMap<String, String>,
    /// The masters and layouts that were read.
    masters: HashSet<String>,
}

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let relations = relations(package, main);
    let slides = slides(package, main, &relations);
    let mut reader = Reader {
        body: Body::new(limits.max_text_bytes),
        // 19.4.3, and MS-PPTX 2.16.3.3 for newer comments.
        authors: people(package, &relations, &["commentAuthors", "authors"], "name"),
        masters: HashSet::new(),
    };
    for (position, slide) in slides.iter().enumerate() {
        if position > 0 {
            reader.body.end_page();
        }
        if reader.body.is_full() {
            break;
        }
        reader.slide(package, slide);
    }
    document.body = reader.body.finish();
    set_pages(document, slides.len());
}

impl Reader {
    fn slide(&mut self, package: &mut Package<'_>, slide: &str) {
        let relations = self.part(package, slide, false);
        drawing::read_related(package, &relations, &mut self.body);
        for kind in ["comments", "notesSlide"] {
            for part in related(&relations, kind) {
                self.part(package, part, false);
            }
        }
        for layout in related(&relations, "slideLayout") {
            let relations = self.master(package, layout);
            for master in related(&relations, "slideMaster") {
                self.master(package, master);
            }
        }
    }

    fn part(&mut self, package: &mut Package<'_>, part: &str, is_master: bool) -> Vec<Relation> {
        let mut relations = relations(package, part);
        let mut previews = Previews::default();
        let context = Context {
            authors: Some(&self.authors),
            is_master,
            ..Context::new(&relations)
        };
        read_part(package, part, |text| {
            previews = previews::of_objects(text);
            drawing::read(text, context, &mut self.body)
        });
        relations.retain(|relation| !previews.ids.contains(&relation.id));
        relations
    }

    /// Reads a master or layout at its first occurrence.
    fn master(&mut self, package: &mut Package<'_>, part: &str) -> Vec<Relation> {
        match self.masters.insert(part.to_owned()) {
            true => self.part(package, part, true),
            false => Vec::new(),
        }
    }
}

/// Returns the slides in order, each once.
fn slides(package: &mut Package<'_>, main: &str, relations: &[Relation]) -> Vec<String> {
    let mut ids = Vec::new();
    read_part(package, main, |text| read_slide_ids(text, &mut ids));
    let mut targets = targets(relations);
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
        let slide = "<cNvPr title='Pet' descr='A cat'/><p><r><t>a</t></r><fld type='slidenum'><t>7</t></fld><br/>\
                     <fld type='datetime'><t>May</t></fld></p>";
        drawing::read(slide, Context::default(), &mut body).unwrap();
        assert_eq!(body.finish(), "Pet\nA cat\na\nMay");
    }

    #[test]
    fn what_slides_repeat_stands_once() {
        let slide =
            b"<sld><sp><t>slide</t></sp><sp><ph type='ftr'/><p><t>our footer</t></p></sp></sld>";
        let layout = b"<sldLayout><sp><ph type='title'/><p><t>Click to edit</t></p></sp>\
                       <sp><p><t>our logo</t></p></sp></sldLayout>";
        let to_layout = b"<r><Relationship Id='1' Type='x/slideLayout' Target='../l/1.xml'/></r>";
        let zip = zip_of(&[
            (
                "ppt/presentation.xml",
                b"<p><sldId r:id='1'/><sldId r:id='2'/></p>",
            ),
            (
                "ppt/_rels/presentation.xml.rels",
                b"<r><Relationship Id='1' Type='x/slide' Target='s/1.xml'/>\
                  <Relationship Id='2' Type='x/slide' Target='s/2.xml'/></r>",
            ),
            ("ppt/s/1.xml", slide),
            ("ppt/s/2.xml", slide),
            ("ppt/s/_rels/1.xml.rels", to_layout),
            ("ppt/s/_rels/2.xml.rels", to_layout),
            ("ppt/l/1.xml", layout),
        ]);
        let body = "slide\nour footer\nour logo\u{c}slide";
        assert_eq!(run(&FORMAT, &zip).own().body, body);
    }

    #[test]
    fn links_comments_and_new_charts_are_read() {
        let zip = zip_of(&[
            ("ppt/presentation.xml", b"<p><sldId r:id='1'/></p>"),
            (
                "ppt/_rels/presentation.xml.rels",
                b"<r><Relationship Id='1' Type='x/slide' Target='s/1.xml'/>\
                  <Relationship Id='2' Type='x/commentAuthors' Target='a.xml'/></r>",
            ),
            ("ppt/a.xml", b"<l><cmAuthor id='7' name='Ina Falk'/></l>"),
            (
                "ppt/s/1.xml",
                b"<sld><p><r><rPr><hlinkClick r:id='4'/></rPr><t>here_x000B_now</t></r></p></sld>",
            ),
            (
                "ppt/s/_rels/1.xml.rels",
                b"<r><Relationship Id='2' Type='x/comments' Target='c.xml'/>\
                  <Relationship Id='3' Type='x/chartEx' Target='x.xml'/>\
                  <Relationship Id='4' Type='x/hyperlink' Target='https://example.org' \
                  TargetMode='External'/></r>",
            ),
            (
                "ppt/s/c.xml",
                b"<l><cm authorId='7'><text>nice</text></cm></l>",
            ),
            (
                "ppt/s/x.xml",
                b"<cx:c><cx:strDim><cx:pt idx='0'>Category</cx:pt></cx:strDim><cx:numDim>\
                  <cx:pt>5</cx:pt></cx:numDim><cx:tx><cx:v>Waterfall</cx:v></cx:tx></cx:c>",
            ),
        ]);
        assert_eq!(
            run(&FORMAT, &zip).own().body,
            "here\nnow\nhttps://example.org\nCategory\n5\nWaterfall\nIna Falk: nice"
        );
    }

    #[test]
    fn numbers_of_a_chart_are_text_if_no_sheet_has_them() {
        const CHART: &[u8] = b"<c><cat><strCache><pt><v>Alps</v></pt></strCache></cat><val><numRef><f>A1</f><numCache>\
            <formatCode>General</formatCode><pt idx='0'><v>38.159999999999997</v></pt></numCache></numRef></val></c>";
        let body_with = |sheet: &str| {
            let zip = zip_of(&[
                ("ppt/presentation.xml", b"<p><sldId r:id='1'/></p>"),
                (
                    "ppt/_rels/presentation.xml.rels",
                    b"<r><Relationship Id='1' Type='x/slide' Target='s/1.xml'/></r>",
                ),
                ("ppt/s/1.xml", b"<sld><p><r><t>Ice</t></r></p></sld>"),
                (
                    "ppt/s/_rels/1.xml.rels",
                    b"<r><Relationship Id='2' Type='x/chart' Target='c.xml'/></r>",
                ),
                ("ppt/s/c.xml", CHART),
                (
                    "ppt/s/_rels/c.xml.rels",
                    b"<r><Relationship Id='1' Type='x/package' Target='../e/sheet.xlsx'/></r>",
                ),
                (sheet, b"PK"),
            ]);
            run(&FORMAT, &zip).own().body.clone()
        };
        assert_eq!(body_with("ppt/e/other.xlsx"), "Ice\nAlps\n38.16");
        assert_eq!(body_with("ppt/e/sheet.xlsx"), "Ice\nAlps");
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
