//! The index's writer, opened when there is something to write: a run in which nothing changed
//! writes nothing.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use ken_index::{Error, Writer, WriterOptions};

/// A writer that opens itself at its first use.
pub(crate) struct LazyWriter {
    index: PathBuf,
    options: WriterOptions,
    /// Whether commits are on disk when they are made.
    synced: bool,
    /// Whether segments are merged only when there are many.
    patient: bool,
    opened: OnceLock<Writer>,
    opening: Mutex<()>,
}

impl LazyWriter {
    pub(crate) fn new(index: PathBuf, options: WriterOptions, synced: bool) -> Self {
        Self {
            index,
            options,
            synced,
            patient: false,
            opened: OnceLock::new(),
            opening: Mutex::new(()),
        }
    }

    /// Merges segments only when there are many, until [`Writer::set_patient`] says otherwise.
    pub(crate) fn patient(self) -> Self {
        Self {
            patient: true,
            ..self
        }
    }

    /// Returns the writer; without a lock once it is open.
    pub(crate) fn get(&self) -> Result<&Writer, Error> {
        if let Some(writer) = self.opened.get() {
            return Ok(writer);
        }
        let _guard = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = self.opened.get() {
            return Ok(writer);
        }
        let writer = Writer::open(&self.index, self.options)?;
        writer.set_synced(self.synced);
        writer.set_patient(self.patient);
        Ok(self.opened.get_or_init(|| writer))
    }

    /// Returns the writer if it is open.
    pub(crate) fn opened(&self) -> Option<&Writer> {
        self.opened.get()
    }

    /// Waits for merges and lets the index go.
    pub(crate) fn close(self) -> Result<(), Error> {
        self.opened.into_inner().map_or(Ok(()), Writer::close)
    }
}
