//! Prints hits for people.

use jiff::tz::TimeZone;
use ken_core::Field;
use ken_search::service::{Hit, day};
use ken_search::snippet::Fragment;

use super::{Style, cause_text, clean, size};

/// Returns a hit as lines of text; `more_of` describes the hits that it represents.
pub(crate) fn hit_text(hit: &Hit, more_of: &str, style: Style, zone: &TimeZone) -> String {
    let Hit {
        location, document, ..
    } = hit;
    let title = hit.title().unwrap_or("(no name)");
    let shown = clean(&location.to_string()).into_owned();
    let mut path = style.link(&location.path, &style.path(&shown));
    // A hit by its name alone has no match in the text.
    let mut matches = hit.snippets.iter().filter(|of| !of.highlights.is_empty());
    if let Some(first) = matches.next().filter(|_| !hit.has_several) {
        match first.page {
            Some(page) => path.push_str(&format!(" p. {page}")),
            None => path.push_str(&format!(":{}", first.line)),
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
            failure.reason().name(),
            clean(&cause_text(&failure.cause))
        ));
    }
    let facts = style.dim(&facts.join("  "));
    let mut text = format!("{}\n  {path}  {facts}\n", style.bold(&clean(title)));
    for passage in &hit.snippets {
        if hit.has_several && !passage.highlights.is_empty() {
            text.push_str(&match_text(passage, style));
        } else {
            text.push_str(&format!("    {}\n", snippet(passage, style)));
        }
    }
    if let Some(more) = hit.more.filter(|more| *more > 0) {
        let more = format!("and {more} more {more_of}");
        text.push_str(&format!("    {}\n", style.dim(&more)));
    }
    text
}

/// Returns a match as a line: page or line number, and the passage.
pub(crate) fn match_text(passage: &Fragment, style: Style) -> String {
    let at = match passage.page {
        Some(page) => format!("p. {page}"),
        None => passage.line.to_string(),
    };
    format!("    {}: {}\n", style.dim(&at), snippet(passage, style))
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
