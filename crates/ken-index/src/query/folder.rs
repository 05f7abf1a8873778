//! The query for folders in whose name a regular expression is found, as in mu and notmuch: the
//! whole name from the root folder of all mail on.
//!
//! Locations are sorted, so neighbouring documents are in one folder, which is tested once.

use std::sync::Arc;

use ken_core::{Folders, escape_bytes};
use regex_automata::meta::Regex;
use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, TantivyError};

use super::path::documents_at;
use crate::limits::{Limits, Pace};
use crate::schema::LOCATION;

/// Documents in these folders.
#[derive(Clone, Debug)]
pub(super) struct FolderQuery {
    pub(super) folders: Folders,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Query for FolderQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(FolderWeight {
            test: Test::new(&self.folders)?,
            limits: self.limits.clone(),
        }))
    }
}

/// A test of folders by name.
pub(super) struct Test {
    expression: Regex,
    all_mail: Option<String>,
    is_maildir: bool,
}

impl Test {
    pub(super) fn new(folders: &Folders) -> tantivy::Result<Self> {
        let expression = Regex::new(&folders.expression);
        Ok(Self {
            expression: expression
                .map_err(|error| TantivyError::InvalidArgument(error.to_string()))?,
            all_mail: folders.all_mail.clone(),
            is_maildir: folders.is_maildir,
        })
    }

    /// Tests a folder by path.
    fn accepts(&self, folder: &[u8]) -> bool {
        self.accepts_escaped(&escape_bytes(folder))
    }

    /// Tests a folder by its path as it is printed.
    pub(super) fn accepts_escaped(&self, folder: &str) -> bool {
        let folder = match self.is_maildir {
            true => folder
                .strip_suffix("/cur")
                .or_else(|| folder.strip_suffix("/new")),
            false => Some(folder),
        };
        let Some(folder) = folder else { return false };
        match &self.all_mail {
            Some(all_mail) => match folder.strip_prefix(all_mail.trim_end_matches('/')) {
                Some("") => self.is_found(""),
                Some(name) => name
                    .strip_prefix('/')
                    .is_some_and(|name| self.is_found(name)),
                None => false,
            },
            // Any folder may be the root of all mail.
            None => folder
                .match_indices('/')
                .any(|(at, _)| self.is_found(&folder[at + 1..])),
        }
    }

    /// The expression decides whether the name begins with a slash.
    fn is_found(&self, name: &str) -> bool {
        self.expression.is_match(name) || self.expression.is_match(&format!("/{name}"))
    }
}

struct FolderWeight {
    test: Test,
    limits: Option<Arc<Limits>>,
}

impl Weight for FolderWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(column) = segment.fast_fields().bytes(LOCATION)? else {
            return documents_at(segment, &[], boost);
        };
        let mut ordinals = Vec::new();
        let mut last: Option<(Vec<u8>, bool)> = None;
        let mut stream = column.dictionary().stream()?;
        let mut pace = Pace::default();
        while !pace.step(self.limits.as_deref()) && stream.advance() {
            let path = stream
                .key()
                .split(|byte| *byte == 0)
                .next()
                .unwrap_or_default();
            let end = memchr::memrchr(b'/', path).unwrap_or(0);
            let folder = &path[..end];
            let is_found = match &last {
                Some((known, is_found)) if known == folder => *is_found,
                _ => {
                    let is_found = self.test.accepts(folder);
                    last = Some((folder.to_vec(), is_found));
                    is_found
                }
            };
            if is_found {
                ordinals.push(stream.term_ord());
            }
        }
        documents_at(segment, &ordinals, boost)
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(segment, 1.0)?;
        if scorer.seek(doc) == doc {
            Ok(Explanation::new("the folder", 1.0))
        } else {
            Err(TantivyError::InvalidArgument("another folder".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_name_is_looked_at() {
        let mail = Some("/home/a/Mail");
        let folder = "/home/a/Mail/lists/dev/cur";
        for (is_maildir, expression, all_mail, expected) in [
            (true, "^lists$", mail, false),
            (true, "^lists/dev$", mail, true),
            (true, "^/lists/dev$", mail, true),
            (true, "(^lists/dev$|^sent)", mail, true),
            (true, "(inbox|v$)", mail, true),
            (true, "(?i)^LISTS", mail, true),
            (true, "x*/lists", mail, true),
            (true, "^.lists.*v$", mail, true),
            (true, "^dev", mail, false),
            (true, "home", mail, false),
            (true, "lists.cur", mail, false),
            (true, "^dev$", None, true),
            (true, "^lists/dev$", None, true),
            (false, "^lists/dev$", mail, false),
            (false, "^lists/dev/cur$", mail, true),
            (true, "^ts", Some("/home/a/Mail/lis"), false),
            (true, "^$", Some("/home/a/Mail/lists/dev/"), true),
        ] {
            let test = Test::new(&Folders {
                expression: expression.to_owned(),
                all_mail: all_mail.map(str::to_owned),
                is_maildir,
            });
            assert_eq!(
                test.unwrap().accepts(folder.as_bytes()),
                expected,
                "{expression}"
            );
        }
        let latin = Test::new(&Folders {
            expression: r"^Entw\\xfcrfe$".to_owned(),
            all_mail: None,
            is_maildir: false,
        });
        assert!(latin.unwrap().accepts(b"/mail/Entw\xfcrfe"));
    }
}
