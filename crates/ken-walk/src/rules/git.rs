//! Finds the folders of a git repository, and its `info/exclude`.

use std::path::{Path, PathBuf};

use ignore::Error;
use ignore::gitignore::Gitignore;

use super::file::{self, RuleError};
use super::policy::Policy;

/// Reads the patterns in `info/exclude` of the repository whose top is this folder.
pub(super) fn exclude(folder: &Path, policy: &Policy, errors: &mut Vec<RuleError>) -> Gitignore {
    match common_folder(&folder.join(".git")) {
        Ok(Some(common)) => file::read(folder, &common.join("info/exclude"), policy, errors),
        Ok(None) => Gitignore::empty(),
        Err(error) => {
            errors.push(error);
            Gitignore::empty()
        }
    }
}

/// The folders of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolders {
    /// The folder of one work tree, which has its index.
    pub own: PathBuf,
    /// The folder that all work trees share, which has `info/exclude`; none if it cannot be determined.
    pub common: Option<PathBuf>,
}

/// Returns the folders of the repository of which this folder is a work tree; none if it is not the top of one.
pub fn git_folders(top: &Path) -> Option<GitFolders> {
    folders(&top.join(".git")).ok().flatten()
}

/// Returns the folder that all work trees of a repository share; `None` if it cannot be determined.
fn common_folder(git: &Path) -> Result<Option<PathBuf>, RuleError> {
    Ok(folders(git)?.and_then(|folders| folders.common))
}

/// In a linked work tree, `.git` is a file with the line `gitdir: …`, and that folder contains a
/// file `commondir` (gitrepository-layout(5)).
fn folders(git: &Path) -> Result<Option<GitFolders>, RuleError> {
    if git.is_dir() {
        let (own, common) = (git.to_path_buf(), Some(git.to_path_buf()));
        return Ok(Some(GitFolders { own, common }));
    }
    let line = first_line(git)?;
    let linked = line
        .as_deref()
        .and_then(|line| line.strip_prefix("gitdir: "));
    let Some(linked) = linked.map(Path::new) else {
        return Ok(None);
    };
    let common = first_line(&linked.join("commondir"))?;
    Ok(Some(GitFolders {
        // A submodule names it relative to its top.
        own: git.parent().unwrap_or(git).join(linked),
        common: common.map(|common| linked.join(common)),
    }))
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
