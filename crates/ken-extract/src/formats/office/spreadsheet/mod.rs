//! What Excel's formats, old and new, have in common: styles of cells, formats of numbers and dates.

mod date_format;
mod format_code;
pub(super) mod number_format;
pub(super) mod value;
pub(super) mod workbook;
