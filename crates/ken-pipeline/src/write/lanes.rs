//! Threads that only build segments, where there are any.
//!
//! By default the thread that extracted a document adds it to its own segment, without a queue. In
//! this other arrangement, extracting threads pass documents to indexing threads through queues
//! that are bounded in bytes. All documents of a file go through one queue, so that the file's own
//! document comes last, as commits require.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use ken_core::FileKey;
use ken_engine::{Record, Scope, Sequence, Sink};

use crate::Progress;
use crate::budget::{Budget, Share};
use crate::progress::Stage;

use super::first_error::FirstError;
use super::writer::LazyWriter;

/// The senders of the queues.
pub(crate) struct Queues {
    lanes: Vec<Sender<Job>>,
    budget: Arc<Budget>,
}

/// The receiver of one queue.
pub(crate) struct Lane(Receiver<Job>);

enum Job {
    Add {
        moment: Sequence,
        record: Box<Record>,
        _share: Share,
    },
    /// Delete the documents of a file that were added before.
    Delete(FileKey),
    /// There is nothing more to come.
    End,
}

impl Queues {
    /// Creates `n_lanes` queues, which hold at most `n_bytes` together, with their receivers.
    pub(crate) fn new(n_lanes: usize, n_bytes: usize) -> (Self, Vec<Lane>) {
        let (lanes, ends) = (0..n_lanes).map(|_| unbounded()).unzip();
        let ends: Vec<Receiver<Job>> = ends;
        let queues = Self {
            lanes,
            budget: Budget::new(n_bytes),
        };
        (queues, ends.into_iter().map(Lane).collect())
    }

    /// Passes a document on; waits while the queues are full.
    pub(crate) fn add(&self, writer: &dyn Sink, record: Record, progress: &Progress) {
        let waiting = progress.rest(Stage::Memory);
        let share = self.budget.take(record.document.memory_bytes());
        drop(waiting);
        let key = record.key;
        let job = Job::Add {
            moment: writer.now(),
            record: Box::new(record),
            _share: share,
        };
        self.send(key, job);
    }

    /// Deletes the documents of a file that were passed on before.
    pub(crate) fn delete(&self, key: FileKey) {
        self.send(key, Job::Delete(key));
    }

    fn send(&self, key: FileKey, job: Job) {
        let lane = (key.0 % self.lanes.len() as u64) as usize;
        // Fails only if its thread panicked, which ends the run.
        let _ = self.lanes[lane].send(job);
    }

    /// Lets the threads end when they have done the pending work.
    pub(crate) fn end(&self) {
        for lane in &self.lanes {
            let _ = lane.send(Job::End);
        }
    }
}

impl Lane {
    /// Adds incoming documents to the index until the end.
    pub(crate) fn work(
        self,
        writer: &LazyWriter<'_>,
        progress: &Progress,
        errors: &FirstError<'_>,
    ) {
        loop {
            let waiting = progress.span(Stage::Idle, None);
            let job = self.0.recv();
            drop(waiting);
            let _span = progress.span(Stage::Index, None);
            let done = match job {
                Ok(Job::Add { moment, record, .. }) => {
                    let writer = writer.get();
                    writer.and_then(|writer| writer.add_at(moment, *record))
                }
                Ok(Job::Delete(key)) => writer.get().map(|writer| writer.delete(key, Scope::File)),
                Ok(Job::End) | Err(_) => return,
            };
            errors.note(done);
        }
    }
}
