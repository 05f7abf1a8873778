//! Format codes that show fractions: `# ?/?`, `# ??/??`, `# ?/8` (ECMA-376 part 1, 18.8.31).

use super::format_code::Token;

/// Excel shows denominators of at most this many digits.
const MAX_DIGITS: usize = 5;
/// The whole part of a larger number is written as it is; it has no fraction in binary that is worth one.
const MAX_VALUE: f64 = 1e12;

/// A compiled code.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats::office) struct Fraction {
    before: String,
    after: String,
    /// Whether the whole part stands apart: 1 1/2 and not 3/2.
    is_mixed: bool,
    denominator: Denominator,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Denominator {
    UpTo(u64),
    Always(u64),
}

impl Fraction {
    pub(super) fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        let slash = tokens
            .iter()
            .position(|token| matches!(token, Token::Run('/', 1)))?;
        let (above, below) = (&tokens[..slash], &tokens[slash + 1..]);
        let first = above.iter().position(is_place)?;
        let last = above.iter().rposition(is_place)?;
        let n_below = below
            .iter()
            .take_while(|token| digits(token).is_some())
            .count();
        let (denominator, after) = below.split_at(n_below);
        let is_text = |token: &Token<'_>| digits(token).is_none() && *token != Token::Run('/', 1);
        let is_fraction = last + 1 == slash && n_below > 0 && after.iter().all(is_text);
        is_fraction.then_some(())?;
        Some(Self {
            before: literals(&above[..first]),
            after: literals(after),
            is_mixed: above[first..last].iter().any(|token| !is_place(token)),
            denominator: Denominator::parse(denominator)?,
        })
    }

    /// Shows a number without its sign.
    pub(super) fn show(&self, magnitude: f64) -> Option<String> {
        if !(0.0..MAX_VALUE).contains(&magnitude) {
            return None;
        }
        let (whole, rest) = match self.is_mixed {
            true => (magnitude.trunc() as u64, magnitude.fract()),
            false => (0, magnitude),
        };
        let (above, below) = self.denominator.nearest(rest);
        // Ones in the fraction are whole.
        let (whole, above) = match self.is_mixed && above == below {
            true => (whole + 1, 0),
            false => (whole, above),
        };
        let shown = match (self.is_mixed, whole, above) {
            (true, whole, 0) => whole.to_string(),
            (true, 1.., above) => format!("{whole} {above}/{below}"),
            _ => format!("{above}/{below}"),
        };
        let text = [&self.before, &shown, &self.after]
            .map(String::as_str)
            .concat();
        Some(text.trim().to_owned())
    }
}

impl Denominator {
    fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        let text: String = tokens.iter().filter_map(digits).collect();
        if text.len() > MAX_DIGITS {
            return None;
        }
        match text.parse() {
            Ok(number) if number > 0 => Some(Self::Always(number)),
            _ => Some(Self::UpTo(10_u64.pow(text.len() as u32) - 1)),
        }
    }

    /// Returns the fraction nearest to a number.
    fn nearest(self, number: f64) -> (u64, u64) {
        match self {
            Self::Always(below) => ((number * below as f64).round() as u64, below),
            Self::UpTo(max) => nearest(number, max),
        }
    }
}

/// Returns the fraction with a denominator of at most `max` that is nearest to a number: the last convergent of its
/// continued fraction, or the last fraction between that and the next one.
fn nearest(number: f64, max: u64) -> (u64, u64) {
    let (mut before, mut last) = ((0, 1), (1, 0));
    let mut rest = number;
    loop {
        let digit = rest.floor() as u64;
        let step = |n: u64| -> Option<(u64, u64)> {
            let above = n.checked_mul(last.0)?.checked_add(before.0)?;
            Some((above, n.checked_mul(last.1)?.checked_add(before.1)?))
        };
        match step(digit) {
            Some(next) if next.1 <= max => (before, last) = (last, next),
            _ => {
                let between = step((max - before.1) / last.1.max(1)).unwrap_or(last);
                let distance =
                    |(above, below): (u64, u64)| (above as f64 / below as f64 - number).abs();
                return match distance(between) < distance(last) {
                    true => between,
                    false => last,
                };
            }
        }
        let fraction = rest.fract();
        if fraction < 1e-9 {
            return last;
        }
        rest = fraction.recip();
    }
}

fn is_place(token: &Token<'_>) -> bool {
    matches!(token, Token::Run('0' | '#' | '?', _))
}

/// Returns the digits of a denominator: places, or a number.
fn digits(token: &Token<'_>) -> Option<String> {
    match token {
        Token::Run('#' | '?', length) => Some("0".repeat(*length)),
        Token::Run(digit @ '0'..='9', length) => Some(digit.to_string().repeat(*length)),
        _ => None,
    }
}

/// Returns the text around a number.
pub(super) fn literals(tokens: &[Token<'_>]) -> String {
    let texts = tokens.iter().map(|token| match token {
        Token::Literal(text) => (*text).to_owned(),
        Token::Run(character, length) => character.to_string().repeat(*length),
        Token::Bracket(inside) => super::format_code::currency(inside).to_owned(),
        Token::AmPm => String::new(),
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::super::format_code::tokens;
    use super::*;

    #[test]
    fn numbers_are_shown_as_fractions() {
        for (code, value, shown) in [
            ("# ?/?", 0.5, "1/2"),
            ("# ?/?", 1.25, "1 1/4"),
            ("# ?/?", 0.999, "1"),
            ("# ?/?", 3.0, "3"),
            ("# ?/?", 0.0, "0"),
            ("# ?/?", std::f64::consts::PI, "3 1/7"),
            ("# ??/??", std::f64::consts::PI, "3 14/99"),
            ("# ???/???", std::f64::consts::PI, "3 16/113"),
            ("?/?", 1.5, "3/2"),
            ("# ?/8", 2.5, "2 4/8"),
            ("# ??/16", 0.3, "5/16"),
            ("# ??/100", 0.301, "30/100"),
            ("\"about \"# ?/?\" inch\"", 0.75, "about 3/4 inch"),
        ] {
            let fraction = Fraction::parse(&tokens(code)).unwrap();
            assert_eq!(
                fraction.show(value).as_deref(),
                Some(shown),
                "{code} {value}"
            );
        }
        for code in [
            "0.00",
            "/",
            "?/",
            "/?",
            "?/ ?",
            "?/?/?",
            "# ?/123456",
            "? /?",
        ] {
            assert_eq!(Fraction::parse(&tokens(code)), None, "{code}");
        }
        let fraction = Fraction::parse(&tokens("# ?????/?????")).unwrap();
        for value in [f64::MIN_POSITIVE, 1e-300, 1e11 + 0.3, 0.1 + 0.2, 1e300] {
            let _ = fraction.show(value);
        }
    }
}
