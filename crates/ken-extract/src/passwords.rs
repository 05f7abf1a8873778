//! The passwords that are tried on encrypted content.

use std::fmt;
use std::sync::Arc;

/// Passwords from the user, in the order in which they are tried.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Passwords(Arc<[String]>);

impl Passwords {
    /// Creates the list, without empty passwords.
    pub fn new(passwords: impl IntoIterator<Item = String>) -> Self {
        Self(passwords.into_iter().filter(|p| !p.is_empty()).collect())
    }

    /// Returns the passwords in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns a number that other passwords most likely do not have; 0 if there are none. The
    /// index stores the number, so it has only 16 bits, which hardly help in guessing the
    /// passwords.
    pub fn fingerprint(&self) -> u16 {
        use std::hash::{Hash, Hasher};
        if self.is_empty() {
            return 0;
        }
        // The result is stored, so the keys are fixed.
        let mut hasher = siphasher::sip::SipHasher13::new();
        self.0.hash(&mut hasher);
        (hasher.finish() as u16).max(1)
    }

    /// Returns whether there are no passwords.
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
