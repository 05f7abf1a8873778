//! Carries failures of a reader through the decoder or archive reader above it.
//!
//! Decoders report damaged data as I/O errors, and pass on the I/O errors of the reader below them.
//! To distinguish the two, the reader below [`carry`]s its failures as [`Error`]s, and the code
//! above [`release`]s them: an I/O error that carries none means damaged data.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use crate::Error;
use crate::error::what_is_damaged;

/// Wraps an [`Error`] in an I/O error, to carry it through a foreign reader.
pub(crate) fn carry(error: Error) -> io::Error {
    io::Error::other(error)
}

/// Returns the [`Error`] that an I/O error carries, or one that says that the data is damaged.
pub(crate) fn release(error: io::Error) -> Error {
    let damaged = |error| Error::Malformed(what_is_damaged(&error));
    error.downcast::<Error>().unwrap_or_else(damaged)
}

/// A reader of an input that counts bytes and carries failures.
pub(crate) struct CountingReader<R> {
    inner: R,
    n_read: Rc<Cell<u64>>,
}

impl<R> CountingReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            n_read: Rc::default(),
        }
    }

    /// Returns the counter of the bytes that were read, which stays current.
    pub(crate) fn n_read(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.n_read)
    }
}

fn carry_read(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted
        || error.get_ref().is_some_and(|e| e.is::<Error>())
    {
        error
    } else {
        carry(Error::Read(error))
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer).map_err(carry_read)?;
        self.n_read.set(self.n_read.get() + n as u64);
        Ok(n)
    }
}

impl<R: Seek> Seek for CountingReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
