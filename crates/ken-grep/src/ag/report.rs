//! Collects output and messages from many threads: the output of one thread for a file stays
//! together.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The level of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// None.
    Silent,
    /// Files that could not be searched.
    #[default]
    Errors,
    /// Why each file is searched or not.
    Debug,
}

/// Receives output and messages.
pub struct Report<'w> {
    level: Level,
    streams: Mutex<Streams<'w>>,
    /// Whether the output cannot be written, or its reader is gone.
    closed: AtomicBool,
}

struct Streams<'w> {
    out: &'w mut (dyn Write + Send),
    err: &'w mut (dyn Write + Send),
    /// Whether lines of a file were written.
    begun: bool,
    failure: Option<io::Error>,
}

/// Output of a thread that is not passed on yet.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) text: Vec<u8>,
    /// Lines of a file, before which an empty line is printed if others precede them.
    pub(super) separate: bool,
    /// Whether to pass on the output immediately: true for lines of a file, false for names.
    pub(super) urgent: bool,
}

impl<'w> Report<'w> {
    /// Creates a report with the writers of output and messages.
    pub fn new(
        out: &'w mut (dyn Write + Send),
        err: &'w mut (dyn Write + Send),
        level: Level,
    ) -> Self {
        Self {
            level,
            streams: Mutex::new(Streams {
                out,
                err,
                begun: false,
                failure: None,
            }),
            closed: AtomicBool::new(false),
        }
    }

    /// Reports a failure, in parts, since paths are bytes.
    pub fn error(&self, message: &[&[u8]]) {
        if self.level >= Level::Errors {
            let message = [&[b"ERR: ".as_slice()], message, &[b"\n"]]
                .concat()
                .concat();
            self.with(|streams| streams.err.write_all(&message));
        }
    }

    /// Returns whether debug messages are wanted.
    pub(super) fn is_verbose(&self) -> bool {
        self.level >= Level::Debug
    }

    /// Writes a debug message, if these are wanted.
    pub fn debug(&self, message: impl FnOnce() -> String) {
        if self.level >= Level::Debug {
            let message = message();
            self.with(|streams| writeln!(streams.out, "DEBUG: {message}"));
        }
    }

    /// Passes on the output of a thread, and empties its buffer.
    pub(super) fn hand_on(&self, buffer: &mut Buffer) {
        if !buffer.text.is_empty() || buffer.separate {
            self.with(|streams| {
                if buffer.separate && streams.begun {
                    streams.out.write_all(b"\n")?;
                }
                streams.begun |= buffer.separate;
                streams.out.write_all(&buffer.text)?;
                if buffer.urgent {
                    streams.out.flush()?;
                }
                Ok(())
            });
        }
        buffer.text.clear();
        (buffer.separate, buffer.urgent) = (false, false);
    }

    /// Returns whether it is useless to continue.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Writes pending output, and returns its error, if any.
    pub fn finish(&self) -> io::Result<()> {
        self.with(|streams| streams.out.flush());
        match self.streams.lock() {
            Ok(mut streams) => streams.failure.take().map_or(Ok(()), Err),
            Err(_) => Err(io::Error::other("a thread ended early")),
        }
    }

    fn with(&self, write: impl FnOnce(&mut Streams<'w>) -> io::Result<()>) {
        let Ok(mut streams) = self.streams.lock() else {
            return;
        };
        if streams.failure.is_none()
            && let Err(error) = write(&mut streams)
        {
            streams.failure = Some(error);
            self.closed.store(true, Ordering::Relaxed);
        }
    }
}
