//! Bookmarks, which are the headings of a document (ISO 32000-2, 12.3.3).

use std::collections::HashSet;

use hayro_syntax::object::{Dict, ObjRef, String as PdfString};

use super::metadata::text_string;
use crate::output::body::{MAX_HEADING_BYTES, MAX_HEADINGS};

/// Returns the titles of the bookmarks of a document.
pub(super) fn read(catalog: &Dict<'_>) -> Vec<String> {
    let mut seen: HashSet<ObjRef> = HashSet::new();
    // The items whose titles are still to be read, the next one last.
    let mut open: Vec<Dict<'_>> = catalog.get::<Dict<'_>>(b"Outlines").into_iter().collect();
    let mut titles = Vec::new();
    while let Some(item) = open.pop()
        && titles.len() < MAX_HEADINGS
    {
        if let Some(title) = item.get::<PdfString<'_>>(b"Title") {
            let title = text_string(&title);
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            let end = title.floor_char_boundary(MAX_HEADING_BYTES);
            titles.push(title[..end].to_owned());
        }
        for key in [&b"Next"[..], b"First"] {
            let is_new = item
                .get_ref(key)
                .is_some_and(|reference| seen.insert(reference));
            open.extend(item.get::<Dict<'_>>(key).filter(|_| is_new));
        }
    }
    titles
}
