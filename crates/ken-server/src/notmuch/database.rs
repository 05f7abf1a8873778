//! The mail of one notmuch configuration: an index of its folder, and the log of its tags.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ken_core::{Field, Root, Value};
use ken_engine::Source;
use ken_index::Reader;
use ken_index::layout::index_folder;
use ken_mail::TagChange;
use ken_pipeline::{Options, Progress, RootChange, tags, update_files};
use ken_search::parse::{Asked, Names, Saved, Tree};
use ken_search::plan::Context;
use ken_search::service::Service;
use regex_automata::meta::Regex;

use super::journal::{self, Journal};
use super::message::Message;
use super::secrets::Secrets;
use super::{Error, sexp};

/// The settings of a database.
pub struct DatabaseOptions {
    /// The index, and how it is written.
    pub update: Options,
    /// The user, the time and the current folder.
    pub context: Context,
    /// The folder of all mail, as the user names it.
    pub mail_root: PathBuf,
    /// The settings by name, such as `query.todo`.
    pub settings: BTreeMap<String, String>,
}

/// The mail of one configuration.
pub struct Database {
    pub(super) options: Options,
    pub(super) settings: BTreeMap<String, String>,
    context: Context,
    /// The folder of all mail as the user names it, and without symbolic links.
    pub(super) mail_root: PathBuf,
    pub(super) real_root: PathBuf,
    /// Who opens encrypted messages while they are indexed.
    pub(super) secrets: Option<Arc<Secrets>>,
    reader: Reader,
    source: OnceLock<Arc<dyn Source>>,
    journal: OnceLock<Journal>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({:?})", self.mail_root)
    }
}

impl Database {
    /// Opens the database of a folder of mail, whether it has an index yet or not.
    ///
    /// # Errors
    /// Fails if the folder does not exist.
    pub fn new(options: DatabaseOptions) -> Result<Self, Error> {
        let real_root = fs_err::canonicalize(&options.mail_root)?;
        Ok(Self {
            reader: Reader::new(&index_folder(&options.update.data)),
            options: options.update,
            settings: options.settings,
            context: Context {
                mail_root: Some(real_root.clone()),
                ..options.context
            },
            mail_root: options.mail_root,
            real_root,
            secrets: None,
            source: OnceLock::new(),
            journal: OnceLock::new(),
        })
    }

    /// Returns the last commit.
    ///
    /// # Errors
    /// Fails if there is no index.
    pub fn source(&self) -> Result<Arc<dyn Source>, Error> {
        let source: Arc<dyn Source> = self.reader.snapshot()?;
        // Numbers of threads in a query are those of the commit that it is asked of.
        _ = self.source.set(Arc::clone(&source));
        Ok(source)
    }

    /// Returns the folder of the index.
    pub fn data(&self) -> &Path {
        &self.options.data
    }

    /// Returns what the log says.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn journal(&self) -> Result<&Journal, Error> {
        if let Some(journal) = self.journal.get() {
            return Ok(journal);
        }
        let journal = Journal::read(self.data())?;
        Ok(self.journal.get_or_init(|| journal))
    }

    /// Returns the identifier of the index and the number of its last change.
    ///
    /// # Errors
    /// Fails if there is no index or the log cannot be read.
    pub fn revision(&self) -> Result<(String, u64), Error> {
        let source = self.source()?;
        let hasher = &source.meta().hasher;
        let (high, low) = (hasher.number([&1]), hasher.number([&2]));
        let uuid = format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        );
        Ok((uuid, self.journal()?.revision))
    }

    pub(super) fn context(&self, source: &dyn Source) -> Context {
        Service::new(source, self.context.clone(), Saved::new())
            .context()
            .clone()
    }

    /// Returns the present time and the zone of the user.
    pub(super) fn clock(&self) -> (jiff::Timestamp, &jiff::tz::TimeZone) {
        (self.context.now, &self.context.zone)
    }

    /// Returns a message with the paths of its files as the user names them.
    pub(super) fn shown(&self, mut message: Message) -> Message {
        for file in &mut message.files {
            *file = self.shown_path(file);
        }
        message
    }

    /// Returns a path as the user names it.
    pub(super) fn shown_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.real_root) {
            Ok(below) => self.mail_root.join(below),
            Err(_) => path.to_path_buf(),
        }
    }

    /// Returns a path as the index has it.
    pub(super) fn real_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.mail_root) {
            Ok(below) => self.real_root.join(below),
            Err(_) => path.to_path_buf(),
        }
    }

    /// Returns the root of the index. Names of mail folders start with a dot, and some are links.
    pub fn root_change(&self) -> RootChange {
        RootChange::Add(Root {
            hidden: true,
            follow_links: true,
            no_ignore: true,
            ..Root::new(&self.real_root)
        })
    }

    /// Writes changes of tags to the log and brings them into the index, with changes of some files.
    ///
    /// # Errors
    /// Fails if either cannot be written.
    pub(super) fn apply(&self, changes: &[TagChange], files: &[PathBuf]) -> Result<(), Error> {
        let changes: Vec<TagChange> = changes
            .iter()
            .filter(|change| !change.on.name().is_empty())
            .cloned()
            .collect();
        if !changes.is_empty() {
            tags::append(self.data(), &changes)?;
        }
        if !changes.is_empty() || !files.is_empty() {
            self.bring_in(files)?;
        }
        Ok(())
    }

    /// Brings changes of the log and of some files into the index.
    pub(super) fn bring_in(&self, files: &[PathBuf]) -> Result<(), Error> {
        let progress = Progress::default();
        update_files(
            &self.options,
            &[self.root_change()],
            files,
            &progress,
            &|_| (),
        )?;
        Ok(())
    }

    /// Keeps a setting with the messages; an empty value removes it.
    ///
    /// # Errors
    /// Fails if the log cannot be written.
    pub fn keep_setting(&self, key: &str, value: &str) -> Result<(), Error> {
        tags::append_lines(self.data(), journal::setting_line(key, value))?;
        Ok(())
    }

    fn thread_ids(&self, number: &str) -> Option<Vec<String>> {
        let number = u64::from_str_radix(number, 16).ok()?;
        let source = self.source.get()?;
        let linked = source.mail().linked(&[number]).ok()?;
        let mut ids = Vec::new();
        for at in linked {
            let document = source.document_without_body(at).ok()?.document;
            ids.extend(document.text(Field::Msgid).map(str::to_owned));
        }
        Some(ids)
    }

    fn changed_ids(&self, range: &str) -> Option<Vec<String>> {
        let journal = self.journal().ok()?;
        let end = |text: &str| -> Option<u64> {
            match text.strip_prefix('-') {
                Some(back) => Some(journal.revision.saturating_sub(back.parse().ok()?)),
                None => text.parse().ok(),
            }
        };
        let (from, to) = match range.split_once("..") {
            Some((from, to)) => {
                let from = if from.is_empty() { 0 } else { end(from)? };
                let to = if to.is_empty() { u64::MAX } else { end(to)? };
                (from, to)
            }
            None => (end(range)?, end(range)?),
        };
        let (mut ids, has_unnamed) = journal.between(from, to);
        if has_unnamed {
            ids.extend(self.unnamed_ids()?);
        }
        Some(ids)
    }

    /// Returns the messages that the log does not name.
    fn unnamed_ids(&self) -> Option<Vec<String>> {
        let (journal, source) = (self.journal().ok()?, self.source.get()?);
        let ids = source.files().values(Field::Msgid).ok()?.into_iter();
        Some(ids.filter(|id| !journal.names(id)).collect())
    }
}

impl ken_search::parse::Database for Database {
    fn query(&self, name: &str) -> Option<String> {
        self.settings.get(&format!("query.{name}")).cloned()
    }

    fn ids(&self, of: Asked<'_>) -> Option<Vec<String>> {
        match of {
            Asked::Thread(number) => self.thread_ids(number),
            Asked::Revisions(range) => self.changed_ids(range),
            Asked::Property(text) => {
                let pattern = text
                    .strip_prefix('/')
                    .and_then(|rest| rest.strip_suffix('/'));
                let journal = self.journal().ok()?;
                match pattern {
                    Some(pattern) => {
                        let pattern = Regex::new(pattern).ok()?;
                        Some(journal.with_property(|key, value| {
                            pattern.is_match(&format!("{key}={value}"))
                        }))
                    }
                    None => {
                        let wanted = text.split_once('=')?;
                        Some(journal.with_property(|key, value| (key, value) == wanted))
                    }
                }
            }
        }
    }

    fn expression(&self, text: &str, names: Names<'_>) -> Result<Tree, String> {
        sexp::tree(text, names, &self.settings).map_err(|error| error.to_string())
    }
}

/// Returns the values of a text field.
pub(super) fn texts(document: &ken_core::Document, field: Field) -> Vec<String> {
    let values = document.fields.iter();
    let values = values.filter_map(|(of, value)| match value {
        Value::Text(text) if *of == field => Some(text.clone()),
        _ => None,
    });
    values.collect()
}
