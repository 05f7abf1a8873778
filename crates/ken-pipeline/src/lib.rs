//! How is an index brought and kept up to date with the files below its roots? [`update`] does it
//! in one run, [`updater::Updater`] continuously as changes come.
//!
//! Both have the same stages: prepare, walk and extract, commit. The walk passes each change to a
//! pool of threads that extract; a large container spreads its members over idle threads; segments
//! are built by the same threads or by threads of their own. Queues are bounded in bytes, so memory
//! is bounded whatever the input.

mod access;
pub mod background;
mod budget;
mod check;
mod copy;
mod error;
mod extract;
mod guest;
mod lock;
mod mailbox;
mod mapped;
#[cfg(test)]
#[path = "../../ken/tests/e2e/needs.rs"]
mod needs;
mod ngrams;
mod ocr;
mod open;
mod options;
mod prepare;
mod private;
mod progress;
mod replace;
mod roots;
mod run;
mod share;
mod stale;
mod summary;
pub mod tags;
mod under_way;
pub mod updater;
mod why;
mod write;

pub use check::{Below, Repaired, Report, check, repair, restart};
pub use copy::{copy, grow};
pub use error::Error;
pub use ken_extract::{OpenMessage, Opened, Opener};
pub use ken_walk::open_named;
pub use ngrams::segment_path as ngram_segment_path;
pub use options::{
    Arrangement, Durability, Ngrams, Ocr, Options, RootChange, afford, default_memory,
};
pub use private::is_open_to_others;
pub use progress::{Progress, Trace, in_words};
pub use run::{update, update_again, update_files};
pub use stale::Stale;
pub use summary::Summary;
pub use under_way::is_another_under_way;
pub use why::{Known, Next, Why, why};
pub use write::{RECOGNISED, TEXTLESS};
