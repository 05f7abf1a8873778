//! What ripgrep's rules say of an entry: globs, ignore files, types, hidden names.
//!
//! The patterns are matched by the crate `ignore`; which of them hold where is told here, for a walk of
//! our own. Each folder with rules has a node with a link to that of its parent; a folder without shares
//! its parent's. From strongest to weakest: globs, `.rgignore`, `.ignore`, `.gitignore`,
//! `.git/info/exclude`, git's global file, files that were named; within each, the nearest folder
//! first. `tests.rs` compares the outcome with the walk of `ignore` on random trees.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};
use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{Error, Match};

use super::path::without_prefix;
use crate::walk::{self, WalkOptions};

/// The rules of a whole walk.
pub(super) struct Rules<'a> {
    options: &'a WalkOptions,
    globs: Override,
    types: Types,
    /// Files that the user named; the last one has the last word.
    named: Vec<Gitignore>,
    global: Gitignore,
}

/// The ignore files that hold in a folder.
pub(super) struct Node {
    parent: Option<Arc<Self>>,
    rgignore: Gitignore,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
    /// It lies above what is walked.
    is_above: bool,
    /// Whether it is so here or in any node above.
    in_repository: bool,
    has_patterns: bool,
    has_patterns_above: bool,
}

/// A folder that the user named.
pub(super) struct Root {
    pub(super) typed: PathBuf,
    /// Without symbolic links, if it could be resolved.
    absolute: Option<PathBuf>,
}

/// Which files that make rules a folder holds.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    rgignore: bool,
    ignore: bool,
    gitignore: bool,
    git: bool,
    jj: bool,
}

impl Found {
    /// Any of them may be there.
    pub(super) const MAYBE: Self = Self {
        rgignore: true,
        ignore: true,
        gitignore: true,
        git: true,
        jj: true,
    };

    /// Takes note of a name in the folder.
    pub(super) fn note(&mut self, name: &[u8]) {
        match name {
            b".rgignore" => self.rgignore = true,
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" => self.git = true,
            b".jj" => self.jj = true,
            _ => {}
        }
    }

    fn any(self) -> bool {
        self.rgignore || self.ignore || self.gitignore || self.git || self.jj
    }
}

impl<'a> Rules<'a> {
    /// Reads what holds everywhere. What is wrong in files that the user named is told elsewhere.
    pub(super) fn new(options: &'a WalkOptions) -> Result<Self, Error> {
        let here = &options.working_folder;
        let named = options.ignore_files.iter().filter_map(|file| {
            let mut builder = GitignoreBuilder::new(here);
            builder.add(file);
            builder.build().ok()
        });
        let mut global = Gitignore::empty();
        if options.git && options.git_global {
            let mut builder = GitignoreBuilder::new(here);
            builder.case_insensitive(options.ignore_case_insensitive)?;
            global = builder.build_global().0;
        }
        Ok(Self {
            options,
            globs: walk::overrides(here, &options.globs)?,
            types: walk::types(&options.types)?,
            named: named.collect(),
            global,
        })
    }

    /// Returns whether no folder may have rules of its own.
    pub(super) fn need_no_files(&self) -> bool {
        !self.options.dot_ignore && !self.options.git
    }

    /// Returns a folder that the user named and the rules that come from above it.
    pub(super) fn root(&self, typed: &Path, errors: &mut Vec<Error>) -> (Root, Arc<Node>) {
        let mut node = Arc::new(Node::top());
        let absolute = fs_err::canonicalize(typed).ok();
        let options = self.options;
        if options.parents || options.git {
            let folders: Vec<&Path> = absolute.iter().flat_map(|path| path.ancestors()).collect();
            for folder in folders.into_iter().skip(1).rev() {
                node = self.child(&node, folder, Found::MAYBE, true, errors);
            }
        }
        let typed = typed.to_path_buf();
        (Root { typed, absolute }, node)
    }

    /// Returns the rules that hold in a folder whose parent's rules these are.
    pub(super) fn below(
        &self,
        parent: &Arc<Node>,
        folder: &Path,
        found: Found,
        errors: &mut Vec<Error>,
    ) -> Arc<Node> {
        self.child(parent, folder, found, false, errors)
    }

    fn child(
        &self,
        parent: &Arc<Node>,
        folder: &Path,
        found: Found,
        is_above: bool,
        errors: &mut Vec<Error>,
    ) -> Arc<Node> {
        if !found.any() {
            return Arc::clone(parent);
        }
        let options = self.options;
        let git_exclude = options.git && options.git_exclude;
        let asks_git = options.require_git && options.git;
        let git = folder.join(".git");
        let git_is_file = match found.git && (asks_git || git_exclude) {
            true => is_file(&git),
            false => None,
        };
        let has_jj = || found.jj && fs_err::exists(folder.join(".jj")).unwrap_or(false);
        let mut patterns = |is_there: bool, within: &Path, name: &str| match is_there {
            true => self.read(folder, &within.join(name), errors),
            false => Gitignore::empty(),
        };
        let dot = options.dot_ignore;
        let rgignore = patterns(dot && found.rgignore, folder, ".rgignore");
        let ignore = patterns(dot && found.ignore, folder, ".ignore");
        let gitignore = patterns(options.git && found.gitignore, folder, ".gitignore");
        let exclude = match git_exclude && found.git {
            true => match common_folder(git, git_is_file == Some(true)) {
                Ok(Some(common)) => patterns(true, &common, "info/exclude"),
                Ok(None) => Gitignore::empty(),
                Err(error) => {
                    errors.push(error);
                    Gitignore::empty()
                }
            },
            false => Gitignore::empty(),
        };
        let is_repository = asks_git && (git_is_file.is_some() || has_jj());
        let own = [&rgignore, &ignore, &gitignore, &exclude];
        let has_own = own.iter().any(|patterns| !patterns.is_empty());
        if !has_own && !is_repository {
            return Arc::clone(parent);
        }
        Arc::new(Node {
            is_repository,
            is_above,
            in_repository: parent.in_repository || is_repository,
            has_patterns: parent.has_patterns || has_own,
            has_patterns_above: parent.has_patterns_above || is_above && has_own,
            parent: Some(Arc::clone(parent)),
            rgignore,
            ignore,
            gitignore,
            exclude,
        })
    }

    /// Reads the patterns of a file, which hold below the folder. What cannot be read has none.
    fn read(&self, folder: &Path, file: &Path, errors: &mut Vec<Error>) -> Gitignore {
        if !fs_err::exists(file).unwrap_or(false) {
            return Gitignore::empty();
        }
        let mut builder = GitignoreBuilder::new(folder);
        // It fails only with a glob that was added before.
        let _ = builder.case_insensitive(self.options.ignore_case_insensitive);
        errors.extend(builder.add(file).filter(|error| !error.is_io()));
        builder.build().unwrap_or_else(|error| {
            errors.push(error);
            Gitignore::empty()
        })
    }

    /// Returns whether an entry of a folder is walked.
    pub(super) fn admit(&self, root: &Root, node: &Node, path: &Path, is_folder: bool) -> bool {
        let path = without_prefix(b"./", path).unwrap_or(path);
        if !self.globs.is_empty() {
            match self.globs.matched(path, is_folder) {
                Match::None => {}
                matched => return matched.is_whitelist(),
            }
        }
        let mut is_wanted = match self.of_files(root, node, path, is_folder) {
            Match::Ignore(()) => return false,
            matched => matched.is_whitelist(),
        };
        if !self.types.is_empty() {
            match self.types.matched(path, is_folder) {
                Match::Ignore(_) => return false,
                matched => is_wanted |= matched.is_whitelist(),
            }
        }
        is_wanted || self.options.hidden || !is_hidden(path)
    }

    /// Returns what the ignore files say.
    fn of_files(&self, root: &Root, node: &Node, path: &Path, is_folder: bool) -> Match<()> {
        if !node.has_patterns && self.named.is_empty() && self.global.is_empty() {
            return Match::None;
        }
        let in_git = !self.options.require_git || node.in_repository;
        let mut found = Strongest::default();
        let mut is_beyond = !in_git;
        let below = node.chain().take_while(|node| !node.is_above);
        below.for_each(|node| found.ask(node, path, is_folder, &mut is_beyond));
        if self.options.parents
            && node.has_patterns_above
            && let Some(path) = root.absolute(path)
        {
            let above = node.chain().skip_while(|node| !node.is_above);
            above.for_each(|node| found.ask(node, &path, is_folder, &mut is_beyond));
        }
        let named = self.named.iter().rev();
        let mut named = named.map(|patterns| kind(patterns.matched(path, is_folder)));
        let named = named.find(|matched| !matched.is_none());
        let global = match in_git {
            true => kind(self.global.matched(path, is_folder)),
            false => Match::None,
        };
        found.first().or(global).or(named.unwrap_or(Match::None))
    }
}

/// What the nearest folder says, for each sort of ignore file.
struct Strongest([Match<()>; 4]);

impl Default for Strongest {
    fn default() -> Self {
        Self([Match::None, Match::None, Match::None, Match::None])
    }
}

impl Strongest {
    /// Asks a folder; git's files only up to the top of the repository.
    fn ask(&mut self, node: &Node, path: &Path, is_folder: bool, is_beyond: &mut bool) {
        let sorts = [&node.rgignore, &node.ignore, &node.gitignore, &node.exclude];
        for (number, (found, patterns)) in self.0.iter_mut().zip(sorts).enumerate() {
            let is_git = number >= 2;
            if found.is_none() && !(is_git && *is_beyond) {
                *found = kind(patterns.matched(path, is_folder));
            }
        }
        *is_beyond |= node.is_repository;
    }

    fn first(self) -> Match<()> {
        let mut all = self.0.into_iter();
        let first = all.find(|matched| !matched.is_none());
        first.unwrap_or(Match::None)
    }
}

fn kind(matched: Match<&Glob>) -> Match<()> {
    matched.map(|_| ())
}

impl Node {
    fn top() -> Self {
        Self {
            parent: None,
            rgignore: Gitignore::empty(),
            ignore: Gitignore::empty(),
            gitignore: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_repository: false,
            is_above: true,
            in_repository: false,
            has_patterns: false,
            has_patterns_above: false,
        }
    }

    /// Goes through the folder and its parents.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |node| node.parent.as_deref())
    }
}

impl Root {
    /// Returns the path that patterns from above are matched with: that of the walk behind the resolved
    /// one of the folder that was typed.
    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let absolute = self.absolute.as_ref()?;
        if self.typed == Path::new(".") {
            return Some(absolute.join(path));
        }
        let typed = without_prefix(b"./", &self.typed).unwrap_or(&self.typed);
        let prefix = typed.as_os_str().as_encoded_bytes();
        let rest = without_prefix(prefix, path).unwrap_or(path);
        Some(absolute.join(without_prefix(b"/", rest).unwrap_or(rest)))
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns whether something is a file; none if it is not there.
fn is_file(path: &Path) -> Option<bool> {
    Some(fs_err::metadata(path).ok()?.is_file())
}

/// Returns where a repository keeps `info/exclude`; none if that cannot be told.
///
/// In a linked work tree `.git` is a file with the line `gitdir: …`, and the folder it names holds
/// a file `commondir` (gitrepository-layout(5)).
fn common_folder(git: PathBuf, is_file: bool) -> Result<Option<PathBuf>, Error> {
    if !is_file {
        return Ok(Some(git));
    }
    let named = |path: &Path, error: io::Error| Error::WithPath {
        path: path.to_path_buf(),
        err: Box::new(Error::Io(error)),
    };
    let line = open(&git).and_then(first_line);
    let line = line.map_err(|error| named(&git, error))?;
    let linked = line
        .as_deref()
        .and_then(|line| line.strip_prefix("gitdir: "));
    let Some(linked) = linked.map(Path::new) else {
        return Ok(None);
    };
    let pointer = linked.join("commondir");
    let Ok(file) = open(&pointer) else {
        return Ok(None);
    };
    let common = first_line(file).map_err(|error| named(&pointer, error))?;
    Ok(common.map(|common| match common.starts_with('.') {
        true => linked.join(common),
        false => PathBuf::from(common),
    }))
}

#[allow(clippy::disallowed_methods)] // the error names the path as ripgrep does
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn first_line(file: File) -> io::Result<Option<String>> {
    BufReader::new(file).lines().next().transpose()
}
