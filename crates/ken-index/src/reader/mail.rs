//! The messages of a commit.

use std::sync::Arc;

use ken_core::{Field, FileKey, MessageSpan, Plan};
use ken_engine::{
    DocAddress, Error, Limits, Mail, Mailbox, MessageId, MessageOfFile, Request, Seen, Source,
};

use super::Snapshot;
use crate::doc_address::AddressParts;
use crate::mail::{contacts, links, mailbox};
use crate::search;

impl Mail for Snapshot {
    fn mailbox(&self, key: FileKey) -> Result<Mailbox, Error> {
        mailbox::read(&self.searcher, &self.columns, key).map_err(|e| self.error(e))
    }

    fn message_span(&self, key: FileKey, message: MessageId) -> Result<Option<MessageSpan>, Error> {
        mailbox::message_span(&self.searcher, &self.columns, key, message)
            .map_err(|e| self.error(e))
    }

    fn messages_at(&self, documents: &[DocAddress]) -> Result<Vec<MessageOfFile>, Error> {
        mailbox::messages_at(&self.searcher, documents).map_err(|e| self.error(e))
    }

    fn documents_of(&self, messages: &[MessageOfFile]) -> Result<Vec<Vec<DocAddress>>, Error> {
        mailbox::documents_of(&self.searcher, self.columns.file, messages)
            .map_err(|e| self.error(e))
    }

    fn siblings(&self, at: DocAddress) -> Result<Vec<DocAddress>, Error> {
        links::siblings(&self.searcher, self.columns.file, at).map_err(|e| self.error(e))
    }

    fn carrier(&self, at: DocAddress) -> Result<Option<DocAddress>, Error> {
        links::carrier(&self.searcher, self.columns.file, at).map_err(|e| self.error(e))
    }

    fn threads(
        &self,
        of: &[DocAddress],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error> {
        let limits = limits.map(|limits| &**limits);
        links::threads(&self.searcher, &self.columns, of.iter().copied(), limits)
            .map_err(|e| self.error(e))
    }

    fn links(&self, at: DocAddress) -> Result<Vec<u64>, Error> {
        let segment = self.searcher.segment_reader(at.segment());
        links::read(segment, at.doc()).map_err(|e| self.error(e))
    }

    fn linked(&self, numbers: &[u64]) -> Result<Vec<DocAddress>, Error> {
        links::linked(&self.searcher, self.columns.link, numbers).map_err(|e| self.error(e))
    }

    fn seen(
        &self,
        plan: &Plan,
        fields: &[Field],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Seen>, Error> {
        let plan = self.expand(plan, limits)?;
        let request = Request {
            limits,
            ..Request::new(&plan)
        };
        let query = search::query(&request, &self.scoring());
        let limits = limits.map(|limits| &**limits);
        contacts::seen(&self.searcher, &*query, fields, limits).map_err(|e| self.error(e))
    }
}
