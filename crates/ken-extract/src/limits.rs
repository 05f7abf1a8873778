//! What one file may cost, which passwords are tried, and which headers are fields. Every limit is
//! a setting, which the failure names.

use std::collections::BTreeMap;
use std::time::Duration;

use ken_core::{Cause, CustomField, Limit, SetBy, Setting};

use crate::{Error, Opener, Passwords};

/// Number of bytes for which a file may take [`Limits::file_time`] once more.
const BYTES_FOR_MORE_TIME: u64 = 64 << 20;

/// Limits of extraction, with passwords and custom fields. All sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Larger files that a parser needs whole in memory are found by name only.
    pub max_file_bytes: u64,
    /// Text of one document beyond this size is left out.
    pub max_text_bytes: usize,
    /// Larger members are found by name only.
    pub max_member_bytes: u64,
    /// Containers nested deeper than this are not opened.
    pub max_depth: usize,
    /// Members of one container beyond this number are left out.
    pub max_members: u64,
    /// All members of one container together may not expand to more than this.
    pub max_expanded_bytes: u64,
    /// A compressed stream that expands by more than this factor (beyond the first MiB) is taken
    /// for a bomb. The same holds for a file that expands so, with all members of its containers,
    /// beyond the first 64 MiB.
    pub max_expansion: u64,
    /// Pages of a document beyond this number are left out.
    pub max_pages: u64,
    /// Time that a worker may take for one file, and as much again for each 64 MiB of it. Time
    /// spent on the file's members does not count.
    pub file_time: Duration,
    /// Memory that a worker may map.
    pub worker_memory: u64,
    /// Passwords to try on encrypted content.
    pub passwords: Passwords,
    /// Headers of messages that are fields.
    pub headers: Vec<CustomField>,
    /// Reads what is encrypted in messages.
    pub opener: Opener,
    /// Settings that were lowered to fit the memory of a run, with that memory in bytes; for
    /// [`Setting::WorkerMemory`], the memory of the machine.
    pub lowered: BTreeMap<Setting, u64>,
}

impl Limits {
    /// Returns the limits that can make a file fail, by setting.
    pub fn named(&self) -> [(Setting, u64); 10] {
        [
            (Setting::MaxFileBytes, self.max_file_bytes),
            (Setting::MaxTextBytes, self.max_text_bytes as u64),
            (Setting::MaxMemberBytes, self.max_member_bytes),
            (Setting::MaxDepth, self.max_depth as u64),
            (Setting::MaxMembers, self.max_members),
            (Setting::MaxExpandedBytes, self.max_expanded_bytes),
            (Setting::MaxExpansion, self.max_expansion),
            (Setting::MaxPages, self.max_pages),
            (Setting::FileSeconds, milliseconds(self.file_time)),
            (Setting::WorkerMemory, self.worker_memory),
        ]
    }

    /// Returns the limit of a setting. The limit of helpers is not among these: it is 0.
    pub fn limit(&self, setting: Setting) -> Limit {
        let named = self.named();
        let in_force = named.iter().find(|(name, _)| *name == setting);
        let memory = self.lowered.get(&setting);
        Limit {
            setting,
            in_force: in_force.map_or(0, |(_, value)| *value),
            set_by: match (memory, setting) {
                (None, _) => SetBy::Settings,
                (Some(bytes), Setting::WorkerMemory) => SetBy::Machine(*bytes),
                (Some(bytes), _) => SetBy::Memory(*bytes),
            },
        }
    }

    /// Returns the failure of a file that reached the limit of a setting.
    pub(crate) fn reached(&self, setting: Setting) -> Error {
        Error::Failed(Cause::limit(self.limit(setting)))
    }

    /// Returns the failure of a file that is larger than its parser may hold.
    pub(crate) fn too_large(&self, size: u64) -> Error {
        Error::Failed(Cause::Limit {
            limit: self.limit(Setting::MaxFileBytes),
            found: Some(size),
            reader: None,
        })
    }

    /// Returns the time that a worker may take for a file of `size` bytes.
    pub(crate) fn file_time_of(&self, size: u64) -> Duration {
        let times = 1 + size / BYTES_FOR_MORE_TIME;
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        self.file_time.saturating_mul(times)
    }
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
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
            opener: Opener::default(),
            lowered: BTreeMap::new(),
        }
    }
}
