//! The sink of one file's extraction on one thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_core::Document;
use ken_extract::{Input, Member, Sink};

use super::job::{FileJob, lock};
use super::large::LARGE_BYTES;
use super::{MemberJob, Pool, Thread, unfolded_bytes};
use crate::budget::Share;
use crate::mailbox::MessageFate;

/// Receives the results of one file's extraction on one thread.
pub(super) struct PoolSink<'p, 'r> {
    pool: &'p Pool<'r>,
    job: &'p Arc<FileJob>,
    thread: &'p Thread<'r>,
    /// Memory that was taken for the next part, and its number of bytes.
    memory: Option<(Share, usize)>,
}

impl<'p, 'r> PoolSink<'p, 'r> {
    pub(super) fn new(pool: &'p Pool<'r>, job: &'p Arc<FileJob>, thread: &'p Thread<'r>) -> Self {
        Self {
            pool,
            job,
            thread,
            memory: None,
        }
    }
}

impl Sink for PoolSink<'_, '_> {
    fn document(&mut self, mut document: Document) {
        self.pool.give_fields(&self.job.path, &mut document);
        let pool = self.pool;
        if document.ipath.is_root() {
            pool.ngrams
                .own(&mut self.thread.own_ngrams.borrow_mut(), &document);
            *lock(&self.job.own) = Some(document);
        } else {
            self.job.has_parts.store(true, Ordering::Relaxed);
            let part = &mut self.thread.part_ngrams.borrow_mut();
            let facts = self.job.facts();
            let token = self.job.state.token;
            pool.errors
                .note(pool.ngrams.part(part, &document, &facts, token));
            pool.errors
                .note(pool.documents.add(&self.job.facts(), None, document));
        }
        self.memory = None;
    }

    fn make_room(&mut self, n_bytes: usize) {
        // For a part of unknown length, this is called repeatedly.
        let (before, n_before) = match self.memory.take() {
            Some((share, n_before)) if n_before <= n_bytes => (Some(share), n_before),
            _ => (None, 0),
        };
        self.memory = match n_bytes - n_before {
            // A small step is taken together with the next ones.
            step if step < LARGE_BYTES as usize => before.map(|share| (share, n_before)),
            step => self
                .pool
                .memory_within(step, before)
                .map(|share| (share, n_bytes)),
        };
    }

    fn member(&mut self, member: Member) {
        let taken = self.memory.take().map(|(share, _)| share);
        self.pool.progress.gate.pass();
        if self.stays(&member) {
            return;
        }
        if let Some(offer) = &self.thread.offer
            && self.pool.is_wanted(offer.len())
            && let Some(share) = self.pool.members.try_take(member.bytes.len())
        {
            self.job.pending.fetch_add(1, Ordering::AcqRel);
            let job = MemberJob {
                file: Arc::clone(self.job),
                member,
                _share: share,
            };
            if let Err(refused) = offer.send(job) {
                self.pool.member(refused.into_inner(), self.thread);
            }
            return;
        }
        let own = if taken.is_some() {
            0
        } else {
            member.bytes.len()
        };
        let n_bytes = own.saturating_add(unfolded_bytes(&member));
        let _share = self.pool.memory_within(n_bytes, taken);
        self.pool
            .extract(&mut Input::member(member), self.job, self.thread);
    }

    fn is_cancelled(&self) -> bool {
        self.pool.progress.is_cancelled()
    }

    fn try_again(&mut self) {
        self.job.try_again.store(true, Ordering::Relaxed);
    }
}

impl PoolSink<'_, '_> {
    /// Returns whether a member is a message of a mailbox that the index already has. Deletes the
    /// message that it replaces.
    fn stays(&self, member: &Member) -> bool {
        let Some(known) = &self.job.mailbox else {
            return false;
        };
        if member.offset.is_none() {
            if member.ipath.depth() == 1 {
                // Before the members that replace them are added.
                for id in lock(known).give_up() {
                    let deleted = self.pool.documents.delete_message(self.job.key, id);
                    self.pool.errors.note(deleted);
                }
            }
            return false;
        }
        let span = self.thread.extractor.message_span(member);
        match lock(known).meet(&member.ipath, span) {
            MessageFate::Kept => {
                self.job.has_parts.store(true, Ordering::Relaxed);
                return true;
            }
            MessageFate::Replaced(id) => {
                let deleted = self.pool.documents.delete_message(self.job.key, id);
                self.pool.errors.note(deleted);
            }
            MessageFate::New => {}
        }
        false
    }
}
