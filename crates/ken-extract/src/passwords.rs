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

    /// Returns a number that other passwords most likely do not have; 0 if there are none. It stands in
    /// the index, and has 16 bits only, so that it is of little help in guessing them.
    pub fn fingerprint(&self) -> u16 {
        use std::hash::{Hash, Hasher};
        if self.is_empty() {
            return 0;
        }
        // Written down, so the keys are fixed.
        let mut hasher = siphasher::sip::SipHasher13::new();
        self.0.hash(&mut hasher);
        (hasher.finish() as u16).max(1)
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
