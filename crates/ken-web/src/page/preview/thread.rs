//! A message among the others of its thread.

use ken_core::{Document, Field};
use ken_search::parse::{Clause, Tree, Value as Wanted};
use ken_search::service::Error as SearchError;
use ken_search::service::mail::{Message, MessageRequest, Which};
use serde::Serialize;

use super::block::Block;
use super::texts;
use crate::answer::Error;
use crate::page::look::Looker;
use crate::page::state::Link;
use crate::page::text::{When, person, when};

/// The most messages of a thread that are listed.
const MESSAGES: usize = 100;
/// The messages on each side of the shown one that are cards; the others are folded.
const NEAR: usize = 4;
/// The characters of the beginning of a message.
const BEGINNING: usize = 160;
/// The most attachments that a card lists.
const ATTACHMENTS: usize = 5;
/// The least quoted lines that are folded.
const QUOTED: usize = 4;

/// The other messages of a thread, from old to new.
#[derive(Default, Serialize)]
pub(super) struct Thread {
    n_messages: usize,
    /// Those before the shown message, of which the first are folded.
    far_before: Vec<Card>,
    before: Vec<Card>,
    /// Those after it, of which the last are folded.
    after: Vec<Card>,
    far_after: Vec<Card>,
}

/// A message that can be opened.
#[derive(Serialize)]
struct Card {
    author: String,
    date: Option<When>,
    href: String,
    level: usize,
    /// How its text begins.
    beginning: String,
    attachments: Vec<Link>,
}

impl Thread {
    /// Returns the thread of a message; none if it is alone.
    pub(super) fn of(looker: &Looker<'_>, document: &Document) -> Result<Option<Self>, Error> {
        let Some(id) = document.text(Field::Msgid) else {
            return Ok(None);
        };
        let clause = Clause::new(Some(Field::Msgid), Wanted::Word(id.to_owned()));
        let request = MessageRequest {
            which: Which::Query(Tree::Clause(clause).to_query(looker.service.field_names())),
            limit: Some(1),
            once: true,
            deadline_ms: looker.web.setup.access.deadline_ms,
            ..MessageRequest::default()
        };
        let mut messages: Vec<(usize, Message)> = Vec::new();
        looker.service.each_thread(&request, &mut |thread| {
            let all = thread.in_order();
            messages.extend(all.map(|(at, message)| (at.level, message.clone())));
            Ok::<_, SearchError>(())
        })?;
        let is_shown = |(_, message): &(usize, Message)| {
            looker.id(&message.location) == looker.state.doc || message.id() == id
        };
        let n_messages = messages.len();
        let Some(shown) = messages
            .iter()
            .position(is_shown)
            .filter(|_| n_messages > 1)
        else {
            return Ok(None);
        };
        // Of a long thread, those around the shown message.
        let start = shown.saturating_sub(MESSAGES / 2);
        let end = n_messages.min(start + MESSAGES);
        let thread = Self::around(looker, &messages[start..end], shown - start)?;
        Ok(Some(Self {
            n_messages,
            ..thread
        }))
    }

    fn around(
        looker: &Looker<'_>,
        messages: &[(usize, Message)],
        shown: usize,
    ) -> Result<Self, Error> {
        let cards = |messages: &[(usize, Message)], is_near| {
            let cards = messages.iter();
            let cards = cards.map(|(level, message)| Card::of(looker, message, *level, is_near));
            cards.collect::<Result<Vec<_>, Error>>()
        };
        let (before, after) = (&messages[..shown], &messages[shown + 1..]);
        let (far_before, before) = before.split_at(before.len().saturating_sub(NEAR));
        let (after, far_after) = after.split_at(after.len().min(NEAR));
        Ok(Self {
            n_messages: messages.len(),
            far_before: cards(far_before, false)?,
            before: cards(before, true)?,
            after: cards(after, true)?,
            far_after: cards(far_after, false)?,
        })
    }
}

impl Card {
    fn of(
        looker: &Looker<'_>,
        message: &Message,
        level: usize,
        is_near: bool,
    ) -> Result<Self, Error> {
        let authors = message.texts(Field::Author);
        let id = looker.id(&message.location);
        let mut card = Self {
            author: person(authors.first().unwrap_or(&"")).to_owned(),
            date: when(message.date(), &looker.service.context().zone),
            href: looker.state.showing(&id, None),
            level: level.min(8),
            beginning: String::new(),
            attachments: Vec::new(),
        };
        if is_near {
            let named = looker.service.document(&id)?;
            card.beginning =
                named.map_or_else(String::new, |named| beginning(&named.stored.document.body));
            card.attachments = attachments(looker, message)?;
        }
        Ok(card)
    }
}

/// Returns links to the files attached to a message.
fn attachments(looker: &Looker<'_>, message: &Message) -> Result<Vec<Link>, Error> {
    if !message.texts(Field::Has).contains(&"attachment") {
        return Ok(Vec::new());
    }
    let parts = looker.service.parts(message)?.items;
    let named = parts.into_iter().filter(|part| !part.name.is_empty());
    let links = named.take(ATTACHMENTS).map(|part| {
        let id = looker.id(&part.location);
        Link::new(part.name, looker.state.showing(&id, None))
    });
    Ok(links.collect())
}

/// Returns how a message begins: its own words, not those that it answers.
fn beginning(body: &str) -> String {
    let lines = body.lines().map(str::trim);
    let own = lines.filter(|line| !(line.is_empty() || is_quoted(line) || line.ends_with(':')));
    let mut text = String::new();
    for word in own.flat_map(str::split_whitespace) {
        if text.chars().count() + word.chars().count() >= BEGINNING {
            text.push_str(" …");
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

fn is_quoted(line: &str) -> bool {
    line.starts_with('>')
}

/// Folds runs of quoted lines.
pub(super) fn fold_quotes(blocks: Vec<Block>) -> Vec<Block> {
    let mut folded: Vec<Block> = Vec::new();
    let mut quoted: Vec<Block> = Vec::new();
    let flush = |quoted: &mut Vec<Block>, folded: &mut Vec<Block>| {
        if quoted.len() < QUOTED {
            folded.append(quoted);
            return;
        }
        let lines = std::mem::take(quoted);
        folded.push(Block {
            is_open: lines.iter().any(Block::has_mark),
            lines,
            ..Block::new("quote")
        });
    };
    for block in blocks {
        let first = block.text.first();
        if block.kind == "line" && first.is_some_and(|first| is_quoted(&first.text)) {
            quoted.push(block);
        } else {
            flush(&mut quoted, &mut folded);
            folded.push(block);
        }
    }
    flush(&mut quoted, &mut folded);
    folded
}

/// Returns who sent a message to whom.
pub(super) fn people(document: &Document) -> Vec<(&'static str, String)> {
    let rows = [
        ("From", Field::Author),
        ("To", Field::To),
        ("Cc", Field::Cc),
    ];
    let rows = rows.map(|(label, field)| (label, texts(document, field).join(", ")));
    rows.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::text::Text;
    use super::*;

    #[test]
    fn long_quotes_are_folded() {
        let body = "Hello\n> a\n> b\n> c\n> d\nYes\n> short";
        let text = Text::new(body, &[]);
        let kinds: Vec<_> = fold_quotes(text.blocks(0..7))
            .iter()
            .map(|of| of.kind)
            .collect();
        assert_eq!(kinds, ["line", "quote", "line", "line"]);
    }

    #[test]
    fn a_message_begins_with_its_own_words() {
        let body = "\nOn Monday Anna wrote:\n> plan?\n\nYes,\nwe can.\n";
        assert_eq!(beginning(body), "Yes, we can.");
        assert_eq!(beginning("> only\n"), "");
        let long = beginning(&"word ".repeat(100));
        assert!(long.ends_with("word …") && long.chars().count() < BEGINNING + 4);
        assert_eq!(beginning(&"x".repeat(500)), " …");
    }
}
