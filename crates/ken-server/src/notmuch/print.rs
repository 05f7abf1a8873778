//! Structured output: JSON, s-expressions, and text, where only the values are printed.
//!
//! Source: `devel/schemata` of notmuch 0.37. Lists and objects print as they come, so that the first results of a long
//! answer are there at once.

use std::io::{self, Write};

/// The form of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// S-expressions: objects are property lists.
    Sexp,
    /// A value per line.
    Text,
    /// Values that end with NUL.
    Text0,
}

/// Prints values.
pub struct Printer<'o> {
    form: Form,
    out: &'o mut dyn Write,
    /// The closing sign of each open list and object, and whether it is still empty.
    open: Vec<(u8, bool)>,
    separates: bool,
    prefix: &'static str,
}

impl<'o> Printer<'o> {
    /// Creates a printer.
    pub fn new(form: Form, out: &'o mut dyn Write) -> Self {
        Self {
            form,
            out,
            open: Vec::new(),
            separates: false,
            prefix: "",
        }
    }

    /// Returns whether only values are printed.
    pub fn is_text(&self) -> bool {
        matches!(self.form, Form::Text | Form::Text0)
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn begin_value(&mut self) -> io::Result<()> {
        let Some((_, is_empty)) = self.open.last_mut() else {
            return Ok(());
        };
        if std::mem::take(is_empty) {
            return Ok(());
        }
        if self.form == Form::Json {
            self.out.write_all(b",")?;
        }
        let between: &[u8] = match std::mem::take(&mut self.separates) {
            true => b"\n",
            false => b" ",
        };
        self.out.write_all(between)
    }

    fn begin(&mut self, json: [u8; 2]) -> io::Result<()> {
        if self.is_text() {
            return Ok(());
        }
        self.begin_value()?;
        let [open, close] = match self.form {
            Form::Json => json,
            _ => *b"()",
        };
        self.open.push((close, true));
        self.out.write_all(&[open])
    }

    /// Begins an object.
    pub fn begin_map(&mut self) -> io::Result<()> {
        self.begin(*b"{}")
    }

    /// Begins a list.
    pub fn begin_list(&mut self) -> io::Result<()> {
        self.begin(*b"[]")
    }

    /// Ends the last list or object.
    pub fn end(&mut self) -> io::Result<()> {
        let Some((close, _)) = self.open.pop() else {
            return Ok(());
        };
        self.out.write_all(&[close])?;
        match self.open.is_empty() {
            true => self.out.write_all(b"\n"),
            false => Ok(()),
        }
    }

    /// Prints the key of the next value.
    pub fn key(&mut self, key: &str) -> io::Result<()> {
        match self.form {
            Form::Json => {
                self.string(key)?;
                self.out.write_all(b": ")?;
                if let Some((_, is_empty)) = self.open.last_mut() {
                    *is_empty = true;
                }
                Ok(())
            }
            Form::Sexp => {
                self.begin_value()?;
                write!(self.out, ":{key}")
            }
            Form::Text | Form::Text0 => Ok(()),
        }
    }

    /// Prints a key and a text.
    pub fn entry(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.key(key)?;
        self.string(text)
    }

    /// Prints a text.
    pub fn string(&mut self, text: &str) -> io::Result<()> {
        if self.is_text() {
            if !self.prefix.is_empty() {
                write!(self.out, "{}:", self.prefix)?;
            }
            return self.out.write_all(text.as_bytes());
        }
        self.begin_value()?;
        let mut quoted = String::with_capacity(text.len() + 2);
        quoted.push('"');
        for character in text.chars() {
            match (character, self.form) {
                ('"', _) => quoted.push_str("\\\""),
                ('\\', _) => quoted.push_str("\\\\"),
                ('\n', _) => quoted.push_str("\\n"),
                ('\u{8}', Form::Json) => quoted.push_str("\\b"),
                ('\u{c}', Form::Json) => quoted.push_str("\\f"),
                ('\t', Form::Json) => quoted.push_str("\\t"),
                ('\0'..'\u{20}', Form::Json) => {
                    quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
                }
                ('\0'..'\u{20}', _) => {
                    quoted.push_str(&format!("\\{:03o}", u32::from(character)));
                }
                _ => quoted.push(character),
            }
        }
        quoted.push('"');
        self.out.write_all(quoted.as_bytes())
    }

    fn word(&mut self, json: &str, sexp: &str) -> io::Result<()> {
        if !self.is_text() {
            self.begin_value()?;
        }
        let word = if self.form == Form::Sexp { sexp } else { json };
        self.out.write_all(word.as_bytes())
    }

    /// Prints a number.
    pub fn integer(&mut self, number: i64) -> io::Result<()> {
        let number = number.to_string();
        self.word(&number, &number)
    }

    /// Prints a truth value.
    pub fn boolean(&mut self, is_true: bool) -> io::Result<()> {
        match is_true {
            true => self.word("true", "t"),
            false => self.word("false", "nil"),
        }
    }

    /// Prints that there is no value.
    pub fn null(&mut self) -> io::Result<()> {
        match self.is_text() {
            true => Ok(()),
            false => self.word("null", "nil"),
        }
    }

    /// Puts the next value on a line of its own.
    pub fn separator(&mut self) -> io::Result<()> {
        match self.form {
            Form::Text => self.out.write_all(b"\n"),
            Form::Text0 => self.out.write_all(b"\0"),
            Form::Json | Form::Sexp => {
                self.separates = true;
                Ok(())
            }
        }
    }

    /// Sets what stands before texts in text output, as in `id:1@example.org`.
    pub fn prefix(&mut self, prefix: &'static str) {
        self.prefix = prefix;
    }

    /// Hands what was printed on.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(form: Form) -> String {
        let mut out = Vec::new();
        let mut printer = Printer::new(form, &mut out);
        let mut print = || -> io::Result<()> {
            printer.prefix("id");
            printer.begin_list()?;
            printer.begin_map()?;
            printer.entry("a", "x\"\\\n\t\u{1}ü")?;
            printer.key("b")?;
            printer.boolean(true)?;
            printer.key("c")?;
            printer.begin_list()?;
            printer.end()?;
            printer.end()?;
            printer.separator()?;
            printer.null()?;
            printer.integer(-4)?;
            printer.end()
        };
        print().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_form_has_its_signs() {
        assert_eq!(
            printed(Form::Json),
            "[{\"a\": \"x\\\"\\\\\\n\\t\\u0001ü\", \"b\": true, \"c\": []},\nnull, -4]\n"
        );
        assert_eq!(
            printed(Form::Sexp),
            "((:a \"x\\\"\\\\\\n\\011\\001ü\" :b t :c ())\nnil -4)\n"
        );
        assert_eq!(printed(Form::Text), "id:x\"\\\n\t\u{1}ütrue\n-4");
        assert!(printed(Form::Text0).contains("true\0-4"));
    }
}
