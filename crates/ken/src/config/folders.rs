//! The folders of ken: settings, index, state, sockets.

use std::path::{Path, PathBuf};

use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// Returns the folder that holds the index.
pub(crate) fn data_folder(global: &Global) -> Result<PathBuf, Failure> {
    let folder = match &global.data {
        Some(folder) => Some(folder.clone()),
        None => xdg("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("ken")),
    };
    let folder = folder.ok_or_else(|| {
        Failure::new(
            Kind::Usage,
            "there is no home folder to keep the index in".to_owned(),
        )
        .hint("ken --data DIR …")
    })?;
    std::path::absolute(&folder)
        .map_err(|error| Failure::new(Kind::Usage, format!("\"{}\": {error}", folder.display())))
}

/// Returns the folder of the user's settings of all programs.
pub(crate) fn config_home() -> Option<PathBuf> {
    xdg("XDG_CONFIG_HOME", ".config")
}

/// Returns the folder for what programs remember from one run to the next.
pub(crate) fn state_home() -> Option<PathBuf> {
    xdg("XDG_STATE_HOME", ".local/state")
}

/// Returns the user's folder for sockets and the like, which ends with the session.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(crate) fn runtime_folder() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    set.filter(|path| path.is_absolute() && path.is_dir())
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn xdg(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    // The specification says to ignore relative paths.
    set.filter(|path| path.is_absolute())
        .or_else(|| home().map(|home| home.join(below_home)))
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir()
        .filter(|home| home.is_absolute() && home != Path::new("/"))
        .or_else(std::env::home_dir)
}

/// Returns this program, for starting workers. The path is the link to the program that survives an upgrade, so that
/// parent and worker always have the same version.
pub(crate) fn worker_program() -> Result<PathBuf, Failure> {
    let link = PathBuf::from("/proc/self/exe");
    match fs_err::exists(&link) {
        Ok(true) => Ok(link),
        _ => std::env::current_exe().map_err(Failure::from),
    }
}

/// Returns a path of the settings, with `~/` replaced by the home folder.
pub(crate) fn below_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}
