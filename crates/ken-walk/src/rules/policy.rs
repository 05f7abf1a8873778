//! Which ignore files count: the difference between indexing and searching.

/// Which ignore files count in a walk, and how.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one choice
pub struct Policy {
    /// The program's own ignore file.
    pub own_file: OwnFile,
    /// The program's own file and `.ignore` count.
    pub dot_ignore: bool,
    /// `.gitignore` and all other files of git count.
    pub git: bool,
    /// `.git/info/exclude` counts.
    pub git_exclude: bool,
    /// Git's files count only inside repositories.
    pub require_git: bool,
    /// Ignore files in the folders above the root count.
    pub parents: bool,
    /// Patterns match in any case.
    pub any_case: bool,
}

/// The ignore file that takes precedence over all others in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFile {
    /// `.kenignore`, for indexing.
    Ken,
    /// `.rgignore`, for searching.
    Ripgrep,
}

impl OwnFile {
    /// Returns the name of the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ken => ".kenignore",
            Self::Ripgrep => ".rgignore",
        }
    }
}

impl Policy {
    /// All ignore files count: how ken indexes.
    pub const ALL: Self = Self {
        own_file: OwnFile::Ken,
        dot_ignore: true,
        git: true,
        git_exclude: true,
        require_git: true,
        parents: true,
        any_case: false,
    };

    /// No ignore file counts.
    pub const NONE: Self = Self {
        dot_ignore: false,
        git: false,
        git_exclude: false,
        parents: false,
        ..Self::ALL
    };

    /// Returns whether a folder may have rules of its own.
    pub fn reads_files(&self) -> bool {
        self.dot_ignore || self.git
    }
}
