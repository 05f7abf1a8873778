//! The folders of mail and its index, and the commands that manage them.
//!
//! `mu init` writes `mu.toml` next to the index: the folder of all mail and the user's own addresses. The index of
//! `--muhome DIR`, or `$MUHOME`, is in `DIR/ken`; without them it is ken's own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::Timestamp;
use ken_core::{Field, Root};
use ken_engine::{Meta, Source};
use ken_index::Snapshot;
use ken_index::layout::index_folder;
use ken_pipeline::{Options, Progress, RootChange, background, update, update_files};
use ken_server::mu::{Store, StoreOptions};
use serde::{Deserialize, Serialize};

use super::options::Typed;
use super::table::table;
use super::{Outcome, Refusal, fields, format};
use crate::cli::{Global, IndexArgs};
use crate::commands::context::context;
use crate::commands::index;
use crate::commands::interrupt::Stop;
use crate::commands::serve;
use crate::config::{Settings, below_home, data_folder, home};
use crate::output;

/// The settings of `mu init`.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Home {
    /// The folder of all mail, without symbolic links.
    pub(super) maildir: PathBuf,
    /// The user's own addresses.
    #[serde(default)]
    pub(super) addresses: Vec<String>,
    /// The time of `mu init`, in seconds since 1970.
    #[serde(default)]
    pub(super) created: i64,
}

/// Returns the folder of the index.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn folder(global: &Global, typed: &Typed) -> Result<PathBuf, Refusal> {
    match muhome(typed) {
        Some(muhome) => Ok(std::path::absolute(muhome)?.join("ken")),
        None => Ok(data_folder(global)?),
    }
}

/// Returns mu's own folder, if one is named.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn muhome(typed: &Typed) -> Option<PathBuf> {
    let variable = || std::env::var_os("MUHOME").filter(|value| !value.is_empty());
    typed
        .value("muhome")
        .cloned()
        .or_else(variable)
        .map(PathBuf::from)
}

impl Home {
    fn read(data: &Path) -> Result<Self, Refusal> {
        let path = data.join("mu.toml");
        let text = match fs_err::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = "ken does not know where mail is; run mu init --maildir=DIR first";
                return Err(Refusal::Said(message.to_owned()));
            }
            Err(error) => return Err(error.into()),
        };
        toml::from_str(&text).map_err(|error| {
            let line = error.message();
            Refusal::Said(format!("\"{}\": {line}", path.display()))
        })
    }

    fn write(&self, data: &Path) -> Result<(), Refusal> {
        let text = toml::to_string(self)
            .map_err(|error| Refusal::Said(format!("the mail folder cannot be saved: {error}")))?;
        ken_private::create_folder(data)?;
        // The file is written whole or not at all.
        let new = data.join("mu.toml.new");
        ken_private::write(&new, text.as_bytes())?;
        Ok(fs_err::rename(new, data.join("mu.toml"))?)
    }

    /// Returns the root of the index. Names of mail folders start with a dot, and some are links.
    fn root(&self) -> RootChange {
        RootChange::Add(Root {
            hidden: true,
            follow_links: true,
            no_ignore: true,
            strict_maildirs: true,
            ..Root::new(&self.maildir)
        })
    }
}

/// Returns the options for writing the index in a folder.
fn update_options(global: &Global, data: &Path, args: &IndexArgs) -> Result<Options, Refusal> {
    let mut options = index::options(global, args)?;
    options.data = data.to_path_buf();
    // Like mu, ken mu has an index of its own.
    options.engine = None;
    Ok(options)
}

/// Opens the mail of the user.
pub(super) fn store(global: &Global, typed: &Typed) -> Result<Store, Refusal> {
    let data = folder(global, typed)?;
    let home = match (Home::read(&data), Settings::load(global)?.mail) {
        (Ok(home), _) => home,
        // The configuration may have the settings too.
        (Err(_), settings) if muhome(typed).is_none() && settings.root.is_some() => Home {
            maildir: fs_err::canonicalize(below_home(&settings.root.unwrap_or_default()))?,
            addresses: settings.addresses,
            created: 0,
        },
        (Err(refusal), _) => return Err(refusal),
    };
    let options = StoreOptions {
        update: update_options(global, &data, &IndexArgs::default())?,
        context: context(),
        maildir: home.maildir,
        personal: home.addresses,
    };
    Ok(Store::new(options)?)
}

/// Runs a command that manages the index.
pub(super) fn run(global: &Global, command: &str, typed: &Typed) -> Outcome {
    let data = folder(global, typed)?;
    match command {
        "init" => init(global, typed, &data),
        "index" => run_index(global, typed, &data),
        "info" => info(global, typed, &data),
        "add" => add(global, typed, &data),
        _ => remove(global, typed, &data),
    }
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn init(global: &Global, typed: &Typed, data: &Path) -> Outcome {
    let before = Home::read(data).ok().filter(|_| typed.has("reinit"));
    let maildir = typed.value("maildir").map(PathBuf::from);
    let maildir = maildir
        .or_else(|| before.as_ref().map(|home| home.maildir.clone()))
        .or_else(|| std::env::var_os("MAILDIR").map(PathBuf::from))
        .or_else(|| {
            home()
                .map(|home| home.join("Maildir"))
                .filter(|path| path.is_dir())
        });
    let Some(maildir) = maildir else {
        let message = "missing --maildir parameter and could not determine default";
        return Err(Refusal::Usage(message.to_owned()));
    };
    let addresses = match (typed.values("my-address"), before) {
        (addresses, Some(before)) if addresses.is_empty() => before.addresses,
        (addresses, _) => addresses,
    };
    ken_mail::Personal::new(&addresses).map_err(Refusal::Said)?;
    let home = Home {
        maildir: fs_err::canonicalize(below_home(&maildir))?,
        addresses,
        created: Timestamp::now().as_second(),
    };
    home.write(data)?;
    let options = update_options(global, data, &IndexArgs::default())?;
    update_files(&options, &[home.root()], &[], &Progress::default(), &|_| ())?;
    if !typed.has("quiet") {
        let text = store_table(&home, data)?;
        let hint = "\nstore created; use the 'index' command to fill/update it.\n";
        output::print((text + hint).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_index(global: &Global, typed: &Typed, data: &Path) -> Outcome {
    let home = Home::read(data)?;
    let args = IndexArgs {
        full: typed.has("reindex"),
        lazy: typed.has("lazy-check"),
        ..IndexArgs::default()
    };
    let options = update_options(global, data, &args)?;
    let is_quiet = typed.has("quiet");
    if !is_quiet {
        let (maildir, store) = (home.maildir.display(), data.display());
        output::print(format!("indexing maildir {maildir} -> store {store}\n").as_bytes())?;
    }
    background::give_back_large_blocks();
    let progress = Progress::default();
    let (stop, changes) = (Stop::on_signals()?, [home.root()]);
    let mut events = serve::hand_over(global, &args, data, &changes)?;
    let work = || match &mut events {
        Some(events) => serve::follow(events, &progress),
        None => Ok(update(&options, &changes, &progress, &|_| ())?),
    };
    let summary = stop.watch(&options, &progress, || (), work)?;
    for message in &summary.messages {
        output::warn(message);
    }
    if !is_quiet {
        let updated = summary.added + summary.changed + summary.moved;
        let checked = updated + summary.unchanged;
        let gone = summary.gone;
        let text = format!(
            "indexing messages; checked: {checked}; updated/new: {updated}; cleaned-up: {gone}\n"
        );
        output::print(text.as_bytes())?;
    }
    Ok(ExitCode::from(u8::from(summary.interrupted)))
}

fn info(global: &Global, typed: &Typed, data: &Path) -> Outcome {
    let topic = typed
        .words
        .first()
        .map(|word| word.to_string_lossy().into_owned());
    let text = match topic.as_deref() {
        None | Some("store") => store_table(&Home::read(data)?, data)?,
        Some("fields") => fields::text(),
        Some("maildirs") => {
            let names = store(global, typed)?.maildirs()?;
            names.iter().map(|name| format!("{name}\n")).collect()
        }
        Some(topic) => {
            let message = format!("unknown topic '{topic}'; topics are store, fields, maildirs");
            return Err(Refusal::Usage(message));
        }
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn store_table(home: &Home, data: &Path) -> Result<String, Refusal> {
    let index = index_folder(data);
    let snapshot = Snapshot::open(&index)?;
    let zone = crate::zone::system();
    let time = |seconds: Option<i64>| match seconds {
        Some(seconds) if seconds > 0 => format::time(seconds, &zone),
        _ => "never".to_owned(),
    };
    let messages = [ken_core::Kind::Message.name()];
    let n_messages = snapshot.files().with_values(Field::Type, &messages)?.len();
    let changed = fs_err::metadata(index.join("meta.json"))?.modified()?;
    let changed = changed.duration_since(std::time::UNIX_EPOCH).ok();
    let changed = changed.and_then(|since| i64::try_from(since.as_secs()).ok());
    let meta: &Meta = snapshot.meta();
    let mut rows = vec![
        vec!["maildir".to_owned(), home.maildir.display().to_string()],
        vec!["database-path".to_owned(), index.display().to_string()],
        vec!["created".to_owned(), time(Some(home.created))],
    ];
    for address in &home.addresses {
        rows.push(vec!["personal-address".to_owned(), address.clone()]);
    }
    rows.extend([
        vec!["messages in store".to_owned(), n_messages.to_string()],
        vec![
            "last-change".to_owned(),
            time(changed.filter(|_| n_messages > 0)),
        ],
        vec!["last-index".to_owned(), time(meta.completed)],
    ]);
    Ok(table(&rows))
}

fn add(global: &Global, typed: &Typed, data: &Path) -> Outcome {
    let files = files_of(typed)?;
    for path in &files {
        if !path.is_file() {
            let message = format!("file @ '{}' is not readable", path.display());
            return Err(Refusal::Said(message));
        }
    }
    let home = Home::read(data)?;
    if let Some(path) = files.iter().find(|path| !path.starts_with(&home.maildir)) {
        let (path, maildir) = (path.display(), home.maildir.display());
        let message = format!("file @ '{path}' is not below '{maildir}'");
        return Err(Refusal::Said(message));
    }
    update_some(global, data, &files)
}

fn remove(global: &Global, typed: &Typed, data: &Path) -> Outcome {
    let files = files_of(typed)?;
    if let Some(path) = files.iter().find(|path| path.is_file()) {
        let message = format!(
            "\"{}\" is there: ken's index follows the files, so delete it first",
            path.display()
        );
        return Err(Refusal::Said(message));
    }
    update_some(global, data, &files)
}

fn update_some(global: &Global, data: &Path, files: &[PathBuf]) -> Outcome {
    let root = Home::read(data)?.root();
    let options = update_options(global, data, &IndexArgs::default())?;
    serve::bring_in(global, &options, &[root], files)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the files of the arguments, as the index has them.
pub(super) fn files_of(typed: &Typed) -> Result<Vec<PathBuf>, Refusal> {
    if typed.words.is_empty() {
        return Err(Refusal::Usage("parameters missing".to_owned()));
    }
    let mut files = Vec::new();
    for word in &typed.words {
        let path = std::path::absolute(word)?;
        let folder = path
            .parent()
            .and_then(|folder| fs_err::canonicalize(folder).ok());
        files.push(match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path,
        });
    }
    Ok(files)
}

/// Returns the folder of mu's configuration.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn mu_config() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let set = set.filter(|path| path.is_absolute());
    let folder = set.or_else(|| home().map(|home| home.join(".config")))?;
    Some(folder.join("mu"))
}
