//! What the author of a message hides from its reader: text for machines.
//!
//! Programs that show mail run no scripts, so an element that is hidden stays hidden. A page of the web may show it at a
//! click, so nothing is left out there. Only what the element itself says counts (`hidden`, `display: none`,
//! `visibility: hidden`): style sheets are not read, and small or pale letters are letters.

use std::borrow::Cow;

use super::tags::{self, Attributes};
use crate::text::entities;

/// Elements without content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// Elements whose content is no markup.
const RAW: [&str; 6] = ["style", "title", "textarea", "xmp", "iframe", "noframes"];
/// Elements that end an open paragraph (HTML 13.1.2.4).
const ENDS_PARAGRAPH: [&str; 26] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "fieldset",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "table",
    "ul",
];
/// Elements that end an open one of the same list.
const SIBLINGS: [&[&str]; 4] = [&["li"], &["dt", "dd"], &["td", "th", "tr"], &["option"]];
/// Elements that are deeper are not remembered.
const MAX_DEPTH: usize = 128;

/// Returns a page without its hidden elements.
pub(super) fn without_hidden(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut from = 0;
    let mut above = Open::default();
    let mut tags = Tags { text, at: 0 };
    while let Some(tag) = tags.next() {
        if !tag.hides {
            above.take(&tag);
            continue;
        }
        shown.push_str(&text[from..tag.start]);
        from = end(text, &tag, &above);
        tags.at = from;
    }
    match from {
        0 => text.into(),
        _ => (shown + &text[from..]).into(),
    }
}

/// Returns where a hidden element ends: behind its end tag, before a tag that ends it or what is above it, or at the
/// end of the page.
fn end(text: &str, start: &Tag<'_>, above: &Open<'_>) -> usize {
    if start.is_one_of(&VOID) {
        return start.end;
    }
    let siblings = SIBLINGS.iter().find(|list| start.is_one_of(list));
    let mut within = Open::default();
    for tag in (Tags {
        text,
        at: start.end,
    }) {
        let is_own = within.0.is_empty();
        let ends_it = match tag.is_end {
            true if within.has(&tag) => false,
            true if tag.is(start.name) => return tag.end,
            true => above.has(&tag),
            false if start.is("p") => tag.is_one_of(&ENDS_PARAGRAPH),
            false => is_own && siblings.is_some_and(|list| tag.is_one_of(list)),
        };
        if ends_it {
            return tag.start;
        }
        within.take(&tag);
    }
    text.len()
}

/// The elements that are open, the innermost last.
#[derive(Default)]
struct Open<'t>(Vec<&'t str>);

impl<'t> Open<'t> {
    fn take(&mut self, tag: &Tag<'t>) {
        if tag.is_end {
            if let Some(at) = self.0.iter().rposition(|name| tag.is(name)) {
                self.0.truncate(at);
            }
        } else if !tag.is_one_of(&VOID) && self.0.len() < MAX_DEPTH {
            self.0.push(tag.name);
        }
    }

    fn has(&self, tag: &Tag<'_>) -> bool {
        self.0.iter().any(|name| tag.is(name))
    }
}

/// A tag of a page.
struct Tag<'t> {
    name: &'t str,
    start: usize,
    /// Behind the tag, or behind its content if that is no markup.
    end: usize,
    is_end: bool,
    hides: bool,
}

impl Tag<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(name))
    }
}

/// The tags of a page, one after the other.
struct Tags<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Tags<'t> {
    type Item = Tag<'t>;

    fn next(&mut self) -> Option<Tag<'t>> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at + memchr::memchr(b'<', bytes.get(self.at..)?)?;
            let is_end = match &bytes[start..] {
                [_, first, ..] if first.is_ascii_alphabetic() => false,
                [_, b'/', first, ..] if first.is_ascii_alphabetic() => true,
                [_, b'!', b'-', b'-', ..] => {
                    self.at = tags::comment_end(bytes, start + 4);
                    continue;
                }
                _ => {
                    self.at = start + 1;
                    continue;
                }
            };
            let tag = self.tag(start, is_end);
            self.at = tag.end;
            return Some(tag);
        }
    }
}

impl<'t> Tags<'t> {
    fn tag(&self, start: usize, is_end: bool) -> Tag<'t> {
        let bytes = self.text.as_bytes();
        let from = start + 1 + usize::from(is_end);
        let name_end = tags::name_end(bytes, from);
        let mut attributes = Attributes::new(self.text, name_end);
        // All of them are read: the tag ends behind the last.
        let hides = attributes.by_ref().filter(hides).count() > 0;
        let mut tag = Tag {
            name: &self.text[from..name_end],
            start,
            end: attributes.at,
            is_end,
            hides: hides && !is_end,
        };
        if !is_end && tag.is("script") {
            tag.end = tags::script_end(bytes, tag.end);
        } else if !is_end && tag.is_one_of(&RAW) {
            tag.end = tags::raw_end(bytes, tag.end, tag.name.to_ascii_lowercase().as_bytes());
        }
        tag
    }
}

/// Returns whether an attribute hides its element.
fn hides((name, value): &(&str, &str)) -> bool {
    if name.eq_ignore_ascii_case("hidden") {
        return !value.eq_ignore_ascii_case("until-found");
    }
    name.eq_ignore_ascii_case("style") && is_hiding(&entities::decode(value, true))
}

/// Returns whether a style hides; of two declarations the later one holds.
fn is_hiding(style: &str) -> bool {
    let (mut displayed, mut visible) = (true, true);
    for declaration in style.split(';') {
        let Some((property, value)) = declaration.split_once(':') else {
            continue;
        };
        let value = value.trim_start();
        let value = value.split(|c: char| c.is_whitespace() || c == '!').next();
        let is = |name: &str| value.is_some_and(|value| value.eq_ignore_ascii_case(name));
        match property.trim() {
            property if property.eq_ignore_ascii_case("display") => displayed = !is("none"),
            property if property.eq_ignore_ascii_case("visibility") => visible = !is("hidden"),
            _ => {}
        }
    }
    !(displayed && visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_elements_are_left_out() {
        for (page, shown) in [
            ("<p>a<span hidden>x</span>b", "<p>ab"),
            (
                "a<DIV STYLE='Display : NONE !important'>x<div>y</div>z</DIV>b",
                "ab",
            ),
            ("a<td style=\"color:red;visibility:hidden\">x</td>b", "ab"),
            ("a<i style='display:&#110;one'>x</i>b", "ab"),
            ("a<p hidden>x<p>b", "a<p>b"),
            ("a<p style=display:none>x</p>b", "ab"),
            ("a<img hidden alt=x>b", "ab"),
            (
                "a<b hidden>x<!-- </b> --><style></b></style><script>'</b>'</script>y</b>c",
                "ac",
            ),
            ("<p hidden>x<div hidden>y</div>b", "b"),
            // Without an end tag, up to the end of what is around.
            (
                "<table><td>a<div hidden>x</td><td>b</table>",
                "<table><td>a</td><td>b</table>",
            ),
            ("<ul><li hidden>x<li>b</ul>", "<ul><li>b</ul>"),
            (
                "<ul><li hidden>x<ul><li>y</ul>z<li>b</ul>",
                "<ul><li>b</ul>",
            ),
            ("<body>a<div hidden>x</body>b", "<body>a</body>b"),
            ("a<div hidden>x</b></p><p>y", "a"),
            ("a<p hidden", "a"),
        ] {
            assert_eq!(without_hidden(page), shown, "{page}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for page in [
            "a<b style='display:none;display:inline'>x</b>",
            "a<div hidden=until-found>x</div>",
            "a<td style='font-size:0;max-height:0;opacity:.5'>x</td>",
            "<!-- <p hidden> -->x</p>",
            "a < b hidden> </b>",
            "a<p class=hidden title='display:none'>x</p>",
        ] {
            assert!(matches!(without_hidden(page), Cow::Borrowed(_)), "{page}");
        }
    }

    #[test]
    fn elements_without_an_end_cost_little() {
        for piece in [
            "<x hidden>",
            "<div>",
            "<p hidden>",
            "<div><b hidden></b>",
            "</x>",
        ] {
            let page = piece.repeat(50_000);
            assert!(without_hidden(&page).len() <= page.len(), "{piece}");
        }
    }
}
