//! Mailboxes with many messages in one file (RFC 4155): each message is a member.
//!
//! A mailbox, even a compressed one, is read as a stream with one message in memory at a time.
//! Members are numbered from 1. The time of a message is that of its own delivery, so that the
//! document depends only on the message's own bytes and number.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use ken_core::{Ipath, Setting};
use ken_mail::{Mbox, MboxMessage};

use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::output::members::over;
use crate::{Error, Format, Input, Limits, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("mbox", &["application/mbox"], extract)
    .members("messages, numbered from 1")
    .version(8)
    .streams();

/// Extracts a mailbox.
pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    extract_stream(
        CountingReader::new(input.reader()?),
        input.is_outermost_file,
        output,
    )
}

/// Extracts a streamed mailbox, whose failures carry an [`Error`]; what precedes a failure is read.
/// Offsets are those in the stream, and are kept if the stream is that of the outermost file.
pub(in crate::formats) fn extract_stream(
    reader: impl Read,
    is_in_place: bool,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let limit = output.limits().limit(Setting::MaxMemberBytes);
    let max_bytes = usize::try_from(limit.in_force).unwrap_or(usize::MAX);
    let output = RefCell::new(output);
    let n_held = Cell::new(0);
    let make_room = |n_bytes: usize| {
        // The message is in the mailbox's buffer, and once more when it is handed on.
        let held = n_bytes.min(max_bytes).saturating_mul(2);
        output.borrow_mut().make_room(held as u64);
    };
    let mut reader = UntilFailure {
        reader: Announcing {
            reader,
            n_held: &n_held,
            make_room,
        },
        failure: None,
    };
    let mut mbox = Mbox::new(&mut reader, max_bytes);
    let mut number = 0_u64;
    let mut is_any_truncated = false;
    while let Some(message) = mbox.next_message()? {
        number += 1;
        is_any_truncated |= message.is_truncated;
        let output = &mut *output.borrow_mut();
        let ipath = output.child_ipath(&number.to_string());
        output.member(member(message, ipath, is_in_place))?;
        n_held.set(0);
    }
    if let Some(failure) = reader.failure {
        return Err(release(failure));
    }
    if is_any_truncated {
        return Err(over(limit));
    }
    Ok(())
}

/// Number of bytes of a message that are read before their memory is announced.
const ANNOUNCED_BYTES: usize = 1 << 20;

/// Announces the bytes that were read since the last message, each time that many more are read.
struct Announcing<'n, R, F> {
    reader: R,
    n_held: &'n Cell<usize>,
    make_room: F,
}

impl<R: Read, F: FnMut(usize)> Read for Announcing<'_, R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.reader.read(buffer)?;
        let before = self.n_held.get();
        let held = before.saturating_add(n_read);
        self.n_held.set(held);
        if held / ANNOUNCED_BYTES > before / ANNOUNCED_BYTES {
            (self.make_room)(held);
        }
        Ok(n_read)
    }
}

/// Ends where its reader fails, so that the last message is read as far as possible.
struct UntilFailure<R> {
    reader: R,
    failure: Option<io::Error>,
}

impl<R: Read> Read for UntilFailure<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failure.is_some() {
            return Ok(0);
        }
        self.reader
            .read(buffer)
            .or_else(|error| match error.kind() {
                io::ErrorKind::Interrupted => Err(error),
                _ => {
                    self.failure = Some(error);
                    Ok(0)
                }
            })
    }
}

fn member(message: MboxMessage<'_>, ipath: Ipath, is_in_place: bool) -> Member {
    Member {
        // Even content that does not look like a message is read as one.
        message: u8::try_from(ipath.depth()).ok(),
        ipath,
        declared_type: Some("message/rfc822".into()),
        modified: message.delivered(),
        offset: is_in_place.then_some(message.offset),
        bytes: message.bytes.into_owned(),
        ..Member::default()
    }
}

/// If a message is not at its stored offset, it is searched for within this distance before and
/// after it: mail programs write a few words into the headers of earlier messages.
const NEAR_BYTES: u64 = 256 << 10;

/// Reads the accepted message of a mailbox, at an offset or near it; returns none if there is none.
pub(crate) fn message_near(
    file: &File,
    offset: u64,
    ipath: &Ipath,
    limits: &Limits,
    accepts: &dyn Fn(&Member) -> bool,
) -> io::Result<Option<Member>> {
    let max_bytes = usize::try_from(limits.max_member_bytes).unwrap_or(usize::MAX);
    let starts = [offset, offset.saturating_sub(NEAR_BYTES)];
    for (start, end) in starts
        .into_iter()
        .zip([offset, offset.saturating_add(NEAR_BYTES)])
    {
        let mut reader = file;
        reader.seek(SeekFrom::Start(start))?;
        let mut mbox = Mbox::starting_at(start, reader, max_bytes);
        while let Some(message) = mbox.next_message()? {
            if message.offset > end {
                break;
            }
            let member = member(message, ipath.clone(), true);
            if accepts(&member) {
                return Ok(Some(member));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const MBOX: Detected = Detected {
        media_type: "application/mbox",
        kind: Kind::Archive,
    };

    const MAILBOX: &[u8] = include_bytes!("../../../tests/data/mail/three.mbox");

    #[test]
    fn messages_are_numbered_members() {
        let found = run(extract, MBOX, "three.mbox", MAILBOX);
        let ipaths: Vec<_> = found
            .members
            .iter()
            .map(|member| member.ipath.as_str())
            .collect();
        assert_eq!(ipaths, ["1", "2", "3"]);
        for (member, word) in found.members.iter().zip(["tapir", "numbat", "dugong"]) {
            assert_eq!(member.declared_type.as_deref(), Some("message/rfc822"));
            let text = String::from_utf8_lossy(&member.bytes);
            assert!(text.starts_with("From: ") && text.contains(word), "{text}");
        }
        let second = String::from_utf8_lossy(&found.members[1].bytes);
        assert!(second.contains("\nFrom the numbat"), "{second}");
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn a_message_is_read_from_its_offset() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, MAILBOX).unwrap();
        let mut input = Input::file("three.mbox", &file, MAILBOX.len() as u64);
        let mut found = Extracted::default();
        crate::extract(&mut input, &Limits::default(), &mut found);
        assert_eq!(found.members.len(), 3);
        for member in found.members {
            let offset = member.offset.unwrap();
            let near = |offset| {
                let accepts = |found: &Member| found.bytes == member.bytes;
                let ipath = &member.ipath;
                message_near(&file, offset, ipath, &Limits::default(), &accepts).unwrap()
            };
            for offset in [offset, offset + 1, offset.saturating_sub(9)] {
                let again = near(offset).unwrap();
                assert_eq!(again.ipath, member.ipath);
                assert!(member.modified.is_some());
                assert_eq!(again.modified, member.modified);
            }
            assert!(near(1 << 20).is_none(), "behind the end");
        }
        let inside = run(extract, MBOX, "three.mbox", MAILBOX);
        assert!(inside.members.iter().all(|member| member.offset.is_none()));
    }

    #[test]
    fn large_messages_are_cut_and_reported() {
        let limits = Limits {
            max_member_bytes: 100,
            ..Limits::default()
        };
        let found = run_limited(extract, MBOX, "three.mbox", MAILBOX, &limits);
        assert_eq!(found.members.len(), 3);
        assert!(found.members.iter().all(|member| member.bytes.len() <= 100));
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);
    }

    #[test]
    fn hostile_mailboxes_are_survived() {
        survives(extract, MBOX, "three.mbox", MAILBOX);
    }
}
