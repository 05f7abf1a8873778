//! Which folders a server vouches for, so that a search by pattern needs no look at each file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ken_api::message::{Vouch, Vouched};
use ken_core::BytesPath;

use super::Server;

/// Number of exceptions with which something is vouched for.
const MAX_EXCEPT: usize = 1_000;

impl Server {
    /// Returns whether the index has all files below some paths as they are, with exceptions.
    pub(super) fn vouch(&self, vouch: &Vouch) -> Vouched {
        let no = |why: &str| Vouched {
            why: Some(why.to_owned()),
            ..Vouched::default()
        };
        if self.options.engine.is_some() {
            return no("the index is in a cluster");
        }
        if !self.is_complete {
            return no("everything is being compared");
        }
        let paths = || vouch.paths.iter().map(|BytesPath(path)| path);
        if !paths().all(|path| self.watcher.is_complete_below(path)) {
            return no("some folders are not watched");
        }
        let global = vouch.global_ignore.as_ref().map(|BytesPath(path)| path);
        let own = self.options.global_ignore.as_ref();
        // A search names only one that exists.
        if global != own.filter(|path| path.is_file()) {
            return no("git has another global ignore file now");
        }
        // Rules for searches only, in the folders above.
        let has_rules = |folder: &Path| fs_err::exists(folder.join(".rgignore")).unwrap_or(true);
        if paths().any(|path| path.ancestors().skip(1).any(has_rules)) {
            return no("a folder above has an .rgignore");
        }
        let left_out = self.watcher.left_out();
        let changed = self.undone.paths().chain(self.schedule.held());
        let except: BTreeSet<&Path> = changed
            .chain(left_out.iter().map(PathBuf::as_path))
            .filter(|except| {
                paths().any(|path| except.starts_with(path) || path.starts_with(except))
            })
            .collect();
        if except.len() > MAX_EXCEPT {
            return no("too much is changing, or left out of the index only");
        }
        let except = except.into_iter().map(|path| BytesPath(path.to_path_buf()));
        Vouched {
            is_vouched: true,
            except: except.collect(),
            why: None,
        }
    }
}
