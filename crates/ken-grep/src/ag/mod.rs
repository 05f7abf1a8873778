//! Prints what `ag`, the Silver Searcher, prints, byte for byte: its matching, its ignore rules,
//! its output.
//!
//! ag searches a file as one text, so that a match may span lines; it has its own regular
//! expression dialect, ignore rules and printer. None of them is like those of ripgrep, which
//! [`crate::run`] follows, so this is a second search: [`query`] finds matches in a text, [`rules`]
//! and [`walk`] choose the files, [`printer`] writes. The reference is ag 2.2.0; `docs/ag.md` lists
//! the differences, and `cases/ag` what both print.
//!
//! Workers take folders and files from one stack. A worker writes the lines of a file into its own
//! buffer, and passes that on as a whole. With one worker, files come in the order of their names.

mod binary;
mod dialect;
mod error;
mod file;
mod fnmatch;
mod invert;
mod pcre;
mod printer;
pub mod query;
mod report;
pub mod rules;
mod run;
mod selection;
mod types;
mod walk;

pub use dialect::is_regex;
pub use error::Error;
pub use printer::{Colors, Display, Paths};
pub use query::{Case, Names, Pattern, Query};
pub use report::{Level, Report};
pub use run::{Outcome, Settings, Stats, search, search_stream};
pub use selection::Selection;
pub use types::{FILE_TYPES, FileType};
