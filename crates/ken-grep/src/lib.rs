//! Which lines of which files match a regular expression? The answer is exactly that of a scan of
//! the files, which an index only makes faster. The scan itself is ripgrep's: the crates `grep-*`
//! and `ignore`.
//!
//! Each part has a struct of options and builds one thing. [`pattern`] makes a matcher from what
//! was typed; [`walk`] selects the files to search, and [`prefilter`] those that an index rules
//! out; [`mod@format`] determines what is printed for a match. A [`worker`] combines them for one
//! file, and [`run`] runs workers on a tree. Nothing here prints or reads the environment: output
//! goes to a given writer, and problems go to an [`Observer`].
//!
//! [`ag`] is a separate search: that of the Silver Searcher.

pub mod ag;
pub mod conditions;
pub mod digest;
pub mod documents;
pub mod format;
pub mod input;
pub mod output;
pub mod pattern;
mod pieces;
pub mod prefilter;
mod rank;
pub mod ranked;
pub mod run;
mod tally;
mod tree;
pub mod walk;
pub mod worker;

/// Receives problems during a search.
pub trait Observer: Sync {
    /// A file or folder could not be searched.
    fn failed(&self, message: &str);
    /// A file of ignore rules has a mistake; its other rules apply.
    fn bad_rule(&self, message: &str);
}
