//! Numbers in cells without a format (`General`, ECMA-376 part 1, 18.8.30), as a wide enough cell displays them: with ten
//! digits at most, as programs round them, since more are noise of the calculation. Whole numbers keep all their digits: they are
//! often the number of something.

use super::format_code::nudged;

/// The digits that a number has at most, if it has decimals.
const DIGITS: usize = 10;
/// Larger and smaller numbers are displayed with an exponent, with as many decimals.
const PLAIN: std::ops::Range<f64> = 1e-9..1e15;
const DECIMALS_WITH_EXPONENT: usize = 5;

/// Formats a number without a format.
pub(super) fn general(stored: &str, value: f64) -> String {
    let magnitude = value.abs();
    if stored.len() <= DIGITS + 1 && !stored.starts_with('-') {
        stored.trim().to_owned()
    } else if magnitude != 0.0 && !PLAIN.contains(&magnitude) {
        with_exponent(value)
    } else if value.fract() == 0.0 {
        value.to_string()
    } else {
        without_zeros(&format!("{:.*}", decimals(magnitude), nudged(value)))
    }
}

fn with_exponent(value: f64) -> String {
    let shown = format!("{value:.DECIMALS_WITH_EXPONENT$E}");
    let (mantissa, exponent) = shown.split_once('E').unwrap_or((&shown, "0"));
    format!("{}E{exponent}", without_zeros(mantissa))
}

/// Returns how many decimals stay beside the digits before the point.
fn decimals(magnitude: f64) -> usize {
    let before = match magnitude < 1.0 {
        true => 0,
        false => magnitude.log10() as usize + 1,
    };
    DIGITS.saturating_sub(before)
}

fn without_zeros(number: &str) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
    .to_owned()
}
