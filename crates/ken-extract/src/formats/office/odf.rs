//! OpenDocument (ODF 1.3, OASIS) texts, spreadsheets, presentations and drawings, as packages or as
//! one flat XML file. Files of the earlier OpenOffice 1, whose names are nearly the same, are read
//! too.
//!
//! All of them hold paragraphs in `content.xml`; cells hold their text as displayed. Repeated cells
//! and rows are read once, whatever their number. Footnotes, comments and text boxes follow the
//! paragraph that they are anchored in. Deleted text of tracked changes is left out.

use std::collections::HashSet;

use base64ct::{Base64, Encoding};
use ken_core::{Document, Field};

use super::decrypted;
use super::spreadsheet::workbook::add_cell_names;
use crate::output::Output;
use crate::output::body::{Body, is_note_number};
use crate::structure::compound::objects;
use crate::structure::encryption::odf::{self, Manifest};
use crate::structure::package::Package;
use crate::structure::xml::{Node, Start, Xml, decode_xml};
use crate::{Error, Format, Input, Limits, Member};

/// Texts, spreadsheets, presentations and drawings.
pub(in crate::formats) const FORMAT: Format = Format::new(
    "OpenDocument",
    &[
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.text-template",
        "application/vnd.oasis.opendocument.text-master",
        "application/vnd.oasis.opendocument.text-web",
        "application/vnd.oasis.opendocument.text-flat-xml",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.spreadsheet-template",
        "application/vnd.oasis.opendocument.spreadsheet-flat-xml",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.presentation-template",
        "application/vnd.oasis.opendocument.presentation-flat-xml",
        "application/vnd.oasis.opendocument.graphics",
        "application/vnd.oasis.opendocument.graphics-template",
        "application/vnd.oasis.opendocument.graphics-flat-xml",
        "application/vnd.oasis.opendocument.formula",
        "application/vnd.oasis.opendocument.chart",
        "application/vnd.sun.xml.writer",
        "application/vnd.sun.xml.writer.template",
        "application/vnd.sun.xml.writer.global",
        "application/vnd.sun.xml.calc",
        "application/vnd.sun.xml.calc.template",
        "application/vnd.sun.xml.impress",
        "application/vnd.sun.xml.impress.template",
        "application/vnd.sun.xml.draw",
        "application/vnd.sun.xml.draw.template",
        "application/vnd.sun.xml.math",
    ],
    extract,
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
.sections("sheets, slides")
.members("embedded files")
.in_worker()
.version(5);

/// Maximum number of consecutive spaces that are kept.
const MAX_SPACES: usize = 64;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    if !input.head()?.starts_with(b"PK") {
        return extract_flat(input, output, limits);
    }
    let mut package = Package::open(input, limits)?;
    if let Some(inner) = unlock(&mut package, output)? {
        drop(package);
        return decrypted::read(inner, input, output);
    }
    if let Some(text) = package.xml("meta.xml") {
        package.tolerate(read_meta(&text, output.own()));
    }
    let Some(content) = package.xml("content.xml") else {
        return Err(Error::Malformed("there is no part content.xml".into()));
    };
    let mut reader = OdfReader::new(limits);
    package.tolerate(reader.read(&content));
    drop(content);
    // The headers of sheets are mostly those that the program made.
    if !reader.is_sheet
        && let Some(styles) = package.xml("styles.xml")
    {
        package.tolerate(reader.read_headers(&styles));
    }
    read_objects(&mut package, &mut reader);
    let objects = std::mem::take(&mut reader.objects);
    reader.finish(output.own());
    hand_on_objects(&mut package, &objects, output)?;
    package.finish()
}

fn extract_flat(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
    limits: &Limits,
) -> Result<(), Error> {
    let text = decode_xml(input.bytes(limits)?.to_vec());
    if !text.contains("office:document") {
        return Err(Error::Malformed("neither a package nor flat XML".into()));
    }
    let mut reader = OdfReader::new(limits);
    let meta = read_meta(&text, output.own());
    let content = reader.read(&text);
    let embedded = std::mem::take(&mut reader.embedded);
    reader.finish(output.own());
    hand_on_embedded(embedded, output)?;
    meta.and(content)
}

/// Finds the password of an encrypted package. If the whole package is one encrypted part, returns
/// that.
fn unlock(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<Option<Vec<u8>>, Error> {
    let Some(manifest) = package.xml("META-INF/manifest.xml") else {
        return Ok(None);
    };
    // A damaged manifest does not hide a document that needs none.
    let manifest = Manifest::read(&manifest).unwrap_or_default();
    let Some(part) = manifest.part_for_passwords().map(str::to_owned) else {
        return Ok(None);
    };
    let sealed = package.bytes(&part)?;
    let unlocked = manifest.unlock(&part, &sealed, &output.limits().passwords);
    if unlocked.is_err()
        && let Some(text) = package.xml("meta.xml")
    {
        // Some programs leave this part readable.
        let _ = read_meta(&text, output.own());
    }
    package.set_keys(unlocked?);
    match part == odf::PACKAGE {
        true => package.bytes(&part).map(Some),
        false => Ok(None),
    }
}

fn read_meta(text: &str, document: &mut Document) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut editor = String::new();
    while let Some(node) = xml.next()? {
        let tag = match node {
            Node::Start(tag) => tag,
            // In flat XML the document follows.
            Node::End(tag) if tag.name() == "meta" => break,
            _ => continue,
        };
        match tag.full_name() {
            "dc:title" => document.add_text(Field::Title, &xml.text()?),
            "meta:initial-creator" => document.add_text(Field::Author, &xml.text()?),
            "dc:creator" => editor = xml.text()?,
            "meta:keyword" => document.add_text(Field::Keywords, &xml.text()?),
            "dc:subject" | "dc:description" => {
                document.add_text(Field::Description, &xml.text()?);
            }
            "dc:language" => document.add_text(Field::Lang, &xml.text()?),
            "meta:creation-date" => add_time(document, Field::Created, &xml.text()?),
            "dc:date" => add_time(document, Field::Date, &xml.text()?),
            "meta:document-statistic" => {
                if let Some(pages) = tag.number("page-count") {
                    document.add_number(Field::Pages, pages as i64);
                }
            }
            _ => {}
        }
    }
    if document.text(Field::Author) != Some(editor.trim()) {
        document.add_text(Field::Author, &editor);
    }
    xml.whole()
}

fn add_time(document: &mut Document, field: Field, text: &str) {
    if let Some(seconds) = crate::date::iso(text) {
        document.add_number(field, seconds);
    }
}

/// Reads charts, formulas and sheets that are folders of the package: `Object 1/content.xml`.
fn read_objects(package: &mut Package<'_>, reader: &mut OdfReader) {
    let parts: Vec<String> = package
        .names()
        .filter(|name| name.starts_with("Object") && name.ends_with("/content.xml"))
        .map(str::to_owned)
        .collect();
    for part in parts {
        if let Some(text) = package.xml(&part) {
            package.tolerate(reader.read_object(&text));
        }
    }
}

/// Hands on objects that are files in other formats: `Object 1`, without extension.
fn hand_on_objects(
    package: &mut Package<'_>,
    named: &[String],
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let is_object = |name: &&str| {
        let is_file = !name.contains('/') && name.starts_with("Object ");
        is_file || named.iter().any(|object| object == name)
    };
    let names: Vec<String> = package
        .names()
        .filter(is_object)
        .map(str::to_owned)
        .collect();
    for name in names {
        match package.bytes(&name) {
            Ok(bytes) => {
                let (own_name, bytes) = embedded_file(&name, bytes);
                output.member(Member {
                    ipath: output.child_ipath(&name),
                    name: own_name,
                    bytes,
                    ..Member::default()
                })?;
            }
            Err(error) => output.failed_member(&name, &name, error)?,
        }
    }
    Ok(())
}

/// Returns an object as the file that it holds, which may be wrapped in an object of OLE.
fn embedded_file(name: &str, bytes: Vec<u8>) -> (String, Vec<u8>) {
    match objects::is_compound(&bytes).then(|| objects::of_file(&bytes)) {
        Some(Some((own, content))) if own.is_empty() => (name.to_owned(), content),
        Some(Some(found)) => found,
        _ => (name.to_owned(), bytes),
    }
}

/// Hands on the objects that are within a flat file.
fn hand_on_embedded(objects: Vec<Vec<u8>>, output: &mut Output<'_>) -> Result<(), Error> {
    for (position, bytes) in objects.into_iter().enumerate() {
        let component = format!("Object {}", position + 1);
        let (name, bytes) = embedded_file(&component, bytes);
        output.member(Member {
            ipath: output.child_ipath(&component),
            name,
            bytes,
            ..Member::default()
        })?;
    }
    Ok(())
}

/// Reads the text of one document.
struct OdfReader {
    body: Body,
    /// Number of open paragraphs; text belongs to the document only inside one.
    paragraphs: usize,
    /// The value of `paragraphs` outside each open note, comment and text box, and whether that one
    /// was moved aside.
    asides: Vec<(usize, bool)>,
    /// Paragraph styles that begin a page.
    page_styles: HashSet<String>,
    /// Styles of raised text.
    raised_styles: HashSet<String>,
    /// Whether the text that follows is raised.
    is_raised: bool,
    style: String,
    is_text: bool,
    is_sheet: bool,
    tables: usize,
    /// Number of slides or sheets so far.
    pages: usize,
    max_bytes: usize,
    /// The parts with objects of OLE, and the objects within a flat file.
    objects: Vec<String>,
    embedded: Vec<Vec<u8>>,
    in_object: bool,
    /// The targets of the open links.
    links: Vec<String>,
    /// The names that the user gave to cells.
    cell_names: Vec<String>,
}

impl OdfReader {
    fn new(limits: &Limits) -> Self {
        Self {
            body: Body::new(limits.max_text_bytes),
            paragraphs: 0,
            asides: Vec::new(),
            page_styles: HashSet::new(),
            raised_styles: HashSet::new(),
            is_raised: false,
            style: String::new(),
            is_text: false,
            is_sheet: false,
            tables: 0,
            pages: 0,
            max_bytes: limits.max_text_bytes,
            objects: Vec::new(),
            embedded: Vec::new(),
            in_object: false,
            links: Vec::new(),
            cell_names: Vec::new(),
        }
    }

    fn finish(mut self, document: &mut Document) {
        add_cell_names(&self.cell_names, &mut self.body);
        self.body.finish_into(document);
        if self.pages > 0 {
            document.fields.retain(|(field, _)| *field != Field::Pages);
            document.add_number(Field::Pages, self.pages as i64);
        }
    }

    fn read(&mut self, text: &str) -> Result<(), Error> {
        self.read_from(&mut Xml::new(text))
    }

    /// Reads until the end, or until the body is full.
    fn read_from(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) if self.paragraphs > 0 => self.push(&text),
                Node::Text(_) => {}
                Node::Start(tag) if self.in_object && tag.full_name() == "office:binary-data" => {
                    let base64: String = xml.text()?.split_whitespace().collect();
                    self.embedded.extend(Base64::decode_vec(&base64));
                }
                Node::Start(tag) if is_skipped(&tag) => xml.skip()?,
                Node::Start(tag) if tag.full_name() == "dc:creator" => {
                    let author = xml.text()?;
                    self.author(author.trim());
                }
                Node::Start(tag) => self.start(&tag),
                Node::End(tag) => self.end(tag.name()),
            }
            if self.body.is_full() {
                break;
            }
        }
        self.body.end_paragraph();
        xml.whole()
    }

    /// Reads the text of an embedded object, which has no pages.
    fn read_object(&mut self, text: &str) -> Result<(), Error> {
        (self.paragraphs, self.tables, self.is_sheet) = (0, 1, false);
        self.asides.clear();
        let pages = self.pages;
        let result = self.read(text);
        self.pages = pages;
        result
    }

    /// Reads the headers and footers in `styles.xml`; all other text there is examples.
    fn read_headers(&mut self, text: &str) -> Result<(), Error> {
        let mut xml = Xml::new(text);
        let mut depth = 0;
        let mut outside = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) if self.is_repeated(tag.name()) => {
                    depth += 1;
                    outside.get_or_insert_with(|| self.set_aside());
                }
                Node::End(tag) if self.is_repeated(tag.name()) => {
                    depth = 0;
                    if let Some(body) = outside.take() {
                        self.add_once(body);
                    }
                }
                // Placeholders of slides are prompts.
                Node::Start(tag)
                    if depth > 0
                        && (tag.full_name() == "presentation:notes" || is_prompt(&tag)) =>
                {
                    xml.skip()?;
                }
                Node::Start(tag) if depth > 0 && is_skipped(&tag) => xml.skip()?,
                Node::Start(tag) if depth > 0 => self.start(&tag),
                Node::End(tag) if depth > 0 => self.end(tag.name()),
                Node::Text(text) if self.paragraphs > 0 => self.body.push_folded(&text),
                _ => {}
            }
        }
        if let Some(body) = outside {
            self.add_once(body);
        }
        xml.whole()
    }

    /// Returns whether an element of `styles.xml` is shown on many pages.
    fn is_repeated(&self, name: &str) -> bool {
        match self.is_text {
            true => is_header(name),
            false => name == "master-page",
        }
    }

    /// Begins text that stands once; returns the text so far.
    fn set_aside(&mut self) -> Body {
        let new = Body::new(self.max_bytes);
        std::mem::replace(&mut self.body, new)
    }

    /// Adds what was read since [`Self::set_aside`], unless it stands there already.
    fn add_once(&mut self, body: Body) {
        let read = std::mem::replace(&mut self.body, body);
        self.body.once(&read.finish().replace('\u{c}', "\n"));
    }

    fn push(&mut self, text: &str) {
        if self.is_raised && is_note_number(self.body.joined(), text) {
            self.body.push(" ");
        }
        self.body.push_folded(text);
    }

    fn start(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "span" => {
                let style = tag.attribute("style-name");
                self.is_raised = style.is_some_and(|style| self.raised_styles.contains(&*style));
            }
            "ruby" => self.body.begin_ruby(),
            "ruby-text" => self.body.begin_reading(),
            "object-ole" => {
                self.in_object = true;
                let part = tag.attribute("href").unwrap_or_default();
                self.objects.push(part.trim_start_matches("./").to_owned());
            }
            "a" => self
                .links
                .push(tag.attribute("href").unwrap_or_default().into_owned()),
            "content-validation" => {
                let condition = tag.attribute("condition").unwrap_or_default();
                self.body.once(&choices(&condition));
            }
            "named-range" | "named-expression" => {
                let name = tag.attribute("name").unwrap_or_default().into_owned();
                self.cell_names.push(name);
            }
            "text-properties" => {
                let position = tag.attribute("text-position");
                if position.is_some_and(|position| is_raised(&position)) {
                    self.raised_styles.insert(self.style.clone());
                }
            }
            "p" => self.start_paragraph(tag),
            "h" => {
                self.start_paragraph(tag);
                self.body.begin_heading();
            }
            "s" => {
                let spaces = tag.number("c").unwrap_or(1).min(MAX_SPACES);
                self.body.push(&" ".repeat(spaces));
            }
            "tab" => self.body.push("\t"),
            "line-break" => self.body.push("\n"),
            "soft-page-break" => self.body.break_page(),
            "text" if tag.full_name() == "office:text" => self.is_text = true,
            "spreadsheet" => self.is_sheet = true,
            // OpenOffice 1 has an attribute where OpenDocument has an element.
            "document-content" => match tag.attribute("class").as_deref() {
                Some("text") => self.is_text = true,
                Some("spreadsheet") => self.is_sheet = true,
                _ => {}
            },
            "table" => self.start_table(tag),
            "table-row" => self.body.begin_row(),
            "table-cell" | "covered-table-cell" => self.body.begin_cell(),
            "page" if tag.full_name() == "draw:page" => self.start_page(),
            "note-body" | "footnote-body" | "endnote-body" | "annotation" | "text-box" => {
                self.start_aside();
            }
            "style" | "paragraph-properties" => self.note_page_style(tag),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if name == "h" {
                    self.body.end_heading();
                }
                self.body.end_paragraph();
            }
            "span" => self.is_raised = false,
            "object-ole" => self.in_object = false,
            "a" => {
                if let Some(target) = self.links.pop() {
                    self.body.link(&target);
                }
            }
            "ruby" => self.body.end_ruby(),
            "ruby-text" => self.body.end_reading(),
            "table" => self.tables = self.tables.saturating_sub(1),
            "table-row" => self.body.end_row(),
            "table-cell" | "covered-table-cell" => self.body.end_cell(),
            "note-body" | "footnote-body" | "endnote-body" | "annotation" | "text-box" => {
                self.end_aside();
            }
            _ => {}
        }
    }

    /// Puts the author of a comment before its text.
    fn author(&mut self, author: &str) {
        if !author.is_empty() && !self.asides.is_empty() {
            self.body.push(author);
            self.body.push(": ");
        }
    }

    fn start_paragraph(&mut self, tag: &Start<'_>) {
        self.paragraphs += 1;
        if self.is_text
            && !self.page_styles.is_empty()
            && let Some(style) = tag.attribute("style-name")
            && self.page_styles.contains(&*style)
        {
            self.body.break_page();
        }
    }

    fn start_table(&mut self, tag: &Start<'_>) {
        self.tables += 1;
        if self.is_sheet && self.tables == 1 {
            self.start_page();
            self.body.line(&tag.attribute("name").unwrap_or_default());
        }
    }

    fn start_page(&mut self) {
        if self.pages > 0 {
            self.body.end_page();
        }
        self.pages += 1;
    }

    /// Begins a note or box: inside a paragraph or cell it is moved aside, otherwise its text is
    /// ordinary text.
    fn start_aside(&mut self) {
        let is_aside = self.paragraphs > 0 || self.body.is_in_cell();
        if is_aside {
            self.body.begin_aside();
        }
        self.asides.push((self.paragraphs, is_aside));
        self.paragraphs = 0;
    }

    fn end_aside(&mut self) {
        let (paragraphs, was_aside) = self.asides.pop().unwrap_or_default();
        self.paragraphs = paragraphs;
        if was_aside {
            self.body.end_aside();
        }
    }

    /// Remembers a style with a page break; programs write soft breaks only for other styles.
    fn note_page_style(&mut self, tag: &Start<'_>) {
        let begins_page = if tag.name() == "style" {
            self.style = tag.attribute("name").unwrap_or_default().into_owned();
            tag.attribute("master-page-name")
                .is_some_and(|name| !name.is_empty())
        } else {
            tag.attribute("break-before").as_deref() == Some("page")
        };
        if begins_page {
            self.page_styles.insert(self.style.clone());
        }
    }
}

/// Returns whether a `style:text-position` is above the line: `super 58%` or `33% 58%`.
fn is_raised(position: &str) -> bool {
    let height = position.split(' ').next().unwrap_or_default();
    height == "super" || height.ends_with('%') && !height.starts_with(['-', '0'])
}

/// Returns the choices of a rule for cells, as lines: `…cell-content-is-in-list("red";"blue")`.
fn choices(condition: &str) -> String {
    let list = condition.split_once("cell-content-is-in-list(");
    let quoted = list
        .map_or("", |(_, list)| list)
        .split('"')
        .skip(1)
        .step_by(2);
    quoted.collect::<Vec<_>>().join("\n")
}

/// Returns whether an element of a master is a placeholder.
fn is_prompt(tag: &Start<'_>) -> bool {
    tag.attributes()
        .any(|(name, _)| name == "presentation:class")
}

fn is_header(name: &str) -> bool {
    matches!(
        name,
        "header" | "header-left" | "header-first" | "footer" | "footer-left" | "footer-first"
    )
}

/// Returns whether an element is skipped: deleted text, templates of indexes, and elements in
/// paragraphs that are not their text.
fn is_skipped(tag: &Start<'_>) -> bool {
    match tag.full_name() {
        "dc:date" | "meta:date-string" | "meta:creator-initials" => true,
        "office:meta" | "office:master-styles" | "office:forms" | "office:binary-data" => true,
        "text:tracked-changes" | "text:note-citation" | "text:page-number" => true,
        "text:footnote-citation" | "text:endnote-citation" => true,
        name => name.starts_with("text:") && name.ends_with("-source"),
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::structure::package::tests::zip_of;
    use crate::testing::{self, Extracted};

    const ODT: &[u8] = include_bytes!("../../../tests/data/sample.odt");
    const ODS: &[u8] = include_bytes!("../../../tests/data/sample.ods");
    const ODP: &[u8] = include_bytes!("../../../tests/data/sample.odp");
    const DETECTED: Detected = Detected {
        media_type: "application/vnd.oasis.opendocument.text",
        kind: Kind::Document,
    };

    fn run(bytes: &[u8]) -> Extracted {
        testing::run(extract, DETECTED, "x", bytes)
    }

    fn text_of(content: &str) -> String {
        let found = run(&zip_of(&[("content.xml", content.as_bytes())]));
        assert_eq!(found.own().failure, None);
        found.own().body.clone()
    }

    #[test]
    fn a_text_with_everything_is_read() {
        let found = run(ODT);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Counting numbatfell\nThe herd of numbatfell counts\tseven\nheads.\nName\tAge\n\
             Rudolf\t12\nCommented run\nBo: Check this remark\nKept inserted\nFirst half\u{c}second half\n\
             Council of Inari\nConfidential footer"
        );
        assert_eq!(own.text(Field::Title), Some("Marsupial ledger"));
        assert_eq!(own.text(Field::Headings), Some("Counting numbatfell"));
        assert_eq!(own.text(Field::Author), Some("Oskar Lindqvist"));
        assert_eq!(own.text(Field::Lang), Some("en-GB"));
        assert_eq!(own.number(Field::Created), Some(1_770_091_506));
        assert_eq!(own.number(Field::Pages), Some(2));
    }

    #[test]
    fn flat_xml_that_ends_early_keeps_its_text() {
        let text = "<office:document><office:meta/><office:body><text:p>Of the quollmere";
        let found = run(text.as_bytes());
        let failure = found.own().failure.as_ref();
        assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
        assert_eq!(found.own().body, "Of the quollmere");
    }

    #[test]
    fn sheets_and_slides_are_pages() {
        let sheets = run(ODS);
        assert_eq!(
            sheets.own().body,
            "Crossings\nDate\tHarbour\tFare\tShare\tWhen\n\
             01.03.2024\tkelpiesund\t1,234.50 €\t12.5%\t2024-03-01 18:30\n\
             Harbour closed in winter\n2\tTRUE\u{c}Crew\nCaptain Nemo"
        );
        assert_eq!(sheets.own().number(Field::Pages), Some(2));
        assert_eq!(sheets.own().text(Field::Title), Some("Harbour dues"));
        let slides = run(ODP);
        assert_eq!(
            slides.own().body,
            "Moraine ptarmigan\nFirst slide\nSpeak slowly here\u{c}\
             Table of ice\nYear\tMetres\n1999\t42\nMelting\nMelting\nArctic\t1.5\nAlps\t2.5"
        );
        assert_eq!(slides.own().number(Field::Pages), Some(2));
        assert_eq!(slides.own().text(Field::Title), Some("Tundra lecture"));
    }

    #[test]
    fn links_authors_choices_and_names_are_read() {
        assert_eq!(
            text_of(
                "<office:document-content><office:body><office:text><text:p>See <text:a \
                 xlink:href='https://example.org/a'>here</text:a><office:annotation><dc:creator>Ina\
                 </dc:creator><dc:date>2024</dc:date><text:p>check</text:p></office:annotation>.\
                 </text:p></office:text></office:body></office:document-content>"
            ),
            "See here.\nIna: check\nhttps://example.org/a"
        );
        assert_eq!(
            text_of(
                "<office:document-content><office:body><office:spreadsheet>\
                 <table:content-validations><table:content-validation table:condition='of:\
                 cell-content-is-in-list(&quot;red&quot;;&quot;blue&quot;)'/></table:content-validations>\
                 <table:table table:name='S'><table:table-row><table:table-cell><text:p>1</text:p>\
                 </table:table-cell></table:table-row></table:table><table:named-expressions>\
                 <table:named-range table:name='Umsatz'/></table:named-expressions>\
                 </office:spreadsheet></office:body></office:document-content>"
            ),
            "red\nblue\nS\n1\nUmsatz"
        );
    }

    #[test]
    fn what_pages_repeat_stands_once() {
        let styles = "<office:document-styles><office:master-styles><style:master-page>\
             <draw:frame presentation:class='title'><text:p>Click to edit</text:p></draw:frame>\
             <draw:frame><draw:text-box><text:p>our logo</text:p></draw:text-box></draw:frame>\
             </style:master-page><style:master-page><draw:frame><draw:text-box><text:p>our logo\
             </text:p></draw:text-box></draw:frame></style:master-page></office:master-styles>\
             </office:document-styles>";
        let content = "<office:document-content><office:body><office:presentation><draw:page>\
             <text:p>slide</text:p></draw:page></office:presentation></office:body>\
             </office:document-content>";
        let zip = zip_of(&[
            ("content.xml", content.as_bytes()),
            ("styles.xml", styles.as_bytes()),
        ]);
        assert_eq!(run(&zip).own().body, "slide\nour logo");
    }

    #[test]
    fn objects_are_unwrapped() {
        use crate::structure::compound::rebuild::compound_of;
        let ole = compound_of(&[("CONTENTS", b"%PDF-1.4")]);
        let content = "<office:document-content><office:body><office:text><draw:object-ole \
             xlink:href='./ole-1'/></office:text></office:body></office:document-content>";
        let zip = zip_of(&[("content.xml", content.as_bytes()), ("ole-1", &ole)]);
        assert_eq!(run(&zip).members[0].bytes, b"%PDF-1.4");
        let flat = format!(
            "<office:document><office:body><office:text><draw:object-ole><office:binary-data>{}\
             </office:binary-data></draw:object-ole></office:text></office:body></office:document>",
            Base64::encode_string(&ole)
        );
        assert_eq!(run(flat.as_bytes()).members[0].bytes, b"%PDF-1.4");
    }

    #[test]
    fn spaces_notes_and_boxes_keep_their_positions() {
        let content = "<office:document-content><office:body><office:text>\
            <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>\
            <text:p>a<text:s text:c='3'/>b\n  c<text:tab/>d<text:line-break/>e<text:note>\
            <text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p>\
            </text:note-body></text:note>f</text:p>\
            <draw:text-box><text:p>box</text:p></draw:text-box>\
            <office:annotation><dc:creator>Me</dc:creator><text:p>remark</text:p>\
            </office:annotation></office:text></office:body></office:document-content>";
        assert_eq!(text_of(content), "a   b c\td\nef\nnote\nbox\nMe: remark");
    }

    #[test]
    fn readings_follow_and_raised_numbers_stand_apart() {
        let ruby = |characters, reading| {
            format!(
                "<text:ruby><text:ruby-base>{characters}</text:ruby-base>\
                 <text:ruby-text>{reading}</text:ruby-text></text:ruby>"
            )
        };
        let raised = "<text:span text:style-name='T1'>2</text:span>";
        let content = format!(
            "<c><style:style style:name='T1'><style:text-properties \
             style:text-position='super 58%'/></style:style><style:style style:name='T2'>\
             <style:text-properties style:text-position='0% 100%'/></style:style><office:text>\
             <text:p>{}{}へ</text:p><text:p>word{raised}, km{raised}, \
             word<text:span text:style-name='T2'>2</text:span></text:p></office:text></c>",
            ruby("東", "とう"),
            ruby("京", "きょう"),
        );
        assert_eq!(text_of(&content), "東京へ\nとうきょう\nword 2, km2, word2");
    }

    #[test]
    fn repeated_cells_and_spaces_do_not_explode() {
        let content = "<c><office:spreadsheet><table:table table:name='T'>\
            <table:table-row table:number-rows-repeated='1048576'>\
            <table:table-cell table:number-columns-repeated='16384'><text:p>x<text:s \
            text:c='999999999'/>y</text:p></table:table-cell></table:table-row>\
            </table:table></office:spreadsheet></c>";
        let text = text_of(content);
        assert!(text.starts_with("T\nx  "), "{text}");
        assert!(text.len() < 100);
    }

    #[test]
    fn pages_begin_where_styles_and_soft_breaks_say() {
        let content = "<c><style:style style:name='P1'><style:paragraph-properties \
            fo:break-before='page'/></style:style><office:text><text:p text:style-name='P1'>1\
            </text:p><text:p>1</text:p><text:p text:style-name='P1'>2</text:p>\
            <text:p>2 <text:soft-page-break/>3</text:p></office:text></c>";
        assert_eq!(text_of(content), "1\n1\u{c}2\n2 \u{c}3");
    }

    #[test]
    fn flat_xml_is_read() {
        let flat = b"<?xml version='1.0'?><office:document><office:meta><dc:title>T</dc:title>\
            </office:meta><office:body><office:text><text:p>flat</text:p></office:text>\
            </office:body></office:document>";
        let found = run(flat);
        assert_eq!(found.own().body, "flat");
        assert_eq!(found.own().text(Field::Title), Some("T"));
        assert!(run(b"no XML").own().failure.is_some());
    }

    #[test]
    fn objects_are_read_or_handed_on() {
        let found = run(&zip_of(&[
            ("content.xml", b"<c><text:p>a</text:p></c>"),
            ("Object 1/content.xml", b"<c><text:p>chart</text:p></c>"),
            ("Object 2", b"\xd0\xcf\x11\xe0"),
        ]));
        assert_eq!(found.own().body, "a\nchart");
        assert_eq!(found.members[0].name, "Object 2");
    }

    #[test]
    fn encrypted_files_say_so_and_keep_their_title() {
        let found = run(&zip_of(&[
            ("content.xml", b"\x01\x02\x03"),
            ("meta.xml", b"<m><dc:title>Open</dc:title></m>"),
            (
                "META-INF/manifest.xml",
                b"<m><manifest:file-entry manifest:full-path='content.xml'>\
                  <manifest:encryption-data/></manifest:file-entry></m>",
            ),
        ]));
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Encrypted);
        assert_eq!(found.own().text(Field::Title), Some("Open"));
        assert_eq!(found.own().body, "");
    }

    #[test]
    fn files_of_openoffice_1_are_read() {
        let content = b"<office:document-content office:class='text'><office:body><text:p>a\
            <text:footnote><text:footnote-citation>1</text:footnote-citation>\
            <text:footnote-body><text:p>note</text:p></text:footnote-body></text:footnote>b\
            </text:p></office:body></office:document-content>";
        assert_eq!(
            run(&zip_of(&[("content.xml", content)])).own().body,
            "ab\nnote"
        );
        let content = b"<office:document-content office:class='spreadsheet'><office:body>\
            <table:table table:name='S'><table:table-row><table:table-cell><text:p>x</text:p>\
            </table:table-cell></table:table-row></table:table><table:table table:name='T'/>\
            </office:body></office:document-content>";
        let found = run(&zip_of(&[("content.xml", content)]));
        assert_eq!(found.own().body, "S\nx\u{c}T");
        assert_eq!(found.own().number(Field::Pages), Some(2));
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        for good in [ODT, ODS, ODP] {
            testing::survives(extract, DETECTED, "x", good);
        }
    }
}
