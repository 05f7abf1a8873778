//! Values as text, the same in all output.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::escape_bytes;

/// The version of the JSON that every command prints.
pub const SCHEMA: u32 = 1;

/// Returns a time in RFC 3339, in UTC.
pub fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |t| t.to_string())
}

/// Returns a day as people write it, in a time zone.
pub fn day(seconds: i64, zone: &TimeZone) -> String {
    Timestamp::from_second(seconds).map_or_else(
        |_| seconds.to_string(),
        |t| t.to_zoned(zone.clone()).date().to_string(),
    )
}

/// Returns a path as text: bytes that are not UTF-8 are written `\xNN`.
pub fn path_text(path: &Path) -> Cow<'_, str> {
    escape_bytes(path.as_os_str().as_bytes())
}
