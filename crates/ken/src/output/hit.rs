//! How a hit looks: as text for people, as JSON for programs.

use std::os::unix::ffi::OsStrExt;

use jiff::tz::TimeZone;
use ken_core::{Field, escape_bytes};
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
    pub(crate) fragment: Option<&'a Fragment>,
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
    if let Some(fragment) = view
        .fragment
        .filter(|fragment| !fragment.highlights.is_empty())
    {
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
    if let Some(fragment) = view.fragment {
        text.push_str(&format!("    {}\n", snippet(fragment, style)));
    }
    text
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
    let mut object = document_json(&view.stored.document, false);
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
    if let Some(fragment) = view.fragment {
        let highlights: Vec<_> = fragment
            .highlights
            .iter()
            .map(|h| [h.start, h.end])
            .collect();
        object["snippet"] = json!({
            "text": fragment.text,
            "highlights": highlights,
            "page": fragment.page,
            "line": fragment.line,
        });
    }
    object
}
