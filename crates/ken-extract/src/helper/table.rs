//! Which helper reads which format.
//!
//! Rows come from the settings, from Recoll's `mimeconf` files (later ones take precedence), and
//! from a few rows of ken's own for programs that need no filter of Recoll. Recoll has other names
//! for some media types. Two names mean one type if the same extension has both, in ken's table of
//! extensions and in Recoll's `mimemap`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::handler::{CustomHelper, Handler, SearchPath};
use super::{conf, convert};
use crate::{detect, formats};

/// Rows for programs that print text, in the syntax of `mimeconf`.
const OWN: &str = include_str!("own.mimeconf");

/// All handlers, with look-up tables.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) handlers: Vec<Handler>,
    /// Handlers by ken's and Recoll's media types.
    by_type: BTreeMap<String, usize>,
    /// Handlers of converters by media type.
    converters: BTreeMap<String, usize>,
    /// Handlers of helpers from the settings, by extension.
    by_extension: BTreeMap<String, usize>,
    /// Recoll's media types by extension, without the dot, in lower case.
    named: BTreeMap<String, String>,
    /// Types and handlers that take precedence over ken's own formats.
    preferred: BTreeSet<String>,
}

/// The sources of the table.
pub(super) struct Sources<'s> {
    pub(super) custom: &'s [CustomHelper],
    pub(super) mimeconf: &'s [String],
    pub(super) mimemap: &'s [String],
    pub(super) prefer: &'s [String],
}

impl Table {
    pub(super) fn new(sources: &Sources<'_>, search_path: SearchPath<'_>) -> Self {
        let mut table = Self {
            preferred: sources.prefer.iter().cloned().collect(),
            ..Self::default()
        };
        for text in sources.mimemap {
            table.add_names(text);
        }
        for text in std::iter::once(OWN).chain(sources.mimeconf.iter().map(String::as_str)) {
            table.add_rows(text, search_path);
        }
        table.add_equivalents();
        for handler in convert::handlers(search_path) {
            let index = table.handlers.len();
            table.converters.insert(handler.media_type.clone(), index);
            table.handlers.push(handler);
        }
        for helper in sources.custom {
            table.add_custom(helper, search_path);
        }
        table
    }

    /// Returns the handler for a file with this name and type, if any.
    pub(super) fn find(&self, name: &str, media_type: &str) -> Option<usize> {
        if self.by_extension.is_empty() && self.preferred.is_empty() && is_read(media_type) {
            return None;
        }
        let extension = extension(name);
        if let Some(index) = self.by_extension.get(&extension) {
            return Some(*index);
        }
        let named = self.named_type(name);
        let is_unknown = media_type == detect::UNKNOWN.media_type;
        let candidates = [Some(media_type), named].into_iter().flatten();
        let mut found = candidates.filter_map(|media_type| {
            let index = *self.by_type.get(media_type)?;
            let handler = self.handlers.get(index)?;
            let is_preferred = [media_type, &handler.media_type, &handler.name]
                .iter()
                .any(|name| self.preferred.contains(*name));
            Some((index, is_preferred))
        });
        found
            .clone()
            .find(|(_, is_preferred)| *is_preferred)
            // The content takes precedence over the name, unless it says nothing.
            .or_else(|| {
                found.next().filter(|(index, _)| {
                    !is_read(media_type)
                        && (is_unknown || self.by_type.get(media_type) == Some(index))
                })
            })
            .map(|(index, _)| index)
    }

    /// Returns the converter for files of this type, if any.
    pub(super) fn find_converter(&self, media_type: &str) -> Option<usize> {
        self.converters.get(media_type).copied()
    }

    /// Returns Recoll's type for a name; the longest matching ending counts.
    fn named_type(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        let dots = name.match_indices('.');
        dots.filter(|(at, _)| *at > 0)
            .find_map(|(at, _)| self.named.get(&name[at + 1..]))
            .map(String::as_str)
    }

    fn add_names(&mut self, text: &str) {
        for entry in conf::parse(text) {
            // Sections apply to folders.
            if let Some(extension) = entry.key.strip_prefix('.')
                && entry.section.is_empty()
            {
                let extension = extension.to_lowercase();
                self.named.insert(extension, entry.value);
            }
        }
    }

    fn add_rows(&mut self, text: &str, search_path: SearchPath<'_>) {
        for entry in conf::parse(text) {
            let is_row = matches!(entry.section, "" | "index") && entry.key.contains('/');
            match Handler::parse(&entry.key, &entry.value, search_path) {
                Some(handler) if is_row => {
                    self.by_type.insert(entry.key, self.handlers.len());
                    self.handlers.push(handler);
                }
                // A later file may remove a type from a helper.
                None if is_row => {
                    self.by_type.remove(&entry.key);
                }
                _ => {}
            }
        }
    }

    /// Maps ken's names of types to the handlers of Recoll's names.
    fn add_equivalents(&mut self) {
        let mut found = Vec::new();
        for (extension, theirs) in &self.named {
            let ours = detect::by_name(&format!("a.{extension}")).media_type;
            if let Some(index) = self.by_type.get(theirs)
                && ours != detect::UNKNOWN.media_type
                && ours != "text/plain"
            {
                found.push((ours.to_owned(), *index));
            }
        }
        for (ours, index) in found {
            self.by_type.entry(ours).or_insert(index);
        }
    }

    fn add_custom(&mut self, helper: &CustomHelper, search_path: SearchPath<'_>) {
        let first = helper.extensions.first().map(String::as_str);
        let first = first
            .unwrap_or_default()
            .trim_start_matches('.')
            .to_lowercase();
        let named = detect::by_name(&format!("a.{first}"));
        let media_type = match helper.media_types.first() {
            Some(media_type) => media_type.clone(),
            None if named == detect::UNKNOWN => format!("application/x-{first}"),
            None => named.media_type.to_owned(),
        };
        let index = self.handlers.len();
        let handler = Handler::custom(helper, &media_type, search_path);
        self.handlers.push(handler);
        for extension in &helper.extensions {
            let extension = extension.trim_start_matches('.').to_lowercase();
            self.by_extension.insert(extension, index);
        }
        for media_type in &helper.media_types {
            self.by_type.insert(media_type.clone(), index);
            self.preferred.insert(media_type.clone());
        }
        self.by_type.entry(media_type).or_insert(index);
    }
}

/// Returns whether ken itself reads a type.
fn is_read(media_type: &str) -> bool {
    formats::by_media_type(media_type).is_some()
}

fn extension(name: &str) -> String {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.unwrap_or_default().to_lowercase()
}

/// Reads configuration files; missing ones are skipped.
pub(super) fn read_all(paths: &[PathBuf]) -> std::io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for path in paths {
        match fs_err::read(path) {
            Ok(bytes) => texts.push(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(custom: &[CustomHelper], mimeconf: &str, mimemap: &str, prefer: &[&str]) -> Table {
        let path = [PathBuf::from("/bin")];
        let search_path = SearchPath {
            filters: &[],
            path: &path,
        };
        let prefer: Vec<_> = prefer.iter().map(|name| (*name).to_owned()).collect();
        let sources = Sources {
            custom,
            mimeconf: &[mimeconf.to_owned()],
            mimemap: &[mimemap.to_owned()],
            prefer: &prefer,
        };
        Table::new(&sources, search_path)
    }

    fn found<'t>(table: &'t Table, name: &str, media_type: &str) -> Option<&'t str> {
        let handler = &table.handlers[table.find(name, media_type)?];
        Some(&handler.name)
    }

    const UNKNOWN: &str = detect::UNKNOWN.media_type;

    #[test]
    fn programs_read_what_ken_does_not() {
        let mimeconf = "[index]\napplication/pdf = execm pdf.py\napplication/x-dvi = exec dvi\n\
                        text/x-man = exec man\naudio/x-karaoke = execm kar\n\
                        application/x-odd = exec odd\n[icons]\na/b = exec no\n";
        let mimemap = ".kar = audio/x-karaoke\n.odd = application/x-odd\n.1 = text/x-man\n\
                       [/usr/share]\n.two = application/x-odd\n";
        let table_of = |prefer: &[&str]| table(&[], mimeconf, mimemap, prefer);
        let plain = table_of(&[]);
        assert_eq!(found(&plain, "a.dvi", "application/x-dvi"), Some("dvi"));
        assert_eq!(found(&plain, "a.pdf", "application/pdf"), None);
        assert_eq!(found(&plain, "ls.1", "text/troff"), None, "read as text");
        assert_eq!(found(&plain, "a.kar", "audio/midi"), Some("kar"));
        assert_eq!(found(&plain, "a.ODD", UNKNOWN), Some("odd"));
        assert_eq!(found(&plain, "a.two", UNKNOWN), None);
        assert_eq!(found(&plain, "a.odd", "text/plain"), None);
        assert_eq!(
            found(&plain, "a.odd", "video/x-flv"),
            None,
            "not by its content"
        );
        let preferring = table_of(&["application/pdf", "man", "application/x-odd"]);
        assert_eq!(found(&preferring, "a", "application/pdf"), Some("pdf.py"));
        assert_eq!(found(&preferring, "ls.1", "text/troff"), Some("man"));
        assert_eq!(found(&preferring, "a.odd", "text/plain"), Some("odd"));
    }

    #[test]
    fn custom_helpers_go_before_all_others() {
        let helper = |name: &str, extensions: &[&str], media_types: &[&str]| CustomHelper {
            name: name.to_owned(),
            extensions: extensions.iter().map(|e| (*e).to_owned()).collect(),
            media_types: media_types.iter().map(|e| (*e).to_owned()).collect(),
            command: vec!["cat".to_owned()],
            ..CustomHelper::default()
        };
        let custom = [
            helper("own pdf", &["pdf"], &[]),
            helper("foo", &[".Foo", "bar"], &[]),
            helper("typed", &[], &["text/x-rust"]),
        ];
        let table = table(&custom, "application/pdf = execm pdf.py\n", "", &[]);
        assert_eq!(found(&table, "a.pdf", "application/pdf"), Some("own pdf"));
        assert_eq!(found(&table, "a.FOO", "text/plain"), Some("foo"));
        assert_eq!(found(&table, "a.bar", UNKNOWN), Some("foo"));
        assert_eq!(found(&table, "a", "application/x-foo"), Some("foo"));
        assert_eq!(found(&table, "a.rs", "text/x-rust"), Some("typed"));
    }

    #[test]
    fn own_rows_are_programs_with_known_packages() {
        for entry in conf::parse(OWN) {
            let path: [PathBuf; 0] = [];
            let search_path = SearchPath {
                filters: &path,
                path: &path,
            };
            let handler = Handler::parse(&entry.key, &entry.value, search_path).expect(&entry.key);
            assert!(!super::super::missing::packages(&handler.name).is_empty());
        }
    }
}
