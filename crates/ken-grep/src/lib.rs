//! Which lines of which files match a regular expression: exactly what a scan of the files says.
//!
//! The parts, each a struct of options and what it builds: [`pattern`] makes a matcher of what
//! was typed, [`walk`] says which files are searched, [`prefilter`] which of them an index rules
//! out, [`mod@format`] what is printed of a match; a [`worker`] puts them together for one file, and
//! [`run`] lets workers loose on a tree. The scan itself is ripgrep's: the crates `grep-*` and
//! `ignore`. Nothing here prints or reads the environment: output goes to a writer that is handed
//! in, complaints to an [`Observer`].
//!
//! [`ag`] is another search beside it: the one of the Silver Searcher.

pub mod ag;
pub mod conditions;
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

/// Who is told what goes wrong while the search goes on.
pub trait Observer: Sync {
    /// A file or folder could not be searched.
    fn failed(&self, message: &str);
    /// Something is wrong in a file of ignore rules; the rest of its rules hold.
    fn bad_rule(&self, message: &str);
}
