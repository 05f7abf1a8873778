//! Contacts: names and addresses seen in messages, most important first.
//!
//! Contacts are counted from the columns of the index, with one addition for each name in a message.

use ken_core::{Bound, Field, Plan};
use ken_mail::{Contact, Contacts};
use regex_automata::meta::Regex;
use serde::{Deserialize, Serialize};

use super::among_messages;
use crate::parse::{Syntax, parse};
use crate::plan::plan;
use crate::service::{Error, Request, Service};

/// The fields with names and addresses.
const PEOPLE: &[Field] = &[
    Field::Author,
    Field::To,
    Field::Cc,
    Field::Bcc,
    Field::Replyto,
];

/// A request for contacts. The default asks for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactRequest {
    /// The query that selects the messages.
    pub query: String,
    /// The language of the query.
    pub syntax: Syntax,
    /// Queries in ken's language that the messages must match too.
    pub filters: Vec<String>,
    /// The earliest time of the messages, in seconds since 1970-01-01 UTC.
    pub since: Option<i64>,
    /// A regular expression that must match the name or address, in any case.
    pub pattern: Option<String>,
    /// Only contacts in messages from or to the user.
    pub personal: bool,
    /// The most contacts to return; all if absent.
    pub limit: Option<usize>,
}

impl Default for ContactRequest {
    fn default() -> Self {
        Self {
            query: "*".to_owned(),
            syntax: Syntax::Ken,
            filters: Vec::new(),
            since: None,
            pattern: None,
            personal: false,
            limit: None,
        }
    }
}

impl Service<'_> {
    /// Returns contacts, most important first.
    ///
    /// # Errors
    /// Fails if the pattern or the query has a mistake, or if the index cannot be read.
    pub fn contacts(&self, request: &ContactRequest) -> Result<Vec<Contact>, Error> {
        let pattern = request.pattern.as_deref().map(compiled).transpose()?;
        let mut contacts = Contacts::default();
        let all = self.looked_at(request)?;
        for seen in self.snapshot.mail().seen(&all, PEOPLE)? {
            contacts.see(&seen.value, seen.count, seen.last);
        }
        if !self.context.own_addresses.is_empty() {
            let personal = plan(&parse("is:personal")?, &self.context);
            for seen in self
                .snapshot
                .mail()
                .seen(&Plan::And(vec![personal, all]), PEOPLE)?
            {
                contacts.see_personal(&seen.value);
            }
        }
        let is_meant = |contact: &Contact| {
            (contact.is_personal || !request.personal)
                && pattern.as_ref().is_none_or(|pattern| {
                    pattern.is_match(&contact.name) || pattern.is_match(&contact.address)
                })
        };
        let contacts = contacts.ranked(self.context.now.as_second());
        let contacts = contacts.into_iter().filter(is_meant);
        Ok(contacts.take(request.limit.unwrap_or(usize::MAX)).collect())
    }

    /// Returns the plan that selects the messages.
    fn looked_at(&self, request: &ContactRequest) -> Result<Plan, Error> {
        let query = self.understand(&Request {
            query: request.query.clone(),
            syntax: request.syntax,
            filters: request.filters.clone(),
            ..Request::default()
        })?;
        let plan = match request.syntax {
            // The languages of mail programs find only messages.
            Syntax::Mu | Syntax::Notmuch => query.plan,
            Syntax::Ken | Syntax::Recoll => {
                among_messages(Some(query.plan).filter(|plan| *plan != Plan::All))
            }
        };
        Ok(match request.since {
            Some(since) => Plan::And(vec![
                plan,
                Plan::Range {
                    field: Field::Date,
                    from: Bound::Included(since),
                    to: Bound::Unbounded,
                },
            ]),
            None => plan,
        })
    }
}

/// Compiles a regular expression that ignores case.
fn compiled(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| Error::Pattern {
        pattern: pattern.to_owned(),
        message: error.to_string(),
    })
}
