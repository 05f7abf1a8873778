//! Fields of the user's own: headers of messages, by the names that the settings give them.
//!
//! The index has [`OWN_FIELDS`] of them without a name. Which header each holds and what it is called
//! is part of the [`crate::Reading`], and kept with each commit. A name keeps its field as long as some
//! file may have been read with it, so that a run that is stopped in the middle of a change leaves no
//! field with the values of two headers.
//!
//! Names are the process's: opening an index gives its fields the names that they have there.

use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::{Field, Reading};

/// The fields that settings may give a name, in order.
pub const OWN_FIELDS: [Field; 8] = [
    Field::Own1,
    Field::Own2,
    Field::Own3,
    Field::Own4,
    Field::Own5,
    Field::Own6,
    Field::Own7,
    Field::Own8,
];

/// Names are no longer than this.
const MAX_NAME_BYTES: usize = 32;
/// Names of headers are no longer than this: one line of a message.
const MAX_HEADER_BYTES: usize = 70;

/// What the fields are called now.
static NAMES: RwLock<[Option<&'static str>; OWN_FIELDS.len()]> =
    RwLock::new([None; OWN_FIELDS.len()]);

/// A field of messages with the values of a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnHeader {
    /// Which of the fields it is.
    pub field: Field,
    /// What it is called in queries and output: small letters and `_`.
    pub name: String,
    /// The header, compared without case.
    pub header: String,
}

/// Returns why a name cannot be that of an own field; `None` if it can.
pub fn wrong_name(name: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    match name {
        _ if name.len() < 2 || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) => {
            Some("a name has 2 to 32 small letters or _")
        }
        _ if Field::of_table(name).is_some() => Some("there is such a field"),
        _ => None,
    }
}

/// Returns whether a text can be the name of a header.
pub fn is_header(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    !name.is_empty() && name.len() <= MAX_HEADER_BYTES && name.bytes().all(is_part)
}

/// Gives each name a field: the one that it had in the readings that files may have been read with,
/// else one that no name had.
///
/// # Errors
/// Returns how many names, the former ones counted, are too many.
pub fn assign<'r>(
    wanted: &[(String, String)],
    readings: impl Iterator<Item = &'r Reading>,
) -> Result<Vec<OwnHeader>, usize> {
    let known: Vec<&OwnHeader> = readings.flat_map(|reading| &reading.headers).collect();
    let mut free: Vec<Field> = OWN_FIELDS.to_vec();
    free.retain(|field| !known.iter().any(|header| header.field == *field));
    let mut free = free.into_iter();
    let headers = wanted.iter().map(|(name, header)| {
        let same = known.iter().find(|known| known.name == *name);
        Some(OwnHeader {
            field: same.map(|known| known.field).or_else(|| free.next())?,
            name: name.clone(),
            header: header.clone(),
        })
    });
    let headers: Option<Vec<OwnHeader>> = headers.collect();
    headers.ok_or_else(|| {
        let mut names: Vec<&String> = known.iter().map(|header| &header.name).collect();
        names.extend(wanted.iter().map(|(name, _)| name));
        names.sort_unstable();
        names.dedup();
        names.len()
    })
}

/// Calls the fields by these names from now on.
pub fn name_fields(headers: &[OwnHeader]) {
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    for (place, field) in names.iter_mut().zip(OWN_FIELDS) {
        let header = headers.iter().find(|header| header.field == field);
        let name = header.map(|header| header.name.as_str());
        if *place != name {
            // A name lives as long as the process, as those of the table do; there are a handful.
            *place = name.map(|name| &*name.to_owned().leak());
        }
    }
}

/// Returns the own fields that have a name, with their names.
pub fn named_fields() -> impl Iterator<Item = (Field, &'static str)> {
    let names = *NAMES.read().unwrap_or_else(PoisonError::into_inner);
    let fields = OWN_FIELDS.into_iter().zip(names);
    fields.filter_map(|(field, name)| Some((field, name?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str]) -> Vec<(String, String)> {
        let header = |name: &&str| ((*name).to_owned(), format!("X-{name}"));
        names.iter().map(header).collect()
    }

    fn reading(headers: Vec<OwnHeader>) -> Reading {
        Reading {
            headers,
            ..Reading::default()
        }
    }

    #[test]
    fn names_keep_their_fields() {
        let first = assign(&wanted(&["client", "project"]), std::iter::empty()).unwrap();
        let fields: Vec<_> = first.iter().map(|header| header.field).collect();
        assert_eq!(fields, [Field::Own1, Field::Own2]);
        let known = [reading(first)];
        let second = assign(&wanted(&["project", "room"]), known.iter()).unwrap();
        let fields: Vec<_> = second.iter().map(|header| header.field).collect();
        // No file is to have a client in the field of rooms.
        assert_eq!(fields, [Field::Own2, Field::Own3]);
        let [known] = known;
        let all = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let readings = [known, reading(second)];
        assert_eq!(assign(&wanted(&all), readings.iter()), Err(11));
        assert_eq!(assign(&wanted(&all), std::iter::empty()).unwrap().len(), 8);
    }

    #[test]
    fn names_and_headers_are_checked() {
        assert_eq!(wrong_name("project"), None);
        assert_eq!(wrong_name("my_project"), None);
        for wrong in ["", "x", "Project", "a:b", "from", "subject", "a b"] {
            assert!(wrong_name(wrong).is_some(), "{wrong}");
        }
        assert!(is_header("X-Project") && !is_header("X-Project:") && !is_header(""));
    }
}
