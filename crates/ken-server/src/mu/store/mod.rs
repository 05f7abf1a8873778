//! The mail of one index: it answers queries and follows messages that are changed.
//!
//! Readers never wait for a writer. An [`Updater`] brings messages that were moved into the index. Until then the
//! store itself knows where they are, and answers accordingly.

mod query;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, unbounded};
use ken_engine::Source;
use ken_index::Reader;
use ken_index::layout::index_folder;
use ken_mail::Personal;
use ken_mail::maildir::MaildirPath;
use ken_pipeline::updater::{Batching, Outcome, PathChange, Ticket, Updater, UpdaterOptions};
use ken_pipeline::{Options, Progress};
use ken_search::plan::Context;

use super::Error;
use super::error::ErrorKind;

/// How long a request waits for earlier changes.
const SETTLE: Duration = Duration::from_secs(2);
/// The deepest nesting of mail folders.
const MAX_DEPTH: usize = 32;

/// The settings of a store.
pub struct StoreOptions {
    /// The index, and how it is written.
    pub update: Options,
    /// The user, the time and the current folder.
    pub context: Context,
    /// The folder of all mail, without symbolic links.
    pub maildir: PathBuf,
    /// The user's own addresses, or regular expressions between slashes.
    pub personal: Vec<String>,
}

/// The mail of one index.
pub struct Store {
    options: Options,
    context: Context,
    maildir: PathBuf,
    personal: Personal,
    reader: Reader,
    writer: Option<Writer>,
    /// The moves of messages that the index may not have yet, by the path before.
    moves: HashMap<PathBuf, Move>,
}

/// A move of a message that was submitted.
struct Move {
    /// The new path; absent if the message was removed.
    to: Option<PathBuf>,
    ticket: Ticket,
}

/// The writer of the index, and its current work.
pub(super) struct Writer {
    pub(super) updater: Updater,
    done: Receiver<Outcome>,
    /// The last ticket that was submitted.
    last: Ticket,
    /// The progress of the run over all files, if there is one.
    run: Option<Arc<Progress>>,
}

impl Store {
    /// Creates a store without opening anything.
    ///
    /// # Errors
    /// Fails if one of the user's addresses is an invalid regular expression.
    pub fn new(options: StoreOptions) -> Result<Self, Error> {
        let personal = Personal::new(&options.personal)
            .map_err(|message| Error::new(ErrorKind::Argument, message))?;
        Ok(Self {
            reader: Reader::new(&index_folder(&options.update.data)),
            options: options.update,
            context: Context {
                mail_root: Some(options.maildir.clone()),
                own_addresses: personal.expressions().to_vec(),
                ..options.context
            },
            maildir: options.maildir,
            personal,
            writer: None,
            moves: HashMap::new(),
        })
    }

    /// Returns the folder of all mail.
    pub fn maildir(&self) -> &Path {
        &self.maildir
    }

    /// Returns the folder of the index.
    pub fn data(&self) -> &Path {
        &self.options.data
    }

    /// Returns the user's own addresses.
    pub fn personal(&self) -> &Personal {
        &self.personal
    }

    /// Returns the last commit. All parts of one question must be asked of one commit: another one has other addresses.
    ///
    /// # Errors
    /// Fails if there is no index.
    pub fn source(&self) -> Result<Arc<dyn Source>, Error> {
        Ok(self.reader.snapshot()?)
    }

    /// Returns the current path of a file that the index has under this path; `None` if it was removed.
    fn now(&self, mut path: PathBuf) -> Option<PathBuf> {
        let mut last = None;
        // A message may have moved on, and back.
        while let Some(moved) = self.moves.get(&path)
            && Some(moved.ticket) > last
        {
            last = Some(moved.ticket);
            path = moved.to.clone()?;
        }
        Some(path)
    }

    /// Returns the current path of a message, even if another program renamed it.
    ///
    /// # Errors
    /// Fails if it is not found.
    pub fn locate(&mut self, path: &Path, id: &str) -> Result<PathBuf, Error> {
        if fs_err::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(path.to_path_buf());
        }
        let renamed = MaildirPath::of_path(path)
            .map(|path| path.find())
            .transpose()?;
        if let Some(renamed) = renamed.flatten() {
            self.moved(path, Some(&renamed));
            return Ok(renamed);
        }
        let others = self.with_id(id)?;
        let found = others.into_iter().find(|path| path.is_file());
        found.ok_or_else(|| {
            let message = format!("the message \"{}\" is gone", path.display());
            Error::new(ErrorKind::NotFound, message)
        })
    }

    /// Notes that a message moved or was removed.
    pub fn moved(&mut self, from: &Path, to: Option<&Path>) {
        if to == Some(from) {
            return;
        }
        let (from, to) = (from.to_path_buf(), to.map(Path::to_path_buf));
        let change = match (from.clone(), to.clone()) {
            (from, Some(to)) => PathChange::Renamed { from, to },
            (from, None) => PathChange::Touched(from),
        };
        let ticket = self.submit([change]);
        self.moves.insert(from, Move { to, ticket });
    }

    /// Notes a new message.
    pub fn added(&mut self, path: &Path) {
        self.submit([PathChange::Touched(path.to_path_buf())]);
    }

    /// Starts a run over all mail in the background; a lazy run skips folders that did not change. Returns false if a
    /// run is under way already.
    pub(super) fn index(&mut self, lazy: bool) -> bool {
        let options = Options {
            lazy,
            ..self.options.clone()
        };
        let writer = self.writer();
        if writer.run.is_some() {
            return false;
        }
        let progress = Arc::default();
        writer.run = Some(Arc::clone(&progress));
        writer.last = writer.updater.submit_all(options, Vec::new(), progress);
        true
    }

    /// Gives changes to the writer.
    pub(super) fn submit(&mut self, changes: impl IntoIterator<Item = PathChange>) -> Ticket {
        let writer = self.writer();
        writer.last = writer.updater.submit(changes);
        writer.last
    }

    pub(super) fn writer(&mut self) -> &mut Writer {
        let options = &self.options;
        self.writer.get_or_insert_with(|| Writer::start(options))
    }

    /// Returns the channel on which the writer reports finished work.
    pub(super) fn done(&self) -> Option<&Receiver<Outcome>> {
        self.writer.as_ref().map(|writer| &writer.done)
    }

    /// Returns the progress of the run over all files, if there is one.
    pub(super) fn progress(&self) -> Option<&Progress> {
        self.writer.as_ref()?.run.as_deref()
    }

    /// Notes that the writer finished a job. The files of one that failed come again with the next.
    pub(super) fn finished(&mut self, job: &Outcome) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        if job.all {
            writer.run = None;
        }
        let done = writer.updater.done_up_to();
        self.moves.retain(|_, moved| moved.ticket > done);
    }

    /// Waits until the index has all changes, unless a run over all files goes on.
    pub fn settle(&mut self) {
        if self.progress().is_none() {
            self.wait();
        }
    }

    /// Waits until the writer has done its work, and notes how it went.
    fn wait(&mut self) {
        let Some(writer) = &self.writer else { return };
        // Failures are in the outcomes.
        let _ = writer.updater.wait(writer.last, Instant::now() + SETTLE);
        let jobs: Vec<_> = writer.done.try_iter().collect();
        jobs.iter().for_each(|job| self.finished(job));
    }

    /// Stops the writer when its work is done.
    pub fn close(&mut self) {
        if let Some(progress) = self.progress() {
            progress.cancel();
        }
        self.wait();
    }
}

impl Writer {
    fn start(options: &Options) -> Self {
        let (sender, done) = unbounded();
        let options = UpdaterOptions {
            // A client waits for its own change.
            batching: Batching::AT_ONCE,
            ..UpdaterOptions::new(options.clone())
        };
        // The receiver is gone when the store ends.
        let report = move |outcome: &Outcome| _ = sender.send(outcome.clone());
        Self {
            updater: Updater::start(options, report),
            done,
            last: Ticket::default(),
            run: None,
        }
    }
}

impl Store {
    /// Returns the mail folder with a name such as `/inbox`.
    ///
    /// # Errors
    /// Fails if the name is not that of a folder below the folder of all mail.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let Some(below) = name.strip_prefix('/') else {
            let message = format!("target maildir must be empty or start with / ({name})");
            return Err(Error::new(ErrorKind::File, message));
        };
        if below.split('/').any(|part| part == "..") {
            let message = format!("a folder of mail has no .. in its name ({name})");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(self.maildir.join(below.trim_matches('/')))
    }

    /// Returns a path as the index has it, with symbolic links in its folder resolved.
    ///
    /// # Errors
    /// Fails if the folder does not exist.
    pub fn resolved(&self, path: &Path) -> Result<PathBuf, Error> {
        let unreadable = || {
            let message = format!("file @ '{}' is not readable", path.display());
            Error::new(ErrorKind::File, message)
        };
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(unreadable());
        };
        let folder = fs_err::canonicalize(folder).map_err(|_| unreadable())?;
        Ok(folder.join(name))
    }

    /// Reads a time: a day, or seconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// Fails if the text is not a time.
    pub fn time(&self, text: &str) -> Result<i64, Error> {
        if let Ok(seconds) = text.parse() {
            return Ok(seconds);
        }
        let wrong = || Error::new(ErrorKind::Argument, format!("\"{text}\" is not a time"));
        let day: jiff::civil::Date = text.parse().map_err(|_| wrong())?;
        let start = day
            .to_zoned(self.context.zone.clone())
            .map_err(|_| wrong())?;
        Ok(start.timestamp().as_second())
    }

    /// Returns a number that grows with each commit: its time in microseconds.
    ///
    /// # Errors
    /// Fails if there is no index.
    pub(super) fn committed_at(&mut self) -> Result<i64, Error> {
        self.source()?;
        let time = self.reader.committed_at();
        let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let micros = since.unwrap_or_default().as_micros();
        Ok(i64::try_from(micros).unwrap_or(i64::MAX))
    }

    /// Returns the names of all mail folders, such as `/inbox`.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn maildirs(&mut self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        let mut waiting = vec![(self.maildir.clone(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            // An empty folder of a Maildir may be missing.
            if ["cur", "new"].iter().any(|part| folder.join(part).is_dir()) {
                let below = folder.strip_prefix(&self.maildir).unwrap_or(&folder);
                names.push(format!("/{}", below.to_string_lossy()));
            }
            let Ok(entries) = fs_err::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let name = entry.file_name();
                let is_part = ["cur", "new", "tmp"].iter().any(|part| name == *part);
                if is_folder && !is_part && depth < MAX_DEPTH {
                    waiting.push((entry.path(), depth + 1));
                }
            }
        }
        names.sort();
        Ok(names)
    }
}
