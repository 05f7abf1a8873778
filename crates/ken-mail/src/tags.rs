//! Tags that people give to messages, stored as lines of text.
//!
//! A line has notmuch's `batch-tag` format (notmuch-tag(1), notmuch-dump(1)): `+todo -inbox --
//! id:20240101.1@example.org`, with every special byte of a tag as `%xx`. So the log is in the format that `notmuch
//! dump` writes and `notmuch tag --batch` reads. If several lines name a message, the last one for each tag counts.

use std::collections::HashMap;
use std::fmt::{self, Write};

/// The tags that a message gains and loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagChange {
    /// The identifier of the message, without angle brackets.
    pub id: String,
    /// Each tag, and whether the message has it after the change.
    pub tags: Vec<(String, bool)>,
}

impl TagChange {
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
        let id = query
            .trim()
            .strip_prefix("id:")
            .ok_or("there is no `id:` behind ` -- `")?;
        let tags = tags.split_whitespace().map(change);
        let id = unquoted(id)?;
        if id.is_empty() {
            return Err("there is no identifier behind `id:`".to_owned());
        }
        Ok(Some(Self {
            id,
            tags: tags.collect::<Result<_, _>>()?,
        }))
    }
}

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
        f.write_str("-- id:")?;
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"()".contains(c);
        if !self.id.is_empty() && self.id.chars().all(is_plain) {
            return f.write_str(&self.id);
        }
        let id = self.id.replace(char::is_control, " ");
        write!(f, "\"{}\"", id.replace('"', "\"\""))
    }
}

/// Returns a text as a word of a line: every special byte is `%xx`.
pub fn hex_encoded(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    // Writing into a string cannot fail.
    _ = encode(text, &mut word);
    word
}

/// Returns the text of a word that [`hex_encoded`] returned.
///
/// # Errors
/// Returns what is wrong with the word.
pub fn hex_decoded(word: &str) -> Result<String, String> {
    decoded(word)
}

fn encode(tag: &str, f: &mut dyn Write) -> fmt::Result {
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

/// The tags of all messages that were ever tagged, in less than 100 bytes for each message.
#[derive(Debug, Default)]
pub struct Tags {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// By identifier: the numbers of the tags, and whether the message has each.
    by_id: HashMap<Box<str>, Vec<(u32, bool)>>,
}

impl Tags {
    /// Returns whether no message was ever tagged.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Applies a change.
    pub fn take(&mut self, change: &TagChange) {
        let numbers: Vec<(u32, bool)> = change
            .tags
            .iter()
            .map(|(tag, is_given)| (self.number(tag), *is_given))
            .collect();
        let tags = self.by_id.entry(change.id.as_str().into()).or_default();
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
        let tags = self.by_id.get(id).into_iter().flatten();
        tags.filter_map(|(number, is_given)| {
            let name = self.names.get(*number as usize)?;
            Some((name.as_str(), *is_given))
        })
    }

    /// Returns the identifiers of all messages that were ever tagged, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(|id| &**id)
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
            Some(TagChange {
                id: "a@b".into(),
                tags: tags.map(|(tag, given)| (tag.to_owned(), given)).to_vec(),
            })
        );
        let quoted = TagChange::read("+a -- id:\"x \"\"y\"\"\"")
            .unwrap()
            .unwrap();
        assert_eq!(quoted.id, "x \"y\"");
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
    fn a_tag_is_not_taken_for_the_sign_before_the_query() {
        let change = TagChange {
            id: "1@x".to_owned(),
            tags: [("a", true), ("-", false), ("--", true)]
                .map(|(tag, given)| (tag.to_owned(), given))
                .to_vec(),
        };
        let line = change.to_string();
        assert_eq!(line, "+a -%2d +-- -- id:1@x");
        assert_eq!(TagChange::read(&line), Ok(Some(change)));
    }

    proptest! {
        #[test]
        fn lines_are_read_as_they_were_written(
            id in "[^\u{0}-\u{1f}\u{7f}-\u{9f} ][^\u{0}-\u{1f}\u{7f}-\u{9f}]{0,6}[^\u{0}-\u{1f}\u{7f}-\u{9f}\\s]",
            tags in proptest::collection::vec((".{1,6}", any::<bool>()), 0..4),
        ) {
            let change = TagChange { id, tags };
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
