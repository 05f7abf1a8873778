//! Helpers: outside programs that read formats for which ken has no parser.
//!
//! [`Helpers`] knows which helper reads which format, runs it in a folder of its own, and keeps
//! helpers that read many files alive between them. A helper prints HTML, text, or documents in
//! Recoll's protocol, which ken's own extractors then read.

mod conf;
mod content;
mod convert;
mod execm;
mod fault;
pub mod guard;
mod handler;
mod missing;
pub mod ocr;
mod process;
mod protocol;
mod removal;
pub mod sandbox;
mod table;
#[cfg(test)]
mod tests;
mod toolchain;
mod work_folder;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ken_core::{Cause, Crash, Document, Failure, Kind, Limit, Reader, SetBy, Setting};
use siphasher::sip::SipHasher13;

use crate::detect::{self, Detected};
use crate::limits::milliseconds;
use crate::output::Output;
use crate::structure::compound::{Compound, objects, summary};
use crate::{Error, Input, Limits, Sink, formats};
pub(crate) use convert::Converted;
use fault::Fault;
pub use handler::CustomHelper;
use handler::{FOLDER, Handler, Method, PATH, SearchPath};
pub use missing::packages;
use process::{Launch, Process};
use sandbox::Rights;
use table::{Sources, Table};
use work_folder::{WorkFolder, WorkFolders};

/// Prefix of the names of helpers among the formats of an extraction profile.
const READING_PREFIX: &str = "helper ";

/// The files of Recoll's configuration that filters read.
const CONFIGURATION: [&str; 4] = ["recoll.conf", "mimeconf", "mimemap", "fields"];

/// Where helpers are found, and what they may cost.
#[derive(Clone, Debug, Default)]
pub struct HelperOptions {
    /// Recoll's `mimeconf` files; later ones take precedence.
    pub mimeconf: Vec<PathBuf>,
    /// Recoll's `mimemap` files; later ones take precedence.
    pub mimemap: Vec<PathBuf>,
    /// Folders of Recoll's filters.
    pub filters: Vec<PathBuf>,
    /// The user's Recoll configuration folder, if there is one.
    pub configuration: Option<PathBuf>,
    /// Folders in which programs are looked up, as in `PATH`.
    pub path: Vec<PathBuf>,
    /// Media types, or names of helpers, that take precedence over ken's own formats.
    pub prefer: Vec<String>,
    /// The user's own helpers.
    pub custom: Vec<CustomHelper>,
    /// Time that a helper may take for a file, unless its row says otherwise.
    pub max_time: Duration,
    /// Memory that each process of a helper may take, in bytes.
    pub memory: u64,
    /// Absolute path of the program that calls [`sandbox::exec`] if its first argument is
    /// [`sandbox::ARGUMENT`], and [`guard::watch`] if it is [`guard::ARGUMENT`]. If it is none,
    /// there is no sandbox.
    pub sandbox: Option<PathBuf>,
    /// Whether no helper starts if the system lacks a part of the sandbox.
    pub requires_sandbox: bool,
    /// Files that helpers may read in the sandbox, besides those of the system.
    pub read: Vec<PathBuf>,
    /// Folder for the output of helpers.
    pub temporary: PathBuf,
}

/// The helpers that read files, shared by all threads.
pub struct Helpers {
    options: HelperOptions,
    table: Table,
    /// Helpers that wait for their next file.
    idle: Mutex<Vec<execm::Speaker>>,
    /// Files of the user's Recoll configuration that filters read; not its index.
    configuration: Vec<PathBuf>,
    /// Created with the first work folder.
    work_folders: Mutex<Option<Arc<WorkFolders>>>,
    /// What was found to be missing in this run, by handler.
    missing: Mutex<BTreeMap<usize, String>>,
    stopped: Arc<AtomicBool>,
}

impl std::fmt::Debug for Helpers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Helpers").finish_non_exhaustive()
    }
}

impl Helpers {
    /// Reads the tables and looks up the programs, without starting any. Removes folders of helpers
    /// that were left behind when ken was killed.
    ///
    /// # Errors
    /// Fails if an existing configuration file of Recoll cannot be read.
    pub fn new(options: HelperOptions) -> io::Result<Self> {
        let mimeconf = table::read_all(&options.mimeconf)?;
        let mimemap = table::read_all(&options.mimemap)?;
        let sources = Sources {
            custom: &options.custom,
            mimeconf: &mimeconf,
            mimemap: &mimemap,
            prefer: &options.prefer,
        };
        let table = Table::new(&sources, search_path(&options));
        work_folder::sweep(&options.temporary);
        let folder = options.configuration.iter();
        let configuration = folder.flat_map(|folder| CONFIGURATION.map(|name| folder.join(name)));
        Ok(Self {
            configuration: configuration.collect(),
            options,
            table,
            idle: Mutex::default(),
            work_folders: Mutex::default(),
            missing: Mutex::default(),
            stopped: Arc::default(),
        })
    }

    /// Creates a work folder.
    fn work_folder(&self) -> Result<WorkFolder, Fault> {
        let mut work_folders = lock(&self.work_folders);
        let work_folders = match &*work_folders {
            Some(work_folders) => Arc::clone(work_folders),
            None => {
                let guard = self.options.sandbox.as_deref();
                let made = Arc::new(WorkFolders::new(&self.options.temporary, guard)?);
                Arc::clone(work_folders.insert(made))
            }
        };
        WorkFolder::new(work_folders)
    }

    /// Returns whether any helper was started, in a sandbox if there is one.
    #[must_use]
    pub fn were_used(&self) -> bool {
        lock(&self.work_folders).is_some()
    }

    /// Stops all waiting for helpers, because the run is being stopped.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the name of the helper that reads files of a media type, if any.
    pub fn reader_of(&self, media_type: &str) -> Option<&str> {
        let index = self.table.find("", media_type)?;
        Some(&self.table.handlers.get(index)?.name)
    }

    /// Lets a helper extract an input, if one is meant to and takes precedence over ken's own
    /// format; returns whether it did.
    pub(crate) fn extract(
        &self,
        input: &mut Input<'_>,
        detected: Detected,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> bool {
        let Some(index) = self.table.find(&input.name, detected.media_type) else {
            return false;
        };
        if self.is_missing(index) && formats::by_media_type(detected.media_type).is_some() {
            return false;
        }
        let mut output = Output::new(input, detected, limits, sink);
        if detected == detect::UNKNOWN
            && let Some(handler) = self.table.handlers.get(index)
        {
            describe(output.own(), &handler.media_type);
        }
        add_summary(input, &mut output);
        let read = || self.read(index, input, &mut output);
        let failure = match catch_unwind(AssertUnwindSafe(read)) {
            Ok(result) => result.err().map(|error| output.failure(error)),
            Err(_) => Some(Failure::new(Cause::Crashed {
                reader: Reader::Parser("helper output".to_owned()),
                how: Crash::Panicked,
                said: String::new(),
            })),
        };
        let is_missing = failure
            .as_ref()
            .is_some_and(|failure| matches!(failure.cause, Cause::Missing { .. }));
        if is_missing && formats::by_media_type(detected.media_type).is_some() {
            return false;
        }
        output.finish(failure);
        true
    }

    /// Returns whether a helper, or something that it needs, is known to be missing.
    fn is_missing(&self, index: usize) -> bool {
        let handler = self.table.handlers.get(index);
        handler.is_some_and(|handler| self.missing_for(index, handler).is_some())
    }

    /// Returns the name under which an extraction profile holds the version of the helper for such
    /// files.
    pub fn profile_name(&self, name: &str, media_type: &str) -> Option<String> {
        let index = self.table.find(name, media_type)?;
        let media_type = &self.table.handlers.get(index)?.media_type;
        Some(format!("{READING_PREFIX}{media_type}"))
    }

    /// Returns the media type of the helper that a name in an extraction profile refers to; none if
    /// the name is not that of a helper.
    pub fn of_profile_name(name: &str) -> Option<&str> {
        name.strip_prefix(READING_PREFIX)
    }

    /// Returns the version of each helper that is present and reads files, by the names of
    /// [`Self::profile_name`].
    pub fn versions(&self) -> BTreeMap<String, u32> {
        let in_use = self.table.handlers.iter().filter(|handler| {
            let media_type = &handler.media_type;
            let used = self.table.find("", media_type);
            let used = used.or_else(|| self.table.find_converter(media_type));
            used.and_then(|index| self.table.handlers.get(index)) == Some(handler)
        });
        in_use
            .filter_map(|handler| {
                let version = version(handler)?;
                Some((format!("{READING_PREFIX}{}", handler.media_type), version))
            })
            .collect()
    }

    /// Returns the time limit that can make a file fail, in seconds, with its setting.
    pub fn limit(&self) -> (Setting, u64) {
        (Setting::HelperSeconds, self.options.max_time.as_secs())
    }

    /// Returns the time that a helper may take for a file.
    fn time_of(&self, handler: &Handler) -> Limit {
        let set_by = match handler.max_time {
            Some(_) => SetBy::Helper,
            None => SetBy::Settings,
        };
        Limit {
            setting: Setting::HelperSeconds,
            in_force: milliseconds(handler.max_time.unwrap_or(self.options.max_time)),
            set_by,
        }
    }

    /// Returns what was found to be missing since this object was created.
    pub fn noticed(&self) -> BTreeSet<String> {
        lock(&self.missing).values().cloned().collect()
    }

    /// Returns whether something that was missing is present now.
    pub fn is_present(&self, what: &str) -> bool {
        missing::is_present(what, search_path(&self.options))
    }

    /// Lets a helper read an input.
    ///
    /// # Errors
    /// Fails with the reason why the helper did not read the input; [`Cause::Missing`] if it could
    /// not be started at all.
    fn read(
        &self,
        index: usize,
        input: &mut Input<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let Some(handler) = self.table.handlers.get(index) else {
            return Ok(());
        };
        let limits = output.limits();
        self.checked(index, handler, input, limits, || match handler.method {
            Method::Exec => self.exec(handler, input, output),
            Method::Execm => self.execm(index, handler, input, output),
            Method::Uncompress => self.uncompress(handler, input, output),
        })
    }

    /// Runs a handler, unless its program is missing or the input is too large, and notes what the
    /// helper reports as missing.
    fn checked(
        &self,
        index: usize,
        handler: &Handler,
        input: &Input<'_>,
        limits: &Limits,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(what) = self.missing_for(index, handler) {
            return Err(Fault::Missing(what).into_error(&handler.name, ""));
        }
        if input.size() > limits.max_file_bytes {
            return Err(limits.too_large(input.size()));
        }
        let result = work();
        if let Err(Error::Failed(Cause::Missing { what, .. })) = &result {
            lock(&self.missing).insert(index, what.clone());
        }
        result
    }

    /// Returns what a handler needs and is known to be missing, in which case the helper is not
    /// started again.
    fn missing_for(&self, index: usize, handler: &Handler) -> Option<String> {
        let mut missing = lock(&self.missing);
        if handler.program.is_none() {
            missing.entry(index).or_insert(handler.name.clone());
        }
        missing.get(&index).cloned()
    }

    fn exec(
        &self,
        handler: &Handler,
        input: &Input<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let (mut process, printed) = self.run(handler, input, output.limits())?;
        let (data, result) = ended(handler, &mut process, printed, output.limits());
        if !data.is_empty() || result.is_ok() {
            let content = content::Content {
                name: &input.name,
                media_type: handler.output.as_deref(),
                charset: handler.charset.as_deref(),
                data,
            };
            content.take_place(output)?;
        }
        result
    }

    fn uncompress(
        &self,
        handler: &Handler,
        input: &Input<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let (mut process, printed) = self.run(handler, input, output.limits())?;
        let (name, result) = ended(handler, &mut process, printed, output.limits());
        result?;
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        let path = fs_err::canonicalize(&name)?;
        let work = fs_err::canonicalize(process.work.path())?;
        if !path.starts_with(work) {
            let fault = Fault::nonsense("it names a file outside of its folder");
            return Err(fault.into_error(&handler.name, ""));
        }
        let limit = output.limits().limit(Setting::MaxMemberBytes);
        let mut data = Vec::new();
        let file = fs_err::File::open(&path)?;
        file.take(limit.in_force.saturating_add(1))
            .read_to_end(&mut data)?;
        if data.len() as u64 > limit.in_force {
            return Err(Fault::TooMuch(limit).into_error(&handler.name, ""));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let content = content::Content {
            name: &name,
            media_type: None,
            charset: None,
            data,
        };
        content.take_place(output)
    }

    /// Runs a helper for one file and reads its output.
    fn run(
        &self,
        handler: &Handler,
        input: &Input<'_>,
        limits: &Limits,
    ) -> Result<(Process, Result<Vec<u8>, Fault>), Error> {
        let system = |fault: Fault| fault.into_error(&handler.name, "");
        let work = self.work_folder().map_err(system)?;
        let path = work.put(input)?;
        let stdin = match handler.reads_stdin() {
            true => Stdio::from(fs_err::File::open(&path)?.into_parts().0),
            false => Stdio::null(),
        };
        let mut process = self
            .start(handler, work, Some(&path), stdin, limits)
            .map_err(system)?;
        process.set_deadline(self.time_of(handler));
        let printed = read_bounded(&mut process, limits.limit(Setting::MaxMemberBytes));
        Ok((process, printed))
    }

    fn start(
        &self,
        handler: &Handler,
        work: WorkFolder,
        path: Option<&Path>,
        input: Stdio,
        limits: &Limits,
    ) -> Result<Process, Fault> {
        let path = path.map(Path::to_string_lossy).unwrap_or_default();
        let folder = work.scratch();
        let folder = folder.to_string_lossy();
        let arguments = handler.arguments.iter();
        let arguments = arguments.map(|word| word.replace(PATH, &path).replace(FOLDER, &folder));
        let arguments = arguments.map(OsString::from).collect();
        self.start_with(handler, Arc::new(work), arguments, input, limits)
    }

    /// Starts a helper with these arguments.
    fn start_with(
        &self,
        handler: &Handler,
        work: Arc<WorkFolder>,
        arguments: Vec<OsString>,
        input: Stdio,
        limits: &Limits,
    ) -> Result<Process, Fault> {
        let missing = || Fault::Missing(handler.name.clone());
        let program = handler.program.as_deref().ok_or_else(missing)?;
        let rights = self.rights(handler, program, &work, limits);
        let environment = self.environment(program, &work, &rights, limits);
        let sandbox = self.options.sandbox.as_deref();
        let launch = Launch {
            program: sandbox.unwrap_or(program),
            arguments: match sandbox {
                Some(_) => rights.arguments(program, arguments),
                None => arguments,
            },
            environment,
            input,
            room: Limit {
                in_force: rights.file_bytes,
                ..limits.limit(Setting::MaxMemberBytes)
            },
            stopped: Arc::clone(&self.stopped),
        };
        Process::start(launch, work)
    }

    fn rights<'r>(
        &self,
        handler: &Handler,
        program: &Path,
        work: &'r WorkFolder,
        limits: &Limits,
    ) -> Rights<'r> {
        let options = &self.options;
        let more = options.filters.iter().chain(&options.read);
        let mut read: Vec<_> = more.chain(&self.configuration).cloned().collect();
        read.extend(toolchain::of(program, search_path(options)));
        read.extend(handler.files().map(Path::to_path_buf));
        Rights {
            work: work.path(),
            read,
            memory: options.memory,
            file_bytes: limits.max_member_bytes.saturating_mul(4),
            is_required: options.requires_sandbox,
        }
    }

    /// Returns the environment of a helper: where it may write, and the variables of Recoll's
    /// filters.
    fn environment(
        &self,
        program: &Path,
        work: &WorkFolder,
        rights: &Rights<'_>,
        limits: &Limits,
    ) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut folders: Vec<_> = self.options.path.iter().collect();
        if self.options.sandbox.is_some() {
            // Programs that cannot be started must not be found first: Python looks for itself
            // there, and mistakes an environment that it may not read for its own.
            folders.sort_by_key(|folder| !rights.may_read(folder));
        }
        let folders = self.options.filters.iter().chain(folders);
        let path: Vec<_> = folders.map(|folder| text(folder)).collect();
        let own_configuration = work.path().join("conf");
        let configuration = self.options.configuration.as_deref();
        let mut environment = vec![
            ("PATH", path.join(":")),
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", text(work.path())),
            ("TMPDIR", text(&work.scratch())),
            ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
            // ken distributes files over threads; Tesseract's own threads would only wait for each
            // other.
            ("OMP_THREAD_LIMIT", "1".to_owned()),
            ("RECOLL_TMPDIR", text(&work.scratch())),
            (
                "RECOLL_CONFDIR",
                text(configuration.unwrap_or(&own_configuration)),
            ),
            ("RECOLL_FILTER_FORPREVIEW", "no".to_owned()),
            (
                "RECOLL_FILTER_MAXMEMBERKB",
                (limits.max_member_bytes >> 10).to_string(),
            ),
        ];
        let data = program.parent().and_then(Path::parent);
        if let Some(data) = data.filter(|data| data.join("examples/recoll.conf").is_file()) {
            environment.push(("RECOLL_DATADIR", text(data)));
        }
        environment
    }
}

/// Reads the whole output of a helper.
fn read_bounded(process: &mut Process, limit: Limit) -> Result<Vec<u8>, Fault> {
    let mut data = Vec::new();
    process
        .take(limit.in_force.saturating_add(1))
        .read_to_end(&mut data)?;
    match data.len() as u64 > limit.in_force {
        true => Err(Fault::TooMuch(limit)),
        false => Ok(data),
    }
}

/// Waits for the end of a helper that printed its output; the output counts even if the helper
/// fails afterwards.
fn ended(
    handler: &Handler,
    process: &mut Process,
    printed: Result<Vec<u8>, Fault>,
    limits: &Limits,
) -> (Vec<u8>, Result<(), Error>) {
    let outcome = printed.and_then(|data| Ok((data, process.wait()?)));
    let (data, fault) = match outcome {
        Ok((data, status)) => {
            let fault = refusal(handler, &data);
            let fault = fault.or_else(|| fault_of(status, &process.complaint()));
            (data, fault)
        }
        Err(fault) => (Vec::new(), Some(fault)),
    };
    debug_assert!(data.len() as u64 <= limits.max_member_bytes);
    match fault {
        None => (data, Ok(())),
        Some(fault) => {
            let complaint = process.complaint();
            let is_text = !data.starts_with(b"RECFILTERROR");
            let data = if is_text { data } else { Vec::new() };
            (data, Err(fault.into_error(&handler.name, &complaint)))
        }
    }
}

/// Returns the fault of a helper with this exit status, if it failed.
fn fault_of(status: ExitStatus, complaint: &str) -> Option<Fault> {
    match status.code() {
        Some(0) => None,
        // A shell could not find a program that its script calls.
        Some(127) if let Some(what) = missing::not_found(complaint) => {
            Some(Fault::Missing(what.to_owned()))
        }
        _ => Some(Fault::of_exit(status)),
    }
}

/// Returns the fault that a filter reports instead of a document, if it does.
fn refusal(handler: &Handler, data: &[u8]) -> Option<Fault> {
    if handler.method != Method::Exec || !data.starts_with(b"RECFILTERROR") {
        return None;
    }
    let line = String::from_utf8_lossy(data);
    let line = line.lines().next().unwrap_or_default();
    Some(protocol::missing(line).unwrap_or(Fault::Refused))
}

/// Returns a number that changes with a helper and the way in which it is called.
fn version(handler: &Handler) -> Option<u32> {
    use std::hash::{Hash, Hasher};
    use std::os::unix::fs::MetadataExt;
    let program = handler.program.as_deref()?;
    let metadata = fs_err::metadata(program).ok()?;
    // The result is stored in the index, so the keys are fixed.
    let mut hasher = SipHasher13::new();
    program.hash(&mut hasher);
    (metadata.len(), metadata.mtime()).hash(&mut hasher);
    handler.arguments.hash(&mut hasher);
    (&handler.output, &handler.charset).hash(&mut hasher);
    // 0 stands for none.
    Some((hasher.finish() as u32).max(1))
}

/// Adds the properties of a compound file, which hardly any helper prints.
fn add_summary(input: &mut Input<'_>, output: &mut Output<'_>) {
    let is_compound = input.head().is_ok_and(|head| objects::is_compound(&head));
    if is_compound
        && let Ok(bytes) = input.bytes(output.limits())
        && let Ok(file) = Compound::open(bytes)
    {
        summary::read(&file, output.own());
    }
}

/// Sets the media type of a file, where only the row of its helper determines it.
fn describe(document: &mut Document, media_type: &str) {
    let kind = detect::by_media_type(media_type).map_or(Kind::Document, |known| known.kind);
    document.media_type = media_type.to_owned();
    document.kind = kind;
}

fn search_path(options: &HelperOptions) -> SearchPath<'_> {
    SearchPath {
        filters: &options.filters,
        path: &options.path,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the answers of a helper until one breaks the protocol.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_answers(mut bytes: &[u8]) {
    let limit = Limit {
        in_force: 10_000,
        ..Limits::default().limit(Setting::MaxMemberBytes)
    };
    while let Ok(answer) = protocol::read_answer(&mut bytes, limit) {
        content::fields(&answer.fields);
    }
}

/// Reads a table of helpers, as one of types and as one of names.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_table(text: &str) {
    let texts = [text.to_owned()];
    let prefer = ["application/pdf".to_owned()];
    let sources = Sources {
        custom: &[],
        mimeconf: &texts,
        mimemap: &texts,
        prefer: &prefer,
    };
    let search_path = SearchPath {
        filters: &[],
        path: &[],
    };
    let table = Table::new(&sources, search_path);
    for name in ["a.pdf", "b.tar.gz", ".x", ""] {
        table.find(name, "application/pdf");
    }
}
