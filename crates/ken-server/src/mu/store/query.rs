//! Queries in mu's language, which the search service answers within the folder of all mail.

use std::collections::HashSet;
use std::path::PathBuf;

use ken_core::FieldNames;
use ken_engine::{DocAddress, Source};
use ken_search::parse::{Saved, Syntax};
use ken_search::service::{Group, Request, Service};

use super::super::{Error, Mail};
use super::Store;

impl Store {
    /// Returns the search service over a commit.
    pub(in super::super) fn service<'s>(&self, source: &'s dyn Source) -> Service<'s> {
        Service::new(source, self.context.clone(), Saved::new())
    }

    /// Returns the request for all messages that a query finds, each once.
    pub(in super::super) fn request(&self, source: &dyn Source, query: &str) -> Request {
        Request {
            query: query.to_owned(),
            syntax: Syntax::Mu,
            filters: self.filters(source),
            recency: false,
            group: Some(Group::File),
            limit: None,
            ..Request::default()
        }
    }

    /// Returns the filter that keeps what is in the folder of all mail, if the index has anything else.
    pub(in super::super) fn filters(&self, source: &dyn Source) -> Vec<String> {
        let roots = &source.meta().roots;
        if roots
            .iter()
            .all(|root| root.path.starts_with(&self.maildir))
        {
            return Vec::new();
        }
        // Quotes cannot stand in a phrase; such a folder is compared afterwards.
        let folder = self.maildir.to_string_lossy().replace(['"', '\\'], "?");
        vec![format!("dir:\"{folder}\"")]
    }

    /// Returns a query in ken's own language, and its plan.
    ///
    /// # Errors
    /// Fails if the query has a mistake or there is no index.
    pub fn explain(&self, query: &str) -> Result<(String, String), Error> {
        let source = self.source()?;
        let request = self.request(&*source, query);
        let query = self.service(&*source).understand(&request)?;
        // mu's language knows no custom fields.
        let text = query.tree.to_query(&FieldNames::TABLE);
        Ok((text, query.plan.to_string()))
    }

    /// Returns how many messages a query finds, and how many of them are unread.
    ///
    /// # Errors
    /// Fails if the query has a mistake or the index cannot be read.
    pub fn count(&self, query: &str) -> Result<(usize, usize), Error> {
        let source = self.source()?;
        let service = self.service(&*source);
        let count = |request: &Request| -> Result<usize, Error> {
            let query = service.understand(request)?;
            Ok(service.search(request, query)?.n_groups())
        };
        let mut request = self.request(&*source, query);
        (request.limit, request.count) = (Some(0), true);
        let all = count(&request)?;
        request.filters.push("is:unread".to_owned());
        Ok((all, count(&request)?))
    }

    /// Returns the files of all messages with an identifier.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn with_id(&mut self, id: &str) -> Result<Vec<PathBuf>, Error> {
        self.settle();
        let source = self.source()?;
        let found = self.service(&*source).messages_with_id(id)?;
        let locations = found.locations().collect::<Result<Vec<_>, _>>()?;
        // An attached message has the file of the outer message.
        let own = locations.into_iter().filter(|at| at.ipath.is_root());
        let files = own.map(|location| location.path);
        let files = files.filter(|path| path.starts_with(&self.maildir));
        let mut files: Vec<PathBuf> = files.filter_map(|path| self.now(path)).collect();
        files.sort();
        Ok(files)
    }

    /// Returns the messages that documents are or belong to, in their order and each once.
    pub(in super::super) fn mails(
        &self,
        source: &dyn Source,
        addresses: &[DocAddress],
    ) -> Result<Vec<Mail>, Error> {
        let service = self.service(source);
        let n_threads = self.options.threads.max(1);
        let personal = &self.personal;
        let mails = service.read_messages(addresses, n_threads, |message| {
            Mail::of_message_of_index(&message, personal)
        })?;
        let mails = mails.items;
        let mut seen = HashSet::new();
        let mut in_order = Vec::with_capacity(mails.len());
        for mut mail in mails {
            if !mail.path.starts_with(&self.maildir) || !seen.insert(mail.path.clone()) {
                continue;
            }
            match self.now(mail.path.clone()) {
                Some(path) if path != mail.path => mail.lie_at(path),
                Some(_) => {}
                None => continue,
            }
            in_order.push(mail);
        }
        Ok(in_order)
    }
}
