//! Which entries of a folder does a walk take, by their names alone?
//!
//! The walk asks for each entry that it lists. An observer of folders keeps the [`Gate`] of each folder, and asks for
//! names that it hears of later.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::Glob;
use ken_core::{Root, escape_bytes};

use crate::markers::is_marker;
use crate::options::Skip;
use crate::rules::{FolderRules, IgnoreFiles, OwnFile, Rules, WalkRoot};
use crate::sidecar::is_sidecar;
use crate::stops::Stops;

/// Names of entries that decide what a walk takes below their folder, even if that is above a root.
pub const RULE_NAMES: [&str; 5] = [".kenignore", ".ignore", ".gitignore", ".git", ".jj"];

/// The rules that apply to a whole root.
pub(crate) struct RootRules {
    pub(crate) rules: Rules,
    pub(crate) walk_root: WalkRoot,
    pub(crate) root: Root,
}

/// Observes the folders of a walk; called from all its threads.
pub trait OnFolders: Sync {
    /// Called before a folder is listed. A remote folder is not listed and nothing below it is walked, since its file
    /// system may not answer.
    fn entering(&self, folder: &Path, is_remote: bool);
    /// Called when a folder is listed, unless a marker in it ends the walk there.
    fn entered(&self, folder: &Path, gate: Gate);
    /// Called with a file or folder that the index leaves out and a search of files may not: rules of `.kenignore`,
    /// markers, undelivered mail, and folders that have rules for searches only (`.rgignore`).
    fn left_out(&self, path: &Path) {
        let _ = path;
    }
}

/// Decides which entries of a folder a walk takes, as long as no file of rules and no marker changes.
#[derive(Clone)]
pub struct Gate {
    pub(crate) of_root: Arc<RootRules>,
    pub(crate) rules: Arc<FolderRules>,
    pub(crate) stops: Option<Arc<Stops>>,
    pub(crate) is_maildir: bool,
    pub(crate) has_git: bool,
}

impl Gate {
    /// Returns whether the folder may be the top of a work tree of git.
    pub fn has_git(&self) -> bool {
        self.has_git
    }

    /// Returns whether the folder has `cur` and `new`, so that hidden folders in it may be mail folders.
    pub fn is_maildir(&self) -> bool {
        self.is_maildir
    }

    /// Returns whether the index leaves out an entry that a search of files may take.
    pub fn leaves_out(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let refusal = self.names().refusal(path, name, is_folder, || false);
        refusal.is_some_and(|refusal| refusal.is_own())
    }

    fn names(&self) -> Names<'_> {
        Names {
            of_root: &self.of_root,
            rules: &self.rules,
            stops: self.stops.as_deref(),
            is_maildir: self.is_maildir,
        }
    }

    /// Returns whether a walk looks at the entry at a path, which need not exist: it takes the entry, or reads it with
    /// another file. A hidden folder in a Maildir counts, since it may be a mail folder.
    pub fn admits(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let names = self.names();
        let may_be_mail = || self.is_maildir && !is_version_store(name);
        let is_read = !is_folder && is_sidecar(name);
        is_read || names.refusal(path, name, is_folder, may_be_mail).is_none()
    }
}

/// Returns whether an entry of this name decides what a search of files takes of its folder, and not what the index does.
pub fn steers_searches(name: &[u8]) -> bool {
    name == b".rgignore"
}

/// Returns whether an entry of this name decides what a walk takes of its folder: a file of rules, a marker, the store
/// of a version control system, or a folder that makes a Maildir.
pub fn steers(name: &[u8], is_folder: bool) -> bool {
    let is_rule = is_marker(name) || IgnoreFiles::is_one(name);
    is_rule || matches!(name, b".git" | b".jj") || is_folder && matches!(name, b"cur" | b"new")
}

/// What decides on the names in a folder.
pub(crate) struct Names<'g> {
    pub(crate) of_root: &'g RootRules,
    pub(crate) rules: &'g FolderRules,
    /// The stops, if any is in the folder.
    pub(crate) stops: Option<&'g Stops>,
    pub(crate) is_maildir: bool,
}

/// Why a walk does not take an entry.
pub(crate) enum Refusal<'g> {
    Undelivered,
    Loose,
    Hidden,
    /// The store of a version control system that a pattern brings in.
    Store,
    Stop(&'g Skip),
    Ignored(&'g Glob),
}

impl<'g> Names<'g> {
    /// Returns why the rules do not admit an entry, if they do not.
    pub(crate) fn refusal(
        &self,
        path: &'g Path,
        name: &[u8],
        is_folder: bool,
        is_mail_folder: impl Fn() -> bool,
    ) -> Option<Refusal<'g>> {
        let root = &self.of_root.root;
        if is_folder && self.is_maildir && name == b"tmp" {
            return Some(Refusal::Undelivered);
        }
        if !is_folder && self.is_maildir && root.strict_maildirs {
            return Some(Refusal::Loose);
        }
        if let Some(reason) = self.stops.and_then(|stops| stops.reason(path)) {
            return Some(Refusal::Stop(reason));
        }
        let walk_root = &self.of_root.walk_root;
        let rules = &self.of_root.rules;
        let is_hidden = || !(root.hidden || is_folder && is_mail_folder());
        match rules.matched(self.rules, walk_root, path, is_folder) {
            // `!/*/` means the folders of a project, not the store of its versions.
            Match::Whitelist(_) if is_version_store(name) && is_hidden() => Some(Refusal::Store),
            Match::None if name.starts_with(b".") && is_hidden() => Some(Refusal::Hidden),
            Match::Whitelist(_) | Match::None => None,
            Match::Ignore(glob) => Some(Refusal::Ignored(glob)),
        }
    }
}

impl Refusal<'_> {
    /// Returns whether a search of files may take the entry all the same.
    pub(crate) fn is_own(&self) -> bool {
        match self {
            Self::Hidden => false,
            Self::Store => true,
            Self::Undelivered | Self::Loose => true,
            // Another root has its own gates.
            Self::Stop(reason) => **reason != Skip::Root,
            Self::Ignored(glob) => glob
                .from()
                .is_some_and(|file| file.ends_with(OwnFile::Ken.name())),
        }
    }

    /// Returns the reason for people.
    pub(crate) fn skip(&self) -> Skip {
        match self {
            Self::Undelivered => Skip::Undelivered,
            Self::Loose => Skip::Loose,
            Self::Hidden | Self::Store => Skip::Hidden,
            Self::Stop(reason) => (*reason).clone(),
            Self::Ignored(glob) => Skip::Ignored {
                file: glob.from().map(for_people).unwrap_or_default(),
                pattern: glob.original().to_owned(),
            },
        }
    }
}

fn for_people(path: &Path) -> String {
    escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// Returns whether a name is that of the store of a version control system.
fn is_version_store(name: &[u8]) -> bool {
    matches!(name, b".git" | b".hg" | b".svn" | b".bzr" | b".jj")
}
