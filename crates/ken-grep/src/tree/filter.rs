//! Decides which entries are walked: by ripgrep's globs, ignore files, file types and hidden names,
//! in this order.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{GitignoreBuilder, gitconfig_excludes_path};
use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{Error, Match};
use ken_walk::{
    FolderRules, IgnoreFiles, OwnFile, Policy, RuleError, Rules, WalkRoot, without_prefix,
};

use crate::Observer;
use crate::walk::{self, WalkOptions};

/// Rules that apply to a whole walk.
pub(super) struct Filter {
    rules: Rules,
    globs: Override,
    types: Types,
    hidden: bool,
}

impl Filter {
    /// Reads the ignore files that the user named, and git's global one.
    pub(super) fn new(options: &WalkOptions, observer: &dyn Observer) -> Result<Self, Error> {
        let here = &options.working_folder;
        let named = options.ignore_files.iter().filter_map(|file| {
            let mut builder = GitignoreBuilder::new(here);
            let wrong = builder.add(file);
            let patterns = builder.build();
            for error in wrong.iter().chain(patterns.as_ref().err()) {
                observer.bad_rule(&error.to_string());
            }
            patterns.ok()
        });
        let named = named.collect();
        let asks_global = options.git && options.git_global;
        let global = gitconfig_excludes_path().filter(|_| asks_global);
        let global = global.as_deref().map(|file| (here.as_path(), file));
        // ripgrep does not report mistakes in git's global file.
        let rules = Rules::new(policy(options), global, &mut Vec::new());
        Ok(Self {
            rules: rules.with_named(named),
            globs: walk::overrides(here, &options.globs)?,
            types: walk::types(&options.types)?,
            hidden: options.hidden,
        })
    }

    /// Returns which ignore files an open folder holds that is not listed.
    pub(super) fn ignore_files(&self, folder: BorrowedFd<'_>) -> IgnoreFiles {
        IgnoreFiles::look(folder, self.rules.policy())
    }

    /// Returns the rules from the parents of a folder that the user named.
    pub(super) fn above(&self, root: &WalkRoot, observer: &dyn Observer) -> Arc<FolderRules> {
        let mut errors = Vec::new();
        let rules = self.rules.above(root, &mut errors);
        if let Some(message) = joined(&errors) {
            observer.failed(&message);
        }
        rules
    }

    /// Returns the rules in a folder with these ignore files.
    pub(super) fn below(
        &self,
        parent: &Arc<FolderRules>,
        folder: &Path,
        holds: IgnoreFiles,
        observer: &dyn Observer,
    ) -> Arc<FolderRules> {
        let mut errors = Vec::new();
        let rules = self.rules.below(parent, folder, holds, &mut errors);
        if let Some(message) = joined(&errors) {
            observer.bad_rule(&message);
        }
        rules
    }

    /// Returns whether an entry of a folder is walked.
    pub(super) fn admits(
        &self,
        root: &WalkRoot,
        rules: &FolderRules,
        path: &Path,
        is_folder: bool,
    ) -> bool {
        let path = without_prefix(b"./", path);
        if !self.globs.is_empty() {
            match self.globs.matched(path, is_folder) {
                Match::None => {}
                matched => return matched.is_whitelist() || left_out(path, &matched),
            }
        }
        let matched = self.rules.matched(rules, root, path, is_folder);
        if matched.is_ignore() {
            return left_out(path, &matched);
        }
        let mut is_wanted = matched.is_whitelist();
        if !self.types.is_empty() {
            let matched = self.types.matched(path, is_folder);
            if matched.is_ignore() {
                return left_out(path, &matched);
            }
            is_wanted |= matched.is_whitelist();
        }
        is_wanted || self.hidden || !is_hidden(path) || left_out(path, &"hidden")
    }
}

fn policy(options: &WalkOptions) -> Policy {
    Policy {
        own_file: OwnFile::Ripgrep,
        dot_ignore: options.dot_ignore,
        git: options.git,
        git_exclude: options.git_exclude,
        require_git: options.require_git,
        parents: options.parents,
        any_case: options.ignore_case_insensitive,
    }
}

/// Logs why an entry is left out; returns false, since it is not walked.
fn left_out(path: &Path, why: &dyn std::fmt::Debug) -> bool {
    log::debug!("ignoring {}: {why:?}", path.display());
    false
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns the mistakes in ignore files; files that cannot be read are skipped silently.
fn joined(errors: &[RuleError]) -> Option<String> {
    let errors = errors.iter().filter(|wrong| !wrong.error.is_io());
    let messages: Vec<_> = errors.map(|wrong| wrong.error.to_string()).collect();
    (!messages.is_empty()).then(|| messages.join("\n"))
}
