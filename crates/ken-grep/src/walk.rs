//! The selection of files: ripgrep's rules for hidden files, ignore files, globs and types.

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

/// The order of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The sort key.
    pub key: SortKey,
    /// Whether the order is reversed.
    pub reverse: bool,
}

/// A sort key of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// The path.
    Path,
    /// The time of the last change.
    Modified,
    /// The time of the last access.
    Accessed,
    /// The time of creation.
    Created,
}

/// A change of the table of file types, or a selection from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeChange {
    /// Clear the globs of a type.
    Clear(String),
    /// Add a glob to a type: `name:*.glob`.
    Add(String),
    /// Search files of this type.
    Select(String),
    /// Leave out files of this type.
    Negate(String),
}

/// The options of a walk.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct WalkOptions {
    /// Folders and files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The folder that globs and ignore files from elsewhere are relative to.
    pub working_folder: PathBuf,
    /// Include hidden files.
    pub hidden: bool,
    /// Follow symbolic links.
    pub follow: bool,
    /// Stay on the file system of each path.
    pub one_file_system: bool,
    /// Maximum depth of subfolders.
    pub max_depth: Option<usize>,
    /// Leave out larger files.
    pub max_filesize: Option<u64>,
    /// Respect `.ignore` and `.rgignore`.
    pub dot_ignore: bool,
    /// Respect `.git/info/exclude`.
    pub git_exclude: bool,
    /// Respect git's global ignore file.
    pub git_global: bool,
    /// Respect `.gitignore` and all of git's ignore files.
    pub git: bool,
    /// Respect ignore files in parent folders.
    pub parents: bool,
    /// Respect git's ignore files only inside repositories.
    pub require_git: bool,
    /// Further ignore files; later ones take precedence.
    pub ignore_files: Vec<PathBuf>,
    /// Match names in ignore files case-insensitively.
    pub ignore_case_insensitive: bool,
    /// Globs of files to search, or with `!` to leave out; each with whether it is
    /// case-insensitive.
    pub globs: Vec<(String, bool)>,
    /// Changes of file types and selections from them.
    pub types: Vec<TypeChange>,
    /// The order of the files.
    pub sort: Option<Sort>,
    /// Number of threads that walk and search; 0 leaves it to the walk.
    pub threads: usize,
    /// Number of threads that may join while the others wait for a disk, in searches with an index.
    pub more_threads: usize,
    /// Device and inode of the file that the output is written to, which is left out.
    pub skip_output: Option<(u64, u64)>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            working_folder: PathBuf::new(),
            hidden: false,
            follow: false,
            one_file_system: false,
            max_depth: None,
            max_filesize: None,
            dot_ignore: true,
            git_exclude: true,
            git_global: true,
            git: true,
            parents: true,
            require_git: true,
            ignore_files: Vec::new(),
            ignore_case_insensitive: false,
            globs: Vec::new(),
            types: Vec::new(),
            sort: None,
            threads: 0,
            more_threads: 0,
            skip_output: None,
        }
    }
}

impl WalkOptions {
    /// Returns whether the walk itself produces the requested order, so that no list is needed.
    pub(crate) fn sorted_by_walk(&self) -> bool {
        matches!(
            self.sort,
            Some(Sort {
                key: SortKey::Path,
                reverse: false
            })
        )
    }
}

/// Builds a matcher of globs; a glob with `!` leaves out files.
pub fn overrides(folder: &Path, globs: &[(String, bool)]) -> Result<Override, ignore::Error> {
    let mut builder = OverrideBuilder::new(folder);
    for (glob, any_case) in globs {
        builder.case_insensitive(*any_case)?;
        builder.add(glob)?;
    }
    builder.build()
}

/// Builds the table of file types.
pub fn types(changes: &[TypeChange]) -> Result<Types, ignore::Error> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for change in changes {
        match change {
            TypeChange::Clear(name) => _ = builder.clear(name),
            TypeChange::Add(definition) => builder.add_def(definition)?,
            TypeChange::Select(name) => _ = builder.select(name),
            TypeChange::Negate(name) => _ = builder.negate(name),
        }
    }
    builder.build()
}
