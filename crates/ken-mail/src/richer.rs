//! Which of two alternatives has more text: the plain one or the page?
//!
//! Usually both have the same text, and the plain one is enough. But some programs write the message only into the page,
//! and into the plain text that the mailer cannot show it.

use std::collections::HashSet;

use crate::decode::{Detect, text};
use crate::message::Text;

/// A longer plain text is kept without a comparison: a text of this length is not a mere notice.
const MAX_PLAIN_BYTES: usize = 4 << 10;

/// The most bytes of a short plain text, which is always compared. A page next to a longer one must be much larger, and
/// have twice as much text.
const SHORT_BYTES: usize = 512;

/// The most letters that are compared.
const MAX_LETTERS: usize = 32 << 10;

/// Texts are compared by sequences of this many letters, because their lines and words may break differently.
const N_LETTERS: usize = 4;

/// The alternatives that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Plain,
    Page,
    Both,
}

/// Compares a plain alternative with another one.
pub(crate) fn compare(plain: &[Text<'_>], other: &[Text<'_>], detect: Detect<'_>) -> Kept {
    let n_plain: usize = plain.iter().map(n_bytes).sum();
    let n_other: usize = other.iter().map(n_bytes).sum();
    if n_plain > MAX_PLAIN_BYTES || n_plain > SHORT_BYTES && n_other < 8 * n_plain {
        return Kept::Plain;
    }
    let (plain, page) = (letters(plain, detect), letters(other, detect));
    if n_plain > SHORT_BYTES && page.len() < 2 * plain.len() {
        return Kept::Plain;
    }
    if page.starts_with(&plain) && page.len() < 2 * plain.len() || share_in(&page, &plain) >= 0.5 {
        Kept::Plain
    } else if share_in(&plain, &page) >= 0.9 {
        Kept::Page
    } else {
        Kept::Both
    }
}

fn n_bytes(text: &Text<'_>) -> usize {
    match text {
        Text::Plain(text) => text.len(),
        Text::Html(html) => html.content.max_bytes(),
    }
}

/// Returns the share of a text that also occurs in another one; 1 for a text that is too short to compare.
fn share_in(some: &[char], other: &[char]) -> f64 {
    let other: HashSet<&[char]> = other.windows(N_LETTERS).collect();
    let n_all = some.windows(N_LETTERS).len();
    let n_found = some
        .windows(N_LETTERS)
        .filter(|letters| other.contains(letters));
    match n_all {
        0 => 1.0,
        n_all => n_found.count() as f64 / n_all as f64,
    }
}

/// Returns the letters and digits of texts, without the markup of pages.
fn letters(texts: &[Text<'_>], detect: Detect<'_>) -> Vec<char> {
    let mut letters = Vec::new();
    for part in texts {
        match part {
            Text::Plain(text) => add(text, &mut letters),
            Text::Html(html) => {
                let page = text(html.content.decode(), html.charset, detect);
                add_page(&page.to_ascii_lowercase(), &mut letters);
            }
        }
    }
    letters
}

fn add(text: &str, letters: &mut Vec<char>) {
    for c in text.chars() {
        if letters.len() >= MAX_LETTERS {
            return;
        }
        match c {
            'a'..='z' | '0'..='9' => letters.push(c),
            _ if c.is_ascii_uppercase() => letters.push(c.to_ascii_lowercase()),
            _ if !c.is_ascii() && c.is_alphanumeric() => letters.extend(c.to_lowercase()),
            _ => {}
        }
    }
}

/// Adds the letters of a page, which must be in lower case.
fn add_page(page: &str, letters: &mut Vec<char>) {
    let mut rest = page;
    while let Some(at) = rest.find(['<', '&']) {
        add(&rest[..at], letters);
        rest = &rest[at..];
        rest = match rest.strip_prefix('&') {
            Some(entity) => after_entity(entity),
            None => after_tag(rest),
        };
    }
    add(rest, letters);
}

fn after_entity(entity: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '#';
    let rest = entity.trim_start_matches(is_name);
    rest.strip_prefix(';').unwrap_or(entity)
}

/// Returns what follows a tag, or a whole element whose text is not visible.
fn after_tag(rest: &str) -> &str {
    let after = |end: &str| rest.split_once(end).map_or("", |(_, after)| after);
    if rest.starts_with("<!--") {
        return after("-->");
    }
    for (start, end) in [
        ("<head", "</head"),
        ("<style", "</style"),
        ("<script", "</script"),
        ("<title", "</title"),
    ] {
        let name_end = rest.strip_prefix(start);
        if name_end.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric())) {
            return after(end).split_once('>').map_or("", |(_, after)| after);
        }
    }
    after(">")
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::Charset;
    use crate::decode::{Content, Transfer};
    use crate::message::Html;

    fn compared(plain: &str, page: &str) -> Kept {
        let content = Content {
            raw: page.as_bytes(),
            transfer: Transfer::Identity,
        };
        let charset = Charset::Unknown;
        let page = Text::Html(Html {
            content,
            charset,
            location: String::new(),
        });
        compare(&[Text::Plain(Cow::Borrowed(plain))], &[page], &|_| {
            String::new()
        })
    }

    #[test]
    fn the_richer_alternative_is_kept() {
        let words: String = (0..200).map(|number| format!("word{number} ")).collect();
        let page = format!("<html><head><title>none</title></head><p>{words}{words}</p></html>");
        let other = "<p>and now for something else</p>".repeat(100);
        for (plain, page, kept) in [
            (
                "Hello numbat",
                "<p>Hello <b>num</b>bat&nbsp;!</p>",
                Kept::Plain,
            ),
            ("See the page", "<p>The numbat sleeps.</p>", Kept::Both),
            (
                "Dear Ann",
                "<p>Dear Ann,</p>the numbat sleeps all day long.",
                Kept::Page,
            ),
            (
                "Hi",
                "<style>p { color: red }</style><!-- no --><p>Hi",
                Kept::Plain,
            ),
            ("a plain text", "", Kept::Plain),
            (
                "日本語のメール\nです",
                "<p>日本語の<br>メールです",
                Kept::Plain,
            ),
            (&words, &page, Kept::Plain),
            (&words, &format!("{page}{other}"), Kept::Plain),
            (&words, &other.repeat(8), Kept::Both),
        ] {
            assert_eq!(compared(plain, page), kept, "{plain} {page}");
        }
    }
}
