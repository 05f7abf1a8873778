//! Who may read a file: the rules of POSIX for the file and the folders above it, as the index keeps them.
//!
//! A [`Rule`] is what `stat` and the access control list of one file or folder say, for all people at once. A [`Class`] is
//! the rule of a file with those of its folders; files that the same people may read mostly have the same class, so that
//! an index of a million files has some hundreds. A class is written as one term, which says all that is needed to decide:
//! who is in which group is not looked at before somebody asks.
//!
//! Sources: POSIX.1e draft 17 as in acl(5); the order of `acl_permission_check` in Linux's `fs/namei.c`; the bytes of
//! `system.posix_acl_access` in Linux's `include/uapi/linux/posix_acl_xattr.h`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Field;

/// The field of a document that holds its class. Documents have no values of their own in `thread`, which queries mean
/// otherwise; so indices of earlier versions have the field too.
pub const ACCESS: Field = Field::Thread;

/// The beginning of a class as a term: how it is to be read.
const VERSION: &str = "1:";
/// The longest class as a term. A longer one, of some hundred names, becomes one that allows nobody.
const MAX_CLASS: usize = 4_000;
/// The most entries of an access control list that are read.
const MAX_ENTRIES: usize = 1_000;

/// Somebody who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asker {
    uid: u32,
    groups: Vec<u32>,
    may_be_in_more: bool,
}

impl Asker {
    /// Returns the user with this number, who is in these groups.
    pub fn new(uid: u32, mut groups: Vec<u32>) -> Self {
        groups.sort_unstable();
        groups.dedup();
        Self {
            uid,
            groups,
            may_be_in_more: false,
        }
    }

    /// Returns the same user, of whom not all groups may be known. What others may do and a group may not, this one may
    /// not either, unless the user or a known group is named: the one group that is missing may be that which denies. Groups
    /// that allow need no such care, as one that is missing allows nothing.
    #[must_use]
    pub fn with_more_groups(self) -> Self {
        Self {
            may_be_in_more: true,
            ..self
        }
    }

    /// Returns the number of the user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    fn is_in(&self, group: u32) -> bool {
        self.groups.binary_search(&group).is_ok()
    }

    fn is_root(&self) -> bool {
        self.uid == 0
    }
}

/// What is asked of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To read a file.
    Read,
    /// To go through a folder.
    Pass,
}

impl Wish {
    fn bit(self) -> u32 {
        match self {
            Self::Read => 0o4,
            Self::Pass => 0o1,
        }
    }
}

/// Who may do something with one file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    users: BTreeMap<u32, bool>,
    groups: BTreeMap<u32, bool>,
    others: bool,
}

/// The tags of entries in an access control list.
mod tag {
    pub(super) const OWNER: u16 = 0x01;
    pub(super) const USER: u16 = 0x02;
    pub(super) const OWNING_GROUP: u16 = 0x04;
    pub(super) const GROUP: u16 = 0x08;
    pub(super) const MASK: u16 = 0x10;
    pub(super) const OTHER: u16 = 0x20;
}

impl Rule {
    /// Returns the rule that allows nobody.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// Returns the rule of a file or folder without a list, or with the list in `acl`. A list that breaks the format allows
    /// nobody.
    pub fn new(wish: Wish, owner: u32, group: u32, mode: u32, acl: Option<&[u8]>) -> Self {
        let bit = wish.bit();
        let allows = |bits: u32| bits & bit != 0;
        let mut rule = Self {
            users: [(owner, allows(mode >> 6))].into(),
            groups: [(group, allows(mode >> 3))].into(),
            others: allows(mode),
        };
        // Without a bit for the group, which is the mask of a list, Linux does not look at the list.
        if let Some(acl) = acl.filter(|_| mode & 0o070 != 0) {
            match List::read(acl, bit) {
                Some(list) => list.apply(&mut rule, owner, group),
                None => return Self::nobody(),
            }
        }
        rule.simplified()
    }

    /// Returns the rule that says the same of the owner and allows nobody else.
    #[must_use]
    pub fn for_owner(self, owner: u32) -> Self {
        let allowed = self.users.get(&owner).copied().unwrap_or(self.others);
        Self {
            users: [(owner, allowed)].into(),
            ..Self::default()
        }
        .simplified()
    }

    /// Leaves out what changes nothing, so that equal rules are written equally.
    fn simplified(mut self) -> Self {
        if self.others {
            if !self.denies_a_group() {
                self.groups.clear();
                self.users.retain(|_, allowed| !*allowed);
            }
        } else {
            self.groups.retain(|_, allowed| *allowed);
            if self.groups.is_empty() {
                self.users.retain(|_, allowed| *allowed);
            }
        }
        self
    }

    /// Returns whether somebody may. Root may always.
    pub fn allows(&self, asker: &Asker) -> bool {
        if asker.is_root() {
            return true;
        }
        if let Some(allowed) = self.users.get(&asker.uid) {
            return *allowed;
        }
        let mut own = self
            .groups
            .iter()
            .filter(|(group, _)| asker.is_in(**group))
            .map(|(_, allowed)| *allowed)
            .peekable();
        match own.peek() {
            Some(_) => own.any(|allowed| allowed),
            None => self.others && !(asker.may_be_in_more && self.denies_a_group()),
        }
    }

    fn denies_a_group(&self) -> bool {
        self.groups.values().any(|allowed| !allowed)
    }

    fn allows_all(&self) -> bool {
        self.others && self.users.is_empty() && self.groups.is_empty()
    }

    fn allows_nobody(&self) -> bool {
        !self.others && self.users.is_empty() && self.groups.is_empty()
    }

    fn read(text: &str) -> Option<Self> {
        let mut rule = Self::default();
        match text {
            "all" => rule.others = true,
            "none" => {}
            text => {
                for entry in text.split(',') {
                    rule.read_entry(entry)?;
                }
            }
        }
        Some(rule)
    }

    fn read_entry(&mut self, entry: &str) -> Option<()> {
        let (who, allowed) = match entry.strip_suffix('+') {
            Some(who) => (who, true),
            None => (entry.strip_suffix('-')?, false),
        };
        if who == "o" {
            self.others = allowed;
            return Some(());
        }
        let (of, number) = match who.strip_prefix('u') {
            Some(number) => (&mut self.users, number),
            None => (&mut self.groups, who.strip_prefix('g')?),
        };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number)?;
        of.insert(number, allowed);
        Some(())
    }
}

/// Writes users, groups and others with `+` for those that the rule allows: `u1000+,g100-,o+`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.allows_all() {
            return f.write_str("all");
        }
        if self.allows_nobody() {
            return f.write_str("none");
        }
        let sign = |allowed: &bool| if *allowed { '+' } else { '-' };
        for (uid, allowed) in &self.users {
            write!(f, "u{uid}{},", sign(allowed))?;
        }
        for (gid, allowed) in &self.groups {
            write!(f, "g{gid}{},", sign(allowed))?;
        }
        write!(f, "o{}", sign(&self.others))
    }
}

/// An access control list.
#[derive(Default)]
struct List {
    owning_group: Option<bool>,
    others: Option<bool>,
    owner: Option<bool>,
    users: BTreeMap<u32, bool>,
    groups: BTreeMap<u32, bool>,
    mask: Option<bool>,
}

impl List {
    /// Reads a list: the number 2, then a tag, permissions and a number for each entry, all little-endian. None if it breaks
    /// the format.
    fn read(bytes: &[u8], bit: u32) -> Option<Self> {
        const HEAD: usize = 4;
        const ENTRY: usize = 8;
        let (head, entries) = bytes.split_at_checked(HEAD)?;
        let is_whole = head == [2, 0, 0, 0] && entries.len() % ENTRY == 0;
        if !is_whole || entries.len() / ENTRY > MAX_ENTRIES {
            return None;
        }
        let mut list = Self::default();
        for entry in entries.chunks_exact(ENTRY) {
            let tag = u16::from_le_bytes([entry[0], entry[1]]);
            let permissions = u16::from_le_bytes([entry[2], entry[3]]);
            let number = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
            list.add(tag, u32::from(permissions) & bit != 0, number)?;
        }
        let needs_mask = !list.users.is_empty() || !list.groups.is_empty();
        let has_all = list.owner.is_some() && list.owning_group.is_some() && list.others.is_some();
        (has_all && (list.mask.is_some() || !needs_mask)).then_some(list)
    }

    fn add(&mut self, tag: u16, allowed: bool, number: u32) -> Option<()> {
        let once = |of: &mut Option<bool>| of.replace(allowed).is_none().then_some(());
        let each =
            |of: &mut BTreeMap<u32, bool>| of.insert(number, allowed).is_none().then_some(());
        match tag {
            tag::OWNER => once(&mut self.owner),
            tag::USER => each(&mut self.users),
            tag::OWNING_GROUP => once(&mut self.owning_group),
            tag::GROUP => each(&mut self.groups),
            tag::MASK => once(&mut self.mask),
            tag::OTHER => once(&mut self.others),
            _ => None,
        }
    }

    /// Makes the rule of a mode that of the list. The owner comes before users that are named. Of the groups that somebody is
    /// in, one that allows is enough.
    fn apply(self, rule: &mut Rule, owner: u32, group: u32) {
        let mask = self.mask.unwrap_or(true);
        rule.users = self.users;
        rule.users.values_mut().for_each(|allowed| *allowed &= mask);
        rule.users.insert(owner, self.owner.unwrap_or(false));
        let owning = self.owning_group.unwrap_or(false);
        rule.groups = self.groups;
        *rule.groups.entry(group).or_default() |= owning;
        rule.groups
            .values_mut()
            .for_each(|allowed| *allowed &= mask);
        rule.others = self.others.unwrap_or(false);
    }
}

/// Who may read a file: its own rule, and those of the folders above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class(BTreeSet<Rule>);

impl Class {
    /// Returns the class of a file with its rule and those of the folders above it.
    pub fn new(file: Rule, folders: impl IntoIterator<Item = Rule>) -> Self {
        let mut rules: BTreeSet<Rule> = folders.into_iter().collect();
        rules.insert(file);
        if rules.iter().any(Rule::allows_nobody) {
            return Self::nobody();
        }
        rules.retain(|rule| !rule.allows_all());
        let class = Self(rules);
        match class.to_string().len() <= MAX_CLASS {
            true => class,
            false => Self::nobody(),
        }
    }

    /// Returns the class of files that nobody but root may read.
    pub fn nobody() -> Self {
        Self([Rule::nobody()].into())
    }

    /// Returns whether somebody may read files of the class.
    pub fn allows(&self, asker: &Asker) -> bool {
        self.0.iter().all(|rule| rule.allows(asker))
    }

    /// Returns whether all who may read files of another class may read those of this one, as far as rules that are the same
    /// tell.
    pub fn allows_all_of(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0) || *other == Self::nobody()
    }

    /// Reads a class from its term; none if the term is of a version that is not known, or damaged.
    pub fn read(term: &str) -> Option<Self> {
        let rules = term.strip_prefix(VERSION)?.split('/').map(Rule::read);
        let mut rules: BTreeSet<Rule> = rules.collect::<Option<_>>()?;
        rules.retain(|rule| !rule.allows_all());
        Some(Self(rules))
    }
}

/// Writes the term of the class: `1:u1000+,o-/g100+,o-`.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERSION)?;
        if self.0.is_empty() {
            return f.write_str("all");
        }
        for (n, rule) in self.0.iter().enumerate() {
            let before = if n == 0 { "" } else { "/" };
            write!(f, "{before}{rule}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANNA: u32 = 1000;
    const BOB: u32 = 1001;
    const STAFF: u32 = 50;
    const GUESTS: u32 = 60;

    fn mode(mode: u32) -> Rule {
        Rule::new(Wish::Read, ANNA, STAFF, mode, None)
    }

    fn anna() -> Asker {
        Asker::new(ANNA, vec![STAFF])
    }

    fn bob(groups: &[u32]) -> Asker {
        Asker::new(BOB, groups.to_vec())
    }

    /// Returns the bytes of a list.
    fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, number) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(permissions.to_le_bytes());
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn modes_are_written_short() {
        for (bits, expected) in [
            (0o644, "all"),
            (0o640, "u1000+,g50+,o-"),
            (0o600, "u1000+,o-"),
            (0o000, "none"),
            (0o040, "u1000-,g50+,o-"),
            (0o604, "u1000+,g50-,o+"),
            (0o044, "u1000-,o+"),
        ] {
            assert_eq!(mode(bits).to_string(), expected, "{bits:o}");
        }
    }

    #[test]
    fn the_first_class_that_fits_decides() {
        assert!(
            !mode(0o044).allows(&anna()),
            "the owner, although others may"
        );
        assert!(mode(0o044).allows(&bob(&[STAFF])) && mode(0o044).allows(&bob(&[])));
        assert!(
            !mode(0o604).allows(&bob(&[STAFF])),
            "the group, although others may"
        );
        assert!(mode(0o604).allows(&bob(&[GUESTS])));
        assert!(mode(0o000).allows(&Asker::new(0, vec![])), "root");
    }

    #[test]
    fn who_may_be_in_more_groups_gets_nothing_that_a_group_does_not_get() {
        let list = acl(&[
            (tag::OWNER, 6, 0),
            (tag::OWNING_GROUP, 4, 0),
            (tag::GROUP, 0, GUESTS),
            (tag::MASK, 4, 0),
            (tag::OTHER, 4, 0),
        ]);
        let named = Rule::new(Wish::Read, ANNA, STAFF, 0o644, Some(&list));
        let unsure = |groups: &[u32]| bob(groups).with_more_groups();
        for rule in [mode(0o604), named.clone()] {
            assert!(rule.allows(&bob(&[])));
            assert!(!rule.allows(&unsure(&[])), "{rule}");
            assert!(rule.allows(&anna().with_more_groups()), "{rule}");
        }
        assert!(named.allows(&unsure(&[STAFF])), "one group is enough");
        // Where no group denies, a group more changes nothing for the worse.
        assert!(mode(0o644).allows(&unsure(&[])) && mode(0o640).allows(&unsure(&[STAFF])));
        assert!(!mode(0o640).allows(&unsure(&[])));
    }

    #[test]
    fn lists_name_users_and_groups() {
        let list = acl(&[
            (tag::OWNER, 6, 0),
            (tag::USER, 4, BOB),
            (tag::USER, 0, 1002),
            (tag::OWNING_GROUP, 0, 0),
            (tag::GROUP, 4, GUESTS),
            (tag::MASK, 4, 0),
            (tag::OTHER, 0, 0),
        ]);
        let rule = Rule::new(Wish::Read, ANNA, STAFF, 0o640, Some(&list));
        assert_eq!(rule.to_string(), "u1000+,u1001+,u1002-,g60+,o-");
        assert!(rule.allows(&bob(&[])));
        assert!(
            !rule.allows(&Asker::new(1002, vec![GUESTS])),
            "named before groups"
        );
        assert!(
            rule.allows(&Asker::new(7, vec![STAFF, GUESTS])),
            "one group is enough"
        );
        assert!(!rule.allows(&Asker::new(7, vec![STAFF])));
    }

    #[test]
    fn the_mask_limits_all_but_owner_and_others() {
        let list = acl(&[
            (tag::OWNER, 6, 0),
            (tag::USER, 6, BOB),
            (tag::OWNING_GROUP, 6, 0),
            (tag::MASK, 2, 0),
            (tag::OTHER, 4, 0),
        ]);
        let rule = Rule::new(Wish::Read, ANNA, STAFF, 0o624, Some(&list));
        assert_eq!(rule.to_string(), "u1000+,u1001-,g50-,o+");
    }

    #[test]
    fn broken_lists_allow_nobody() {
        let whole = [
            (tag::OWNER, 7, 0),
            (tag::OWNING_GROUP, 7, 0),
            (tag::OTHER, 7, 0),
        ];
        let rule = |bytes: &[u8]| Rule::new(Wish::Read, ANNA, STAFF, 0o777, Some(bytes));
        assert_eq!(rule(&acl(&whole)).to_string(), "all");
        let with = |more| [&whole[..], &[more]].concat();
        for broken in [
            vec![],
            vec![2, 0, 0],
            vec![1, 0, 0, 0],
            acl(&[]),
            acl(&whole[1..]),
            [acl(&whole), vec![0]].concat(),
            acl(&with((0x40, 7, 0))),
            acl(&with((tag::OWNER, 7, 0))),
            acl(&with((tag::USER, 7, BOB))),
        ] {
            assert_eq!(rule(&broken).to_string(), "none", "{broken:?}");
        }
    }

    #[test]
    fn all_folders_must_let_pass() {
        let pass = |mode| Rule::new(Wish::Pass, ANNA, STAFF, mode, None);
        let class = |folders: &[u32]| Class::new(mode(0o644), folders.iter().map(|of| pass(*of)));
        assert_eq!(class(&[0o755, 0o711]).to_string(), "1:all");
        let private = class(&[0o755, 0o700, 0o755]);
        assert_eq!(private.to_string(), "1:u1000+,o-");
        assert!(private.allows(&anna()) && !private.allows(&bob(&[STAFF])));
        assert!(!class(&[0o644]).allows(&anna()), "a folder without x");
    }

    #[test]
    fn unknown_terms_are_no_class() {
        for wrong in [
            "",
            "1:",
            "2:all",
            "all",
            "1:u",
            "1:u1",
            "1:x1+",
            "1:u+",
            "1:u1+,",
            "1:all/",
            "1:u-1+",
            "1:u99999999999+",
            "1:u+1+",
        ] {
            assert_eq!(Class::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn too_many_names_allow_nobody() {
        let users: Vec<_> = (0..900).map(|uid| (tag::USER, 4, uid)).collect();
        let rest = [
            (tag::OWNER, 6, 0),
            (tag::OWNING_GROUP, 4, 0),
            (tag::MASK, 4, 0),
            (tag::OTHER, 0, 0),
        ];
        let list = acl(&[&users[..], &rest].concat());
        let rule = Rule::new(Wish::Read, ANNA, STAFF, 0o640, Some(&list));
        assert!(rule.allows(&anna()));
        assert_eq!(Class::new(rule, []), Class::nobody());
    }

    fn rules() -> impl Strategy<Value = Rule> {
        let list = proptest::collection::vec((1_u16..4, 0_u16..8, 1_u32..4), 0..5);
        (
            1_u32..4,
            1_u32..4,
            0_u32..0o1000,
            proptest::option::of(list),
        )
            .prop_map(|(owner, group, mode, entries)| {
                let list = entries.map(|entries| {
                    let named: BTreeMap<_, _> = entries
                        .iter()
                        .map(|(kind, permissions, number)| {
                            let tag = if *kind == 1 { tag::USER } else { tag::GROUP };
                            ((tag, *number), *permissions)
                        })
                        .collect();
                    let mut all = vec![
                        (tag::OWNER, (mode >> 6 & 7) as u16, 0),
                        (tag::OWNING_GROUP, 4, 0),
                        (tag::MASK, (mode >> 3 & 7) as u16, 0),
                        (tag::OTHER, (mode & 7) as u16, 0),
                    ];
                    all.extend(named.iter().map(|((tag, number), of)| (*tag, *of, *number)));
                    acl(&all)
                });
                Rule::new(Wish::Read, owner, group, mode, list.as_deref())
            })
    }

    fn askers() -> impl Strategy<Value = Asker> {
        (0_u32..5, proptest::collection::vec(0_u32..5, 0..4))
            .prop_map(|(uid, groups)| Asker::new(uid, groups))
    }

    proptest! {
        /// Whichever groups the system leaves out, nobody gets more than with all of them.
        #[test]
        fn groups_that_are_left_out_give_nothing(rule in rules(), asker in askers(), kept in proptest::collection::vec(any::<bool>(), 4)) {
            let groups = asker.groups.iter().zip(kept).filter(|(_, is_kept)| *is_kept);
            let lacking = Asker::new(asker.uid, groups.map(|(group, _)| *group).collect()).with_more_groups();
            prop_assert!(rule.allows(&asker) || !rule.allows(&lacking), "{}", rule);
        }

        #[test]
        fn classes_survive_as_terms(rule in rules(), folders in proptest::collection::vec(rules(), 0..4), asker in askers()) {
            let class = Class::new(rule.clone(), folders.clone());
            let read = Class::read(&class.to_string());
            prop_assert_eq!(read.as_ref(), Some(&class));
            let all = rule.allows(&asker) && folders.iter().all(|rule| rule.allows(&asker));
            prop_assert_eq!(class.allows(&asker), all);
        }

        #[test]
        fn any_bytes_are_read_in_bounds(bytes in proptest::collection::vec(any::<u8>(), 0..64), term in ".{0,40}") {
            let _ = Rule::new(Wish::Read, 1, 1, 0o777, Some(&bytes));
            let _ = Class::read(&term);
        }
    }
}
