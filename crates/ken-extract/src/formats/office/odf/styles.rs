//! The styles that say something about text: those that begin a page, and those that raise it.

use std::collections::HashSet;

use crate::structure::xml::Start;

/// The styles of a document.
#[derive(Default)]
pub(super) struct Styles {
    /// Paragraph styles that begin a page.
    pub(super) of_pages: HashSet<String>,
    /// Styles of raised text.
    pub(super) raised: HashSet<String>,
    /// The style whose properties follow.
    current: String,
}

impl Styles {
    /// Remembers a style with a page break; programs write soft breaks only for other styles.
    pub(super) fn note_page(&mut self, tag: &Start<'_>) {
        let begins_page = if tag.name() == "style" {
            self.current = tag.attribute("name").unwrap_or_default().into_owned();
            tag.attribute("master-page-name")
                .is_some_and(|name| !name.is_empty())
        } else {
            tag.attribute("break-before").as_deref() == Some("page")
        };
        if begins_page {
            self.of_pages.insert(self.current.clone());
        }
    }

    /// Remembers a style that raises text.
    pub(super) fn note_position(&mut self, tag: &Start<'_>) {
        let position = tag.attribute("text-position");
        if position.is_some_and(|position| is_raised(&position)) {
            self.raised.insert(self.current.clone());
        }
    }
}

/// Returns whether a `style:text-position` is above the line: `super 58%` or `33% 58%`.
fn is_raised(position: &str) -> bool {
    let height = position.split(' ').next().unwrap_or_default();
    height == "super" || height.ends_with('%') && !height.starts_with(['-', '0'])
}
