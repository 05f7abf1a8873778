//! The types of documents, for `type:`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the names are the documentation; `ALL` lists them
pub enum Kind {
    Document,
    Spreadsheet,
    Presentation,
    Message,
    Source,
    Image,
    Audio,
    Video,
    Archive,
    Data,
    Other,
}

impl Kind {
    /// Every type with its name in queries and output.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Document, "document"),
        (Self::Spreadsheet, "spreadsheet"),
        (Self::Presentation, "presentation"),
        (Self::Message, "message"),
        (Self::Source, "source"),
        (Self::Image, "image"),
        (Self::Audio, "audio"),
        (Self::Video, "video"),
        (Self::Archive, "archive"),
        (Self::Data, "data"),
        (Self::Other, "other"),
    ];

    /// Returns the name of the type in queries and output.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
            .ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_enum() {
        for (kind, name) in Kind::ALL {
            assert_eq!(kind.name(), name);
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{name}\""));
        }
        assert!("pdf".parse::<Kind>().is_err());
    }
}
