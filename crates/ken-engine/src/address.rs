//! Which document of a commit is meant.

/// The address of a document in one [`crate::Source`]. In another source the same address may mean another document.
///
/// The number means something to the engine only. Addresses have an order, and the documents of a file are in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress(u64);

impl DocAddress {
    /// Returns the address with a number that an engine chose.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number that the engine chose.
    pub const fn number(self) -> u64 {
        self.0
    }
}
