//! What only the log next to the index says: revisions, properties, and settings kept with the messages.
//!
//! The log has the lines of a dump (notmuch-dump(1)): `+tag -- id:1@x`, `#= 1@x key=value` for properties,
//! `#@ key value` for settings, and `#r 1@x 2@x` for messages that were read again, `#r *` for all. A revision is the
//! number of a line, so it grows with every change, and a message changed last in the last line that names it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use ken_mail::{TagChange, Tagged, hex_decoded, hex_encoded};
use ken_pipeline::tags;

use super::Error;

/// The property with a session key.
pub(super) const SESSION_KEY: &str = "session-key";
/// What stands for all messages. As part of an identifier it is written `%2a`.
const EVERY: &str = "*";

/// The content of the log, without tags.
#[derive(Debug, Default)]
pub struct Journal {
    /// The number of the last line.
    pub revision: u64,
    /// The settings.
    pub settings: BTreeMap<String, String>,
    /// The last line that means all messages.
    all_changed: u64,
    changed: HashMap<String, u64>,
    properties: BTreeMap<String, Vec<(String, String)>>,
}

impl Journal {
    /// Reads the log; a missing one is empty.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn read(data: &Path) -> Result<Self, Error> {
        let bytes = match fs_err::read(tags::path(data)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        Ok(Self::of(&String::from_utf8_lossy(&bytes)))
    }

    fn of(text: &str) -> Self {
        let mut journal = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            journal.revision = number;
            if let Some(setting) = line.strip_prefix("#@ ") {
                journal.take_setting(setting);
            } else if let Some(properties) = line.strip_prefix("#= ") {
                journal.take_properties(properties, number);
            } else if let Some(ids) = line.strip_prefix("#r ") {
                journal.take_reindexed(ids, number);
            } else if let Ok(Some(change)) = TagChange::read(line)
                && let Tagged::Message(id) = change.on
            {
                journal.changed.insert(id, number);
            }
        }
        journal
    }

    fn take_setting(&mut self, line: &str) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let (Ok(key), Ok(value)) = (hex_decoded(key), hex_decoded(value)) else {
            return;
        };
        if value.is_empty() {
            self.settings.remove(&key);
        } else {
            self.settings.insert(key, value);
        }
    }

    fn take_properties(&mut self, line: &str, number: u64) {
        if let Some((id, properties)) = read_properties(line) {
            self.changed.insert(id.clone(), number);
            self.properties.insert(id, properties);
        }
    }

    fn take_reindexed(&mut self, ids: &str, number: u64) {
        if ids == EVERY {
            // Whatever changed before changed now.
            self.changed.clear();
            self.all_changed = number;
            return;
        }
        for id in ids.split(' ') {
            if let Ok(id) = hex_decoded(id) {
                self.changed.insert(id, number);
            }
        }
    }

    /// Returns the revision at which a message changed last; 0 if it never did.
    pub fn changed(&self, id: &str) -> u64 {
        self.changed.get(id).copied().unwrap_or(self.all_changed)
    }

    /// Returns the messages that changed between two revisions: those that lines name, and whether all that no line
    /// names belong to them.
    pub(super) fn between(&self, from: u64, to: u64) -> (Vec<String>, bool) {
        let revisions = from..=to;
        let changed = self.changed.iter();
        let between = changed.filter(|(_, number)| revisions.contains(number));
        let named = between.map(|(id, _)| id.clone()).collect();
        (named, revisions.contains(&self.all_changed))
    }

    /// Returns whether a line names a message.
    pub(super) fn names(&self, id: &str) -> bool {
        self.changed.contains_key(id)
    }

    /// Returns the properties of a message, sorted.
    pub fn properties(&self, id: &str) -> &[(String, String)] {
        self.properties.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns the session keys of a message.
    pub(super) fn session_keys(&self, id: &str) -> Vec<String> {
        let keys = self.properties(id).iter();
        let keys = keys.filter(|(key, _)| key == SESSION_KEY);
        keys.map(|(_, value)| value.clone()).collect()
    }

    /// Returns the messages with a property of which `is_meant` returns true for its key and value.
    pub(super) fn with_property(&self, is_meant: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let has = |(_, all): &(&String, &Vec<(String, String)>)| {
            all.iter().any(|(key, value)| is_meant(key, value))
        };
        let found = self.properties.iter().filter(has);
        found.map(|(id, _)| id.clone()).collect()
    }
}

/// Reads the line of the properties of a message, behind `#= `: its identifier, and each key with its value.
pub(super) fn read_properties(line: &str) -> Option<(String, Vec<(String, String)>)> {
    let mut words = line.split_whitespace();
    let id = hex_decoded(words.next()?).ok()?;
    let mut properties = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=')?;
        properties.push((hex_decoded(key).ok()?, hex_decoded(value).ok()?));
    }
    properties.sort();
    properties.dedup();
    Some((id, properties))
}

/// Returns the line of the properties of a message.
pub(super) fn properties_line(id: &str, properties: &[(String, String)]) -> String {
    let mut line = format!("#= {}", hex_encoded(id));
    for (key, value) in properties {
        line.push_str(&format!(" {}={}", hex_encoded(key), hex_encoded(value)));
    }
    line + "\n"
}

/// Returns the line of messages that were read again; `None` means all.
pub(super) fn reindexed_line<'a>(ids: Option<impl Iterator<Item = &'a str>>) -> String {
    let mut line = "#r".to_owned();
    match ids {
        Some(ids) => ids.for_each(|id| {
            line.push(' ');
            line.push_str(&hex_encoded(id));
        }),
        None => line.push_str(&format!(" {EVERY}")),
    }
    line + "\n"
}

/// Returns the line of a setting.
pub(super) fn setting_line(key: &str, value: &str) -> String {
    format!("#@ {} {}\n", hex_encoded(key), hex_encoded(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_changed_when() {
        let text = "+a -- id:1@x\n#@ query.todo tag%3atodo\n+a -- id:2@x\n-a -- id:1@x\n\
            #= 2@x k=v%20w b=c\n#@ gone 1\n#@ gone \n";
        let journal = Journal::of(text);
        assert_eq!(journal.revision, 7);
        assert_eq!(journal.between(4, 4), (vec!["1@x".to_owned()], false));
        assert_eq!(journal.changed("2@x"), 5);
        assert_eq!(journal.settings.len(), 1);
        assert_eq!(journal.settings["query.todo"], "tag:todo");
        assert_eq!(
            journal.with_property(|key, value| (key, value) == ("k", "v w")),
            ["2@x"]
        );
        let line = properties_line("2@x", journal.properties("2@x"));
        assert_eq!(line, "#= 2@x b=c k=v%20w\n");
        assert_eq!(setting_line("a", "b c"), "#@ a b%20c\n");
    }

    #[test]
    fn messages_that_are_read_again_change_at_once() {
        let some = reindexed_line(Some(["1@x", "2 @x"].into_iter()));
        assert_eq!(some, "#r 1@x 2%20@x\n");
        let all = reindexed_line(None::<std::iter::Empty<&str>>);
        let journal = Journal::of(&format!("+a -- id:3@x\n{some}"));
        assert_eq!((journal.revision, journal.changed("2 @x")), (2, 2));
        assert_eq!((journal.changed("3@x"), journal.changed("4@x")), (1, 0));
        let journal = Journal::of(&format!("+a -- id:3@x\n{all}{some}"));
        assert_eq!((journal.changed("3@x"), journal.changed("1@x")), (2, 3));
        assert_eq!(journal.between(2, 2), (Vec::new(), true));
        assert!(journal.names("1@x") && !journal.names("3@x"));
        assert!(!reindexed_line(Some(["*"].into_iter())).contains('*'));
    }
}
