//! Markdown: plain text whose front matter and first heading tell title, author, date and tags.
//!
//! Front matter is the YAML block between `---` lines that site generators and note programs
//! (Jekyll, Hugo, Pandoc, Obsidian) put first; of YAML only `key: value` and lists are read.

use ken_core::{Document, Field};

use crate::output::Output;
use crate::{Error, Input, date};

/// Front matter and headings are looked for in this many lines.
const MAX_LINES: usize = 500;

pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (body, result) = super::text::read(input, output)?;
    let document = output.own();
    let rest = front_matter(&body, document);
    if document.text(Field::Title).is_none()
        && let Some(title) = heading(rest)
    {
        document.add_text(Field::Title, title);
    }
    document.body = body;
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
        // A list item belongs to the key before it.
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

/// Returns the first heading: `# Title #`, or a line underlined with `===`.
fn heading(text: &str) -> Option<&str> {
    let mut fence = None;
    let mut previous = "";
    for line in text.lines().take(MAX_LINES) {
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
                if let Some(title) = atx(line) {
                    return Some(title);
                }
                if !previous.is_empty() && line.len() > 1 && line.bytes().all(|byte| byte == b'=') {
                    return Some(previous);
                }
            }
        }
        previous = line.trim();
    }
    None
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

    fn title(text: &str) -> Option<String> {
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
            title("text\n## Second level ##\n").as_deref(),
            Some("Second level")
        );
        assert_eq!(title("Underlined\n======\n").as_deref(), Some("Underlined"));
        assert_eq!(title("```sh\n# no\n```\n# yes\r\n").as_deref(), Some("yes"));
        assert_eq!(title("---\nfoo: bar\n---\n# x y\n").as_deref(), Some("x y"));
        assert_eq!(title("---\nnever: closed\n# yes\n").as_deref(), Some("yes"));
        assert_eq!(title("#hashtag\n#######seven\n\n===\n"), None);
        assert_eq!(title(""), None);
    }

    #[test]
    fn hostile_notes_are_survived() {
        survives(extract, MARKDOWN, "a.md", NOTE.as_bytes());
    }
}
