//! Contacts: who sent and got messages, those that matter most first.
//!
//! Counted by the columns of the index, one addition for each name in a message.

use ken_core::{Bound, Field, Plan};
use ken_mail::{Contact, Contacts};
use regex_automata::meta::Regex;

use super::error::ErrorKind;
use super::{Error, Store};

/// The fields that hold people in columns.
const PEOPLE: &[Field] = &[
    Field::Author,
    Field::To,
    Field::Cc,
    Field::Bcc,
    Field::Replyto,
];

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

impl Store {
    /// Returns contacts, those that matter most first.
    ///
    /// # Errors
    /// Fails if the pattern is wrong or the index cannot be read.
    pub fn contacts(&mut self, query: &ContactQuery) -> Result<Vec<Contact>, Error> {
        let pattern = query.pattern.as_deref().map(compiled).transpose()?;
        let mut contacts = Contacts::default();
        let all = self.plan_since("", query.after)?;
        self.see(&all, &mut |value, count, last| {
            contacts.see(value, count, last)
        })?;
        if !self.personal().texts().is_empty() {
            let personal = self.plan_since("flag:personal", query.after)?;
            self.see(&personal, &mut |value, _, _| contacts.see_personal(value))?;
        }
        let is_meant = |contact: &Contact| {
            (contact.is_personal || !query.personal)
                && pattern.as_ref().is_none_or(|pattern| {
                    pattern.is_match(&contact.name) || pattern.is_match(&contact.address)
                })
        };
        let contacts = contacts.ranked(self.now_in_seconds());
        let contacts = contacts.into_iter().filter(is_meant);
        Ok(contacts.take(query.limit.unwrap_or(usize::MAX)).collect())
    }

    fn plan_since(&mut self, query: &str, after: i64) -> Result<Plan, Error> {
        let tree = self.tree(query)?;
        let plan = self.plan(&tree)?;
        Ok(match after {
            after if after > 0 => Plan::And(vec![
                plan,
                Plan::Range {
                    field: Field::Date,
                    from: Bound::Included(after),
                    to: Bound::Unbounded,
                },
            ]),
            _ => plan,
        })
    }

    fn see(&mut self, plan: &Plan, each: &mut dyn FnMut(&str, u64, i64)) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        for seen in snapshot.seen(plan, PEOPLE)? {
            each(&seen.value, seen.count, seen.last);
        }
        Ok(())
    }
}

fn compiled(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| {
        let message = format!("\"{pattern}\" is no regular expression: {error}");
        Error::new(ErrorKind::Argument, message)
    })
}
