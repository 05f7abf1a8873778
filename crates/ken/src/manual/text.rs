//! Prints reference pages as plain text, for `ken help TOPIC`.

use super::Topic;
use super::page::{Block, Style, blocks, spans};

/// The most columns of a line, except in code.
const WIDTH: usize = 80;

/// Returns a page as text.
pub(crate) fn plain(topic: &Topic) -> String {
    let mut text = String::new();
    let mut was_dense = false;
    for block in blocks(topic.markdown) {
        // Items and entries follow each other without blank lines.
        let is_dense = matches!(block, Block::Item(_) | Block::Entry(..));
        if !(text.is_empty() || is_dense && was_dense) {
            text.push('\n');
        }
        was_dense = is_dense;
        match block {
            Block::Heading(3.., title) => put(&shown(title), "", "", &mut text),
            Block::Heading(_, title) => put(&shown(title).to_uppercase(), "", "", &mut text),
            Block::Paragraph(words) => put(&shown(&words), "  ", "  ", &mut text),
            Block::Item(words) => put(&shown(&words), "  - ", "    ", &mut text),
            Block::Entry(term, details) => {
                put(&term.replace('`', ""), "  ", "    ", &mut text);
                for detail in details {
                    put(&shown(&detail), "      ", "      ", &mut text);
                }
            }
            Block::Code(lines) => {
                for line in lines {
                    text.push_str(format!("    {line}").trim_end());
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// Returns a text without marks, except those of code, which show where it begins and ends.
fn shown(text: &str) -> String {
    let shown = spans(text).into_iter().map(|(style, text)| match style {
        Style::Code => format!("`{text}`"),
        _ => text,
    });
    shown.collect()
}

/// Appends words as lines; `first` begins the first line, `others` the following ones.
fn put(words: &str, first: &str, others: &str, out: &mut String) {
    let mut line = first.to_owned();
    let mut is_new = true;
    for word in words.split_whitespace() {
        let n_columns = line.chars().count() + 1 + word.chars().count();
        if !is_new && n_columns > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = others.to_owned();
            is_new = true;
        }
        if !is_new {
            line.push(' ');
        }
        line.push_str(word);
        is_new = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let mut out = String::new();
        put(&"word ".repeat(20), "  - ", "    ", &mut out);
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("  - word") && lines[0].len() <= WIDTH);
        assert!(lines[1].starts_with("    word"));
    }
}
