//! The writer of the index, which is opened only when there is something to write, so that a run
//! without changes writes nothing.
//!
//! A [`WriterSlot`] holds the open writer and may outlive a run; a [`LazyWriter`] is the view of
//! one run.

use std::sync::{Mutex, OnceLock, PoisonError};

use ken_engine::{Error, Sink};

use crate::Options;

/// Holds the writer of an index, once it is open.
pub(crate) struct WriterSlot {
    options: Options,
    threads: usize,
    writer: OnceLock<Box<dyn Sink>>,
    opening: Mutex<()>,
}

/// The writer as seen by one run: it is opened and configured for the run at its first use.
pub(crate) struct LazyWriter<'s> {
    slot: &'s WriterSlot,
    /// Whether commits are synced to disk.
    synced: bool,
    /// Whether more documents are to come, so that merges can wait.
    patient: bool,
    used: OnceLock<()>,
}

impl WriterSlot {
    /// Returns the slot of the index that is written with these options, by this number of threads.
    pub(crate) fn new(options: &Options, threads: usize) -> Self {
        Self {
            options: options.clone(),
            threads,
            writer: OnceLock::new(),
            opening: Mutex::new(()),
        }
    }

    /// Returns a slot with an open writer.
    pub(crate) fn holding(options: &Options, writer: Box<dyn Sink>) -> Self {
        Self {
            options: options.clone(),
            threads: options.threads,
            writer: OnceLock::from(writer),
            opening: Mutex::new(()),
        }
    }

    /// Ends the work on a share, or a run, with its outcome.
    pub(crate) fn finish(self, outcome: &str) -> Result<(), Error> {
        let writer = self.writer.into_inner();
        writer.map_or(Ok(()), |writer| writer.finish(outcome))
    }

    /// Waits for merges and closes the index.
    pub(crate) fn close(self) -> Result<(), Error> {
        self.writer
            .into_inner()
            .map_or(Ok(()), |writer| writer.close())
    }

    /// Returns the writer, which the first call opens.
    pub(crate) fn get(&self) -> Result<&dyn Sink, Error> {
        let _guard = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = self.writer.get() {
            return Ok(&**writer);
        }
        let writer = self.options.sink(self.threads)?;
        Ok(&**self.writer.get_or_init(|| writer))
    }
}

impl<'s> LazyWriter<'s> {
    /// Creates the view of a run on the writer in a slot. With `patient`, segments are merged only
    /// when there are many, until [`Writer::defer_merges`] changes that.
    pub(crate) fn new(slot: &'s WriterSlot, synced: bool, patient: bool) -> Self {
        Self {
            slot,
            synced,
            patient,
            used: OnceLock::new(),
        }
    }

    /// Returns the writer; takes no lock once this run has used it.
    pub(crate) fn get(&self) -> Result<&'s dyn Sink, Error> {
        if let Some(writer) = self.used() {
            return Ok(writer);
        }
        let writer = self.slot.get()?;
        self.used.get_or_init(|| {
            writer.set_synced(self.synced);
            writer.set_bulk(self.patient);
        });
        Ok(writer)
    }

    /// Returns the writer if it is open, whether this run has used it or not.
    pub(crate) fn opened(&self) -> Option<&'s dyn Sink> {
        self.slot.writer.get().map(|writer| &**writer)
    }

    /// Returns the writer if this run has used it.
    pub(crate) fn used(&self) -> Option<&'s dyn Sink> {
        let writer = self.used.get().and_then(|()| self.slot.writer.get());
        writer.map(|writer| &**writer)
    }
}
