//! Which documents of an index fit a query best, and which passages show why?
//!
//! A query is parsed into a [`parse::Tree`], which depends on neither clock nor index. [`plan::plan`] turns the tree
//! into a [`ken_core::Plan`] in the terms of the index, and an engine runs the plan. [`service`] does all of it: it
//! takes a request and returns a response.

mod analyze;
mod compare;
mod context;
mod folder;
pub mod like;
mod media_types;
pub mod parse;
pub mod plan;
pub mod scope;
pub mod service;
pub mod snippet;
mod spans;
pub mod spelling;
pub mod synonyms;
pub mod terms;
pub mod words;
