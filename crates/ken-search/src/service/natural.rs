//! The natural order of member paths.

use std::cmp::Ordering;

/// Compares member paths in natural order: `2` before `10`.
pub(super) fn in_order(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let (x, y) = (piece(a), piece(b));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len());
        }
        let number = |text: &str| text.parse::<u64>().ok();
        let order = match (number(x), number(y)) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[x.len()..], &b[y.len()..]);
    }
}

/// Returns the digits at the start, or the text before the first digit.
fn piece(text: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = text.starts_with(is_digit);
    let end = text.find(|c| is_digit(c) != first);
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_their_numbers() {
        let mut ipaths = ["10", "2|b", "2", "a|2", "2|a10", "2|a9", ""];
        ipaths.sort_by(|a, b| in_order(a, b));
        assert_eq!(ipaths, ["", "2", "2|a9", "2|a10", "2|b", "10", "a|2"]);
    }
}
