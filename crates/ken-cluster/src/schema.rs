//! The schema of an index of documents: which fields it has, and what its terms are.
//!
//! A ken with another schema would ask for fields that are not there, or for terms that no document has, and find too little
//! without a word. So the root document names the schema, and nobody asks or writes an index of another one. The stored text
//! is the same in all of them: an index of the new schema is filled from it, beside the one that is there.

use ken_engine::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::Client;
use crate::kept;
use crate::layout::{self, Names, Shape};

/// The schema of an index of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Schema {
    /// The format of the terms, which is that of the embedded engine.
    format: u32,
    /// A number for the mapping and the analysis.
    mapping: String,
}

impl Schema {
    /// Returns that of this ken.
    pub(crate) fn own() -> Self {
        let made = layout::documents(&Names::new(""), Shape::default());
        let mut text = String::new();
        write(&made["mappings"], &mut text);
        write(&made["settings"]["index"]["analysis"], &mut text);
        Self {
            format: ken_index::FORMAT,
            mapping: kept::number_text(kept::hash(text.as_bytes())),
        }
    }

    /// Fails if it is not that of this ken.
    pub(crate) fn check(&self, client: &Client) -> Result<(), Error> {
        match *self == Self::own() {
            true => Ok(()),
            false => Err(Error::Schema(client.name())),
        }
    }
}

/// Writes JSON with the names of objects in one order, whatever order a value keeps them in.
fn write(value: &Value, to: &mut String) {
    match value {
        Value::Object(object) => {
            let mut all: Vec<_> = object.iter().collect();
            all.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in all {
                to.push_str(&format!("{name:?}:"));
                write(value, to);
                to.push(';');
            }
        }
        value => to.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_names_is_no_part_of_it() {
        let written = |value: &Value| {
            let mut text = String::new();
            write(value, &mut text);
            text
        };
        let one = json!({ "a": { "c": [1, 2], "b": 1 }, "d": "x" });
        let other = json!({ "d": "x", "a": { "b": 1, "c": [1, 2] } });
        assert_eq!(written(&one), written(&other));
        assert_ne!(
            written(&one),
            written(&json!({ "a": { "c": [1, 2] }, "b": 1, "d": "x" }))
        );
        assert_eq!(Schema::own(), Schema::own());
    }
}
