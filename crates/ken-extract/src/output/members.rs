//! What archives have in common: names of members, content of unknown length, and how far all
//! members together may expand.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;

use ken_core::escape_bytes;

use super::Output;
use crate::expansion::max_expanded;
use crate::input::carry::release;
use crate::{Error, Limits, Member};

/// At most this much memory is taken on the word of a header.
pub(crate) const TRUSTED_BYTES: u64 = 1 << 20;

/// Makes the names of an archive's members unique, since they are internal paths.
///
/// Keeps hashes instead of names: a clash of two of a million, of which the chance is 3·10⁻⁸,
/// costs a needless number.
#[derive(Default)]
pub(crate) struct MemberNames {
    n_seen: HashMap<u64, u32>,
}

impl MemberNames {
    /// Returns `name` at its first occurrence, then `name#2`, `name#3` and so on.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        // An internal path does not tell these two apart.
        let name = &name.replace('\0', "\u{fffd}");
        let mut n = self.n_seen.get(&hash(name)).map_or(1, |seen| seen + 1);
        let mut unique = numbered(name, n);
        // A member may be called `name#2` from the start.
        while n > 1 && self.n_seen.contains_key(&hash(&unique)) {
            n += 1;
            unique = numbered(name, n);
        }
        self.n_seen.insert(hash(name), n);
        self.n_seen.entry(hash(&unique)).or_insert(1);
        unique
    }
}

fn numbered(name: &str, n: u32) -> String {
    if n == 1 {
        name.to_owned()
    } else {
        format!("{name}#{n}")
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Returns the last component of a member's path; archives made on Windows may hold `\`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns a member's path as text, without the `./` that `tar -c .` puts before it.
pub(crate) fn path_of(bytes: &[u8]) -> String {
    let path = escape_bytes(bytes);
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

/// Reads a member whose header declares `declared` bytes, which may be a lie, to its end.
///
/// # Errors
/// Fails with [`Error::Limit`] if it is longer than `max_bytes`, which is the setting `setting`.
pub(crate) fn read_member(
    reader: &mut dyn Read,
    declared: u64,
    max_bytes: u64,
    setting: &str,
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(declared.min(max_bytes).min(TRUSTED_BYTES) as usize);
    let n_read = reader
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(release)?;
    if n_read as u64 > max_bytes {
        return Err(over(setting, max_bytes));
    }
    Ok(bytes)
}

/// Hands on a member of an archive, or the failure in the place of its content.
///
/// # Errors
/// Fails when a limit of the whole archive is reached, or the run is stopped.
pub(crate) fn hand_on(
    path: &str,
    modified: Option<i64>,
    content: Result<Vec<u8>, Error>,
    names: &mut MemberNames,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let (component, name) = (names.unique(path), file_name(path));
    match content {
        Ok(bytes) => output.member(Member {
            ipath: output.child_ipath(&component),
            name: name.to_owned(),
            modified,
            bytes,
            ..Member::default()
        }),
        Err(error) => output.failed_member(&component, name, error),
    }
}

/// How much all members together may cost. Those of a zip archive may overlap, so that a few
/// kilobytes hold terabytes without nesting (Fifield 2019, "A better zip bomb").
pub(crate) struct Budget {
    max_member_bytes: u64,
    max_expansion: u64,
    max_total: u64,
    spent: u64,
}

impl Budget {
    /// Returns the budget of an archive of this size.
    pub(crate) fn new(size: u64, limits: &Limits) -> Self {
        Self {
            max_member_bytes: limits.max_member_bytes,
            max_expansion: limits.max_expansion,
            max_total: max_expanded(size, limits.max_expansion),
            spent: 0,
        }
    }

    /// Returns what is left.
    pub(crate) fn rest(&self) -> u64 {
        self.max_total.saturating_sub(self.spent)
    }

    /// Checks the size that a member declares.
    pub(crate) fn check_size(&self, size: u64) -> Result<(), Error> {
        if size > self.max_member_bytes {
            return Err(over("max_member_bytes", self.max_member_bytes));
        }
        Ok(())
    }

    /// Checks the sizes that a member declares.
    pub(crate) fn check_member(&self, size: u64, compressed: u64) -> Result<(), Error> {
        self.check_size(size)?;
        if size > max_expanded(compressed, self.max_expansion) {
            return Err(self.expands());
        }
        Ok(())
    }

    /// Counts what was unpacked.
    pub(crate) fn spend(&mut self, n_bytes: u64) {
        self.spent = self.spent.saturating_add(n_bytes);
    }

    /// Fails when more was unpacked than may be.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.spent > self.max_total {
            return Err(self.expands());
        }
        Ok(())
    }

    fn expands(&self) -> Error {
        let max_expansion = self.max_expansion;
        Error::Limit(format!(
            "expands by more than max_expansion = {max_expansion}"
        ))
    }
}

/// Returns the failure of a member that is larger than a limit.
pub(crate) fn over(setting: &str, max_bytes: u64) -> Error {
    Error::Limit(format!("larger than {setting} = {max_bytes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_unique() {
        let mut names = MemberNames::default();
        let unique: Vec<String> = ["a", "a#2", "a", "a", "b\0", "a#2", "b\u{fffd}"]
            .iter()
            .map(|name| names.unique(name))
            .collect();
        assert_eq!(
            unique,
            [
                "a",
                "a#2",
                "a#3",
                "a#4",
                "b\u{fffd}",
                "a#2#2",
                "b\u{fffd}#2"
            ]
        );
    }

    #[test]
    fn folders_are_cut_off() {
        assert_eq!(file_name("../a/b.txt"), "b.txt");
        assert_eq!(file_name("a\\b.txt"), "b.txt");
        assert_eq!(file_name("b.txt"), "b.txt");
    }

    #[test]
    fn declared_sizes_are_not_trusted() {
        let bytes = read_member(&mut &b"abc"[..], u64::MAX, u64::MAX, "x").unwrap();
        assert_eq!(bytes, b"abc");
        assert!(bytes.capacity() <= 2 * TRUSTED_BYTES as usize);
        let error = read_member(&mut &b"abcd"[..], 1, 3, "max_member_bytes").unwrap_err();
        assert_eq!(error.to_string(), "larger than max_member_bytes = 3");
    }
}
