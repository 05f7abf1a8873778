//! The analysis that made the index, as a function that the caller passes.

use std::ops::Range;

use ken_core::Field;

/// Splits a field's text into terms. It calls back with each term, its position, and the bytes that it comes from.
///
/// Several terms may share a position: a whole identifier and its first part.
pub type Analyze = fn(Field, &str, &mut dyn FnMut(&str, u32, Range<usize>));
