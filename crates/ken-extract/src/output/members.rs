//! What archives have in common: names of members, content of unknown length, and the limit on the
//! expansion of all members together.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;

use ken_core::{Cause, Limit, Setting};

use super::Output;
use crate::expansion::max_expanded;
use crate::input::carry::release;
use crate::text::names::Names;
use crate::{Error, Limits, Member};

/// Maximum memory that is reserved because a header announces it.
pub(crate) const TRUSTED_BYTES: u64 = 1 << 20;

/// Decodes the names of an archive's members, and makes them unique, since they become member
/// paths.
///
/// Keeps hashes instead of names. A collision among a million names has a chance of 3·10⁻⁸ and
/// costs only a needless number.
#[derive(Default)]
pub(crate) struct MemberNames {
    n_seen: HashMap<u64, u32>,
    names: Names,
}

impl MemberNames {
    /// Takes the name of a member into account before the first one is decoded.
    pub(crate) fn note(&mut self, name: &[u8]) {
        self.names.note(name);
    }

    /// Returns whether more names must be known before this one is decoded.
    pub(crate) fn is_undecided(&self, name: &[u8]) -> bool {
        self.names.is_undecided(name)
    }

    /// Returns the path of a member whose name was noted.
    pub(crate) fn noted_path(&mut self, bytes: &[u8]) -> String {
        let path = self.names.decode(bytes);
        path.strip_prefix("./").unwrap_or(&path).to_owned()
    }

    /// Returns a member's path as text, without the leading `./` of `tar -c .`.
    pub(crate) fn path(&mut self, bytes: &[u8]) -> String {
        self.names.note(bytes);
        self.noted_path(bytes)
    }

    /// Returns `name` at its first occurrence, then `name#2`, `name#3` and so on.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        // A member path does not distinguish these two.
        let name = &name.replace('\0', "\u{fffd}");
        let mut n = self.n_seen.get(&hash(name)).map_or(1, |seen| seen + 1);
        let mut unique = numbered(name, n);
        // A member may really be called `name#2`.
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

/// Returns the last component of a member's path; archives from Windows may use `\`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Reads a member to its end; its header declares `declared` bytes, which may be wrong.
///
/// # Errors
/// Fails if the member is longer than the limit.
pub(crate) fn read_member(
    reader: &mut dyn Read,
    declared: u64,
    limit: Limit,
) -> Result<Vec<u8>, Error> {
    read_up_to(reader, declared, limit.in_force)?.ok_or_else(|| over(limit))
}

/// Reads a member to its end; returns none if it has more than `max_bytes`.
pub(crate) fn read_up_to(
    reader: &mut dyn Read,
    declared: u64,
    max_bytes: u64,
) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::with_capacity(declared.min(max_bytes).min(TRUSTED_BYTES) as usize);
    let n_read = reader
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(release)?;
    Ok((n_read as u64 <= max_bytes).then_some(bytes))
}

/// Hands on a member of an archive, or the failure instead of its content.
///
/// # Errors
/// Fails when a limit on the whole archive is reached, or the run is stopped.
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

/// Bounds the cost of all members together. Members of a zip archive may overlap, so that a few
/// kilobytes hold terabytes without nesting (Fifield 2019, "A better zip bomb").
pub(crate) struct Budget {
    max_member: Limit,
    max_expansion: Limit,
    max_total: u64,
    spent: u64,
}

impl Budget {
    /// Creates the budget for an archive of `size` bytes.
    pub(crate) fn new(size: u64, limits: &Limits) -> Self {
        Self {
            max_member: limits.limit(Setting::MaxMemberBytes),
            max_expansion: limits.limit(Setting::MaxExpansion),
            max_total: max_expanded(size, limits.max_expansion),
            spent: 0,
        }
    }

    /// Returns the remaining bytes.
    pub(crate) fn rest(&self) -> u64 {
        self.max_total.saturating_sub(self.spent)
    }

    /// Checks the declared size of a member.
    pub(crate) fn check_size(&self, size: u64) -> Result<(), Error> {
        if size > self.max_member.in_force {
            return Err(over(self.max_member));
        }
        Ok(())
    }

    /// Checks the declared sizes of a member.
    pub(crate) fn check_member(&self, size: u64, compressed: u64) -> Result<(), Error> {
        self.check_size(size)?;
        if size > max_expanded(compressed, self.max_expansion.in_force) {
            return Err(over(self.max_expansion));
        }
        Ok(())
    }

    /// Counts unpacked bytes.
    pub(crate) fn spend(&mut self, n_bytes: u64) {
        self.spent = self.spent.saturating_add(n_bytes);
    }

    /// Fails when more was unpacked than allowed.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.spent > self.max_total {
            return Err(over(self.max_expansion));
        }
        Ok(())
    }
}

/// Returns the failure of a member that is larger than a limit, or expands further.
pub(crate) fn over(limit: Limit) -> Error {
    Error::Failed(Cause::limit(limit))
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
        let limit = |in_force| Limit {
            in_force,
            ..Limits::default().limit(Setting::MaxMemberBytes)
        };
        let bytes = read_member(&mut &b"abc"[..], u64::MAX, limit(u64::MAX)).unwrap();
        assert_eq!(bytes, b"abc");
        assert!(bytes.capacity() <= 2 * TRUSTED_BYTES as usize);
        let error = read_member(&mut &b"abcd"[..], 1, limit(3)).unwrap_err();
        assert_eq!(Cause::from(error), Cause::limit(limit(3)));
    }
}
