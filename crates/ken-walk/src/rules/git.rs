//! Finds the `info/exclude` of a git repository.

use std::path::{Path, PathBuf};

use ignore::Error;
use ignore::gitignore::Gitignore;

use super::file::{self, RuleError};
use super::policy::Policy;

/// Reads the patterns in `info/exclude` of the repository whose top is this folder.
pub(super) fn exclude(folder: &Path, policy: &Policy, errors: &mut Vec<RuleError>) -> Gitignore {
    match common_folder(folder.join(".git")) {
        Ok(Some(common)) => file::read(folder, &common.join("info/exclude"), policy, errors),
        Ok(None) => Gitignore::empty(),
        Err(error) => {
            errors.push(error);
            Gitignore::empty()
        }
    }
}

/// Returns the folder that all work trees of a repository share; `None` if it cannot be determined.
///
/// In a linked work tree, `.git` is a file with the line `gitdir: …`, and that folder contains a
/// file `commondir` (gitrepository-layout(5)).
fn common_folder(git: PathBuf) -> Result<Option<PathBuf>, RuleError> {
    if git.is_dir() {
        return Ok(Some(git));
    }
    let line = first_line(&git)?;
    let linked = line
        .as_deref()
        .and_then(|line| line.strip_prefix("gitdir: "));
    let Some(linked) = linked.map(Path::new) else {
        return Ok(None);
    };
    let common = first_line(&linked.join("commondir"))?;
    Ok(common.map(|common| linked.join(common)))
}

fn first_line(path: &Path) -> Result<Option<String>, RuleError> {
    let text = file::text(path).map_err(|error| RuleError {
        path: path.to_path_buf(),
        // Not an I/O error, which `ken grep` ignores only where ripgrep does.
        error: Error::Glob {
            glob: None,
            err: error.to_string(),
        },
    })?;
    let text = text.and_then(|text| String::from_utf8(text).ok());
    Ok(text.and_then(|text| text.lines().next().map(str::to_owned)))
}
