//! The words of a query in titles.

use std::ops::Range;

use ken_core::{Document, Field};

use super::{Error, Query, Service, title};
use crate::snippet::{self, Finder, Fragment, Settings};

/// Finds the words of a query in titles.
pub struct Titles {
    titles: Finder,
    names: Finder,
}

impl Service<'_> {
    /// Returns what finds the words of a query in titles.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn titles(&self, query: &Query) -> Result<Titles, Error> {
        let plan = self.snapshot.expand(&query.plan, query.limits())?;
        let finder = |field| Finder::new(snippet::matchers(&plan, field), self.context.analyze);
        Ok(Titles {
            titles: finder(Field::Title),
            names: finder(Field::Filename),
        })
    }
}

impl Titles {
    /// Returns the bytes of the title of a document, else of its file name, that the query finds.
    pub fn marks(&self, document: &Document) -> Vec<Range<usize>> {
        let finder = self.finder(document);
        title(document).map_or_else(Vec::new, |text| finder.ranges(text, &|| false))
    }

    /// Returns the title of a document, else its file name: of a long one the passage of at most `length` characters that
    /// the query finds.
    pub fn passage(&self, document: &Document, length: usize) -> Option<Fragment> {
        let text = title(document)?;
        let is_short = text.chars().count() <= length && !text.contains(char::is_control);
        if is_short {
            return Some(Fragment {
                text: text.to_owned(),
                highlights: self.marks(document),
                cut_start: false,
                cut_end: false,
                at: 0..text.len(),
                page: None,
                line: 1,
            });
        }
        let settings = Settings { length, count: 1 };
        let fragments = self.finder(document).fragments(text, settings);
        fragments.into_iter().next()
    }

    fn finder(&self, document: &Document) -> &Finder {
        match document.text(Field::Title) {
            Some(_) => &self.titles,
            None => &self.names,
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind, Pattern, Plan};

    use super::*;

    fn by_spaces(_: Field, text: &str, each: &mut dyn FnMut(&str, u32, Range<usize>)) {
        let mut at = 0;
        for (position, word) in text.split(' ').enumerate() {
            each(word, position as u32, at..at + word.len());
            at += word.len() + 1;
        }
    }

    #[test]
    fn a_title_that_fits_is_shown_whole() {
        let plan = Plan::Match {
            field: Field::Title,
            pattern: Pattern::Term("long".to_owned()),
        };
        let finder = || Finder::new(snippet::matchers(&plan, Field::Title), by_spaces);
        let titles = Titles {
            titles: finder(),
            names: finder(),
        };
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        let text = "very long name ".repeat(14) + "end";
        document.add_text(Field::Title, text.as_str());
        let shown = titles.passage(&document, 300).unwrap();
        assert_eq!((shown.text, shown.cut_start), (text, false));
        assert_eq!(shown.highlights[0], 5..9);
        assert_eq!(shown.highlights.len(), 14);
        let cut = titles.passage(&document, 60).unwrap();
        assert!(cut.text.chars().count() <= 60 && (cut.cut_start || cut.cut_end));
    }
}
