//! The only way to standard output and standard error.
//!
//! Names and texts of files can contain anything: sequences that set the clipboard, clear the screen or answer in the
//! user's place, and characters that reverse the direction of text. On a terminal all of them are made visible, as
//! `^[` and `\u202e`. Output that goes elsewhere stays as it is.
//!
//! Colours and links of ken's own are set off by a [`mark`] on both sides. It is random, so no file can contain it.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pager::with_input;
use super::steers;

/// Whether something was written to standard output.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Returns whether something was written to standard output.
pub(crate) fn has_printed() -> bool {
    HAS_PRINTED.load(Ordering::Relaxed)
}

/// Returns standard output.
pub(crate) fn stdout() -> Out<Screen> {
    let mut out = Out::new(Screen(io::stdout()), io::stdout().is_terminal());
    out.is_result = true;
    out
}

/// Returns standard error.
pub(crate) fn stderr() -> Out<io::Stderr> {
    Out::new(io::stderr(), io::stderr().is_terminal())
}

/// Writes to standard error while no other thread is inside a line of standard output.
pub(crate) fn between_lines(text: &str) {
    let held = io::stdout().lock();
    // A failure to print cannot be reported anywhere.
    let _ = stderr().write_all(text.as_bytes());
    drop(held);
}

/// Returns the text before and after each escape sequence of ken's own in standard output; empty if standard output is
/// not a terminal.
pub(crate) fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| match io::stdout().is_terminal() {
        true => {
            let number = || RandomState::new().hash_one(0);
            format!("\x1b{:016x}{:016x}", number(), number())
        }
        false => String::new(),
    })
}

/// Returns the columns of the terminal on standard output; none if there is none.
pub(crate) fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
    (columns > 0).then(|| columns.into())
}

/// Returns whether the terminal on standard output has rows for all lines of a text, and one for the prompt behind it.
pub(crate) fn has_room_for(text: &[u8]) -> bool {
    let n_lines = text.iter().filter(|byte| **byte == b'\n').count();
    let size = terminal_size::terminal_size_of(io::stdout());
    size.is_some_and(|(_, terminal_size::Height(rows))| n_lines < usize::from(rows))
}

/// Standard output, or the pager in front of it.
#[derive(Debug)]
pub(crate) struct Screen(io::Stdout);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        with_input(|pager| pager.write(bytes)).unwrap_or_else(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        with_input(Write::flush).unwrap_or_else(|| self.0.flush())
    }
}

/// A writer to a terminal, or to something else.
#[derive(Debug)]
pub(crate) struct Out<W: Write> {
    writer: W,
    filter: Option<Filter>,
    /// Whether this is standard output.
    is_result: bool,
}

impl<W: Write> Out<W> {
    /// Writes to a terminal or a program that shows text on it, or else passes everything on.
    pub(crate) fn new(writer: W, is_terminal: bool) -> Self {
        Self {
            writer,
            filter: is_terminal.then(|| Filter::new(mark())),
            is_result: false,
        }
    }
}

impl<W: Write> Write for Out<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_result {
            HAS_PRINTED.store(true, Ordering::Relaxed);
        }
        let Some(filter) = &mut self.filter else {
            return self.writer.write(bytes);
        };
        self.writer.write_all(filter.shown(bytes).as_slice())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(filter) = &mut self.filter {
            self.writer.write_all(&filter.rest())?;
        }
        self.writer.flush()
    }
}

impl<W: Write> Drop for Out<W> {
    fn drop(&mut self) {
        if let Some(filter) = &mut self.filter {
            // A failure to print cannot be reported anywhere.
            let _ = self.writer.write_all(&filter.rest());
        }
    }
}

/// Makes visible what steers a terminal.
#[derive(Debug)]
struct Filter {
    mark: &'static str,
    /// Whether the text is between two marks, and passed on.
    is_own: bool,
    /// The beginning of a character or of a mark, whose end was not written yet.
    begun: Vec<u8>,
    /// Whether the last byte was a carriage return, which is harmless before a line feed.
    returned: bool,
}

/// What a text begins with.
enum Head {
    Mark,
    Char(char),
    /// A byte that is not UTF-8.
    Byte(u8),
    /// Something that the text is too short to tell.
    Begun,
}

impl Filter {
    fn new(mark: &'static str) -> Self {
        Self {
            mark,
            is_own: false,
            begun: Vec::new(),
            returned: false,
        }
    }

    /// Returns the text to show for more bytes.
    fn shown(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.begun);
        input.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(input.len());
        let mut rest = input.as_slice();
        loop {
            if !self.is_own && !self.returned {
                let (plain, after) = rest.split_at(plain_length(rest));
                out.extend_from_slice(plain);
                rest = after;
            }
            if rest.is_empty() {
                break;
            }
            let head = self.head(rest);
            let length = match head {
                Head::Mark => self.mark.len(),
                Head::Char(character) => character.len_utf8(),
                Head::Byte(_) => 1,
                Head::Begun => {
                    self.begun = rest.to_vec();
                    break;
                }
            };
            let (bytes, after) = rest.split_at(length);
            self.put(&head, bytes, &mut out);
            rest = after;
        }
        out
    }

    /// Returns the text to show for what was begun and is not continued.
    fn rest(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in std::mem::take(&mut self.begun) {
            self.put(&Head::Byte(byte), &[byte], &mut out);
        }
        out
    }

    fn head(&self, text: &[u8]) -> Head {
        let mark = self.mark.as_bytes();
        if text[0] == 0x1b && !mark.is_empty() {
            if text.starts_with(mark) {
                return Head::Mark;
            }
            if mark.starts_with(text) {
                return Head::Begun;
            }
        }
        let start = &text[..text.len().min(4)];
        let valid = match std::str::from_utf8(start) {
            Ok(valid) => valid,
            Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => {
                return Head::Begun;
            }
            Err(error) => str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        };
        valid.chars().next().map_or(Head::Byte(text[0]), Head::Char)
    }

    /// Appends what is shown for the head of a text.
    fn put(&mut self, head: &Head, bytes: &[u8], out: &mut Vec<u8>) {
        if matches!(head, Head::Mark) {
            self.is_own = !self.is_own;
            return;
        }
        if self.is_own {
            out.extend_from_slice(bytes);
            return;
        }
        if std::mem::take(&mut self.returned) && bytes != b"\n" {
            out.extend_from_slice(b"^M");
        }
        match *head {
            Head::Char('\r') => self.returned = true,
            Head::Char(character) => put_visible(character, out),
            Head::Byte(byte @ (0..0x20 | 0x7f)) => put_visible(char::from(byte), out),
            // In an encoding of one byte for a character, these are control characters.
            Head::Byte(byte @ 0x80..0xa0) => {
                out.extend_from_slice(format!("\\x{byte:02x}").as_bytes())
            }
            _ => out.extend_from_slice(bytes),
        }
    }
}

/// Returns how many bytes a text begins with that are ASCII and steer nothing.
fn plain_length(text: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..0x7f);
    let end = text.iter().position(|byte| !is_plain(byte));
    end.unwrap_or(text.len())
}

/// Appends a character, or the text that is shown in its place. That of a character in JSON is JSON's own escape.
fn put_visible(character: char, out: &mut Vec<u8>) {
    match character {
        '\n' | '\t' => out.push(character as u8),
        // As terminals, cat -v and less show them.
        '\0'..='\x1f' => out.extend([b'^', b'@' + character as u8]),
        // Writing to a vector cannot fail.
        _ if steers(character) => _ = write!(out, "\\u{:04x}", u32::from(character)),
        _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "\x1bmark";

    /// Returns what is shown if the text is written in pieces of so many bytes.
    fn shown(text: &[u8], n_bytes: usize) -> String {
        let mut filter = Filter::new(MARK);
        let mut out: Vec<u8> = text
            .chunks(n_bytes)
            .flat_map(|piece| filter.shown(piece))
            .collect();
        out.extend(filter.rest());
        out.iter()
            .flat_map(|byte| match byte.is_ascii() {
                true => vec![char::from(*byte)],
                false => format!("<{byte:02x}>").chars().collect(),
            })
            .collect()
    }

    #[test]
    fn what_steers_a_terminal_is_visible_however_it_is_cut() {
        for (text, expected) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            (b"\x1b]52;c;aGk=\x07", "^[]52;c;aGk=^G"),
            (b"line\r\nover\rwritten", "line\nover^Mwritten"),
            (
                "a\u{202e}b\u{9b}c\u{2066}".as_bytes(),
                "a\\u202eb\\u009bc\\u2066",
            ),
            (b"\x9b31m \xe9t\xe9 \x7f", "\\x9b31m <e9>t<e9> \\u007f"),
            ("\u{fc}".as_bytes(), "<c3><bc>"),
            (b"\xe2\x80", "<e2>\\x80"),
            (
                b"a\x1bmark\x1b[1m\x1bmarkb\x1b[1m\x1bma",
                "a\x1b[1mb^[[1m^[ma",
            ),
            (b"all\r\x1bmark\x1b[m\x1bmark\n", "all\x1b[m\n"),
        ] {
            for n_bytes in 1..text.len() {
                assert_eq!(shown(text, n_bytes), expected, "{text:?} by {n_bytes}");
            }
        }
    }
}
