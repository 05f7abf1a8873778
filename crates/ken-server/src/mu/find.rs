//! Finds messages: in which order, with which others, in threads or not.

use std::cmp::Ordering;
use std::collections::HashSet;

use ken_core::Field;
use ken_engine::{DocAddress, Source};
use ken_mail::thread::{ThreadMessage, Threaded, threads};
use ken_search::service::Request;
use ken_search::service::mail::keep_once;

use super::error::ErrorKind;
use super::{Address, Error, Mail, MailColumn, Store};

/// The messages that are wanted.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// The query in mu's language; empty for all messages.
    pub query: String,
    /// What the messages are sorted by; their dates by default.
    pub sort: MailColumn,
    /// Whether the order is descending: from Z to A, or from new to old.
    pub descending: bool,
    /// The most messages that are found, without those that are only related.
    pub limit: Option<usize>,
    /// Whether the messages are in threads.
    pub threads: bool,
    /// Whether only the first of several messages with one identifier is shown.
    pub skip_dups: bool,
    /// Whether the other messages of their threads are shown too.
    pub related: bool,
    /// Only messages whose file changed after this time.
    pub after: Option<i64>,
}

/// A message that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The message.
    pub mail: Mail,
    /// The position in the thread, if threads were wanted.
    pub threaded: Option<Threaded>,
    /// Whether the message is only related to others that the query finds.
    pub is_related: bool,
}

impl MailColumn {
    /// Returns the field by which the index can sort, if any.
    fn column(self) -> Option<Field> {
        match self {
            Self::Date => Some(Field::Date),
            Self::Size => Some(Field::Size),
            Self::Subject => Some(Field::Title),
            Self::From => Some(Field::Author),
            Self::To => Some(Field::To),
            _ => None,
        }
    }

    fn compare(self, a: &Mail, b: &Mail) -> Ordering {
        let texts = |a: &[String], b: &[String]| a.cmp(b);
        match self {
            Self::Date => a.date.cmp(&b.date),
            Self::Bcc => by_first(&a.bcc, &b.bcc),
            Self::Cc => by_first(&a.cc, &b.cc),
            Self::Changed => a.changed.cmp(&b.changed),
            Self::Flags => a.flags().cmp(&b.flags()),
            Self::From => by_first(&a.from, &b.from),
            Self::List => a.list.cmp(&b.list),
            Self::Maildir => a.path.parent().cmp(&b.path.parent()),
            Self::MessageId => a.id.cmp(&b.id),
            Self::Path => a.path.cmp(&b.path),
            Self::Priority => weight(a).cmp(&weight(b)),
            Self::References => texts(&a.references, &b.references),
            Self::Size => a.size.cmp(&b.size),
            // The column of the index sorts in the same way.
            Self::Subject => a.subject.to_lowercase().cmp(&b.subject.to_lowercase()),
            Self::Tags => texts(&a.tags, &b.tags),
            Self::To => by_first(&a.to, &b.to),
        }
    }
}

fn by_first(a: &[Address], b: &[Address]) -> Ordering {
    let shown = |list: &[Address]| list.first().map(|a| a.display().to_lowercase());
    shown(a).cmp(&shown(b))
}

fn weight(mail: &Mail) -> u8 {
    match mail.priority.as_str() {
        "high" => 2,
        "low" => 0,
        _ => 1,
    }
}

impl Store {
    /// Finds messages.
    ///
    /// # Errors
    /// Fails if the query has a mistake or the index cannot be read.
    pub fn find(&mut self, find: &Find) -> Result<Vec<Found>, Error> {
        self.settle();
        let source = self.source()?;
        let (addresses, mut mails) = self.matching(&*source, find)?;
        let n_direct = mails.len();
        if find.related {
            // Messages that are read already are not read again.
            let others = self.service(&*source).related(&addresses)?.items;
            let known: HashSet<_> = mails.iter().map(|mail| mail.path.clone()).collect();
            let others = self.mails(&*source, &others)?.into_iter();
            mails.extend(others.filter(|mail| !known.contains(&mail.path)));
        }
        let mut found: Vec<Found> = mails
            .into_iter()
            .enumerate()
            .map(|(number, mail)| Found {
                mail,
                threaded: None,
                is_related: number >= n_direct,
            })
            .collect();
        found.sort_by(|a, b| {
            let order = find.sort.compare(&a.mail, &b.mail);
            let order = match find.descending {
                true => order.reverse(),
                false => order,
            };
            order.then_with(|| a.mail.path.cmp(&b.mail.path))
        });
        if find.skip_dups {
            let ids = found.iter().map(|found| Some(found.mail.id.clone()));
            let ids = ids.collect();
            keep_once(&mut found, ids, |found| !found.is_related);
        }
        Ok(match find.threads {
            true => in_threads(found, find.descending),
            false => found,
        })
    }

    /// Returns the messages that a query finds, and the addresses of these and of their parts.
    fn matching(
        &self,
        source: &dyn Source,
        find: &Find,
    ) -> Result<(Vec<DocAddress>, Vec<Mail>), Error> {
        let column = find.sort.column().filter(|_| find.after.is_none());
        let limit = find.limit.unwrap_or(usize::MAX);
        let field = column.unwrap_or(Field::Date);
        let request = Request {
            sort: field.info().name.to_owned(),
            // Numbers are sorted from the greatest, texts from the first letter.
            reverse: find.descending != field.is_number(),
            limit: column.and(find.limit),
            ..self.request(source, &find.query)
        };
        let service = self.service(source);
        let query = service.understand(&request)?;
        let addresses = service.search(&request, query)?.addresses();
        let mut mails = self.mails(source, &addresses)?;
        if let Some(after) = find.after {
            mails.retain(|mail| mail.modified > after);
        }
        if column.is_none() && mails.len() > limit {
            mails.sort_by(|a, b| match find.descending {
                true => find.sort.compare(b, a),
                false => find.sort.compare(a, b),
            });
            mails.truncate(limit);
        }
        Ok((addresses, mails))
    }

    /// Returns the file of a message with an identifier, the first if there are several.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn file_with_id(&mut self, id: &str) -> Result<std::path::PathBuf, Error> {
        let files = self.with_id(id)?;
        files.into_iter().next().ok_or_else(|| {
            let message = format!("could not find message(s) for msgid {id}");
            Error::new(ErrorKind::NoMatch, message)
        })
    }
}

fn in_threads(found: Vec<Found>, descending: bool) -> Vec<Found> {
    let entries: Vec<ThreadMessage<'_>> = found
        .iter()
        .map(|found| ThreadMessage {
            id: &found.mail.id,
            references: &found.mail.references,
            date: found.mail.date,
            subject: &found.mail.subject,
            path: &found.mail.path,
        })
        .collect();
    let threaded = threads(&entries, descending);
    let mut found: Vec<Option<Found>> = found.into_iter().map(Some).collect();
    let in_order = threaded.into_iter().filter_map(|threaded| {
        let found = found.get_mut(threaded.entry)?.take()?;
        Some(Found {
            threaded: Some(threaded),
            ..found
        })
    });
    in_order.collect()
}
