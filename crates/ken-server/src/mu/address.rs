//! Addresses of mail, and which of them are the user's own.

use ken_mail::Mailbox;
use regex_automata::meta::Regex;

/// Somebody who sent or got a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// May be empty.
    pub name: String,
    /// `user@host`; may be empty where a group of people is named.
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

    /// Returns it as it is shown to people.
    pub fn display(&self) -> String {
        match (self.name.as_str(), self.email.as_str()) {
            ("", email) => email.to_owned(),
            (name, "") => name.to_owned(),
            (name, email) => format!("{name} <{email}>"),
        }
    }

    /// Returns it as a header may have it: the name in quotes where it needs them.
    pub fn quoted(&self) -> String {
        let (name, address) = (self.name.as_str(), self.email.as_str());
        Mailbox { name, address }.quoted()
    }
}

/// The user's own addresses.
#[derive(Debug, Default)]
pub struct Personal {
    texts: Vec<String>,
    whole: Vec<String>,
    patterns: Vec<Regex>,
}

impl Personal {
    /// Reads addresses, or regular expressions between slashes.
    ///
    /// # Errors
    /// Fails if an expression is wrong, and tells which.
    pub fn new(addresses: &[String]) -> Result<Self, String> {
        let mut personal = Self {
            texts: addresses.to_vec(),
            ..Self::default()
        };
        for address in addresses {
            let inside = address.strip_prefix('/').and_then(|a| a.strip_suffix('/'));
            match inside {
                Some(pattern) => {
                    let regex = Regex::new(&format!("(?i){pattern}"));
                    let regex = regex.map_err(|error| format!("\"{address}\": {error}"))?;
                    personal.patterns.push(regex);
                }
                None => personal.whole.push(address.to_lowercase()),
            }
        }
        Ok(personal)
    }

    /// Returns the addresses as they were given.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns whether an address is one of the user.
    pub fn is(&self, email: &str) -> bool {
        let lower = email.to_lowercase();
        self.whole.contains(&lower) || self.patterns.iter().any(|regex| regex.is_match(email))
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

    #[test]
    fn own_addresses_are_known_whole_or_by_a_pattern() {
        let own = ["Me@example.com", "/me-.*@example\\.org/"].map(str::to_owned);
        let own = Personal::new(&own).unwrap();
        assert!(own.is("me@EXAMPLE.com") && own.is("ME-list@example.org"));
        assert!(!own.is("you@example.com") && !own.is("notme@example.com"));
        assert!(Personal::new(&["/(/".to_owned()]).is_err());
    }
}
