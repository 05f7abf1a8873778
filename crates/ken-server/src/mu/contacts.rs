//! Contacts: senders and recipients of messages, most important first.

use ken_mail::Contact;
use ken_search::parse::Syntax;
use ken_search::service::mail::ContactRequest;

use super::{Error, Store};

/// The contacts that are wanted.
#[derive(Clone, Debug, Default)]
pub struct ContactQuery {
    /// A regular expression that the name or the address matches.
    pub pattern: Option<String>,
    /// Only contacts in messages from or to the user.
    pub personal: bool,
    /// Only contacts seen at or after this time.
    pub after: i64,
    /// The most contacts.
    pub limit: Option<usize>,
}

impl Store {
    /// Returns contacts, most important first.
    ///
    /// # Errors
    /// Fails if the pattern is invalid or the index cannot be read.
    pub fn contacts(&self, query: &ContactQuery) -> Result<Vec<Contact>, Error> {
        let source = self.source()?;
        let request = ContactRequest {
            query: String::new(),
            syntax: Syntax::Mu,
            filters: self.filters(&*source),
            since: Some(query.after).filter(|after| *after > 0),
            pattern: query.pattern.clone(),
            personal: query.personal,
            limit: query.limit,
            ..ContactRequest::default()
        };
        Ok(self.service(&*source).contacts(&request)?.items)
    }
}
