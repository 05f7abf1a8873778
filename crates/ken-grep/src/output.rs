//! Where results go: the results of one file in one piece, whichever thread found them.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use termcolor::{Ansi, ColorSpec, HyperlinkSpec, NoColor, WriteColor};

/// A writer that many threads share.
pub struct Output<W> {
    writer: Mutex<Shared<W>>,
    separator: Option<Vec<u8>>,
    colored: bool,
}

struct Shared<W> {
    writer: W,
    has_written: bool,
}

impl<W: Write> Output<W> {
    /// Writes to `writer`; puts `separator` and a line feed between the results of files.
    pub fn new(writer: W, colored: bool, separator: Option<Vec<u8>>) -> Self {
        Self {
            writer: Mutex::new(Shared {
                writer,
                has_written: false,
            }),
            separator,
            colored,
        }
    }

    /// Returns an empty sheet for the results of one file.
    pub(crate) fn sheet(&self) -> Paint<Vec<u8>> {
        Paint::new(Vec::new(), self.colored)
    }

    /// Writes a sheet and empties it. An empty one costs no lock.
    pub(crate) fn print(&self, sheet: &mut Paint<Vec<u8>>) -> io::Result<()> {
        let bytes = sheet.inner();
        if bytes.is_empty() {
            return Ok(());
        }
        let mut shared = self.lock();
        if let (true, Some(separator)) = (shared.has_written, &self.separator) {
            shared.writer.write_all(separator)?;
            shared.writer.write_all(b"\n")?;
        }
        shared.has_written = true;
        let written = shared.writer.write_all(bytes);
        written.and_then(|()| shared.writer.flush())?;
        bytes.clear();
        Ok(())
    }

    /// Locks the writer; what a thread wrote before it panicked is as good as all else.
    fn lock(&self) -> MutexGuard<'_, Shared<W>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A writer with or without colours.
#[derive(Clone, Debug)]
pub enum Paint<W> {
    /// Without.
    Plain(NoColor<W>),
    /// With the escape sequences of terminals.
    Ansi(Ansi<W>),
}

impl<W: Write> Paint<W> {
    /// Writes to `writer`.
    pub fn new(writer: W, colored: bool) -> Self {
        if colored {
            Self::Ansi(Ansi::new(writer))
        } else {
            Self::Plain(NoColor::new(writer))
        }
    }

    /// Returns the writer below.
    pub fn inner(&mut self) -> &mut W {
        match self {
            Self::Plain(writer) => writer.get_mut(),
            Self::Ansi(writer) => writer.get_mut(),
        }
    }
}

impl<W: Write> Write for Paint<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner().write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner().write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner().flush()
    }
}

impl<W: Write> WriteColor for Paint<W> {
    fn supports_color(&self) -> bool {
        matches!(self, Self::Ansi(_))
    }

    fn supports_hyperlinks(&self) -> bool {
        matches!(self, Self::Ansi(_))
    }

    fn set_color(&mut self, color: &ColorSpec) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.set_color(color),
            Self::Ansi(writer) => writer.set_color(color),
        }
    }

    fn set_hyperlink(&mut self, link: &HyperlinkSpec<'_>) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.set_hyperlink(link),
            Self::Ansi(writer) => writer.set_hyperlink(link),
        }
    }

    fn reset(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.reset(),
            Self::Ansi(writer) => writer.reset(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_separated_and_empty_results_leave_no_trace() {
        let output = Output::new(Vec::new(), false, Some(b"--".to_vec()));
        let mut sheet = output.sheet();
        for text in ["a\n", "", "b\n"] {
            sheet.write_all(text.as_bytes()).unwrap();
            output.print(&mut sheet).unwrap();
        }
        assert_eq!(output.lock().writer, b"a\n--\nb\n");
    }
}
