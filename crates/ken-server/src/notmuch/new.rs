//! `notmuch new`, `notmuch insert`, `notmuch reindex` and `notmuch compact`: messages that come, move and go.
//!
//! The tags of a new message are in the log before the index has the message, so that both come in one commit. A crash
//! in between leaves lines for a message that the next run adds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ken_core::{Change, Field, FileKey, Pattern, Plan};
use ken_engine::{Request, Source};
use ken_mail::{Message as Parsed, TagChange, TreePart};
use ken_pipeline::{Options, Progress, Summary, tags, update};

use super::Error;
use super::content::note_content;
use super::database::{Database, texts};
use super::ignore::Ignore;
use super::journal::{Journal, properties_line, reindexed_line};
use super::message::{self, number_of};
use super::tag::{TagOperation, flagged, tags_of_flags, unread};

/// The most bytes of a message's file.
const MAX_FILE_BYTES: u64 = 512 << 20;
/// How often another name is tried for a new file.
const MAX_TRIES: u32 = 100;

/// Runs over all mail, and tells of each file that changed.
pub type Run<'r> =
    &'r dyn Fn(&Options, &Progress, &(dyn Fn(&Change) + Sync)) -> Result<Summary, Error>;

/// How new messages are taken in.
#[derive(Debug, Default)]
pub struct NewRequest {
    /// The tags of new messages.
    pub tags: Vec<String>,
    /// Whether flags in the names of Maildir files are tags.
    pub syncs_flags: bool,
    /// What is no mail.
    pub ignore: Ignore,
}

/// What happened to messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSummary {
    /// The new messages.
    pub added: usize,
    /// The messages without a file left.
    pub removed: usize,
    /// The files that are gone while their message has others.
    pub renamed: usize,
    /// The new files, sorted.
    pub processed: Vec<PathBuf>,
    /// The new files that are no messages, sorted.
    pub not_mail: Vec<PathBuf>,
    /// The files and folders that are ignored, sorted.
    pub ignored: Vec<PathBuf>,
    /// Whether the run was stopped early.
    pub interrupted: bool,
}

/// A new file.
struct Arrival {
    path: PathBuf,
    /// The identifier of the message; absent if the file is none.
    id: Option<String>,
    tags: Vec<&'static str>,
}

/// A file that the index had, with its message.
struct Departure {
    id: String,
    number: u64,
    tags: Vec<String>,
}

impl Database {
    /// Takes in messages that came, moved or went, with the tags of new ones.
    ///
    /// # Errors
    /// Fails if the index cannot be written.
    pub fn new_messages(&self, request: &NewRequest, run: Run<'_>) -> Result<NewSummary, Error> {
        let mut options = self.options.clone();
        let mut ignored = request.ignore.below(&self.real_root);
        ignored.sort();
        options.excluded.extend(ignored.iter().cloned());
        let before = self.reader_source();
        let (arrivals, gone) = self.look(&options)?;
        let mut summary = NewSummary {
            ignored: ignored.iter().map(|path| self.shown_path(path)).collect(),
            ..NewSummary::default()
        };
        for arrival in &arrivals {
            let path = self.shown_path(&arrival.path);
            if arrival.id.is_none() {
                summary.not_mail.push(path.clone());
            }
            summary.processed.push(path);
        }
        summary.processed.sort();
        summary.not_mail.sort();
        let departures = match &before {
            Some(before) => departures(&**before, &gone)?,
            None => Vec::new(),
        };
        let known = match &before {
            Some(before) => known_ids(&**before, arrivals.iter().filter_map(|a| a.id.as_deref()))?,
            None => BTreeSet::new(),
        };
        let mut by_id: BTreeMap<&str, Vec<&Arrival>> = BTreeMap::new();
        for arrival in &arrivals {
            if let Some(id) = &arrival.id {
                by_id.entry(id).or_default().push(arrival);
            }
        }
        let new = by_id.iter().filter(|(id, _)| !known.contains(**id));
        let new: Vec<TagChange> = new
            .map(|(id, files)| TagChange::of_message((*id).to_owned(), tags_of_new(files, request)))
            .collect();
        summary.added = new.len();
        if !new.is_empty() {
            tags::append(self.data(), &new)?;
        }
        let looked: BTreeSet<&Path> = arrivals.iter().map(|found| &*found.path).collect();
        let late = Mutex::new(Vec::new());
        let note = |change: &Change| {
            if let Change::Added { path, .. }
            | Change::Changed { path, .. }
            | Change::Moved { path, .. } = change
                && !looked.contains(&**path)
            {
                let mut late = late.lock().unwrap_or_else(PoisonError::into_inner);
                late.push(path.clone());
            }
        };
        let given: BTreeSet<String> = new
            .into_iter()
            .map(|change| change.on.name().to_owned())
            .collect();
        let done = run(&options, &Progress::default(), &note);
        // Also of a run that failed.
        self.note_opened(&BTreeSet::new())?;
        let done = done?;
        summary.interrupted = done.interrupted;
        let mut touched: BTreeSet<String> = known.into_iter().collect();
        let after = self.source()?;
        let (mut changes, mut removed) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for departure in departures {
            let is_left = !message::files_of(&*after, &[departure.number])?.is_empty();
            if is_left {
                summary.renamed += 1;
                touched.insert(departure.id);
            } else if seen.insert(departure.number) {
                summary.removed += 1;
                removed.push(departure.id.clone());
                let tags = departure.tags.into_iter().map(|tag| (tag, false)).collect();
                changes.push(TagChange::of_message(departure.id, tags));
            }
        }
        let late = late.into_inner().unwrap_or_else(PoisonError::into_inner);
        let late = self.late(late, (before.as_deref(), &given), request, &mut summary)?;
        changes.extend(late.0);
        touched.extend(late.1);
        if request.syncs_flags {
            changes.extend(self.changes_of_flags(&*after, &touched)?);
        }
        self.forget_properties(&removed)?;
        self.apply(&changes, &[])?;
        Ok(summary)
    }

    /// Forgets the properties of messages that are gone; a session key opens them no more.
    fn forget_properties(&self, ids: &[String]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let journal = Journal::read(self.data())?;
        let known = ids.iter().filter(|id| !journal.properties(id).is_empty());
        let lines: String = known.map(|id| properties_line(id, &[])).collect();
        if !lines.is_empty() {
            tags::append_lines(self.data(), lines)?;
        }
        Ok(())
    }

    /// Returns the tags of messages that came while the run was looking for others, and the messages that have such files and
    /// were known before, by the index or by tags that they were `given` before the run.
    fn late(
        &self,
        paths: Vec<PathBuf>,
        (before, given): (Option<&dyn Source>, &BTreeSet<String>),
        request: &NewRequest,
        summary: &mut NewSummary,
    ) -> Result<(Vec<TagChange>, Vec<String>), Error> {
        let mut by_id: BTreeMap<String, Vec<Arrival>> = BTreeMap::new();
        for path in paths {
            let arrival = arrival(&path);
            summary.processed.push(self.shown_path(&path));
            match &arrival.id {
                Some(id) => by_id.entry(id.clone()).or_default().push(arrival),
                None => summary.not_mail.push(self.shown_path(&path)),
            }
        }
        summary.processed.sort();
        summary.not_mail.sort();
        let mut known = match before {
            Some(before) => known_ids(before, by_id.keys().map(String::as_str))?,
            None => BTreeSet::new(),
        };
        known.extend(given.iter().cloned());
        let (mut changes, mut touched) = (Vec::new(), Vec::new());
        for (id, files) in by_id {
            if known.contains(&id) {
                touched.push(id);
                continue;
            }
            let files: Vec<&Arrival> = files.iter().collect();
            changes.push(TagChange::of_message(id, tags_of_new(&files, request)));
        }
        summary.added += changes.len();
        Ok((changes, touched))
    }

    fn reader_source(&self) -> Option<std::sync::Arc<dyn Source>> {
        self.source().ok()
    }

    /// Returns the files that came and the keys of those that went, without writing anything.
    fn look(&self, options: &Options) -> Result<(Vec<Arrival>, Vec<FileKey>), Error> {
        let options = Options {
            dry_run: true,
            ..options.clone()
        };
        let found = Mutex::new((Vec::new(), Vec::new()));
        let note = |change: &Change| {
            let (arrival, key) = match change {
                Change::Added { path, .. } | Change::Changed { path, .. } => {
                    (Some(arrival(path)), None)
                }
                Change::Moved { from, path, .. } => (Some(arrival(path)), Some(*from)),
                Change::Gone { key } => (None, Some(*key)),
                Change::Access { .. } => (None, None),
            };
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.extend(arrival);
            found.1.extend(key);
        };
        update(&options, &[self.root_change()], &Progress::default(), &note)?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the changes that give messages the tags of their files' flags.
    fn changes_of_flags(
        &self,
        source: &dyn Source,
        ids: &BTreeSet<String>,
    ) -> Result<Vec<TagChange>, Error> {
        let files = with_ids(source, ids.iter().map(String::as_str))?;
        let mut changes = Vec::new();
        for message in message::read(source, &files)? {
            let Some(said) = tags_of_flags(&message.files) else {
                continue;
            };
            let is_news = |(tag, is_given): &TagOperation| message.has_tag(tag) != *is_given;
            let tags: Vec<TagOperation> = said.into_iter().filter(is_news).collect();
            if !tags.is_empty() {
                let id = message.id;
                changes.push(TagChange::of_message(id, tags));
            }
        }
        Ok(changes)
    }

    /// Reads the messages that a query finds again.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be written.
    pub fn reindex(&self, query: &super::Query) -> Result<(), Error> {
        let source = self.source()?;
        let found = self.find(&*source, query)?;
        let messages = self.messages(&*source, &found)?;
        if messages.is_empty() {
            return Ok(());
        }
        // One revision for all of them, as in notmuch.
        let n_all = source.files().values(Field::Msgid)?.len();
        let ids = messages.iter().map(|message| message.id.as_str());
        let line = reindexed_line((messages.len() < n_all).then_some(ids));
        tags::append_lines(self.data(), line)?;
        self.read_again(&self.options, &messages)?;
        let ids = messages.iter().map(|message| message.id.as_str());
        self.note_opened(&ids.collect())
    }

    /// Writes a message into a folder of a Maildir and takes it in.
    ///
    /// # Errors
    /// Fails if the text is no message, or if it cannot be written. If it cannot be indexed, it fails and there is no file,
    /// unless the file shall be kept.
    pub fn insert(&self, request: &InsertRequest, text: &[u8]) -> Result<Inserted, Error> {
        let arrived = arrival_of(text, Path::new(""));
        if arrived.id.is_none() {
            return Err(Error::said("the text is no message"));
        }
        let folder = self.real_root.join(&request.folder);
        if request.creates {
            make(&folder, request.world_readable)?;
        }
        let path = deliver(&folder, text, request.world_readable)?;
        let id = arrived.id.clone().unwrap_or_default();
        let known = match self.reader_source() {
            Some(source) => known_ids(&*source, std::iter::once(id.as_str()))?,
            None => BTreeSet::new(),
        };
        let mut file = path.clone();
        let mut changes = Vec::new();
        if known.is_empty() {
            let mut tags: BTreeSet<String> = request.tags.iter().cloned().collect();
            tags.extend(arrived.tags.iter().map(|tag| (*tag).to_owned()));
            for (tag, is_given) in &request.operations {
                match is_given {
                    true => _ = tags.insert(tag.clone()),
                    false => _ = tags.remove(tag),
                }
            }
            if request.syncs_flags
                && let Some(moved) = flagged(&path, &tags)
            {
                file = moved;
            }
            let tags = tags.into_iter().map(|tag| (tag, true)).collect();
            changes.push(TagChange::of_message(id, tags));
        }
        let applied = self.apply(&changes, std::slice::from_ref(&file));
        match applied.and_then(|()| self.note_opened(&BTreeSet::new())) {
            Ok(()) => Ok(Inserted::Indexed(self.shown_path(&file))),
            // The next run finds it.
            Err(error) if request.keeps => Ok(Inserted::Kept(self.shown_path(&file), error)),
            Err(error) => {
                // Whoever delivers the message does it again.
                fs_err::remove_file(&file)?;
                Err(error)
            }
        }
    }
}

/// What became of a message that was put into a Maildir, with its path.
#[derive(Debug)]
pub enum Inserted {
    /// The index has it.
    Indexed(PathBuf),
    /// It is a file only, since the index could not be written.
    Kept(PathBuf, Error),
}

/// A message that is put into a Maildir.
#[derive(Debug, Default)]
pub struct InsertRequest {
    /// The folder, below that of all mail.
    pub folder: PathBuf,
    /// Whether the folder is made.
    pub creates: bool,
    /// Whether the file stays if it cannot be indexed.
    pub keeps: bool,
    /// Whether others may read the message.
    pub world_readable: bool,
    /// The tags of new messages.
    pub tags: Vec<String>,
    /// Tags that this message has or lacks.
    pub operations: Vec<TagOperation>,
    /// Whether flags in the names of Maildir files are tags.
    pub syncs_flags: bool,
}

/// Reads a new file.
fn arrival(path: &Path) -> Arrival {
    let mut bytes = Vec::new();
    let read = ken_pipeline::open_named(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => arrival_of(&super::gzip::unpacked(&bytes), path),
        Err(_) => Arrival {
            path: path.to_path_buf(),
            id: None,
            tags: Vec::new(),
        },
    }
}

fn arrival_of(bytes: &[u8], path: &Path) -> Arrival {
    let message = Parsed::parse(bytes, &super::detect);
    let is_empty = message.from.is_empty() && message.to.is_empty() && message.subject.is_empty();
    let is_mail = !is_empty && !is_mailbox(bytes);
    let tree = TreePart::read(bytes, &super::detect);
    let mut tags = BTreeSet::new();
    note_content(&tree, &mut tags);
    Arrival {
        path: path.to_path_buf(),
        id: is_mail.then_some(message.id),
        tags: tags.into_iter().collect(),
    }
}

/// Returns whether a file holds several messages, each behind a line `From …`.
fn is_mailbox(bytes: &[u8]) -> bool {
    bytes.starts_with(b"From ") && bytes.windows(7).any(|window| window == b"\n\nFrom ")
}

fn tags_of_new(files: &[&Arrival], request: &NewRequest) -> Vec<TagOperation> {
    let mut tags: BTreeSet<String> = BTreeSet::new();
    for file in files {
        tags.extend(file.tags.iter().map(|tag| (*tag).to_owned()));
    }
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let flags = tags_of_flags(&paths).unwrap_or_default();
    let is_seen = flags.contains(&(unread().to_owned(), false));
    if request.syncs_flags {
        let given = flags.into_iter().filter(|(_, is_given)| *is_given);
        tags.extend(given.map(|(tag, _)| tag));
    }
    let new = request
        .tags
        .iter()
        .filter(|tag| !is_seen || *tag != unread());
    tags.extend(new.cloned());
    tags.into_iter().map(|tag| (tag, true)).collect()
}

/// Returns the messages of files that went.
fn departures(source: &dyn Source, keys: &[FileKey]) -> Result<Vec<Departure>, Error> {
    let mut departures = Vec::new();
    for key in keys {
        for at in source.files().documents_of(*key)? {
            if !source.location(at)?.ipath.is_root() {
                continue;
            }
            let Some(number) = number_of(source, at)? else {
                continue;
            };
            let document = source.document_without_body(at)?.document;
            departures.push(Departure {
                id: document.text(Field::Msgid).unwrap_or_default().to_owned(),
                number,
                tags: texts(&document, Field::Tag),
            });
        }
    }
    Ok(departures)
}

/// Returns the files of messages with some identifiers.
fn with_ids<'i>(
    source: &dyn Source,
    ids: impl Iterator<Item = &'i str>,
) -> Result<Vec<ken_engine::DocAddress>, Error> {
    let plan = Plan::Match {
        field: Field::Msgid,
        pattern: Pattern::Any(ids.map(str::to_lowercase).collect()),
    };
    let found = source.find(&Request::new(&plan))?;
    Ok(found.hits.into_iter().map(|hit| hit.address).collect())
}

/// Returns those of some identifiers that the index has.
fn known_ids<'i>(
    source: &dyn Source,
    ids: impl Iterator<Item = &'i str>,
) -> Result<BTreeSet<String>, Error> {
    let ids: HashMap<String, &str> = ids.map(|id| (id.to_lowercase(), id)).collect();
    let mut known = BTreeSet::new();
    for at in with_ids(source, ids.keys().map(String::as_str))? {
        let document = source.document_without_body(at)?.document;
        let id = document
            .text(Field::Msgid)
            .unwrap_or_default()
            .to_lowercase();
        known.extend(ids.get(&id).map(|id| (*id).to_owned()));
    }
    Ok(known)
}

/// Makes a folder of a Maildir, and the folders above it.
fn make(folder: &Path, world_readable: bool) -> Result<(), Error> {
    let mode = if world_readable { 0o755 } else { 0o700 };
    for part in ["cur", "new", "tmp"] {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(mode);
        builder.create(folder.join(part))?;
    }
    Ok(())
}

/// Writes a file into `tmp` and moves it into `new`, by the rules of Maildir.
fn deliver(folder: &Path, text: &[u8], world_readable: bool) -> Result<PathBuf, Error> {
    let mode = if world_readable { 0o644 } else { 0o600 };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim().replace(['/', ':'], "_");
    let process = std::process::id();
    for number in 0..MAX_TRIES {
        let (seconds, micros) = (now.as_secs(), now.subsec_micros());
        let name = format!("{seconds}.M{micros}P{process}Q{number}.{host}");
        let temporary = folder.join("tmp").join(&name);
        let mut options = fs_err::OpenOptions::new();
        options.write(true).create_new(true);
        fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        let mut file = match options.open(&temporary) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            Err(error) => {
                let message = format!("Error: opening {}: {error}", temporary.display());
                return Err(Error::said(message));
            }
        };
        file.write_all(without_from_line(text))?;
        file.sync_all()?;
        let path = folder.join("new").join(&name);
        match fs_err::hard_link(&temporary, &path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            Err(_) => fs_err::rename(&temporary, &path)?,
        }
        _ = fs_err::remove_file(&temporary);
        fs_err::File::open(folder.join("new"))?.sync_all()?;
        return Ok(path);
    }
    Err(Error::said("no free name for the message was found"))
}

/// Returns a message without the line of a mailbox before it.
fn without_from_line(text: &[u8]) -> &[u8] {
    match text.starts_with(b"From ") {
        true => {
            let end = text.iter().position(|byte| *byte == b'\n');
            &text[end.map_or(text.len(), |end| end + 1)..]
        }
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_other_files() {
        let id = |text: &str| arrival_of(text.as_bytes(), Path::new("")).id;
        assert_eq!(
            id("From: a@x\nMessage-ID: <1@x>\n\nhi").as_deref(),
            Some("1@x")
        );
        assert_eq!(id("just text"), None);
        assert_eq!(id(""), None);
        assert_eq!(
            id("From a\nSubject: a\n\nb\n\nFrom a\nSubject: c\n\nd"),
            None
        );
        assert!(id("From a\nSubject: a\n\nb\n").is_some());
    }

    #[test]
    fn content_gives_tags() {
        let text = "From: a@x\nContent-Type: multipart/signed; boundary=b\n\n--b\n\
            Content-Disposition: attachment\n\nx\n--b\n\
            Content-Disposition: attachment\n\nsignature\n--b--\n";
        let tags = |text: &str| arrival_of(text.as_bytes(), Path::new("")).tags;
        assert_eq!(tags(text), ["attachment", "signed"]);
        let without = text.replacen("Content-Disposition: attachment\n\nx", "\nx", 1);
        assert_eq!(tags(&without), ["signed"]);
    }

    #[test]
    fn messages_are_delivered() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), false).unwrap();
        let path = deliver(folder.path(), b"From x\nSubject: a\n\nb\n", false).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"Subject: a\n\nb\n");
        assert_eq!(path.parent().unwrap(), folder.path().join("new"));
        assert_eq!(
            fs_err::read_dir(folder.path().join("tmp")).unwrap().count(),
            0
        );
    }
}
