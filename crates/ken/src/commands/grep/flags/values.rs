//! The meaning of flag values.

use std::ffi::OsStr;
use std::path::PathBuf;

/// Returns the value of a flag without negation.
fn given(value: Option<&OsStr>) -> Result<&OsStr, String> {
    value.ok_or_else(|| "value is missing".to_owned())
}

pub(super) fn text(value: Option<&OsStr>) -> Result<&str, String> {
    let text = given(value)?.to_str();
    text.ok_or_else(|| "value is not valid UTF-8".to_owned())
}

pub(super) fn path(value: Option<&OsStr>) -> Result<PathBuf, String> {
    given(value).map(PathBuf::from)
}

/// Reads a path; an empty path means none.
pub(super) fn optional_path(value: Option<&OsStr>) -> Option<PathBuf> {
    let value = value.filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

pub(super) fn number<T: std::str::FromStr<Err: std::fmt::Display>>(
    value: Option<&OsStr>,
) -> Result<T, String> {
    let number = text(value)?.parse();
    number.map_err(|error| format!("value is not a valid number: {error}"))
}

/// Reads a number of bytes: `500`, `10K`, `2M`, `1G`.
pub(super) fn size(value: Option<&OsStr>) -> Result<u64, String> {
    let size = grep_cli::parse_human_readable_size(text(value)?);
    size.map_err(|error| format!("invalid size: {error}"))
}

/// Reads a number of bytes that must fit into memory.
pub(super) fn memory(value: Option<&OsStr>) -> Result<usize, String> {
    usize::try_from(size(value)?).map_err(|_| "size is too big".to_owned())
}

/// Reads bytes with escapes such as `\t` and `\x00`.
pub(super) fn separator(value: Option<&OsStr>) -> Result<Vec<u8>, String> {
    let text = given(value)?.to_str().ok_or(
        "separator must be valid UTF-8 (use escape sequences to provide a separator that is not \
         valid UTF-8)",
    )?;
    Ok(grep_cli::unescape(text))
}

pub(super) fn unknown_choice<T>(choice: &str) -> Result<T, String> {
    Err(format!("choice '{choice}' is unrecognized"))
}
