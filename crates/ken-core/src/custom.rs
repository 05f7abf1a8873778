//! Custom fields: message headers that the user's settings make searchable under a name.
//!
//! The schema has [`CUSTOM_FIELDS`] without names. The extraction profile ([`crate::Profile`]) says which header each
//! of them holds and what its name is, and each commit keeps the profile. A name keeps its field as long as some file
//! may have been read with it. So a run that is stopped in the middle of a change never leaves a field with the values
//! of two headers.
//!
//! Names belong to an index: an open index hands out its [`FieldNames`].

use serde::{Deserialize, Serialize};

use crate::Field;

/// The fields for which settings may choose a name, in order.
pub const CUSTOM_FIELDS: [Field; 8] = [
    Field::Custom1,
    Field::Custom2,
    Field::Custom3,
    Field::Custom4,
    Field::Custom5,
    Field::Custom6,
    Field::Custom7,
    Field::Custom8,
];

/// The longest name of a custom field.
const MAX_NAME_BYTES: usize = 32;
/// The longest name of a header: one line of a message.
const MAX_HEADER_BYTES: usize = 70;

/// A custom field: the values of one message header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomField {
    /// Which of [`CUSTOM_FIELDS`] holds the values.
    pub field: Field,
    /// The name in queries and output: lowercase ASCII letters and `_`.
    pub name: String,
    /// The name of the header, compared without case.
    pub header: String,
}

/// The names of the fields of one index: the built-in names, and those of its custom fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldNames {
    custom: [Option<String>; CUSTOM_FIELDS.len()],
}

impl FieldNames {
    /// The names of an index without custom fields.
    pub const TABLE: Self = Self {
        custom: [const { None }; CUSTOM_FIELDS.len()],
    };

    /// Returns the names of an index with these custom fields.
    pub fn new(fields: &[CustomField]) -> Self {
        let name = |field| {
            let custom = fields.iter().find(|custom| custom.field == field)?;
            Some(custom.name.clone())
        };
        Self {
            custom: CUSTOM_FIELDS.map(name),
        }
    }

    /// Returns the custom fields that have a name, with their names.
    pub fn custom(&self) -> impl Iterator<Item = (Field, &str)> {
        let fields = CUSTOM_FIELDS.into_iter().zip(&self.custom);
        fields.filter_map(|(field, name)| Some((field, name.as_deref()?)))
    }

    /// Returns the name of a field in queries and output.
    pub fn name(&self, field: Field) -> &str {
        let custom = || self.custom().find(|(custom, _)| *custom == field);
        match field.is_custom().then(custom).flatten() {
            Some((_, name)) => name,
            None => field.name(),
        }
    }

    /// Returns the field that a query calls `name`, by name or alias, in any case.
    pub fn field(&self, name: &str) -> Option<Field> {
        Field::from_name(name).or_else(|| {
            let mut custom = self.custom();
            let found = custom.find(|(_, custom)| custom.eq_ignore_ascii_case(name));
            found.map(|(field, _)| field)
        })
    }
}

/// Returns why a name is not valid for a custom field; `None` if it is.
pub fn wrong_name(name: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    match name {
        _ if name.len() < 2 || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) => {
            Some("a name has 2 to 32 lowercase letters or _")
        }
        _ if Field::from_name(name).is_some() => Some("ken has a field of that name"),
        _ => None,
    }
}

/// Returns whether a text is a valid name of a header.
pub fn is_header(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    !name.is_empty() && name.len() <= MAX_HEADER_BYTES && name.bytes().all(is_part)
}

/// Assigns a field to each name: the field that it has in `former`, the custom fields of the profiles that files may have
/// been read with, else an unused one.
///
/// # Errors
/// Returns the number of names, former ones included, if it is greater than the number of fields.
pub fn assign<'r>(
    wanted: &[(String, String)],
    former: impl Iterator<Item = &'r [CustomField]>,
) -> Result<Vec<CustomField>, usize> {
    let known: Vec<&CustomField> = former.flatten().collect();
    let mut free: Vec<Field> = CUSTOM_FIELDS.to_vec();
    free.retain(|field| !known.iter().any(|custom| custom.field == *field));
    let mut free = free.into_iter();
    let fields = wanted.iter().map(|(name, header)| {
        let same = known.iter().find(|known| known.name == *name);
        Some(CustomField {
            field: same.map(|known| known.field).or_else(|| free.next())?,
            name: name.clone(),
            header: header.clone(),
        })
    });
    let fields: Option<Vec<CustomField>> = fields.collect();
    fields.ok_or_else(|| {
        let mut names: Vec<&String> = known.iter().map(|custom| &custom.name).collect();
        names.extend(wanted.iter().map(|(name, _)| name));
        names.sort_unstable();
        names.dedup();
        names.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str]) -> Vec<(String, String)> {
        let header = |name: &&str| ((*name).to_owned(), format!("X-{name}"));
        names.iter().map(header).collect()
    }

    #[test]
    fn names_keep_their_fields() {
        let first = assign(&wanted(&["client", "project"]), std::iter::empty()).unwrap();
        let fields: Vec<_> = first.iter().map(|header| header.field).collect();
        assert_eq!(fields, [Field::Custom1, Field::Custom2]);
        let second = assign(&wanted(&["project", "room"]), [&first[..]].into_iter()).unwrap();
        let fields: Vec<_> = second.iter().map(|header| header.field).collect();
        // No file may have a client in the field of rooms.
        assert_eq!(fields, [Field::Custom2, Field::Custom3]);
        let all = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let former = [&first[..], &second[..]];
        assert_eq!(assign(&wanted(&all), former.into_iter()), Err(11));
        assert_eq!(assign(&wanted(&all), std::iter::empty()).unwrap().len(), 8);
    }

    #[test]
    fn two_indexes_have_names_of_their_own() {
        let names = |name: &str| {
            let fields = assign(&wanted(&[name]), std::iter::empty()).unwrap();
            FieldNames::new(&fields)
        };
        let (first, second) = (names("client"), names("room"));
        assert_eq!(first.name(Field::Custom1), "client");
        assert_eq!(second.name(Field::Custom1), "room");
        assert_eq!(first.field("CLIENT"), Some(Field::Custom1));
        assert_eq!(first.field("room"), None);
        assert_eq!(first.field("subject"), Some(Field::Title));
        assert_eq!(FieldNames::TABLE.name(Field::Custom1), "own1");
        assert_eq!(
            first.custom().collect::<Vec<_>>(),
            [(Field::Custom1, "client")]
        );
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
