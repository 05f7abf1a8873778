//! Mail addresses.

use ken_mail::Mailbox;

/// A sender or recipient of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The name; may be empty.
    pub name: String,
    /// The address, `user@host`; may be empty for a group.
    pub email: String,
}

impl Address {
    /// Reads an address as the index keeps it: `Name <user@host>`, or only one of the two.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        if let Some((name, rest)) = text.rsplit_once('<')
            && let Some((email, "")) = rest.rsplit_once('>')
        {
            return Self {
                name: name.trim().to_owned(),
                email: email.trim().to_owned(),
            };
        }
        let (name, email) = match text.contains('@') {
            true => ("", text),
            false => (text, ""),
        };
        Self {
            name: name.to_owned(),
            email: email.to_owned(),
        }
    }

    /// Returns the address as shown to people.
    pub fn display(&self) -> String {
        match (self.name.as_str(), self.email.as_str()) {
            ("", email) => email.to_owned(),
            (name, "") => name.to_owned(),
            (name, email) => format!("{name} <{email}>"),
        }
    }

    /// Returns the address as in a header, with the name in quotes if needed.
    pub fn quoted(&self) -> String {
        let (name, address) = (self.name.as_str(), self.email.as_str());
        Mailbox { name, address }.quoted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, name, email, quoted) in [
            ("Ann <a@b>", "Ann", "a@b", "Ann <a@b>"),
            ("a@b", "", "a@b", "a@b"),
            ("Doe, Ann <a@b>", "Doe, Ann", "a@b", "\"Doe, Ann\" <a@b>"),
            ("A \"B\" <a@b>", "A \"B\"", "a@b", "\"A \\\"B\\\"\" <a@b>"),
            ("<a@b>", "", "a@b", "a@b"),
        ] {
            let address = Address::read(text);
            assert_eq!((&*address.name, &*address.email), (name, email), "{text}");
            assert_eq!(address.quoted(), quoted);
        }
        assert_eq!(Address::read("Team").name, "Team");
        assert_eq!(Address::read("Doe, Ann <a@b>").display(), "Doe, Ann <a@b>");
    }
}
