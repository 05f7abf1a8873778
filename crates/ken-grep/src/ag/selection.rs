//! Which files ag searches.

use std::path::PathBuf;
use std::sync::Arc;

use super::query::Names;
use super::rules::Rules;

/// Which files are searched.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub struct Selection {
    /// Files and folders, in order.
    pub paths: Vec<PathBuf>,
    /// Names that begin with a dot.
    pub hidden: bool,
    /// Links are followed.
    pub follow: bool,
    /// Folders below are searched.
    pub recurse: bool,
    /// How many folders deep; any if it is -1.
    pub depth: i64,
    /// Other devices are left out.
    pub one_device: bool,
    /// Patterns that hold everywhere.
    pub rules: Arc<Rules>,
    /// Whether rules count at all.
    pub uses_rules: bool,
    /// Whether the ignore files of version control count.
    pub vcs: bool,
    /// Only files of these names.
    pub names: Option<Names>,
    /// Only files and folders with such a path.
    pub folder_filter: Option<Names>,
    /// Device and inode of the file that output goes to.
    pub output: Option<(u64, u64)>,
}
