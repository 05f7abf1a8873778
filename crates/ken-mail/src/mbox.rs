//! Mailboxes with many messages in one file (RFC 4155), read as a stream.
//!
//! A message starts after a line `From sender date`, with an empty line before it and header fields after it. Some
//! programs omit the date, the sender or the empty line; then the fields must be those of a message. Programs protect
//! such lines in a body differently: mboxo and mboxrd write `>From `, mboxcl2 relies on Content-Length. The quoting is
//! removed, and Content-Length counts if it leads to a separator. Messages are found by searching for `From `, not by
//! reading lines. The end of a message depends on nothing before it, so reading may begin at any message.

use std::borrow::Cow;
use std::io::{self, Read};

use ken_core::MONTHS;
use memchr::{memchr, memmem};

use crate::date;
use crate::header::{colon, field_weight};
use crate::lines::line_end;

/// The number of bytes read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The most bytes of a separator line.
const MAX_SEPARATOR_BYTES: usize = 512;

/// The number of bytes, from a separator on, that decide whether it is one.
const LOOK_BYTES: usize = 4 << 10;

/// The most bytes of a message that are searched for Content-Length.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// Splits a mailbox into messages; holds one message at a time and the bytes read ahead.
pub struct Mbox<R> {
    reader: R,
    max_message_bytes: usize,
    chunk_bytes: usize,
    buffer: Vec<u8>,
    /// The start of the next message in the buffer.
    start: usize,
    /// The start of the next message in the file.
    offset: u64,
    is_at_end: bool,
}

/// One message of a mailbox.
#[derive(Debug, PartialEq, Eq)]
pub struct MboxMessage<'a> {
    /// The offset of the separator line in the file.
    pub offset: u64,
    /// The separator line; empty if there is none.
    pub separator: &'a [u8],
    /// The message, without separator and the empty line after it; quoted `From ` lines are restored.
    pub bytes: Cow<'a, [u8]>,
    /// Whether the message is too large and cut at the end.
    pub is_truncated: bool,
}

impl MboxMessage<'_> {
    /// Returns the time of delivery in the separator, in seconds since 1970-01-01 UTC.
    pub fn delivered(&self) -> Option<i64> {
        let line = String::from_utf8_lossy(self.separator.strip_prefix(b"From ")?);
        // The sender's address may have numbers in it.
        let (_, when) = line.split_once(' ')?;
        date::parse(when)
    }
}

impl<R: Read> Mbox<R> {
    /// Returns a splitter that cuts messages at `max_message_bytes`.
    pub fn new(reader: R, max_message_bytes: usize) -> Self {
        Self::starting_at(0, reader, max_message_bytes)
    }

    /// Returns a splitter of the messages from `offset` on. The reader must be at this offset, and a message must
    /// start there.
    pub fn starting_at(offset: u64, reader: R, max_message_bytes: usize) -> Self {
        Self {
            reader,
            max_message_bytes,
            chunk_bytes: CHUNK_BYTES,
            buffer: Vec::new(),
            start: 0,
            offset,
            is_at_end: false,
        }
    }

    /// Returns the next message; `None` at the end.
    ///
    /// # Errors
    /// Fails if the mailbox cannot be read.
    pub fn next_message(&mut self) -> io::Result<Option<MboxMessage<'_>>> {
        self.skip_empty_lines()?;
        if self.data().is_empty() {
            return Ok(None);
        }
        let header = self.separator_bytes();
        let (end, n_dropped) = match self.declared_end(header)? {
            Some(end) => (end, 0),
            None => self.find_end(header)?,
        };
        let offset = self.offset;
        let start = self.start;
        self.start += end;
        self.offset += (end + n_dropped) as u64;
        let kept = end.min(header + self.max_message_bytes);
        let content = without_empty_line(&self.buffer[start + header..start + kept]);
        Ok(Some(MboxMessage {
            offset,
            separator: &self.buffer[start..start + header],
            bytes: unquote(content),
            is_truncated: kept < end,
        }))
    }

    /// Returns the bytes that were read and not handed out. All positions below are positions in it.
    fn data(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads more bytes; returns whether there were any.
    fn fill(&mut self) -> io::Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        // Moving the rest costs no more than reading what preceded it.
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let chunk = self.reader.by_ref().take(self.chunk_bytes as u64);
        let n_read = { chunk }.read_to_end(&mut self.buffer)?;
        self.is_at_end = n_read == 0;
        Ok(n_read > 0)
    }

    /// Reads until there are `n_bytes`, or to the end.
    fn fill_to(&mut self, n_bytes: usize) -> io::Result<()> {
        while self.data().len() < n_bytes && self.fill()? {}
        Ok(())
    }

    fn skip_empty_lines(&mut self) -> io::Result<()> {
        loop {
            let data = self.data();
            let n_empty = data
                .iter()
                .take_while(|byte| matches!(byte, b'\r' | b'\n'))
                .count();
            let is_done = n_empty < data.len();
            self.start += n_empty;
            self.offset += n_empty as u64;
            if is_done || !self.fill()? {
                return self.fill_to(MAX_SEPARATOR_BYTES);
            }
        }
    }

    /// Returns the length of the separator line at the start; 0 if there is none.
    fn separator_bytes(&self) -> usize {
        let data = self.data();
        if !data.starts_with(b"From ") {
            return 0;
        }
        let line = &data[..data.len().min(MAX_SEPARATOR_BYTES)];
        memchr(b'\n', line).map_or(0, |at| at + 1)
    }

    /// Returns the end of the message by its Content-Length, if the next message starts there.
    fn declared_end(&mut self, header: usize) -> io::Result<Option<usize>> {
        self.fill_to(header + MAX_HEADER_BYTES)?;
        let Some(mut end) = body_end(&self.data()[header..]).map(|end| header + end) else {
            return Ok(None);
        };
        if end > header + self.max_message_bytes {
            return Ok(None);
        }
        self.fill_to(end + LOOK_BYTES)?;
        let data = self.data();
        if end > data.len() {
            return Ok(None);
        }
        let rest = &data[end..];
        end += rest
            .iter()
            .take(4)
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        let is_end = end == data.len() || starts_message(&data[end..], true);
        Ok(is_end.then_some(end))
    }

    /// Returns the end of the message, and the number of bytes dropped because the message is too large.
    fn find_end(&mut self, header: usize) -> io::Result<(usize, usize)> {
        let mut at = header.saturating_sub(1);
        let mut n_dropped = 0;
        loop {
            if let Some(found) = memmem::find(&self.data()[at..], b"\nFrom ") {
                at += found + 1;
                self.fill_to(at + LOOK_BYTES)?;
                let (before, rest) = self.data().split_at(at);
                if starts_message(rest, follows_empty_line(before)) {
                    return Ok((at, n_dropped));
                }
                continue;
            }
            // The last bytes may be the start of a separator.
            at = at.max(self.data().len().saturating_sub(b"\nFrom".len()));
            let dropped = self.drop_excess(header);
            n_dropped += dropped;
            at -= dropped;
            if !self.fill()? {
                return Ok((self.data().len(), n_dropped));
            }
        }
    }

    /// Drops the bytes beyond the largest message that is handed out. The last bytes are kept, as they show whether
    /// the next line is a separator.
    fn drop_excess(&mut self, header: usize) -> usize {
        // One byte more than is handed out shows that the message is cut.
        let from = self.start + header + self.max_message_bytes + 1;
        let to = self.buffer.len().saturating_sub(b"\r\n\r\nFrom ".len());
        if from + self.chunk_bytes > to {
            return 0;
        }
        self.buffer.drain(from..to);
        to - from
    }
}

/// Returns the end of the body of a message by its Content-Length.
fn body_end(message: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let message_bytes = &message[..message.len().min(MAX_HEADER_BYTES)];
    let mut declared = None;
    let mut at = 0;
    while let Some(length) = memchr(b'\n', &message_bytes[at..]) {
        let line = &message_bytes[at..at + length];
        at += length + 1;
        if matches!(line, b"" | b"\r") {
            return at.checked_add(declared?);
        }
        if line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            let digits = std::str::from_utf8(&line[NAME.len()..]).ok()?;
            declared = digits.trim().parse::<usize>().ok();
        }
    }
    None
}

/// Returns whether a line that starts with `From ` is a separator.
fn starts_message(rest: &[u8], follows_empty_line: bool) -> bool {
    let rest = &rest[..rest.len().min(LOOK_BYTES)];
    let (line, header) = rest.split_at(line_end(rest));
    if line.len() > MAX_SEPARATOR_BYTES || !line.starts_with(b"From ") {
        return false;
    }
    let line = line[b"From ".len()..].trim_ascii();
    if is_dated(line) && follows_empty_line {
        return header.is_empty() || starts_field(header);
    }
    let header = Weighed::of(header);
    match line {
        // As Thunderbird writes it.
        b"" | b"-" => header.is_likely(),
        line if is_dated(line) => header.is_likely(),
        _ => follows_empty_line && header.is_likely() && header.n_proofs > 0,
    }
}

/// Returns whether one of the first two lines starts a field; the first line may be a second separator.
fn starts_field(header: &[u8]) -> bool {
    let (first, rest) = header.split_at(line_end(header));
    colon(first).is_some() || colon(&rest[..line_end(rest)]).is_some()
}

/// The fields of a header, up to the first line that does not belong to it.
#[derive(Default)]
struct Weighed {
    /// The number of fields that are typical of messages.
    n_known: usize,
    /// The number of fields that only messages have.
    n_proofs: usize,
    /// Whether an empty line ends the header.
    is_ended: bool,
}

impl Weighed {
    fn of(header: &[u8]) -> Self {
        let mut weighed = Self::default();
        let mut lines = header.split(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            let is_last = lines.peek().is_none();
            if line.trim_ascii_end().is_empty() {
                weighed.is_ended = !is_last;
                break;
            }
            match colon(line).map(|colon| field_weight(line[..colon].trim_ascii_end())) {
                Some(weight) => {
                    weighed.n_known += weight.min(1);
                    weighed.n_proofs += weight / 2;
                }
                None if line.starts_with(b" ") || line.starts_with(b"\t") => {}
                None if line.starts_with(b">From ") => {}
                None => break,
            }
        }
        weighed
    }

    fn is_likely(&self) -> bool {
        self.n_known > 1 || self.is_ended && self.n_known > 0
    }
}

/// Returns whether a separator has a month, a time and a year.
fn is_dated(line: &[u8]) -> bool {
    let words = || line.split(|byte| matches!(byte, b' ' | b'\t'));
    words().any(is_time) && words().any(is_year) && words().any(is_month)
}

fn is_time(word: &[u8]) -> bool {
    let word = if word.get(1) == Some(&b':') {
        word
    } else {
        word.get(1..).unwrap_or_default()
    };
    matches!(word, [a, b':', b, c, rest @ ..]
        if [a, b, c].iter().all(|byte| byte.is_ascii_digit())
            && (rest.is_empty() || rest[0] == b':'))
}

fn is_year(word: &[u8]) -> bool {
    matches!(word, [b'1', b'9', a, b] | [b'2', b'0', a, b]
        if a.is_ascii_digit() && b.is_ascii_digit())
}

fn is_month(word: &[u8]) -> bool {
    let &[first, second, third] = word else {
        return false;
    };
    let word = [first.to_ascii_lowercase(), second, third];
    first.is_ascii_uppercase() && MONTHS.iter().any(|name| name.as_bytes()[..3] == word)
}

fn follows_empty_line(before: &[u8]) -> bool {
    let line = before.strip_suffix(b"\n").unwrap_or(before);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.ends_with(b"\n")
}

fn without_empty_line(message: &[u8]) -> &[u8] {
    if !follows_empty_line(message) {
        return message;
    }
    let message = message.strip_suffix(b"\n").unwrap_or(message);
    message.strip_suffix(b"\r").unwrap_or(message)
}

/// Removes one `>` from every line that starts with one or more of them and `From `.
fn unquote(message: &[u8]) -> Cow<'_, [u8]> {
    let mut unquoted = Vec::new();
    let mut copied = 0;
    for at in memmem::find_iter(message, b">From ") {
        let quotes = message[..at].iter().rev().take_while(|byte| **byte == b'>');
        let line = at - quotes.count();
        if line == 0 || message[line - 1] == b'\n' {
            unquoted.extend_from_slice(&message[copied..at]);
            copied = at + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(message);
    }
    unquoted.extend_from_slice(&message[copied..]);
    Cow::Owned(unquoted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FROM: &str = "From anna@example.org Fri Jan 31 12:34:56 2003\n";

    fn split(mailbox: &[u8]) -> Vec<String> {
        split_limited(mailbox, 1 << 20)
            .into_iter()
            .map(|(_, bytes, _)| bytes)
            .collect()
    }

    fn split_limited(mailbox: &[u8], max_message_bytes: usize) -> Vec<(u64, String, bool)> {
        let mut mbox = Mbox::new(mailbox, max_message_bytes);
        // Small chunks, so that everything is on a border once.
        mbox.chunk_bytes = 7;
        let mut messages = Vec::new();
        while let Some(message) = mbox.next_message().unwrap() {
            let text = String::from_utf8_lossy(&message.bytes).into_owned();
            messages.push((message.offset, text, message.is_truncated));
        }
        messages
    }

    #[test]
    fn separators_need_a_date() {
        for (line, expected) in [
            ("From anna@example.org Fri Jan 31 12:34:56 2003", true),
            ("From - Fri Jan 31 12:34:56 2003\r\n", true),
            ("From anna at example.org  Fri Jan  3 2:34:56 2003", true),
            ("From 123@xxx Fri Jan 31 12:34:56 +0000 2003\n", true),
            ("From anna Fri Jan 31 12:34 EST 1995\nSubject: x", true),
            ("From the start", false),
            ("From 12:30 on we met in 2003", false),
            ("From Jan 2003", false),
            ("From ", false),
            ("Fromage Fri Jan 31 12:34:56 2003", false),
        ] {
            assert_eq!(starts_message(line.as_bytes(), true), expected, "{line}");
        }
    }

    #[test]
    fn messages_are_split_where_a_separator_follows_an_empty_line() {
        let one = format!("{FROM}A: 1\n\nbody\n{FROM}not a separator\n");
        let body = format!("A: 1\n\nbody\n{FROM}not a separator\n");
        for (mailbox, expected) in [
            (
                format!("{FROM}A: 1\n\nb\n\n{FROM}A: 2\n\nc\n"),
                vec!["A: 1\n\nb\n", "A: 2\n\nc\n"],
            ),
            (
                format!("{FROM}A: 1\n\n>From here\n>>From there\n"),
                vec!["A: 1\n\nFrom here\n>From there\n"],
            ),
            (
                format!("{FROM}A: 1\n\nb\n\nFrom me to you\n"),
                vec!["A: 1\n\nb\n\nFrom me to you\n"],
            ),
            (
                format!("\n\n{FROM}A: 1\n\n{FROM}A: 2\n"),
                vec!["A: 1\n", "A: 2\n"],
            ),
            (
                "A: 1\n\nno separator".to_owned(),
                vec!["A: 1\n\nno separator"],
            ),
            (one, vec![&*body]),
            (String::new(), vec![]),
            ("\n\n".to_owned(), vec![]),
        ] {
            assert_eq!(split(mailbox.as_bytes()), expected, "{mailbox:?}");
        }
    }

    #[test]
    fn separators_with_less_are_distinguished_from_text_by_the_header_below() {
        let header = "From: a@x\nMessage-ID: <1@x>\n\n";
        let x_header = "X-Mozilla-Status: 0001\nX-Mozilla-Keys:   \nTo: a@x\n\n";
        for (before, separator, header, is_start) in [
            ("\n", "From ", header, true),
            ("\n", "From ", x_header, true),
            ("\n", "From \r", header, true),
            ("", "From ", header, true),
            ("\n", "From -", header, true),
            ("", "From - Fri Jan 31 12:34:56 2003", header, true),
            ("", "From a@x Fri Jan 31 12:34:56 2003", header, true),
            (
                "\n",
                "From a@x Fri Jan 31 12:34:56 2003",
                ">From b\nX-A: 1\n\n",
                true,
            ),
            ("\n", "From a@x 2003-01-31", header, true),
            ("\n", "From a@x Fri, 31 Jan 03 12:34", header, true),
            (
                "\n",
                "From a@x Fri Jan 31 12:34:56 2003",
                "we left\nand went\n",
                false,
            ),
            (
                "",
                "From a@x Fri Jan 31 12:34:56 2003",
                "note: it rained\n\n",
                false,
            ),
            ("\n", "From ", "us both\n", false),
            ("\n", "From ", "note: nothing\n\n", false),
            ("\n", "From Ann", "To: Bob\nSubject: x\n\n", false),
            ("", "From a@x 2003-01-31", header, false),
            ("\n", "From ", "", false),
        ] {
            let mailbox = format!("{FROM}A: 1\n\nb\n{before}{separator}\n{header}text\n");
            let n_messages = if is_start { 2 } else { 1 };
            assert_eq!(split(mailbox.as_bytes()).len(), n_messages, "{mailbox}");
        }
    }

    #[test]
    fn the_separator_says_when_a_message_was_delivered() {
        for (separator, expected) in [
            (FROM, Some(1_044_016_496)),
            (
                "From 3-4@x.org Fri Jan 31 12:34:56 2003 +0100\n",
                Some(1_044_012_896),
            ),
            (
                "From anna at x.org  Fri Jan 31 12:34:56 2003\r\n",
                Some(1_044_016_496),
            ),
            ("From anna 12:34 Jan 2003\n", None),
            ("", None),
        ] {
            let mailbox = format!("{separator}A: 1\n\nb\n");
            let mut mbox = Mbox::new(mailbox.as_bytes(), 100);
            let message = mbox.next_message().unwrap().unwrap();
            assert_eq!(message.delivered(), expected, "{separator}");
        }
    }

    #[test]
    fn lines_may_end_in_carriage_returns() {
        let mailbox = format!("{FROM}A: 1\n\nb\n\n{FROM}A: 2\n\n>From c\n").replace('\n', "\r\n");
        assert_eq!(
            split(mailbox.as_bytes()),
            ["A: 1\r\n\r\nb\r\n", "A: 2\r\n\r\nFrom c\r\n"]
        );
    }

    #[test]
    fn content_length_is_believed_if_it_leads_to_a_separator() {
        let body = format!("text\n\n{FROM}forwarded\n");
        let true_length = format!("Content-Length: {}\n\n{body}", body.len());
        let mailbox = format!("{FROM}{true_length}\n{FROM}A: 2\n\nc\n");
        assert_eq!(split(mailbox.as_bytes()), [&*true_length, "A: 2\n\nc\n"]);
        for wrong in ["5", "9999999", "18446744073709551615", "x"] {
            let mailbox = format!("{FROM}Content-Length: {wrong}\n\nlonger\n\n{FROM}A: 2\n\nc\n");
            assert_eq!(split(mailbox.as_bytes()).len(), 2, "{wrong}");
        }
    }

    #[test]
    fn large_messages_are_cut_and_the_next_one_is_found() {
        let large = "0123456789\n".repeat(100_000);
        let mailbox = format!("{FROM}{large}\n{FROM}A: 2\n\nc\n");
        let found = split_limited(mailbox.as_bytes(), 1000);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], (0, large[..1000].to_owned(), true));
        let offset = FROM.len() + large.len() + 1;
        assert_eq!(found[1], (offset as u64, "A: 2\n\nc\n".to_owned(), false));
    }

    proptest! {
        /// Messages joined by mboxrd are restored.
        #[test]
        fn joined_messages_are_split_again(
            messages in proptest::collection::vec("([a>F\r]?(From |>From |\n|x|A: 1){0,6}\n)", 0..6),
        ) {
            let messages: Vec<_> = messages.into_iter().map(|text| format!("A: 1\n\n{text}")).collect();
            let mut mailbox = String::new();
            for message in &messages {
                mailbox.push_str(FROM);
                for line in message.split_inclusive('\n') {
                    if line.trim_start_matches('>').starts_with("From ") {
                        mailbox.push('>');
                    }
                    mailbox.push_str(line);
                }
                mailbox.push('\n');
            }
            prop_assert_eq!(split(mailbox.as_bytes()), messages);
        }

        /// Any bytes are split without panic, and offsets increase.
        #[test]
        fn anything_is_survived(bytes: Vec<u8>, limit in 0..64_usize) {
            let offsets: Vec<_> = split_limited(&bytes, limit).into_iter().map(|found| found.0).collect();
            prop_assert!(offsets.is_sorted());
        }

        /// Reading may begin at any message.
        #[test]
        fn each_message_is_the_same_from_its_offset(
            pieces in proptest::collection::vec(0..6_usize, 0..24), limit in 20..200_usize,
        ) {
            let pieces = pieces.into_iter().map(|at| {
                [FROM, "A: 1\n\n", "\n", ">From x\n", "Content-Length: 60\n", "From me\r\n"][at]
            });
            let mailbox = pieces.collect::<String>();
            let all = split_limited(mailbox.as_bytes(), limit);
            for (at, message) in all.iter().enumerate() {
                let rest = &mailbox.as_bytes()[message.0 as usize..];
                let mut from_there: Vec<_> = split_limited(rest, limit);
                for found in &mut from_there {
                    found.0 += message.0;
                }
                prop_assert_eq!(&from_there[..], &all[at..]);
            }
        }
    }
}
