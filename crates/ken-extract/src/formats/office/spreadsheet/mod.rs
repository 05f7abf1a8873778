//! What Excel's old and new formats have in common: cell styles, number and date formats.

mod condition;
mod date_format;
mod format_code;
mod fraction;
mod general;
mod mask;
pub(super) mod number_format;
pub(super) mod value;
pub(super) mod workbook;
