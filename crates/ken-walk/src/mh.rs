//! MH folders: messages are files with a number as their name, and `.mh_sequences` next to them
//! lists which are unseen (mh-sequence(5); `flagged` and `replied` are those of Python's `mailbox`
//! and others).
//!
//! The list is not treated as a sidecar of each message, since then all messages would be read
//! again when one was seen. Instead, the state of a message is part of its stamp, so only messages
//! whose state changes are read again.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::{MessageState, MhState};
use rustix::fs::{OFlags, Stat};

use crate::open::{open, open_at};

/// Name of the list.
pub(crate) const LIST: &str = ".mh_sequences";

/// Maximum size of a list; that of a folder with a million messages is smaller.
const MAX_BYTES: u64 = 4 << 20;

/// The list of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequences {
    unseen: Vec<RangeInclusive<u32>>,
    flagged: Vec<RangeInclusive<u32>>,
    replied: Vec<RangeInclusive<u32>>,
}

impl Sequences {
    /// Reads the list of an open folder; returns `None` if there is none that can be read.
    pub(crate) fn read(folder: BorrowedFd<'_>) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = open_at(folder, Path::new(LIST), flags).ok()?;
        let file = File::from(file);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).ok()?;
        (text.len() as u64 <= MAX_BYTES).then(|| Self::parse(&text))
    }

    fn parse(text: &[u8]) -> Self {
        let mut all = Self::default();
        let mut current = None;
        for line in text.split(|byte| *byte == b'\n') {
            let mut numbers = line;
            if !line.first().is_some_and(u8::is_ascii_whitespace) {
                let colon = line.iter().position(|byte| *byte == b':');
                let (name, rest) = line.split_at(colon.unwrap_or(line.len()));
                current = all.named(name.trim_ascii());
                numbers = rest.get(1..).unwrap_or_default();
            }
            if let Some(sequence) = current.as_deref_mut() {
                let words = numbers.split(u8::is_ascii_whitespace);
                sequence.extend(words.filter_map(range));
            }
        }
        for sequence in [&mut all.unseen, &mut all.flagged, &mut all.replied] {
            sequence.sort_unstable_by_key(|range| *range.start());
        }
        all
    }

    fn named(&mut self, name: &[u8]) -> Option<&mut Vec<RangeInclusive<u32>>> {
        match MessageState::of_mh_sequence(name)? {
            MessageState::Unread => Some(&mut self.unseen),
            MessageState::Flagged => Some(&mut self.flagged),
            MessageState::Replied => Some(&mut self.replied),
            _ => None,
        }
    }

    /// Returns the state of the file with this name; `None` if it is not an MH message.
    pub(crate) fn of(&self, name: &[u8]) -> Option<MhState> {
        let number = number(name)?;
        Some(MhState {
            is_unseen: holds(&self.unseen, number),
            is_flagged: holds(&self.flagged, number),
            is_replied: holds(&self.replied, number),
        })
    }
}

/// Returns the state of a message in the list next to it, if it is an MH message.
pub fn mh_state(path: &Path) -> Option<MhState> {
    let name = path.file_name()?.as_bytes();
    number(name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(path.parent()?, flags).ok()?;
    Sequences::read(std::os::fd::AsFd::as_fd(&folder))?.of(name)
}

/// Returns the `stat` of the list in an open folder.
pub(crate) fn stat_of_list(folder: BorrowedFd<'_>) -> Option<Stat> {
    rustix::fs::statat(
        folder,
        OsStr::new(LIST),
        rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
    )
    .ok()
}

/// Returns whether a sequence contains a number. Programs write no overlapping ranges; if there are
/// any, the last one before the number decides.
fn holds(sequence: &[RangeInclusive<u32>], number: u32) -> bool {
    let after = sequence.partition_point(|range| *range.start() <= number);
    let before = after.checked_sub(1).and_then(|at| sequence.get(at));
    before.is_some_and(|range| range.contains(&number))
}

/// Parses `7` or `3-5`.
fn range(word: &[u8]) -> Option<RangeInclusive<u32>> {
    let dash = word.iter().position(|byte| *byte == b'-');
    match dash {
        None => number(word).map(|number| number..=number),
        Some(at) => Some(number(&word[..at])?..=number(&word[at + 1..])?),
    }
}

/// Reads a list, and the state of each message up to 1000.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_list(text: &[u8]) {
    let sequences = Sequences::parse(text);
    for number in 0..1_000 {
        sequences.of(number.to_string().as_bytes());
    }
}

fn number(word: &[u8]) -> Option<u32> {
    let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(word).ok().filter(|_| is_number)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_read_as_mh_writes_them() {
        let text = b"cur: 5\nunseen: 1-3 7\n 9 12-11 x- 99999999999\nflagged:2\nReplied: 1\nreplied: 4\nno colon\n 6\n";
        let all = Sequences::parse(text);
        let of = |name: &str| {
            let state = all.of(name.as_bytes())?;
            Some((state.is_unseen, state.is_flagged, state.is_replied))
        };
        assert_eq!(of("1"), Some((true, false, false)));
        assert_eq!(of("2"), Some((true, true, false)));
        assert_eq!(of("4"), Some((false, false, true)));
        assert_eq!(of("9"), Some((true, false, false)));
        assert_eq!(of("11"), Some((false, false, false)), "no range");
        assert_eq!(of("6"), Some((false, false, false)), "of no sequence");
        for name in ["a", "1.eml", ",1", "", "-1", "99999999999"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(Sequences::parse(b""), Sequences::default());
    }
}
