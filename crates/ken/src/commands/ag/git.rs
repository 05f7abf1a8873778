//! The patterns that git ignores everywhere: `core.excludesfile`.
//!
//! ag asks git, which takes longer than many a search. ken asks git only if a configuration file that git would read
//! mentions the setting.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The most bytes of a configuration file that is read here; for a larger one ken asks git.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Returns the file with the patterns, if there may be one.
pub(super) fn excludes_file(home: Option<&Path>) -> Option<PathBuf> {
    let configured = match is_configured(home) {
        true => ask(),
        false => None,
    };
    configured.or_else(|| match variable("XDG_CONFIG_HOME") {
        Some(folder) => Some(PathBuf::from(folder).join("git/ignore")),
        None => home.map(|home| home.join(".config/git/ignore")),
    })
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment here
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn is_configured(home: Option<&Path>) -> bool {
    const OTHER_SOURCES: [&str; 7] = [
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_DIR",
        "GIT_CONFIG",
        "GIT_COMMON_DIR",
    ];
    if OTHER_SOURCES
        .into_iter()
        .any(|name| variable(name).is_some())
    {
        return true;
    }
    let mut files = vec![PathBuf::from("/etc/gitconfig")];
    if let Some(home) = home {
        files.push(home.join(".gitconfig"));
        files.push(home.join(".config/git/config"));
    }
    files.extend(variable("XDG_CONFIG_HOME").map(|folder| Path::new(&folder).join("git/config")));
    if let Ok(folder) = fs_err::canonicalize(".") {
        let git = folder.ancestors().map(|folder| folder.join(".git"));
        if let Some(git) = git.into_iter().find(|git| fs_err::metadata(git).is_ok()) {
            // A file points to a folder elsewhere.
            if git.is_file() {
                return true;
            }
            files.push(git.join("config"));
        }
    }
    files.iter().any(|file| mentions(file))
}

/// Returns whether a configuration file may name the patterns, or include another file that does.
fn mentions(file: &Path) -> bool {
    let Ok(metadata) = fs_err::metadata(file) else {
        return false;
    };
    if metadata.len() > MAX_CONFIG_BYTES {
        return true;
    }
    let text = fs_err::read(file).unwrap_or_default().to_ascii_lowercase();
    let has = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    has(b"excludesfile") || has(b"include")
}

fn ask() -> Option<PathBuf> {
    let output = Command::new("git")
        .args(["config", "-z", "--path", "--get", "core.excludesfile"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let path = output.stdout.split(|byte| *byte == 0).next()?;
    (!path.is_empty()).then(|| OsString::from_vec(path.to_vec()).into())
}
