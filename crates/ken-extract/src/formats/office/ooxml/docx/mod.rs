//! Word documents (.docx, .docm, .dotx, .dotm): WordprocessingML, ECMA-376 part 1, chapter 17.
//!
//! The body comes first, then footnotes, endnotes, headers, footers and comments. Deleted and
//! moved-away text and field codes are left out, but for the targets of links. Pages are those of
//! the last program that laid out the document.

use std::collections::{BTreeMap, HashSet};

use ken_core::{Document, Field};

use super::previews::{self, Previews};
use super::{Relation, drawing, links, read_part, related, relations};
use crate::formats::office::field;
use crate::output::body::{Body, is_note_number};
use crate::output::metadata::set_pages;
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
.version(11);

/// Kinds of parts that hold text like the main part, in the order in which they are appended.
const TEXT_PARTS: &[&str] = &["footnotes", "endnotes"];
/// Kinds of parts that sections repeat.
const REPEATED_PARTS: &[&str] = &["header", "footer"];
/// More styles of headings than any document has.
const MAX_STYLES: usize = 1000;
/// More bytes than the instruction of a field has.
const MAX_INSTRUCTION_BYTES: usize = 4096;

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut reader = Reader {
        styles: HashSet::new(),
        body: Body::new(limits.max_text_bytes),
        is_flat: false,
    };
    let relations = relations(package, main);
    for part in related(&relations, "styles") {
        read_part(package, part, |text| {
            heading_styles(text, &mut reader.styles)
        });
    }
    let mut drawings = vec![relations];
    let mut previews = Previews::default();
    read_part(package, main, |text| {
        previews = previews::of_objects(text);
        reader.read(text, &drawings[0])
    });
    drawings[0].retain(|relation| !previews.ids.contains(&relation.id));
    let parts =
        |kind: &&str| -> Vec<String> { related(&drawings[0], kind).map(str::to_owned).collect() };
    let once: Vec<String> = TEXT_PARTS.iter().flat_map(parts).collect();
    let repeated: Vec<String> = REPEATED_PARTS.iter().flat_map(parts).collect();
    let comments = parts(&"comments");
    for part in once {
        drawings.push(reader.read_part(package, &part));
    }
    for part in repeated {
        drawings.push(reader.read_repeated(package, &part));
    }
    for part in comments {
        drawings.push(reader.read_part(package, &part));
    }
    for relations in drawings {
        drawing::read_related(package, &relations, &mut reader.body);
    }
    reader.body.finish_into(document);
    raise_pages(document);
}

/// Reads a document of Word 2003, whose elements for text are the same.
pub(super) fn read_flat(text: &str, document: &mut Document, limits: &Limits) -> Result<(), Error> {
    let mut reader = Reader {
        styles: HashSet::new(),
        body: Body::new(limits.max_text_bytes),
        is_flat: true,
    };
    let result = reader.read(text, &[]);
    reader.body.finish_into(document);
    result
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

/// Reads the parts of a document.
struct Reader {
    styles: HashSet<String>,
    body: Body,
    /// Whether notes, comments and headers are within the text, as Word 2003 has them.
    is_flat: bool,
}

impl Reader {
    /// Reads a part; returns its relations.
    fn read_part(&mut self, package: &mut Package<'_>, part: &str) -> Vec<Relation> {
        let relations = relations(package, part);
        read_part(package, part, |text| self.read(text, &relations));
        relations
    }

    /// Reads a part whose text is left out if another part has the same.
    fn read_repeated(&mut self, package: &mut Package<'_>, part: &str) -> Vec<Relation> {
        let before = self.body.apart();
        let relations = self.read_part(package, part);
        self.body.add_once(before);
        relations
    }

    fn read(&mut self, text: &str, relations: &[Relation]) -> Result<(), Error> {
        let mut part = PartReader {
            styles: &self.styles,
            links: links(relations),
            body: &mut self.body,
            in_text: false,
            in_instruction: false,
            is_raised: false,
            is_drop_cap: false,
            instruction: String::new(),
            targets: Vec::new(),
            is_flat: self.is_flat,
            annotations: Vec::new(),
        };
        part.read(&mut Xml::new(text))
    }
}

/// Reads one part.
struct PartReader<'r> {
    styles: &'r HashSet<String>,
    links: BTreeMap<&'r str, &'r str>,
    body: &'r mut Body,
    in_text: bool,
    in_instruction: bool,
    is_raised: bool,
    /// Whether the paragraph is the large first letter of the next one.
    is_drop_cap: bool,
    instruction: String,
    /// The targets of the open links.
    targets: Vec<Option<String>>,
    is_flat: bool,
    /// Whether each open annotation of Word 2003 is a comment.
    annotations: Vec<bool>,
}

impl PartReader<'_> {
    fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) => self.text(&text),
                Node::Start(tag) => match tag.name() {
                    "t" => self.in_text = true,
                    "instrText" => self.in_instruction = true,
                    "pPr" => self.paragraph(xml)?,
                    "r" => self.is_raised = false,
                    "rPr" => self.is_raised = has_raised_text(xml)?,
                    "ddList" => self.choices(xml)?,
                    "sectPr" if self.is_flat => {}
                    name if is_skipped(name) => xml.skip()?,
                    _ if self.is_flat && self.start_of_2003(&tag) => {}
                    _ => self.start(&tag),
                },
                Node::End(tag) => match tag.name() {
                    "t" => self.in_text = false,
                    "instrText" => self.in_instruction = false,
                    name if self.is_flat && self.end_of_2003(name) => {}
                    name => self.end(name),
                },
            }
            if self.body.is_full() {
                break;
            }
        }
        self.body.end_paragraph();
        xml.whole()
    }

    fn text(&mut self, text: &str) {
        if self.in_text {
            if self.is_raised && is_note_number(self.body.joined(), text) {
                self.body.push(" ");
            }
            self.body.push(text);
        } else if self.in_instruction && self.instruction.len() < MAX_INSTRUCTION_BYTES {
            self.instruction.push_str(text);
        }
    }

    fn paragraph(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        let properties = ParagraphProperties::read(xml, self.styles)?;
        if properties.is_heading {
            self.body.begin_heading();
        }
        self.is_drop_cap = properties.is_drop_cap;
        Ok(())
    }

    /// Reads a form field with choices: the chosen one is text, the others follow as an aside.
    fn choices(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        let mut choices = Vec::new();
        let mut chosen = 0;
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) => match tag.name() {
                    "result" => chosen = tag.number("val").unwrap_or(0),
                    "default" if chosen == 0 => chosen = tag.number("val").unwrap_or(0),
                    "listEntry" => choices.extend(tag.attribute("val").map(|val| val.into_owned())),
                    _ => {}
                },
                Node::End(tag) if tag.name() == "ddList" => break,
                _ => {}
            }
        }
        for (position, choice) in choices.iter().enumerate() {
            if position == chosen {
                self.body.push(choice);
            } else {
                self.body.begin_aside();
                self.body.push(choice);
                self.body.end_aside();
            }
        }
        Ok(())
    }

    /// Begins what Word 2003 has within the text and later ones in parts of their own; returns whether
    /// the element is such.
    fn start_of_2003(&mut self, tag: &Start<'_>) -> bool {
        match tag.name() {
            "footnote" | "endnote" => self.body.begin_aside(),
            "annotation" => {
                let is_comment = tag.attribute("type").as_deref() == Some("Word.Comment");
                self.annotations.push(is_comment);
                if is_comment {
                    self.body.begin_aside();
                    let author = tag.attribute("author").unwrap_or_default();
                    self.body.author(&author);
                }
            }
            _ => return false,
        }
        true
    }

    fn end_of_2003(&mut self, name: &str) -> bool {
        let is_aside = match name {
            "footnote" | "endnote" => true,
            "annotation" => self.annotations.pop() == Some(true),
            _ => return false,
        };
        if is_aside {
            self.body.end_paragraph();
            self.body.end_aside();
        }
        true
    }

    fn start(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "tab" | "ptab" => self.body.push("\t"),
            "br" if tag.attribute("type").as_deref() == Some("page") => self.body.break_page(),
            "lastRenderedPageBreak" => self.body.break_page(),
            "br" | "cr" => self.body.push("\n"),
            "noBreakHyphen" => self.body.push("-"),
            "tr" => self.body.begin_row(),
            "tc" => self.body.begin_cell(),
            "txbxContent" => self.body.begin_aside(),
            "ruby" => self.body.begin_ruby(),
            "rt" => self.body.begin_reading(),
            "hyperlink" => {
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                let target = self.links.get(&*id);
                self.targets.push(target.map(|target| (*target).to_owned()));
            }
            // Of Word 2003.
            "hlink" => {
                let target = tag.attribute("dest");
                self.targets.push(target.map(|target| target.into_owned()));
            }
            // The link of a picture or shape.
            "hlinkClick" => {
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                if let Some(target) = self.links.get(&*id) {
                    self.body.link(target);
                }
            }
            "fldChar" => match tag.attribute("fldCharType").as_deref() {
                Some("begin") => self.instruction.clear(),
                Some("separate" | "end") => self.end_instruction(),
                _ => {}
            },
            "fldSimple" => {
                self.instruction = tag.attribute("instr").unwrap_or_default().into_owned();
                self.end_instruction();
            }
            "comment" => {
                self.body
                    .author(&tag.attribute("author").unwrap_or_default());
            }
            "docPr" => {
                for name in ["title", "descr"] {
                    let text = tag.attribute(name).unwrap_or_default();
                    if !drawing::names_a_picture(&text) {
                        self.body.begin_aside();
                        self.body.push(&text);
                        self.body.end_aside();
                    }
                }
            }
            _ => {}
        }
    }

    fn end_instruction(&mut self) {
        if let Some(target) = field::link_target(&self.instruction) {
            self.body.link(&target);
        } else if let Some((characters, reading)) = field::ruby(&self.instruction) {
            self.body.ruby(characters, reading);
        }
        self.instruction.clear();
    }

    fn end(&mut self, name: &str) {
        match name {
            // The letter belongs to the word that follows.
            "p" if std::mem::take(&mut self.is_drop_cap) => {}
            "p" => {
                self.body.end_heading();
                self.body.end_paragraph();
            }
            "hyperlink" | "hlink" => {
                if let Some(target) = self.targets.pop().flatten() {
                    self.body.link(&target);
                }
            }
            "tc" => self.body.end_cell(),
            "tr" => self.body.end_row(),
            "txbxContent" => self.body.end_aside(),
            "ruby" => self.body.end_ruby(),
            "rt" => self.body.end_reading(),
            _ => {}
        }
    }
}

/// What the properties of a paragraph say about its text.
#[derive(Default)]
struct ParagraphProperties {
    is_heading: bool,
    is_drop_cap: bool,
}

impl ParagraphProperties {
    fn read(xml: &mut Xml<'_>, styles: &HashSet<String>) -> Result<Self, Error> {
        let mut found = Self::default();
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) => {
                    let value = tag.attribute("val").unwrap_or_default();
                    match tag.name() {
                        "pStyle" => found.is_heading |= styles.contains(&*value),
                        // 9 is the level of body text.
                        "outlineLvl" => found.is_heading |= *value != *"9",
                        "framePr" => {
                            let drop_cap = tag.attribute("dropCap");
                            found.is_drop_cap = drop_cap.is_some_and(|kind| kind != "none");
                        }
                        _ => {}
                    }
                    xml.skip()?;
                }
                Node::End(tag) if tag.name() == "pPr" => break,
                _ => {}
            }
        }
        Ok(found)
    }
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

#[cfg(test)]
mod tests;
