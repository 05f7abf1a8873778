//! Contacts: who sent and got messages, those that matter most first.

use ken_mail::Contact;
use ken_search::parse::Syntax;
use ken_search::service::mail::ContactRequest;

use super::{Error, Store};

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
        };
        Ok(self.service(&*source).contacts(&request)?)
    }
}
