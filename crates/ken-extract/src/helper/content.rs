//! Reads the output of a helper with ken's own extractors.

use ken_core::{Document, Field, Value};

use crate::detect;
use crate::formats::{self, html_within};
use crate::output::Output;
use crate::{Error, Input, Isolation, Member, text};

/// Replaces a form feed while HTML is read, where form feeds count as spaces: Recoll's filters put
/// them between pages. It is a noncharacter, which no text holds.
const PAGE_END: char = '\u{fdd0}';

/// A document in the output of a helper.
pub(super) struct Content<'c> {
    /// Name of the file that the document represents.
    pub(super) name: &'c str,
    /// Its media type; `None` if it must be detected.
    pub(super) media_type: Option<&'c str>,
    pub(super) charset: Option<&'c str>,
    pub(super) data: Vec<u8>,
}

impl Content<'_> {
    /// Fills the input's own document.
    pub(super) fn take_place(self, output: &mut Output<'_>) -> Result<(), Error> {
        output.unpacked(self.data.len() as u64)?;
        match self.media_type {
            Some("text/html" | "application/xhtml+xml") => {
                let max_bytes = output.limits().max_text_bytes;
                fill_from_html(output.own(), &self.data, self.charset, max_bytes);
                Ok(())
            }
            Some(media_type) if media_type.starts_with("text/") => {
                output.own().body = text::decode_owned(self.data, self.charset);
                Ok(())
            }
            declared => read_as(self.name, declared, self.data, output),
        }
    }
}

fn fill_from_html(document: &mut Document, data: &[u8], charset: Option<&str>, max_bytes: usize) {
    let marked;
    let mut page = if memchr::memchr(b'\x0c', data).is_some() {
        let charset = charset.or(formats::meta_charset(data));
        marked = text::decode(data, charset).replace('\x0c', &String::from(PAGE_END));
        html_within(marked.as_bytes(), Some("utf-8"), max_bytes)
    } else {
        html_within(data, charset, max_bytes)
    };
    if page.body.contains(PAGE_END) {
        page.body = page.body.replace(PAGE_END, "\x0c");
    }
    if let Some(title) = page.title {
        document.fields.push((Field::Title, Value::Text(title)));
    }
    document.fields.extend(page.fields);
    document.body = page.body;
}

/// Reads content of another format in place of the input. Content of a format that is parsed in a
/// worker is handed on as a member, because the sink of members has a worker.
fn read_as(
    name: &str,
    declared: Option<&str>,
    data: Vec<u8>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    // `a.txt.lz` holds `a.txt`.
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut input = Input::member(Member {
        ipath: output.ipath().clone(),
        name: if declared.is_none() { stem } else { "" }.to_owned(),
        declared_type: declared.map(str::to_owned),
        bytes: data,
        ..Member::default()
    });
    let detected = detect::detect(&input)?;
    match formats::by_media_type(detected.media_type) {
        Some(format) if format.isolation == Isolation::Worker => output.member(Member {
            ipath: output.child_ipath(stem),
            name: stem.to_owned(),
            declared_type: Some(detected.media_type.to_owned()),
            bytes: input.take_bytes(output.limits())?,
            ..Member::default()
        }),
        found => {
            if declared.is_none() {
                output.set_detected(detected);
            }
            found.map_or(Ok(()), |format| (format.extract)(&mut input, output))
        }
    }
}

/// Returns the fields that a helper reports besides the content. Their names are those of Recoll's
/// own HTML, which are ken's names and aliases; times are in seconds.
pub(super) fn fields(said: &[(String, String)]) -> Vec<(Field, Value)> {
    let known = said.iter().filter_map(|(name, value)| {
        let value = value.trim();
        if matches!(name.as_str(), "modificationdate" | "dmtime") {
            let seconds = value.parse().ok()?;
            return Some((Field::Modified, Value::Number(seconds)));
        }
        let field = Field::from_name(name).filter(|field| field.is_given())?;
        let folded = value.split_whitespace().collect::<Vec<_>>().join(" ");
        (!folded.is_empty()).then_some((field, Value::Text(folded)))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind};

    use super::*;

    #[test]
    fn pages_of_html_stay_pages() {
        let mut document = Document::new(Ipath::root(), "a/b", Kind::Document);
        let html = b"<html><head><title>T</title><meta name=\"author\" content=\"A\"></head>\
                     <body><pre>one\x0ctwo\x0c</pre></body></html>";
        fill_from_html(&mut document, html, None, usize::MAX);
        assert_eq!(document.text(Field::Title), Some("T"));
        assert_eq!(document.text(Field::Author), Some("A"));
        let pages: Vec<_> = document.body.split('\x0c').map(str::trim).collect();
        assert_eq!(pages, ["one", "two", ""]);
    }

    #[test]
    fn what_is_said_becomes_fields() {
        let said = [
            ("author", " Anna  B "),
            ("Subject", "s"),
            ("modificationdate", "1700000000"),
            ("size", "5"),
            ("nonsense", "x"),
        ];
        let said = said.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            fields(&said),
            [
                (Field::Author, Value::Text("Anna B".to_owned())),
                (Field::Title, Value::Text("s".to_owned())),
                (Field::Modified, Value::Number(1_700_000_000)),
            ]
        );
    }
}
