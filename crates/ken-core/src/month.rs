//! The months by their English names.

/// The names of the months, in lower case.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the number of a month, from 1, by the first three letters of a word in any case.
pub fn month_of(word: &str) -> Option<u8> {
    let start = word.get(..3)?;
    let is_meant = |name: &&str| name[..3].eq_ignore_ascii_case(start);
    let position = MONTHS.iter().position(is_meant)?;
    Some(position as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_letters_name_a_month() {
        assert_eq!(month_of("Jan"), Some(1));
        assert_eq!(month_of("DECEMBER"), Some(12));
        assert_eq!(month_of("ma"), None);
        assert_eq!(month_of("mär"), None);
        assert_eq!(month_of("mon"), None);
    }
}
