//! Ignore rules: ripgrep's, both for indexing and for `ken grep`.
//!
//! The crate `ignore` matches the patterns. Its own walk allocates a path and passes a queue for
//! every file and takes 1.15 times as long as `find`, where ken's takes 0.65 (80,000 files, one
//! thread, warm cache). ken therefore walks by itself and keeps only this chain: the rules of a
//! folder and a link to those of its parent. A folder without rules shares its parent's.
//! `tests/rules.rs` here and `tree/tests.rs` in ken-grep compare the outcome with the walk of
//! `ignore` on random trees.
//!
//! From highest to lowest precedence: `.kenignore` or `.rgignore`, `.ignore`, `.gitignore`,
//! `.git/info/exclude`, git's global file, files that the user named; within each, the nearest
//! folder first. Git's rules apply only inside a repository, and `.gitignore` only up to its top.

mod file;
mod git;
mod policy;

use std::cell::LazyCell;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, Glob};
use rustix::fs::AtFlags;
use rustix::io::Errno;

pub use file::{RuleError, text as ignore_file_text};
pub use git::{GitFolders, git_folders};
pub use policy::{OwnFile, Policy};

/// The rule files in a folder.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is one name
pub struct IgnoreFiles {
    kenignore: bool,
    rgignore: bool,
    ignore: bool,
    gitignore: bool,
    git: bool,
    jj: bool,
}

impl FolderRules {
    /// Returns whether the program's own ignore file has any pattern, here or above.
    pub fn has_own_patterns(&self) -> bool {
        self.has_own_patterns
    }
}

impl IgnoreFiles {
    /// Any of them may exist: for a folder that is not looked into.
    const MAYBE: Self = Self {
        kenignore: true,
        rgignore: true,
        ignore: true,
        gitignore: true,
        git: true,
        jj: true,
    };

    /// Asks an open folder, without a listing, which of the files that count it holds.
    pub fn look(folder: BorrowedFd<'_>, policy: &Policy) -> Self {
        let patterns = Self::MAYBE.names(policy).into_iter().flatten();
        let git = [".git", ".jj"].into_iter().filter(|_| policy.git);
        let mut found = Self::default();
        for name in patterns.chain(git) {
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            if stat.err() != Some(Errno::NOENT) {
                found.note(name.as_bytes());
            }
        }
        found
    }

    /// Returns whether the folder may be the top of a work tree of git.
    pub(crate) fn has_git(self) -> bool {
        self.git
    }

    /// Notes a name in the folder.
    pub(crate) fn note(&mut self, name: &[u8]) {
        match name {
            b".kenignore" => self.kenignore = true,
            b".rgignore" => self.rgignore = true,
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" => self.git = true,
            b".jj" => self.jj = true,
            _ => {}
        }
    }

    /// Returns whether the folder has a file of rules for searches only.
    pub(crate) fn has_rgignore(self) -> bool {
        self.rgignore
    }

    /// Returns whether a file of this name contains patterns that apply to the index.
    pub(crate) fn is_one(name: &[u8]) -> bool {
        let mut files = Self::default();
        files.note(name);
        files.names(&Policy::ALL).iter().any(Option::is_some)
    }

    /// Returns the names of the pattern files that exist and count: own file, `.ignore`,
    /// `.gitignore`.
    fn names(self, policy: &Policy) -> [Option<&'static str>; 3] {
        let has_own = match policy.own_file {
            OwnFile::Ken => self.kenignore,
            OwnFile::Ripgrep => self.rgignore,
        };
        let own = has_own.then(|| policy.own_file.name());
        [
            own.filter(|_| policy.dot_ignore),
            (policy.dot_ignore && self.ignore).then_some(".ignore"),
            (policy.git && self.gitignore).then_some(".gitignore"),
        ]
    }
}

/// The rules of a whole walk.
pub struct Rules {
    policy: Policy,
    global: Gitignore,
    named: Vec<Gitignore>,
}

/// A folder that a walk begins in.
pub struct WalkRoot {
    typed: PathBuf,
    /// Without symbolic links, if it was resolvable.
    absolute: Option<PathBuf>,
}

/// The rules that apply in a folder.
pub struct FolderRules {
    parent: Option<Arc<Self>>,
    /// Own file, `.ignore`, `.gitignore`, `.git/info/exclude`.
    files: [Gitignore; 4],
    is_repository: bool,
    /// Whether the folder is in a repository or the top of one.
    in_repository: bool,
    /// Whether the folder is above the root.
    is_above: bool,
    /// Whether there is any pattern, here or above.
    has_patterns: bool,
    /// Whether the program's own ignore file has any, here or above.
    has_own_patterns: bool,
}

/// Indexes of the files that apply outside of repositories, too.
const EVERYWHERE: [usize; 2] = [0, 1];
/// Indexes of the files that apply only in a repository.
const IN_REPOSITORY: [usize; 2] = [2, 3];

impl Rules {
    /// Reads git's global file, if one is given; its patterns apply below a folder.
    pub fn new(
        policy: Policy,
        global: Option<(&Path, &Path)>,
        errors: &mut Vec<RuleError>,
    ) -> Self {
        let global = global.map(|(folder, file)| file::read(folder, file, &policy, errors));
        Self {
            policy,
            global: global.unwrap_or_else(Gitignore::empty),
            named: Vec::new(),
        }
    }

    /// Adds patterns that the user named, with the lowest precedence; among them, the last match
    /// decides.
    #[must_use]
    pub fn with_named(self, named: Vec<Gitignore>) -> Self {
        Self { named, ..self }
    }

    /// Returns which ignore files count.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rules from the folders above a root.
    pub fn above(&self, root: &WalkRoot, errors: &mut Vec<RuleError>) -> Arc<FolderRules> {
        let mut rules = Arc::new(FolderRules::none());
        if self.policy.parents || self.policy.git {
            let absolute = root.absolute.as_deref();
            let folders: Vec<&Path> = absolute.into_iter().flat_map(Path::ancestors).collect();
            for folder in folders.into_iter().skip(1).rev() {
                rules = self.child(&rules, folder, IgnoreFiles::MAYBE, true, errors);
            }
        }
        rules
    }

    /// Returns the rules in a folder with these ignore files.
    pub fn below(
        &self,
        parent: &Arc<FolderRules>,
        folder: &Path,
        holds: IgnoreFiles,
        errors: &mut Vec<RuleError>,
    ) -> Arc<FolderRules> {
        self.child(parent, folder, holds, false, errors)
    }

    fn child(
        &self,
        parent: &Arc<FolderRules>,
        folder: &Path,
        holds: IgnoreFiles,
        is_above: bool,
        errors: &mut Vec<RuleError>,
    ) -> Arc<FolderRules> {
        let policy = &self.policy;
        let names = holds.names(policy);
        let has_git = policy.git && (holds.git || holds.jj);
        if !has_git && names == [None; 3] {
            return Arc::clone(parent);
        }
        let mut read = |name: Option<&str>| match name {
            Some(name) => file::read(folder, &folder.join(name), policy, errors),
            None => Gitignore::empty(),
        };
        let [own, ignore, gitignore] = names.map(&mut read);
        let exclude = match policy.git_exclude && policy.git && holds.git {
            true => git::exclude(folder, policy, errors),
            false => Gitignore::empty(),
        };
        let is_there = |name| fs_err::exists(folder.join(name)).unwrap_or(false);
        let is_repository = policy.git
            && policy.require_git
            && (holds.git && is_there(".git") || holds.jj && is_there(".jj"));
        let files = [own, ignore, gitignore, exclude];
        let has_patterns = files.iter().any(|patterns| !patterns.is_empty());
        if !has_patterns && !is_repository {
            return Arc::clone(parent);
        }
        Arc::new(FolderRules {
            has_own_patterns: parent.has_own_patterns || !files[0].is_empty(),
            files,
            is_repository,
            in_repository: parent.in_repository || is_repository,
            is_above,
            has_patterns: parent.has_patterns || has_patterns,
            parent: Some(Arc::clone(parent)),
        })
    }

    /// Returns the decision of a folder's rules on one of its entries.
    pub fn matched<'a>(
        &'a self,
        folder: &'a FolderRules,
        root: &WalkRoot,
        path: &Path,
        is_folder: bool,
    ) -> Match<&'a Glob> {
        if !folder.has_patterns && self.global.is_empty() && self.named.is_empty() {
            return Match::None;
        }
        let absolute = LazyCell::new(|| root.absolute(path));
        let ask = |node: &'a FolderRules, file: usize| {
            let patterns = &node.files[file];
            match node.is_above {
                _ if patterns.is_empty() => None,
                false => said(patterns.matched(path, is_folder)),
                true if !self.policy.parents => None,
                true => said(patterns.matched(absolute.as_deref()?, is_folder)),
            }
        };
        let in_git = !self.policy.require_git || folder.in_repository;
        let nearest = |file| folder.chain().find_map(|node| ask(node, file));
        let of_git = |file| folder.repository().find_map(|node| ask(node, file));
        EVERYWHERE
            .into_iter()
            .find_map(nearest)
            .or_else(|| {
                IN_REPOSITORY
                    .into_iter()
                    .filter(|_| in_git)
                    .find_map(of_git)
            })
            .or_else(|| said(self.global.matched(path, is_folder)).filter(|_| in_git))
            .or_else(|| {
                let mut named = self.named.iter().rev();
                named.find_map(|patterns| said(patterns.matched(path, is_folder)))
            })
            .unwrap_or(Match::None)
    }
}

fn said(found: Match<&Glob>) -> Option<Match<&Glob>> {
    (!found.is_none()).then_some(found)
}

impl FolderRules {
    fn none() -> Self {
        Self {
            parent: None,
            files: std::array::from_fn(|_| Gitignore::empty()),
            is_repository: false,
            in_repository: false,
            is_above: true,
            has_patterns: false,
            has_own_patterns: false,
        }
    }

    /// Returns the folder and its parents.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |node| node.parent.as_deref())
    }

    /// Returns the folder and its parents up to the top of the repository.
    fn repository(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |node| {
            let parent = node.parent.as_deref();
            parent.filter(|_| !node.is_repository)
        })
    }
}

impl WalkRoot {
    /// Creates a root from a typed path; the paths that the walk finds below it begin with the same
    /// bytes.
    pub fn typed(path: &Path) -> Self {
        Self {
            typed: path.to_path_buf(),
            absolute: fs_err::canonicalize(path).ok(),
        }
    }

    /// Creates a root from a path that is absolute and without symbolic links.
    pub(crate) fn resolved(path: &Path) -> Self {
        Self {
            typed: path.to_path_buf(),
            absolute: Some(path.to_path_buf()),
        }
    }

    /// Returns the folder as it was typed.
    pub fn path(&self) -> &Path {
        &self.typed
    }

    /// Returns the path with which patterns from above are matched.
    fn absolute<'p>(&self, path: &'p Path) -> Option<std::borrow::Cow<'p, Path>> {
        let absolute = self.absolute.as_deref()?;
        if self.typed == absolute {
            return Some(path.into());
        }
        if self.typed == Path::new(".") {
            return Some(absolute.join(path).into());
        }
        let typed = without_prefix(b"./", &self.typed);
        let rest = without_prefix(typed.as_os_str().as_encoded_bytes(), path);
        Some(absolute.join(without_prefix(b"/", rest)).into())
    }
}

/// Returns the path without a prefix, byte by byte as ripgrep removes it; the path itself if it
/// begins differently.
pub fn without_prefix<'a>(prefix: &[u8], path: &'a Path) -> &'a Path {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let rest = bytes.strip_prefix(prefix).unwrap_or(bytes);
    Path::new(std::ffi::OsStr::from_bytes(rest))
}
