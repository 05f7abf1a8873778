//! Given a question, which documents answer it best: query language, plan and snippets.
//!
//! A query is parsed into a [`parse::Tree`], independent of clock and index; [`plan::plan`]
//! makes it a [`ken_core::Plan`], in the terms of the index; an engine runs that. [`service`] does all of it:
//! a request in, a response out.

mod compare;
mod folder;
pub mod like;
pub mod parse;
pub mod plan;
pub mod service;
pub mod snippet;
pub mod spelling;
pub mod synonyms;
pub mod terms;
pub mod words;
