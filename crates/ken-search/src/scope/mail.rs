//! The messages of a scope.

use std::sync::Arc;

use ken_core::{Field, FileKey, MessageSpan, Plan};
use ken_engine::{DocAddress, Error, Files, Limits, Mail, Mailbox, MessageId, MessageOfFile, Seen};

use super::Scoped;

impl Scoped<'_> {
    fn kept(&self, mut documents: Vec<DocAddress>) -> Result<Vec<DocAddress>, Error> {
        self.keep(&mut documents)?;
        Ok(documents)
    }
}

impl Mail for Scoped<'_> {
    fn mailbox(&self, key: FileKey) -> Result<Mailbox, Error> {
        match Files::documents_of(self, key)?.is_empty() {
            true => Ok(Mailbox::default()),
            false => self.inner().mail().mailbox(key),
        }
    }

    fn message_span(&self, key: FileKey, message: MessageId) -> Result<Option<MessageSpan>, Error> {
        match Files::documents_of(self, key)?.is_empty() {
            true => Ok(None),
            false => self.inner().mail().message_span(key, message),
        }
    }

    fn messages_at(&self, documents: &[DocAddress]) -> Result<Vec<MessageOfFile>, Error> {
        self.inner().mail().messages_at(documents)
    }

    fn documents_of(&self, messages: &[MessageOfFile]) -> Result<Vec<Vec<DocAddress>>, Error> {
        let all = self.inner().mail().documents_of(messages)?;
        all.into_iter()
            .map(|documents| self.kept(documents))
            .collect()
    }

    fn siblings(&self, at: DocAddress) -> Result<Vec<DocAddress>, Error> {
        self.kept(self.inner().mail().siblings(at)?)
    }

    fn carrier(&self, at: DocAddress) -> Result<Option<DocAddress>, Error> {
        let carrier = self.inner().mail().carrier(at)?;
        Ok(self.kept(carrier.into_iter().collect())?.pop())
    }

    fn threads(
        &self,
        of: &[DocAddress],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<DocAddress>, Error> {
        self.kept(self.inner().mail().threads(of, limits)?)
    }

    fn formerly(&self, key: FileKey) -> Result<Option<Vec<DocAddress>>, Error> {
        let found = self.inner().mail().formerly(key)?;
        found.map(|documents| self.kept(documents)).transpose()
    }

    fn links(&self, at: DocAddress) -> Result<Vec<u64>, Error> {
        self.inner().mail().links(at)
    }

    fn linked(&self, numbers: &[u64]) -> Result<Vec<DocAddress>, Error> {
        self.kept(self.inner().mail().linked(numbers)?)
    }

    fn seen(
        &self,
        plan: &Plan,
        fields: &[Field],
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Seen>, Error> {
        self.inner().mail().seen(&self.narrow(plan), fields, limits)
    }
}
