//! DrawingML (ECMA-376 part 1, chapters 20 and 21): text of slides, shapes, charts and diagrams.

use std::collections::{BTreeMap, HashMap};

use memchr::memmem;

use super::{Relation, links, read_part, related, relations};
use crate::Error;
use crate::formats::office::escape::unescape;
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::output::body::Body;
use crate::structure::package::Package;
use crate::structure::xml::{End, Node, Start, Xml};

/// What a part refers to, and what of it is text.
#[derive(Clone, Copy, Default)]
pub(super) struct Context<'r> {
    pub(super) relations: &'r [Relation],
    /// Names of the authors of comments, by their identifiers.
    pub(super) authors: Option<&'r HashMap<String, String>>,
    /// Whether the part is a master, whose placeholders are prompts.
    pub(super) is_master: bool,
    /// Whether the part is a chart whose numbers are nowhere else: neither in a sheet around it nor in one of its own.
    pub(super) has_numbers: bool,
}

impl<'r> Context<'r> {
    pub(super) fn new(relations: &'r [Relation]) -> Self {
        Self {
            relations,
            ..Self::default()
        }
    }
}

/// Reads the charts, diagrams and metafiles that a part refers to, with the shapes that are drawn on them.
pub(super) fn read_related(package: &mut Package<'_>, parent: &[Relation], body: &mut Body) {
    for kind in ["chart", "chartEx", "diagramData"] {
        for part in related(parent, kind) {
            let own = relations(package, part);
            let has_sheet =
                part.starts_with("xl/") || related(&own, "package").any(|part| package.has(part));
            let context = Context {
                has_numbers: !has_sheet,
                ..Context::new(&own)
            };
            read_part(package, part, |text| read(text, context, body));
            for shapes in related(&own, "chartUserShapes") {
                read_part(package, shapes, |text| read(text, Context::default(), body));
            }
        }
    }
    super::read_metafiles(package, parent, body);
}

/// Reads paragraphs, tables, comments, and the names of series and categories of charts. Numbers of
/// charts are left out if they are in the sheet behind the chart.
pub(super) fn read(text: &str, context: Context<'_>, body: &mut Body) -> Result<(), Error> {
    if context.is_master && has_only_placeholders(text) {
        return Ok(());
    }
    let mut reader = Reader {
        context,
        links: links(context.relations),
        body,
        in_text: false,
        in_numbers: false,
        is_prompt: false,
        is_repeated: false,
        repeated: String::new(),
    };
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(number) if reader.in_text && reader.in_numbers => {
                reader.push(&NumberFormat::General.show(&number, false));
            }
            Node::Text(text) if reader.in_text => reader.push(&unescape(text)),
            Node::Text(_) => {}
            Node::Start(tag) if reader.begins_numbers(&tag) => {}
            Node::Start(tag) if is_skipped(&tag) => xml.skip()?,
            Node::Start(tag) => reader.start(&tag),
            Node::End(tag) => reader.end(&tag),
        }
        if reader.body.is_full() {
            break;
        }
    }
    let repeated = std::mem::take(&mut reader.repeated);
    body.end_paragraph();
    body.once(repeated.trim());
    xml.whole()
}

/// Returns whether all shapes of a master are placeholders, which is faster than reading them.
fn has_only_placeholders(text: &str) -> bool {
    let count = |tag: &str| memmem::find_iter(text.as_bytes(), tag).count();
    let has_others = ["<p:pic", "<p:graphicFrame", "<p:cxnSp"]
        .iter()
        .any(|tag| count(tag) > 0);
    !has_others && text.contains("<p:sp>") && count("<p:sp>") == count("<p:ph")
}

/// Returns whether an element has no text for people, or repeats one that has.
fn is_skipped(tag: &Start<'_>) -> bool {
    match tag.name() {
        "Fallback" => true,
        name if is_numbers(name) => true,
        // Nobody wrote the slide number as text.
        "fld" => tag.attribute("type").as_deref() == Some("slidenum"),
        _ => false,
    }
}

/// Returns whether an element holds numbers of a chart.
fn is_numbers(name: &str) -> bool {
    matches!(name, "numCache" | "numLit" | "numDim")
}

/// Returns whether the description of a picture is only the name of its file, as Office fills it in.
pub(in crate::formats::office) fn names_a_picture(description: &str) -> bool {
    let ends = [
        ".bmp", ".emf", ".gif", ".jpeg", ".jpg", ".pict", ".png", ".svg", ".tif", ".tiff", ".wmf",
    ];
    let description = description.trim_end().to_ascii_lowercase();
    ends.iter().any(|end| description.ends_with(end))
}

struct Reader<'r, 'b> {
    context: Context<'r>,
    links: BTreeMap<&'r str, &'r str>,
    body: &'b mut Body,
    in_text: bool,
    /// Whether the text is a number of a chart.
    in_numbers: bool,
    /// Whether the shape is a placeholder of a master.
    is_prompt: bool,
    /// Whether the shape is a header, footer or date, which slides repeat.
    is_repeated: bool,
    repeated: String,
}

impl Reader<'_, '_> {
    fn push(&mut self, text: &str) {
        match (self.is_prompt, self.is_repeated) {
            (true, _) => {}
            (false, true) => self.repeated.push_str(text),
            (false, false) => self.body.push(text),
        }
    }

    /// Returns whether an element begins numbers that are text.
    fn begins_numbers(&mut self, tag: &Start<'_>) -> bool {
        let begins = self.context.has_numbers && is_numbers(tag.name());
        self.in_numbers |= begins;
        begins
    }

    fn start(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "t" | "v" | "text" => self.in_text = true,
            "pt" if tag.full_name() == "cx:pt" => self.in_text = true,
            "ph" => {
                let kind = tag.attribute("type").unwrap_or_default();
                self.is_prompt = self.context.is_master;
                self.is_repeated = matches!(&*kind, "hdr" | "ftr" | "dt");
            }
            // The title and the description of a picture.
            "cNvPr" => {
                for name in ["title", "descr"] {
                    let text = tag.attribute(name).unwrap_or_default();
                    if !names_a_picture(&text) {
                        self.body.line(&text);
                    }
                }
            }
            "hlinkClick" | "hlinkMouseOver" => {
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                if let Some(target) = self.links.get(&*id) {
                    self.body.link(target);
                }
            }
            "cm" | "reply" => self.comment(tag),
            "br" => self.push("\n"),
            "tr" => self.body.begin_row(),
            "tc" => self.body.begin_cell(),
            _ => {}
        }
    }

    fn comment(&mut self, tag: &Start<'_>) {
        let author = tag.attribute("authorId").unwrap_or_default();
        let author = self.context.authors.and_then(|names| names.get(&*author));
        if let Some(author) = author {
            self.body.end_paragraph();
            self.body.author(author);
        }
    }

    fn end(&mut self, tag: &End<'_>) {
        match tag.name() {
            "t" => self.in_text = false,
            name if is_numbers(name) => self.in_numbers = false,
            "pt" if tag.full_name() != "cx:pt" => {}
            "v" | "text" | "pt" => {
                self.in_text = false;
                self.body.end_paragraph();
            }
            "p" if self.is_repeated => self.repeated.push('\n'),
            "p" => self.body.end_paragraph(),
            "sp" => (self.is_prompt, self.is_repeated) = (false, false),
            "tc" => self.body.end_cell(),
            "tr" => self.body.end_row(),
            _ => {}
        }
    }
}
