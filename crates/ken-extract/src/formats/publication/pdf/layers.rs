//! Layers (optional content, ISO 32000-2, 8.11): which of them the document initially hides.
//!
//! Content that a viewer does not show is not text of the page: hidden layers hold other languages,
//! draft watermarks, and the frames of animations.

use std::collections::HashSet;

use hayro_syntax::object::{Array, Dict, Name, ObjRef};

/// The layers that are hidden.
#[derive(Default)]
pub(super) struct Layers {
    hidden: HashSet<ObjRef>,
}

impl Layers {
    /// Reads the default configuration of a catalogue.
    pub(super) fn new(catalog: &Dict<'_>) -> Self {
        let mut layers = Self::default();
        let Some(properties) = catalog.get::<Dict<'_>>(b"OCProperties") else {
            return layers;
        };
        let config = properties.get::<Dict<'_>>(b"D").unwrap_or_default();
        let base = config.get::<Name<'_>>(b"BaseState");
        if base.is_some_and(|base| &*base == b"OFF") {
            layers.hidden.extend(references(&properties, b"OCGs"));
        }
        for shown in references(&config, b"ON") {
            layers.hidden.remove(&shown);
        }
        layers.hidden.extend(references(&config, b"OFF"));
        layers
    }

    /// Returns whether content of this group, or of this membership of groups, is hidden.
    pub(super) fn hides(&self, group: ObjRef, dict: Option<&Dict<'_>>) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let members: Vec<ObjRef> = dict.map_or_else(Vec::new, |dict| {
            let single = dict.get_ref(b"OCGs");
            single
                .into_iter()
                .chain(references(dict, b"OCGs"))
                .collect()
        });
        if members.is_empty() {
            return self.hidden.contains(&group);
        }
        let mut hidden = members.iter().map(|member| self.hidden.contains(member));
        let policy = dict.and_then(|dict| dict.get::<Name<'_>>(b"P"));
        match policy.as_deref() {
            Some(b"AllOn") => hidden.any(|hidden| hidden),
            Some(b"AnyOff") => !hidden.any(|hidden| hidden),
            Some(b"AllOff") => !hidden.all(|hidden| hidden),
            _ => hidden.all(|hidden| hidden),
        }
    }
}

fn references(dict: &Dict<'_>, key: &[u8]) -> Vec<ObjRef> {
    let array = dict.get::<Array<'_>>(key);
    array.map_or_else(Vec::new, |array| {
        array
            .raw_iter()
            .filter_map(|item| item.as_obj_ref())
            .collect()
    })
}
