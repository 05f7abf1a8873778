//! Markdown: the text with whole words (see [`inline`]), whose front matter and first heading yield title, author, date and tags.
//!
//! Front matter is the YAML block between `---` lines at the start, as site generators and note
//! programs (Jekyll, Hugo, Pandoc, Obsidian) write it. Only `key: value` and lists of YAML are
//! read.

use ken_core::{Document, Field};

use super::inline::{self, Language};
use crate::input::text::read;
use crate::output::Output;
use crate::output::body::MAX_HEADINGS;
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("Markdown", &["text/markdown"], extract)
    .fields(&[
        Field::Title,
        Field::Headings,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Date,
    ])
    .version(4)
    .streams();

/// Number of lines that are searched for the end of front matter.
const MAX_LINES: usize = 500;
/// Maximum size of a heading in HTML.
const MAX_TITLE_BYTES: usize = 1000;

pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (body, result) = read(input, output.limits())?;
    let document = output.own();
    let rest = front_matter(&body, document);
    let mut n_headings = 0;
    each_heading(rest, &mut |heading| {
        let text = plain(heading);
        if n_headings == 0 && document.text(Field::Title).is_none() {
            document.add_text(Field::Title, &text);
        }
        document.add_text(Field::Headings, &text);
        n_headings += 1;
        n_headings < MAX_HEADINGS
    });
    let joined = inline::joined(rest, Language::Markdown);
    document.body = match joined {
        Some(joined) => body[..body.len() - rest.len()].to_owned() + &joined,
        None => body,
    };
    result
}

/// Reads the front matter, if there is one, and returns what follows it.
fn front_matter<'t>(body: &'t str, document: &mut Document) -> &'t str {
    let Some(rest) = body
        .strip_prefix("---")
        .filter(|rest| rest.starts_with(['\n', '\r']))
    else {
        return body;
    };
    let mut at = 0;
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for line in rest.split_inclusive('\n').take(MAX_LINES) {
        at += line.len();
        let line = line.trim_end();
        if line == "---" || line == "..." {
            for (key, value) in fields {
                add(document, key, value);
            }
            return &rest[at..];
        }
        // A list item belongs to the previous key.
        let item = line.trim_start().strip_prefix("- ");
        match (item, line.split_once(':')) {
            (Some(item), _) => {
                if let Some(&(key, _)) = fields.last() {
                    fields.push((key, item));
                }
            }
            (None, Some((key, value))) if !key.starts_with([' ', '#']) => fields.push((key, value)),
            _ => {}
        }
    }
    body
}

fn add(document: &mut Document, key: &str, value: &str) {
    let value = unquoted(value);
    let field = match key.trim().to_ascii_lowercase().as_str() {
        "title" => Field::Title,
        "author" | "authors" => Field::Author,
        "description" | "summary" | "abstract" | "subtitle" => Field::Description,
        "tags" | "keywords" | "categories" => Field::Keywords,
        "lang" | "language" => Field::Lang,
        "date" => {
            if let Some(seconds) = date::iso(value) {
                document.add_number(Field::Date, seconds);
            }
            return;
        }
        _ => return,
    };
    match value
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'))
    {
        Some(list) => {
            for item in list.split(',') {
                document.add_text(field, unquoted(item));
            }
        }
        // `>` and `|` begin a block of lines.
        None if matches!(value, ">" | "|" | ">-" | "|-") => {}
        None => document.add_text(field, value),
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

/// Returns the first heading as displayed.
pub(in crate::formats) fn title(text: &str) -> Option<String> {
    heading(text).map(plain)
}

/// Returns the first heading.
fn heading(text: &str) -> Option<&str> {
    let mut first = None;
    each_heading(text, &mut |heading| {
        first = Some(heading);
        false
    });
    first
}

/// Calls `each` with every heading, until `each` returns `false`. A heading is `# Title #`, or a
/// line underlined with `===` or `---`.
fn each_heading<'t>(text: &'t str, each: &mut dyn FnMut(&'t str) -> bool) {
    let mut fence = None;
    let mut previous = "";
    for line in text.lines() {
        let line = line.trim_end();
        let mark = line
            .trim_start()
            .get(..3)
            .filter(|mark| matches!(*mark, "```" | "~~~"));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let title = atx(line).or_else(|| html_heading(text, line));
                let title = title.or_else(|| is_underline(line, previous).then_some(previous));
                if let Some(title) = title
                    && !each(title)
                {
                    return;
                }
            }
        }
        previous = line.trim();
    }
}

/// Returns whether a line underlines the previous one as a heading, rather than being a rule or the
/// border of a table.
fn is_underline(line: &str, previous: &str) -> bool {
    let Some(sign @ (b'=' | b'-')) = line.bytes().next() else {
        return false;
    };
    line.len() > 1
        && line.bytes().all(|byte| byte == sign)
        && !previous.is_empty()
        && !previous.starts_with(['-', '|', '>', '='])
}

/// Returns the content of `<h1 align="center">…</h1>`, given its line.
fn html_heading<'t>(text: &'t str, line: &'t str) -> Option<&'t str> {
    let tag = line.trim_start();
    let is_heading = tag.get(..3)?.eq_ignore_ascii_case("<h1") && tag[3..].starts_with([' ', '>']);
    if !is_heading {
        return None;
    }
    let start = line.as_ptr().addr() - text.as_ptr().addr();
    let end = text.floor_char_boundary(start + MAX_TITLE_BYTES);
    let (_, content) = text[start..end].split_once('>')?;
    let (content, _) = content.split_once("</")?;
    Some(content.trim()).filter(|content| !content.is_empty())
}

/// Returns a heading as displayed: links become their texts; images, tags, `*` and backticks are
/// removed.
fn plain(heading: &str) -> String {
    let mut shown = String::with_capacity(heading.len());
    let mut rest = heading;
    while let Some(at) = rest.find(['!', '[', ']', '*', '`', '<']) {
        shown.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'!' if after.starts_with('[') => {
                skip_target(after.split_once(']').map_or("", |r| r.1))
            }
            b']' => skip_target(after),
            b'[' | b'*' | b'`' => after,
            b'<' if after.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()) => {
                after.split_once('>').map_or(after, |(_, rest)| rest)
            }
            byte => {
                shown.push(char::from(byte));
                after
            }
        };
    }
    shown.push_str(rest);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Skips the target of a link: `(address)` or `[name]`.
fn skip_target(text: &str) -> &str {
    let end = match text.as_bytes().first() {
        Some(b'(') => text.find(')'),
        Some(b'[') => text.find(']'),
        _ => None,
    };
    end.map_or(text, |end| &text[end + 1..])
}

fn atx(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    if !(1..=6).contains(&level) || !title.starts_with([' ', '\t']) {
        return None;
    }
    Some(title.trim_end_matches('#').trim()).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Value};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const MARKDOWN: Detected = Detected {
        media_type: "text/markdown",
        kind: Kind::Document,
    };

    const NOTE: &str = "---\ntitle: \"On reindeer\"\nauthor: [Anna, 'Jon']\ndate: 2024-02-29\n\
        tags:\n  - arctic\n  - animals\nlang: en\n---\n# Another heading\ntext\n";

    fn title_of(text: &str) -> Option<String> {
        let found = run(extract, MARKDOWN, "a.md", text.as_bytes());
        found.own().text(Field::Title).map(str::to_owned)
    }

    #[test]
    fn front_matter_fills_fields_and_stays_in_the_body() {
        let found = run(extract, MARKDOWN, "a.md", NOTE.as_bytes());
        let own = found.own();
        let texts = |field| -> Vec<&str> {
            let of = own.fields.iter().filter(|(found, _)| *found == field);
            of.filter_map(|(_, value)| match value {
                Value::Text(text) => Some(text.as_str()),
                Value::Number(_) => None,
            })
            .collect()
        };
        assert_eq!(texts(Field::Title), ["On reindeer"]);
        assert_eq!(texts(Field::Author), ["Anna", "Jon"]);
        assert_eq!(texts(Field::Keywords), ["arctic", "animals"]);
        assert_eq!(texts(Field::Lang), ["en"]);
        assert_eq!(own.number(Field::Date), Some(1_709_164_800));
        assert_eq!(own.body, NOTE);
    }

    #[test]
    fn the_first_heading_is_the_title() {
        assert_eq!(
            title_of("text\n## Second level ##\n").as_deref(),
            Some("Second level")
        );
        assert_eq!(
            title_of("Underlined\n======\n").as_deref(),
            Some("Underlined")
        );
        assert_eq!(
            title_of("```sh\n# no\n```\n# yes\r\n").as_deref(),
            Some("yes")
        );
        assert_eq!(
            title_of("---\nfoo: bar\n---\n# x y\n").as_deref(),
            Some("x y")
        );
        assert_eq!(
            title_of("---\nnever: closed\n# yes\n").as_deref(),
            Some("yes")
        );
        assert_eq!(title_of("#hashtag\n#######seven\n\n===\n"), None);
        assert_eq!(title_of(""), None);
    }

    #[test]
    fn all_headings_are_a_field() {
        let text = "# One\n- item\n---\nTwo *x*\n---\n```\n# no\n```\n### Three ###\n| a |\n---\n";
        let found = run(extract, MARKDOWN, "a.md", text.as_bytes());
        let headings = found.own().fields.iter();
        let headings: Vec<_> = headings
            .filter(|(field, _)| *field == Field::Headings)
            .map(|(_, value)| value.clone())
            .collect();
        assert_eq!(
            headings,
            ["One", "Two x", "Three"].map(|t| Value::Text(t.to_owned()))
        );
    }

    #[test]
    fn titles_are_plain_text() {
        for (heading, title) in [
            ("[Proj](http://a.b) `code` **bold**", "Proj code bold"),
            ("Name [![badge](x)](y) ![](z)", "Name"),
            ("[a][b] [c] d[", "a c d"),
            ("C* <br> & 1 < 2!", "C & 1 < 2!"),
            ("x ![", "x"),
            ("snake_case", "snake_case"),
        ] {
            assert_eq!(plain(heading), title);
        }
        for text in [
            "a\n\n  <h1 align='center'>\n Big one</h1>\n# b",
            "<H1>Big one</h1>",
        ] {
            assert_eq!(heading(text), Some("Big one"), "{text}");
        }
        for text in [
            "<h1>never closed\n# b",
            "<h1></h1>\n# b",
            "<h12>x</h12>\n# b",
        ] {
            assert_eq!(heading(text), Some("b"), "{text}");
        }
    }

    #[test]
    fn hostile_notes_are_survived() {
        survives(extract, MARKDOWN, "a.md", NOTE.as_bytes());
    }
}
