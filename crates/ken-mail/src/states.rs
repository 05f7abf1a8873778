//! The states of a message in its own header, where mailboxes keep them.

use ken_core::{MESSAGE_STATES, MessageState};

/// The states from the header fields so far.
#[derive(Debug, Default)]
pub(crate) struct States {
    found: Vec<MessageState>,
    /// Whether a field has states; without `seen` among them the message is unread.
    is_unread: bool,
}

impl States {
    /// Takes the letters of `Status` and `X-Status`, as elm, pine and mutt write them.
    pub(crate) fn take_status(&mut self, value: &str) {
        for letter in value.bytes().filter(u8::is_ascii_uppercase) {
            self.is_unread = true;
            let mut rows = MESSAGE_STATES.iter();
            if let Some(row) = rows.find(|row| row.status == Some(letter)) {
                self.add(row.state);
            }
        }
    }

    /// Takes `X-Mozilla-Status`: bits in hexadecimal digits, as Thunderbird writes them.
    pub(crate) fn take_mozilla(&mut self, value: &str) {
        let Ok(bits) = u32::from_str_radix(value.trim(), 16) else {
            return;
        };
        self.is_unread = true;
        let rows = MESSAGE_STATES.iter().filter(|row| bits & row.mozilla != 0);
        rows.for_each(|row| self.add(row.state));
    }

    /// Takes a label of `X-Gmail-Labels` or `X-Mozilla-Keys`, which may mean a state.
    pub(crate) fn take_label(&mut self, label: &str) {
        let is_label = |known: &&str| known.eq_ignore_ascii_case(label);
        let mut rows = MESSAGE_STATES.iter();
        match rows.find(|row| row.labels.iter().any(is_label)) {
            Some(row) if row.state == MessageState::Unread => self.is_unread = true,
            Some(row) => self.add(row.state),
            None => {}
        }
    }

    fn add(&mut self, state: MessageState) {
        if !self.found.contains(&state) {
            self.found.push(state);
        }
    }

    /// Returns all states, each once.
    pub(crate) fn finish(mut self) -> Vec<MessageState> {
        if self.is_unread && !self.found.contains(&MessageState::Seen) {
            self.found.insert(0, MessageState::Unread);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_mailers_write_them() {
        type Take = fn(&mut States, &str);
        let (status, mozilla, label): (Take, Take, Take) = (
            States::take_status,
            States::take_mozilla,
            States::take_label,
        );
        for (takes, expected) in [
            (&[(status, "RO"), (status, "A")][..], "seen replied"),
            (&[(status, "O")], "unread"),
            (&[(status, "")], ""),
            (&[(mozilla, "0000")], "unread"),
            (&[(mozilla, " 1007\n")], "flagged passed replied seen"),
            (&[(mozilla, "0009"), (status, "O")], "seen trashed"),
            (&[(mozilla, "zzzz")], ""),
            (&[(label, "Unread"), (label, "Starred")], "unread flagged"),
            (&[(label, "Opened"), (label, "Inbox")], "seen"),
        ] {
            let mut states = States::default();
            takes
                .iter()
                .for_each(|(take, value)| take(&mut states, value));
            let names: Vec<_> = states.finish().iter().map(|state| state.name()).collect();
            assert_eq!(names.join(" "), expected);
        }
    }
}
