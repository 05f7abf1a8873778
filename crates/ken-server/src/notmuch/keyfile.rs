//! notmuch's configuration file: groups of keys, with comments that stay when a key changes.
//!
//! The syntax is that of GLib's key files (`https://docs.gtk.org/glib/struct.KeyFile.html`): `[group]`, `key=value`,
//! `#` before comments; `\n`, `\t`, `\r`, `\s` and `\\` in values, and `;` between the items of a list.

/// A configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFile {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// A comment or an empty line.
    Other(String),
    Group(String),
    Entry {
        key: String,
        value: String,
    },
}

impl KeyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns what is wrong with the first line that is not understood.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        let mut has_group = false;
        for line in text.lines() {
            // The last line may end without the line feed that belongs to it.
            let line = line.trim_end_matches('\r');
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                lines.push(Line::Other(line.to_owned()));
            } else if let Some(name) = trimmed.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
                has_group = true;
                lines.push(Line::Group(name.to_owned()));
            } else if let Some((key, value)) = trimmed.split_once('=') {
                if !has_group {
                    return Err("Key file does not start with a group".to_owned());
                }
                let (key, value) = (key.trim_end().to_owned(), value.trim_start().to_owned());
                lines.push(Line::Entry { key, value });
            } else {
                return Err(format!(
                    "Key file contains line “{line}” which is not a key-value pair, group, or comment"
                ));
            }
        }
        Ok(Self { lines })
    }

    /// Returns every key, as `group.key`, with its value.
    pub fn entries(&self) -> impl Iterator<Item = (String, String)> {
        let mut group = "";
        self.lines.iter().filter_map(move |line| match line {
            Line::Group(name) => {
                group = name;
                None
            }
            Line::Entry { key, value } => Some((format!("{group}.{key}"), unescaped(value))),
            Line::Other(_) => None,
        })
    }

    /// Sets a key to a list of values, or removes it if there are none.
    pub fn set(&mut self, group: &str, key: &str, values: &[String]) {
        let value = match values {
            [] => None,
            [value] => Some(escaped(value)),
            values => {
                let items = values.iter();
                let items = items.map(|value| escaped(value).replace(';', "\\;") + ";");
                Some(items.collect())
            }
        };
        let is_group = |line: &Line| matches!(line, Line::Group(name) if name == group);
        let Some(start) = self.lines.iter().position(is_group) else {
            if let Some(value) = value {
                self.add_group(group, key, value);
            }
            return;
        };
        let after = &self.lines[start + 1..];
        let length = after.iter().position(|line| matches!(line, Line::Group(_)));
        let end = length.map_or(self.lines.len(), |length| start + 1 + length);
        let is_key = |line: &Line| matches!(line, Line::Entry { key: own, .. } if own == key);
        let found = self.lines[start..end].iter().position(is_key);
        let key = key.to_owned();
        match (found.map(|at| start + at), value) {
            (Some(at), Some(value)) => self.lines[at] = Line::Entry { key, value },
            (Some(at), None) => drop(self.lines.remove(at)),
            (None, Some(value)) => {
                let is_entry = |line: &Line| !matches!(line, Line::Other(_));
                let last = self.lines[start..end].iter().rposition(is_entry);
                let at = start + last.unwrap_or(0) + 1;
                self.lines.insert(at, Line::Entry { key, value });
            }
            (None, None) => {}
        }
    }

    fn add_group(&mut self, group: &str, key: &str, value: String) {
        if !self.lines.is_empty() {
            self.lines.push(Line::Other(String::new()));
        }
        self.lines.push(Line::Group(group.to_owned()));
        let key = key.to_owned();
        self.lines.push(Line::Entry { key, value });
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Line::Other(line) => text.push_str(line),
                Line::Group(name) => text.push_str(&format!("[{name}]")),
                Line::Entry { key, value } => text.push_str(&format!("{key}={value}")),
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the items of a value: those between semicolons. `\;` is part of an item.
pub fn items(value: &str) -> Vec<String> {
    let (mut items, mut item) = (Vec::new(), String::new());
    for part in value.split(';') {
        match part.strip_suffix('\\') {
            Some(part) => item += &format!("{part};"),
            None => items.push(std::mem::take(&mut item) + part),
        }
    }
    items.push(item);
    let items = items.iter().map(|item| item.trim());
    items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for (at, character) in value.char_indices() {
        let is_leading = value[..at].trim_start_matches([' ', '\t']).is_empty();
        match character {
            ' ' if is_leading => escaped.push_str("\\s"),
            '\t' if is_leading => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\\' => escaped.push_str("\\\\"),
            character => escaped.push(character),
        }
    }
    escaped
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('s') => text.push(' '),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            // It matters where the value is a list.
            Some(';') => text.push_str("\\;"),
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(file: &KeyFile, key: &str) -> Option<String> {
        let mut entries = file.entries();
        entries.find(|(own, _)| own == key).map(|(_, value)| value)
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "# top\n\n[user]\n# who\nname=Anna\n\n[new]\ntags=unread;inbox;\n";
        let mut file = KeyFile::read(text).unwrap();
        assert_eq!(file.text(), text);
        file.set("user", "name", &["Berta".to_owned()]);
        file.set("user", "mail", &["b@x".to_owned()]);
        file.set("new", "tags", &["a".to_owned(), "b c".to_owned()]);
        file.set("search", "exclude_tags", &["spam".to_owned()]);
        let expected = "# top\n\n[user]\n# who\nname=Berta\nmail=b@x\n\n[new]\ntags=a;b c;\n\n\
            [search]\nexclude_tags=spam\n";
        assert_eq!(file.text(), expected);
        file.set("user", "name", &[]);
        file.set("user", "none", &[]);
        assert_eq!(get(&file, "user.name"), None);
        assert_eq!(items(&get(&file, "new.tags").unwrap()), ["a", "b c"]);
    }

    #[test]
    fn ends_of_lines_do_not_change_what_is_read() {
        for text in [
            "# a\r\n[g]\r\nk=v\r\n",
            "# a\n[g]\nk=v",
            "# a\r\r\n[g]\nk=v\n\t\r",
        ] {
            let file = KeyFile::read(text).unwrap();
            assert_eq!(get(&file, "g.k").as_deref(), Some("v"), "{text:?}");
            assert_eq!(KeyFile::read(&file.text()), Ok(file), "{text:?}");
        }
    }

    #[test]
    fn items_may_have_semicolons() {
        let mut file = KeyFile::default();
        let list = ["a;b", "c"].map(str::to_owned);
        file.set("g", "k", &list);
        let again = KeyFile::read(&file.text()).unwrap();
        assert_eq!(items(&get(&again, "g.k").unwrap()), list);
        assert_eq!(items("; a;;b c;"), ["a", "b c"]);
    }

    #[test]
    fn values_survive_escapes() {
        for value in ["a\\b", "a\nb\rc", "a\tb", "  spaced", "", "äö;"] {
            let mut file = KeyFile::default();
            file.set("g", "k", &[value.to_owned()]);
            let again = KeyFile::read(&file.text()).unwrap();
            assert_eq!(get(&again, "g.k").as_deref(), Some(value));
        }
        for wrong in ["a=b", "[g]\nword"] {
            assert!(KeyFile::read(wrong).is_err(), "{wrong}");
        }
    }
}
