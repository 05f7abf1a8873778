//! HTML and XHTML: text, title and metadata of web pages, mail bodies and book chapters.
//!
//! The page is decoded (byte order mark, declared charset, `<meta charset>`, detection) and read in
//! one pass by [`strip`].

mod elements;
mod hidden;
mod links;
mod meta;
mod strip;
mod tags;
mod writer;

use ken_core::{Field, Value};

use crate::output::Output;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("HTML", &["text/html", "application/xhtml+xml"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Created,
            Field::Date,
        ])
        .version(8);

/// Number of bytes that are searched for the charset; the standard asks for 1024.
const PRESCAN_BYTES: usize = 2048;

/// The content of a page.
#[derive(Debug, Default)]
pub(crate) struct HtmlText {
    /// The title, which is not part of the body.
    pub(crate) title: Option<String>,
    /// Metadata in the head: author, description, keywords, dates, language.
    pub(crate) fields: Vec<(Field, Value)>,
    /// The headings, which are also in the body.
    pub(crate) headings: Vec<String>,
    /// The visible text; blocks are lines.
    pub(crate) body: String,
}

/// Reads a short page, or one whose text the caller bounds, without the targets of its links; `declared_charset`
/// comes from the header of the mail or server.
pub(crate) fn html_to_text(bytes: &[u8], declared_charset: Option<&str>) -> HtmlText {
    let charset = declared_charset.or_else(|| meta_charset(bytes));
    read(&text::decode(bytes, charset), "", usize::MAX, false)
}

/// Does the same as [`html_to_text`], but stops when the text has more than `max_bytes`. The targets of links to
/// other sites follow the text.
pub(crate) fn html_within(
    bytes: &[u8],
    declared_charset: Option<&str>,
    max_bytes: usize,
) -> HtmlText {
    let charset = declared_charset.or_else(|| meta_charset(bytes));
    read(&text::decode(bytes, charset), "", max_bytes, true)
}

/// Does the same for a page whose address is known, so that what leads to its own site is left out.
pub(in crate::formats) fn html_from(
    address: &str,
    bytes: &[u8],
    declared_charset: Option<&str>,
    max_bytes: usize,
) -> HtmlText {
    let charset = declared_charset.or_else(|| meta_charset(bytes));
    read(&text::decode(bytes, charset), address, max_bytes, true)
}

/// Does the same for a message, without what its author hides from the reader.
pub(crate) fn shown_within(
    bytes: &[u8],
    declared_charset: Option<&str>,
    max_bytes: usize,
) -> HtmlText {
    let charset = declared_charset.or_else(|| meta_charset(bytes));
    read(
        &hidden::without_hidden(&text::decode(bytes, charset)),
        "",
        max_bytes,
        true,
    )
}

fn read(page: &str, address: &str, max_bytes: usize, with_links: bool) -> HtmlText {
    let mut page = strip::strip(page, address, max_bytes);
    if with_links {
        page.links.add_to(&mut page.body);
    }
    HtmlText {
        title: page.title.or_else(|| page.meta.other_title.clone()),
        fields: page.meta.into_fields(),
        headings: page.headings,
        body: page.body,
    }
}

pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let document = output.own();
    // A page of a web archive is a member whose name is its address.
    let address = document.ipath.last().to_owned();
    let bytes = input.bytes(limits)?;
    let page = html_from(&address, bytes, None, limits.max_text_bytes);
    if let Some(title) = page.title {
        document.fields.push((Field::Title, Value::Text(title)));
    }
    document.fields.extend(page.fields);
    for heading in &page.headings {
        document.add_text(Field::Headings, heading);
    }
    document.body = page.body;
    Ok(())
}

/// Returns whether an element, in lower case, leaves the word whole that it is within.
pub(in crate::formats) fn is_inline(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "a", "abbr", "b", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
        "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u",
        "var", "wbr",
    ];
    NAMES.contains(&name)
}

/// Returns the charset that the start of a page declares, in `<meta>` or the XML declaration.
pub(crate) fn meta_charset(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    memchr::memchr_iter(b'<', start).find_map(|at| {
        let tag = &start[at + 1..];
        let key: &[u8] = match tag {
            [b'm' | b'M', b'e' | b'E', b't' | b'T', b'a' | b'A', ..] => b"charset",
            [b'?', b'x', b'm', b'l', ..] => b"encoding",
            _ => return None,
        };
        let tag = &tag[..memchr::memchr(b'>', tag).unwrap_or(tag.len())];
        let at = tag
            .windows(key.len())
            .position(|window| window.eq_ignore_ascii_case(key))?;
        let value = tag[at + key.len()..]
            .trim_ascii_start()
            .strip_prefix(b"=")?;
        let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.+".contains(byte);
        let value = value.trim_ascii_start();
        let value = value
            .strip_prefix(b"\"")
            .or(value.strip_prefix(b"'"))
            .unwrap_or(value);
        let length = value.iter().take_while(|&byte| is_label(byte)).count();
        std::str::from_utf8(&value[..length]).ok()
    })
}

#[cfg(test)]
mod tests;
