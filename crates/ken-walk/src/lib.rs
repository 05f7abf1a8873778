//! Which files exist below the roots, and which of them changed since the last run? [`walk`] walks
//! the [`ken_core::Root`]s with ripgrep's ignore rules and reports each regular file with its
//! stamp. [`changes`] compares the files with the [`Catalogue`], which holds what the index knows,
//! and passes on the differences.
//!
//! Only folders and ignore files are opened. Nothing is written, except the listings of folders if
//! there is a [`Recorder`].

mod catalogue;
mod compare;
mod dependents;
mod error;
mod explain;
mod file_system;
mod folder;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod gate;
mod lineage;
mod listing;
mod listings;
mod markers;
mod mh;
#[cfg(test)]
#[path = "../../ken/tests/e2e/needs.rs"]
mod needs;
mod open;
mod options;
mod permissions;
mod queue;
pub mod remote;
mod roots;
mod rules;
mod settle;
mod shared;
mod sidecar;
mod stamp;
mod stops;
mod walk;

pub use catalogue::Catalogue;
pub use compare::{Comparison, IsReclassified, Summary, changes, changes_of};
pub use dependents::dependents;
pub use error::WalkError;
pub use explain::{Verdict, explain};
pub use file_system::FileSystems;
pub use gate::{Gate, OnFolders, RULE_NAMES, steers, steers_searches};
pub use ken_core::covering;
pub use lineage::Lineage;
pub use listing::{Entry, EntryOrder, Listing};
pub use listings::{KeptListing, Listings, Recorder};
pub use mh::mh_state;
pub use open::{open, open_file, open_named, open_settled};
pub use options::{OnFile, OnSkip, Progress, Skip, Visitor, WalkOptions, WalkSummary};
pub use permissions::Permissions;
pub use queue::{Queue, Turn};
pub use remote::{Fetched, Mounts, answers, fetch, silent_entries};
pub use roots::{Availability, availability, is_mount_point, root_at};
pub use rules::{
    FolderRules, GitFolders, IgnoreFiles, OwnFile, Policy, RuleError, Rules, WalkRoot, git_folders,
    ignore_file_text, without_prefix,
};
pub use settle::{Settled, settle};
pub use sidecar::{Sidecar, sidecar_beside, sidecar_names, sidecar_stamp};
pub use stamp::{file_stamp, stamp_of};
pub use walk::{walk, walk_folders};
