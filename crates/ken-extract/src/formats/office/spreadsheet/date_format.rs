//! Dates and times of day in spreadsheets: day numbers and their format codes (ECMA-376 part 1,
//! 18.8.31 and 18.17.4).

use jiff::ToSpan;
use jiff::civil::{DateTime, date};

use super::format_code::Token;

/// Placeholder in a date pattern for the hours, minutes or seconds since the start.
const ELAPSED: char = '\u{1}';
/// 1 January 10000, after the last valid date.
const END_OF_DATES: f64 = 2_958_466.0;

/// The date part of a format code.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::formats::office) struct DatePattern {
    /// In the syntax of `strftime`.
    pattern: String,
    /// Seconds of the unit that [`ELAPSED`] counts.
    elapsed_unit: i64,
    /// Whether it shows a day, month or year.
    has_date: bool,
}

/// Returns the unit of a bracket in seconds: `[h]`, `[mm]`, `[s]`.
pub(super) fn elapsed_unit(bracket: &str) -> Option<i64> {
    match bracket.to_ascii_lowercase().as_str() {
        "h" | "hh" => Some(3600),
        "m" | "mm" => Some(60),
        "s" | "ss" => Some(1),
        _ => None,
    }
}

impl DatePattern {
    pub(super) fn parse(tokens: &[Token<'_>]) -> Self {
        let mut date = Self::default();
        let half_days = tokens.contains(&Token::AmPm);
        let mut after_hours = false;
        for (position, token) in tokens.iter().enumerate() {
            match *token {
                Token::Literal(text) => date.literal(text),
                Token::AmPm => date.pattern.push_str("%p"),
                Token::Bracket(inside) => {
                    if let Some(unit) = elapsed_unit(inside) {
                        date.elapsed_unit = unit;
                        date.pattern.push(ELAPSED);
                        after_hours = true;
                    }
                }
                Token::Run('m', length) => {
                    let minutes = after_hours || seconds_follow(&tokens[position + 1..]);
                    after_hours = false;
                    date.has_date |= !minutes;
                    date.pattern.push_str(match (minutes, length) {
                        (true, 1) => "%-M",
                        (true, _) => "%M",
                        (false, 1) => "%-m",
                        (false, 2) => "%m",
                        (false, 4) => "%B",
                        (false, _) => "%b",
                    });
                }
                Token::Run(letter, length) => {
                    let directive = directive(letter, length, half_days);
                    after_hours = letter == 'h' || (after_hours && directive.is_none());
                    date.has_date |= directive.is_some() && matches!(letter, 'y' | 'd');
                    match directive {
                        Some(directive) => date.pattern.push_str(directive),
                        // Fractions of seconds: the dot before them is a literal.
                        None if letter == '0' => date.fraction(length),
                        // A text placeholder, or a fraction, which dates do not have.
                        None if matches!(letter, '@' | '#' | '?') => {}
                        None => {
                            for _ in 0..length {
                                date.literal(letter.encode_utf8(&mut [0; 4]));
                            }
                        }
                    }
                }
            }
        }
        date
    }

    fn literal(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '%' => self.pattern.push_str("%%"),
                ELAPSED => {}
                _ => self.pattern.push(character),
            }
        }
    }

    fn fraction(&mut self, length: usize) {
        if self.pattern.ends_with('.') {
            self.pattern.push_str(match length {
                1 => "%1f",
                2 => "%2f",
                _ => "%3f",
            });
        }
    }

    /// Formats a day number as a date; returns `None` if it is out of range.
    pub(super) fn show(&self, value: f64, from_1904: bool) -> Option<String> {
        if !(0.0..END_OF_DATES).contains(&value) {
            return None;
        }
        // The day 0 of January 1900: a date that nobody has given.
        if value == 0.0 && self.has_date && !from_1904 {
            return Some(String::new());
        }
        let elapsed_seconds = (value * 86_400.0).round() as i64;
        let time = date_time(value, from_1904)?;
        let text = jiff::fmt::strtime::format(&self.pattern, time).ok()?;
        if self.elapsed_unit == 0 {
            return Some(text);
        }
        let count = (elapsed_seconds / self.elapsed_unit).to_string();
        Some(text.replace(ELAPSED, &count))
    }
}

/// Returns whether the next date token is for seconds, so that an `m` means minutes.
fn seconds_follow(tokens: &[Token<'_>]) -> bool {
    tokens
        .iter()
        .find_map(|token| match token {
            Token::Run(letter @ ('y' | 'm' | 'd' | 'h' | 's'), _) => Some(*letter == 's'),
            Token::Bracket(inside) => elapsed_unit(inside).map(|unit| unit == 1),
            _ => None,
        })
        .unwrap_or(false)
}

fn directive(letter: char, length: usize, half_days: bool) -> Option<&'static str> {
    Some(match (letter, length) {
        ('y', 1 | 2) => "%y",
        ('y', _) => "%Y",
        ('d', 1) => "%-d",
        ('d', 2) => "%d",
        ('d', 3) => "%a",
        ('d', _) => "%A",
        ('h', 1) if half_days => "%-I",
        ('h', _) if half_days => "%I",
        ('h', 1) => "%-H",
        ('h', _) => "%H",
        ('s', 1) => "%-S",
        ('s', _) => "%S",
        _ => return None,
    })
}

/// Returns the time of a day number (18.17.4). Day 60 of 1900 is a 29 February that never existed,
/// so the days before it are one later than the others.
fn date_time(value: f64, from_1904: bool) -> Option<DateTime> {
    let start = match from_1904 {
        true => date(1904, 1, 1),
        false if value < 60.0 => date(1899, 12, 31),
        false => date(1899, 12, 30),
    };
    let milliseconds = (value.fract() * 86_400_000.0).round() as i64;
    start
        .to_datetime(jiff::civil::Time::midnight())
        .checked_add((value.trunc() as i64).days())
        .ok()?
        .checked_add(milliseconds.milliseconds())
        .ok()
}

#[cfg(test)]
mod tests {
    use crate::formats::office::spreadsheet::number_format::NumberFormat;

    #[test]
    fn dates_are_shown_as_their_code_says() {
        for (code, stored, shown) in [
            ("yyyy-mm-dd", "45352", "2024-03-01"),
            ("dd.mm.yyyy", "45352.75", "01.03.2024"),
            ("m/d/yy h:mm", "45352.75", "3/1/24 18:00"),
            ("d\\ mmmm\\ yyyy", "45352", "1 March 2024"),
            ("ddd, mmm d", "45352", "Fri, Mar 1"),
            ("[$-407]d. mmm yyyy;@", "45352", "1. Mar 2024"),
            ("h:mm AM/PM", "0.75", "6:00 PM"),
            ("mm:ss.0", "0.0001", "00:08.6"),
            ("[h]:mm:ss", "1.5", "36:00:00"),
            ("[mm]:ss", "0.5", "720:00"),
            ("yyyy-mm-dd", "0", ""),
            ("h:mm", "0", "0:00"),
            ("mm:ss", "0", "00:00"),
            ("yyyy-mm-dd", "1", "1900-01-01"),
            ("yyyy-mm-dd", "59", "1900-02-28"),
            ("yyyy-mm-dd", "61", "1900-03-01"),
            ("yyyy\"年\"m\"月\"", "45352", "2024年3月"),
            ("yyyy-mm-dd", "-5", "-5"),
            ("yyyy-mm-dd", "1e300", "1e300"),
        ] {
            assert_eq!(
                NumberFormat::parse(code).show(stored, false),
                shown,
                "{code}"
            );
        }
        let iso = NumberFormat::built_in(14);
        assert_eq!(iso.show("45352", false), "2024-03-01");
        assert_eq!(iso.show("43890", true), "2024-03-01");
        assert_eq!(iso.show("0", false), "");
        assert_eq!(iso.show("0", true), "1904-01-01");
    }
}
