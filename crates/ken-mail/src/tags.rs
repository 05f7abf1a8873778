//! Tags that people give to messages and other documents, stored as lines of text.
//!
//! A line has notmuch's `batch-tag` format (notmuch-tag(1), notmuch-dump(1)): `+todo -inbox --
//! id:20240101.1@example.org`, with every special byte of a tag as `%xx`. So the log is in the format that `notmuch
//! dump` writes and `notmuch tag --batch` reads. A document that is no message is named by its address: `+tax --
//! path:/home/ann/bill.pdf`. If several lines name a document, the last one for each tag counts.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};
use std::ops::Bound;

use ken_core::Location;

/// What has a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tagged {
    /// All messages with this identifier, which has no angle brackets.
    Message(String),
    /// The document with this address, as ken prints it.
    Document(String),
}

impl Tagged {
    /// Returns the identifier or the address.
    pub fn name(&self) -> &str {
        let (Self::Message(name) | Self::Document(name)) = self;
        name
    }

    /// Returns the address by which the document at a location is tagged: a line has room for no control characters, so
    /// they are `\xNN`, as bytes that are not UTF-8 are.
    pub fn address(location: &Location) -> String {
        let mut address = String::new();
        for c in location.to_string().chars() {
            match c.is_control() {
                true => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        // A String takes everything.
                        let _ = write!(address, "\\x{byte:02x}");
                    }
                }
                false => address.push(c),
            }
        }
        address
    }
}

/// The tags that a message or another document gains and loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagChange {
    /// What changes.
    pub on: Tagged,
    /// Each tag, and whether it is there after the change.
    pub tags: Vec<(String, bool)>,
}

impl TagChange {
    /// Returns a change of the messages with an identifier.
    pub fn of_message(id: String, tags: Vec<(String, bool)>) -> Self {
        let on = Tagged::Message(id);
        Self { on, tags }
    }

    /// Reads a line; `None` for an empty line or a comment (`#…`).
    ///
    /// # Errors
    /// Returns what is wrong with the line.
    pub fn read(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (tags, query) = match line.strip_prefix("-- ") {
            Some(query) => ("", query),
            None => line.split_once(" -- ").ok_or("there is no ` -- `")?,
        };
        let query = query.trim();
        let tags = tags.split_whitespace().map(change);
        let on = match (query.strip_prefix(ID), query.strip_prefix(PATH)) {
            (Some(id), _) => Tagged::Message(unquoted(id)?),
            (_, Some(address)) => Tagged::Document(unquoted(address)?),
            _ => return Err("there is neither `id:` nor `path:` behind ` -- `".to_owned()),
        };
        if on.name().is_empty() {
            return Err("there is nothing behind `id:` or `path:`".to_owned());
        }
        Ok(Some(Self {
            on,
            tags: tags.collect::<Result<_, _>>()?,
        }))
    }
}

/// What stands before an identifier, and before an address.
const ID: &str = "id:";
const PATH: &str = "path:";

fn change(word: &str) -> Result<(String, bool), String> {
    let (sign, name) = match word.split_at_checked(1) {
        Some((sign @ ("+" | "-"), name)) if !name.is_empty() => (sign, name),
        _ => return Err(format!("{word:?} is neither +tag nor -tag")),
    };
    Ok((decoded(name)?, sign == "+"))
}

/// Prints the line without its end.
impl fmt::Display for TagChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (tag, is_given) in &self.tags {
            f.write_char(if *is_given { '+' } else { '-' })?;
            encode(tag, f)?;
            f.write_char(' ')?;
        }
        let (prefix, name) = match &self.on {
            Tagged::Message(id) => (ID, id),
            Tagged::Document(address) => (PATH, address),
        };
        write!(f, "-- {prefix}")?;
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"()".contains(c);
        if !name.is_empty() && name.chars().all(is_plain) {
            return f.write_str(name);
        }
        let name = name.replace(char::is_control, " ");
        write!(f, "\"{}\"", name.replace('"', "\"\""))
    }
}

fn encode(tag: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // As a tag, it would read as the sign before the query.
    if tag == "-" {
        return f.write_str("%2d");
    }
    for byte in tag.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => f.write_char(char::from(byte))?,
            b'+' | b'-' | b'_' | b'@' | b'=' | b'.' | b',' => f.write_char(char::from(byte))?,
            byte => write!(f, "%{byte:02x}")?,
        }
    }
    Ok(())
}

fn decoded(name: &str) -> Result<String, String> {
    let wrong = || format!("{name:?} is no encoded tag: % stands before two digits from 0 to f");
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>().ok_or_else(wrong)?;
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Reads an identifier. An identifier with special characters is in quotes, with its own quotes doubled.
fn unquoted(id: &str) -> Result<String, String> {
    let Some(inside) = id.strip_prefix('"') else {
        return Ok(id.to_owned());
    };
    let inside = inside.strip_suffix('"').ok_or("the quote is not closed")?;
    Ok(inside.replace("\"\"", "\""))
}

/// Numbers of tags, and whether each is there.
type Numbers = Vec<(u32, bool)>;

/// The tags of everything that was ever tagged, in less than 100 bytes for each message.
#[derive(Debug, Default)]
pub struct Tags {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    by_id: HashMap<Box<str>, Numbers>,
    /// In order, so that members follow their file.
    by_address: BTreeMap<Box<str>, Numbers>,
}

impl Tags {
    /// Returns whether nothing was ever tagged.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.by_address.is_empty()
    }

    /// Applies a change.
    pub fn take(&mut self, change: &TagChange) {
        let numbers: Vec<(u32, bool)> = change
            .tags
            .iter()
            .map(|(tag, is_given)| (self.number(tag), *is_given))
            .collect();
        let tags = match &change.on {
            Tagged::Message(id) => self.by_id.entry(id.as_str().into()).or_default(),
            Tagged::Document(address) => {
                self.by_address.entry(address.as_str().into()).or_default()
            }
        };
        for (number, is_given) in numbers {
            match tags.iter_mut().find(|(known, _)| *known == number) {
                Some((_, known)) => *known = is_given,
                None => tags.push((number, is_given)),
            }
        }
    }

    fn number(&mut self, tag: &str) -> u32 {
        if let Some(number) = self.numbers.get(tag) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(tag.to_owned());
        self.numbers.insert(tag.to_owned(), number);
        number
    }

    /// Returns every tag that a message gained or lost, and whether the message has it. Most messages have none.
    pub fn of(&self, id: &str) -> impl Iterator<Item = (&str, bool)> {
        self.named(self.by_id.get(id))
    }

    /// Returns every tag that the document with an address gained or lost, and whether it has it.
    pub fn of_document(&self, address: &str) -> impl Iterator<Item = (&str, bool)> {
        self.named(self.by_address.get(address))
    }

    fn named<'s>(&'s self, tags: Option<&'s Numbers>) -> impl Iterator<Item = (&'s str, bool)> {
        tags.into_iter().flatten().filter_map(|(number, is_given)| {
            let name = self.names.get(*number as usize)?;
            Some((name.as_str(), *is_given))
        })
    }

    /// Returns the identifiers of all messages that were ever tagged, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(|id| &**id)
    }

    /// Returns the addresses of all other documents that were ever tagged, in order.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.by_address.keys().map(|address| &**address)
    }

    /// Returns the addresses at and inside a file that were ever tagged.
    pub fn addresses_in<'s>(&'s self, file: &'s str) -> impl Iterator<Item = &'s str> {
        let from = self
            .by_address
            .range::<str, _>((Bound::Included(file), Bound::Unbounded));
        let addresses = from.map(|(address, _)| &**address);
        let addresses = addresses.take_while(move |address| address.starts_with(file));
        addresses.filter(move |address| {
            let rest = &address[file.len()..];
            rest.is_empty() || rest.starts_with('|')
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_notmuch_are_read() {
        let change = TagChange::read("+inbox -to%20do +%c3%bc -- id:a@b").unwrap();
        let tags = [("inbox", true), ("to do", false), ("ü", true)];
        assert_eq!(
            change,
            Some(TagChange::of_message(
                "a@b".into(),
                tags.map(|(tag, given)| (tag.to_owned(), given)).to_vec(),
            ))
        );
        let quoted = TagChange::read("+a -- id:\"x \"\"y\"\"\"")
            .unwrap()
            .unwrap();
        assert_eq!(quoted.on, Tagged::Message("x \"y\"".to_owned()));
        assert!(
            TagChange::read("-- id:a@b")
                .unwrap()
                .unwrap()
                .tags
                .is_empty()
        );
        for remark in [
            "",
            "  ",
            "#notmuch-dump batch-tag:3 config,properties,tags",
            "#@ a b",
        ] {
            assert_eq!(TagChange::read(remark), Ok(None));
        }
        for wrong in [
            "a",
            "+a id:x",
            "+a -- tag:b",
            "+a -- id:",
            "a -- id:x",
            "+ -- id:x",
            "+%q -- id:x",
            "+%e -- id:x",
        ] {
            assert!(TagChange::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_word_on_a_tag_counts() {
        let mut tags = Tags::default();
        for line in ["+a +b -- id:1", "-a +c -- id:1", "+a -- id:2"] {
            tags.take(&TagChange::read(line).unwrap().unwrap());
        }
        let of: Vec<_> = tags.of("1").collect();
        assert_eq!(of, [("a", false), ("b", true), ("c", true)]);
        assert_eq!(tags.of("3").count(), 0);
        assert_eq!(tags.ids().count(), 2);
    }

    #[test]
    fn documents_are_named_by_their_addresses() {
        let mut tags = Tags::default();
        for line in [
            "+a -- path:/d/x.zip",
            "+b -- \"path:/d/x.zip\"",
            "+b -- path:\"/d/x.zip|in side.txt\"",
            "+c -- path:/d/x.zip2",
            "+d -- path:/d/x.zi",
            "+e -- id:/d/x.zip",
        ] {
            match TagChange::read(line) {
                Ok(change) => tags.take(&change.unwrap()),
                Err(_) => assert!(line.contains("\"path"), "{line}"),
            }
        }
        let inside: Vec<_> = tags.addresses_in("/d/x.zip").collect();
        assert_eq!(inside, ["/d/x.zip", "/d/x.zip|in side.txt"]);
        let of: Vec<_> = tags.of_document("/d/x.zip").collect();
        assert_eq!(of, [("a", true)]);
        assert_eq!((tags.ids().count(), tags.addresses().count()), (1, 4));
    }

    #[test]
    fn a_tag_is_not_taken_for_the_sign_before_the_query() {
        let tags = [("a", true), ("-", false), ("--", true)];
        let tags = tags.map(|(tag, given)| (tag.to_owned(), given)).to_vec();
        let change = TagChange::of_message("1@x".to_owned(), tags);
        let line = change.to_string();
        assert_eq!(line, "+a -%2d +-- -- id:1@x");
        assert_eq!(TagChange::read(&line), Ok(Some(change)));
    }

    proptest! {
        #[test]
        fn lines_are_read_as_they_were_written(
            id in "[^\u{0}-\u{1f}\u{7f}-\u{9f} ][^\u{0}-\u{1f}\u{7f}-\u{9f}]{0,6}[^\u{0}-\u{1f}\u{7f}-\u{9f}\\s]",
            is_message in any::<bool>(),
            tags in proptest::collection::vec((".{1,6}", any::<bool>()), 0..4),
        ) {
            let on = if is_message { Tagged::Message(id) } else { Tagged::Document(id) };
            let change = TagChange { on, tags };
            let line = change.to_string();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(TagChange::read(&line), Ok(Some(change)));
        }

        #[test]
        fn any_line_is_survived(line in ".{0,40}") {
            let _ = TagChange::read(&line);
        }
    }
}
