//! How a hit looks: as text for people, as JSON for programs.

use std::os::unix::ffi::OsStrExt;

use jiff::tz::TimeZone;
use ken_core::{Field, FieldNames, Root, escape_bytes};
use ken_index::Stored;
use ken_search::snippet::Fragment;
use serde_json::{Value as Json, json};

use super::{Style, clean, day, document_json, size, title};

/// All that is shown of a hit.
pub(crate) struct HitView<'a> {
    /// Its place in the whole result, from 1.
    pub(crate) rank: usize,
    pub(crate) score: Option<f32>,
    pub(crate) stored: &'a Stored,
    /// What fields are called.
    pub(crate) names: &'a FieldNames,
    /// The folders and files that the index covers.
    pub(crate) roots: &'a [Root],
    /// The best first.
    pub(crate) fragments: &'a [Fragment],
    /// Whether the fragments are to be shown in one list.
    pub(crate) several: bool,
    /// How many other hits it stands for.
    pub(crate) more: usize,
    /// What they are.
    pub(crate) more_of: &'static str,
}

/// Returns a hit as lines of text.
pub(crate) fn hit_text(view: &HitView<'_>, style: Style, zone: &TimeZone) -> String {
    let Stored {
        location, document, ..
    } = view.stored;
    let title = title(document).unwrap_or("(no name)");
    let shown = clean(&location.to_string()).into_owned();
    let mut path = style.link(&location.path, &style.path(&shown));
    // A hit in the name alone has no place in the text.
    let places = view
        .fragments
        .iter()
        .filter(|fragment| !fragment.highlights.is_empty());
    if let Some(fragment) = places.take(1).find(|_| !view.several) {
        match fragment.page {
            Some(page) => path.push_str(&format!(" p. {page}")),
            None => path.push_str(&format!(":{}", fragment.line)),
        }
    }
    let mut facts = Vec::new();
    if let Some(date) = document.number(Field::Date) {
        facts.push(day(date, zone));
    }
    if let Some(bytes) = document.number(Field::Size) {
        facts.push(size(bytes));
    }
    if let Some(failure) = &document.failure {
        facts.push(format!(
            "{}: {}",
            failure.reason.name(),
            clean(&failure.message)
        ));
    }
    let facts = style.dim(&facts.join("  "));
    let mut text = format!("{}\n  {path}  {facts}\n", style.bold(&clean(title)));
    for fragment in view.fragments {
        if view.several && !fragment.highlights.is_empty() {
            text.push_str(&place_text(fragment, style));
        } else {
            text.push_str(&format!("    {}\n", snippet(fragment, style)));
        }
    }
    if view.more > 0 {
        let more = format!("and {} more {}", view.more, view.more_of);
        text.push_str(&format!("    {}\n", style.dim(&more)));
    }
    text
}

/// Returns a place of a document as a line of text: page or line, and what stands there.
pub(crate) fn place_text(fragment: &Fragment, style: Style) -> String {
    let place = match fragment.page {
        Some(page) => format!("p. {page}"),
        None => fragment.line.to_string(),
    };
    format!("    {}: {}\n", style.dim(&place), snippet(fragment, style))
}

/// Returns a place of a document as JSON; see docs/json.md.
pub(crate) fn place_json(stored: &Stored, fragment: &Fragment) -> Json {
    let bytes = stored.location.path.as_os_str().as_bytes();
    let mut object = fragment_json(fragment);
    object["v"] = json!(super::SCHEMA);
    object["path"] = json!(escape_bytes(bytes));
    object["ipath"] = json!(stored.location.ipath);
    if std::str::from_utf8(bytes).is_err() {
        object["path_bytes"] = json!(bytes);
    }
    object
}

fn fragment_json(fragment: &Fragment) -> Json {
    let highlights = fragment
        .highlights
        .iter()
        .map(|place| [place.start, place.end]);
    json!({
        "text": fragment.text,
        "highlights": highlights.collect::<Vec<_>>(),
        "page": fragment.page,
        "line": fragment.line,
    })
}

fn snippet(fragment: &Fragment, style: Style) -> String {
    let mut text = String::new();
    if fragment.cut_start {
        text.push('…');
    }
    let mut at = 0;
    for highlight in &fragment.highlights {
        text.push_str(&fragment.text[at..highlight.start]);
        text.push_str(&style.highlight(&fragment.text[highlight.clone()]));
        at = highlight.end;
    }
    text.push_str(&fragment.text[at..]);
    if fragment.cut_end {
        text.push('…');
    }
    text
}

/// Returns a hit as JSON; see docs/json.md.
pub(crate) fn hit_json(view: &HitView<'_>) -> Json {
    let location = &view.stored.location;
    let bytes = location.path.as_os_str().as_bytes();
    let mut object = document_json(&view.stored.document, view.names, false);
    object["rank"] = json!(view.rank);
    object["path"] = json!(escape_bytes(bytes));
    if std::str::from_utf8(bytes).is_err() {
        object["path_bytes"] = json!(bytes);
    }
    if let Some(score) = view.score {
        object["score"] = json!(score);
    }
    if let Some(title) = title(&view.stored.document) {
        object["title"] = json!(title);
    }
    if let Some(fragment) = view.fragments.first() {
        object["snippet"] = fragment_json(fragment);
    }
    if view.several {
        let all: Vec<_> = view.fragments.iter().map(fragment_json).collect();
        object["snippets"] = json!(all);
    }
    if !view.more_of.is_empty() {
        object["more"] = json!(view.more);
    }
    object
}
