//! The flags of a message in a Maildir, and changes of them.
//!
//! A set has a bit for each letter of a file name, and one for a new message. A change has the syntax of mu: `FS` sets
//! exactly these flags, `+F-u-N` changes single flags.

use std::path::Path;

use ken_core::{MESSAGE_STATES, MessageState, StateSource};

/// The flags of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

/// The bit of a message that nobody has seen: it is in `new`.
const NEW: u16 = 1 << MessageState::New as u16;

/// Why a change of flags is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// The text is neither a set of flags nor a list of changes.
    #[error("\"{0}\" is neither flags such as FS nor changes such as +S-N")]
    Unknown(String),
    /// A file in `new` holds no flags.
    #[error("a message that is new has no other flags")]
    NotOnlyNew,
}

impl Flags {
    /// Returns the flags in the path of a message.
    pub fn of_path(path: &Path) -> Self {
        let mut flags = Self::default();
        if super::folder_name(path) == Some(b"new") {
            flags.0 |= NEW;
        }
        let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
        let letters = name.and_then(super::letters).unwrap_or_default();
        for letter in letters {
            flags.0 |= bit(*letter).unwrap_or(0);
        }
        flags
    }

    /// Returns the flags after a change. `DFNPRST` in any order sets exactly these flags; `+S-N` sets some and removes
    /// others. Letters that depend on the content of the message are ignored.
    ///
    /// # Errors
    /// Fails if the text is neither, or if a new message would have other flags.
    pub fn changed(self, change: &str) -> Result<Self, FlagError> {
        let unknown = || FlagError::Unknown(change.to_owned());
        let bit_of = |letter: &u8| match letter {
            b'N' => Ok(NEW),
            letter if is_derived(*letter) => Ok(0),
            letter => bit(*letter).ok_or_else(unknown),
        };
        let bytes = change.as_bytes();
        let mut flags = self.0;
        if matches!(bytes.first(), Some(b'+' | b'-')) {
            for pair in bytes.chunks(2) {
                match pair {
                    [b'+', letter] => flags |= bit_of(letter)?,
                    [b'-', letter] => flags &= !bit_of(letter)?,
                    _ => return Err(unknown()),
                }
            }
        } else if bytes.is_empty() {
            return Err(unknown());
        } else {
            flags = 0;
            for letter in bytes {
                flags |= bit_of(letter)?;
            }
        }
        match flags & NEW != 0 && flags != NEW {
            true => Err(FlagError::NotOnlyNew),
            false => Ok(Self(flags)),
        }
    }

    /// Returns the flags of a message that the user has seen.
    #[must_use]
    pub fn seen(self) -> Self {
        Self(self.0 & !NEW | 1 << MessageState::Seen as u16)
    }

    /// Returns whether the message is unread: it is new or not marked as seen.
    pub fn is_unread(self) -> bool {
        self.is_new() || !self.has(b'S')
    }

    /// Returns whether the message is in `new`.
    pub fn is_new(self) -> bool {
        self.0 & NEW != 0
    }

    /// Returns whether the file name has the flag with this letter.
    pub fn has(self, letter: u8) -> bool {
        bit(letter).is_some_and(|bit| self.0 & bit != 0)
    }

    /// Returns the letters for the file name, in the order of ASCII.
    pub fn letters(self) -> String {
        let letters = MESSAGE_STATES.iter().filter_map(|row| row.maildir_letter());
        letters
            .filter(|letter| self.has(*letter))
            .map(char::from)
            .collect()
    }
}

/// Returns whether a letter of mu means a state that flags cannot change, because it depends on the content of the
/// message or on other states.
fn is_derived(letter: u8) -> bool {
    let row = MESSAGE_STATES.iter().find(|row| row.letter == letter);
    row.is_some_and(|row| matches!(row.source, StateSource::Content | StateSource::States))
}

fn bit(letter: u8) -> Option<u16> {
    let mut rows = MESSAGE_STATES.iter();
    let row = rows.find(|row| row.maildir_letter() == Some(letter))?;
    Some(1 << row.state as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(letters: &str) -> Flags {
        match letters {
            "N" => Flags::of_path(Path::new("/m/new/1")),
            letters => Flags::of_path(Path::new(&format!("/m/cur/1:2,{letters}"))),
        }
    }

    #[test]
    fn changes_are_made_as_they_are_written() {
        for (before, change, after) in [
            ("", "S", "S"),
            ("F", "TRS", "RST"),
            ("N", "+S-u-N", "S"),
            ("N", "+F-u-N", "F"),
            ("FS", "-F-N", "S"),
            ("S", "-S+u-N", ""),
            ("S", "+S", "S"),
            ("RS", "u", ""),
            ("S", "+a", "S"),
            ("S", "N", "N"),
        ] {
            assert_eq!(
                of(before).changed(change),
                Ok(of(after)),
                "{before} {change}"
            );
        }
    }

    #[test]
    fn what_is_no_change_is_refused() {
        for change in ["", "X", "+", "+S-", "+SR", "S+R", "é"] {
            let error = Err(FlagError::Unknown(change.to_owned()));
            assert_eq!(of("S").changed(change), error, "{change}");
        }
        for change in ["FN", "+N"] {
            assert_eq!(of("F").changed(change), Err(FlagError::NotOnlyNew));
        }
    }

    #[test]
    fn unread_is_new_or_not_seen() {
        assert!(of("N").is_unread() && of("N").is_new());
        assert!(of("F").is_unread() && !of("F").is_new());
        assert!(!of("FS").is_unread());
        assert_eq!(of("N").seen(), of("S"));
        assert_eq!(of("TDF").letters(), "DFT");
    }
}
