//! Threads: the messages that answer each other.

use std::collections::HashSet;
use std::sync::Arc;

use ken_core::Field;
use ken_engine::{DocAddress, Limits};
use ken_mail::thread::{ThreadMessage, Threaded, threads};

use super::{Message, MessageRequest};
use crate::service::{Error, Service, is_complete, reached};

/// A thread: messages that answer each other.
#[derive(Clone, Debug)]
pub struct Thread {
    messages: Vec<Message>,
    /// The messages in the order of answers.
    tree: Vec<Threaded>,
}

impl Thread {
    fn of(messages: Vec<Message>) -> Self {
        let references = messages.iter().map(|message| {
            let references = message.texts(Field::References).into_iter();
            references.map(str::to_owned).collect()
        });
        let references: Vec<Vec<String>> = references.collect();
        let entries = messages.iter().zip(&references);
        let entries = entries.map(|(message, references)| ThreadMessage {
            id: message.id(),
            references,
            date: message.date(),
            subject: message.subject(),
            path: &message.location.path,
        });
        let tree = threads(&entries.collect::<Vec<_>>(), false);
        Self { messages, tree }
    }

    /// Returns the messages in the order of answers, each with its position in the tree.
    pub fn in_order(&self) -> impl Iterator<Item = (&Threaded, &Message)> {
        let tree = self.tree.iter();
        tree.filter_map(|node| Some((node, self.messages.get(node.entry)?)))
    }

    /// Returns the number of messages.
    pub fn n_messages(&self) -> usize {
        self.messages.len()
    }

    /// Returns the number of messages that the query finds.
    pub fn n_matched(&self) -> usize {
        let matched = self.messages.iter().filter(|message| message.is_matched);
        matched.count()
    }

    /// Returns when the newest message was sent.
    pub fn newest(&self) -> i64 {
        let dates = self.messages.iter().map(Message::date);
        dates.max().unwrap_or_default()
    }

    /// Returns the subject of the first message.
    pub fn subject(&self) -> &str {
        let first = self.in_order().next();
        first.map_or("", |(_, first)| first.subject())
    }

    /// Returns all tags and states of the messages, without repetition.
    pub fn marks(&self) -> Vec<&str> {
        let mut marks: Vec<&str> = self.messages.iter().flat_map(Message::marks).collect();
        marks.sort_unstable();
        marks.dedup();
        marks
    }
}

impl Service<'_> {
    /// Reads the threads of the messages that a request finds, one after the other and without the texts of messages.
    /// Returns whether no deadline or cancellation has ended the search.
    ///
    /// # Errors
    /// Fails if the query has a mistake, if the index cannot be read, or if `each` fails.
    pub fn each_thread<E: From<Error>>(
        &self,
        request: &MessageRequest,
        each: &mut dyn FnMut(Thread) -> Result<(), E>,
    ) -> Result<bool, E> {
        let limits = self.limits(request.deadline_ms);
        let limits = limits.as_ref();
        let found = self.found(request, None, limits)?;
        let matched: HashSet<DocAddress> = found.iter().copied().collect();
        let mut shown = HashSet::new();
        let mut left = request.limit.unwrap_or(usize::MAX);
        for first in &found {
            if left == 0 || reached(limits) {
                break;
            }
            if shown.contains(first) {
                continue;
            }
            left -= 1;
            let mail = self.snapshot.mail();
            let mut addresses = mail.threads(&[*first], limits).map_err(Error::from)?;
            shown.extend(addresses.iter().copied());
            if request.once {
                self.keep_messages_once(&mut addresses, &matched, limits)?;
            }
            each(self.thread(&addresses, &matched)?)?;
        }
        Ok(is_complete(limits))
    }

    fn thread(&self, of: &[DocAddress], matched: &HashSet<DocAddress>) -> Result<Thread, Error> {
        let messages = of.iter().map(|at| {
            let stored = self.snapshot.document_without_body(*at)?;
            Ok(Message::of(*at, stored, matched.contains(at)))
        });
        Ok(Thread::of(messages.collect::<Result<_, Error>>()?))
    }

    /// Returns all messages in the threads of some messages, thread by thread, each from old to new.
    pub(super) fn thread_by_thread(
        &self,
        of: &[DocAddress],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error> {
        let mut shown = HashSet::new();
        let mut all = Vec::new();
        for first in of {
            if reached(limits) {
                break;
            }
            if shown.contains(first) {
                continue;
            }
            let mut dated = Vec::new();
            for at in self.snapshot.mail().threads(&[*first], limits)? {
                let message = self.snapshot.document_without_body(at)?.document;
                dated.push((message.number(Field::Date), at));
            }
            dated.sort_unstable();
            let addresses = dated.into_iter().map(|(_, at)| at);
            all.extend(addresses.filter(|at| shown.insert(*at)));
        }
        Ok(all)
    }
}
