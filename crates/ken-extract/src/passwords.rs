//! The passwords that are tried on what is encrypted.

use std::fmt;
use std::sync::Arc;

/// Passwords that the user gave, in the order in which they are tried.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Passwords(Arc<[String]>);

impl Passwords {
    /// Returns the passwords without those that are empty.
    pub fn new(passwords: impl IntoIterator<Item = String>) -> Self {
        Self(passwords.into_iter().filter(|p| !p.is_empty()).collect())
    }

    /// Returns the passwords in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Passwords never reach a log.
impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passwords", self.0.len())
    }
}
