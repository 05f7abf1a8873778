//! Columns: one typed value per document, for sorting, facets and the catalogue.

pub(crate) mod catalogue;
mod document;
pub(crate) mod sketch;
pub(crate) mod value;

pub(crate) use document::DocumentColumns;
