//! Threads: the messages that name each other, as a line in a list and as a tree.
//!
//! A thread has the number of the identifier of its oldest message. Each number of a message leads to its thread, so a
//! number that a client has kept stays good when an older message arrives.

use std::collections::HashMap;

use super::message::Message;

/// The order of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// From old to new.
    OldestFirst,
    /// From new to old.
    #[default]
    NewestFirst,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
}

impl Thread {
    pub(super) fn new(mut messages: Vec<Message>) -> Self {
        messages.sort_by(|a, b| (a.date, &a.files).cmp(&(b.date, &b.files)));
        Self { messages }
    }

    /// Returns the identifier of the thread: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        let number = self.messages.first().map_or(0, |first| first.number);
        format!("{number:016x}")
    }

    fn matched(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.iter().filter(|message| message.is_matched)
    }

    /// Returns the number of messages that match and are not excluded.
    pub fn n_matched(&self) -> usize {
        self.matched()
            .filter(|message| !message.is_excluded)
            .count()
    }

    /// Returns the number of files.
    pub fn n_files(&self) -> usize {
        self.messages
            .iter()
            .map(|message| message.files.len())
            .sum()
    }

    /// Returns the date of the first matching message in an order.
    pub fn date(&self, sort: Sort) -> i64 {
        let first = match sort {
            Sort::OldestFirst => self.matched().next(),
            Sort::NewestFirst => self.matched().next_back(),
        };
        first.map_or(0, |message| message.date)
    }

    /// Returns the subject: that of the first matching message in an order which has one, without `Re:`.
    pub fn subject(&self, sort: Sort) -> &str {
        let is_given = |subject: &&str| !subject.is_empty();
        let mut subjects = self.matched().map(|message| bare(&message.subject));
        let found = match sort {
            Sort::OldestFirst => subjects.find(is_given),
            Sort::NewestFirst => subjects.rev().find(is_given),
        };
        let first = || self.messages.first().map_or("", |first| &first.subject);
        found.unwrap_or_else(first)
    }

    /// Returns the senders, those of matching messages first: `Anna, Ben| Carl`.
    pub fn authors(&self) -> String {
        let mut matched: Vec<String> = Vec::new();
        let mut others: Vec<String> = Vec::new();
        for message in self.matched() {
            add(&mut matched, author(message));
        }
        for message in &self.messages {
            let author = author(message);
            if author
                .as_ref()
                .is_some_and(|author| !matched.contains(author))
            {
                add(&mut others, author);
            }
        }
        let mut authors = matched.join(", ");
        if !others.is_empty() {
            authors.push_str("| ");
            authors.push_str(&others.join(", "));
        }
        authors
    }

    /// Returns the tags of all messages, sorted.
    pub fn tags(&self) -> Vec<&str> {
        let tags = self.messages.iter().flat_map(|message| &message.tags);
        let mut tags: Vec<&str> = tags.map(String::as_str).collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// Returns the query for the messages that match, or for the others; `None` if there are none.
    pub fn query(&self, is_matched: bool) -> Option<String> {
        let wanted = self.messages.iter();
        let wanted = wanted.filter(|message| message.is_matched == is_matched);
        let terms: Vec<String> = wanted.map(|message| id_term(&message.id)).collect();
        (!terms.is_empty()).then(|| terms.join(" "))
    }
}

fn add(authors: &mut Vec<String>, author: Option<String>) {
    if let Some(author) = author
        && !authors.contains(&author)
    {
        authors.push(author);
    }
}

/// Returns the term for the message with an identifier, in quotes if it needs them.
pub(super) fn id_term(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '(' | ')');
    match !id.is_empty() && id.chars().all(is_plain) {
        true => format!("id:{id}"),
        false => format!("id:\"{}\"", id.replace('"', "\"\"")),
    }
}

/// Returns a subject without a prefix of answers.
fn bare(subject: &str) -> &str {
    let is_prefix =
        |start: &str| ["re: ", "aw: ", "vs: ", "sv: "].contains(&&*start.to_lowercase());
    match subject.split_at_checked(4) {
        Some((start, rest)) if is_prefix(start) => rest,
        _ => subject,
    }
}

/// Splits a sender into name and address.
pub(super) fn person(text: &str) -> (&str, &str) {
    match text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once('<'))
    {
        Some((name, address)) => (name.trim(), address),
        None => ("", text),
    }
}

/// Returns the name of the sender of a message, or the address. `Last, First` becomes `First Last` where the address has
/// both names in this order.
fn author(message: &Message) -> Option<String> {
    let (name, address) = person(message.from.first()?);
    if name.is_empty() {
        return Some(address.to_owned());
    }
    if let Some((last, first)) = name.split_once(',') {
        let turned = format!("{} {last}", first.trim_start());
        let dotted = turned.replace(' ', ".").to_lowercase();
        if !first.is_empty() && address.to_lowercase().contains(&dotted) {
            return Some(turned);
        }
    }
    Some(name.to_owned())
}

/// What a message says about its place in a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    pub(super) id: String,
    pub(super) in_reply_to: Option<String>,
    pub(super) references: Vec<String>,
}

/// A message of a tree: its position in the list, and the answers to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) at: usize,
    pub(super) answers: Vec<Self>,
}

/// Returns the trees of a thread, whose messages are sorted by date.
///
/// A message answers the one that `In-Reply-To` names; if that is missing, the deepest one that `References` name. The
/// only message without the former stays at the top.
pub(super) fn trees(links: &[Links]) -> Vec<Branch> {
    let positions: HashMap<&str, usize> = links
        .iter()
        .enumerate()
        .map(|(at, link)| (link.id.as_str(), at))
        .collect();
    let mut parents: Vec<Option<usize>> = links
        .iter()
        .map(|link| positions.get(link.in_reply_to.as_deref()?).copied())
        .collect();
    break_circles(&mut parents);
    let tops: Vec<usize> = (0..links.len())
        .filter(|at| parents[*at].is_none())
        .collect();
    for at in tops.iter().filter(|_| tops.len() > 1) {
        parents[*at] = deepest(links, &positions, &parents, *at);
    }
    let mut answers = vec![Vec::new(); links.len()];
    let mut roots = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => answers[*parent].push(at),
            None => roots.push(at),
        }
    }
    roots.into_iter().map(|at| branch(at, &answers)).collect()
}

fn branch(top: usize, answers: &[Vec<usize>]) -> Branch {
    // Children come before their parents when the order from above is reversed.
    let mut order = vec![top];
    let mut next = 0;
    while let Some(at) = order.get(next) {
        order.extend(&answers[*at]);
        next += 1;
    }
    let mut done: HashMap<usize, Branch> = HashMap::new();
    for at in order.into_iter().rev() {
        let answers = answers[at]
            .iter()
            .filter_map(|at| done.remove(at))
            .collect();
        done.insert(at, Branch { at, answers });
    }
    done.remove(&top).unwrap_or_default()
}

/// Makes the oldest message of each circle one without a parent.
fn break_circles(parents: &mut [Option<usize>]) {
    for at in 0..parents.len() {
        let mut above = parents[at];
        let mut n_steps = 0;
        while let Some(parent) = above
            && n_steps <= parents.len()
        {
            if parent == at {
                parents[at] = None;
                break;
            }
            above = parents[parent];
            n_steps += 1;
        }
    }
}

/// Returns the deepest message that a message names and that does not answer it.
fn deepest(
    links: &[Links],
    positions: &HashMap<&str, usize>,
    parents: &[Option<usize>],
    of: usize,
) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    for reference in &links[of].references {
        let Some(at) = positions.get(reference.as_str()) else {
            continue;
        };
        let mut depth = 0;
        let mut above = *at;
        while let Some(parent) = parents[above]
            && depth <= parents.len()
        {
            (above, depth) = (parent, depth + 1);
        }
        if above != of && best.is_none_or(|(best, _)| depth > best) {
            best = Some((depth, *at));
        }
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: &str, subject: &str, date: i64, is_matched: bool) -> Message {
        Message {
            id: format!("{date}@x"),
            from: vec![from.to_owned()],
            subject: subject.to_owned(),
            date,
            is_matched,
            ..Message::default()
        }
    }

    #[test]
    fn a_thread_is_a_line() {
        let thread = Thread::new(vec![
            message("Ben <b@x>", "Re: Plan B", 3, true),
            message("anna@x", "Plan", 1, false),
            message("Doe, Jane <jane.doe@x>", "Re: Plan", 2, true),
        ]);
        assert_eq!(thread.authors(), "Jane Doe, Ben| anna@x");
        assert_eq!(thread.subject(Sort::NewestFirst), "Plan B");
        assert_eq!(thread.subject(Sort::OldestFirst), "Plan");
        assert_eq!(thread.date(Sort::NewestFirst), 3);
        assert_eq!(thread.query(true).as_deref(), Some("id:2@x id:3@x"));
        assert_eq!(thread.n_matched(), 2);
        assert_eq!(id_term("a b\""), "id:\"a b\"\"\"");
    }

    fn drawn(rows: &[(&str, &str, &[&str])]) -> String {
        let links: Vec<Links> = rows
            .iter()
            .map(|(id, parent, references)| Links {
                id: (*id).to_owned(),
                in_reply_to: Some((*parent).to_owned()).filter(|parent| !parent.is_empty()),
                references: references.iter().map(|id| (*id).to_owned()).collect(),
            })
            .collect();
        fn draw(branches: &[Branch], links: &[Links]) -> String {
            let drawn = branches.iter().map(|branch| {
                let answers = draw(&branch.answers, links);
                format!("{}({answers})", links[branch.at].id)
            });
            drawn.collect()
        }
        draw(&trees(&links), &links)
    }

    #[test]
    fn answers_are_below_what_they_answer() {
        assert_eq!(
            drawn(&[("a", "", &[]), ("b", "a", &[]), ("c", "b", &[])]),
            "a(b(c()))"
        );
        assert_eq!(drawn(&[("a", "", &[]), ("b", "x", &["a"])]), "a(b())");
        assert_eq!(drawn(&[("a", "b", &[]), ("b", "a", &[])]), "a(b())");
        assert_eq!(drawn(&[("a", "", &[]), ("b", "", &[])]), "a()b()");
    }
}
