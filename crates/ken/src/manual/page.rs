//! Parses the Markdown of `docs/`: headings, paragraphs, lists, tables, and blocks of code.
//!
//! Each row of a table becomes an entry. The first column is the term and the others explain it, each with the head of
//! its column if there are several.

/// A block of a page; its texts hold inline marks, which [`spans`] reads.
#[derive(Debug, PartialEq)]
pub(super) enum Block<'a> {
    /// A heading, with its level.
    Heading(usize, &'a str),
    Paragraph(String),
    Item(String),
    Entry(String, Vec<String>),
    Code(Vec<&'a str>),
}

/// The style of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Code,
    Bold,
    Emphasis,
}

/// Replaces `\|` while a row is split.
const BAR: char = '\u{1}';

/// Parses a page.
pub(super) fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut heads = Vec::new();
    let mut is_apart = true;
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let was_apart = std::mem::replace(&mut is_apart, false);
        if line.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.starts_with("```"));
            blocks.push(Block::Code(code.collect()));
            is_apart = true;
        } else if line.is_empty() || line.starts_with("<!--") || line.starts_with("|---") {
            is_apart = !line.starts_with("|---");
        } else if line.starts_with('#') {
            let title = line.trim_start_matches('#');
            blocks.push(Block::Heading(line.len() - title.len(), title.trim()));
            is_apart = true;
        } else if let Some(row) = line.strip_prefix('|') {
            match was_apart || heads.is_empty() {
                true => heads = cells(row),
                false => blocks.push(entry(&heads, cells(row))),
            }
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(item.to_owned()));
        } else {
            match blocks.last_mut() {
                Some(Block::Paragraph(text) | Block::Item(text)) if !was_apart => {
                    text.push(' ');
                    text.push_str(line.trim_start());
                }
                _ => blocks.push(Block::Paragraph(line.to_owned())),
            }
        }
    }
    blocks
}

fn cells(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\u{1}");
    let cells = row.trim_end().trim_end_matches('|').split('|');
    cells.map(|cell| cell.trim().replace(BAR, "|")).collect()
}

fn entry<'a>(heads: &[String], cells: Vec<String>) -> Block<'a> {
    let mut cells = cells.into_iter();
    let term = cells.next().unwrap_or_default();
    let has_one = heads.len() == 2;
    let columns = heads.iter().skip(1).zip(cells);
    let columns = columns.filter(|(_, cell)| !cell.is_empty());
    let details = columns.map(|(head, cell)| match has_one || head.is_empty() {
        true => cell,
        false => format!("{head}: {cell}"),
    });
    Block::Entry(term, details.collect())
}

/// Splits a text into parts of one style each; a link becomes its text.
pub(super) fn spans(text: &str) -> Vec<(Style, String)> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let marked = [
            ("**", "**", Style::Bold),
            ("`", "`", Style::Code),
            ("*", "*", Style::Emphasis),
            ("[", "](", Style::Plain),
        ];
        let found = marked.into_iter().find_map(|(start, end, style)| {
            let inside = rest.strip_prefix(start)?;
            let (inside, after) = inside.split_once(end)?;
            let is_marked = !inside.is_empty() && !inside.starts_with(' ');
            is_marked.then_some((style, inside, after))
        });
        match found {
            Some((Style::Plain, inside, after)) => {
                plain.push_str(inside);
                rest = after.split_once(')').map_or("", |(_, after)| after);
            }
            Some((style, inside, after)) => {
                spans.push((Style::Plain, std::mem::take(&mut plain)));
                spans.push((style, inside.to_owned()));
                rest = after;
            }
            None => {
                let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
                let shown = escaped.filter(char::is_ascii_punctuation);
                plain.push(shown.unwrap_or(first));
                rest = &rest[first.len_utf8() + shown.map_or(0, char::len_utf8)..];
            }
        }
    }
    spans.push((Style::Plain, plain));
    spans.retain(|(_, text)| !text.is_empty());
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read() {
        let page = "# Title\n\nOne\ntwo.\n- an item\n  goes on\n\n| a | b |\n|---|---|\n| `x\\|y` | z |\n\n\
                    | a | b | c |\n|---|---|---|\n| 1 |  | 3 |\n\n```sh\nls\n\n```\n## Next\nEnd.\n";
        let expected = [
            Block::Heading(1, "Title"),
            Block::Paragraph("One two.".to_owned()),
            Block::Item("an item goes on".to_owned()),
            Block::Entry("`x|y`".to_owned(), vec!["z".to_owned()]),
            Block::Entry("1".to_owned(), vec!["c: 3".to_owned()]),
            Block::Code(vec!["ls", ""]),
            Block::Heading(2, "Next"),
            Block::Paragraph("End.".to_owned()),
        ];
        assert_eq!(blocks(page), expected);
    }

    #[test]
    fn marks_give_styles() {
        let found = spans("a `b*c` **d** *e* [f](g.md) 2 * 3 \\* h");
        let expected = [
            (Style::Plain, "a "),
            (Style::Code, "b*c"),
            (Style::Plain, " "),
            (Style::Bold, "d"),
            (Style::Plain, " "),
            (Style::Emphasis, "e"),
            (Style::Plain, " f 2 * 3 * h"),
        ];
        assert_eq!(
            found,
            expected.map(|(style, text)| (style, text.to_owned()))
        );
    }
}
