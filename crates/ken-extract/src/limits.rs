//! How much one file may cost, which passwords are tried, and which headers are fields. Every limit is
//! a setting; its failure names it.

use std::time::Duration;

use ken_core::CustomField;

use crate::{Error, Passwords};

/// A file may take the time of [`Limits::file_time`] once more for each of these bytes.
const BYTES_FOR_MORE_TIME: u64 = 64 << 20;

/// Limits of extraction, its passwords, and the headers that are fields. All sizes are bytes.
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
    /// Pages of a document beyond this number are left out.
    pub max_pages: u64,
    /// Time that a worker may take for one file, and as much again for each 64 MiB of it. What its
    /// members take does not count.
    pub file_time: Duration,
    /// Memory of a worker: what it maps.
    pub worker_memory: u64,
    /// Tried on what is encrypted.
    pub passwords: Passwords,
    /// Headers of messages that are fields.
    pub headers: Vec<CustomField>,
}

impl Limits {
    /// Returns the limits that a file may fail by, by the names that failures give them.
    pub fn named(&self) -> [(&'static str, u64); 10] {
        [
            ("max_file_bytes", self.max_file_bytes),
            ("max_text_bytes", self.max_text_bytes as u64),
            ("max_member_bytes", self.max_member_bytes),
            ("max_depth", self.max_depth as u64),
            ("max_members", self.max_members),
            ("max_expanded_bytes", self.max_expanded_bytes),
            ("max_expansion", self.max_expansion),
            ("max_pages", self.max_pages),
            ("file_seconds", milliseconds(self.file_time)),
            ("worker_memory", self.worker_memory),
        ]
    }

    /// Returns how long a worker may take for a file of this size.
    pub(crate) fn file_time_of(&self, size: u64) -> Duration {
        let times = 1 + size / BYTES_FOR_MORE_TIME;
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        self.file_time.saturating_mul(times)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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
            max_pages: 100_000,
            file_time: Duration::from_secs(60),
            worker_memory: 1 << 30,
            passwords: Passwords::default(),
            headers: Vec::new(),
        }
    }
}

/// Returns the failure of a document with more pages than may be read.
pub(crate) fn too_many_pages(limits: &Limits) -> Error {
    let max = limits.max_pages;
    Error::Limit(format!(
        "only the first {max} pages are searchable (max_pages)"
    ))
}
