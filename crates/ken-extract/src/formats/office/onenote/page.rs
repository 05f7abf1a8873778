//! The text of a page, from its objects (MS-ONE 2.2): outlines with paragraphs, tables, pictures and files.

use std::collections::HashSet;

use ken_core::{Document, Field};

use super::object::{Id, Properties, Space, Stored, properties};
use crate::output::body::Body;
use crate::output::metadata::add_once;
use crate::structure::compound::summary::filetime;
use crate::text::code_page::{self, WESTERN};

/// Classes of objects (MS-ONE 2.1.12), without their flags.
mod class {
    pub(super) const RICH_TEXT: u16 = 0x0e;
    pub(super) const TABLE_ROW: u16 = 0x23;
    pub(super) const TABLE_CELL: u16 = 0x24;
    pub(super) const TITLE: u16 = 0x2c;
    pub(super) const FILE: u16 = 0x35;
    pub(super) const WRITTEN_LINE: u16 = 0x55;
    pub(super) const WRITTEN_WORD: u16 = 0x57;
}

/// Names of properties (MS-ONE 2.1.12), without their types.
pub(super) mod name {
    pub(super) const CHILDREN: [u32; 6] = [
        super::STRUCTURE,
        0x1c1f, // the content of a paragraph
        0x1c20, // what is below it
        0x35d7, // the words of handwriting
        0x35d9, // their parts
        0x1cf6, // the sections of a notebook
    ];
    pub(super) const TEXT: u32 = 0x1c22;
    pub(super) const TEXT_ANSI: u32 = 0x3498;
    pub(super) const LINK: u32 = 0x1e20;
    pub(super) const LINK_OF_FRAME: u32 = 0x35f3;
    pub(super) const ALTERNATIVE: u32 = 0x1e58;
    pub(super) const WRITTEN: u32 = 0x35da;
    pub(super) const SECTION_FILE: u32 = 0x1d6b;
    pub(super) const FILE_NAME: u32 = 0x1d9c;
    pub(super) const FILE_OBJECT: u32 = 0x1d9b;
    pub(super) const IS_TITLE_DATE: u32 = 0x1cb5;
    pub(super) const IS_TITLE_TIME: u32 = 0x1c87;
    pub(super) const TAG: u32 = 0x3488;
    pub(super) const TAG_LABEL: u32 = 0x3468;
    pub(super) const AUTHORS: [u32; 2] = [0x1d78, 0x1d79];
    pub(super) const AUTHOR: u32 = 0x1d75;
    pub(super) const CREATED: u32 = 0x1d09;
    pub(super) const CHANGED: u32 = 0x1d7a;
    pub(super) const PAGE_CREATED: u32 = 0x1c65;
    pub(super) const PAGE_TITLE: u32 = 0x1cf3;
    pub(super) const PAGES: u32 = 0x1d63;
    pub(super) const SECTION_NAME: u32 = 0x349b;
}
/// The title of a page.
const STRUCTURE: u32 = 0x1d5f;

/// Roles of first objects (MS-ONE 2.1.8).
const CONTENT: u32 = 1;
const METADATA: u32 = 2;

/// Objects within objects; OneNote indents paragraphs five times, and nests tables in them.
const MAX_DEPTH: usize = 64;
/// Seconds from 1970 to 1980, when the clock of short times begins (MS-ONE 2.3.1).
const EPOCH_SECONDS: i64 = 315_532_800;

/// A file on a page.
pub(super) struct Embedded<'a> {
    pub(super) name: String,
    pub(super) content: Option<&'a [u8]>,
}

/// What the pages say.
pub(super) struct Pages<'a> {
    pub(super) body: Body,
    pub(super) files: Vec<Embedded<'a>>,
    pub(super) n_pages: usize,
    pub(super) is_whole: bool,
    document: Document,
    created: Option<i64>,
    changed: Option<i64>,
    /// Bytes of objects that may still be visited; hostile objects share their data.
    budget: usize,
}

/// The objects of the page that is read.
struct Page<'s, 'a> {
    space: &'s Space<'a>,
    visited: HashSet<Id>,
    has_title: bool,
    is_title: bool,
}

impl<'a> Pages<'a> {
    /// Creates the reader of a file of `n_bytes`, which fills `document`.
    pub(super) fn new(document: Document, max_text_bytes: usize, n_bytes: usize) -> Self {
        Self {
            body: Body::new(max_text_bytes),
            files: Vec::new(),
            n_pages: 0,
            is_whole: true,
            document,
            created: None,
            changed: None,
            budget: n_bytes.saturating_mul(4),
        }
    }

    /// Returns the pages of a section in their order, and notes its name.
    pub(super) fn section(&mut self, space: &Space<'a>) -> Vec<Id> {
        if let Some(metadata) = space
            .roots
            .get(&METADATA)
            .and_then(|id| space.objects.get(id))
        {
            let name = self.properties(metadata).bytes(name::SECTION_NAME);
            self.document
                .add_text(Field::Title, &name.map(utf16).unwrap_or_default());
        }
        let mut pages = Vec::new();
        let mut visited = HashSet::new();
        let mut next: Vec<Id> = space.roots.get(&CONTENT).copied().into_iter().collect();
        while let Some(id) = next.pop() {
            if let Some(stored) = space.objects.get(&id).filter(|_| visited.insert(id)) {
                let found = self.properties(stored);
                pages.extend(found.ids(name::PAGES));
                let children: Vec<Id> = children(&found).collect();
                next.extend(children.into_iter().rev());
            }
        }
        pages
    }

    /// Reads a page, if the space is one.
    pub(super) fn page(&mut self, space: &Space<'a>) {
        let Some(root) = space.roots.get(&CONTENT) else {
            return;
        };
        if self.n_pages > 0 {
            self.body.end_page();
        }
        self.n_pages += 1;
        let mut page = Page {
            space,
            visited: HashSet::new(),
            has_title: false,
            is_title: false,
        };
        self.visit(*root, &mut page, 0);
        self.body.end_paragraph();
        if let Some(metadata) = space
            .roots
            .get(&METADATA)
            .and_then(|id| space.objects.get(id))
        {
            self.page_metadata(metadata, page.has_title);
        }
    }

    fn page_metadata(&mut self, metadata: &Stored<'a>, has_title: bool) {
        let found = self.properties(metadata);
        let created = found.number(name::PAGE_CREATED).and_then(filetime);
        self.created = earlier(self.created, created);
        // A page without a title has the one that its first words suggest.
        if !has_title && let Some(title) = found.bytes(name::PAGE_TITLE) {
            self.body.note_heading(&utf16(title));
        }
    }

    fn properties(&mut self, stored: &Stored<'a>) -> Properties<'a> {
        let Some(left) = self.budget.checked_sub(stored.data.len()) else {
            self.is_whole = false;
            return Properties::default();
        };
        self.budget = left;
        let (found, is_whole) = properties(stored);
        // Objects that are files have none.
        self.is_whole &= is_whole || stored.data.is_empty();
        found
    }

    /// Reads an object and what is below it; each once.
    fn visit(&mut self, id: Id, page: &mut Page<'_, 'a>, depth: usize) {
        let Some(stored) = page
            .space
            .objects
            .get(&id)
            .filter(|_| page.visited.insert(id))
        else {
            return;
        };
        if depth > MAX_DEPTH {
            self.is_whole = false;
            return;
        }
        let found = self.properties(stored);
        self.note(&found, page);
        match stored.class {
            class::TITLE => page.is_title = true,
            class::TABLE_ROW => self.body.begin_row(),
            class::TABLE_CELL => self.body.begin_cell(),
            class::FILE => self.file(&found, page),
            _ => {}
        }
        self.text(stored.class, &found, page);
        for child in children(&found) {
            self.visit(child, page, depth + 1);
        }
        match stored.class {
            class::TITLE => page.is_title = false,
            class::TABLE_ROW => self.body.end_row(),
            class::TABLE_CELL => self.body.end_cell(),
            class::RICH_TEXT | class::WRITTEN_LINE => self.body.end_paragraph(),
            _ => {}
        }
    }

    /// Adds the texts of an object itself.
    fn text(&mut self, class: u16, found: &Properties<'a>, page: &mut Page<'_, 'a>) {
        let ansi = || {
            let bytes = found.bytes(name::TEXT_ANSI)?;
            let text = bytes.split(|byte| *byte == 0).next()?;
            // A form feed would count as the end of a page.
            Some(code_page::decode(text, WESTERN).replace('\u{c}', " "))
        };
        let text = found.bytes(name::TEXT).map(utf16).or_else(ansi);
        if let Some(text) = text {
            let is_heading = page.is_title
                && found.number(name::IS_TITLE_DATE) != Some(1)
                && found.number(name::IS_TITLE_TIME) != Some(1);
            let (text, links) = without_fields(&text);
            if is_heading && !text.trim().is_empty() {
                self.body.note_heading(&text);
                page.has_title = true;
            }
            self.body.push(&text);
            for link in links {
                self.body.link(&link);
            }
        }
        for property in [name::ALTERNATIVE, name::SECTION_FILE] {
            if let Some(text) = found.bytes(property) {
                self.body.line(&utf16(text));
            }
        }
        for property in [name::LINK, name::LINK_OF_FRAME] {
            if let Some(link) = found.bytes(property) {
                self.body.link(&utf16(link));
            }
        }
        if class == class::WRITTEN_WORD
            && let Some(word) = found.bytes(name::WRITTEN)
        {
            self.body.push(&utf16(word));
            self.body.push(" ");
        }
    }

    /// Notes an embedded file, whose name is part of the text.
    fn file(&mut self, found: &Properties<'a>, page: &Page<'_, 'a>) {
        let name = found.bytes(name::FILE_NAME).map(utf16).unwrap_or_default();
        self.body.line(&name);
        let mut objects = found.ids(name::FILE_OBJECT);
        let content = objects.find_map(|id| page.space.objects.get(&id)?.file);
        self.files.push(Embedded { name, content });
    }

    /// Notes authors, tags and times of an object.
    fn note(&mut self, found: &Properties<'a>, page: &mut Page<'_, 'a>) {
        let authors = name::AUTHORS.map(|role| (role, name::AUTHOR, Field::Author));
        for (reference, property, field) in
            authors
                .into_iter()
                .chain([(name::TAG, name::TAG_LABEL, Field::Keywords)])
        {
            for id in found.ids(reference) {
                if let Some(stored) = page
                    .space
                    .objects
                    .get(&id)
                    .filter(|_| page.visited.insert(id))
                    && let Some(text) = self.properties(stored).bytes(property)
                {
                    add_once(&mut self.document, field, &utf16(text));
                }
            }
        }
        let time = |property| found.number(property).and_then(short_time);
        self.created = earlier(self.created, time(name::CREATED));
        self.changed = self.changed.max(time(name::CHANGED));
    }

    /// Returns the document with text and fields, and the files on its pages.
    pub(super) fn finish(mut self) -> (Document, Vec<Embedded<'a>>) {
        self.body.finish_into(&mut self.document);
        for (field, time) in [(Field::Created, self.created), (Field::Date, self.changed)] {
            if let Some(seconds) = time {
                self.document.add_number(field, seconds);
            }
        }
        (self.document, self.files)
    }
}

fn children(found: &Properties<'_>) -> impl Iterator<Item = Id> {
    name::CHILDREN.into_iter().flat_map(|name| found.ids(name))
}

/// Returns the seconds since 1970 of seconds since 1980; 0 is no time.
fn short_time(seconds: u64) -> Option<i64> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    seconds.checked_add(EPOCH_SECONDS)
}

fn earlier(known: Option<i64>, time: Option<i64>) -> Option<i64> {
    known.into_iter().chain(time).min()
}

/// Decodes text up to its end, without the characters that only Office gives a meaning.
fn utf16(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    let units = units.take_while(|unit| *unit != 0);
    char::decode_utf16(units)
        .filter_map(|decoded| match decoded.unwrap_or('\u{fffd}') {
            // The end of a line within a paragraph.
            '\u{b}' | '\r' => Some('\n'),
            // It would count as the end of a page.
            '\u{c}' => Some(' '),
            // A picture or a file within the text.
            '\u{fffc}' => None,
            character => Some(character),
        })
        .collect()
}

/// Returns text without the codes of fields, and the targets of its links: `U+FDDF HYPERLINK "target" label` (MS-ONE 2.2.82).
fn without_fields(text: &str) -> (String, Vec<String>) {
    const MARK: &str = "\u{fddf}HYPERLINK \"";
    let mut links = Vec::new();
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, field)) = rest.split_once(MARK) {
        shown.push_str(before);
        let (target, after) = field.split_once('"').unwrap_or((field, ""));
        links.push(target.to_owned());
        rest = after;
    }
    shown.push_str(rest);
    // Marks of formulas are no characters.
    shown.retain(|character| !matches!(character, '\u{fdd0}'..='\u{fdef}'));
    (shown, links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_1980() {
        assert_eq!(short_time(1), Some(315_532_801));
        for number in [0, i64::MAX as u64, u64::MAX] {
            assert_eq!(short_time(number), None);
        }
    }

    #[test]
    fn form_feeds_end_no_page() {
        assert_eq!(utf16(b"a\0\x0c\0b\0\x0b\0c\0\0\0d\0"), "a b\nc");
    }

    #[test]
    fn fields_give_their_labels_and_targets() {
        let (text, links) = without_fields(
            "See \u{fddf}HYPERLINK \"https://a.example/x\"this and \u{fddf}HYPERLINK \"b\"that",
        );
        assert_eq!(text, "See this and that");
        assert_eq!(links, ["https://a.example/x", "b"]);
        assert_eq!(without_fields("\u{fddf}HYPERLINK \"cut").1, ["cut"]);
    }
}
