//! Attached files and messages of a message, and the files attached to those, by number.
//!
//! `2` is the second file of a message; if that file is a message, `2.1` is its first file.

use std::collections::HashSet;

use ken_core::{Field, Ipath, Kind, Location};

use super::Message;
use crate::service::{Error, Listed, Service, is_complete, reached};

/// A file or message attached to a message.
#[derive(Clone, Debug)]
pub struct Part {
    /// The number, such as `2.1`.
    pub number: String,
    /// The file name; may be empty.
    pub name: String,
    /// The media type.
    pub media_type: String,
    /// The size, if known.
    pub n_bytes: Option<i64>,
    /// The location of the part.
    pub location: Location,
}

impl Service<'_> {
    /// Returns the files attached to a message and to its attached messages, in order. Members of archives are left
    /// out: the archive is one file.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn parts(&self, message: &Message) -> Result<Listed<Part>, Error> {
        let snapshot = self.snapshot;
        let limits = self.limits(None);
        let own_depth = message.location.ipath.depth();
        let mut inside = Vec::new();
        for address in snapshot.mail().siblings(message.at)? {
            if reached(limits.as_ref()) {
                break;
            }
            let location = snapshot.location(address)?;
            if location.ipath.depth() > own_depth {
                inside.push((location, address));
            }
        }
        // A part comes before the parts inside it.
        inside.sort_by_cached_key(|(location, _)| location.ipath.depth());
        let mut messages = HashSet::from([message.location.ipath.as_str().to_owned()]);
        let mut all = Vec::new();
        for (location, address) in inside {
            if reached(limits.as_ref()) {
                break;
            }
            let depth = location.ipath.depth();
            if !messages.contains(location.ipath.prefix(depth - 1)) {
                continue;
            }
            let document = snapshot.document_without_body(address)?.document;
            if document.kind == Kind::Message {
                messages.insert(location.ipath.as_str().to_owned());
            }
            let name = document.text(Field::Filename).unwrap_or_default();
            all.push(Part {
                number: number(&location.ipath, own_depth),
                name: name.to_owned(),
                n_bytes: document.number(Field::Size),
                media_type: document.media_type,
                location,
            });
        }
        all.sort_by_cached_key(|part| order(&part.number));
        Ok(Listed {
            items: all,
            complete: is_complete(limits.as_ref()),
        })
    }
}

/// Returns the numbers on the way from a message to a part.
fn number(ipath: &Ipath, own_depth: usize) -> String {
    let numbers: Vec<&str> = ipath.as_str().split('|').skip(own_depth).collect();
    numbers.join(".")
}

fn order(number: &str) -> Vec<u64> {
    let numbers = number.split('.');
    numbers.map(|n| n.parse().unwrap_or(u64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_from_their_message() {
        let ipath = Ipath::root().child("12").child("2").child("10");
        assert_eq!(number(&ipath, 1), "2.10");
        assert_eq!(number(&ipath, 2), "10");
        assert!(order("2.10") > order("2.9") && order("2.1") > order("2"));
        assert!(order("3") > order("2.9"));
    }
}
