//! The right to write an index, with its writer: held for one run, or between the batches of an
//! updater.

use std::sync::atomic::Ordering;

use ken_index::layout::index_folder;

use crate::lock::RunLock;
use crate::write::WriterSlot;
use crate::{Error, Options, Progress, replace};

/// The right to write an index, with its writer once something is written.
///
/// The fields are dropped in this order, so that another process that takes the lock finds no
/// writer.
pub(crate) struct Session {
    slot: Option<WriterSlot>,
    _lock: Option<RunLock>,
}

impl Session {
    /// Creates a session of a run that writes nothing.
    pub(crate) fn dry() -> Self {
        Self {
            slot: None,
            _lock: None,
        }
    }

    /// Takes the lock of the index. Waits while another process has it; returns none if `progress`
    /// is cancelled meanwhile.
    pub(crate) fn open(options: &Options, progress: &Progress) -> Result<Option<Self>, Error> {
        let wait = || {
            progress.waiting.store(true, Ordering::Relaxed);
            !progress.is_cancelled()
        };
        let lock = RunLock::take(&options.data, &wait)?;
        progress.waiting.store(false, Ordering::Relaxed);
        if lock.is_some() {
            replace::recover(&index_folder(&options.data))?;
        }
        Ok(lock.map(|lock| Self {
            slot: None,
            _lock: Some(lock),
        }))
    }

    /// Returns the slot of the writer, which may not be open yet. The options apply at the first
    /// call.
    pub(crate) fn slot(&mut self, options: &Options) -> &WriterSlot {
        self.slot
            .get_or_insert_with(|| WriterSlot::new(options, options.segment_builders()))
    }

    /// Opens the writer of an index outside the data folder, which another machine may write. What a run looks up later
    /// stays as it is until the writer is closed.
    pub(crate) fn begin(&mut self, options: &Options) -> Result<(), Error> {
        if options.engine.is_some() && !options.dry_run {
            self.slot(options).get()?;
        }
        Ok(())
    }

    /// Waits for merges and closes the writer, if it is open.
    pub(crate) fn close_writer(&mut self) -> Result<(), Error> {
        Ok(self.slot.take().map_or(Ok(()), WriterSlot::close)?)
    }
}
