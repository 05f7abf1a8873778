//! The mail of one index: what is asked of it, and what becomes of messages that are changed.
//!
//! Readers never wait for a writer. An [`Updater`] takes the messages that were moved into the index. Until that is
//! done the store knows by itself where they are now, and answers with that.

mod query;

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
use ken_pipeline::updater::{Batching, Outcome, PathChange, Updater, UpdaterOptions};
use ken_pipeline::{Options, Progress};
use ken_search::plan::Context;

use super::Error;
use super::error::ErrorKind;

/// How long a question waits for what was changed before it.
const SETTLE: Duration = Duration::from_secs(2);
/// Folders within folders of mail, at most.
const MAX_DEPTH: usize = 32;

/// What a store is made of.
pub struct StoreOptions {
    /// How the index is written, and where it is.
    pub update: Options,
    /// Who asks, when and where.
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
    /// Moves that the writer works on, and those that wait for it.
    told: Moves,
    waiting: Moves,
}

/// Where messages went that the index knows under an old name; nowhere if they were removed.
#[derive(Default)]
struct Moves {
    to: HashMap<PathBuf, Option<PathBuf>>,
    /// All paths that the index must look at.
    files: Vec<PathBuf>,
    /// Whether tags changed.
    tags: bool,
}

impl Moves {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.tags
    }
}

/// What writes the index, and what it does.
struct Writer {
    updater: Updater,
    done: Receiver<Outcome>,
    progress: Arc<Progress>,
    /// Whether it works, and on all files.
    busy: Option<bool>,
}

impl Store {
    /// Makes a store; nothing is opened yet.
    ///
    /// # Errors
    /// Fails if one of the user's addresses is no regular expression.
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
            told: Moves::default(),
            waiting: Moves::default(),
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

    /// Returns where a file is that the index knows by this path; nothing if it was removed.
    fn now(&self, path: PathBuf) -> Option<PathBuf> {
        let mut path = path;
        for moves in [&self.told, &self.waiting] {
            if let Some(to) = moves.to.get(&path) {
                path = to.clone()?;
            }
        }
        Some(path)
    }

    /// Returns the path at which a message is, if another program renamed it.
    ///
    /// # Errors
    /// Fails if it is not found.
    pub fn locate(&mut self, path: &Path, id: &str) -> Result<PathBuf, Error> {
        if fs_err::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(path.to_path_buf());
        }
        let renamed = MaildirPath::of_path(path)
            .map(|place| place.find())
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

    /// Takes note that a message lies somewhere else, or nowhere.
    pub fn moved(&mut self, from: &Path, to: Option<&Path>) {
        if to == Some(from) {
            return;
        }
        self.waiting.files.push(from.to_path_buf());
        self.waiting.files.extend(to.map(Path::to_path_buf));
        self.waiting
            .to
            .insert(from.to_path_buf(), to.map(Path::to_path_buf));
        self.tell();
    }

    /// Takes note of a new message.
    pub fn added(&mut self, path: &Path) {
        self.waiting.files.push(path.to_path_buf());
        self.tell();
    }

    /// Takes note that tags of messages changed.
    pub(super) fn tags_changed(&mut self) {
        self.waiting.tags = true;
        self.tell();
    }

    /// Returns how the index is written.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Has all mail looked at, in the background; if it is lazy, folders that did not change are passed
    /// over. Returns whether it was not under way already.
    pub(super) fn index(&mut self, lazy: bool) -> bool {
        let options = Options {
            lazy,
            ..self.options.clone()
        };
        let writer = self.writer();
        if writer.busy == Some(true) {
            return false;
        }
        writer.busy = Some(true);
        writer.progress = Arc::default();
        let progress = Arc::clone(&writer.progress);
        writer.updater.submit_all(options, Vec::new(), progress);
        true
    }

    /// Hands what waits to the writer, unless it works.
    fn tell(&mut self) {
        if self.waiting.is_empty() || self.writer().busy.is_some() {
            return;
        }
        self.told = std::mem::take(&mut self.waiting);
        let files = self.told.files.clone().into_iter().map(PathChange::Touched);
        let writer = self.writer();
        writer.busy = Some(false);
        writer.updater.submit(files);
    }

    fn writer(&mut self) -> &mut Writer {
        let options = &self.options;
        self.writer.get_or_insert_with(|| Writer::start(options))
    }

    /// Returns the channel on which the writer reports that it is done.
    pub(super) fn done(&self) -> Option<&Receiver<Outcome>> {
        self.writer.as_ref().map(|writer| &writer.done)
    }

    /// Returns how far the run over all files is, if there is one.
    pub(super) fn progress(&self) -> Option<&Progress> {
        let writer = self.writer.as_ref()?;
        (writer.busy == Some(true)).then_some(&*writer.progress)
    }

    /// Takes note that the writer did a job.
    pub(super) fn finished(&mut self, done: &Outcome) {
        if let Some(writer) = &mut self.writer {
            writer.busy = None;
        }
        if !done.all {
            self.told = Moves::default();
        }
        self.tell();
    }

    /// Waits until the index knows of all changes, unless a run over all files goes on.
    pub fn settle(&mut self) {
        let until = Instant::now() + SETTLE;
        while let Some(writer) = &self.writer {
            if writer.busy != Some(false) {
                return;
            }
            match writer.done.recv_deadline(until) {
                Ok(done) => self.finished(&done),
                Err(_) => return,
            }
        }
    }

    /// Ends the writer when it has done what it was told.
    pub fn close(&mut self) {
        if let Some(progress) = self.progress() {
            progress.cancel();
        }
        let until = Instant::now() + SETTLE;
        while let Some(writer) = &self.writer
            && writer.busy.is_some()
            && let Ok(done) = writer.done.recv_deadline(until)
        {
            self.finished(&done);
        }
    }
}

impl Writer {
    fn start(options: &Options) -> Self {
        let (tell, done) = unbounded();
        let options = UpdaterOptions {
            // A client waits for the change that it made.
            batching: Batching::AT_ONCE,
            ..UpdaterOptions::new(options.clone())
        };
        // Nobody listens any more when the store ends.
        let report = move |outcome: &Outcome| _ = tell.send(outcome.clone());
        Self {
            updater: Updater::start(options, report),
            done,
            progress: Arc::default(),
            busy: None,
        }
    }
}

impl Store {
    /// Returns the folder of mail of a name such as `/inbox`.
    ///
    /// # Errors
    /// Fails if the name is none of a folder below that of all mail.
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

    /// Returns a path as the index knows it: the folder without symbolic links.
    ///
    /// # Errors
    /// Fails if the folder is not there.
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

    /// Returns the time that a text means: a day, or seconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// Fails if it means none.
    pub fn time(&self, text: &str) -> Result<i64, Error> {
        if let Ok(seconds) = text.parse() {
            return Ok(seconds);
        }
        let wrong = || Error::new(ErrorKind::Argument, format!("\"{text}\" is no time"));
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

    /// Returns the names of all folders of mail, such as `/inbox`.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn maildirs(&mut self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        let mut waiting = vec![(self.maildir.clone(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            if ken_mail::maildir::is_maildir(&folder) {
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
