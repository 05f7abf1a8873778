//! Joins walk → extract → index: what is done, in which order, how much at once.
//!
//! [`update`] brings an index up to date with its roots. The walk hands each change to a pool of
//! threads that extract; a large container spreads its members over idle threads; the engine's
//! threads build segments. Queues are counted in bytes, so memory is bounded whatever the input.

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
mod progress;
mod run;
mod stale;
pub mod tags;
mod why;
mod write;

pub use check::{Below, Repaired, Report, check, repair};
pub use error::Error;
pub use ngrams::folder as ngram_folder;
pub use ocr::{RECOGNISED, TEXTLESS};
pub use options::{
    Arrangement, Durability, Ngrams, Ocr, Options, RootChange, afford, default_memory,
};
pub use progress::{Progress, Trace};
pub use run::{Summary, start_anew, update, update_files};
pub use stale::Stale;
pub use why::{Known, Next, Why, why};
