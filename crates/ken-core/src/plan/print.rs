//! Plans as s-expressions, for tests and `--explain`.

use std::fmt;

use super::{Bound, Form, Pattern, Plan, Span, Word, Written};
use crate::{Field, FieldNames};

impl Plan {
    /// Returns the plan as an s-expression with the given names of custom fields.
    pub fn printed<'p>(&'p self, names: &'p FieldNames) -> impl fmt::Display + 'p {
        Printed { plan: self, names }
    }
}

/// Prints like [`Plan::printed`], without names of custom fields.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.printed(&FieldNames::TABLE).fmt(f)
    }
}

struct Printed<'p> {
    plan: &'p Plan,
    names: &'p FieldNames,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |field: &Field| self.names.name(*field);
        let part = |part| Printed {
            plan: part,
            names: self.names,
        };
        match self.plan {
            Plan::All => f.write_str("(all)"),
            Plan::Nothing => f.write_str("(nothing)"),
            Plan::Word(word) => word.write(f, word.field.as_ref().map(name)),
            Plan::Match { field, pattern } => match pattern {
                Pattern::Term(term) => write!(f, "({} {term:?})", name(field)),
                pattern => pattern.write(f, Some(name(field))),
            },
            Plan::Span { field, span } => match span {
                Span::Phrase(terms) => phrase(f, Some(name(field)), terms),
                span => write!(f, "({} {span})", name(field)),
            },
            Plan::Range { field, from, to } => {
                write!(f, "(range {} ", name(field))?;
                match from {
                    Bound::Included(n) => write!(f, "[{n} ")?,
                    Bound::Excluded(n) => write!(f, "]{n} ")?,
                    Bound::Unbounded => f.write_str("* ")?,
                }
                match to {
                    Bound::Included(n) => write!(f, "{n}])"),
                    Bound::Excluded(n) => write!(f, "{n}[)"),
                    Bound::Unbounded => f.write_str("*)"),
                }
            }
            Plan::And(parts) => list(f, "and", parts.iter().map(part)),
            Plan::Or(parts) => list(f, "or", parts.iter().map(part)),
            Plan::Xor(left, right) => write!(f, "(xor {} {})", part(left), part(right)),
            Plan::Not(of) => write!(f, "(not {})", part(of)),
            Plan::Weight(weight, of) => write!(f, "(weight {weight} {})", part(of)),
            Plan::Filter(of) => write!(f, "(filter {})", part(of)),
            Plan::Prefer(of) => write!(f, "(prefer {})", part(of)),
            Plan::Thread(of) => write!(f, "(thread {})", part(of)),
            Plan::Carrier(of) => write!(f, "(carrier {})", part(of)),
        }
    }
}

/// Prints as in a plan, without names of custom fields.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.field.map(Field::name))
    }
}

impl Word {
    /// Writes the word, in braces if it is searched for in every field. A stem prints as its word, as it is the usual
    /// case.
    fn write(&self, f: &mut fmt::Formatter<'_>, field: Option<&str>) -> fmt::Result {
        let (open, close) = match field {
            Some(_) => ('(', ')'),
            None => ('{', '}'),
        };
        if self.folders {
            f.write_str("folders ")?;
        }
        if let [form] = self.forms.as_slice()
            && form.weight == 1.0
        {
            write!(f, "{open}")?;
            form.span.write_inside(f, field)?;
            return write!(f, "{close}");
        }
        write!(f, "{open}forms")?;
        if let Some(field) = field {
            write!(f, " {field}")?;
        }
        for Form { span, weight, .. } in &self.forms {
            match *weight {
                1.0 => write!(f, " {span}")?,
                weight => write!(f, " {weight}*{span}")?,
            }
        }
        write!(f, "{close}")
    }
}

impl Span {
    /// Writes the pattern without the parentheses around it.
    fn write_inside(&self, f: &mut fmt::Formatter<'_>, field: Option<&str>) -> fmt::Result {
        let text = match (self, field) {
            (Self::Match(Pattern::Stem(word)), None) => return write!(f, "{word:?}"),
            (Self::Match(Pattern::Stem(word)), Some(field)) => {
                return write!(f, "{field} {word:?}");
            }
            (Self::Match(Pattern::Term(term)), None) => return write!(f, "exact {term:?}"),
            (Self::Match(Pattern::Term(term)), Some(field)) => {
                return write!(f, "exact {field} {term:?}");
            }
            (Self::Match(pattern), field) => Inside(&|f| pattern.write(f, field)).to_string(),
            (Self::Phrase(terms), field) => Inside(&|f| phrase(f, field, terms)).to_string(),
            (span, None) => return write!(f, "{span}"),
            (span, Some(field)) => return write!(f, "{field} {span}"),
        };
        let inside = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        f.write_str(inside.unwrap_or(&text))
    }
}

/// Prints what a function writes.
struct Inside<'a>(&'a dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None)
    }
}

impl Pattern {
    fn write(&self, f: &mut fmt::Formatter<'_>, field: Option<&str>) -> fmt::Result {
        let at = Inside(&|f| field.map_or(Ok(()), |field| write!(f, "{field} ")));
        match self {
            Self::Term(term) => write!(f, "{at}{term:?}"),
            Self::Prefix(prefix) => write!(f, "(prefix {at}{prefix:?})"),
            Self::Glob(glob) => write!(f, "(glob {at}{glob})"),
            Self::Name(glob) => write!(f, "(name {at}{:?})", glob.to_string()),
            Self::Regex(regex) => write!(f, "(regex {at}{regex:?})"),
            Self::Range(from, to) => {
                let end = |end: &Bound<String>| match end {
                    Bound::Included(term) | Bound::Excluded(term) => format!("{term:?}"),
                    Bound::Unbounded => "*".to_owned(),
                };
                write!(f, "(terms {at}{} {})", end(from), end(to))
            }
            Self::Fuzzy(term, distance) => write!(f, "(fuzzy {at}{term:?} {distance})"),
            Self::Stem(word) => write!(f, "(stem {at}{word:?})"),
            Self::Any(terms) => {
                write!(f, "(any {at}")?;
                let terms: Vec<String> = terms.iter().map(|term| format!("{term:?}")).collect();
                write!(f, "{})", terms.join(" "))
            }
            Self::Written(written) => write!(f, "(written {at}{written})"),
            Self::Border => write!(f, "{at}border"),
            Self::Folder(folders) => {
                let name = if folders.is_maildir {
                    "maildirs"
                } else {
                    "folders"
                };
                write!(f, "({name} {at}{:?}", folders.expression)?;
                match &folders.all_mail {
                    Some(all_mail) => write!(f, " in {all_mail:?})"),
                    None => f.write_str(")"),
                }
            }
            Self::Whole(whole) => {
                let name = if whole.is_exact { "exact" } else { "whole" };
                write!(f, "({name} {at}{:?})", whole.expression)
            }
            Self::Address(expressions) => {
                write!(f, "(address {at}")?;
                let expressions = expressions.iter().map(|regex| format!("{regex:?}"));
                write!(f, "{})", expressions.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\" ", self.terms, self.text)?;
        f.write_str(if self.case { "C" } else { "" })?;
        f.write_str(if self.diacritics { "D" } else { "" })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Match(pattern) => pattern.fmt(f),
            Self::Any(parts) => list(f, "any", parts),
            Self::Phrase(terms) => phrase(f, None, terms),
            Self::Near {
                parts,
                slop,
                ordered,
            } => {
                let name = if *ordered { "ordered" } else { "near" };
                list(f, &format!("{name} {slop}"), parts)
            }
        }
    }
}

fn phrase(
    f: &mut fmt::Formatter<'_>,
    field: Option<&str>,
    terms: &[(u32, Pattern)],
) -> fmt::Result {
    f.write_str("(phrase")?;
    if let Some(field) = field {
        write!(f, " {field}")?;
    }
    for (position, pattern) in terms {
        write!(f, " {position}:{pattern}")?;
    }
    f.write_str(")")
}

fn list(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    parts: impl IntoIterator<Item: fmt::Display>,
) -> fmt::Result {
    write!(f, "({name}")?;
    for part in parts {
        write!(f, " {part}")?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_print_as_s_expressions() {
        let plan = Plan::And(vec![
            Plan::Weight(
                3.0,
                Box::new(Plan::Match {
                    field: Field::Title,
                    pattern: Pattern::Term("budget".into()),
                }),
            ),
            Plan::Not(Box::new(Plan::Range {
                field: Field::Size,
                from: Bound::Excluded(5),
                to: Bound::Unbounded,
            })),
        ]);
        assert_eq!(
            plan.to_string(),
            r#"(and (weight 3 (title "budget")) (not (range size ]5 *)))"#
        );
    }
}
