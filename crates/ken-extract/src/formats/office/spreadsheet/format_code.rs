//! Format codes of cells (ECMA-376 part 1, 18.8.31): sections, and the pieces of a section; how numbers are
//! rounded.

/// Splits at unquoted semicolons.
pub(super) fn split_sections(code: &str) -> Vec<&str> {
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
pub(super) enum Token<'a> {
    Literal(&'a str),
    /// The content of brackets.
    Bracket(&'a str),
    /// A run of one character that may have a meaning.
    Run(char, usize),
    AmPm,
}

/// Returns the pieces of a section.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
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
            // A space with the width of a character, or a fill character.
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

/// Larger numbers have no digits behind the point.
const MAX_EXACT: f64 = 1e15;

/// Returns a number a little further from zero, so that the half of a digit is rounded as it is read:
/// 1.005 is less in binary.
pub(super) fn nudged(magnitude: f64) -> f64 {
    match magnitude < MAX_EXACT {
        true => magnitude * (1.0 + 2.0 * f64::EPSILON),
        false => magnitude,
    }
}

/// Writes a number with so many decimals. Those beyond its 15th digit are zeros, as spreadsheets show them: 0.1 + 0.2
/// is 0.30000000000000004 in binary.
pub(super) fn fixed(magnitude: f64, n_decimals: usize) -> String {
    let exponent = match magnitude >= f64::MIN_POSITIVE {
        true => magnitude.log10().floor() as i32,
        false => 0,
    };
    let n_exact = usize::try_from(14 - exponent).unwrap_or(0).min(n_decimals);
    let mut shown = format!("{:.*}", n_exact, nudged(magnitude));
    if n_exact == 0 && n_decimals > 0 {
        shown.push('.');
    }
    shown.extend(std::iter::repeat_n('0', n_decimals - n_exact));
    shown
}

/// Returns the currency sign of a bracket with its locale: `$€-407`.
pub(super) fn currency(bracket: &str) -> &str {
    bracket
        .strip_prefix('$')
        .map_or("", |rest| rest.split('-').next().unwrap_or_default())
}
