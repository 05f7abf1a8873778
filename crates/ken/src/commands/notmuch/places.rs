//! Where the configuration, the mail, the index and the hooks are (notmuch-config(1)).
//!
//! The index is where notmuch has its database, beside it: in `.notmuch/ken` below the folder that `database.path`
//! names, or in `ken` where that folder holds no mail. So a notmuch that is installed too keeps its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ken_server::notmuch::{Journal, KeyFile};

use super::Refusal;
use crate::config::home;

/// The settings that hold without a configuration.
const DEFAULTS: [(&str, &str); 5] = [
    ("database.autocommit", "8000"),
    ("maildir.synchronize_flags", "true"),
    ("new.ignore", ""),
    ("new.tags", "unread;inbox"),
    ("search.exclude_tags", ""),
];

/// The configuration and what follows from it.
pub(super) struct Places {
    /// The configuration file; absent if none is wanted.
    pub(super) file: Option<PathBuf>,
    /// Whether the file exists.
    pub(super) has_file: bool,
    /// The folder of the database.
    pub(super) database: PathBuf,
    /// The folder of all mail.
    pub(super) mail_root: PathBuf,
    /// The folder of ken's index.
    pub(super) data: PathBuf,
    /// The settings.
    pub(super) settings: BTreeMap<String, String>,
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name)?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}

fn profile() -> PathBuf {
    variable("NOTMUCH_PROFILE").unwrap_or_else(|| PathBuf::from("default"))
}

fn home_folder() -> PathBuf {
    home().unwrap_or_else(|| PathBuf::from("/"))
}

fn config_folder() -> PathBuf {
    let folder = variable("XDG_CONFIG_HOME");
    let folder = folder.unwrap_or_else(|| home_folder().join(".config"));
    folder.join("notmuch").join(profile())
}

/// Returns the configuration file: the one that is named, else that of the profile.
fn config_file(named: Option<&str>) -> Option<PathBuf> {
    match named {
        Some("") => return None,
        Some(path) => return Some(PathBuf::from(path)),
        None => {}
    }
    if let Some(path) = variable("NOTMUCH_CONFIG") {
        return Some(path);
    }
    let path = config_folder().join("config");
    if path.is_file() {
        return Some(path);
    }
    let profile = profile();
    let name = match profile.to_str() {
        Some("default") | None => ".notmuch-config".to_owned(),
        Some(profile) => format!(".notmuch-config.{profile}"),
    };
    Some(home_folder().join(name))
}

/// Reads a configuration file; a missing one is empty.
pub(super) fn read_file(path: &Path) -> Result<Option<KeyFile>, Refusal> {
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Refusal::Said(format!("Error opening config file {error}"))),
    };
    match KeyFile::read(&text) {
        Ok(file) => Ok(Some(file)),
        Err(wrong) => {
            let path = path.display();
            let message = format!("Error parsing config file '{path}': {wrong}");
            Err(Refusal::Said(message))
        }
    }
}

impl Places {
    /// Reads the configuration.
    pub(super) fn find(named: Option<&str>) -> Result<Self, Refusal> {
        let file = config_file(named);
        let read = match &file {
            Some(path) => read_file(path)?,
            None => None,
        };
        let has_file = read.is_some();
        let own: BTreeMap<String, String> = read
            .iter()
            .flat_map(KeyFile::entries)
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let absolute = |path: &String| home_folder().join(path);
        let xdg = variable("XDG_DATA_HOME");
        let xdg = xdg.unwrap_or_else(|| home_folder().join(".local/share"));
        let xdg = xdg.join("notmuch").join(profile());
        let named = variable("NOTMUCH_DATABASE").or_else(|| own.get("database.path").map(absolute));
        let database = named
            .or_else(|| Some(xdg).filter(|path| path.is_dir()))
            .or_else(|| variable("MAILDIR"))
            .unwrap_or_else(|| home_folder().join("mail"));
        let own_root = own.get("database.mail_root").map(absolute);
        let data = data_folder(&database, own_root.as_deref());
        let kept = Journal::read(&data).map_err(Refusal::from)?.settings;
        let kept_root = kept.get("database.mail_root").map(absolute);
        let mail_root = own_root.or(kept_root);
        let mail_root =
            mail_root.or_else(|| variable("MAILDIR").filter(|_| !holds_mail(&database)));
        let mail_root = mail_root.unwrap_or_else(|| database.clone());
        let mut settings: BTreeMap<String, String> = DEFAULTS
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        settings.extend(user());
        settings.extend(kept);
        settings.extend(own);
        let mut place = |key: &str, path: &Path| {
            settings.insert(key.to_owned(), path.to_string_lossy().into_owned());
        };
        place("database.path", &database);
        place("database.mail_root", &mail_root);
        let mut places = Self {
            file,
            has_file,
            database,
            mail_root,
            data,
            settings,
        };
        if places.has_database() {
            let folder = places.own_folder();
            let hooks = match places.settings.get("database.hook_dir") {
                Some(path) => home_folder().join(path),
                None => Some(config_folder().join("hooks"))
                    .filter(|path| path.is_dir())
                    .unwrap_or_else(|| folder.join("hooks")),
            };
            let backups = match places.settings.get("database.backup_dir") {
                Some(path) => home_folder().join(path),
                None => folder.join("backups"),
            };
            for (key, path) in [
                ("database.hook_dir", hooks),
                ("database.backup_dir", backups),
            ] {
                let path = path.to_string_lossy().into_owned();
                places.settings.insert(key.to_owned(), path);
            }
        }
        Ok(places)
    }

    /// Returns whether there is an index.
    pub(super) fn has_database(&self) -> bool {
        ken_index::layout::index_folder(&self.data)
            .join("meta.json")
            .is_file()
    }

    /// Returns the folder with what belongs to the database.
    fn own_folder(&self) -> PathBuf {
        self.data.parent().unwrap_or(&self.database).to_path_buf()
    }

    /// Returns the folder with hooks.
    pub(super) fn hooks(&self) -> PathBuf {
        if let Some(path) = self.settings.get("database.hook_dir") {
            return home_folder().join(path);
        }
        let folder = config_folder().join("hooks");
        match folder.is_dir() {
            true => folder,
            false => self.own_folder().join("hooks"),
        }
    }

    /// Returns a setting; empty if it is not set.
    pub(super) fn get(&self, key: &str) -> &str {
        self.settings.get(key).map_or("", String::as_str)
    }

    /// Returns the items of a setting.
    pub(super) fn list(&self, key: &str) -> Vec<String> {
        ken_server::notmuch::items(self.get(key))
    }
}

fn holds_mail(database: &Path) -> bool {
    database.join(".notmuch").is_dir()
}

/// Returns the folder of ken's index.
fn data_folder(database: &Path, mail_root: Option<&Path>) -> PathBuf {
    let is_mail = mail_root.is_none_or(|root| root == database);
    let is_xdg = database.parent().and_then(Path::file_name) == Some("notmuch".as_ref());
    match holds_mail(database) || is_mail && !is_xdg {
        true => database.join(".notmuch/ken"),
        false => database.join("ken"),
    }
}

/// Returns what the system says of the user.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn user() -> Vec<(String, String)> {
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    let login = text("USER").or_else(|| text("LOGNAME")).unwrap_or_default();
    let accounts = fs_err::read_to_string("/etc/passwd").unwrap_or_default();
    let account = accounts
        .lines()
        .find(|line| line.split(':').next() == Some(&*login));
    let known = account.and_then(|line| line.split(':').nth(4));
    let known = known
        .and_then(|name| name.split(',').next())
        .unwrap_or_default();
    let name = text("NAME").unwrap_or_else(|| known.to_owned());
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let address = text("EMAIL").unwrap_or_else(|| format!("{login}@{}", host.trim()));
    vec![
        ("user.name".to_owned(), name),
        ("user.primary_email".to_owned(), address),
    ]
}
