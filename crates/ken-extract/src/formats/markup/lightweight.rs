//! Org, reStructuredText and AsciiDoc: the text with whole words (see [`inline`]); its first lines yield title,
//! author, date, language and keywords.
//!
//! <https://orgmode.org/manual/Export-Settings.html>,
//! <https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html>,
//! <https://docs.asciidoctor.org/asciidoc/latest/document/header/>

use ken_core::{Document, Field};

use super::inline::{self, Language};
use crate::input::text::read;
use crate::output::Output;
use crate::output::body::MAX_HEADINGS;
use crate::{Error, Format, Input, date};

const FIELDS: &[Field] = &[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Date,
];

const fn format(
    name: &'static str,
    media_types: &'static [&'static str],
    extract: crate::formats::Extract,
) -> Format {
    Format::new(name, media_types, extract)
        .fields(FIELDS)
        .version(3)
        .streams()
}

/// See [`crate::FORMATS`].
pub(in crate::formats) const ORG: Format = format("Org", &["text/x-org"], |input, output| {
    extract(input, output, org, org_headings, None)
});
/// See [`crate::FORMATS`].
pub(in crate::formats) const RST: Format =
    format("reStructuredText", &["text/x-rst"], |input, output| {
        extract(input, output, rst, rst_headings, Some(Language::Rst))
    });
/// See [`crate::FORMATS`].
pub(in crate::formats) const ASCIIDOC: Format =
    format("AsciiDoc", &["text/asciidoc"], |input, output| {
        let language = Some(Language::AsciiDoc);
        extract(input, output, asciidoc, asciidoc_headings, language)
    });

/// Calls back with each heading, until the callback returns `false`.
type Headings = fn(&str, &mut dyn FnMut(&str) -> bool);

/// Number of lines at the start that may hold fields.
const MAX_LINES: usize = 200;

fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
    read_head: fn(&str, &mut Document),
    each_heading: Headings,
    language: Option<Language>,
) -> Result<(), Error> {
    let (body, result) = read(input, output.limits())?;
    let document = output.own();
    read_head(&body, document);
    let mut n_headings = 0;
    each_heading(&body, &mut |heading| {
        document.add_text(Field::Headings, heading);
        n_headings += 1;
        n_headings < MAX_HEADINGS
    });
    let joined = language.and_then(|language| inline::joined(&body, language));
    document.body = joined.unwrap_or(body);
    result
}

/// Adds a value by the name that all three formats use.
fn add(document: &mut Document, name: &str, value: &str) {
    let field = match name.to_ascii_lowercase().as_str() {
        "title" => Field::Title,
        "author" | "authors" => Field::Author,
        "description" | "abstract" | "summary" | "subtitle" => Field::Description,
        "keywords" | "tags" | "filetags" | "category" => Field::Keywords,
        "lang" | "language" => Field::Lang,
        "date" | "revdate" => return add_date(document, value),
        _ => return,
    };
    let is_list = field == Field::Keywords || name.eq_ignore_ascii_case("authors");
    let values = value.split(|c| is_list && matches!(c, ',' | ';' | ':'));
    for value in values {
        // The first title counts.
        if field != Field::Title || document.text(Field::Title).is_none() {
            document.add_text(field, value);
        }
    }
}

/// Adds a date in one of the forms `2024-02-29`, `<2024-02-29 Thu>`, `29 February 2024`.
fn add_date(document: &mut Document, value: &str) {
    let value = value.trim().trim_start_matches(['<', '[']);
    let day = value.get(..10).and_then(date::iso);
    if document.number(Field::Date).is_none()
        && let Some(seconds) = day.or_else(|| date::spoken(value))
    {
        document.add_number(Field::Date, seconds);
    }
}

/// Reads `#+TITLE: value` before the text; without it, the first heading is the title.
fn org(text: &str, document: &mut Document) {
    let mut heading = None;
    for line in text.lines().take(MAX_LINES) {
        if let Some((name, value)) = line
            .strip_prefix("#+")
            .and_then(|line| line.split_once(':'))
        {
            add(document, name.trim(), value);
        } else if heading.is_none() {
            heading = org_heading(line);
        }
    }
    if let Some((title, tags)) = heading {
        add(document, "title", title);
        add(document, "tags", tags);
    }
}

/// Splits `* TODO [#A] Title :tag:tag:` into title and tags.
fn org_heading(line: &str) -> Option<(&str, &str)> {
    let title = line.trim_start_matches('*');
    if title.len() == line.len() || !title.starts_with(' ') {
        return None;
    }
    let title = title.trim();
    let title = title
        .strip_prefix("TODO ")
        .or_else(|| title.strip_prefix("DONE "))
        .unwrap_or(title);
    match title.rsplit_once(" :") {
        Some((title, tags)) if tags.ends_with(':') => Some((title.trim(), tags)),
        _ => Some((title, "")),
    }
}

fn org_headings(text: &str, each: &mut dyn FnMut(&str) -> bool) {
    let mut headings = text.lines().filter_map(org_heading);
    let _ = headings.all(|(title, _)| each(title));
}

/// Finds headings: a line above a line of punctuation that is at least as long.
fn rst_headings(text: &str, each: &mut dyn FnMut(&str) -> bool) {
    let mut previous = "";
    for line in text.lines() {
        let line = line.trim_end();
        let is_title = !previous.is_empty() && !previous.starts_with(['.', ':', ' ']);
        let fits = previous.chars().count() <= line.len();
        if is_rule(line) && is_title && fits && !each(previous) {
            return;
        }
        previous = if is_rule(line) { "" } else { line };
    }
}

/// Finds headings: `== Title`, or a line above a line of punctuation of about the same length; not
/// within blocks of code.
fn asciidoc_headings(text: &str, each: &mut dyn FnMut(&str) -> bool) {
    let mut block = None;
    let mut previous = "";
    for line in text.lines() {
        let line = line.trim_end();
        let mut heading = None;
        if block.is_some() {
            if block == Some(line) {
                block = None;
            }
        } else if is_rule(line) {
            let fits = line.len() > 2 && line.len().abs_diff(previous.chars().count()) < 3;
            if fits && !previous.starts_with([' ', '.', '[']) {
                heading = Some(previous);
            } else if line.len() > 3 {
                block = Some(line);
            }
        } else {
            let title = line.trim_start_matches('=');
            let level = line.len() - title.len();
            let is_marked = (1..=6).contains(&level) && title.starts_with(' ');
            heading = is_marked.then(|| title.trim());
        }
        if heading.is_some_and(|heading| !each(heading)) {
            return;
        }
        previous = if is_rule(line) { "" } else { line };
    }
}

/// Returns whether a line consists of one character, at least twice.
fn is_rule(line: &str) -> bool {
    let sign = line.bytes().next().filter(u8::is_ascii_punctuation);
    sign.is_some_and(|sign| line.len() > 1 && line.bytes().all(|byte| byte == sign))
}

/// Reads the header: a line between or above lines of punctuation is the title, `:Author: value` is
/// a field.
fn rst(text: &str, document: &mut Document) {
    let mut previous = "";
    for line in text.lines().take(MAX_LINES) {
        let line = line.trim_end();
        let is_underline = line.len() > 1
            && line.bytes().all(|byte| byte == line.as_bytes()[0])
            && line.as_bytes()[0].is_ascii_punctuation();
        let is_above = !previous.is_empty() && !previous.starts_with(['.', ':', ' ']);
        if is_underline && is_above && previous.chars().count() <= line.len() {
            add(document, "title", previous);
        }
        if let Some((name, value)) = line
            .trim_start()
            .strip_prefix(':')
            .and_then(|line| line.split_once(": "))
        {
            // A name in the directive `.. meta::` may have a language: `description lang=en`.
            add(document, name.split(' ').next().unwrap_or(name), value);
        }
        previous = if is_underline { "" } else { line.trim() };
    }
}

/// Reads the header up to a blank line: `= Title`, a line of authors, a revision line, and
/// `:name: value`.
fn asciidoc(text: &str, document: &mut Document) {
    let mut lines = text.lines().take(MAX_LINES).peekable();
    // Comments and attributes may precede the title.
    let mut is_header = false;
    let mut n_after_title = 0;
    while let Some(line) = lines.next() {
        let underline = lines.peek().map_or("", |next| next.trim_end());
        let is_underlined = underline.len() > 2
            && underline.bytes().all(|byte| byte == b'=')
            && underline.len().abs_diff(line.chars().count()) < 3;
        if line.trim().is_empty() {
            if is_header {
                break;
            }
        } else if let Some(attribute) = line.strip_prefix(':') {
            if let Some((name, value)) = attribute.split_once(':') {
                add(document, name, value);
            }
        } else if line.starts_with("//") {
        } else if !is_header {
            let title = line.strip_prefix("= ").or(is_underlined.then_some(line));
            let Some(title) = title else { break };
            add(document, "title", title);
            is_header = true;
            if is_underlined {
                lines.next();
            }
        } else {
            header_line(n_after_title, line, document);
            n_after_title += 1;
        }
    }
}

fn header_line(position: usize, line: &str, document: &mut Document) {
    match position {
        0 => {
            for author in line.split(';') {
                // Underscores join the words of one name.
                document.add_text(Field::Author, &author.replace('_', " "));
            }
        }
        // `v1.2, 2024-02-29: remark`
        1 => {
            let revision = line.split_once(',').map_or(line, |(_, rest)| rest);
            add_date(document, revision.split(':').next().unwrap_or(revision));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Value};

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{Extracted, run, survives};

    const SURVEYS: [(&str, &[u8], Format); 3] = [
        (
            "survey.org",
            include_bytes!("../../../tests/data/text/survey.org"),
            ORG,
        ),
        (
            "survey.rst",
            include_bytes!("../../../tests/data/text/survey.rst"),
            RST,
        ),
        (
            "survey.adoc",
            include_bytes!("../../../tests/data/text/survey.adoc"),
            ASCIIDOC,
        ),
    ];

    fn read(format: &Format, text: &str) -> Extracted {
        let detected = Detected {
            media_type: format.media_types[0],
            kind: Kind::Document,
        };
        run(format.extract, detected, "a", text.as_bytes())
    }

    fn texts(found: &Extracted, field: Field) -> Vec<&str> {
        let of = found
            .own()
            .fields
            .iter()
            .filter(|(known, _)| *known == field);
        of.filter_map(|(_, value)| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Number(_) => None,
        })
        .collect()
    }

    #[test]
    fn the_head_is_read_and_the_text_stays() {
        for (name, bytes, format) in SURVEYS {
            let detected = detect::detect(&Input::bytes_of(name, bytes)).unwrap();
            assert_eq!([detected.media_type], format.media_types);
            let found = run(format.extract, detected, name, bytes);
            let own = found.own();
            assert_eq!(own.body.as_bytes(), bytes);
            assert_eq!(own.text(Field::Title), Some("Fjord survey"), "{name}");
            assert_eq!(own.text(Field::Author), Some("Ylva Strand"), "{name}");
            assert_eq!(own.number(Field::Date), Some(1_709_164_800), "{name}");
            survives(format.extract, detected, name, bytes);
        }
    }

    #[test]
    fn headings_are_a_field() {
        for (format, text) in [
            (&ORG, "* One\n** TODO Two :tag:\ntext\n* Three\n"),
            (
                &RST,
                "=====\n One\n=====\n\nOne\n===\n\ntext\n\nTwo\n---\n\nThree\n~~~~~~\n.. x\n----\n",
            ),
            (
                &ASCIIDOC,
                "= One\n\n== Two\ntext\n\n----\ncode\n----\n=== Three\n",
            ),
        ] {
            let found = read(format, text);
            assert_eq!(
                texts(&found, Field::Headings),
                ["One", "Two", "Three"],
                "{text}"
            );
        }
    }

    #[test]
    fn org_has_headings_with_tags() {
        let found = read(&ORG, "text\n** TODO Buy rope :boat:work:\n* Later\n");
        assert_eq!(texts(&found, Field::Title), ["Buy rope"]);
        assert_eq!(texts(&found, Field::Keywords), ["boat", "work"]);
        let found = read(
            &ORG,
            "#+filetags: :a:b:\n#+LANGUAGE: nb\n#+date: [2024-02-29 Thu]\n*bold*\n",
        );
        assert_eq!(texts(&found, Field::Keywords), ["a", "b"]);
        assert_eq!(texts(&found, Field::Lang), ["nb"]);
        assert_eq!(found.own().number(Field::Date), Some(1_709_164_800));
        assert_eq!(found.own().text(Field::Title), None);
    }

    #[test]
    fn restructured_text_has_underlined_titles() {
        let text = ".. comment\n\n=======\n Knots\n=======\n\n:Author: Ida Berg\n:Keywords: rope, sea\n\n\
            Bends\n-----\n\n.. meta::\n   :description lang=en: All knots\n";
        let found = read(&RST, text);
        assert_eq!(texts(&found, Field::Title), ["Knots"]);
        assert_eq!(texts(&found, Field::Author), ["Ida Berg"]);
        assert_eq!(texts(&found, Field::Keywords), ["rope", "sea"]);
        assert_eq!(texts(&found, Field::Description), ["All knots"]);
        assert_eq!(
            read(&RST, "A line too long\n---\ntext")
                .own()
                .text(Field::Title),
            None
        );
    }

    #[test]
    fn asciidoc_has_a_header() {
        let text = "// comment\n:lang: en\n= Knots\nIda_Marie Berg <ida@example.org>; Jo Vik\n\
            v1.2, 2024-02-29: draft\n:keywords: rope, sea\n\ntext\n:author: nobody\n";
        let found = read(&ASCIIDOC, text);
        assert_eq!(texts(&found, Field::Title), ["Knots"]);
        assert_eq!(
            texts(&found, Field::Author),
            ["Ida Marie Berg <ida@example.org>", "Jo Vik"]
        );
        assert_eq!(texts(&found, Field::Keywords), ["rope", "sea"]);
        assert_eq!(texts(&found, Field::Lang), ["en"]);
        assert_eq!(found.own().number(Field::Date), Some(1_709_164_800));
        assert_eq!(
            texts(&read(&ASCIIDOC, "Knots\n=====\n\ntext"), Field::Title),
            ["Knots"]
        );
        assert_eq!(
            read(&ASCIIDOC, "text\n= no\n").own().text(Field::Title),
            None
        );
    }
}
