//! Queries in mu's language, which the search service answers within the folder of all mail.

use std::collections::HashSet;
use std::path::PathBuf;

use ken_core::FieldNames;
use ken_index::DocAddress as Place;
use ken_search::parse::{Saved, Syntax};
use ken_search::service::{Group, Request, Service};

use super::super::{Error, Mail};
use super::Store;

impl Store {
    /// Returns the search service for the last commit.
    pub(in super::super) fn service(&mut self) -> Result<Service<'_>, Error> {
        let context = self.context.clone();
        Ok(Service::new(self.snapshot()?, context, Saved::new()))
    }

    /// Returns the request for all messages that a query finds, without duplicates.
    pub(in super::super) fn request(&mut self, query: &str) -> Result<Request, Error> {
        Ok(Request {
            query: query.to_owned(),
            syntax: Syntax::Mu,
            filters: self.filters()?,
            recency: false,
            group: Some(Group::File),
            limit: None,
            ..Request::default()
        })
    }

    /// Returns the filter for the folder of all mail, if the index has anything else.
    pub(in super::super) fn filters(&mut self) -> Result<Vec<String>, Error> {
        let maildir = self.maildir.clone();
        let roots = &self.snapshot()?.meta().roots;
        if roots.iter().all(|root| root.path.starts_with(&maildir)) {
            return Ok(Vec::new());
        }
        // A phrase cannot hold quotes; such a folder is compared afterwards.
        let folder = maildir.to_string_lossy().replace(['"', '\\'], "?");
        Ok(vec![format!("dir:\"{folder}\"")])
    }

    /// Returns a query in ken's own language, and its plan.
    ///
    /// # Errors
    /// Fails if the query has a mistake or there is no index.
    pub fn explain(&mut self, query: &str) -> Result<(String, String), Error> {
        let request = self.request(query)?;
        let query = self.service()?.understand(&request)?;
        // mu's language has no custom fields.
        let text = query.tree.to_query(&FieldNames::TABLE);
        Ok((text, query.plan.to_string()))
    }

    /// Returns how many messages a query finds, and how many of them are unread.
    ///
    /// # Errors
    /// Fails if the query has a mistake or the index cannot be read.
    pub fn count(&mut self, query: &str) -> Result<(usize, usize), Error> {
        let mut request = self.request(query)?;
        (request.limit, request.count) = (Some(0), true);
        let all = self.count_of(&request)?;
        request.filters.push("is:unread".to_owned());
        Ok((all, self.count_of(&request)?))
    }

    fn count_of(&mut self, request: &Request) -> Result<usize, Error> {
        let service = self.service()?;
        let query = service.understand(request)?;
        Ok(service.search(request, query)?.n_groups())
    }

    /// Returns the files of all messages with an identifier.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn with_id(&mut self, id: &str) -> Result<Vec<PathBuf>, Error> {
        self.settle();
        let found = self.service()?.messages_with_id(id)?;
        let locations = found.locations().collect::<Result<Vec<_>, _>>()?;
        // An attached message has the file of the outer message.
        let own = locations.into_iter().filter(|at| at.ipath.is_root());
        let files = own.map(|location| location.path);
        let files = files.filter(|path| path.starts_with(&self.maildir));
        let mut files: Vec<PathBuf> = files.filter_map(|path| self.now(path)).collect();
        files.sort();
        Ok(files)
    }

    /// Returns the messages that documents are or are parts of, in their order and without duplicates.
    pub(in super::super) fn mails(&mut self, places: &[Place]) -> Result<Vec<Mail>, Error> {
        let snapshot = self.reader.snapshot()?;
        let service = Service::new(&snapshot, self.context.clone(), Saved::new());
        let n_threads = self.options.threads.max(1);
        let personal = &self.personal;
        let mails = service.read_messages(places, n_threads, |message| {
            Mail::of_message_of_index(&message, personal)
        })?;
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
