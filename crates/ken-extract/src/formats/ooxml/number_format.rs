//! How a spreadsheet displays numbers and dates: format codes of ECMA-376 part 1, 18.8.30/31.
//!
//! Codes are compiled once per style. Dates are shown as their code says, built-in dates whose
//! form depends on the reader's locale as ISO 8601. What has no use in a search is left out:
//! colours, fill characters, conditions. A code beyond that shows the number as it is stored.

use jiff::ToSpan;
use jiff::civil::{DateTime, date};

/// Stands in a date's pattern for the hours, minutes or seconds since the start.
const ELAPSED: char = '\u{1}';
/// 1 January 10000, where dates end.
const END_OF_DATES: f64 = 2_958_466.0;
const MAX_DECIMALS: usize = 30;

/// A compiled format code.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NumberFormat {
    General,
    /// Sections for positive numbers, negative numbers and zero; one at least.
    Sections(Vec<Section>),
}

/// What a format code says for numbers of one sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Section {
    General,
    Date(DatePattern),
    Number(NumberPattern),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DatePattern {
    /// As `strftime` takes it.
    pattern: String,
    /// Seconds of the unit that [`ELAPSED`] counts.
    elapsed_unit: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NumberPattern {
    before: String,
    after: String,
    has_digits: bool,
    int_digits: usize,
    min_decimals: usize,
    max_decimals: usize,
    grouped: bool,
    /// 100 for each percent sign, 1/1000 for each comma at the end.
    scale: f64,
    scientific: bool,
}

impl NumberFormat {
    /// Returns the format of a number below 164, which files do not spell out (18.8.30).
    pub(super) fn built_in(number: usize) -> Self {
        let code = match number {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            14 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 | 32 | 55 => "h:mm",
            21 | 33..=35 | 56 => "h:mm:ss",
            22 => "yyyy-mm-dd h:mm",
            37 | 38 => "#,##0;(#,##0)",
            39 | 40 => "#,##0.00;(#,##0.00)",
            41 | 42 => "#,##0",
            43 | 44 => "#,##0.00",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "0.0E+0",
            _ => return Self::General,
        };
        Self::parse(code)
    }

    /// Compiles a format code.
    pub(super) fn parse(code: &str) -> Self {
        let sections: Vec<Section> = split_sections(code)
            .into_iter()
            .take(3)
            .map(Section::parse)
            .collect();
        match sections[..] {
            [] | [Section::General] => Self::General,
            _ => Self::Sections(sections),
        }
    }

    /// Returns a stored number as it is displayed.
    pub(super) fn show(&self, stored: &str, from_1904: bool) -> String {
        let Ok(value) = stored.trim().parse::<f64>() else {
            return stored.to_owned();
        };
        if !value.is_finite() {
            return stored.to_owned();
        }
        let Self::Sections(sections) = self else {
            return general(stored, value);
        };
        let (position, magnitude) = match sections.len() {
            2.. if value < 0.0 => (1, -value),
            3.. if value == 0.0 => (2, value),
            _ => (0, value),
        };
        match &sections[position] {
            Section::General => general(stored, magnitude),
            Section::Date(pattern) => pattern
                .show(value, from_1904)
                .unwrap_or_else(|| general(stored, value)),
            Section::Number(pattern) => pattern.show(magnitude),
        }
    }
}

/// Returns a number without a format: as stored, but without the noise of binary fractions.
fn general(stored: &str, value: f64) -> String {
    let magnitude = value.abs();
    if stored.len() <= 15 && !stored.starts_with('-') {
        stored.trim().to_owned()
    } else if magnitude != 0.0 && !(1e-9..1e15).contains(&magnitude) {
        format!("{value:E}")
    } else {
        value.to_string()
    }
}

/// Splits at semicolons that are not quoted.
fn split_sections(code: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut start = 0;
    let mut characters = code.char_indices();
    let mut quoted = false;
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => quoted = !quoted,
            '\\' if !quoted => drop(characters.next()),
            ';' if !quoted => {
                sections.push(&code[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    sections.push(&code[start..]);
    sections
}

/// A piece of a section.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Literal(&'a str),
    /// What stands in brackets.
    Bracket(&'a str),
    /// A run of one character that may mean something.
    Run(char, usize),
    AmPm,
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let second = after.chars().next().map_or(0, char::len_utf8);
        let (token, next) = match first {
            '"' => {
                let (quoted, next) = after.split_once('"').unwrap_or((after, ""));
                (Some(Token::Literal(quoted)), next)
            }
            '\\' => (Some(Token::Literal(&after[..second])), &after[second..]),
            // A space as wide as a character, or a fill character.
            '_' => (Some(Token::Literal(" ")), &after[second..]),
            '*' => (None, &after[second..]),
            '[' => {
                let (inside, next) = after.split_once(']').unwrap_or((after, ""));
                (Some(Token::Bracket(inside)), next)
            }
            'A' | 'a' if starts_with_ignoring_case(rest, "AM/PM") => {
                (Some(Token::AmPm), &rest[5..])
            }
            'A' | 'a' if starts_with_ignoring_case(rest, "A/P") => (Some(Token::AmPm), &rest[3..]),
            'G' | 'g' if starts_with_ignoring_case(rest, "General") => {
                (Some(Token::Run('G', 7)), &rest[7..])
            }
            _ => {
                let next = rest.trim_start_matches(first);
                let length = (rest.len() - next.len()) / first.len_utf8();
                (Some(Token::Run(first.to_ascii_lowercase(), length)), next)
            }
        };
        tokens.extend(token);
        rest = next;
    }
    tokens
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

impl Section {
    fn parse(code: &str) -> Self {
        let tokens = tokens(code);
        let is_date = tokens.iter().any(|token| match token {
            Token::Run(letter, _) => matches!(letter, 'y' | 'm' | 'd' | 'h' | 's'),
            Token::Bracket(inside) => elapsed_unit(inside).is_some(),
            Token::AmPm => true,
            Token::Literal(_) => false,
        });
        if is_date {
            return Self::Date(DatePattern::parse(&tokens));
        }
        NumberPattern::parse(&tokens).map_or(Self::General, Self::Number)
    }
}

fn elapsed_unit(bracket: &str) -> Option<i64> {
    match bracket.to_ascii_lowercase().as_str() {
        "h" | "hh" => Some(3600),
        "m" | "mm" => Some(60),
        "s" | "ss" => Some(1),
        _ => None,
    }
}

impl DatePattern {
    fn parse(tokens: &[Token<'_>]) -> Self {
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
                    match directive {
                        Some(directive) => date.pattern.push_str(directive),
                        // Fractions of seconds: the dot before them is a literal run.
                        None if letter == '0' => date.fraction(length),
                        // A text placeholder or a fraction that dates do not have.
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

    /// Returns a day number as a date, or `None` if it is none.
    fn show(&self, value: f64, from_1904: bool) -> Option<String> {
        if !(0.0..END_OF_DATES).contains(&value) {
            return None;
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

/// Returns whether the next date token, if any, is for seconds: then an `m` means minutes.
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

/// Returns the time of a day number (18.17.4). Day 60 of 1900 is a 29 February that never was:
/// days before it are one later than the others.
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

impl NumberPattern {
    /// Returns `None` for codes that are not displayed as one run of digits.
    fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        let mut number = Self {
            scale: 1.0,
            ..Self::default()
        };
        let mut in_decimals = false;
        let mut ended = false;
        for (position, token) in tokens.iter().enumerate() {
            match *token {
                Token::Run('0' | '#' | '?', _) if ended => return None,
                Token::Run('0' | '#' | '?', length) => {
                    let zeros = if *token == Token::Run('0', length) {
                        length
                    } else {
                        0
                    };
                    number.has_digits = true;
                    if in_decimals {
                        number.min_decimals += zeros;
                        number.max_decimals += length;
                    } else {
                        number.int_digits += zeros;
                    }
                }
                Token::Run('.', 1) if !in_decimals => {
                    in_decimals = true;
                    number.has_digits = true;
                }
                Token::Run(',', length) if number.has_digits && !ended => {
                    if digits_follow(&tokens[position + 1..]) {
                        number.grouped = true;
                    } else {
                        number.scale /= 1000_f64.powi(length.min(10) as i32);
                    }
                }
                Token::Run('e', 1) if number.has_digits && !ended => {
                    number.scientific = true;
                    // The digits of the exponent are shown as they are.
                    return exponent_only(&tokens[position + 1..]).then_some(number);
                }
                Token::Run('/' | 'G' | '@', _) => return None,
                Token::Run(character, length) => {
                    if character == '%' {
                        number.scale *= 100_f64.powi(length.min(10) as i32);
                    }
                    ended = number.has_digits;
                    for _ in 0..length {
                        number.literal(character.encode_utf8(&mut [0; 4]));
                    }
                }
                Token::Literal(text) => {
                    ended = number.has_digits;
                    number.literal(text);
                }
                Token::Bracket(inside) => number.literal(currency(inside)),
                Token::AmPm => return None,
            }
        }
        number.min_decimals = number.min_decimals.min(MAX_DECIMALS);
        number.max_decimals = number.max_decimals.min(MAX_DECIMALS);
        number.int_digits = number.int_digits.min(MAX_DECIMALS);
        Some(number)
    }

    fn literal(&mut self, text: &str) {
        if self.has_digits {
            self.after.push_str(text);
        } else {
            self.before.push_str(text);
        }
    }

    fn show(&self, value: f64) -> String {
        let scaled = value * self.scale;
        let digits = match (self.has_digits, self.scientific) {
            (false, _) => String::new(),
            (true, true) => format!("{:.*E}", self.max_decimals, scaled.abs()),
            (true, false) => self.digits(scaled.abs()),
        };
        let sign = if scaled < 0.0 && digits.contains(|c| matches!(c, '1'..='9')) {
            "-"
        } else {
            ""
        };
        let text = [&self.before, sign, &digits, &self.after].concat();
        text.trim().to_owned()
    }

    fn digits(&self, magnitude: f64) -> String {
        let rounded = format!("{magnitude:.*}", self.max_decimals);
        let (whole, decimals) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let mut digits = self.whole_digits(whole);
        let wanted = decimals.trim_end_matches('0').len().max(self.min_decimals);
        if wanted > 0 {
            digits.push('.');
            digits.push_str(&decimals[..wanted.min(decimals.len())]);
        }
        digits
    }

    fn whole_digits(&self, whole: &str) -> String {
        // Without a `0` in the code, a lone zero is blank.
        let whole = match (whole, self.int_digits) {
            ("0", 0) => String::new(),
            (_, width) => format!("{whole:0>width$}"),
        };
        if !self.grouped {
            return whole;
        }
        let mut grouped = String::with_capacity(whole.len() * 4 / 3);
        for (position, digit) in whole.chars().enumerate() {
            if position > 0 && (whole.len() - position).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    }
}

/// Returns whether the next token is a digit: then a comma groups, else it divides by 1000.
fn digits_follow(tokens: &[Token<'_>]) -> bool {
    matches!(tokens.first(), Some(Token::Run('0' | '#' | '?', _)))
}

fn exponent_only(tokens: &[Token<'_>]) -> bool {
    tokens
        .iter()
        .all(|token| matches!(token, Token::Run('+' | '-' | '0' | '#' | '?', _)))
}

/// Returns the sign of a currency with its locale: `$€-407`.
fn currency(bracket: &str) -> &str {
    bracket
        .strip_prefix('$')
        .map_or("", |rest| rest.split('-').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_their_code_says() {
        for (code, stored, shown) in [
            ("General", "0.1", "0.1"),
            ("General", "3.1400000000000001", "3.14"),
            ("General", "-2", "-2"),
            ("General", "1.5E-20", "1.5E-20"),
            ("General", "100000000000000000000", "1E20"),
            ("General", "no number", "no number"),
            ("@", "12", "12"),
            ("0", "1234.5", "1234"),
            ("0.00", "1234.5", "1234.50"),
            ("#,##0.00", "1234567.891", "1,234,567.89"),
            ("#,##0.00", "-0.001", "0.00"),
            ("#,##0.##", "5", "5"),
            ("#.##", "0.5", ".5"),
            ("00000", "42", "00042"),
            ("0%", "0.125", "12%"),
            ("0.0%", "0.125", "12.5%"),
            ("0.00E+00", "12345", "1.23E4"),
            ("#,##0,\" k\"", "1234567", "1,235 k"),
            ("#,##0.00\\ [$€-407]", "99.5", "99.50 €"),
            ("[$$-409]#,##0", "1500", "$1,500"),
            ("#,##0;(#,##0)", "-1500", "(1,500)"),
            ("#,##0;[Red]-#,##0", "-1500", "-1,500"),
            (
                "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
                "0",
                "-",
            ),
            (
                "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
                "7",
                "7.00",
            ),
            ("0;0;\"a;b\"", "0", "a;b"),
            ("# ?/?", "0.5", "0.5"),
            ("(000) 000-0000", "5551234567", "5551234567"),
            ("\"n/a\"", "5", "n/a"),
        ] {
            assert_eq!(
                NumberFormat::parse(code).show(stored, false),
                shown,
                "{code}"
            );
        }
    }

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
    }

    #[test]
    fn no_code_panics() {
        for code in [
            "", ";", ";;;", "\"", "\\", "_", "*", "[", "[]", "%", ",", ".", "E+", "0E", "é", "yé\\",
        ] {
            for stored in ["0", "-1.5", "45352.5", "1e308", "NaN", ""] {
                NumberFormat::parse(code).show(stored, false);
            }
        }
        let long = "0.".to_owned() + &"0".repeat(100_000);
        assert!(NumberFormat::parse(&long).show("1", false).len() < 100);
    }
}
