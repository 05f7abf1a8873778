//! The runner of KRunner: `org.kde.krunner1`.
//!
//! Source: <https://develop.kde.org/docs/plasma/krunner/> and `src/data/org.kde.krunner1.xml` of KRunner.

use std::collections::HashMap;
use std::sync::Arc;

use zbus::Variant;
use zbus::fdo;

use crate::Chosen;
use crate::finder::{Entry, Finder};

/// The address, the title, the icon, the kind of match, the relevance, and properties.
type Match = (
    String,
    String,
    String,
    i32,
    f64,
    HashMap<&'static str, Variant<'static>>,
);

/// The kind of match that may be what the user wants (`KRunner::QueryMatch::Type::PossibleMatch`, also a relevance of its
/// category in KRunner 6).
const POSSIBLE: i32 = 30;
/// Words of fewer letters are not searched.
const MIN_LETTERS: i32 = 3;
/// The action that opens the folder of a hit.
const FOLDER: &str = "folder";

pub(crate) struct Runner(pub(crate) Arc<Finder>);

#[allow(
    clippy::needless_pass_by_value,
    reason = "what is read from a message is the method's own"
)]
#[zbus::interface(name = "org.kde.krunner1")]
impl Runner {
    /// Returns the hits for what the user typed.
    fn r#match(&self, query: String) -> fdo::Result<Vec<Match>> {
        let entries = self
            .0
            .find(&query)
            .map_err(|error| fdo::Error::Failed(error.to_string()))?;
        let entries = entries.into_iter().enumerate();
        Ok(entries.map(|(rank, entry)| hit(rank, entry)).collect())
    }

    /// Returns what can be done with a hit besides opening it: identifier, text and icon.
    fn actions(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        vec![(FOLDER, "Open the folder", "document-open-folder")]
    }

    /// Opens a hit, or does another action with it.
    fn run(&self, address: String, action: String) {
        self.0.open(match action.as_str() {
            FOLDER => Chosen::Folder(address),
            _ => Chosen::Document(address),
        });
    }

    /// Returns what KRunner is to respect.
    fn config(&self) -> HashMap<&'static str, Variant<'static>> {
        HashMap::from([("MinLetterCount", Variant::from(MIN_LETTERS))])
    }

    /// Is told that the user is done.
    fn teardown(&self) {}
}

fn hit(rank: usize, entry: Entry) -> Match {
    // KRunner orders by relevance, and the index has ordered already.
    let relevance = 1.0 / (rank + 1) as f64;
    let mut properties = HashMap::from([
        ("subtext", Variant::from(entry.about)),
        ("category", Variant::from("Files (ken)")),
        ("actions", Variant::from(vec![FOLDER])),
    ]);
    if let Some(url) = &entry.url {
        properties.insert("urls", Variant::from(vec![url.clone()]));
    }
    let icon = entry.icons.1.to_owned();
    // Other runners find the same file by the same identifier.
    let address = entry.url.unwrap_or(entry.id);
    (address, entry.title, icon, POSSIBLE, relevance, properties)
}
