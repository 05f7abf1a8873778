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
        let settings = Settings { length, count: 1 };
        let fragments = self.finder(document).fragments(title(document)?, settings);
        fragments.into_iter().next()
    }

    fn finder(&self, document: &Document) -> &Finder {
        match document.text(Field::Title) {
            Some(_) => &self.titles,
            None => &self.names,
        }
    }
}
