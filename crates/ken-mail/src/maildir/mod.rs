//! Maildir (D. J. Bernstein, "Using maildir format"): a folder with one message per file, whose name has the state.
//!
//! Reading the state from a path needs no I/O. Moving messages and creating folders ([`relocate`], [`make`]) are the
//! only writes of ken below a root, and happen only when the user asks for them.

mod flags;
mod folder;
mod former;
mod relocate;

use std::ffi::OsStr;
use std::path::Path;

use ken_core::{MESSAGE_STATES, MessageState, StateSource};

pub use flags::{FlagError, Flags};
pub use folder::{MaildirPath, is_maildir, make};
pub use former::had_path;
pub use relocate::{MoveError, Target, move_to, relocate};

/// Returns whether the path of a message determines a state, by the name of the state.
pub fn is_in_path(state: &str) -> bool {
    let row = MESSAGE_STATES.iter().find(|row| row.name == state);
    row.is_some_and(|row| row.source != StateSource::Content)
}

/// Returns whether a file is where a Maildir keeps its messages: in a folder `cur` or `new`.
pub fn is_maildir_path(path: &Path) -> bool {
    matches!(folder_name(path), Some(b"cur" | b"new"))
}

/// Returns whether a file is a message of a Maildir: it is in `cur` or `new`, and both folders exist.
pub fn is_message_path(path: &Path) -> bool {
    let other = match folder_name(path) {
        Some(b"cur") => "new",
        Some(b"new") => "cur",
        _ => return false,
    };
    let maildir = path.parent().and_then(Path::parent);
    maildir.is_some_and(|maildir| maildir.join(other).is_dir())
}

/// Returns the state of a message from the path of its file: names of flags, `new`, and `unread` if it is new or not
/// seen.
pub fn flags(path: &Path) -> Vec<&'static str> {
    let mut names = Vec::new();
    let is_new = folder_name(path) == Some(b"new");
    let letters = path
        .file_name()
        .and_then(|name| letters(name.as_encoded_bytes()))
        .unwrap_or_default();
    if is_new || !letters.contains(&MessageState::Seen.info().letter) {
        names.push(MessageState::Unread.name());
    }
    if is_new {
        names.push(MessageState::New.name());
    }
    let rows = MESSAGE_STATES.iter().filter(|row| {
        let letter = row.maildir_letter();
        letter.is_some_and(|letter| letters.contains(&letter))
    });
    names.extend(rows.map(|row| row.name));
    names
}

fn folder_name(path: &Path) -> Option<&[u8]> {
    let folder = path.parent()?.file_name()?;
    Some(OsStr::as_encoded_bytes(folder))
}

/// Returns what follows `:2,`; `;` or `!` replaces a colon that file names cannot have.
fn letters(name: &[u8]) -> Option<&[u8]> {
    Some(&name[flags_at(name)? + 3..])
}

/// Returns the offset of the mark of the flags in a file name.
fn flags_at(name: &[u8]) -> Option<usize> {
    name.windows(3)
        .rposition(|window| matches!(window, [b':' | b';' | b'!', b'2', b',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_from_the_name() {
        for (path, expected) in [
            ("/m/cur/1.a.host:2,FRS", &["flagged", "replied", "seen"][..]),
            ("/m/cur/1.a.host;2,DP", &["unread", "draft", "passed"]),
            ("/m/cur/1.a.host!2,TS", &["seen", "trashed"]),
            ("/m/new/1.a.host", &["unread", "new"]),
            ("/m/cur/1.a.host:2,", &["unread"]),
            ("/m/cur/1.a.host:1,FRS", &["unread"]),
            ("/m/cur/SEEN", &["unread"]),
            ("/", &["unread"]),
        ] {
            assert_eq!(flags(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn messages_lie_in_a_maildir() {
        let folder = tempfile::tempdir().unwrap();
        let is_message = |name: &str| is_message_path(&folder.path().join(name));
        fs_err::create_dir(folder.path().join("new")).unwrap();
        assert!(!is_message("new/1"), "new files of something else");
        make(folder.path(), 0o755).unwrap();
        assert!(is_message("new/1") && is_message("cur/1:2,S"));
        assert!(!is_message("tmp/1") && !is_message("1"));
    }

    #[test]
    fn maildirs_are_known_by_their_folders() {
        for (path, expected) in [
            ("/home/a/Mail/.list/cur/1.a.host:2,S", true),
            ("/home/a/Mail/new/1.a.host", true),
            ("/home/a/Mail/tmp/1.a.host", false),
            ("/home/a/cur", false),
            ("new", false),
        ] {
            assert_eq!(is_maildir_path(Path::new(path)), expected, "{path}");
        }
    }
}
