//! How a spreadsheet displays numbers and dates: format codes of ECMA-376 part 1, 18.8.30/31.
//!
//! Codes are compiled once per style. Dates appear in the form of their code; built-in dates, whose
//! form depends on the user's locale, appear in ISO 8601. A section may be for text. Parts without use in a search are left
//! out: colours, fill characters. With a code beyond that, the number appears as without one.

use std::borrow::Cow;

use super::condition::{Condition, choose};
use super::date_format::{DatePattern, elapsed_unit};
use super::format_code::{Token, currency, fixed, nudged, split_sections, tokens};
use super::fraction::{Fraction, literals};
use super::general::general;
use super::mask::Mask;

const MAX_DECIMALS: usize = 30;
/// Maximum length of a code in Excel.
const MAX_CODE_BYTES: usize = 1024;

/// A compiled format code.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats::office) enum NumberFormat {
    General,
    /// Sections for positive numbers, negative numbers and zero, or for those that their conditions name; at least one,
    /// unless there is one for text.
    Sections(Vec<(Option<Condition>, Section)>, Option<Around>),
}

/// What stands before and after a text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats::office) struct Around {
    before: String,
    after: String,
}

/// A format code for numbers of one sign.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats::office) enum Section {
    General,
    Date(DatePattern),
    Number(NumberPattern),
    Mask(Mask),
    Fraction(Fraction),
}

/// The number part of a format code.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::formats::office) struct NumberPattern {
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
    /// The digits of the exponent, and whether it always has a sign.
    exponent: (usize, bool),
}

impl NumberFormat {
    /// Returns the format with a number below 164, which files do not define (18.8.30).
    pub(in crate::formats::office) fn built_in(number: usize) -> Self {
        let code = match number {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
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
    pub(in crate::formats::office) fn parse(code: &str) -> Self {
        if code.len() > MAX_CODE_BYTES {
            return Self::General;
        }
        let mut codes = split_sections(code);
        codes.truncate(4);
        let has_text = |code: &str| tokens(code).contains(&Token::Run('@', 1));
        // The last section may be for text; as the fourth it is.
        let of_text = codes.pop_if(|code| has_text(code));
        codes.truncate(3);
        let around = of_text.and_then(Around::parse);
        let sections: Vec<_> = codes
            .into_iter()
            .map(|code| (Condition::parse(&tokens(code)), Section::parse(code)))
            .collect();
        match sections[..] {
            [] | [(None, Section::General)] if around.is_none() => Self::General,
            _ => Self::Sections(sections, around),
        }
    }

    /// Returns a text as it is displayed.
    pub(in crate::formats::office) fn show_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self {
            Self::Sections(_, Some(around)) if !text.is_empty() => around.show(text).into(),
            _ => text.into(),
        }
    }

    /// Formats a stored number as it is displayed.
    pub(in crate::formats::office) fn show(&self, stored: &str, from_1904: bool) -> String {
        let Ok(value) = stored.trim().parse::<f64>() else {
            return stored.to_owned();
        };
        if !value.is_finite() {
            return stored.to_owned();
        }
        let Self::Sections(sections, around) = self else {
            return general(stored, value);
        };
        if sections.is_empty() {
            let shown = general(stored, value);
            return around
                .as_ref()
                .map_or(shown.clone(), |around| around.show(&shown));
        }
        let conditions = sections.iter().map(|(condition, _)| *condition);
        let Some((position, magnitude)) = choose(conditions, value) else {
            return general(stored, value);
        };
        match &sections[position].1 {
            Section::General => general(stored, magnitude),
            Section::Date(pattern) => pattern
                .show(value, from_1904)
                .unwrap_or_else(|| general(stored, value)),
            Section::Number(pattern) => pattern.show(magnitude),
            Section::Mask(mask) => mask.show(magnitude),
            Section::Fraction(fraction) => {
                let shown = fraction.show(magnitude.abs());
                let sign = if magnitude < 0.0 { "-" } else { "" };
                shown.map_or_else(|| general(stored, value), |shown| format!("{sign}{shown}"))
            }
        }
    }
}

impl Around {
    /// Reads a section for text; returns `None` if it shows the text alone.
    fn parse(code: &str) -> Option<Self> {
        let tokens = tokens(code);
        let at = tokens
            .iter()
            .position(|token| *token == Token::Run('@', 1))?;
        let (before, after) = (literals(&tokens[..at]), literals(&tokens[at + 1..]));
        let is_text = |text: &str| text.contains(char::is_alphanumeric) && !text.contains('@');
        (is_text(&before) || is_text(&after)).then_some(Self { before, after })
    }

    fn show(&self, text: &str) -> String {
        [&self.before, text, &self.after].concat().trim().to_owned()
    }
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
        let number = NumberPattern::parse(&tokens).map(Self::Number);
        let mask = || Mask::parse(&tokens).map(Self::Mask);
        let fraction = || Fraction::parse(&tokens).map(Self::Fraction);
        number
            .or_else(mask)
            .or_else(fraction)
            .unwrap_or(Self::General)
    }
}

impl NumberPattern {
    /// Parses a code; returns `None` for codes that do not display one run of digits.
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
                    let exponent = &tokens[position + 1..];
                    number.exponent = (
                        exponent_digits(exponent),
                        exponent.contains(&Token::Run('+', 1)),
                    );
                    return exponent_only(exponent).then_some(number);
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
            (true, true) => self.scientific_digits(scaled.abs()),
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

    fn scientific_digits(&self, magnitude: f64) -> String {
        let (width, has_sign) = self.exponent;
        let shown = format!("{:.*E}", self.max_decimals, nudged(magnitude));
        let (mantissa, exponent) = shown.split_once('E').unwrap_or((&shown, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ("-", exponent),
            None => (if has_sign { "+" } else { "" }, exponent),
        };
        format!("{mantissa}E{sign}{exponent:0>width$}")
    }

    fn digits(&self, magnitude: f64) -> String {
        let rounded = fixed(magnitude, self.max_decimals);
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
        // Without a `0` in the code, a lone zero is not displayed.
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

/// Returns the number of digits that an exponent has at least.
fn exponent_digits(tokens: &[Token<'_>]) -> usize {
    let zeros = tokens.iter().map(|token| match token {
        Token::Run('0', length) => *length,
        _ => 0,
    });
    zeros.sum::<usize>().min(MAX_DECIMALS)
}

/// Returns whether the next token is a digit: then a comma groups, otherwise it divides by 1000.
fn digits_follow(tokens: &[Token<'_>]) -> bool {
    matches!(tokens.first(), Some(Token::Run('0' | '#' | '?', _)))
}

fn exponent_only(tokens: &[Token<'_>]) -> bool {
    tokens
        .iter()
        .all(|token| matches!(token, Token::Run('+' | '-' | '0' | '#' | '?', _)))
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
            ("General", "123456789012345678901", "1.23457E20"),
            ("General", "4006381333931", "4006381333931"),
            ("General", "0.91648481334876901", "0.9164848133"),
            ("General", "-63.380123456789", "-63.38012346"),
            ("General", "0.0038579936454942401", "0.0038579936"),
            ("General", "2.0458746243388601E-11", "2.04587E-11"),
            ("General", "12345678901.5", "12345678902"),
            ("General", "0.10000000000000001", "0.1"),
            ("[>999999]#,,\"M\";[>999]#,\"K\";#", "1234567", "1M"),
            ("[>999999]#,,\"M\";[>999]#,\"K\";#", "1021.02", "1K"),
            ("[>999999]#,,\"M\";[>999]#,\"K\";#", "10.2", "10"),
            ("[<=9999999]###-####;(###) ###-####", "5551234", "555-1234"),
            (
                "[<=9999999]###-####;(###) ###-####",
                "2065551234",
                "(206) 555-1234",
            ),
            ("[Red][<0]-0.0;[Blue][>=0]0.0", "-1.25", "-1.3"),
            ("[=1]\"yes\";[=0]\"no\";0", "0", "no"),
            ("[=1]\"yes\";[=0]\"no\"", "2", "2"),
            ("General", "no number", "no number"),
            ("@", "12", "12"),
            ("0", "1234.5", "1235"),
            ("0.00", "1.005", "1.01"),
            ("0.00", "1.0049", "1.00"),
            (
                "0.00000000000000",
                "16.000000000000007",
                "16.00000000000000",
            ),
            ("0.0000000000000000", "0.1", "0.1000000000000000"),
            ("0.00", "1234567890123456", "1234567890123456.00"),
            ("0.00", "1234.5", "1234.50"),
            ("#,##0.00", "1234567.891", "1,234,567.89"),
            ("#,##0.00", "-0.001", "0.00"),
            ("#,##0.##", "5", "5"),
            ("#.##", "0.5", ".5"),
            ("00000", "42", "00042"),
            ("0%", "0.125", "13%"),
            ("0.0%", "0.125", "12.5%"),
            ("0.00E+00", "12345", "1.23E+04"),
            ("0.0E-0", "0.00012", "1.2E-4"),
            ("0.0E-0", "12000", "1.2E4"),
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
            ("# ?/?", "0.5", "1/2"),
            ("# ??/??", "-1.25", "-1 1/4"),
            ("# ?/?;(# ?/?)", "-1.25", "(1 1/4)"),
            ("0;@", "-5", "-5"),
            ("\"No. \"@", "5", "No. 5"),
            ("0.0;-0.0;0;\"Dear \"@", "-5", "-5.0"),
            ("0;-0;;@", "0", ""),
            ("(000) 000-0000", "5551234567", "(555) 123-4567"),
            ("000-00-0000", "1234567", "001-23-4567"),
            ("###-####", "11234567", "1123-4567"),
            ("00\\ 00;00", "-7", "07"),
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
    fn formats_without_a_code_in_the_file_show_fractions() {
        assert_eq!(NumberFormat::built_in(12).show("2.25", false), "2 1/4");
        assert_eq!(NumberFormat::built_in(13).show("0.3125", false), "5/16");
    }

    #[test]
    fn text_is_shown_as_its_section_says() {
        for (code, shown) in [
            ("General", "Ann"),
            ("@", "Ann"),
            ("_(@_)", "Ann"),
            ("\"Dear \"@\\!", "Dear Ann!"),
            ("0;-0;0;\"Dear \"@", "Dear Ann"),
            ("0;[Red]@\" & sons\"", "Ann & sons"),
            ("0;-0;0;\"hidden\"", "Ann"),
            (";;;", "Ann"),
        ] {
            assert_eq!(NumberFormat::parse(code).show_text("Ann"), shown, "{code}");
        }
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
        let long = "0.".to_owned() + &"0".repeat(1000);
        assert!(NumberFormat::parse(&long).show("1", false).len() < 100);
        assert_eq!(NumberFormat::parse(&long.repeat(2)), NumberFormat::General);
    }
}
