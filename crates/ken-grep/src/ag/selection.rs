//! The selection of files that ag searches.

use std::path::PathBuf;
use std::sync::Arc;

use super::query::Names;
use super::rules::Rules;

/// The selection of files.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub struct Selection {
    /// Files and folders, in order.
    pub paths: Vec<PathBuf>,
    /// Whether names that begin with a dot are searched.
    pub hidden: bool,
    /// Whether links are followed.
    pub follow: bool,
    /// Whether subfolders are searched.
    pub recurse: bool,
    /// Maximum depth of folders; -1 for no limit.
    pub depth: i64,
    /// Whether other devices are left out.
    pub one_device: bool,
    /// Patterns that apply everywhere.
    pub rules: Arc<Rules>,
    /// Whether any rules apply.
    pub uses_rules: bool,
    /// Whether the ignore files of version control apply.
    pub vcs: bool,
    /// Only files with these names.
    pub names: Option<Names>,
    /// Only files and folders with such a path.
    pub folder_filter: Option<Names>,
    /// Device and inode of the file that output is written to.
    pub output: Option<(u64, u64)>,
}
