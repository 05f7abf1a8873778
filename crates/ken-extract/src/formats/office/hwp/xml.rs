//! HWPX: sections in XML, in a package like that of a book in EPUB.

use ken_core::{Document, Field};

use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::{add_once, add_time, date_by_creation, keywords};
use crate::structure::compound::objects;
use crate::structure::package::Package;
use crate::structure::xml::{End, Node, Start, Xml};
use crate::{Error, Format, Input, Member};

use super::section::link_target;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("HWPX", &["application/hwp+zip"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Created,
            Field::Date,
        ])
        .sections("page breaks")
        .members("embedded files")
        .in_worker();

/// More headers and footers than any document has.
const MAX_REPEATED: usize = 1000;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let mut package = Package::open(input, limits)?;
    if let Some(text) = package.xml("Contents/content.hpf") {
        package.tolerate(read_properties(&text, output.own()));
    }
    if let Some(manifest) = package.xml("META-INF/manifest.xml")
        && manifest.contains("encryption-data")
    {
        return Err(Error::encrypted(&limits.passwords));
    }
    let sections = sections(&package);
    if sections.is_empty() {
        return Err(Error::Malformed("there is no section".into()));
    }
    let mut reader = Reader::new(Body::new(limits.max_text_bytes));
    for section in sections {
        if let Some(text) = package.xml(&section) {
            package.tolerate(reader.read(&text));
        }
    }
    output.own().body = reader.finish();
    hand_on_objects(&mut package, output)?;
    package.finish()
}

/// Returns the parts that are sections, in order.
fn sections(package: &Package<'_>) -> Vec<String> {
    let number = |name: &str| {
        let name = name.to_ascii_lowercase();
        let number = name.strip_prefix("contents/section")?;
        number.strip_suffix(".xml")?.parse::<u32>().ok()
    };
    let names = package.names();
    let mut sections: Vec<(u32, String)> = names
        .filter_map(|name| Some((number(name)?, name.to_owned())))
        .collect();
    sections.sort_unstable();
    sections.into_iter().map(|(_, name)| name).collect()
}

fn read_properties(text: &str, document: &mut Document) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                let name = match tag.name() {
                    "meta" => tag.attribute("name").unwrap_or_default().to_lowercase(),
                    name => name.to_owned(),
                };
                let field = match name.as_str() {
                    "title" => Field::Title,
                    "creator" | "lastsaveby" => Field::Author,
                    "subject" | "description" => Field::Description,
                    "keyword" => Field::Keywords,
                    "language" => Field::Lang,
                    "createddate" => Field::Created,
                    "modifieddate" => Field::Date,
                    _ => continue,
                };
                let value = xml.text()?;
                match field {
                    Field::Created | Field::Date => add_time(document, field, &value),
                    Field::Keywords => {
                        keywords(&value).for_each(|keyword| document.join_text(field, keyword));
                    }
                    _ => add_once(document, field, &value),
                }
            }
            Node::End(tag) if tag.name() == "metadata" => break,
            _ => {}
        }
    }
    date_by_creation(document);
    Ok(())
}

/// Hands on objects of OLE; pictures are left out.
fn hand_on_objects(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let is_object = |name: &&str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("bindata/") && name.ends_with(".ole")
    };
    let names: Vec<String> = package
        .names()
        .filter(is_object)
        .map(str::to_owned)
        .collect();
    for name in names {
        match package.bytes(&name) {
            Ok(bytes) => {
                let object = objects::compound_within(&bytes).and_then(objects::of_file);
                if let Some((own, bytes)) = object {
                    output.member(Member {
                        ipath: output.child_ipath(&name),
                        name: own,
                        bytes,
                        ..Member::default()
                    })?;
                }
            }
            Err(error) => output.failed_member(&name, &name, error)?,
        }
    }
    Ok(())
}

struct Reader {
    body: Body,
    in_text: bool,
    /// Whether text is deleted, as tracked changes say.
    is_deleted: bool,
    /// The text outside of each open header or footer, and the texts of those that ended.
    outside: Vec<Body>,
    repeated: Vec<Body>,
}

impl Reader {
    fn new(body: Body) -> Self {
        Self {
            body,
            in_text: false,
            is_deleted: false,
            outside: Vec::new(),
            repeated: Vec::new(),
        }
    }

    fn read(&mut self, text: &str) -> Result<(), Error> {
        let mut xml = Xml::new(text);
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) if self.in_text && !self.is_deleted => self.body.push(&text),
                Node::Text(_) => {}
                Node::Start(tag) if is_skipped(tag.name()) => xml.skip()?,
                Node::Start(tag) if tag.name() == "stringParam" => {
                    let name = tag.attribute("name").unwrap_or_default().into_owned();
                    let value = xml.text()?;
                    match name.as_str() {
                        "Path" => self.body.link(&value),
                        "Command" if value.contains("://") => {
                            let target = link_target(&value);
                            target.iter().for_each(|target| self.body.link(target));
                        }
                        _ => {}
                    }
                }
                Node::Start(tag) => self.start(&tag),
                Node::End(tag) => self.end(&tag),
            }
            if self.body.is_full() {
                break;
            }
        }
        while let Some(outside) = self.outside.pop() {
            self.body = outside;
        }
        self.body.end_paragraph();
        xml.whole()
    }

    fn start(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "t" | "mainText" | "subText" => {
                self.in_text = true;
                match tag.name() {
                    "mainText" => self.body.begin_ruby(),
                    "subText" => self.body.begin_reading(),
                    _ => {}
                }
            }
            "p" if tag.attribute("pageBreak").as_deref() == Some("1") => self.body.break_page(),
            "tab" => self.body.push("\t"),
            "lineBreak" => self.body.push("\n"),
            "nbSpace" | "fwSpace" => self.body.push(" "),
            "hyphen" => self.body.push("-"),
            "deleteBegin" => self.is_deleted = true,
            "deleteEnd" => self.is_deleted = false,
            "tbl" => self.body.end_paragraph(),
            "tr" => self.body.begin_row(),
            "tc" => self.body.begin_cell(),
            "header" | "footer" if self.outside.len() < MAX_REPEATED => {
                let outside = self.body.apart();
                self.outside.push(outside);
            }
            name if is_aside(name) => self.body.begin_aside(),
            _ => {}
        }
    }

    fn end(&mut self, tag: &End<'_>) {
        match tag.name() {
            "t" => self.in_text = false,
            "mainText" => self.in_text = false,
            "subText" => {
                self.in_text = false;
                self.body.end_reading();
                self.body.end_ruby();
            }
            "p" => self.body.end_paragraph(),
            "tc" => self.body.end_cell(),
            "tr" => self.body.end_row(),
            "header" | "footer" => {
                if let Some(outside) = self.outside.pop() {
                    let read = std::mem::replace(&mut self.body, outside);
                    if self.repeated.len() < MAX_REPEATED {
                        self.repeated.push(read);
                    }
                }
            }
            name if is_aside(name) => self.body.end_aside(),
            _ => {}
        }
    }

    fn finish(mut self) -> String {
        for text in std::mem::take(&mut self.repeated) {
            self.body.once(&text.finish().replace('\u{c}', "\n"));
        }
        self.body.finish()
    }
}

/// Returns whether an element holds text beside that of its paragraph.
fn is_aside(name: &str) -> bool {
    matches!(
        name,
        "footNote" | "endNote" | "hiddenComment" | "fieldBegin" | "drawText" | "caption"
    )
}

/// Returns whether an element has no text for people: properties, formulas, and the remarks that the program writes about each picture.
fn is_skipped(name: &str) -> bool {
    matches!(name, "secPr" | "linesegarray" | "script" | "shapeComment")
}
