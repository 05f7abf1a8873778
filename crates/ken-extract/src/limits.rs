//! How much one file may cost, and which passwords are tried. Every limit is a setting; its failure
//! names it.

use crate::Passwords;

/// Limits of extraction, and its passwords. All sizes are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files larger than this that a parser needs whole in memory are found by name only.
    pub max_file_bytes: u64,
    /// Text of one document beyond this is left out.
    pub max_text_bytes: usize,
    /// A member larger than this is found by name only.
    pub max_member_bytes: u64,
    /// Containers inside containers beyond this depth are not opened.
    pub max_depth: usize,
    /// Members of one container beyond this number are left out.
    pub max_members: u64,
    /// All members of one container together may not expand beyond this.
    pub max_expanded_bytes: u64,
    /// A compressed stream that expands by more than this factor (beyond the first MiB) is
    /// taken for a bomb; so is a file that expands so, beyond the first 64 MiB, with all that is
    /// inside its containers.
    pub max_expansion: u64,
    /// Tried on what is encrypted.
    pub passwords: Passwords,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_bytes: 256 << 20,
            max_text_bytes: 32 << 20,
            max_member_bytes: 64 << 20,
            max_depth: 8,
            max_members: 1_000_000,
            max_expanded_bytes: 16 << 30,
            max_expansion: 1_000,
            passwords: Passwords::default(),
        }
    }
}
