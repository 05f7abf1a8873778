//! BibTeX (`.bib`): the values of each entry, without their TeX commands.
//!
//! An entry yields several lines: its key, then its values in the order of the file. An unclosed
//! entry ends where a line begins with `@`; comments are left out.

use super::tex;
use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("BibTeX", &["text/x-bibtex"], extract)
    .version(2)
    .streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
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

/// Splits at the `@` of entries. Text between entries is a comment.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let mut next = match begins_entry(text, false) {
        Some(at) => Some(at),
        None => next_entry(text, 0),
    };
    std::iter::from_fn(move || {
        let start = next? + 1;
        next = next_entry(text, start);
        Some(&text[start..next.unwrap_or(text.len())])
    })
}

/// Returns the start of the next entry: at the start of a line, or after a closing brace.
fn next_entry(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'\n', b'}', b')', &bytes[from..]).find_map(|at| {
        let at = from + at + 1;
        begins_entry(&text[at..], bytes[at - 1] != b'\n').map(|ahead| at + ahead)
    })
}

/// Returns the distance to an entry that follows after spaces only. An entry that is not at the
/// start of its line must look like `@article{`.
fn begins_entry(text: &str, is_inside: bool) -> Option<usize> {
    let line = text.trim_start_matches([' ', '\t']);
    let entry = line.strip_prefix('@')?;
    let ahead = text.len() - line.len();
    let kind = |byte: &u8| byte.is_ascii_alphabetic();
    let end = entry.bytes().take(32).take_while(kind).count();
    let is_sure = end > 0 && entry[end..].trim_ascii_start().starts_with(['{', '(']);
    (is_sure || (ahead == 0 && !is_inside)).then_some(ahead)
}

/// Reads `article{key, name = {value}, …}`; text after the entry is a comment.
fn read_entry(entry: &str, body: &mut Body) {
    let Some(open) = entry.find(['{', '(']) else {
        return;
    };
    let kind = entry[..open].trim();
    let is_text = |name: &str| kind.eq_ignore_ascii_case(name);
    if is_text("preamble")
        || is_text("comment")
        || !kind.bytes().all(|byte| byte.is_ascii_alphabetic())
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

/// Splits a value from the rest, at the comma or brace outside all braces and quotes.
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

/// Returns a value without the quotes around it or its parts, as in `jan # " quarterly"`.
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
    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/text/fish.bib");

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
    fn entries_may_share_a_line_and_what_is_between_them_is_none() {
        let text = "Made by me@example.org\n% @book{no, title = {Never}}\n@comment{jabref-meta: a = b}\n\
            @book{a, title = {One}} @book{b, title = {Two @ {x} @ sea}}@misc(c, note = {Three})";
        let found = run(extract, BIBTEX, "a.bib", text.as_bytes());
        assert_eq!(found.own().body, "a\nOne\nb\nTwo @ x @ sea\nc\nThree");
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
