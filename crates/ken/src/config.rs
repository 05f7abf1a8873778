//! Settings: the configuration file, `--set`, and the folders of ken.

mod access;
mod check;
mod engine;
pub(crate) mod file;
mod folders;
mod helpers;
mod ranking;
pub(crate) mod saved;
mod secrets;
pub(crate) mod sources;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use access::{AccessSettings, SharedSocket};
use engine::EngineSettings;
pub(crate) use folders::{
    below_home, config_home, data_folder, home, runtime_folder, state_home, worker_program,
};
use helpers::{CustomHelperSettings, HelperSettings, OcrSettings};
use ken_core::{CustomField, FIELDS, Field, FolderFields, custom};
use ken_extract::{Isolate, Limits};
use ken_pipeline::Ngrams;
use ken_search::parse::is_reserved;
use ken_search::plan::Context;
use ranking::{AnalysisSettings, RankingSettings};
use secrets::{PasswordSettings, WebSettings};
use serde::{Deserialize, Serialize};
use sources::Sources;

use crate::choices::{DurabilityName, OrderName};
use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// The least time between commits; shorter ones only make tiny segments.
const MIN_COMMIT_INTERVAL: Duration = Duration::from_millis(10);

/// The settings. Every setting has a default, so no file is needed.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The memory of indexing: a number of bytes, with k, M or G for units of 1024. 0 means 256 MiB for each thread,
    /// but at least 512 MiB and at most a quarter of the machine's memory.
    pub(crate) memory: String,
    /// The threads of indexing; 0 for one per core.
    pub(crate) threads: usize,
    /// The threads that only build segments; 0 if the extracting threads build them.
    pub(crate) index_threads: usize,
    /// The text that may wait between extraction and index, with k, M or G; 0 for an eighth of the memory.
    pub(crate) queue_bytes: String,
    /// The seconds between commits of a long run, at least a hundredth.
    pub(crate) commit_seconds: f64,
    /// The bytes of files between commits of a long run, with k, M or G; 0 for no such limit.
    pub(crate) commit_bytes: String,
    /// When commits are forced to disk.
    pub(crate) durability: DurabilityName,
    /// The order in which the files of a folder are read.
    pub(crate) order: OrderName,
    /// The files for which n-grams are kept, by which `ken grep` skips files.
    pub(crate) ngrams: NgramSetting,
    /// Files and folders that the index leaves out, with everything below them; `~/` means the home folder.
    pub(crate) exclude: Vec<PathBuf>,
    /// The hits that a search prints.
    pub(crate) limit: usize,
    /// The limits for one file.
    pub(crate) extract: ExtractSettings,
    /// Helpers for formats that ken has no parser for.
    pub(crate) helpers: HelperSettings,
    /// Reading text in pictures.
    pub(crate) ocr: OcrSettings,
    /// Turning words into terms.
    pub(crate) analysis: AnalysisSettings,
    /// Ranking hits.
    pub(crate) ranking: RankingSettings,
    /// The user's own helpers.
    #[serde(rename = "adapter")]
    pub(crate) custom_helpers: Vec<CustomHelperSettings>,
    /// The passwords that are tried on encrypted files.
    pub(crate) passwords: PasswordSettings,
    /// Fields that folders give to the files below them.
    pub(crate) folder: Vec<FolderSettings>,
    /// Commands that `ken serve` runs when files come that match a query.
    pub(crate) hook: Vec<HookSettings>,
    /// Saved queries by name, for `query:name`.
    pub(crate) queries: BTreeMap<String, String>,
    /// Command lines that open documents, by media types such as `application/pdf` or `image/*`.
    pub(crate) open: BTreeMap<String, String>,
    /// Reading queries.
    pub(crate) search: SearchSettings,
    /// The page, and who else can reach it.
    pub(crate) web: WebSettings,
    /// The user's mail.
    pub(crate) mail: MailSettings,
    /// The mu that ken imitates.
    pub(crate) mu: MuSettings,
    /// Where the index is.
    pub(crate) engine: EngineSettings,
    /// Who may read what a server finds.
    pub(crate) access: AccessSettings,
}

/// A command that `ken serve` runs when files come that match a query.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookSettings {
    /// The query, in ken's language.
    pub(crate) query: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// The seconds after which the command is stopped.
    #[serde(default = "hook_seconds")]
    pub(crate) seconds: u64,
}

fn hook_seconds() -> u64 {
    60
}

/// The mu that ken imitates.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MuSettings {
    /// The version of mu. mu4e works with only one version, and the protocol depends on it.
    pub(crate) version: String,
}

impl Default for MuSettings {
    fn default() -> Self {
        Self {
            // The version in Debian 12.
            version: "1.8.13".to_owned(),
        }
    }
}

/// `none`, `text` for plain text and source code, or `all`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NgramSetting {
    None,
    Text,
    All,
}

impl From<NgramSetting> for Ngrams {
    fn from(setting: NgramSetting) -> Self {
        match setting {
            NgramSetting::None => Self::None,
            NgramSetting::Text => Self::Text,
            NgramSetting::All => Self::All,
        }
    }
}

/// Reading queries.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchSettings {
    /// A file with groups of synonyms; `~/` means the home folder.
    pub(crate) synonyms: Option<PathBuf>,
    /// The seconds after which a search ends with what it has found; 0 for no limit.
    pub(crate) seconds: f64,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            synonyms: None,
            seconds: 60.0,
        }
    }
}

impl SearchSettings {
    /// Returns the time that a search may take.
    pub(crate) fn deadline_ms(&self) -> Option<u64> {
        // Too large a number becomes the largest time.
        (self.seconds > 0.0).then_some((self.seconds * 1_000.0) as u64)
    }
}

/// The user's mail.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MailSettings {
    /// The user's own addresses, or regular expressions between slashes, for `is:personal`.
    pub(crate) addresses: Vec<String>,
    /// The folder of all mail, at which `maildir:/inbox` starts; any folder if it is not set.
    pub(crate) root: Option<PathBuf>,
    /// Message headers that become fields, by the name of the field.
    pub(crate) headers: BTreeMap<String, String>,
}

/// Fields that a folder gives to all documents below it; the nearest folder counts.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderSettings {
    /// The folder; `~/` means the home folder.
    pub(crate) path: PathBuf,
    /// Values by the name of the field.
    pub(crate) fields: BTreeMap<String, Values>,
}

/// One value or several.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Values {
    /// `author = "Anna"`
    One(String),
    /// `keywords = ["tax", "2026"]`
    Several(Vec<String>),
}

/// See [`Limits`] and [`ken_extract::Options`]; sizes in bytes.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)]
pub(crate) struct ExtractSettings {
    pub(crate) max_file_bytes: u64,
    pub(crate) max_text_bytes: usize,
    pub(crate) max_member_bytes: u64,
    pub(crate) max_depth: usize,
    pub(crate) max_members: u64,
    pub(crate) max_expanded_bytes: u64,
    pub(crate) max_expansion: u64,
    pub(crate) max_pages: u64,
    pub(crate) file_seconds: f64,
    pub(crate) worker_memory: u64,
    /// The formats that are parsed in a worker: `auto`, `all` or `none`.
    pub(crate) isolate: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            memory: "0".to_owned(),
            threads: 0,
            index_threads: 0,
            queue_bytes: "0".to_owned(),
            commit_seconds: 60.0,
            commit_bytes: "0".to_owned(),
            durability: DurabilityName::Full,
            order: OrderName::Inode,
            ngrams: NgramSetting::Text,
            exclude: Vec::new(),
            limit: 10,
            extract: ExtractSettings::default(),
            helpers: HelperSettings::default(),
            ocr: OcrSettings::default(),
            analysis: AnalysisSettings::default(),
            ranking: RankingSettings::default(),
            custom_helpers: Vec::new(),
            passwords: PasswordSettings::default(),
            folder: Vec::new(),
            hook: Vec::new(),
            queries: BTreeMap::new(),
            open: BTreeMap::new(),
            search: SearchSettings::default(),
            web: WebSettings::default(),
            mail: MailSettings::default(),
            mu: MuSettings::default(),
            engine: EngineSettings::default(),
            access: AccessSettings::default(),
        }
    }
}

impl Default for ExtractSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            max_file_bytes: limits.max_file_bytes,
            max_text_bytes: limits.max_text_bytes,
            max_member_bytes: limits.max_member_bytes,
            max_depth: limits.max_depth,
            max_members: limits.max_members,
            max_expanded_bytes: limits.max_expanded_bytes,
            max_expansion: limits.max_expansion,
            max_pages: limits.max_pages,
            file_seconds: limits.file_time.as_secs_f64(),
            worker_memory: limits.worker_memory,
            isolate: "auto".to_owned(),
        }
    }
}

impl Settings {
    /// Returns the time between commits of a long run.
    pub(crate) fn commit_interval(&self) -> Result<Duration, Failure> {
        commit_interval(self.commit_seconds)
    }

    /// Returns the options of extraction.
    pub(crate) fn extraction(&self) -> Result<ken_extract::Options, Failure> {
        let mut options = self.isolation()?;
        options.limits.passwords = self.passwords.read()?;
        Ok(options)
    }

    /// Returns the options of extraction without passwords, so that nobody is asked for them.
    pub(crate) fn isolation(&self) -> Result<ken_extract::Options, Failure> {
        Ok(ken_extract::Options {
            limits: Limits {
                headers: self.mail.custom_fields()?,
                ..self.extract.limits()?
            },
            isolate: self.extract.isolate()?,
            worker: Some(worker_program()?),
            helpers: None,
        })
    }

    /// Returns the absolute paths that the index leaves out.
    pub(crate) fn excluded(&self) -> Result<Vec<PathBuf>, Failure> {
        let paths = self.exclude.iter().map(|path| {
            let absolute = Some(below_home(path)).filter(|path| path.is_absolute());
            absolute.ok_or_else(|| {
                let message = format!("exclude: \"{}\" is not an absolute path", path.display());
                Failure::new(Kind::Usage, message).hint("example: ~/Downloads/videos")
            })
        });
        paths.collect()
    }

    /// Returns the fields that folders give.
    pub(crate) fn folders(&self) -> Result<Vec<FolderFields>, Failure> {
        self.folder.iter().map(FolderSettings::resolve).collect()
    }

    /// Reads the configuration file, if there is one, and applies `--set`.
    pub(crate) fn load(global: &Global) -> Result<Self, Failure> {
        Sources::read(global).map(|sources| sources.settings)
    }
}

impl MailSettings {
    /// Sets the user's addresses and mail folder in the context of queries.
    pub(crate) fn apply_to(&self, context: &mut Context) -> Result<(), Failure> {
        context.own_addresses = self.own_addresses()?.expressions().to_vec();
        context.mail_root = self.root.as_deref().map(below_home);
        Ok(())
    }

    /// Returns the custom fields, as a new index has them.
    fn custom_fields(&self) -> Result<Vec<CustomField>, Failure> {
        let wrong = |message: String| Failure::new(Kind::Usage, format!("mail.headers: {message}"));
        for (name, header) in &self.headers {
            let reserved = is_reserved(name).then_some("queries use this name for something else");
            if let Some(why) = custom::wrong_name(name).or(reserved) {
                return Err(wrong(format!("\"{name}\" cannot be a field: {why}"))
                    .hint("example: headers = { project = \"X-Project\" }"));
            }
            if !custom::is_header(header) {
                return Err(wrong(format!("\"{header}\" is not a valid header name")));
            }
        }
        let wanted = self.headers.iter();
        let wanted: Vec<_> = wanted.map(|(a, b)| (a.clone(), b.clone())).collect();
        let most = custom::CUSTOM_FIELDS.len();
        custom::assign(&wanted, std::iter::empty()).map_err(|n| {
            wrong(format!(
                "{n} custom fields, but there can be at most {most}"
            ))
        })
    }
}

/// Returns the time between commits.
pub(crate) fn commit_interval(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds)
        .map(|interval| interval.max(MIN_COMMIT_INTERVAL))
        .map_err(|error| Failure::new(Kind::Usage, format!("commit_seconds: {error}")))
}

impl ExtractSettings {
    fn limits(&self) -> Result<Limits, Failure> {
        let file_time = Duration::try_from_secs_f64(self.file_seconds);
        Ok(Limits {
            max_file_bytes: self.max_file_bytes,
            max_text_bytes: self.max_text_bytes,
            max_member_bytes: self.max_member_bytes,
            max_depth: self.max_depth,
            max_members: self.max_members,
            max_expanded_bytes: self.max_expanded_bytes,
            max_expansion: self.max_expansion,
            max_pages: self.max_pages,
            file_time: file_time.map_err(|error| {
                Failure::new(Kind::Usage, format!("extract.file_seconds: {error}"))
            })?,
            worker_memory: self.worker_memory,
            ..Limits::default()
        })
    }

    fn isolate(&self) -> Result<Isolate, Failure> {
        self.isolate.parse().map_err(|()| {
            let message = format!("extract.isolate: invalid value \"{}\"", self.isolate);
            Failure::new(Kind::Usage, message).hint(&format!(
                "one of {}",
                Isolate::ALL.map(|(_, name)| name).join(", ")
            ))
        })
    }
}

impl FolderSettings {
    fn resolve(&self) -> Result<FolderFields, Failure> {
        let path = below_home(&self.path);
        if !path.is_absolute() {
            let message = format!("folder \"{}\": not an absolute path", self.path.display());
            return Err(Failure::new(Kind::Usage, message).hint("example: ~/Documents"));
        }
        let mut fields = Vec::new();
        for (name, values) in &self.fields {
            let field = Field::from_name(name).filter(|field| field.is_given());
            let field = field.ok_or_else(|| self.refuse(name))?;
            let values = match values {
                Values::One(value) => std::slice::from_ref(value),
                Values::Several(values) => values,
            };
            fields.extend(values.iter().map(|value| (field, value.clone())));
        }
        Ok(FolderFields {
            // The walk names folders without symbolic links.
            path: fs_err::canonicalize(&path).unwrap_or(path),
            fields,
        })
    }

    fn refuse(&self, name: &str) -> Failure {
        let given = FIELDS.iter().filter(|info| info.field.is_given());
        let given: Vec<_> = given.map(|info| info.name).collect();
        let folder = self.path.display();
        let message =
            format!("folder \"{folder}\": \"{name}\" is not a field that a folder can set");
        Failure::new(Kind::Usage, message).hint(&format!("one of {}", given.join(", ")))
    }
}

/// Reads a size: a number, with k, M, G or T for powers of 1024.
pub(crate) fn parse_size(text: &str) -> Result<usize, Failure> {
    let trimmed = text
        .trim()
        .trim_end_matches(['b', 'B'])
        .trim_end_matches('i');
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" => Some(0),
        "k" => Some(10),
        "m" => Some(20),
        "g" => Some(30),
        "t" => Some(40),
        _ => None,
    };
    let number = digits.parse::<usize>().ok();
    number
        .zip(shift)
        .and_then(|(number, shift)| number.checked_mul(1 << shift))
        .ok_or_else(|| {
            Failure::new(Kind::Usage, format!("\"{text}\" is not a size"))
                .hint("write a number of bytes, or a number with a unit: 512M, 2G")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("512M", 512 << 20),
            ("2GiB", 2 << 30),
            ("7", 7),
            ("1kB", 1024),
        ] {
            assert_eq!(parse_size(text).ok(), Some(bytes), "{text}");
        }
        for text in ["", "M", "1X", "-1", "99999999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_manual_lists_every_setting_with_its_default() {
        let manual = include_str!("manual/configuration.md");
        let block = manual.split("```toml\n").nth(1).unwrap();
        let block = block.split("```").next().unwrap();
        let settings: Settings = toml::from_str(block).unwrap();
        assert_eq!(settings, Settings::default());
        for name in toml::Table::try_from(Settings::default()).unwrap().keys() {
            assert!(block.contains(name), "{name}");
        }
    }
}
