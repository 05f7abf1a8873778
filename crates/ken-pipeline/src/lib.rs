//! Joins walk → extract → index: what is done, in which order, how much at once.
//!
//! [`update`] brings an index up to date with its roots, [`updater::Updater`] keeps it so with changes as they come.
//! Both run the same stages: prepare, walk and extract, commit. The walk hands each change to a pool of threads that
//! extract; a large container spreads its members over idle threads; the engine's threads build segments. Queues are
//! counted in bytes, so memory is bounded whatever the input.

pub mod background;
mod budget;
mod check;
mod error;
mod extract;
mod lock;
mod mailbox;
mod ngrams;
mod ocr;
mod open;
mod options;
mod prepare;
mod progress;
mod replace;
mod run;
mod stale;
mod summary;
pub mod tags;
pub mod updater;
mod why;
mod write;

pub use check::{Below, Repaired, Report, check, repair, start_anew};
pub use error::Error;
pub use ngrams::segment_path as ngram_segment_path;
pub use options::{
    Arrangement, Durability, Ngrams, Ocr, Options, RootChange, afford, default_memory,
};
pub use progress::{Progress, Trace};
pub use run::{update, update_files};
pub use stale::Stale;
pub use summary::Summary;
pub use why::{Known, Next, Why, why};
pub use write::{RECOGNISED, TEXTLESS};
