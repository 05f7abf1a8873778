//! Other ways to write a number, a measure, an amount or a version.

use crate::parse::is_space_in_numbers;

/// A longer number is an identifier and not an amount.
const MAX_DIGITS: usize = 15;

/// The most letters of a unit, as in analysis.
const UNIT_LETTERS: usize = 5;

/// Returns the other spellings of a text with digits.
pub(super) fn spellings(text: &str) -> Vec<String> {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let mut ways: Vec<String> = [apart(text), joined(text), version(text)]
        .into_iter()
        .flatten()
        .collect();
    let amount = amount(text);
    let plain = ungrouped(amount);
    let groups = grouped(plain.as_deref().unwrap_or(amount));
    ways.extend((amount != text).then(|| amount.to_owned()));
    ways.extend(plain);
    ways.extend(groups.into_iter().filter(|way| way != amount));
    ways
}

pub(super) fn is_number(word: &str) -> bool {
    (1..=MAX_DIGITS).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word may be joined with a number after it.
pub(super) fn is_name(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether words are the groups of one number: `1 000 000`.
pub(super) fn are_groups(first: &str, others: &[&str]) -> bool {
    (1..=3).contains(&first.len())
        && is_number(first)
        && first != "0"
        && others
            .iter()
            .all(|group| group.len() == 3 && is_number(group))
}

/// Returns whether a word may be joined with a number before it.
fn is_unit(word: &str) -> bool {
    let n_letters = word.chars().count();
    (1..=UNIT_LETTERS).contains(&n_letters) && word.chars().all(char::is_alphabetic)
}

/// Returns `10 kg` for `10kg`, and `RFC 2822` for `RFC2822`.
fn apart(text: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut apart = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while !rest.is_empty() {
        let (run, after) = rest.split_at(rest.find(|c| !word(c)).unwrap_or(rest.len()));
        match cut(run) {
            Some((first, second)) => apart.extend([first, " ", second]),
            None => apart.push_str(run),
        }
        let (between, after) = after.split_at(after.find(word).unwrap_or(after.len()));
        apart.push_str(between);
        rest = after;
    }
    (apart != text).then_some(apart)
}

/// Splits a word into a number and its unit, or a name and its number.
fn cut(word: &str) -> Option<(&str, &str)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let starts = word.starts_with(is_digit);
    let at = word.find(|c| is_digit(c) != starts)?;
    let (first, second) = word.split_at(at);
    let (is_measure, is_numbered) = (
        is_number(first) && is_unit(second) && !first.starts_with('0'),
        is_name(first) && is_number(second),
    );
    (is_measure || is_numbered).then_some((first, second))
}

/// Returns `10kg` for `10 kg`, and `RFC2822` for `RFC 2822`.
fn joined(text: &str) -> Option<String> {
    let (first, second) = text.trim().split_once(' ')?;
    let digits = first.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let is_measure = digits.is_empty() && is_unit(second);
    let is_numbered = is_name(first) && is_number(second);
    (is_measure || is_numbered).then(|| [first, second].concat())
}

/// Returns an amount of money without its currency.
fn amount(text: &str) -> &str {
    let Some((before, after)) = text.split_once(is_currency) else {
        return text;
    };
    let has_digits = |side: &str| side.bytes().any(|byte| byte.is_ascii_digit());
    let number = if has_digits(after) { after } else { before };
    number.trim()
}

fn is_currency(character: char) -> bool {
    matches!(character,
        '$' | '\u{a2}'..='\u{a5}' | '\u{58f}' | '\u{60b}' | '\u{9f2}' | '\u{9f3}' | '\u{af1}' | '\u{bf9}'
        | '\u{e3f}' | '\u{17db}' | '\u{20a0}'..='\u{20cf}' | '\u{fdfc}' | '\u{ff04}' | '\u{ffe0}' | '\u{ffe1}'
        | '\u{ffe5}' | '\u{ffe6}')
}

/// Returns `1,000,000` and the Indian `10,00,000` for `1000000`. Years are not written so.
fn grouped(text: &str) -> Vec<String> {
    let (whole, decimals) = decimals(text);
    let is_year = whole.len() == 4 && (whole.starts_with("19") || whole.starts_with("20"));
    if !is_number(whole) || whole.len() < 4 || whole.starts_with('0') || is_year {
        return Vec::new();
    }
    let in_groups = |is_border: fn(usize) -> bool| {
        let mut grouped = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && is_border(whole.len() - at) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped + decimals
    };
    let mut ways = vec![in_groups(|left| left % 3 == 0)];
    if whole.len() > 5 {
        ways.push(in_groups(|left| left > 2 && left % 2 == 1));
    }
    ways
}

/// Returns `1000000` for `1,000,000`, `10,00,000` and `1.000.000`; `1.000` may have decimals.
fn ungrouped(text: &str) -> Option<String> {
    let (whole, decimals) = decimals(text);
    let sign = whole.chars().find(|c| !c.is_ascii_digit())?;
    let groups: Vec<&str> = whole.split(sign).collect();
    let (first, others) = groups.split_first()?;
    let is_grouped = match sign {
        '.' => others.len() > 1,
        ',' | '\'' | '’' | 'ʼ' => true,
        ' ' => true,
        sign => is_space_in_numbers(sign),
    };
    let of_three = are_groups(first, others);
    (is_grouped && (of_three || is_indian(first, others))).then(|| {
        let digits = whole.chars().filter(char::is_ascii_digit);
        digits.chain(decimals.chars()).collect()
    })
}

/// Returns whether groups have two digits, and the last one three.
fn is_indian(first: &str, others: &[&str]) -> bool {
    let Some((last, middle)) = others.split_last() else {
        return false;
    };
    let mut all = middle.iter().chain([last, &first]);
    (1..=2).contains(&first.len())
        && last.len() == 3
        && middle.iter().all(|group| group.len() == 2)
        && all.all(|group| is_number(group))
        && first != "0"
}

/// Cuts the decimals off a number, with their separator: one or two digits, since three are a group.
fn decimals(text: &str) -> (&str, &str) {
    let at = text.rfind(['.', ',']);
    match at.map(|at| text.split_at(at)) {
        Some((whole, decimals)) if decimals.len() <= 3 && is_number(&decimals[1..]) => {
            (whole, decimals)
        }
        _ => (text, ""),
    }
}

/// Returns `v1.2.3` for `1.2.3`, and the other way round. A name may follow: `1.2.3-rc1`.
fn version(text: &str) -> Option<String> {
    let plain = text.strip_prefix(['v', 'V']);
    let numbers = plain.unwrap_or(text);
    let end = numbers.find(['-', '+', '~']).unwrap_or(numbers.len());
    let numbers = &numbers[..end];
    let is_part = |part: &str| part.len() <= 3 && is_number(part);
    if !numbers.contains('.') || !numbers.split('.').all(is_part) {
        return None;
    }
    Some(plain.map_or_else(|| format!("v{text}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::spellings;

    #[test]
    fn numbers_are_written_in_several_ways() {
        for (text, expected) in [
            ("10kg", "10 kg"),
            ("10 kg", "10kg"),
            ("3.5mm", "3.5 mm"),
            ("3.5 mm", "3.5mm"),
            ("RFC2822", "RFC 2822"),
            ("RFC 2822", "RFC2822"),
            ("see RFC2822 on 8bit", "see RFC 2822 on 8 bit"),
            ("1000", "1,000"),
            ("100000", "100,000|1,00,000"),
            ("1234567.89", "1,234,567.89|12,34,567.89"),
            ("1,000", "1000"),
            ("1,00,000", "100000|100,000"),
            ("₹1,00,000", "1,00,000|100000|100,000"),
            (
                "€1.000.000,5",
                "1.000.000,5|1000000,5|1,000,000,5|10,00,000,5",
            ),
            ("US$1000", "1000|1,000"),
            ("1,000 €", "1,000|1000"),
            ("1,0,000", ""),
            ("1.000.000,5", "1000000,5|1,000,000,5|10,00,000,5"),
            ("1'000", "1000|1,000"),
            ("1 000", "1000|1,000"),
            ("1\u{2009}000\u{2009}000", "1000000|1,000,000|10,00,000"),
            ("1.2.3", "v1.2.3"),
            ("1.22.333.4444", ""),
            ("v1.2", "1.2"),
            ("3.14", "v3.14"),
            ("2.10.0-rc1", "2.10.0-rc 1|v2.10.0-rc1"),
            ("v2.10.0-rc1", "v2.10.0-rc 1|2.10.0-rc1"),
            ("2024", ""),
            ("2024-03-05", ""),
            ("0xff", ""),
            ("9f86d081", ""),
            ("0123456", ""),
            ("10:30", ""),
            ("a1", ""),
            ("report", ""),
            ("100", ""),
            (".5", ""),
        ] {
            assert_eq!(spellings(text).join("|"), expected, "{text}");
        }
    }
}
