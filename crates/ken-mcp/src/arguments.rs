//! The arguments of a tool, read with patience: models write numbers as texts.

use serde_json::{Map, Value};

/// The characters of an answer, unless a call says something else.
const MAX_CHARS: usize = 12_000;
const FEWEST_CHARS: usize = 1_000;
const MOST_CHARS: usize = 100_000;
/// The longest text of an argument in bytes.
const MAX_TEXT: usize = 10_000;

/// The arguments of a call.
pub(crate) struct Arguments<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Arguments<'a> {
    /// Checks that nothing else was given.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let name = crate::text::line(name);
                Err(format!(
                    "there is no argument {name}; known are {}",
                    known.join(", ")
                ))
            }
        }
    }

    fn given(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a text, if it was given and is not empty.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > MAX_TEXT => {
                Err(format!("{name} is longer than {MAX_TEXT} bytes"))
            }
            Some(Value::String(text)) if text.contains('\0') => {
                Err(format!("{name} contains a NUL character"))
            }
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("{name} must be a text")),
        }
    }

    /// Returns a text that must be given.
    pub(crate) fn wanted(&self, name: &str) -> Result<&'a str, String> {
        self.text(name)?.ok_or_else(|| format!("{name} is missing"))
    }

    /// Returns one of some words; the first if none was given.
    pub(crate) fn choice(
        &self,
        name: &str,
        words: &[&'static str],
    ) -> Result<&'static str, String> {
        let Some(given) = self.text(name)? else {
            return Ok(words[0]);
        };
        let found = words.iter().find(|word| **word == given);
        let wrong = || format!("{name} must be one of {}", words.join(", "));
        found.copied().ok_or_else(wrong)
    }

    /// Returns a number up to a most.
    pub(crate) fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, String> {
        let number = match self.given(name) {
            None => return Ok(default),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok()),
        };
        let wrong = || format!("{name} must be a whole number that is not negative");
        Ok(number.ok_or_else(wrong)?.min(most))
    }

    /// Returns whether something was switched on.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(is_on)) => Ok(*is_on),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(format!("{name} must be true or false")),
        }
    }

    /// Returns how many characters the answer may have. With fewer than the fewest there is hardly room for a name.
    pub(crate) fn max_chars(&self) -> Result<usize, String> {
        match self.number("max_chars", MAX_CHARS, MOST_CHARS)? {
            number if number < FEWEST_CHARS => {
                Err(format!("max_chars must be at least {FEWEST_CHARS}"))
            }
            number => Ok(number),
        }
    }
}
