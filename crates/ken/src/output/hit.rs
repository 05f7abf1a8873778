//! Prints hits for people.

use std::ops::Range;
use std::path::Path;

use jiff::tz::TimeZone;
use ken_core::{Field, Kind};
use ken_mail::Mailbox;
use ken_search::service::{Hit, Place, Titles, day};
use ken_search::snippet::Fragment;

use super::{Room, Style, cause_text, clean, clean_address, has_lines, size, width, wrapped};

/// How hits look.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) style: Style,
    pub(crate) zone: &'a TimeZone,
    /// The columns of the terminal, on which hits are numbered; none if there is no terminal.
    pub(crate) columns: Option<usize>,
    /// The digits of the greatest number.
    pub(crate) n_digits: usize,
    /// Describes the hits that a hit represents.
    pub(crate) more_of: &'a str,
    /// Finds the words of the query in titles.
    pub(crate) titles: Option<&'a Titles>,
}

/// Returns a hit as lines of text.
pub(crate) fn hit_text(hit: &Hit, look: Look<'_>) -> String {
    let (style, indent) = (look.style, look.indent());
    let title = hit.title().unwrap_or("(no name)");
    let marks = look.titles.map(|titles| titles.marks(&hit.document));
    let title = look.lines(title, &marks.unwrap_or_default(), 0, style.emphatic());
    let mut text = match look.columns {
        Some(_) => {
            let number = style.dim(&format!("{:>1$}", hit.rank, look.n_digits));
            format!("{number}  {title}\n")
        }
        None => format!("{title}\n"),
    };
    text.push_str(&look.where_it_is(hit));
    for passage in &hit.snippets {
        let shown = match hit.has_several && !passage.highlights.is_empty() {
            true => match_line(passage, look),
            false => look.passage(passage, "", indent + 2),
        };
        text.push_str(&shown);
    }
    if let Some(more) = hit.more.filter(|more| *more > 0) {
        let more = format!("and {more} more {}", look.more_of);
        text.push_str(&format!("{}{}\n", spaces(indent + 2), style.dim(&more)));
    }
    text
}

/// Returns the place that is shown behind the path of a hit: that of its first match, if a program can show it.
pub(crate) fn place(hit: &Hit) -> Option<Place> {
    // A hit by its name alone has no match in the text.
    let first = hit.snippets.iter().find(|of| !of.highlights.is_empty())?;
    match first.page {
        Some(page) => Some(Place::Page(page)),
        None if hit.document.media_type == "application/pdf" => Some(Place::Page(1)),
        None => has_lines(&hit.document).then_some(Place::Line(first.line)),
    }
}

/// Returns a match as a line: page or line number, and the passage.
pub(crate) fn match_line(passage: &Fragment, look: Look<'_>) -> String {
    let at = match passage.page {
        Some(page) => format!("p. {page}: "),
        None => format!("{}: ", passage.line),
    };
    look.passage(passage, &at, look.indent() + 2)
}

fn spaces(n: usize) -> String {
    " ".repeat(n)
}

impl Look<'_> {
    /// Returns the columns before all lines of a hit but its title.
    fn indent(&self) -> usize {
        match self.columns {
            Some(_) => self.n_digits + 2,
            None => 2,
        }
    }

    /// Returns a text in lines that fit, of which all but the first are indented by that of hits and more.
    fn lines(&self, text: &str, marks: &[Range<usize>], more: usize, style: Style) -> String {
        let room = Room {
            columns: self.columns,
            indent: self.indent() + more,
        };
        wrapped(text, marks, room, style)
    }

    /// Returns the line with the path of a hit, and what else is known of it.
    fn where_it_is(&self, hit: &Hit) -> String {
        let (path, path_width) = self.path(hit);
        let facts = self.facts(hit).join("  ");
        let (indent, before) = (self.indent(), spaces(self.indent()));
        let needs = indent + path_width + 2 + width(&facts);
        let shown = self.style.dim(&facts);
        match self.columns {
            Some(columns) if needs > columns && !facts.is_empty() => {
                format!("{before}{path}\n{before}{shown}\n")
            }
            _ => format!("{before}{path}  {shown}\n"),
        }
    }

    /// Returns the path of a hit with its place, and its width. On a terminal, where a number names the hit, a message has
    /// its folder: names of files in a Maildir say nothing.
    fn path(&self, hit: &Hit) -> (String, usize) {
        let mut shown = hit.location.to_string();
        if self.columns.is_some() && hit.document.kind == Kind::Message {
            shown = folder(&hit.location.path).display().to_string();
        }
        let shown = clean_address(&shown).into_owned();
        let behind = match (place(hit), &hit.sheet) {
            _ if hit.has_several => String::new(),
            (Some(Place::Page(_)), Some(sheet)) => format!(" sheet {}", clean(sheet)),
            (Some(Place::Page(page)), None) => format!(" p. {page}"),
            (Some(Place::Line(line)), _) => format!(":{line}"),
            (None, _) => String::new(),
        };
        let n_columns = width(&shown) + width(&behind);
        let link = self
            .style
            .link(&hit.location.path, &self.style.path(&shown));
        (format!("{link}{behind}"), n_columns)
    }

    fn facts(&self, hit: &Hit) -> Vec<String> {
        let document = &hit.document;
        let mut facts = Vec::new();
        if let Some(author) = document.text(Field::Author)
            && document.kind == Kind::Message
        {
            facts.push(clean(person(author)).into_owned());
        }
        if let Some(date) = document.number(Field::Date) {
            facts.push(day(date, self.zone));
        }
        if let Some(bytes) = document.number(Field::Size) {
            facts.push(size(bytes));
        }
        if let Some(failure) = &document.failure {
            let cause = cause_text(&failure.cause);
            let failed = format!("{}: {}", failure.reason().name(), clean(&cause));
            facts.push(failed);
        }
        facts
    }

    fn passage(&self, fragment: &Fragment, at: &str, indent: usize) -> String {
        let start = if fragment.cut_start { "…" } else { "" };
        let end = if fragment.cut_end { "…" } else { "" };
        let text = format!("{start}{}{end}", fragment.text);
        let marks = fragment.highlights.iter();
        let marks: Vec<Range<usize>> = marks
            .map(|mark| mark.start + start.len()..mark.end + start.len())
            .collect();
        let more = indent + width(at) - self.indent();
        let shown = self.lines(&text, &marks, more, self.style);
        format!("{}{}{shown}\n", spaces(indent), self.style.dim(at))
    }
}

/// Returns the folder of a message: that of the Maildir for one in `cur` or `new`.
fn folder(path: &Path) -> &Path {
    let parent = path.parent().unwrap_or(path);
    let is_of_maildir = ["cur", "new"].iter().any(|name| parent.ends_with(name));
    match is_of_maildir {
        true => parent.parent().unwrap_or(parent),
        // A mailbox, or a message by itself.
        false => path,
    }
}

/// Returns the name in an address of mail, or the address.
pub(crate) fn person(address: &str) -> &str {
    match Mailbox::read(address) {
        Some(mailbox) if !mailbox.name.is_empty() => mailbox.name,
        Some(mailbox) => mailbox.address,
        None => address,
    }
}
