//! ag's output: the lines that are printed for a text and its matches, and their form.
//!
//! ag reads a text byte by byte, with a state. Its output for matches that are adjacent, empty or
//! multi-line follows from this: an event is noticed only at its own byte, and the beginning of a
//! match that begins where the last one ended is not noticed. This printer has the same state, but
//! goes from event to event and from line to line, and only counts lines of which nothing can be
//! printed.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::report::Buffer;

/// Where the path of a file is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// On a separate line above the lines of the file.
    Top,
    /// On each line.
    EachLine,
    /// Nowhere.
    Nothing,
}

/// Escape sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Before a path.
    pub path: Vec<u8>,
    /// Before a number.
    pub number: Vec<u8>,
    /// Before a match.
    pub found: Vec<u8>,
    /// Ends a colour.
    pub reset: Vec<u8>,
}

impl Colors {
    /// Puts the same bytes before and after each sequence.
    #[must_use]
    pub fn set_off(&self, mark: &[u8]) -> Self {
        let set_off = |sequence: &[u8]| [mark, sequence, mark].concat();
        Self {
            path: set_off(&self.path),
            number: set_off(&self.number),
            found: set_off(&self.found),
            reset: set_off(&self.reset),
        }
    }
}

impl Default for Colors {
    fn default() -> Self {
        Self {
            path: b"\x1b[1;32m".to_vec(),
            number: b"\x1b[1;33m".to_vec(),
            found: b"\x1b[30;43m".to_vec(),
            reset: b"\x1b[0m\x1b[K".to_vec(),
        }
    }
}

/// Replaces the rest of a truncated line.
const CUT: &[u8] = b" [...]";

/// How matches are printed.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub struct Display {
    /// Where paths are printed.
    pub paths: Paths,
    /// The byte after a path on its own line: a newline, or a NUL.
    pub path_end: u8,
    /// An empty line between files.
    pub breaks: bool,
    /// Numbers of lines.
    pub numbers: bool,
    /// Column of the first match on a line.
    pub column: bool,
    /// Number of lines printed before a match.
    pub before: usize,
    /// Number of lines printed after a match.
    pub after: usize,
    /// Maximum number of bytes of a line; 0 for no limit.
    pub width: usize,
    /// Matches without the rest of their lines.
    pub only_matching: bool,
    /// Escape sequences.
    pub colors: Option<Colors>,
    /// Numbers, columns and lengths in AckMate's form.
    pub ackmate: bool,
    /// A line for each match, in vim's form.
    pub vimgrep: bool,
    /// The number of matches in place of lines.
    pub counts: bool,
    /// Paths in place of lines.
    pub files: bool,
}

/// ag's count before the first match: no line is near.
const FAR: usize = i32::MAX as usize;

/// State from line to line.
#[derive(Debug)]
struct State {
    /// The number of the current line.
    line: usize,
    /// The previous lines.
    previous: VecDeque<Vec<u8>>,
    /// Number of lines since the last matching one; 0 on a matching line.
    since: usize,
    /// Number of matches that ended.
    ended: usize,
    /// Number of matches whose end was printed.
    printed: usize,
    in_match: bool,
    /// Whether the printer is inside a match.
    highlighting: bool,
    /// Start of the line of the last match.
    match_line: usize,
}

impl State {
    fn new() -> Self {
        Self {
            line: 1,
            previous: VecDeque::new(),
            since: FAR,
            ended: 0,
            printed: 0,
            in_match: false,
            highlighting: false,
            match_line: 0,
        }
    }
}

/// A text with its matches.
#[derive(Clone, Copy)]
struct Found<'t> {
    text: &'t [u8],
    matches: &'t [Range<usize>],
}

/// Prints the matches in files into a buffer.
pub(super) struct Printer<'d> {
    display: &'d Display,
    pub(super) buffer: Buffer,
    state: State,
}

impl<'d> Printer<'d> {
    pub(super) fn new(display: &'d Display) -> Self {
        Self {
            display,
            buffer: Buffer::default(),
            state: State::new(),
        }
    }

    /// Clears the lines of the last file.
    pub(super) fn begin(&mut self) {
        self.state = State::new();
    }

    /// Prints a path and its terminator.
    pub(super) fn path(&mut self, path: &[u8], end: u8) {
        let display = self.display;
        if display.paths == Paths::Nothing && !display.vimgrep {
            return;
        }
        let path = shown(path);
        let colors = display.colors.as_ref().filter(|_| !display.vimgrep);
        if display.ackmate {
            self.put(b":");
        }
        self.painted(colors.map(|colors| colors.path.as_slice()), path);
        self.put(&[end]);
    }

    /// Prints the number of matches in a file.
    pub(super) fn count(&mut self, path: &[u8], count: usize) {
        if !path.is_empty() {
            self.path(path, b':');
        }
        self.number(count, self.display.path_end);
    }

    /// Prints that a binary file matches.
    pub(super) fn binary(&mut self, path: &[u8]) {
        self.separate();
        self.put(b"Binary file ");
        self.put(shown(path));
        self.put(b" matches.\n");
    }

    /// Prints the lines of a file.
    pub(super) fn matches(&mut self, path: &[u8], text: &[u8], matches: &[Range<usize>]) {
        self.separate();
        self.buffer.urgent = true;
        if self.display.paths == Paths::Top {
            self.path(path, self.display.path_end);
        }
        let found = Found { text, matches };
        self.state.ended = 0;
        let mut start = 0;
        while start <= text.len() && self.goes_on(found) {
            start = self.skip(found, start);
            let end = start + memchr(b'\n', &text[start..]).unwrap_or(text.len() - start);
            if !self.events(path, found, start..end) {
                break;
            }
            self.remember(&text[start..end]);
            if self.state.since == 0 {
                self.matching_line(path, found, start..end);
            }
            self.trailing_line(path, &text[start..end]);
            start = end + 1;
            if !self.state.in_match {
                self.state.match_line = start;
            }
            if end == text.len() && !text.ends_with(b"\n") {
                self.put(b"\n");
            }
        }
    }

    /// Prints a line of a stream with its matches, and remembers it.
    pub(super) fn stream_line(&mut self, text: &[u8], matches: &[Range<usize>]) {
        let end = memchr(b'\n', text).unwrap_or(text.len());
        let found = Found { text, matches };
        self.buffer.urgent = true;
        self.state.ended = 0;
        self.events(b"", found, 0..end);
        self.remember(&text[..end]);
        if self.state.since == 0 {
            self.matching_line(b"", found, 0..end);
        }
        self.state.printed = 0;
    }

    /// Remembers a line of a stream without matches. ag takes its last byte for a newline.
    pub(super) fn pass_stream_line(&mut self, text: &[u8]) {
        self.remember(&text[..text.len().saturating_sub(1)]);
    }

    /// Ends a line of a stream: it is printed if it follows a match closely.
    pub(super) fn end_stream_line(&mut self, line: &[u8]) {
        self.trailing_line(b"", line);
    }

    /// Prints text unchanged.
    pub(super) fn put(&mut self, text: &[u8]) {
        self.buffer.text.extend_from_slice(text);
    }

    fn separate(&mut self) {
        if !self.display.breaks {
            return;
        }
        match self.buffer.text.is_empty() && !self.buffer.separate {
            true => self.buffer.separate = true,
            false => self.put(b"\n"),
        }
    }

    fn goes_on(&self, found: Found) -> bool {
        self.state.ended < found.matches.len() || self.state.since <= self.display.after
    }

    /// Counts lines of which nothing is printed, and returns the start of the next one.
    fn skip(&mut self, found: Found, start: usize) -> usize {
        if self.state.since <= self.display.after {
            return start;
        }
        let next = self.next_event(found.matches, start);
        let until = next.unwrap_or(found.text.len()).min(found.text.len());
        let Some(newline) = memrchr(b'\n', &found.text[start..until]) else {
            return start;
        };
        let skipped = &found.text[start..start + newline];
        let lines = memchr_iter(b'\n', skipped).count() + 1;
        self.remember_last(skipped);
        self.state.line += lines;
        self.state.since = self.state.since.saturating_add(lines).min(FAR);
        self.state.match_line = start + newline + 1;
        start + newline + 1
    }

    /// Returns the next byte at which the awaited match begins or ends.
    fn next_event(&self, matches: &[Range<usize>], at: usize) -> Option<usize> {
        let next = matches.get(self.state.ended)?;
        [next.start, next.end]
            .into_iter()
            .find(|event| *event >= at)
    }

    /// Processes the beginnings and ends of matches on a line; returns whether it reached the end
    /// of the line.
    fn events(&mut self, path: &[u8], found: Found, line: Range<usize>) -> bool {
        let mut at = line.start;
        while let Some(event) = self.next_event(found.matches, at) {
            if event > line.end {
                break;
            }
            let next = &found.matches[self.state.ended];
            let ends = event == next.end;
            if event == next.start {
                self.begin_match(path);
            }
            if ends {
                self.state.ended += 1;
                self.state.in_match = false;
                if event < line.end && !self.goes_on(found) {
                    return false;
                }
            }
            at = event + 1;
        }
        true
    }

    /// Prints the prefix of a matching line.
    fn begin_match(&mut self, path: &[u8]) {
        let (before, after) = (self.display.before, self.display.after);
        let since = self.state.since;
        self.state.in_match = true;
        let has_context = before > 0 || after > 0;
        let near = before.wrapping_add(after).wrapping_add(1);
        if self.state.ended > 0 && has_context && since > near {
            self.put(b"--\n");
        }
        if since > 0 && before > 0 {
            let lines = since.saturating_sub(after.saturating_add(1)).min(before);
            self.previous_lines(path, lines);
        }
        self.state.since = 0;
    }

    fn previous_lines(&mut self, path: &[u8], lines: usize) {
        let previous = std::mem::take(&mut self.state.previous);
        let first = previous.len().saturating_sub(lines);
        for (at, line) in previous.iter().enumerate().skip(first) {
            if self.display.paths == Paths::EachLine {
                self.path(path, b':');
            }
            let back = previous.len() - at;
            self.line_number(self.state.line - back, self.context_mark());
            self.put(line);
            self.put(b"\n");
        }
        self.state.previous = previous;
    }

    /// Keeps a line for the context before a match.
    fn remember(&mut self, line: &[u8]) {
        if self.display.before == 0 {
            return;
        }
        if self.state.previous.len() >= self.display.before {
            self.state.previous.pop_front();
        }
        // ag keeps strings that end at a NUL.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        self.state.previous.push_back(line.to_vec());
    }

    fn remember_last(&mut self, text: &[u8]) {
        if self.display.before == 0 {
            return;
        }
        let lines = text.rsplit(|byte| *byte == b'\n').take(self.display.before);
        let lines: Vec<&[u8]> = lines.collect();
        lines.into_iter().rev().for_each(|line| self.remember(line));
    }

    fn context_mark(&self) -> u8 {
        match self.display.ackmate || self.display.vimgrep {
            true => b':',
            false => b'-',
        }
    }

    /// Prints a line if it follows a match closely, and advances to the next one.
    fn trailing_line(&mut self, path: &[u8], line: &[u8]) {
        if self.state.since != 0 && self.state.since <= self.display.after {
            if self.display.paths == Paths::EachLine {
                self.path(path, b':');
            }
            self.line_number(self.state.line, self.context_mark());
            self.put(line);
            self.put(b"\n");
        }
        self.state.line += 1;
        if !self.state.in_match && self.state.since < FAR {
            self.state.since += 1;
        }
    }

    fn matching_line(&mut self, path: &[u8], found: Found, line: Range<usize>) {
        if self.display.paths == Paths::EachLine {
            self.path(path, b':');
        }
        if self.display.ackmate {
            self.ackmate_line(found, line);
        } else if self.display.vimgrep {
            self.vimgrep_lines(path, found, line);
        } else {
            self.plain_line(path, found, line);
        }
    }

    fn ackmate_line(&mut self, found: Found, line: Range<usize>) {
        self.line_number(self.state.line, b';');
        while self.state.printed < self.state.ended {
            let range = &found.matches[self.state.printed];
            self.state.printed += 1;
            let column = range.start.saturating_sub(self.state.match_line);
            let end = match self.state.printed == self.state.ended {
                true => ':',
                false => ',',
            };
            let _ = write!(self.buffer.text, "{column} {}{end}", range.len());
        }
        self.cut_line(found.text, line);
    }

    fn vimgrep_lines(&mut self, path: &[u8], found: Found, line: Range<usize>) {
        while self.state.printed < self.state.ended {
            self.path(path, b':');
            self.line_number(self.state.line, b':');
            self.column_number(found, line.start);
            self.cut_line(found.text, line.clone());
            self.state.printed += 1;
        }
    }

    /// Prints a line with its newline, if it is not too wide.
    fn cut_line(&mut self, text: &[u8], line: Range<usize>) {
        let line = &text[line.start..text.len().min(line.end + 1)];
        let width = match self.display.width {
            0 => line.len(),
            width => width.min(line.len()),
        };
        self.put(&line[..width]);
    }

    fn plain_line(&mut self, path: &[u8], found: Found, line: Range<usize>) {
        self.line_number(self.state.line, b':');
        if self.display.column {
            self.column_number(found, line.start);
        }
        if self.state.highlighting {
            self.highlight();
        }
        let limit = match self.display.width {
            0 => usize::MAX,
            width => line.start + width,
        };
        let mut closed_one = false;
        let mut at = line.start;
        while at <= line.end {
            if self.next_printed(found, |range| range.end) == Some(at) {
                self.close();
                closed_one = true;
            }
            if at >= limit && at < found.text.len() {
                self.put(if at < line.end { CUT } else { b"" });
                self.put(b"\n");
                self.state.printed = found.matches.len();
                break;
            }
            if self.next_printed(found, |range| range.start) == Some(at) {
                if closed_one && self.display.only_matching {
                    self.next_of_line(path, found, line.start);
                }
                self.highlight();
                self.state.highlighting = true;
            }
            let stop = if at < limit { limit } else { usize::MAX };
            let next = self.next_edge(found, at).min(stop).min(line.end + 1);
            if !self.display.only_matching || self.state.highlighting {
                self.put(&found.text[at..next.min(found.text.len())]);
            }
            at = next;
        }
        if self.state.highlighting {
            self.reset();
        }
    }

    /// Returns a position of the match that is printed next.
    fn next_printed(&self, found: Found, edge: fn(&Range<usize>) -> usize) -> Option<usize> {
        found.matches.get(self.state.printed).map(edge)
    }

    /// Returns the next byte at which that match begins or ends.
    fn next_edge(&self, found: Found, at: usize) -> usize {
        let next = found.matches.get(self.state.printed);
        let edges = next.into_iter().flat_map(|next| [next.start, next.end]);
        edges.filter(|edge| *edge > at).min().unwrap_or(usize::MAX)
    }

    /// Begins the next match of a line, if only matches are printed.
    fn next_of_line(&mut self, path: &[u8], found: Found, line_start: usize) {
        if self.display.paths == Paths::EachLine {
            self.path(path, b':');
        }
        self.line_number(self.state.line, b':');
        if self.display.column {
            self.column_number(found, line_start);
        }
    }

    fn highlight(&mut self) {
        if let Some(colors) = &self.display.colors {
            self.buffer.text.extend_from_slice(&colors.found);
        }
    }

    fn reset(&mut self) {
        if let Some(colors) = &self.display.colors {
            self.buffer.text.extend_from_slice(&colors.reset);
        }
    }

    /// Ends the printed match.
    fn close(&mut self) {
        self.reset();
        self.state.highlighting = false;
        self.state.printed += 1;
        if self.display.only_matching {
            self.put(b"\n");
        }
    }

    fn line_number(&mut self, line: usize, end: u8) {
        if self.display.numbers {
            self.number(line, end);
        }
    }

    /// Prints the column of the next match; 0 if the match began on an earlier line.
    fn column_number(&mut self, found: Found, line_start: usize) {
        let start = self.next_printed(found, |range| range.start);
        let column = start.and_then(|start| start.checked_sub(line_start));
        let _ = write!(
            self.buffer.text,
            "{}:",
            column.map_or(0, |column| column + 1)
        );
    }

    fn number(&mut self, number: usize, end: u8) {
        let colors = self.display.colors.as_ref();
        let number = number.to_string();
        self.painted(
            colors.map(|colors| colors.number.as_slice()),
            number.as_bytes(),
        );
        self.put(&[end]);
    }

    fn painted(&mut self, color: Option<&[u8]>, text: &[u8]) {
        self.put(color.unwrap_or_default());
        self.put(text);
        if color.is_some() {
            self.reset();
        }
    }
}

/// Returns a path in its printed form: without `./`, and with one leading slash.
fn shown(path: &[u8]) -> &[u8] {
    match path {
        [b'.', b'/', rest @ ..] if !rest.is_empty() => rest,
        [b'/', b'/', _, ..] => &path[1..],
        _ => path,
    }
}
