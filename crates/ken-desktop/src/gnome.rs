//! The search provider of GNOME Shell: `org.gnome.Shell.SearchProvider2`.
//!
//! Source: <https://developer.gnome.org/documentation/tutorials/search-provider.html>

use std::collections::HashMap;
use std::sync::Arc;

use zbus::Variant;
use zbus::fdo;

use crate::Chosen;
use crate::finder::{Entry, Finder};

/// What GNOME Shell shows of a hit.
type Meta = HashMap<&'static str, Variant<'static>>;

pub(crate) struct Provider(pub(crate) Arc<Finder>);

#[allow(
    clippy::needless_pass_by_value,
    reason = "what is read from a message is the method's own"
)]
#[zbus::interface(name = "org.gnome.Shell.SearchProvider2")]
impl Provider {
    /// Returns the identifiers of the hits for the words that the user typed.
    fn get_initial_result_set(&self, terms: Vec<String>) -> fdo::Result<Vec<String>> {
        let entries = self.0.find(&terms.join(" ")).map_err(failed)?;
        Ok(entries.into_iter().map(|entry| entry.id).collect())
    }

    /// Returns the identifiers of the hits after the user went on typing. A word may become another one, so the hits
    /// before are not searched: the index answers as fast.
    fn get_subsearch_result_set(
        &self,
        _previous: Vec<String>,
        terms: Vec<String>,
    ) -> fdo::Result<Vec<String>> {
        self.get_initial_result_set(terms)
    }

    /// Describes hits.
    fn get_result_metas(&self, identifiers: Vec<String>) -> fdo::Result<Vec<Meta>> {
        let entries = self.0.entries(&identifiers).map_err(failed)?;
        Ok(entries.into_iter().map(meta).collect())
    }

    /// Opens a hit.
    fn activate_result(&self, identifier: String, _terms: Vec<String>, _timestamp: u32) {
        self.0.open(Chosen::Document(identifier));
    }

    /// Shows all hits.
    fn launch_search(&self, terms: Vec<String>, _timestamp: u32) {
        self.0.open(Chosen::All(terms.join(" ")));
    }
}

fn meta(entry: Entry) -> Meta {
    let (icon, general) = entry.icons;
    // GThemedIcon as g_icon_to_string() writes it: the first name that the set of icons has.
    let icon = format!(". GThemedIcon {icon} {general} text-x-generic");
    HashMap::from([
        ("id", Variant::from(entry.id)),
        ("name", Variant::from(entry.title)),
        ("description", Variant::from(entry.about)),
        ("gicon", Variant::from(icon)),
    ])
}

fn failed(error: impl std::fmt::Display) -> fdo::Error {
    fdo::Error::Failed(error.to_string())
}
