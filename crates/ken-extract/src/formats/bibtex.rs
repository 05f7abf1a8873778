//! BibTeX (`.bib`): the values of each entry, without the commands of TeX in them.
//!
//! An entry is a run of lines: its key, then its values in the order of the file. An entry that is
//! not closed ends where a line begins with `@`.

use super::body::Body;
use super::tex;
use crate::output::Output;
use crate::{Error, Format, Input, Isolation};

/// See [`crate::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "BibTeX",
    media_types: &["text/x-bibtex"],
    fields: &[],
    sections: None,
    members: None,
    isolation: Isolation::Process,
    version: 1,
    streams: true,
    extract,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = super::text::read(input, output)?;
    let mut body = Body::new(output.limits().max_text_bytes);
    for entry in entries(&text) {
        read_entry(entry, &mut body);
        if body.is_full() {
            break;
        }
    }
    output.own().body = body.finish();
    result
}

/// Splits at the lines that begin with `@`, or with spaces before the `@article{` of an entry.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find('@')?;
        rest = &rest[start + 1..];
        let mut ends = memchr::memchr_iter(b'\n', rest.as_bytes()).map(|end| end + 1);
        let end = ends.find(|&end| begins_entry(&rest[end..]));
        let end = end.unwrap_or(rest.len());
        let (entry, after) = rest.split_at(end);
        rest = after;
        Some(entry)
    })
}

fn begins_entry(text: &str) -> bool {
    let line = text.trim_start_matches([' ', '\t']);
    let Some(entry) = line.strip_prefix('@') else {
        return false;
    };
    let is_indented = line.len() < text.len();
    let kind = |byte: &u8| byte.is_ascii_alphabetic();
    let end = entry.bytes().take(32).take_while(kind).count();
    !is_indented || (end > 0 && entry[end..].trim_ascii_start().starts_with(['{', '(']))
}

/// Reads `article{key, name = {value}, …}`; what follows the entry is a comment.
fn read_entry(entry: &str, body: &mut Body) {
    let Some(open) = entry.find(['{', '(']) else {
        return;
    };
    let kind = entry[..open].trim();
    if kind.eq_ignore_ascii_case("preamble") || !kind.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return;
    }
    body.end_paragraph();
    let mut rest = &entry[open + 1..];
    if let Some((key, after)) = rest.split_once(',')
        && !key.contains('=')
    {
        body.line(key.trim());
        rest = after;
    }
    while let Some((_, after)) = rest.split_once('=') {
        let (value, after) = value(after);
        body.end_paragraph();
        body.push_folded(&tex::plain(&unquoted(value.trim())));
        body.end_paragraph();
        rest = after;
    }
}

/// Splits a value, up to the comma or brace outside of all braces and quotes, from what follows.
fn value(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'{' => depth += 1,
            b'}' | b')' if depth == 0 && !is_quoted => return (&text[..at], ""),
            b'}' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 => is_quoted = !is_quoted,
            b',' if depth == 0 && !is_quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

/// Returns a value without the quotes around it or its parts: `jan # " quarterly"`.
fn unquoted(value: &str) -> String {
    let mut depth = 0_usize;
    let mut keep = |character: &char| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *character != '"' || depth > 0
    };
    value.chars().filter(|character| keep(character)).collect()
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const BIBTEX: Detected = Detected {
        media_type: "text/x-bibtex",
        kind: Kind::Data,
    };
    const SAMPLE: &[u8] = include_bytes!("../../tests/data/text/fish.bib");

    #[test]
    fn values_lose_their_commands() {
        let found = run(extract, BIBTEX, "fish.bib", SAMPLE);
        assert_eq!(
            found.own().body,
            "Havforskningsinstituttet\nstrand2024\nStrand, Ylva and Müller, Jürgen\n\
             The lumpsucker’s disc, a = b\nhav # quarterly\n2024\nnaess\nA note in quotes, with commas"
        );
    }

    #[test]
    fn entries_may_be_indented() {
        let text =
            "  @book{a,\n    title = {One}\n  }\n\n  @Book (b,\n    title = {Two,\n @ sea}\n  )";
        let found = run(extract, BIBTEX, "a.bib", text.as_bytes());
        assert_eq!(found.own().body, "a\nOne\nb\nTwo, @ sea");
    }

    #[test]
    fn an_open_entry_ends_at_the_next() {
        let text = "@book{a, title = {Never closed\n@book{b, title = \"Closed\"}\n@nothing\n@";
        let found = run(extract, BIBTEX, "a.bib", text.as_bytes());
        assert_eq!(found.own().body, "a\nNever closed\nb\nClosed");
    }

    #[test]
    fn hostile_lists_are_survived() {
        survives(extract, BIBTEX, "fish.bib", SAMPLE);
    }
}
