//! Tests of what a user sees: the real binary on real files in a temporary home folder.
//!
//! One crate with a module per topic, because each test crate links the whole program. Wiring,
//! wording, exit codes and convergence are tested here; what a single stage does is tested in its
//! own crate.

// Tests look at the files that the program leaves, and print the seeds that they ran with.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

mod access;
mod ag;
mod blocked;
mod bounded;
mod changes;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod config;
mod confined;
mod crash;
mod damage;
#[cfg(feature = "desktop")]
mod desktop;
mod extract;
mod faults;
mod first_page;
mod formats;
mod fresh;
mod generate;
mod grep;
mod helpers;
mod hostile;
mod index;
mod interpreters;
mod isolation;
mod known_items;
mod layout;
mod mail;
mod mailbox;
mod mailers;
mod mcp;
mod mistakes;
mod modules;
mod mu;
mod needs;
mod notmuch;
mod ocr;
mod output;
mod page;
mod pictures;
mod places;
mod private;
mod pty;
mod query;
mod reading;
mod recipes;
mod recollq;
mod relaxed;
mod results;
mod rg;
mod samples;
mod search;
mod serve;
mod service;
mod settings;
mod show;
mod sidecar;
mod snapshots;
mod spelling;
mod spellings;
mod ssh;
mod status;
mod synonyms;
mod tag;
mod terminal;
mod terms;
mod times;
mod tui;
mod tutorial;
mod versions;
mod walk;
mod web;
mod why;
mod world;
