//! The user's own addresses.

use regex_automata::meta::Regex;

/// The user's own addresses as mu writes them: addresses, or regular expressions between slashes that match a part of
/// an address. Case does not matter.
#[derive(Debug, Default)]
pub struct Personal {
    texts: Vec<String>,
    expressions: Vec<String>,
    regexes: Vec<Regex>,
}

impl Personal {
    /// Reads addresses as the user typed them.
    ///
    /// # Errors
    /// Fails if an expression is invalid, and returns which.
    pub fn new(addresses: &[String]) -> Result<Self, String> {
        let mut personal = Self {
            texts: addresses.to_vec(),
            ..Self::default()
        };
        for address in addresses {
            let inside = address.strip_prefix('/').and_then(|a| a.strip_suffix('/'));
            let expression = match inside {
                Some(pattern) => format!("(?i:{pattern})"),
                None => format!("^(?i:{})$", escaped(address)),
            };
            let regex = Regex::new(&expression);
            let regex = regex.map_err(|error| format!("\"{address}\": {error}"))?;
            personal.expressions.push(expression);
            personal.regexes.push(regex);
        }
        Ok(personal)
    }

    /// Returns the addresses as given.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns regular expressions in the syntax of the crate `regex`. An address is the user's if one of them matches
    /// in it.
    pub fn expressions(&self) -> &[String] {
        &self.expressions
    }

    /// Returns whether an address is the user's.
    pub fn is(&self, address: &str) -> bool {
        self.regexes.iter().any(|regex| regex.is_match(address))
    }
}

/// Returns an expression that matches only this text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(2 * text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_known_whole_or_by_a_pattern() {
        let own = ["Me@example.com", "/me-.*@example\\.org/", "a+[b]@x.org"].map(str::to_owned);
        let own = Personal::new(&own).unwrap();
        for (address, expected) in [
            ("me@EXAMPLE.com", true),
            ("ME-list@example.org", true),
            ("not-me-list@example.org.net", true),
            ("A+[b]@x.org", true),
            ("aab@x.org", false),
            ("you@example.com", false),
            ("notme@example.com", false),
            ("me@example.com.net", false),
            ("me@exampleXcom", false),
        ] {
            assert_eq!(own.is(address), expected, "{address}");
        }
        assert_eq!(own.texts()[0], "Me@example.com");
        assert_eq!(own.expressions()[0], r"^(?i:Me@example\.com)$");
        let error = Personal::new(&["/(/".to_owned()]).unwrap_err();
        assert!(error.starts_with("\"/(/\": "), "{error}");
        assert!(!Personal::default().is("a@x.org"));
    }
}
