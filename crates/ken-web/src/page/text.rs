//! Texts with marks, and values as people write them.

use std::ops::Range;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::{Document, escape_bytes};
use ken_search::snippet::Fragment;
use serde::Serialize;

use super::coloured::Colour;
use super::templates;

/// The longest folder that is shown whole, in characters.
const FOLDER_LENGTH: usize = 56;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether the query found it.
    pub(super) mark: bool,
    /// What it is in a source file, for its colour; may be empty.
    pub(super) class: &'static str,
}

impl Piece {
    pub(super) fn new(text: &str, mark: bool) -> Self {
        Self {
            text: text.to_owned(),
            mark,
            class: "",
        }
    }
}

/// Splits a text at the stretches that the query found, which are in order.
pub(super) fn pieces(text: &str, found: &[Range<usize>]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(2 * found.len() + 1);
    let mut at = 0;
    for range in found {
        let start = range.start.max(at);
        let end = range.end.min(text.len());
        if start >= end {
            continue;
        }
        if at < start {
            pieces.push(Piece::new(&text[at..start], false));
        }
        pieces.push(Piece::new(&text[start..end], true));
        at = end;
    }
    if at < text.len() {
        pieces.push(Piece::new(&text[at..], false));
    }
    pieces
}

/// Splits a text at the stretches that the query found, and at those that have a colour. What was found has the colour of
/// marks alone.
pub(super) fn coloured_pieces(
    text: &str,
    found: &[Range<usize>],
    colours: &[Colour],
) -> Vec<Piece> {
    let mut shown = Vec::new();
    let (mut at, mut next) = (0, 0);
    for piece in pieces(text, found) {
        let end = at + piece.text.len();
        if piece.mark {
            shown.push(piece);
            at = end;
            continue;
        }
        while let Some((range, class)) = colours.get(next)
            && range.start < end
        {
            let (start, stop) = (range.start.max(at), range.end.min(end));
            if start < stop {
                shown.extend((at < start).then(|| Piece::new(&text[at..start], false)));
                shown.push(Piece {
                    class,
                    ..Piece::new(&text[start..stop], false)
                });
                at = stop;
            }
            if range.end > end {
                // The rest of it comes behind the mark.
                break;
            }
            next += 1;
        }
        shown.extend((at < end).then(|| Piece::new(&text[at..end], false)));
        at = end;
    }
    shown
}

/// Returns a passage, with dots where it is cut.
pub(super) fn passage(fragment: &Fragment) -> Vec<Piece> {
    let mut shown = pieces(&fragment.text, &fragment.highlights);
    if fragment.cut_start {
        shown.insert(0, Piece::new("… ", false));
    }
    if fragment.cut_end {
        shown.push(Piece::new(" …", false));
    }
    shown
}

/// A date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct When {
    /// As machines read it.
    pub(super) iso: String,
    /// The day.
    pub(super) day: String,
    /// The day and the time.
    pub(super) full: String,
}

/// Returns a time as people write it.
pub(super) fn when(seconds: i64, zone: &TimeZone) -> Option<When> {
    let time = Timestamp::from_second(seconds).ok()?.to_zoned(zone.clone());
    Some(When {
        iso: time.timestamp().to_string(),
        day: time.strftime("%-d %b %Y").to_string(),
        full: time.strftime("%A, %-d %B %Y, %H:%M").to_string(),
    })
}

/// Returns a path as people write it, with `~` for their home.
pub(super) fn path(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let bytes = |path: &Path| escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned();
    match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", bytes(below)),
        None => bytes(path),
    }
}

/// Returns a folder with its middle left out if it is long.
pub(super) fn short_folder(folder: &str) -> String {
    let n_characters = folder.chars().count();
    if n_characters <= FOLDER_LENGTH {
        return folder.to_owned();
    }
    let names: Vec<&str> = folder.split('/').collect();
    let first = names.iter().take(2).copied().collect::<Vec<_>>().join("/");
    let mut last = String::new();
    for name in names.iter().skip(2).rev() {
        let length = last.chars().count() + name.chars().count();
        if !last.is_empty() && first.chars().count() + length > FOLDER_LENGTH {
            break;
        }
        last = format!("/{name}{last}");
    }
    format!("{first}/…{last}")
}

/// Returns the name in an address of mail: `Anna <anna@example.org>` → `Anna`.
pub(super) fn person(address: &str) -> &str {
    let name = address.split_once('<').map_or("", |(name, _)| name);
    let name = name.trim().trim_matches(['"', '\'']).trim();
    match name {
        "" => address.trim().trim_matches(['<', '>']),
        name => name,
    }
}

/// Returns a size as people write it.
pub(super) fn size(bytes: Option<i64>) -> Option<String> {
    Some(templates::bytes(bytes?.try_into().ok()?))
}

/// Returns the name of the symbol of a document.
pub(super) fn icon(document: &Document) -> &'static str {
    match (document.media_type.as_str(), document.kind) {
        ("application/pdf", _) => "pdf",
        ("text/html" | "application/xhtml+xml", _) => "web",
        (_, kind) => kind.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_divide_a_text() {
        let text = "one two three";
        let shown = pieces(text, &[0..3, 4..7, 5..9, 20..30]);
        let shown: Vec<_> = shown.iter().map(|of| (of.text.as_str(), of.mark)).collect();
        let expected = [
            ("one", true),
            (" ", false),
            ("two", true),
            (" t", true),
            ("hree", false),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn colours_give_way_to_marks() {
        let text = "let one = two;";
        let colours = [(0..3, "k"), (4..13, "s")];
        let shown = coloured_pieces(text, &[6..9, 13..14], &colours);
        let shown: Vec<_> = shown
            .iter()
            .map(|of| (of.text.as_str(), of.mark, of.class))
            .collect();
        let expected = [
            ("let", false, "k"),
            (" ", false, ""),
            ("on", false, "s"),
            ("e =", true, ""),
            (" two", false, "s"),
            (";", true, ""),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn folders_and_people_are_short() {
        let home = Some(Path::new("/home/anna"));
        assert_eq!(path(Path::new("/home/anna"), home), "~");
        assert_eq!(path(Path::new("/home/anna/tax"), home), "~/tax");
        assert_eq!(path(Path::new("/home/annabel"), home), "/home/annabel");
        let long = "~/projects/a-long-name/another-long-name/a-third-long-name/src/page";
        assert_eq!(
            short_folder(long),
            "~/projects/…/another-long-name/a-third-long-name/src/page"
        );
        assert_eq!(person("\"Anna B.\" <anna@example.org>"), "Anna B.");
        assert_eq!(person("<anna@example.org>"), "anna@example.org");
        assert_eq!(person("Knuth"), "Knuth");
    }
}
