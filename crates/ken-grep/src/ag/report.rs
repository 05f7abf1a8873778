//! Where output and messages go, from many threads: what one thread wrote of a file stays together.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which messages are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// None.
    Silent,
    /// What could not be searched.
    #[default]
    Errors,
    /// Why each file is searched or not.
    Debug,
}

/// Takes output and messages.
pub struct Report<'w> {
    level: Level,
    streams: Mutex<Streams<'w>>,
    /// Nobody reads the output any more, or it cannot be written.
    closed: AtomicBool,
}

struct Streams<'w> {
    out: &'w mut (dyn Write + Send),
    err: &'w mut (dyn Write + Send),
    /// Whether lines of a file were written.
    begun: bool,
    failure: Option<io::Error>,
}

/// What a thread has written and not handed on.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) text: Vec<u8>,
    /// Lines of a file: an empty line comes before them, if others were written before.
    pub(super) separate: bool,
    /// Lines of a file are passed on at once, names may wait.
    pub(super) urgent: bool,
}

impl<'w> Report<'w> {
    /// Makes one of where output and where messages go.
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

    /// Says what could not be done, in parts: paths are bytes.
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

    /// Says what is done, to those who asked for it.
    pub fn debug(&self, message: impl FnOnce() -> String) {
        if self.level >= Level::Debug {
            let message = message();
            self.with(|streams| writeln!(streams.out, "DEBUG: {message}"));
        }
    }

    /// Hands on what a thread wrote, and empties its buffer.
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

    /// Returns whether it is of no use to go on.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Writes what waits, and returns what went wrong.
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
