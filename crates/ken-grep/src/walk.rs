//! Which files are searched: ripgrep's rules for hidden files, ignore files, globs and types.

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

/// How the files are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub key: SortKey,
    /// The other way round.
    pub reverse: bool,
}

/// What files are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Their path.
    Path,
    /// When they were last changed.
    Modified,
    /// When they were last read.
    Accessed,
    /// When they were made.
    Created,
}

/// One change of the table of file types, or one choice among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeChange {
    /// Forget the globs of a type.
    Clear(String),
    /// Add a glob to a type: `name:*.glob`.
    Add(String),
    /// Search files of this type.
    Select(String),
    /// Search no files of this type.
    Negate(String),
}

/// What is walked and what is left out.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct WalkOptions {
    /// Folders and files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The folder that globs and ignore files from elsewhere are relative to.
    pub working_folder: PathBuf,
    /// Take hidden files too.
    pub hidden: bool,
    /// Follow symbolic links.
    pub follow: bool,
    /// Stay on the file system of each path.
    pub one_file_system: bool,
    /// Folders below folders, at most.
    pub max_depth: Option<usize>,
    /// Leave out larger files.
    pub max_filesize: Option<u64>,
    /// Heed `.ignore` and `.rgignore`.
    pub dot_ignore: bool,
    /// Heed `.git/info/exclude`.
    pub git_exclude: bool,
    /// Heed git's global ignore file.
    pub git_global: bool,
    /// Heed `.gitignore` and all of git's.
    pub git: bool,
    /// Heed the ignore files of the folders above.
    pub parents: bool,
    /// Heed git's ignore files only inside repositories.
    pub require_git: bool,
    /// More ignore files; later ones have the last word.
    pub ignore_files: Vec<PathBuf>,
    /// Names in ignore files match in any case.
    pub ignore_case_insensitive: bool,
    /// Globs of what is searched, or with `!` of what is not; whether in any case.
    pub globs: Vec<(String, bool)>,
    /// Changes of file types and choices among them.
    pub types: Vec<TypeChange>,
    /// How the files are sorted.
    pub sort: Option<Sort>,
    /// Threads that walk and search; 0 stands for as many as the walker likes.
    pub threads: usize,
    /// Threads that may join them while they wait for a disk, in searches with an index.
    pub more_threads: usize,
    /// Device and inode of the file that the output goes to, which is left out.
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
    /// Returns whether the order asked for is that of the walk itself, which then needs no list.
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

/// Makes a matcher of globs; `!` before one says what is left out.
pub fn overrides(folder: &Path, globs: &[(String, bool)]) -> Result<Override, ignore::Error> {
    let mut builder = OverrideBuilder::new(folder);
    for (glob, any_case) in globs {
        builder.case_insensitive(*any_case)?;
        builder.add(glob)?;
    }
    builder.build()
}

/// Makes the table of file types.
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
