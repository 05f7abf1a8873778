//! Drawings of Visio (.vsdx, .vsdm, .vstx, .vssx): MS-VSDX.
//!
//! There is one page per drawing page: its name, the texts of its shapes with their data and links, and those of its background.
//! Comments follow. A shape without a text of its own shows that of its master.

use std::collections::{HashMap, HashSet};

use ken_core::{Document, Field};

use super::{Relation, links, read_part, related, relations, targets};
use crate::output::body::Body;
use crate::output::metadata::set_pages;
use crate::structure::package::Package;
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Limits};

pub(in crate::formats) const FORMAT: Format = Format::new(
    "Visio",
    &["application/vnd.ms-visio.drawing.main+xml"],
    |input, output| super::extract(input, output, "visio/document.xml", read),
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
.sections("pages")
.members("embedded files")
.in_worker();

/// More shapes than any drawing has.
const MAX_SHAPES: usize = 100_000;

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let main_relations = relations(package, main);
    let masters = masters(package, &main_relations);
    let mut body = Body::new(limits.max_text_bytes);
    let mut n_pages = 0;
    for list in related(&main_relations, "pages")
        .map(str::to_owned)
        .collect::<Vec<_>>()
    {
        let relations = relations(package, &list);
        let mut pages = Vec::new();
        read_part(package, &list, |text| read_pages(text, &mut pages));
        let mut targets = targets(&relations);
        for page in pages {
            if body.is_full() {
                break;
            }
            if n_pages > 0 {
                body.end_page();
            }
            n_pages += 1;
            body.line(&page.name);
            if let Some(part) = targets.remove(page.id.as_str()) {
                read_page(package, part, &masters, &mut body);
            }
        }
    }
    for part in related(&main_relations, "comments") {
        read_part(package, part, |text| read_comments(text, &mut body));
    }
    document.body = body.finish();
    set_pages(document, n_pages);
}

/// The name of a page, and the identifier of the relation to its part.
struct Page {
    name: String,
    id: String,
}

fn read_pages(text: &str, pages: &mut Vec<Page>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "Page" | "Master" => pages.push(Page {
                name: tag.attribute("Name").unwrap_or_default().into_owned(),
                id: String::new(),
            }),
            "Rel" => {
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                if let Some(page) = pages.last_mut() {
                    page.id = id.into_owned();
                }
            }
            _ => {}
        }
    }
    xml.whole()
}

/// Returns the texts of the masters, by their identifiers.
fn masters(package: &mut Package<'_>, main: &[Relation]) -> HashMap<String, String> {
    let mut texts = HashMap::new();
    for list in related(main, "masters") {
        let relations = relations(package, list);
        let mut ids = Vec::new();
        read_part(package, list, |text| read_master_ids(text, &mut ids));
        let targets = targets(&relations);
        for (master, id) in ids {
            if let Some(part) = targets.get(id.as_str()) {
                let mut shapes = Shapes::default();
                read_part(package, part, |text| {
                    shapes.read(text, &[], &HashMap::new())
                });
                texts.insert(master, shapes.texts.join("\n"));
            }
        }
    }
    texts
}

fn read_master_ids(text: &str, ids: &mut Vec<(String, String)>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut master = String::new();
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "Master" => master = tag.attribute("ID").unwrap_or_default().into_owned(),
            "Rel" if ids.len() < MAX_SHAPES => {
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                ids.push((std::mem::take(&mut master), id.into_owned()));
            }
            _ => {}
        }
    }
    xml.whole()
}

fn read_page(
    package: &mut Package<'_>,
    part: &str,
    masters: &HashMap<String, String>,
    body: &mut Body,
) {
    let relations = relations(package, part);
    let mut shapes = Shapes::default();
    read_part(package, part, |text| shapes.read(text, &relations, masters));
    for text in &shapes.texts {
        for line in text.lines() {
            body.line(line);
        }
    }
    shapes.links.iter().for_each(|target| body.link(target));
    body.end_paragraph();
    super::read_metafiles(package, &relations, body);
}

/// The texts of a page or master.
#[derive(Default)]
struct Shapes {
    texts: Vec<String>,
    links: Vec<String>,
    /// For each open shape: its master, and whether it has a text of its own.
    open: Vec<(Option<String>, bool)>,
    /// The texts of masters that stand for the label that a program wrote into many shapes.
    seen: HashSet<String>,
}

impl Shapes {
    fn read(
        &mut self,
        text: &str,
        relations: &[Relation],
        masters: &HashMap<String, String>,
    ) -> Result<(), Error> {
        let links = links(relations);
        self.links
            .extend(links.values().map(|target| (*target).to_owned()));
        let mut xml = Xml::new(text);
        let mut section = String::new();
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) => match tag.name() {
                    "Shape" => {
                        let master = tag.attribute("Master").map(|id| id.into_owned());
                        self.open.push((master, false));
                    }
                    "Text" => {
                        let text = shown(&mut xml)?;
                        if let Some((_, has_text)) = self.open.last_mut() {
                            *has_text = true;
                        }
                        self.add(text.trim());
                    }
                    "Section" => section = tag.attribute("N").unwrap_or_default().into_owned(),
                    "Cell" => self.cell(&section, &tag),
                    _ => {}
                },
                Node::End(tag) if tag.name() == "Section" => section.clear(),
                Node::End(tag) if tag.name() == "Shape" => {
                    if let Some((Some(master), false)) = self.open.pop()
                        && let Some(text) = masters.get(&master)
                        && self.seen.insert(master)
                    {
                        self.add(text);
                    }
                }
                _ => {}
            }
            if self.texts.len() > MAX_SHAPES {
                break;
            }
        }
        xml.whole()
    }

    fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.texts.push(text.to_owned());
        }
    }

    /// Reads a cell of a table: data of the shape, or a link.
    fn cell(&mut self, section: &str, tag: &Start<'_>) {
        let name = tag.attribute("N").unwrap_or_default();
        let value = tag.attribute("V").unwrap_or_default();
        match (section, &*name) {
            ("Property", "Label" | "Value") if !value.is_empty() => {
                let has_letter = value.contains(char::is_alphabetic);
                if has_letter && self.seen.insert(format!("{name} {value}")) {
                    self.add(&value);
                }
            }
            ("Hyperlink", "Address") if !value.is_empty() => self.links.push(value.into_owned()),
            _ => {}
        }
    }
}

/// Returns the text of a shape, whose formatting is empty elements and whose fields are text.
fn shown(xml: &mut Xml<'_>) -> Result<String, Error> {
    // A line separator stands for the end of a line within a paragraph.
    Ok(xml.text()?.replace('\u{2028}', "\n"))
}

/// Reads comments (MS-VSDX 2.2.5.4): the list of authors, and entries that name one by number.
fn read_comments(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut authors = HashMap::new();
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        match tag.name() {
            "AuthorEntry" => {
                let name = tag.attribute("Name").unwrap_or_default().into_owned();
                authors.insert(tag.attribute("ID").unwrap_or_default().into_owned(), name);
            }
            "CommentEntry" => {
                let author = tag.attribute("AuthorID").unwrap_or_default().into_owned();
                let comment = xml.text()?;
                body.end_paragraph();
                body.author(authors.get(&author).map_or("", String::as_str));
                body.push(comment.trim());
                body.end_paragraph();
            }
            _ => {}
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

    fn drawing() -> Vec<u8> {
        zip_of(&[
            ("visio/document.xml", b"<VisioDocument/>"),
            (
                "visio/_rels/document.xml.rels",
                b"<r><Relationship Id='1' Type='x/pages' Target='pages/pages.xml'/>\
                  <Relationship Id='2' Type='x/masters' Target='masters/masters.xml'/>\
                  <Relationship Id='3' Type='x/comments' Target='comments.xml'/></r>",
            ),
            (
                "visio/masters/masters.xml",
                b"<Masters><Master ID='4'><Rel r:id='m1'/></Master></Masters>",
            ),
            (
                "visio/masters/_rels/masters.xml.rels",
                b"<r><Relationship Id='m1' Type='x/master' Target='master1.xml'/></r>",
            ),
            (
                "visio/masters/master1.xml",
                b"<MasterContents><Shapes><Shape><Text>Legend</Text></Shape></Shapes></MasterContents>",
            ),
            (
                "visio/pages/pages.xml",
                b"<Pages><Page ID='0' Name='Plan'><Rel r:id='r1'/></Page><Page Name='More'/></Pages>",
            ),
            (
                "visio/pages/_rels/pages.xml.rels",
                b"<r><Relationship Id='r1' Type='x/page' Target='page1.xml'/></r>",
            ),
            (
                "visio/pages/page1.xml",
                b"<PageContents><Shapes><Shape ID='1' Master='4'/><Shape ID='2' Master='4'/><Shape \
                  Master='4'><Text><cp IX='0'/>Pump <fld IX='0'>7</fld>\n</Text><Section N='Property'>\
                  <Row><Cell N='Label' V='Owner'/><Cell N='Value' V='Ina'/><Cell N='Format' V='x'/></Row>\
                  </Section><Section N='Hyperlink'><Row><Cell N='Address' V='https://example.org'/></Row>\
                  </Section></Shape></Shapes></PageContents>",
            ),
            (
                "visio/comments.xml",
                b"<Comments><AuthorList><AuthorEntry ID='1' Name='Bo'/></AuthorList><CommentList>\
                  <CommentEntry AuthorID='1'>check</CommentEntry></CommentList></Comments>",
            ),
        ])
    }

    #[test]
    fn shapes_masters_links_and_comments_are_read() {
        let found = run(&FORMAT, &drawing());
        assert_eq!(found.own().failure, None);
        assert_eq!(
            found.own().body,
            "Plan\nLegend\nPump 7\nOwner\nIna\nhttps://example.org\u{c}More\nBo: check"
        );
        assert_eq!(found.own().number(Field::Pages), Some(2));
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        check_hostile(&FORMAT, &drawing());
    }
}
