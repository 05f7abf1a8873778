//! Conditions of the sections of a format code (ECMA-376 part 1, 18.8.31): `[<=100]0;[>999]0,"K";0`.

use super::format_code::Token;

/// Which numbers a section is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::formats::office) struct Condition {
    operator: Operator,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Less,
    AtMost,
    Equal,
    Other,
    AtLeast,
    More,
}

/// Those of two characters come first.
const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<>", Operator::Other),
    ("<", Operator::Less),
    (">", Operator::More),
    ("=", Operator::Equal),
];

impl Condition {
    /// Returns the condition among the pieces of a section.
    pub(super) fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        tokens.iter().find_map(|token| match token {
            Token::Bracket(inside) => Self::of(inside),
            _ => None,
        })
    }

    fn of(inside: &str) -> Option<Self> {
        let (sign, operator) = OPERATORS
            .into_iter()
            .find(|(sign, _)| inside.starts_with(sign))?;
        let limit = inside[sign.len()..].trim().parse().ok()?;
        Some(Self { operator, limit })
    }

    fn holds(self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.limit,
            Operator::AtMost => value <= self.limit,
            Operator::Equal => value == self.limit,
            Operator::Other => value != self.limit,
            Operator::AtLeast => value >= self.limit,
            Operator::More => value > self.limit,
        }
    }

    /// Returns the number that a section shows, without its sign if the section is for negative numbers alone.
    fn shown(self, value: f64) -> f64 {
        let is_below =
            matches!(self.operator, Operator::Less | Operator::AtMost) && self.limit <= 0.0;
        if is_below { value.abs() } else { value }
    }
}

/// Returns the section for a number, and the number that it shows, by the conditions of the sections: without any, the second is for
/// negative numbers and the third for zero. `None` if there is no section for the number.
pub(super) fn choose(
    conditions: impl ExactSizeIterator<Item = Option<Condition>> + Clone,
    value: f64,
) -> Option<(usize, f64)> {
    let n_sections = conditions.len();
    if conditions.clone().any(|condition| condition.is_some()) {
        let is_for = |(position, condition): (usize, Option<Condition>)| match condition {
            Some(condition) => condition.holds(value),
            None => position + 1 == n_sections || (position == 0) == (value > 0.0),
        };
        let mut numbered = (0..n_sections).zip(conditions);
        let (position, condition) = numbered.find(|section| is_for(*section))?;
        return Some((
            position,
            condition.map_or(value, |condition| condition.shown(value)),
        ));
    }
    Some(match n_sections {
        2.. if value < 0.0 => (1, -value),
        3.. if value == 0.0 => (2, value),
        _ => (0, value),
    })
}
