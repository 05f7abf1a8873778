//! The database of somebody who decrypts: what is read again, and what the log keeps of it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ken_pipeline::{Opener, Options, Progress, tags, update_again};

use super::Error;
use super::crypto::Decrypt;
use super::database::Database;
use super::journal::{SESSION_KEY, properties_line};
use super::message::Message;
use super::secrets::{Policy, Secrets};

impl Database {
    /// Returns the database with its messages read by a policy from now on.
    #[must_use]
    pub fn opening(mut self, policy: Policy, decrypt: Decrypt) -> Self {
        let secrets = Secrets::new(policy, decrypt, self.data().to_path_buf());
        self.options.extract.limits.opener = Opener::new(Arc::clone(&secrets) as _);
        self.secrets = Some(secrets);
        self
    }

    /// Writes what came of the encrypted messages that were read, and gives them their tags.
    pub(super) fn note_opened(&self, again: &BTreeSet<&str>) -> Result<(), Error> {
        match &self.secrets {
            Some(secrets) => self.note(secrets, again),
            None => Ok(()),
        }
    }

    fn note(&self, secrets: &Secrets, again: &BTreeSet<&str>) -> Result<(), Error> {
        let (lines, changes) = secrets.told(again)?;
        if !lines.is_empty() {
            tags::append_lines(self.data(), lines)?;
        }
        self.apply(&changes, &[])
    }

    /// Returns the session keys that the log has of a message; none if it cannot be read.
    pub(super) fn session_keys(&self, id: &str) -> Vec<String> {
        let journal = self.journal();
        journal.map_or_else(|_| Vec::new(), |journal| journal.session_keys(id))
    }

    /// Reads the files of messages again, though they did not change.
    pub(super) fn read_again(&self, options: &Options, messages: &[Message]) -> Result<(), Error> {
        let files = messages.iter().flat_map(|message| &message.files);
        let files: Vec<PathBuf> = files.map(|file| self.real_path(file)).collect();
        let progress = Progress::default();
        update_again(options, &[self.root_change()], &files, &progress, &|_| ())?;
        Ok(())
    }

    /// Keeps session keys of messages, and indexes what these say.
    pub(super) fn stash(
        &self,
        found: &[(Message, Vec<String>)],
        decrypt: Decrypt,
    ) -> Result<(), Error> {
        let (mut lines, mut messages) = (String::new(), Vec::new());
        for (message, keys) in found {
            let before = self.journal()?.properties(&message.id);
            let keys = keys.iter().map(|key| (SESSION_KEY.to_owned(), key.clone()));
            let mut after: Vec<_> = before.iter().cloned().chain(keys).collect();
            after.sort();
            after.dedup();
            if after != before {
                lines.push_str(&properties_line(&message.id, &after));
                messages.push(message.clone());
            }
        }
        if messages.is_empty() {
            return Ok(());
        }
        tags::append_lines(self.data(), lines)?;
        let secrets = Secrets::new(Policy::Auto, decrypt, self.data().to_path_buf());
        let mut options = self.options.clone();
        options.extract.limits.opener = Opener::new(Arc::clone(&secrets) as _);
        self.read_again(&options, &messages)?;
        self.note(&secrets, &BTreeSet::new())
    }
}
