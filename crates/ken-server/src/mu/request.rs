//! A request: the name of a command, and named parameters.

use std::path::PathBuf;

use super::error::ErrorKind;
use super::{Error, Sexp};

pub(super) struct Request {
    pub(super) command: String,
    parameters: Vec<(String, Sexp)>,
    /// The original text, for messages.
    text: String,
}

impl Request {
    /// Reads a request.
    pub(super) fn read(line: &[u8]) -> Result<Self, Error> {
        let sexp = Sexp::read(line)?;
        let text = String::from_utf8_lossy(line).trim().to_owned();
        let wrong = || {
            let message = format!("expected call-sexpr but got {text}");
            Error::new(ErrorKind::Request, message)
        };
        let Sexp::List(list) = &sexp else {
            return Err(wrong());
        };
        let Some((Sexp::Symbol(command), rest)) = list.split_first() else {
            return Err(wrong());
        };
        let mut parameters = Vec::new();
        for pair in rest.chunks(2) {
            match pair {
                [Sexp::Symbol(name), value] if name.starts_with(':') => {
                    parameters.push((name.clone(), value.clone()));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(Self {
            command: command.clone(),
            parameters,
            text,
        })
    }

    /// Returns a parameter, unless it is `nil`.
    pub(super) fn get(&self, name: &str) -> Option<&Sexp> {
        let mut parameters = self.parameters.iter();
        let found = parameters.find(|(known, _)| known == name);
        found
            .map(|(_, value)| value)
            .filter(|value| !value.is_nil())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        self.typed(name, "string", Sexp::text)
    }

    pub(super) fn path(&self, name: &str) -> Result<Option<PathBuf>, Error> {
        self.typed(name, "string", Sexp::to_path)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, Error> {
        self.typed(name, "number", |value| match value {
            Sexp::Number(number) => Some(*number),
            _ => None,
        })
    }

    pub(super) fn symbol(&self, name: &str) -> Result<Option<String>, Error> {
        self.typed(name, "symbol", |value| match value {
            Sexp::Symbol(symbol) => Some(symbol.clone()),
            _ => None,
        })
    }

    /// Returns a list of strings.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        let texts = self.typed(name, "list", |value| match value {
            Sexp::List(list) => list.iter().map(Sexp::text).collect(),
            _ => None,
        })?;
        Ok(texts.unwrap_or_default())
    }

    /// Returns a parameter, or an error if it is missing.
    pub(super) fn required<T>(&self, name: &str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| {
            let message = format!("missing required parameter {name} in call {}", self.text);
            Error::new(ErrorKind::Request, message)
        })
    }

    pub(super) fn unknown(&self) -> Error {
        let message = format!("unknown command in call {}", self.text);
        Error::new(ErrorKind::Request, message)
    }

    fn typed<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl Fn(&Sexp) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => {
                let found = match value {
                    Sexp::Symbol(_) => "symbol",
                    Sexp::Number(_) => "number",
                    Sexp::String(_) => "string",
                    Sexp::List(_) => "list",
                };
                let text = &self.text;
                let message = format!(
                    "parameter {name} expects type {wanted}, but got {found} in call {text}"
                );
                Err(Error::new(ErrorKind::Request, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_name_and_type() {
        let request = Request::read(b"(find :query \"a\" :maxnum 5 :threads t :x nil)").unwrap();
        assert_eq!(request.command, "find");
        assert_eq!(request.text(":query").unwrap().as_deref(), Some("a"));
        assert_eq!(request.number(":maxnum").unwrap(), Some(5));
        assert!(request.flag(":threads") && !request.flag(":x"));
        assert_eq!(request.number(":x").unwrap(), None);
        let error = request.text(":maxnum").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Request);
        assert!(
            error
                .message
                .starts_with("parameter :maxnum expects type string, but got number")
        );
        assert!(request.required(":docid", None::<i64>).is_err());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in ["junk", "()", "(1)", "(find :query)", "(find 1 2)", "5"] {
            let error = Request::read(line.as_bytes()).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Request, "{line}");
        }
        assert_eq!(
            Request::read(b"(find").err().unwrap().kind,
            ErrorKind::Syntax
        );
    }
}
