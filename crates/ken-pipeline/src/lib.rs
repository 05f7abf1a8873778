//! Joins walk → extract → index: what is done, in which order, how much at once.
//!
//! [`update`] brings an index up to date with its roots. The walk hands each change to a pool of
//! threads that extract; a large container spreads its members over idle threads; the engine's
//! threads build segments. Queues are counted in bytes, so memory is bounded whatever the input.

mod anew;
mod apply;
mod beside;
mod budget;
mod changed;
mod check;
mod counts;
mod error;
mod grams;
mod indexing;
mod large;
mod lock;
mod lost;
mod mailbox;
mod ocr;
mod ocr_cache;
mod open;
mod options;
pub mod polite;
mod progress;
mod run;
mod stale;
pub mod tags;
mod trace;
mod why;
mod work;
mod writer;

pub use anew::start_anew;
pub use check::{Below, Repaired, Report, check, repair};
pub use error::Error;
pub use grams::folder as ngram_folder;
pub use ocr::{RECOGNISED, TEXTLESS};
pub use options::{
    Arrangement, Durability, Ngrams, Ocr, Options, RootChange, afford, default_memory,
};
pub use progress::Progress;
pub use run::{Summary, update, update_files};
pub use stale::Stale;
pub use trace::Trace;
pub use why::{Known, Next, Why, why};
