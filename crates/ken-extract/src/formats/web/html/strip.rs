//! Extracts text, title and metadata of a page in one pass.
//!
//! The tokenizer follows HTML 13.2.5, without a tree. Between two `<` or `&` it looks at nothing,
//! and it parses only tags that change the text. The work is linear in the length of the page,
//! whatever the page holds.

use super::elements::{self, Element};
use super::links::Links;
use super::meta::Meta;
use super::tags::{self, Attributes};
use super::writer::{Gap, Writer, folded};
use crate::output::body::{MAX_HEADING_BYTES, MAX_HEADINGS, is_note_number};
use crate::text::entities::{self, Reference};

/// Frames nested deeper are left out: each level of escaping makes a page longer, and none shorter.
const MAX_FRAMES: u32 = 4;

/// The content of a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) meta: Meta,
    pub(super) headings: Vec<String>,
    pub(super) links: Links,
    pub(super) body: String,
}

/// Reads a page, whose address is empty if it is not known, until its text has more than `max_bytes`.
pub(super) fn strip(text: &str, address: &str, max_bytes: usize) -> Page {
    let mut links = Links::default();
    links.set_site(address);
    strip_within(text, links, max_bytes, 0)
}

fn strip_within(text: &str, links: Links, max_bytes: usize, frame_depth: u32) -> Page {
    let mut stripper = Stripper {
        text,
        at: 0,
        begins_note: false,
        max_bytes,
        writer: Writer::with_capacity((text.len() / 4).min(max_bytes)),
        title: None,
        meta: Meta::default(),
        headings: Vec::new(),
        links,
        heading_start: None,
        pre_depth: 0,
        template_depth: 0,
        frame_depth,
        ruby: Ruby::Outside,
        is_xml: text.trim_start().starts_with("<?xml"),
    };
    stripper.run();
    Page {
        title: stripper.title,
        meta: stripper.meta,
        headings: stripper.headings,
        links: stripper.links,
        body: stripper.writer.into_text(),
    }
}

/// Returns the tag at the start of a text, without its end.
fn tag_at(text: &str) -> &str {
    text.split_once('>').map_or(text, |(tag, _)| tag)
}

/// Returns whether a link leads to an element of the same page, or to a note of a book.
fn is_link_within_page(tag: &str) -> bool {
    let has = |mark: &str| memchr::memmem::find(tag.as_bytes(), mark.as_bytes()).is_some();
    has("href=\"#") || has("href='#") || has("href=#") || has("noteref")
}

struct Stripper<'t> {
    text: &'t str,
    at: usize,
    max_bytes: usize,
    writer: Writer,
    /// Whether the open link is the mark in front of a note.
    begins_note: bool,
    title: Option<String>,
    meta: Meta,
    headings: Vec<String>,
    links: Links,
    /// Where the current heading begins.
    heading_start: Option<usize>,
    pre_depth: u32,
    template_depth: u32,
    /// Number of frames around the text.
    frame_depth: u32,
    ruby: Ruby,
    /// In XHTML, `<script/>` is complete and CDATA is text.
    is_xml: bool,
}

/// The part of a `<ruby>` that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ruby {
    Outside,
    Characters,
    Reading,
    Fallback,
}

impl<'t> Stripper<'t> {
    fn run(&mut self) {
        let text = self.text;
        while let Some(length) = memchr::memchr2(b'<', b'&', &text.as_bytes()[self.at..]) {
            if self.writer.len() > self.max_bytes {
                return;
            }
            let stop = self.at + length;
            self.write(&text[self.at..stop]);
            self.at = stop;
            match text.as_bytes()[stop] {
                b'&' => self.reference(),
                _ => self.markup(),
            }
        }
        self.write(&text[self.at..]);
    }

    fn write(&mut self, text: &str) {
        if self.template_depth > 0 || self.ruby == Ruby::Fallback {
        } else if self.ruby == Ruby::Reading {
            self.writer.reading(text);
        } else if self.pre_depth > 0 {
            self.writer.keep(text);
        } else {
            self.writer.fold(text);
        }
    }

    fn reference(&mut self) {
        match entities::read(&self.text.as_bytes()[self.at + 1..], false) {
            Some((Reference::Char(character), length)) => {
                let character = if character.is_ascii_control() {
                    ' '
                } else {
                    character
                };
                self.write(character.encode_utf8(&mut [0; 4]));
                self.at += 1 + length;
            }
            Some((Reference::Text(text), length)) => {
                self.write(text);
                self.at += 1 + length;
            }
            None => {
                self.write("&");
                self.at += 1;
            }
        }
    }

    fn markup(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        match rest {
            [_, first, ..] if first.is_ascii_alphabetic() => self.start_tag(),
            [_, b'/', first, ..] if first.is_ascii_alphabetic() => self.end_tag(),
            [_, b'!', b'-', b'-', ..] => {
                self.at = tags::comment_end(self.text.as_bytes(), self.at + 4);
            }
            _ if self.is_xml && rest.starts_with(b"<![CDATA[") => self.character_data(),
            [_, b'/', _, ..] => self.bogus_comment(2),
            [_, b'!' | b'?', ..] => self.bogus_comment(2),
            _ => {
                self.write("<");
                self.at += 1;
            }
        }
    }

    /// Skips anything that is neither tag nor comment up to the next `>`: doctypes, `<?php`,
    /// `</3>`.
    fn bogus_comment(&mut self, start: usize) {
        let start = self.at + start;
        let end = memchr::memchr(b'>', &self.text.as_bytes()[start..]);
        self.at = end.map_or(self.text.len(), |end| start + end + 1);
    }

    fn character_data(&mut self) {
        let start = self.at + "<![CDATA[".len();
        let text = self.text;
        let end = memchr::memmem::find(&text.as_bytes()[start..], b"]]>");
        let end = end.map_or(text.len(), |end| start + end);
        self.write(&text[start..end]);
        self.at = text.len().min(end + 3);
    }

    fn end_tag(&mut self) {
        let start = self.at + 2;
        let end = tags::name_end(self.text.as_bytes(), start);
        let name = &self.text.as_bytes()[start..end];
        let element = elements::by_name(name);
        self.skip_attributes(end);
        self.leave_ruby_at(element);
        match element {
            Element::Ruby if name.len() > 2 && self.ruby != Ruby::Outside => {
                self.ruby = Ruby::Outside;
                self.writer.end_readings();
            }
            Element::Reading | Element::ReadingFallback if self.ruby != Ruby::Outside => {
                self.ruby = Ruby::Characters;
            }
            Element::Pre => {
                self.pre_depth = self.pre_depth.saturating_sub(1);
                self.writer.gap(Gap::Line);
            }
            Element::Template => self.template_depth = self.template_depth.saturating_sub(1),
            Element::Note if name.len() == 1 => {
                self.links.end(self.writer.text());
                if std::mem::take(&mut self.begins_note) {
                    self.writer.gap(Gap::Space);
                }
            }
            Element::Inline | Element::Note | Element::Ruby => {}
            Element::Html | Element::Meta | Element::Image | Element::Address => {}
            Element::Cell | Element::Annotation | Element::Reading | Element::ReadingFallback => {
                self.writer.gap(Gap::Space)
            }
            Element::Heading => {
                self.end_heading();
                self.writer.gap(Gap::Line);
            }
            _ => self.writer.gap(Gap::Line),
        }
    }

    fn end_heading(&mut self) {
        let Some(start) = self.heading_start.take() else {
            return;
        };
        let text = self.writer.since(start).trim();
        if !text.is_empty() && text.len() <= MAX_HEADING_BYTES && self.headings.len() < MAX_HEADINGS
        {
            self.headings.push(text.to_owned());
        }
    }

    fn start_tag(&mut self) {
        let start = self.at + 1;
        let end = tags::name_end(self.text.as_bytes(), start);
        let name = &self.text[start..end];
        let element = elements::by_name(name.as_bytes());
        match element {
            Element::Meta | Element::Html | Element::Image | Element::Address => {
                return self.carrier(element, end);
            }
            Element::Frame => self.frame(end),
            _ => {}
        }
        let is_empty = self.skip_attributes(end) && self.is_xml;
        self.leave_ruby_at(element);
        match element {
            Element::Inline => {}
            Element::Note => {
                if self.is_note(&self.text[start..self.at]) {
                    self.writer.gap(Gap::Space);
                }
                self.begins_note = name.len() == 1 && self.is_mark(&self.text[start..self.at]);
                if name.len() == 1 && self.template_depth == 0 {
                    self.links.begin(&self.text[end..self.at]);
                }
            }
            Element::Ruby => {
                if self.ruby == Ruby::Outside {
                    self.writer.begin_readings();
                }
                self.ruby = Ruby::Characters;
            }
            Element::Reading if self.ruby != Ruby::Outside && !is_empty => {
                self.ruby = Ruby::Reading;
            }
            Element::ReadingFallback if self.ruby != Ruby::Outside && !is_empty => {
                self.ruby = Ruby::Fallback;
            }
            Element::Block => self.writer.gap(Gap::Line),
            Element::Heading => {
                self.writer.gap(Gap::Line);
                self.heading_start = Some(self.writer.len());
            }
            Element::Cell | Element::Reading | Element::ReadingFallback => {
                self.writer.gap(Gap::Space);
            }
            _ if is_empty => {}
            Element::Pre => {
                self.writer.gap(Gap::Line);
                self.pre_depth += 1;
            }
            Element::Template => self.template_depth += 1,
            _ => self.raw(element, name),
        }
    }

    /// Ends a `<ruby>` that lacks its end tag, at an element that cannot be in it.
    fn leave_ruby_at(&mut self, element: Element) {
        let is_phrasing = matches!(
            element,
            Element::Inline
                | Element::Note
                | Element::Ruby
                | Element::Reading
                | Element::ReadingFallback
                | Element::Image
        );
        if !is_phrasing {
            self.ruby = Ruby::Outside;
        }
    }

    /// Returns whether the number that follows the tag `<a …>` or `<sup …>` is that of a note and
    /// thus does not belong to the word before it.
    fn is_note(&self, tag: &str) -> bool {
        let before = self.writer.joined();
        if !before.ends_with(char::is_alphanumeric) {
            return false;
        }
        let after = &self.text[self.at..];
        let is_number = after.starts_with(|c: char| c.is_ascii_digit());
        if tag.starts_with(['a', 'A']) {
            return (is_number || after.starts_with("<sup")) && is_link_within_page(tag);
        }
        is_note_number(before, after)
            || (after.starts_with("<a") && is_link_within_page(tag_at(after)))
    }

    /// Returns whether the tag `<a …>` begins the mark in front of a note: a link within the page, of a
    /// number or a few letters at the start of a line.
    fn is_mark(&self, tag: &str) -> bool {
        let after = &self.text[self.at..];
        let mark = after
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .take(5)
            .count();
        (1..5).contains(&mark)
            && after[mark..].starts_with('<')
            && is_link_within_page(tag)
            && self.writer.is_at_line_start()
    }

    /// Skips to the end of the tag; returns whether it ended with `/>`.
    fn skip_attributes(&mut self, at: usize) -> bool {
        // Most end tags end here.
        if self.text.as_bytes().get(at) == Some(&b'>') {
            self.at = at + 1;
            return false;
        }
        let mut attributes = Attributes::new(self.text, at);
        while attributes.next().is_some() {}
        self.at = attributes.at;
        attributes.is_self_closing
    }

    /// Reads an element whose content has no tags.
    fn raw(&mut self, element: Element, name: &str) {
        let text = self.text;
        let end = match element {
            Element::Script => tags::script_end(text.as_bytes(), self.at),
            Element::Plaintext => text.len(),
            _ => tags::raw_end(text.as_bytes(), self.at, name.as_bytes()),
        };
        let content = &text[self.at..end];
        self.at = end;
        self.writer.gap(match element {
            Element::Annotation => Gap::Space,
            _ => Gap::Line,
        });
        match element {
            // A title that never ends is the rest of the page, which is more useful as text.
            Element::Title
                if self.title.is_none() && self.template_depth == 0 && end < text.len() =>
            {
                self.title = folded(&entities::decode(content, false));
            }
            Element::Title | Element::Textarea => self.write(&entities::decode(content, false)),
            Element::Xmp | Element::Plaintext => self.write(content),
            _ => {}
        }
    }

    /// Reads the page within the attribute `srcdoc` of a frame (HTML 4.8.5).
    fn frame(&mut self, at: usize) {
        if self.frame_depth >= MAX_FRAMES || self.template_depth > 0 {
            return;
        }
        let mut attributes = Attributes::new(self.text, at);
        let is_page = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("srcdoc");
        let Some((_, page)) = attributes.find(is_page) else {
            return;
        };
        let page = entities::decode(page, true);
        let left = self.max_bytes.saturating_sub(self.writer.len());
        let frame = strip_within(&page, Links::default(), left, self.frame_depth + 1);
        self.writer.gap(Gap::Line);
        self.writer.keep(&frame.body);
        self.links.add_all(frame.links);
        self.writer.gap(Gap::Line);
    }

    /// Reads an element whose attributes matter.
    fn carrier(&mut self, element: Element, at: usize) {
        let mut attributes = Attributes::new(self.text, at);
        let mut found = Carried::default();
        for (name, value) in attributes.by_ref() {
            found.set(name, value);
        }
        self.at = attributes.at;
        if !attributes.is_complete || self.template_depth > 0 {
            return;
        }
        match element {
            Element::Meta if found.name.eq_ignore_ascii_case("og:url") => {
                self.links.set_site(found.content);
            }
            Element::Meta => self
                .meta
                .add(found.name, &entities::decode(found.content, true)),
            Element::Address => {
                // Of `<link>` only the address of the page itself counts; `<base>` has no relation.
                if found.rel.is_empty() || found.rel.eq_ignore_ascii_case("canonical") {
                    self.links.set_site(found.href);
                }
            }
            Element::Html => self.meta.set_language(found.lang),
            _ => {
                let label = match found.alt.is_empty() || found.names_its_file() {
                    true => found.title,
                    false => found.alt,
                };
                self.writer.gap(Gap::Space);
                self.writer.fold(&entities::decode(label, true));
                self.writer.gap(Gap::Space);
            }
        }
    }
}

/// The attributes that matter.
#[derive(Debug, Default)]
struct Carried<'t> {
    name: &'t str,
    content: &'t str,
    lang: &'t str,
    alt: &'t str,
    title: &'t str,
    rel: &'t str,
    href: &'t str,
    src: &'t str,
}

impl<'t> Carried<'t> {
    /// Returns whether a picture is described by the name of its file, as programs fill it in.
    fn names_its_file(&self) -> bool {
        let name = self.alt.rsplit('/').next().unwrap_or_default().trim();
        name.contains('.') && self.src.ends_with(name)
    }

    /// Sets an attribute; the first one of a name counts (HTML 13.2.5.33).
    fn set(&mut self, name: &str, value: &'t str) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let slot = if is("name") || is("property") || is("itemprop") {
            &mut self.name
        } else if is("content") {
            &mut self.content
        } else if is("lang") || is("xml:lang") {
            &mut self.lang
        } else if is("alt") {
            &mut self.alt
        } else if is("title") {
            &mut self.title
        } else if is("rel") {
            &mut self.rel
        } else if is("href") {
            &mut self.href
        } else if is("src") {
            &mut self.src
        } else {
            return;
        };
        if slot.is_empty() {
            *slot = value;
        }
    }
}
