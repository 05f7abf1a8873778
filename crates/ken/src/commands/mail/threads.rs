//! `ken mail threads`: conversations instead of messages.

use std::collections::HashSet;
use std::process::ExitCode;

use ken_index::Address;
use ken_mail::thread::{ThreadMessage, Threaded, threads};
use serde_json::json;

use super::message::Message;
use super::{Mail, all_if_zero};
use crate::cli::{Global, ThreadsArgs};
use crate::failure::Failure;
use crate::output::{self, Style};

/// More names of a thread are left out.
const MAX_NAMES: usize = 5;

pub(super) fn run(global: &Global, args: &ThreadsArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let found = mail.find(&mail.read(&args.query)?, args.reverse, 0)?;
    let matched: HashSet<Address> = found.iter().copied().collect();
    let mut shown = HashSet::new();
    let mut n_threads = 0;
    for address in &found {
        if shown.contains(address) {
            continue;
        }
        if n_threads == all_if_zero(args.limit) {
            break;
        }
        n_threads += 1;
        let mut addresses = mail.snapshot.threads(&[*address])?;
        shown.extend(addresses.iter().copied());
        if args.skip_dups {
            mail.skip_dups(&mut addresses, &matched)?;
        }
        let thread = Thread::read(&mail, &addresses, &matched)?;
        if args.json {
            output::print(&thread.json())?;
        } else {
            output::print(thread.text(&mail, style, args.tree).as_bytes())?;
        }
    }
    Ok(ExitCode::from(u8::from(n_threads == 0)))
}

struct Thread {
    messages: Vec<Message>,
    /// In the order of answers.
    tree: Vec<Threaded>,
}

impl Thread {
    fn read(
        mail: &Mail,
        addresses: &[Address],
        matched: &HashSet<Address>,
    ) -> Result<Self, Failure> {
        let mut messages = Vec::with_capacity(addresses.len());
        for address in addresses {
            messages.push(Message::read(mail, *address, matched.contains(address))?);
        }
        let references: Vec<_> = messages.iter().map(Message::references).collect();
        let entries = messages.iter().zip(&references);
        let entries = entries.map(|(message, references)| ThreadMessage {
            id: message.id(),
            references,
            date: message.date(),
            subject: message.subject(),
            path: &message.stored.location.path,
        });
        let tree = threads(&entries.collect::<Vec<_>>(), false);
        Ok(Self { messages, tree })
    }

    fn in_order(&self) -> impl Iterator<Item = (&Threaded, &Message)> {
        let tree = self.tree.iter();
        tree.filter_map(|place| Some((place, self.messages.get(place.entry)?)))
    }

    fn newest(&self) -> i64 {
        let dates = self.messages.iter().map(Message::date);
        dates.max().unwrap_or_default()
    }

    fn n_matched(&self) -> usize {
        let matched = self.messages.iter().filter(|message| message.is_matched);
        matched.count()
    }

    /// Returns the subject of the first message.
    fn subject(&self) -> &str {
        self.in_order()
            .next()
            .map_or("", |(_, first)| first.subject())
    }

    /// Returns all tags and states of its messages, each once.
    fn tags(&self) -> Vec<&str> {
        let mut tags = Vec::new();
        for message in &self.messages {
            for mark in message.marks() {
                if !tags.contains(&mark) {
                    tags.push(mark);
                }
            }
        }
        tags.sort_unstable();
        tags
    }

    fn senders(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (_, message) in self.in_order() {
            if !names.contains(&message.sender()) {
                names.push(message.sender());
            }
        }
        let more = names.len() > MAX_NAMES;
        names.truncate(MAX_NAMES);
        format!("{}{}", names.join(", "), if more { " …" } else { "" })
    }

    fn text(&self, mail: &Mail, style: Style, tree: bool) -> String {
        let date = |seconds| output::day(seconds, &mail.context.zone);
        let counts = format!("[{}/{}]", self.n_matched(), self.messages.len());
        let mut text = format!(
            "{}  {counts:>7}  {}  {}",
            style.dim(&date(self.newest())),
            output::clean(&self.senders()),
            style.bold(&output::clean(self.subject())),
        );
        let tags = self.tags();
        if !tags.is_empty() {
            let tags = format!("({})", output::clean(&tags.join(" ")));
            text.push_str(&format!("  {}", style.dim(&tags)));
        }
        text.push('\n');
        if !tree {
            return text;
        }
        for (place, message) in self.in_order() {
            let mark = if message.is_matched { '*' } else { ' ' };
            let subject = match place.has_new_subject {
                true => format!("  {}", output::clean(message.subject())),
                false => String::new(),
            };
            text.push_str(&format!(
                "  {}{mark} {:indent$}{}{subject}\n",
                style.dim(&date(message.date())),
                "",
                output::clean(message.sender()),
                indent = 2 * place.level,
            ));
        }
        text
    }

    fn json(&self) -> Vec<u8> {
        let messages = self.in_order().map(|(place, message)| {
            let mut object = message.json();
            object["level"] = json!(place.level);
            object["duplicate"] = json!(place.is_duplicate);
            object
        });
        let messages: Vec<_> = messages.collect();
        output::json_line(&json!({
            "v": output::SCHEMA,
            "date": output::time(self.newest()),
            "matched": self.n_matched(),
            "total": self.messages.len(),
            "subject": self.subject(),
            "tags": self.tags(),
            "messages": messages,
        }))
    }
}
