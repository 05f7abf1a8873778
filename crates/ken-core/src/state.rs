//! The states of messages: one row each, with its names in Maildir, mailboxes, MH, notmuch and mu.

/// A state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each has a row that says what it means
pub enum MessageState {
    Draft,
    Flagged,
    Passed,
    Replied,
    Seen,
    Trashed,
    New,
    Signed,
    Encrypted,
    Attachment,
    Unread,
    List,
    Personal,
    Calendar,
}

/// The source of a state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// The letter of the state after `:2,` in the name of a Maildir's file.
    FileName,
    /// The folder of the Maildir, `new` or `cur`.
    Folder,
    /// The message itself.
    Content,
    /// Other states.
    States,
}

impl StateSource {
    /// Returns the name that mu gives to states with this source.
    pub fn name(self) -> &'static str {
        match self {
            Self::FileName => "file",
            Self::Folder => "folder",
            Self::Content => "content",
            Self::States => "derived",
        }
    }
}

/// What defines a state: a row of [`MESSAGE_STATES`].
#[derive(Clone, Copy, Debug)]
pub struct MessageStateInfo {
    /// The state of the row.
    pub state: MessageState,
    /// The name, which is the value of `is:` if documents have the state as such a value.
    pub name: &'static str,
    /// Whether documents have the state as a value of `is:`.
    pub is_value: bool,
    /// The source of the state.
    pub source: StateSource,
    /// The letter of mu's flag, and of Maildir if the file name holds the state.
    pub letter: u8,
    /// The name of mu's flag.
    pub mu: &'static str,
    /// The tag of notmuch for the state.
    pub notmuch: Option<&'static str>,
    /// The letter in the headers `Status` and `X-Status` of a mailbox.
    pub status: Option<u8>,
    /// The sequences of MH that hold messages in the state.
    pub mh: &'static [&'static str],
    /// The bit in the header `X-Mozilla-Status`; 0 if it has none.
    pub mozilla: u32,
    /// The labels in `X-Gmail-Labels` and `X-Mozilla-Keys` for the state, in lower case.
    pub labels: &'static [&'static str],
    /// The meaning of the state.
    pub meaning: &'static str,
}

impl MessageStateInfo {
    const fn new(
        state: MessageState,
        name: &'static str,
        letter: u8,
        source: StateSource,
        meaning: &'static str,
    ) -> Self {
        Self {
            state,
            name,
            is_value: true,
            source,
            letter,
            mu: name,
            notmuch: None,
            status: None,
            mh: &[],
            mozilla: 0,
            labels: &[],
            meaning,
        }
    }

    const fn no_value(self) -> Self {
        Self {
            is_value: false,
            ..self
        }
    }

    const fn mu(self, mu: &'static str) -> Self {
        Self { mu, ..self }
    }

    const fn notmuch(self, tag: &'static str) -> Self {
        Self {
            notmuch: Some(tag),
            ..self
        }
    }

    const fn status(self, letter: u8) -> Self {
        Self {
            status: Some(letter),
            ..self
        }
    }

    const fn mh(self, sequences: &'static [&'static str]) -> Self {
        Self {
            mh: sequences,
            ..self
        }
    }

    const fn mozilla(self, bit: u32) -> Self {
        Self {
            mozilla: bit,
            ..self
        }
    }

    const fn labels(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    /// Returns the letter of the state in Maildir file names, if they hold the state.
    pub fn maildir_letter(&self) -> Option<u8> {
        (self.source == StateSource::FileName).then_some(self.letter)
    }
}

/// Every state, in the order of mu's flags; states with a Maildir letter are sorted by letter.
#[rustfmt::skip]
pub const MESSAGE_STATES: &[MessageStateInfo] = {
    use MessageState as State;
    use MessageStateInfo as Row;
    use StateSource::{Content, FileName, Folder, States};
    &[
        Row::new(State::Draft, "draft", b'D', FileName, "not finished").notmuch("draft").status(b'T').labels(&["draft", "drafts"]),
        Row::new(State::Flagged, "flagged", b'F', FileName, "marked by the user").notmuch("flagged").status(b'F').mh(&["flagged"]).mozilla(0x0004).labels(&["starred"]),
        Row::new(State::Passed, "passed", b'P', FileName, "forwarded").notmuch("passed").mozilla(0x1000).labels(&["$forwarded"]),
        Row::new(State::Replied, "replied", b'R', FileName, "answered").notmuch("replied").status(b'A').mh(&["replied", "answered"]).mozilla(0x0002),
        Row::new(State::Seen, "seen", b'S', FileName, "read").status(b'R').mozilla(0x0001).labels(&["opened"]),
        Row::new(State::Trashed, "trashed", b'T', FileName, "to be deleted").notmuch("deleted").status(b'D').mozilla(0x0008).labels(&["trash", "bin"]),
        Row::new(State::New, "new", b'N', Folder, "nobody looked at it").notmuch("new"),
        Row::new(State::Signed, "signed", b'z', Content, "has a signature").notmuch("signed"),
        Row::new(State::Encrypted, "encrypted", b'x', Content, "is encrypted").notmuch("encrypted"),
        Row::new(State::Attachment, "attachment", b'a', Content, "has attachments").no_value().mu("attach").notmuch("attachment"),
        Row::new(State::Unread, "unread", b'u', States, "new, or not seen").notmuch("unread").mh(&["unseen"]).labels(&["unread"]),
        Row::new(State::List, "list", b'l', Content, "came by a mailing list").no_value(),
        Row::new(State::Personal, "personal", b'q', Content, "from or to the user"),
        Row::new(State::Calendar, "calendar", b'c', Content, "has an invitation").no_value(),
    ]
};

impl MessageState {
    /// Returns the row of the state.
    pub fn info(self) -> &'static MessageStateInfo {
        &MESSAGE_STATES[self as usize]
    }

    /// Returns the name of the state.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the state that a sequence of MH holds, by the name of the sequence.
    pub fn of_mh_sequence(name: &[u8]) -> Option<Self> {
        let mut rows = MESSAGE_STATES.iter();
        let row = rows.find(|row| row.mh.iter().any(|sequence| sequence.as_bytes() == name))?;
        Some(row.state)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_state_has_one_row_and_names_of_its_own() {
        let mut words = HashSet::new();
        for (position, row) in MESSAGE_STATES.iter().enumerate() {
            assert_eq!(row.state as usize, position, "{}", row.name);
            assert!(words.insert(("name", row.name)));
            assert!(words.insert(("mu", row.mu)));
            assert!(row.notmuch.is_none_or(|tag| words.insert(("tag", tag))));
            assert!(row.mh.iter().all(|name| words.insert(("mh", name))));
            assert!(
                row.labels
                    .iter()
                    .all(|label| words.insert(("label", label)))
            );
        }
        let letters = |letter: fn(&MessageStateInfo) -> Option<u8>| -> Vec<u8> {
            MESSAGE_STATES.iter().filter_map(letter).collect()
        };
        let maildir = letters(MessageStateInfo::maildir_letter);
        assert!(maildir.is_sorted_by(|a, b| a < b), "the order of Maildir");
        for all in [letters(|row| Some(row.letter)), letters(|row| row.status)] {
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn sequences_of_mh_have_states() {
        let state = MessageState::of_mh_sequence;
        assert_eq!(state(b"unseen"), Some(MessageState::Unread));
        assert_eq!(state(b"answered"), Some(MessageState::Replied));
        assert_eq!(state(b"cur"), None);
    }
}
