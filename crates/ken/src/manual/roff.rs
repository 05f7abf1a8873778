//! Writes man pages in the macros of man(7).

use std::fmt::Write;

use super::page::{Block, Style, spans};

/// Returns the title and the line NAME of a page.
pub(super) fn head(name: &str, section: u8, about: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let title = escaped(&name.to_uppercase());
    let name = escaped(name);
    format!(
        ".TH {title} {section} \"\" \"ken {version}\"\n.SH NAME\n{name} \\- {}\n",
        escaped(about)
    )
}

/// Returns the blocks of a page as sections.
pub(super) fn body(blocks: &[Block<'_>]) -> String {
    let mut out = String::from(".SH DESCRIPTION\n");
    let mut is_first = true;
    for block in blocks {
        match block {
            // The head of the page has the name.
            Block::Heading(1, _) => continue,
            Block::Heading(2, title) if is_first => {
                out = section(title);
            }
            Block::Heading(2, title) => out.push_str(&section(title)),
            Block::Heading(_, title) => put(&mut out, &[".SS ", &styled(title), "\n"]),
            Block::Paragraph(text) => put(&mut out, &[".PP\n", &line(text)]),
            Block::Item(text) => put(&mut out, &[".IP \\(bu 2\n", &line(text)]),
            Block::Entry(term, details) => {
                put(&mut out, &[".TP\n", &line(term)]);
                let details: Vec<_> = details.iter().map(|detail| line(detail)).collect();
                put(&mut out, &[&details.join(".br\n")]);
            }
            Block::Code(lines) => out.push_str(&code(lines)),
        }
        is_first = false;
    }
    out
}

/// Returns the head of a section.
pub(super) fn section(title: &str) -> String {
    format!(".SH {}\n", styled(&title.to_uppercase()))
}

/// Returns an entry: a term and its explanation.
pub(super) fn entry(term: &str, explanation: &str) -> String {
    format!(".TP\n{}{}", line(term), line(explanation))
}

/// Returns lines unchanged but indented.
fn code(lines: &[&str]) -> String {
    let mut out = String::from(".PP\n.RS 4\n.nf\n");
    for line in lines {
        put(&mut out, &[&guarded(&escaped(line)), "\n"]);
    }
    out.push_str(".fi\n.RE\n");
    out
}

/// Returns the section that names other pages, each with its section of the manual: `ken-query(7)`.
pub(super) fn see_also(references: &[String]) -> String {
    let mut out = section("see also");
    for (at, reference) in references.iter().enumerate() {
        let (name, number) = reference.split_once('(').unwrap_or((reference, ""));
        let comma = if at + 1 < references.len() { "," } else { "" };
        // Writing to a vector cannot fail.
        let _ = writeln!(out, ".BR {} ({number}{comma}", escaped(name));
    }
    out
}

fn put(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
}

/// Returns a line of text.
fn line(text: &str) -> String {
    guarded(&styled(text)) + "\n"
}

fn styled(text: &str) -> String {
    let spans = spans(text).into_iter();
    let styled = spans.map(|(style, text)| match style {
        Style::Plain => escaped(&text),
        Style::Code | Style::Bold => format!("\\fB{}\\fR", escaped(&text)),
        Style::Emphasis => format!("\\fI{}\\fR", escaped(&text)),
    });
    styled.collect()
}

/// Returns a line that roff does not take as a request.
fn guarded(line: &str) -> String {
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    }
}

/// Returns text with special characters by name: groff_char(7).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_request() {
        assert_eq!(line(".SH `a-b` c\\d"), "\\&.SH \\fBa\\-b\\fR c\\ed\n");
        assert_eq!(code(&["'x'"]), ".PP\n.RS 4\n.nf\n\\(aqx\\(aq\n.fi\n.RE\n");
        let references = ["ken(1)".to_owned(), "ken-query(7)".to_owned()];
        let expected = ".SH SEE ALSO\n.BR ken (1),\n.BR ken\\-query (7)\n";
        assert_eq!(see_also(&references), expected);
    }
}
