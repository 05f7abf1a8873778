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
use crate::service::{Error, Listed, Query, Request, Service};

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
    /// Milliseconds after which the search ends with what it has found; no deadline if absent.
    pub deadline_ms: Option<u64>,
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
            deadline_ms: None,
        }
    }
}

impl Service<'_> {
    /// Returns contacts, most important first.
    ///
    /// # Errors
    /// Fails if the pattern or the query has a mistake, or if the index cannot be read.
    pub fn contacts(&self, request: &ContactRequest) -> Result<Listed<Contact>, Error> {
        let pattern = request.pattern.as_deref().map(compiled).transpose()?;
        let mut contacts = Contacts::default();
        let query = self.looked_at(request)?;
        let (mail, limits) = (self.snapshot.mail(), query.limits.as_ref());
        for seen in mail.seen(&query.plan, PEOPLE, limits)? {
            contacts.see(&seen.value, seen.count, seen.last);
        }
        if !self.context.own_addresses.is_empty() {
            let personal = plan(&parse("is:personal")?, &self.context);
            let personal = Plan::And(vec![personal, query.plan.clone()]);
            for seen in mail.seen(&personal, PEOPLE, limits)? {
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
        Ok(Listed {
            items: contacts.take(request.limit.unwrap_or(usize::MAX)).collect(),
            complete: query.is_complete(),
        })
    }

    /// Returns the query that selects the messages.
    fn looked_at(&self, request: &ContactRequest) -> Result<Query, Error> {
        let mut query = self.understand(&Request {
            query: request.query.clone(),
            syntax: request.syntax,
            filters: request.filters.clone(),
            deadline_ms: request.deadline_ms,
            ..Request::default()
        })?;
        let plan = std::mem::replace(&mut query.plan, Plan::All);
        let plan = match request.syntax {
            // The languages of mail programs find only messages.
            Syntax::Mu | Syntax::Notmuch => plan,
            Syntax::Ken | Syntax::Recoll => {
                among_messages(Some(plan).filter(|plan| *plan != Plan::All))
            }
        };
        query.plan = match request.since {
            Some(since) => Plan::And(vec![
                plan,
                Plan::Range {
                    field: Field::Date,
                    from: Bound::Included(since),
                    to: Bound::Unbounded,
                },
            ]),
            None => plan,
        };
        Ok(query)
    }
}

/// Compiles a regular expression that ignores case.
fn compiled(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| Error::Pattern {
        pattern: pattern.to_owned(),
        message: error.to_string(),
    })
}
