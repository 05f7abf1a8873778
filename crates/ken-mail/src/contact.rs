//! Contacts: addresses with names (RFC 5322 section 3.4), and their order by importance.

use std::borrow::Cow;
use std::collections::HashMap;

/// A name and an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailbox<'a> {
    /// The name; empty if there is none.
    pub name: &'a str,
    /// The address.
    pub address: &'a str,
}

impl<'a> Mailbox<'a> {
    /// Reads the text of an address in [`crate::Message`]: `Name <user@host>` or an address. Returns `None` if there
    /// is no address.
    pub fn read(text: &'a str) -> Option<Self> {
        let (name, address) = match text.strip_suffix('>').and_then(|t| t.rsplit_once('<')) {
            Some((name, address)) => (name.trim(), address),
            None => ("", text),
        };
        let is_address = address.contains('@') && !address.contains(char::is_whitespace);
        is_address.then_some(Self { name, address })
    }

    /// Returns the contact as in a header (RFC 5322 section 3.4), with the name in quotes if needed.
    pub fn quoted(&self) -> String {
        let needs_quotes = |c: char| "()<>[]:;@\\,.\"".contains(c);
        match self.name {
            "" => self.address.to_owned(),
            name if name.contains(needs_quotes) => {
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{name}\" <{}>", self.address)
            }
            name => format!("{name} <{}>", self.address),
        }
    }
}

/// A sender or recipient of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The name in the newest message that has one; empty if no message has one.
    pub name: String,
    /// The address as in the newest message.
    pub address: String,
    /// The approximate number of messages with the address: a message with the address in two fields counts twice.
    pub count: u64,
    /// The time of the newest such message, in seconds since 1970-01-01 UTC.
    pub last: i64,
    /// Whether a message from or to the user has the address.
    pub is_personal: bool,
}

/// Contacts by address, collected from messages.
#[derive(Debug, Default)]
pub struct Contacts {
    by_address: HashMap<String, (Contact, i64)>,
}

impl Contacts {
    /// Adds `count` messages with a contact, the newest at the time `last`.
    pub fn see(&mut self, value: &str, count: u64, last: i64) {
        let Some(Mailbox { name, address }) = Mailbox::read(value) else {
            return;
        };
        let key = lower(address);
        let (contact, named) = match self.by_address.get_mut(&*key) {
            Some(known) => known,
            None => {
                let contact = Contact {
                    name: String::new(),
                    address: address.to_owned(),
                    count: 0,
                    last: i64::MIN,
                    is_personal: false,
                };
                let known = self.by_address.entry(key.into_owned());
                known.or_insert((contact, i64::MIN))
            }
        };
        contact.count += count;
        if last > contact.last {
            contact.last = last;
            address.clone_into(&mut contact.address);
        }
        // Of two names of the same age the longer one says more; the result does not depend on the order.
        let says_more = (last, name.len(), name) > (*named, contact.name.len(), &*contact.name);
        if !name.is_empty() && says_more {
            *named = last;
            name.clone_into(&mut contact.name);
        }
    }

    /// Notes that a message from or to the user has the contact.
    pub fn see_personal(&mut self, value: &str) {
        let address = Mailbox::read(value).map(|mailbox| lower(mailbox.address));
        if let Some((contact, _)) = address.and_then(|address| self.by_address.get_mut(&*address)) {
            contact.is_personal = true;
        }
    }

    /// Returns the contacts by their importance at a time. Contacts of the user's own messages come first. Then the
    /// number of messages counts, halved for every half year since the last one.
    pub fn ranked(self, now: i64) -> Vec<Contact> {
        const HALF_LIFE: f64 = 182.5 * 86_400.0;
        let weight = |contact: &Contact| {
            let age = now.saturating_sub(contact.last).max(0) as f64;
            contact.count as f64 * (-age / HALF_LIFE).exp2()
        };
        let contacts = self.by_address.into_values().map(|(contact, _)| contact);
        let mut contacts: Vec<(f64, Contact)> = contacts
            .map(|contact| (weight(&contact), contact))
            .collect();
        contacts.sort_by(|(w, a), (v, b)| {
            let by_use = b.is_personal.cmp(&a.is_personal).then(v.total_cmp(w));
            by_use
                .then(b.last.cmp(&a.last))
                .then(a.address.cmp(&b.address))
        });
        contacts.into_iter().map(|(_, contact)| contact).collect()
    }
}

/// Returns the address in small letters, which most addresses already are.
fn lower(address: &str) -> Cow<'_, str> {
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    match address.bytes().all(is_lower) {
        true => Cow::Borrowed(address),
        false => Cow::Owned(address.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_distinguished_from_names() {
        for (text, name, address) in [
            ("Ann <a@x.org>", "Ann", "a@x.org"),
            ("Doe, Ann <a@x.org>", "Doe, Ann", "a@x.org"),
            ("a@x.org", "", "a@x.org"),
            ("<a@x.org>", "", "a@x.org"),
            ("A <B> <a@x.org>", "A <B>", "a@x.org"),
        ] {
            assert_eq!(
                Mailbox::read(text),
                Some(Mailbox { name, address }),
                "{text}"
            );
        }
        for text in [
            "",
            "Team",
            "undisclosed-recipients",
            "a at x.org",
            "a b@c d",
        ] {
            assert_eq!(Mailbox::read(text), None, "{text}");
        }
    }

    #[test]
    fn one_contact_is_made_of_all_forms_of_an_address() {
        let forms = [
            ("a@x.org", 5, 30),
            ("Ann <A@x.org>", 1, 10),
            ("Ann Example <a@x.org>", 2, 20),
            ("Bob <b@x.org>", 1, 40),
        ];
        let ranked = |order: &[usize]| {
            let mut contacts = Contacts::default();
            for at in order {
                let (value, count, last) = forms[*at];
                contacts.see(value, count, last);
            }
            contacts.see_personal("someone else <b@X.org>");
            contacts.ranked(50)
        };
        let expected = [
            ("Bob", "b@x.org", 1, true),
            ("Ann Example", "a@x.org", 8, false),
        ];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let found = ranked(&order);
            let found = found.iter();
            let found: Vec<_> = found
                .map(|c| (&*c.name, &*c.address, c.count, c.is_personal))
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_recent_counts_more() {
        let year = 365 * 86_400;
        let mut contacts = Contacts::default();
        contacts.see("old@x.org", 10, 0);
        contacts.see("new@x.org", 1, 10 * year);
        contacts.see("often@x.org", 3, 10 * year - 86_400);
        let ranked = contacts.ranked(10 * year);
        let order: Vec<_> = ranked.iter().map(|contact| &*contact.address).collect();
        assert_eq!(order, ["often@x.org", "new@x.org", "old@x.org"]);
    }
}
