//! Settings of helpers, which read formats that ken has no parser for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ken_extract::helper::{CustomHelper, HelperOptions, Helpers, sandbox};
use ken_pipeline::Ocr;
use serde::{Deserialize, Serialize};

use super::{Settings, data_folder, home, parse_size};
use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// The folders for programs if `PATH` is not set.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// See [`HelperOptions`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HelperSettings {
    /// Whether helpers are used.
    enabled: bool,
    /// Media types, or names of helpers, that take precedence over ken's own formats.
    prefer: Vec<String>,
    /// Recoll's tables of helpers; later ones win, and missing ones are skipped.
    mimeconf: Vec<PathBuf>,
    /// Recoll's tables of extensions.
    mimemap: Vec<PathBuf>,
    /// Folders of Recoll's filters.
    filters: Vec<PathBuf>,
    /// Recoll's configuration folder.
    configuration: PathBuf,
    /// The seconds that a helper may take for a file.
    seconds: f64,
    /// The memory that each process of a helper may take.
    memory: String,
    /// Whether helpers run in a sandbox.
    sandbox: Sandboxed,
    /// Files that helpers may read in the sandbox besides those of the system.
    read: Vec<PathBuf>,
}

/// Whether helpers run in a sandbox: `true` (as much of one as the kernel has), `false`, or `"require"` (all of it, or not
/// at all).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged, expecting = "expected true, false or \"require\"")]
enum Sandboxed {
    If(bool),
    By(Sandbox),
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Sandbox {
    Require,
}

impl Default for HelperSettings {
    fn default() -> Self {
        let of = |name: &str| {
            vec![
                PathBuf::from("/usr/share/recoll/examples").join(name),
                PathBuf::from("~/.recoll").join(name),
            ]
        };
        Self {
            enabled: true,
            prefer: Vec::new(),
            mimeconf: of("mimeconf"),
            mimemap: of("mimemap"),
            filters: vec![PathBuf::from("/usr/share/recoll/filters")],
            configuration: PathBuf::from("~/.recoll"),
            seconds: 60.0,
            memory: "1G".to_owned(),
            sandbox: Sandboxed::If(true),
            read: Vec::new(),
        }
    }
}

/// See [`CustomHelper`].
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct CustomHelperSettings {
    #[serde(default)]
    name: String,
    #[serde(default)]
    extensions: Vec<String>,
    #[serde(default)]
    media_types: Vec<String>,
    command: Vec<String>,
    /// The media type of the helper's output; `auto` to detect it.
    #[serde(default = "plain_text")]
    output: String,
    seconds: Option<u64>,
}

fn plain_text() -> String {
    "text/plain".to_owned()
}

/// See [`ken_pipeline::Ocr`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OcrSettings {
    /// Whether each run reads text in pictures.
    enabled: bool,
    /// The languages, by Tesseract's names.
    languages: Vec<String>,
    /// The size of the cache of recognised text on disk.
    cache: String,
}

impl Default for OcrSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            languages: vec!["eng".to_owned()],
            cache: "256M".to_owned(),
        }
    }
}

impl OcrSettings {
    pub(super) fn cache(&self) -> &str {
        &self.cache
    }

    /// Returns the languages, if they can be names of Tesseract's.
    pub(crate) fn checked_languages(&self) -> Result<&[String], Failure> {
        let is_name = |name: &String| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || "_/".contains(c);
            !name.is_empty() && name.chars().all(is_letter)
        };
        if self.languages.is_empty() || !self.languages.iter().all(is_name) {
            let message = "ocr.languages: expected a list of language names".to_owned();
            return Err(Failure::new(Kind::Usage, message).hint("tesseract --list-langs"));
        }
        Ok(&self.languages)
    }
}

impl HelperSettings {
    pub(super) fn memory(&self) -> &str {
        &self.memory
    }

    /// Returns the time that a helper may take for a file.
    pub(super) fn max_time(&self) -> Result<Duration, Failure> {
        Duration::try_from_secs_f64(self.seconds)
            .map_err(|error| Failure::new(Kind::Usage, format!("helpers.seconds: {error}")))
    }
}

impl Settings {
    /// Returns the user's own helpers.
    pub(super) fn custom_helpers(&self) -> Result<Vec<CustomHelper>, Failure> {
        self.custom_helpers
            .iter()
            .map(CustomHelperSettings::helper)
            .collect()
    }

    /// Returns the programs of the user's own helpers.
    pub(crate) fn programs(&self) -> Vec<String> {
        let helpers = self.custom_helpers().unwrap_or_default();
        let programs = helpers
            .into_iter()
            .filter_map(|helper| helper.command.into_iter().next());
        programs.collect()
    }

    /// Returns the options for reading text in pictures, if that is on; `asked` is whether the command line asks for
    /// it.
    pub(crate) fn ocr(&self, asked: bool) -> Result<Option<Ocr>, Failure> {
        let settings = &self.ocr;
        if !settings.enabled && !asked {
            return Ok(None);
        }
        Ok(Some(Ocr {
            languages: settings.checked_languages()?.join("+"),
            cache_bytes: parse_size(&settings.cache)? as u64,
        }))
    }

    /// Returns a sentence about the parts of the sandbox that the system lacks, if helpers were used without them.
    pub(crate) fn unprotected(&self, helpers: Option<&Helpers>) -> Option<String> {
        let is_off = self.helpers.sandbox == Sandboxed::If(false);
        if is_off || !helpers.is_some_and(Helpers::were_used) {
            return None;
        }
        let missing = sandbox::missing(&super::worker_program().ok()?);
        if missing.is_empty() {
            return None;
        }
        let missing = missing.join(" and ");
        Some(match self.helpers.sandbox {
            Sandboxed::If(_) => format!(
                "this system lacks {missing}: helpers ran without that part of their sandbox; \
                 helpers.sandbox = \"require\" would not let them"
            ),
            Sandboxed::By(Sandbox::Require) => {
                format!(
                    "this system lacks {missing}: no helper ran, as helpers.sandbox requires it"
                )
            }
        })
    }

    /// Returns the helpers; `None` if they are switched off.
    pub(crate) fn helpers(&self, global: &Global) -> Result<Option<Arc<Helpers>>, Failure> {
        let settings = &self.helpers;
        if !settings.enabled {
            return Ok(None);
        }
        let all = |paths: &[PathBuf]| paths.iter().map(|path| expand(path)).collect();
        let configuration = expand(&settings.configuration);
        let options = HelperOptions {
            mimeconf: all(&settings.mimeconf),
            mimemap: all(&settings.mimemap),
            filters: all(&settings.filters),
            configuration: configuration.is_dir().then_some(configuration),
            path: path_folders(),
            prefer: settings.prefer.clone(),
            custom: self.custom_helpers()?,
            max_time: settings.max_time()?,
            memory: parse_size(&settings.memory)? as u64,
            sandbox: match settings.sandbox {
                Sandboxed::If(false) => None,
                _ => Some(super::worker_program()?),
            },
            requires_sandbox: settings.sandbox == Sandboxed::By(Sandbox::Require),
            read: all(&settings.read),
            temporary: data_folder(global)?.join("tmp"),
        };
        Ok(Some(Arc::new(Helpers::new(options)?)))
    }
}

impl CustomHelperSettings {
    fn helper(&self) -> Result<CustomHelper, Failure> {
        let name = match (&*self.name, self.command.first()) {
            ("", Some(program)) => program,
            (name, _) => name,
        };
        let refuse = |what: &str| {
            Err(Failure::new(
                Kind::Usage,
                format!("adapter \"{name}\": {what}"),
            ))
        };
        if self.command.is_empty() {
            return refuse("the command is missing");
        }
        if self.extensions.is_empty() && self.media_types.is_empty() {
            return refuse("extensions or media_types are missing");
        }
        let in_home = |word: &String| expand(Path::new(word)).to_string_lossy().into_owned();
        Ok(CustomHelper {
            name: name.to_owned(),
            extensions: self.extensions.clone(),
            media_types: self.media_types.clone(),
            command: self.command.iter().map(in_home).collect(),
            output: match &*self.output {
                "auto" => String::new(),
                output => output.to_owned(),
            },
            seconds: self.seconds,
        })
    }
}

/// Returns a path with `~/` replaced by the home folder.
fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn path_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let folders = std::env::split_paths(&path);
    // A relative path would mean a different folder in each current folder.
    folders.filter(|folder| folder.is_absolute()).collect()
}
