//! The shared output of all threads, which keeps the results of one file together.
//!
//! A thread collects the results of a file on a sheet and writes the sheet at the end, so that
//! threads hardly ever wait. A sheet that grows too large takes the output for itself and writes
//! directly until the file ends. Memory is therefore bounded however much matches, and other
//! threads wait only in this case.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use termcolor::{Ansi, ColorSpec, HyperlinkSpec, NoColor, WriteColor};

/// Maximum size of a sheet before it takes the output for itself.
const MAX_SHEET: usize = 1 << 20;

/// A writer that many threads share.
pub struct Output<W> {
    shared: Mutex<Shared<W>>,
    /// Notified when a sheet gives the output back.
    given_back: Condvar,
    separator: Option<Vec<u8>>,
    colors: Option<Mark>,
}

struct Shared<W> {
    writer: W,
    has_written: bool,
    /// Whether a sheet has the output for itself.
    taken: bool,
}

impl<W: Write> Output<W> {
    /// Creates an output to `writer`, with `separator` and a line feed between the results of
    /// files.
    pub fn new(writer: W, colors: Option<Mark>, separator: Option<Vec<u8>>) -> Self {
        Self {
            shared: Mutex::new(Shared {
                writer,
                has_written: false,
                taken: false,
            }),
            given_back: Condvar::new(),
            separator,
            colors,
        }
    }

    /// Returns an empty sheet for the results of one file.
    pub(crate) fn sheet(&self) -> Paint<Sheet<'_, W>> {
        self.sheet_of(MAX_SHEET)
    }

    /// Returns a sheet that never takes the output for itself, for callers that change its content.
    pub(crate) fn whole_sheet(&self) -> Paint<Sheet<'_, W>> {
        self.sheet_of(usize::MAX)
    }

    fn sheet_of(&self, limit: usize) -> Paint<Sheet<'_, W>> {
        let sheet = Sheet {
            output: self,
            bytes: Vec::new(),
            limit,
            holds: false,
        };
        Paint::new(sheet, self.colors)
    }

    /// Starts the results of a file, when no other sheet has the output.
    fn start(&self) -> io::Result<MutexGuard<'_, Shared<W>>> {
        let mut shared = self.lock();
        while shared.taken {
            let woken = self.given_back.wait(shared);
            shared = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if let (true, Some(separator)) = (shared.has_written, &self.separator) {
            shared.writer.write_all(separator)?;
            shared.writer.write_all(b"\n")?;
        }
        shared.has_written = true;
        Ok(shared)
    }

    /// Locks the writer; output that a thread wrote before it panicked is as good as any other.
    fn lock(&self) -> MutexGuard<'_, Shared<W>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results of one file.
pub(crate) struct Sheet<'a, W: Write> {
    output: &'a Output<W>,
    pub(crate) bytes: Vec<u8>,
    limit: usize,
    /// Whether this sheet has the output for itself.
    holds: bool,
}

impl<W: Write> Sheet<'_, W> {
    /// Writes the rest and empties the sheet. An empty sheet takes no lock.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() && !self.holds {
            return Ok(());
        }
        let written = self.spill();
        let flushed = self.output.lock().writer.flush();
        self.give_back();
        written.and(flushed)
    }

    /// Drops everything that is not written yet.
    pub(crate) fn discard(&mut self) {
        self.bytes.clear();
        self.give_back();
    }

    /// Writes the content, and keeps the output.
    fn spill(&mut self) -> io::Result<()> {
        let mut shared = if self.holds {
            self.output.lock()
        } else {
            self.output.start()?
        };
        shared.taken = true;
        self.holds = true;
        let written = shared.writer.write_all(&self.bytes);
        self.bytes.clear();
        written
    }

    fn give_back(&mut self) {
        if self.holds {
            self.holds = false;
            self.output.lock().taken = false;
            // A thread that was woken may fail before it begins, and wake no other.
            self.output.given_back.notify_all();
        }
    }
}

impl<W: Write> Write for Sheet<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > self.limit {
            self.spill()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Creates an empty sheet, for another thread.
impl<W: Write> Clone for Sheet<'_, W> {
    fn clone(&self) -> Self {
        Self {
            output: self.output,
            bytes: Vec::new(),
            limit: self.limit,
            holds: false,
        }
    }
}

/// A thread that panics must not keep the others waiting.
impl<W: Write> Drop for Sheet<'_, W> {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The bytes before and after each escape sequence, by which a writer to a terminal knows it from those in files; often
/// none.
pub type Mark = &'static [u8];

/// A writer with or without colours.
#[derive(Clone, Debug)]
pub enum Paint<W> {
    /// Without.
    Plain(NoColor<W>),
    /// With the escape sequences of terminals.
    Ansi(Ansi<W>, Mark),
}

impl<W: Write> Paint<W> {
    /// Writes to `writer`, without colours if there is no mark for them.
    pub fn new(writer: W, colors: Option<Mark>) -> Self {
        match colors {
            Some(mark) => Self::Ansi(Ansi::new(writer), mark),
            None => Self::Plain(NoColor::new(writer)),
        }
    }

    /// Returns the underlying writer.
    pub fn inner(&mut self) -> &mut W {
        match self {
            Self::Plain(writer) => writer.get_mut(),
            Self::Ansi(writer, _) => writer.get_mut(),
        }
    }

    /// Writes escape sequences between marks.
    fn escape(&mut self, write: impl FnOnce(&mut Ansi<W>) -> io::Result<()>) -> io::Result<()> {
        let Self::Ansi(writer, mark) = self else {
            return Ok(());
        };
        writer.write_all(mark)?;
        write(writer)?;
        writer.write_all(mark)
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
        matches!(self, Self::Ansi(..))
    }

    fn supports_hyperlinks(&self) -> bool {
        matches!(self, Self::Ansi(..))
    }

    fn set_color(&mut self, color: &ColorSpec) -> io::Result<()> {
        self.escape(|writer| writer.set_color(color))
    }

    fn set_hyperlink(&mut self, link: &HyperlinkSpec<'_>) -> io::Result<()> {
        self.escape(|writer| writer.set_hyperlink(link))
    }

    fn reset(&mut self) -> io::Result<()> {
        self.escape(WriteColor::reset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_separated_and_empty_results_leave_no_trace() {
        let output = Output::new(Vec::new(), None, Some(b"--".to_vec()));
        let mut sheet = output.sheet();
        for text in ["a\n", "", "b\n"] {
            sheet.write_all(text.as_bytes()).unwrap();
            sheet.inner().finish().unwrap();
        }
        drop(sheet);
        assert_eq!(output.lock().writer, b"a\n--\nb\n");
    }

    #[test]
    fn large_results_are_written_as_they_come_and_in_one_piece() {
        let output = Output::new(Vec::new(), None, None);
        std::thread::scope(|scope| {
            for letter in ["a", "b", "c", "d"] {
                let mut sheet = output.sheet_of(8);
                scope.spawn(move || {
                    for _ in 0..100 {
                        sheet.write_all(letter.as_bytes()).unwrap();
                        assert!(sheet.inner().bytes.len() <= 8);
                    }
                    sheet.inner().finish().unwrap();
                });
            }
        });
        let written = output.lock().writer.clone();
        let mut pieces: Vec<&[u8]> = written.chunk_by(|left, right| left == right).collect();
        pieces.sort_unstable();
        assert!(pieces.len() == 4 && pieces.iter().all(|piece| piece.len() == 100));
    }

    #[test]
    fn a_sheet_that_is_dropped_gives_the_output_back() {
        let output = Output::new(Vec::new(), None, None);
        let mut sheet = output.sheet_of(1);
        sheet.write_all(b"long").unwrap();
        drop(sheet);
        let mut sheet = output.sheet();
        sheet.write_all(b"!").unwrap();
        sheet.inner().finish().unwrap();
        drop(sheet);
        assert_eq!(output.lock().writer, b"long!");
    }
}
