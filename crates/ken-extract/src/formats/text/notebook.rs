//! Jupyter notebooks (`.ipynb`, <https://nbformat.readthedocs.io>): the cells and their output.
//! Pictures and widgets are left out.
//!
//! A notebook is read as a stream of JSON, with the names around each value, so that a truncated
//! notebook keeps its cells.

use ken_core::Field;

use super::json::{Token, Tokens};
use crate::input::text::read_bytes;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Jupyter notebook", &["application/x-ipynb+json"], extract).fields(&[
        Field::Title,
        Field::Author,
        Field::Keywords,
    ]);

/// Names nested deeper have no meaning.
const MAX_DEPTH: usize = 32;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (bytes, result) = read_bytes(input, output.limits())?;
    let text = crate::text::decode_owned(bytes, None);
    let limit = output.limits().max_text_bytes;
    let (mut body, mut printed) = (Body::new(limit), Body::new(limit));
    let mut tokens = Tokens::new(&text);
    let mut path = ValuePath::default();
    while let Some(token) = tokens.next()
        && !body.is_full()
    {
        match token {
            Token::Key(key) => path.key = key.into_owned(),
            Token::Open => path.open(),
            Token::Close => {
                path.close();
                printed.end_paragraph();
                // Object members are sorted by name, so the output of a cell comes before its
                // source.
                if path.around.last().is_some_and(|around| around == "cells") {
                    let printed = std::mem::replace(&mut printed, Body::new(limit));
                    body.end_paragraph();
                    body.push(printed.finish().trim_ascii_end());
                    body.end_paragraph();
                }
            }
            Token::Text(value) => {
                match role(&path.names()) {
                    Some(Role::Field(field)) => output.own().join_text(field, &value),
                    Some(Role::Source) => body.push(&value),
                    Some(Role::Printed) => printed.push(&value),
                    None => {}
                }
                path.key.clear();
            }
            Token::Other(_) => path.key.clear(),
        }
    }
    let body = body.finish();
    let document = output.own();
    if document.text(Field::Title).is_none()
        && let Some(title) = crate::formats::markup::markdown::title(&body)
    {
        document.add_text(Field::Title, &title);
    }
    document.body = body;
    result
}

/// The names of the objects and arrays around a value.
#[derive(Default)]
struct ValuePath {
    around: Vec<String>,
    /// Number of brackets beyond the limit.
    too_deep: usize,
    key: String,
}

impl ValuePath {
    fn open(&mut self) {
        if self.around.len() < MAX_DEPTH {
            self.around.push(std::mem::take(&mut self.key));
        } else {
            self.too_deep += 1;
        }
    }

    fn close(&mut self) {
        self.key.clear();
        if self.too_deep > 0 {
            self.too_deep -= 1;
        } else {
            self.around.pop();
        }
    }

    /// Returns all names, without those of array elements.
    fn names(&self) -> Vec<&str> {
        let around = self.around.iter().map(String::as_str);
        around
            .chain([self.key.as_str()])
            .filter(|name| !name.is_empty())
            .collect()
    }
}

/// The meaning of a string.
enum Role {
    Field(Field),
    Source,
    Printed,
}

/// Determines the role of a string by the names around it. Version 3 has its cells in worksheets,
/// and `input` instead of `source`.
fn role(names: &[&str]) -> Option<Role> {
    let names = names.strip_prefix(&["worksheets"]).unwrap_or(names);
    Some(match names {
        ["metadata", "title"] => Role::Field(Field::Title),
        ["metadata", "authors"] | ["metadata", "authors", "name"] => Role::Field(Field::Author),
        ["metadata", "language_info", "name"] | ["metadata", "kernelspec", "language"] => {
            Role::Field(Field::Keywords)
        }
        ["cells", "source" | "input"] => Role::Source,
        [
            "cells",
            "outputs",
            "data",
            "text/plain" | "text/markdown" | "text/latex",
        ]
        | ["cells", "outputs", "text" | "evalue"] => Role::Printed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{run, survives};

    const NOTEBOOK: Detected = Detected {
        media_type: "application/x-ipynb+json",
        kind: Kind::Source,
    };
    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/text/tides.ipynb");

    #[test]
    fn cells_and_outputs_are_text() {
        let input = Input::bytes_of("tides.ipynb", SAMPLE);
        assert_eq!(detect::detect(&input).unwrap(), NOTEBOOK);
        let found = run(extract, NOTEBOOK, "tides.ipynb", SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("Tides of the fjord"));
        assert_eq!(own.text(Field::Author), Some("Ylva Strand"));
        assert_eq!(own.text(Field::Keywords), Some("python"));
        assert_eq!(
            own.body,
            "# Tides of the *fjord*\n\nThe lumpsucker waits for \"spring\" tide.\n\
             heights = [0.3, 2.1]\nprint(max(heights), 'metres')\n2.1 metres\n\
             plot(heights)\n<Figure size 640x480 with 1 Axes>\n\
             1/0\ndivision by zero"
        );
    }

    #[test]
    fn older_and_cut_notebooks_are_read() {
        let old = br#"{"metadata": {"name": "x"}, "nbformat": 3, "worksheets": [{"cells": [
            {"cell_type": "code", "input": ["a = 1\n", "b"], "outputs": [{"text": ["out"]}]}]}]}"#;
        let found = run(extract, NOTEBOOK, "old.ipynb", old);
        assert_eq!(found.own().body, "a = 1\nb\nout");
        let half = &SAMPLE[..SAMPLE.len() / 2];
        let found = run(extract, NOTEBOOK, "half.ipynb", half);
        assert!(found.own().body.contains("lumpsucker"));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_001));
        run(extract, NOTEBOOK, "deep.ipynb", deep.as_bytes());
    }

    #[test]
    fn hostile_notebooks_are_survived() {
        survives(extract, NOTEBOOK, "tides.ipynb", SAMPLE);
    }
}
