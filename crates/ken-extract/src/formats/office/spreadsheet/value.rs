//! Values of cells, as binary workbooks store them.

/// Decodes a number that is stored in four bytes (MS-XLS 2.5.122).
pub(in crate::formats::office) fn packed(bits: u32) -> f64 {
    let value = match bits & 2 {
        0 => f64::from_bits(u64::from(bits & !3) << 32),
        _ => f64::from(bits as i32 >> 2),
    };
    if bits & 1 != 0 { value / 100.0 } else { value }
}

/// Formats a number with the 15 digits that Excel shows; further digits are noise of binary
/// fractions.
pub(in crate::formats::office) fn shown(value: f64) -> String {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// Formats a truth value.
pub(in crate::formats::office) fn boolean(value: u8) -> &'static str {
    if value == 0 { "FALSE" } else { "TRUE" }
}

/// Returns the name of an error by its number.
pub(in crate::formats::office) fn error(value: u8) -> &'static str {
    match value {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}
