//! The names of all settings.

use toml::{Table, Value};

use crate::config::Settings;
use crate::failure::{Failure, Kind};

/// Settings that have no default value.
const OPTIONAL: [&str; 8] = [
    "analysis.stem",
    "mail.root",
    "passwords.command",
    "passwords.file",
    "search.synonyms",
    "web.address",
    "web.password.command",
    "web.password.file",
];

/// Tables whose keys the user chooses.
const OPEN: [&str; 4] = ["mail.headers", "open", "queries", "ranking.fields"];

/// Lists of tables, which are edited in the file.
const LISTS: [&str; 3] = ["adapter", "folder", "hook"];

/// A setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// Its name, part by part.
    name: Vec<String>,
    /// Its value; none if it is not set.
    pub(crate) value: Option<Value>,
}

impl Key {
    /// Returns the name, as a user types it.
    pub(crate) fn name(&self) -> String {
        self.name.join(".")
    }

    /// Returns the parts of the name.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.name.iter().map(String::as_str).collect()
    }

    /// Returns whether the name is `prefix`, or begins with it.
    pub(crate) fn is_like(&self, prefix: &str) -> bool {
        self.name().starts_with(prefix)
    }

    /// Returns whether the value is text: what a user types for it needs no quotes.
    pub(crate) fn is_text(&self) -> bool {
        let name = self.name();
        let is_other = name == "analysis.stem" || name.starts_with("ranking.fields.");
        matches!(self.value, None | Some(Value::String(_))) && !is_other
    }
}

/// Returns all settings, by name.
pub(crate) fn all(settings: &Settings) -> Result<Vec<Key>, Failure> {
    let table =
        Table::try_from(settings).map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
    let mut keys = Vec::new();
    flatten(&table, &mut Vec::new(), &mut keys);
    for name in OPTIONAL {
        if !keys.iter().any(|key: &Key| key.name() == name) {
            keys.push(Key {
                name: name.split('.').map(str::to_owned).collect(),
                value: None,
            });
        }
    }
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(keys)
}

fn flatten(table: &Table, above: &mut Vec<String>, keys: &mut Vec<Key>) {
    for (name, value) in table {
        above.push(name.clone());
        match value {
            Value::Table(below) => flatten(below, above, keys),
            // An empty list of tables is like an empty list of words.
            _ => keys.push(Key {
                name: above.clone(),
                value: Some(value.clone()),
            }),
        }
        above.pop();
    }
}

/// Returns the setting of a name, also one that a user chose or can choose.
///
/// # Errors
/// Fails if the name is that of a table, or of a list that is edited in the file.
pub(crate) fn key(settings: &Settings, name: &str) -> Result<Option<Key>, Failure> {
    if LISTS.contains(&name) {
        let message = format!("{name} is a list of tables");
        return Err(Failure::new(Kind::Usage, message).hint(&format!(
            "write [[{name}]] into the configuration file: ken help config"
        )));
    }
    let keys = all(settings)?;
    if let Some(found) = keys.into_iter().find(|key| key.name() == name) {
        return Ok(Some(found));
    }
    let open = OPEN.iter().find_map(|table| {
        let own = name.strip_prefix(table)?.strip_prefix('.')?;
        // What the user chose may have dots.
        let parts = table.split('.').chain([own]).map(str::to_owned);
        (!own.is_empty()).then(|| Key {
            name: parts.collect(),
            value: None,
        })
    });
    Ok(open)
}

/// Returns the name of the setting that looks most like this one, if any does.
pub(crate) fn like(name: &str) -> Option<String> {
    let keys = all(&Settings::default()).ok()?;
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let near = |key: &Key| {
        let own = key.name();
        strsim::jaro_winkler(&own, name).max(strsim::jaro_winkler(&last(&own), &last(name)))
    };
    let best = keys.iter().max_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(best) > 0.85).then(|| best.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_names_every_setting_without_a_default() {
        let manual = include_str!("../../manual/configuration.md");
        for name in OPTIONAL {
            let last = name.rsplit('.').next().unwrap();
            assert!(
                manual.contains(&format!("# {last} = ")) || manual.contains(&format!("{last} = ")),
                "{name}"
            );
        }
    }

    #[test]
    fn every_setting_has_a_name() {
        let default = all(&Settings::default()).unwrap();
        let all_set: Settings = toml::from_str(
            "[analysis]\nstem = [\"en\"]\n[mail]\nroot = \"~/Mail\"\n[passwords]\nfile = \"f\"\ncommand = \"c\"\n\
             [search]\nsynonyms = \"s\"\n[web]\naddress = \"127.0.0.1:1\"\n[web.password]\nfile = \"f\"\ncommand = \"c\"\n",
        )
        .unwrap();
        let names = |keys: &[Key]| keys.iter().map(Key::name).collect::<Vec<_>>();
        let set = all(&all_set).unwrap();
        assert_eq!(names(&default), names(&set));
        assert!(set.iter().all(|key| key.value.is_some()));
        assert!(default.iter().any(|key| key.name() == "extract.max_depth"));
    }

    #[test]
    fn names_are_found_and_guessed() {
        let settings: Settings =
            toml::from_str("[queries]\n\"a.b\" = \"x\"\n[ranking.fields]\ntitle = 2.0").unwrap();
        let value = |name| key(&settings, name).ok().flatten().map(|key| key.value);
        assert_eq!(value("queries.a.b"), Some(Some(Value::from("x"))));
        assert_eq!(value("queries.other"), Some(None));
        assert_eq!(value("memory"), Some(Some(Value::from("0"))));
        assert_eq!(value("web.address"), Some(None));
        assert_eq!(value("nonsense"), None);
        assert_eq!(value("queries"), None);
        assert!(key(&settings, "hook").is_err());
        assert_eq!(like("ocr.enable").as_deref(), Some("ocr.enabled"));
        assert_eq!(like("max_depth").as_deref(), Some("extract.max_depth"));
        assert_eq!(like("xyz"), None);
    }
}
