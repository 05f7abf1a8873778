//! What `ag`, the Silver Searcher, prints, byte for byte: its matching, its ignore rules, its output.
//!
//! ag searches a file as one piece of text, so that a match may have several lines; it has a regular
//! expression dialect, ignore rules and a printer of its own. None of them is like ripgrep's, which
//! [`crate::run`] follows, so that this is a second search: [`query`] finds matches in a text,
//! [`rules`] and [`walk`] choose the files, [`printer`] writes. It was measured against ag 2.2.0;
//! `docs/ag.md` lists what differs, and `cases/ag` what both print.
//!
//! Workers take folders and files from one stack. A worker writes the lines of a file into a buffer
//! of its own, and hands that on as a whole: with one worker, files come in the order of their names.

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
