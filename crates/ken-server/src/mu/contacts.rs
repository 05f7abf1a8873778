//! Contacts: who sent and got messages, the most useful first.

use std::collections::HashMap;

use ken_index::{Collapse, Request};
use regex_automata::meta::Regex;

use super::error::ErrorKind;
use super::{Address, Error, Mail, Store};

/// Messages of which the addresses are read at once.
const AT_ONCE: usize = 1_000;

/// Somebody who sent or got messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// With the name of the newest message that has one.
    pub address: Address,
    /// Whether it was seen in a message from or to the user.
    pub is_personal: bool,
    /// When it was seen last.
    pub last_seen: i64,
    /// In how many messages it was seen.
    pub count: usize,
}

/// Which contacts are asked for.
#[derive(Clone, Debug, Default)]
pub struct ContactQuery {
    /// A regular expression that the name or the address matches.
    pub pattern: Option<String>,
    /// Only those of messages from or to the user.
    pub personal: bool,
    /// Only those that were seen at or after this time.
    pub after: i64,
    /// How many at most.
    pub limit: Option<usize>,
}

/// What is known of an address while messages are read.
#[derive(Default)]
struct Known {
    name: String,
    named_at: i64,
    email: String,
    is_personal: bool,
    last_seen: i64,
    count: usize,
}

impl Store {
    /// Returns contacts: those of the user's own messages first, then the newer, then the more frequent.
    ///
    /// # Errors
    /// Fails if the pattern is wrong or the index cannot be read.
    pub fn contacts(&mut self, query: &ContactQuery) -> Result<Vec<Contact>, Error> {
        let pattern = match &query.pattern {
            Some(pattern) => Some(compiled(pattern)?),
            None => None,
        };
        let mut contacts = self.all_contacts()?;
        contacts.retain(|contact| {
            let is_matched = |regex: &Regex| {
                regex.is_match(&contact.address.name) || regex.is_match(&contact.address.email)
            };
            contact.last_seen >= query.after
                && (contact.is_personal || !query.personal)
                && pattern.as_ref().is_none_or(is_matched)
        });
        rank(&mut contacts);
        contacts.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(contacts)
    }

    fn all_contacts(&mut self) -> Result<Vec<Contact>, Error> {
        let tree = self.tree("")?;
        let plan = self.plan(&tree)?;
        let request = Request {
            collapse: Some(Collapse::File),
            order: ken_core::Order {
                key: ken_core::SortKey::Path,
                reverse: false,
            },
            ..Request::new(&plan)
        };
        let hits = self.snapshot()?.find(&request)?.hits;
        let mut places: Vec<_> = hits.iter().map(|hit| hit.address).collect();
        // As they lie on disk.
        places.sort_unstable();
        let mut known = HashMap::new();
        for places in places.chunks(AT_ONCE) {
            for mail in self.mails(places)? {
                note(&mail, &mut known);
            }
        }
        Ok(known.into_values().map(Known::contact).collect())
    }
}

fn note(mail: &Mail, known: &mut HashMap<String, Known>) {
    let all = [&mail.from, &mail.to, &mail.cc, &mail.bcc, &mail.reply_to];
    for address in all.into_iter().flatten() {
        if !address.email.contains('@') {
            continue;
        }
        let contact = known.entry(address.email.to_lowercase()).or_default();
        if contact.email.is_empty() {
            contact.email.clone_from(&address.email);
        }
        if !address.name.is_empty() && (contact.name.is_empty() || mail.date > contact.named_at) {
            contact.name.clone_from(&address.name);
            contact.named_at = mail.date;
        }
        contact.is_personal |= mail.is_personal;
        contact.last_seen = contact.last_seen.max(mail.date);
        contact.count += 1;
    }
}

impl Known {
    fn contact(self) -> Contact {
        Contact {
            address: Address {
                name: self.name,
                email: self.email,
            },
            is_personal: self.is_personal,
            last_seen: self.last_seen,
            count: self.count,
        }
    }
}

/// How long a contact counts as one that is written to now, in seconds.
const RECENT: i64 = 15 * 24 * 3600;

/// Sorts contacts: personal ones first; of those seen in the last days of all mail the frequent ones.
fn rank(contacts: &mut [Contact]) {
    let newest = contacts
        .iter()
        .map(|c| c.last_seen)
        .max()
        .unwrap_or_default();
    contacts.sort_by(|a, b| {
        let key = |c: &Contact| (c.is_personal, c.last_seen > newest - RECENT);
        key(b)
            .cmp(&key(a))
            .then_with(|| b.count.cmp(&a.count))
            .then_with(|| b.last_seen.cmp(&a.last_seen))
            .then_with(|| a.address.email.cmp(&b.address.email))
    });
}

fn compiled(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| {
        let message = format!("\"{pattern}\" is no regular expression: {error}");
        Error::new(ErrorKind::Argument, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(from: &str, to: &str, date: i64, is_personal: bool) -> Mail {
        Mail {
            from: vec![Address::read(from)],
            to: vec![Address::read(to)],
            date,
            is_personal,
            ..Mail::default()
        }
    }

    #[test]
    fn contacts_are_ranked_by_use() {
        let day = 24 * 3600;
        let mut known = HashMap::new();
        for mail in [
            mail("Old Name <a@b>", "list@x", day, false),
            mail("New Name <A@B>", "list@x", 99 * day, false),
            mail("c@d", "me@x", 90 * day, true),
            mail("e@f", "me@x", 10 * day, true),
        ] {
            note(&mail, &mut known);
        }
        let mut contacts: Vec<_> = known.into_values().map(Known::contact).collect();
        rank(&mut contacts);
        let shown: Vec<_> = contacts.iter().map(|c| c.address.display()).collect();
        assert_eq!(shown, ["me@x", "c@d", "e@f", "New Name <a@b>", "list@x"]);
        assert_eq!(contacts[0].count, 2);
    }
}
