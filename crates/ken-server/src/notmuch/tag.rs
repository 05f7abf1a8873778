//! `notmuch tag`, `notmuch dump` and `notmuch restore`: tags, and the flags in the names of Maildir files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use ken_core::MessageState;
use ken_mail::maildir::{Flags, is_maildir_path, move_to};
use ken_mail::{TagChange, hex_decoded, hex_encoded};
use ken_pipeline::tags;

use super::Error;
use super::database::Database;
use super::journal::{properties_line, read_properties, setting_line};
use super::message::Message;
use super::query::{Exclude, Query};
use super::thread::{Sort, id_term};

/// The states that are flags of a Maildir and tags. Messages without the flag of [`MessageState::Seen`] have the tag of
/// [`MessageState::Unread`].
const FLAGS: [MessageState; 4] = [
    MessageState::Draft,
    MessageState::Flagged,
    MessageState::Passed,
    MessageState::Replied,
];

/// Returns the tags that are flags, and the letters of these.
fn flags() -> impl Iterator<Item = (&'static str, u8)> {
    let rows = FLAGS.into_iter().map(MessageState::info);
    rows.filter_map(|row| Some((row.notmuch?, row.letter)))
}

/// Returns the tag of messages that nobody has read.
pub(super) fn unread() -> &'static str {
    MessageState::Unread.name()
}

/// What stands before the flags in a name.
const INFO: &str = ":2,";

/// A tag, and whether it is given or taken.
pub type TagOperation = (String, bool);

/// Reads the words before a query: `+todo -inbox -- from:anna`. Returns the operations and how many words they are.
///
/// # Errors
/// Returns what is wrong with a tag.
pub fn read_operations(words: &[String]) -> Result<(Vec<TagOperation>, usize), String> {
    let mut operations = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word == "--" {
            return Ok((operations, at + 1));
        }
        let Some((sign @ ("+" | "-"), tag)) = word.split_at_checked(1) else {
            return Ok((operations, at));
        };
        check_tag(tag, sign == "+")?;
        operations.push((tag.to_owned(), sign == "+"));
    }
    Ok((operations, words.len()))
}

fn check_tag(tag: &str, is_given: bool) -> Result<(), String> {
    match tag {
        "" if is_given => Err("empty tag forbidden".to_owned()),
        tag if is_given && tag.starts_with('-') => {
            Err("tag starting with '-' forbidden".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads a line of `batch-tag`: operations and a query. Returns nothing for a comment.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read_line(
    line: &str,
    generous: bool,
) -> Result<Option<(Vec<TagOperation>, String)>, String> {
    let mut rest = line.trim_start_matches([' ', '\t']);
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let mut operations = Vec::new();
    loop {
        rest = rest.trim_start_matches(' ');
        if rest.is_empty() {
            return Err("missing query string".to_owned());
        }
        let end = rest.find(' ').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word == "--" {
            let query = after.trim_start_matches(' ');
            return match query {
                "" => Err("no query string after --".to_owned()),
                query => Ok(Some((operations, query.to_owned()))),
            };
        }
        let Some((sign @ ("+" | "-"), tag)) = word.split_at_checked(1) else {
            return Ok(Some((operations, rest.to_owned())));
        };
        if after.is_empty() {
            return Err("no query string".to_owned());
        }
        if !generous {
            check_tag(tag, sign == "+")?;
        }
        let decoded = hex_decoded(tag).map_err(|_| format!("hex decoding of tag {tag} failed"))?;
        operations.push((decoded, sign == "+"));
        rest = after;
    }
}

/// What a dump contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// Settings kept with the messages.
    pub config: bool,
    /// Properties of messages.
    pub properties: bool,
    /// Tags.
    pub tags: bool,
}

impl Include {
    /// Everything.
    pub const ALL: Self = Self {
        config: true,
        properties: true,
        tags: true,
    };
}

/// The format of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// A line of `notmuch tag --batch` for each message.
    #[default]
    BatchTag,
    /// `id (tag tag)`, the older format.
    Sup,
}

impl Database {
    /// Changes the tags of the messages that a query finds.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the tags cannot be stored.
    pub fn tag(
        &self,
        query: &Query,
        operations: &[TagOperation],
        removes_all: bool,
        syncs_flags: bool,
    ) -> Result<(), Error> {
        let source = self.source()?;
        let found = self.find(&*source, query)?;
        let messages = self.messages(&*source, &found)?;
        let wanted = messages.iter().map(|message| {
            let mut tags: BTreeSet<String> = match removes_all {
                true => BTreeSet::new(),
                false => message.tags.iter().cloned().collect(),
            };
            for (tag, is_given) in operations {
                match is_given {
                    true => _ = tags.insert(tag.clone()),
                    false => _ = tags.remove(tag),
                }
            }
            (message, tags)
        });
        let wanted: Vec<_> = wanted.collect();
        self.give(&wanted, syncs_flags)
    }

    /// Gives messages exactly these tags, and their files the flags of these tags.
    pub(super) fn give(
        &self,
        wanted: &[(&Message, BTreeSet<String>)],
        syncs_flags: bool,
    ) -> Result<(), Error> {
        let mut changes = Vec::new();
        let mut moved = Vec::new();
        for (message, tags) in wanted {
            let new = tags.iter().filter(|tag| !message.has_tag(tag));
            let new = new.map(|tag| (tag.clone(), true));
            let lost = message.tags.iter().filter(|tag| !tags.contains(*tag));
            let lost = lost.map(|tag| (tag.clone(), false));
            let tags_changed: Vec<TagOperation> = new.chain(lost).collect();
            let is_changed = !tags_changed.is_empty();
            if is_changed {
                changes.push(TagChange::of_message(message.id.clone(), tags_changed));
            }
            if syncs_flags && is_changed {
                for file in &message.files {
                    if let Some(to) = flagged(&self.real_path(file), tags) {
                        moved.push(self.real_path(file));
                        moved.push(to);
                    }
                }
            }
        }
        self.apply(&changes, &moved)
    }

    /// Prints all tags, properties and settings.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be read.
    pub fn dump(
        &self,
        query: &str,
        is_sexp: bool,
        format: DumpFormat,
        include: Include,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let source = self.source()?;
        let journal = self.journal()?;
        if format == DumpFormat::BatchTag {
            let parts = [
                ("config", include.config),
                ("properties", include.properties),
                ("tags", include.tags),
            ];
            let parts = parts.into_iter().filter(|(_, is_wanted)| *is_wanted);
            let names: Vec<&str> = parts.map(|(name, _)| name).collect();
            writeln!(out, "#notmuch-dump batch-tag:3 {}", names.join(","))?;
            if include.config {
                for (key, value) in &journal.settings {
                    out.write_all(setting_line(key, value).as_bytes())?;
                }
            }
        }
        if !include.properties && !include.tags {
            return Ok(());
        }
        let query = Query {
            text: query.to_owned(),
            is_sexp,
            sort: Sort::OldestFirst,
            exclude: Exclude::False,
            ..Query::default()
        };
        let found = self.find(&*source, &query)?;
        for message in self.messages(&*source, &found)? {
            if format == DumpFormat::Sup {
                let tags = message.tags.join(" ");
                writeln!(out, "{} ({tags})", message.id)?;
                continue;
            }
            let properties = journal.properties(&message.id);
            if include.properties && !properties.is_empty() {
                out.write_all(properties_line(&message.id, properties).as_bytes())?;
            }
            if include.tags {
                let tags = message.tags.iter();
                let tags: String = tags.map(|tag| format!("+{} ", hex_encoded(tag))).collect();
                writeln!(out, "{tags}-- {}", id_term(&message.id))?;
            }
        }
        Ok(())
    }

    /// Takes in what a dump says: each message that it names gets exactly its tags, or with `accumulates` those too.
    /// Returns what is wrong with lines.
    ///
    /// # Errors
    /// Fails if the index cannot be read or written.
    pub fn restore(
        &self,
        text: &str,
        format: Option<DumpFormat>,
        include: Include,
        accumulates: bool,
        syncs_flags: bool,
    ) -> Result<Vec<String>, Error> {
        let mut wrong: Vec<(usize, String)> = Vec::new();
        let mut kept = String::new();
        let mut tags: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut lines_of = Vec::new();
        let lines = (1..).zip(text.lines());
        let format = format.unwrap_or_else(|| format_of(text));
        for (number, line) in lines {
            let mut warn = |what: String| wrong.push((number, format!("Warning: {what}")));
            let mut insert = |id: String, given| {
                lines_of.push((number, id.clone()));
                tags.insert(id, given);
            };
            if format == DumpFormat::Sup {
                match sup_line(line) {
                    Some((id, given)) => insert(id, given),
                    None if line.trim().is_empty() || line.starts_with('#') => {}
                    None => warn(format!("Ignoring invalid sup format line: {line}")),
                }
                continue;
            }
            if line.starts_with("#@ ") && include.config
                || line.starts_with("#= ") && include.properties
            {
                kept.push_str(&format!("{line}\n"));
                if let Some(properties) = line.strip_prefix("#= ")
                    && read_properties(properties).is_none()
                {
                    warn(format!("cannot parse properties [{line}]"));
                }
                continue;
            }
            if !include.tags {
                continue;
            }
            match read_line(line, true) {
                Ok(None) => {}
                Ok(Some((operations, query))) => match boolean_term(&query) {
                    Some(("id", id)) => {
                        let given = operations.into_iter().filter(|(_, is_given)| *is_given);
                        insert(id, given.map(|(tag, _)| tag).collect());
                    }
                    Some(_) => warn(format!("not an id query: {query} (skipping)")),
                    None => warn(format!("cannot parse query: {query} (skipping)")),
                },
                Err(what) => warn(format!("{what} [{line}]")),
            }
        }
        if !kept.is_empty() {
            tags::append_lines(self.data(), kept)?;
        }
        let there = self.give_by_id(&tags, accumulates, syncs_flags)?;
        let missing = lines_of.into_iter().filter(|(_, id)| !there.contains(id));
        wrong.extend(missing.map(|(number, id)| {
            let what = format!("Warning: cannot apply tags to missing message: {id}");
            (number, what)
        }));
        wrong.sort_by_key(|(number, _)| *number);
        Ok(wrong.into_iter().map(|(_, what)| what).collect())
    }

    /// Gives messages their tags; returns the identifiers of those that there are.
    fn give_by_id(
        &self,
        tags: &BTreeMap<String, BTreeSet<String>>,
        accumulates: bool,
        syncs_flags: bool,
    ) -> Result<HashSet<String>, Error> {
        let source = self.source()?;
        let all = Query {
            exclude: Exclude::False,
            ..Query::default()
        };
        let found = self.find(&*source, &all)?;
        let messages = self.messages(&*source, &found)?;
        let named = messages.iter().filter_map(|message| {
            let mut given = tags.get(&message.id)?.clone();
            if accumulates {
                given.extend(message.tags.iter().cloned());
            }
            Some((message, given))
        });
        let named: Vec<_> = named.collect();
        self.give(&named, syncs_flags)?;
        let there = named.iter().map(|(message, _)| message.id.clone());
        Ok(there.collect())
    }
}

/// Returns the format of a dump, by its first line with tags.
fn format_of(text: &str) -> DumpFormat {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let first = lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    match text.starts_with("#notmuch-dump") || sup_line(first).is_none() {
        true => DumpFormat::BatchTag,
        false => DumpFormat::Sup,
    }
}

fn sup_line(line: &str) -> Option<(String, BTreeSet<String>)> {
    let (id, tags) = line.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    let tags = tags.split_whitespace().map(str::to_owned).collect();
    Some((id.to_owned(), tags))
}

/// Reads one term with a prefix, and nothing else: `id:a@b` or `id:"a ""b"" c"`. Without quotes the value ends at a space or
/// at `)`.
fn boolean_term(query: &str) -> Option<(&str, String)> {
    let (prefix, value) = query.trim().split_once(':')?;
    let Some(mut rest) = value.strip_prefix('"') else {
        let is_whole = !value.is_empty() && !value.contains(|c: char| c <= ' ' || c == ')');
        return is_whole.then(|| (prefix, value.to_owned()));
    };
    let mut text = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        text.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => {
                text.push('"');
                rest = more;
            }
            None => return behind.is_empty().then_some((prefix, text)),
        }
    }
}

/// Gives a file of a Maildir the flags of these tags; returns its new path if it moved.
pub(super) fn flagged(path: &Path, tags: &BTreeSet<String>) -> Option<PathBuf> {
    let to = target(path, tags)?;
    (to != path && move_to(path, &to).is_ok()).then_some(to)
}

/// Returns the path of a file of a Maildir with the flags of these tags. Other flags stay. A file in `new` stays there if it
/// has no flags, and a name that breaks the rules of Maildir is not changed.
fn target(path: &Path, tags: &BTreeSet<String>) -> Option<PathBuf> {
    if !is_maildir_path(path) {
        return None;
    }
    let folder = path.parent()?;
    let is_in_new = folder.file_name()? == "new";
    let name = path.file_name()?.to_str()?;
    let (base, info) = match name.rsplit_once(INFO) {
        Some((base, info)) => (base, Some(info)),
        None => (name, None),
    };
    let before = info.unwrap_or_default();
    if !before.is_ascii() || !before.as_bytes().is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut letters: BTreeSet<char> = before.chars().collect();
    let mut set = |letter: u8, is_given| match is_given {
        true => letters.insert(char::from(letter)),
        false => letters.remove(&char::from(letter)),
    };
    for (tag, letter) in flags() {
        set(letter, tags.contains(tag));
    }
    set(b'S', !tags.contains(unread()));
    if is_in_new && info.is_none() && letters.is_empty() {
        return None;
    }
    let letters: String = letters.into_iter().collect();
    let maildir = folder.parent()?;
    Some(maildir.join("cur").join(format!("{base}{INFO}{letters}")))
}

/// Returns what the flags of files of a Maildir say about tags; nothing if no file is in one.
pub(super) fn tags_of_flags(files: &[PathBuf]) -> Option<Vec<TagOperation>> {
    let has_info = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        is_maildir_path(file) && (name.contains(INFO) || Flags::of_path(file).is_new())
    };
    let found: Vec<Flags> = files
        .iter()
        .filter(has_info)
        .map(|file| Flags::of_path(file))
        .collect();
    if found.is_empty() {
        return None;
    }
    let has = |letter: u8| found.iter().any(|flags| flags.has(letter));
    let said = flags().map(|(tag, letter)| (tag.to_owned(), has(letter)));
    let mut operations: Vec<TagOperation> = said.collect();
    operations.push((unread().to_owned(), !has(b'S')));
    Some(operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_stand_before_the_query() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let (operations, n_words) = read_operations(&words("+a -b from:x")).unwrap();
        assert_eq!(
            operations,
            [("a".to_owned(), true), ("b".to_owned(), false)]
        );
        assert_eq!(n_words, 2);
        assert_eq!(read_operations(&words("+a -- -b")).unwrap().1, 2);
        assert!(read_operations(&words("+-a x")).is_err());
        assert!(read_operations(&words("+ x")).is_err());
    }

    #[test]
    fn lines_of_a_batch_are_read() {
        let (operations, query) = read_line(" +a%20b -c -- id:1 x", false).unwrap().unwrap();
        assert_eq!(
            operations,
            [("a b".to_owned(), true), ("c".to_owned(), false)]
        );
        assert_eq!(query, "id:1 x");
        assert_eq!(read_line("a b", false).unwrap().unwrap().1, "a b");
        assert_eq!(read_line("# a", false), Ok(None));
        for (line, wrong) in [
            ("+a", "no query string"),
            ("+a ", "missing query string"),
            ("+a --", "no query string after --"),
            ("+%zz -- x", "hex decoding of tag %zz failed"),
            ("+ -- x", "empty tag forbidden"),
        ] {
            assert_eq!(read_line(line, false), Err(wrong.to_owned()));
        }
        assert!(read_line("+ -- x", true).is_ok());
    }

    #[test]
    fn older_dumps_are_read() {
        let (id, tags) = sup_line("1@x (a b)").unwrap();
        assert_eq!((id.as_str(), tags.len()), ("1@x", 2));
        assert_eq!(format_of("1@x ()\n"), DumpFormat::Sup);
        assert_eq!(format_of("+a -- id:1@x\n"), DumpFormat::BatchTag);
        let term = |prefix, value: &str| Some((prefix, value.to_owned()));
        assert_eq!(boolean_term("id:\"a \"\"b\" "), term("id", "a \"b"));
        assert_eq!(boolean_term("id:a\"b"), term("id", "a\"b"));
        assert_eq!(boolean_term("tag:a"), term("tag", "a"));
        for wrong in ["a", "id:", "id:\"", "id:a)b", "id:a b", "id:\"a\"b"] {
            assert_eq!(boolean_term(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn flags_are_tags() {
        let of = |path: &str| {
            tags_of_flags(&[PathBuf::from(path)]).map(|tags| {
                let given = tags.into_iter().filter(|(_, is_given)| *is_given);
                given.map(|(tag, _)| tag).collect::<Vec<_>>()
            })
        };
        assert_eq!(of("/m/cur/1:2,FS").unwrap(), ["flagged"]);
        assert_eq!(of("/m/cur/1:2,").unwrap(), ["unread"]);
        assert_eq!(of("/m/new/1").unwrap(), ["unread"]);
        assert_eq!(of("/m/cur/1"), None);
        assert_eq!(of("/m/1"), None);
    }

    #[test]
    fn tags_are_flags() {
        let to = |path: &str, tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            target(Path::new(path), &tags).map(|path| path.to_str().unwrap().to_owned())
        };
        for (path, tags, expected) in [
            ("/m/new/1", &["unread"][..], None),
            ("/m/new/1", &["inbox"], Some("/m/cur/1:2,S")),
            ("/m/new/1:2,", &["unread"], Some("/m/cur/1:2,")),
            ("/m/cur/1", &["unread"], Some("/m/cur/1:2,")),
            (
                "/m/cur/1:2,FSZxyz",
                &["unread", "draft"],
                Some("/m/cur/1:2,DZxyz"),
            ),
            ("/m/cur/1:2,ab-not-sorted", &["draft"], None),
            ("/m/1", &["draft"], None),
        ] {
            assert_eq!(to(path, tags).as_deref(), expected, "{path} {tags:?}");
        }
    }
}
