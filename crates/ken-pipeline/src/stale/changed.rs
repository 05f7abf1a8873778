//! Which files other extractors, limits or passwords would read differently.
//!
//! The files of an extractor are known by the media types of their documents and by the extensions
//! of their names. The content of a compressed file takes the place of the file, so that the file's
//! own media type is not stored.
//!
//! Helpers are extractors too; their version depends on the program and on how it is called. If a
//! helper is gone, nothing is read again: what it found stays.
//!
//! A failure names the setting whose limit was reached. Raising a limit therefore reads only the
//! files again that failed by it.

use std::collections::BTreeSet;

use ken_core::{Cause, Failure, Field, FileKey, Profile, Reason, SetBy, Setting};
use ken_engine::Source;
use ken_extract::helper::Helpers;
use ken_extract::{detect, format_of};

/// The extractors whose version differs from some earlier extraction profile.
pub(crate) struct Changed<'r> {
    names: BTreeSet<&'r str>,
    helpers: Option<&'r Helpers>,
    /// Whether one of them is new, so that it may read files whose format was unknown.
    any_new: bool,
}

impl<'r> Changed<'r> {
    pub(crate) fn of(
        profile: &'r Profile,
        earlier: &'r [Profile],
        helpers: Option<&'r Helpers>,
    ) -> Self {
        let mut changed = Self {
            names: BTreeSet::new(),
            helpers,
            any_new: false,
        };
        // A helper that must no longer read its files.
        let known = earlier.iter().flat_map(|profile| profile.formats.keys());
        changed.names.extend(
            known
                .filter(|name| !profile.formats.contains_key(*name))
                .filter_map(|name| Helpers::of_profile_name(name).map(|_| name.as_str())),
        );
        if earlier.iter().any(|known| known.headers != profile.headers) {
            let media_types = ["message/rfc822", "application/vnd.ms-outlook"];
            let formats = media_types.into_iter().filter_map(format_of);
            changed.names.extend(formats.map(|format| format.name));
        }
        for (name, version) in &profile.formats {
            for known in earlier.iter().map(|profile| profile.formats.get(name)) {
                if known != Some(version) {
                    changed.names.insert(name);
                    changed.any_new |= known.is_none() && Helpers::of_profile_name(name).is_none();
                }
            }
        }
        changed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn reads(&self, media_type: &str) -> bool {
        format_of(media_type).is_some_and(|format| self.names.contains(format.name))
            || self.any_new && media_type == detect::UNKNOWN.media_type
            || self.helper_reads("", media_type)
            || self
                .names
                .iter()
                .any(|name| Helpers::of_profile_name(name) == Some(media_type))
    }

    fn helper_reads(&self, name: &str, media_type: &str) -> bool {
        let profile_name = self
            .helpers
            .and_then(|helpers| helpers.profile_name(name, media_type));
        profile_name.is_some_and(|name| self.names.contains(name.as_str()))
    }

    pub(crate) fn files(&self, snapshot: &dyn Source) -> Result<Vec<FileKey>, ken_engine::Error> {
        let with = |field, accepts: &dyn Fn(&str) -> bool| {
            let mut values = snapshot.files().values(field)?;
            values.retain(|value| accepts(value));
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            snapshot.files().with_values(field, &values)
        };
        let mut files = with(Field::Mime, &|mime| self.reads(mime))?;
        files.extend(with(Field::Ext, &|extension| {
            let name = format!("a.{extension}");
            let named = detect::by_name(&name);
            named != detect::UNKNOWN && self.reads(named.media_type)
                || self.helper_reads(&name, named.media_type)
        })?);
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }
}

/// Returns whether a limit was raised, or the passwords differ from those in some earlier
/// extraction profile.
pub(crate) fn may_lift(profile: &Profile, earlier: &[Profile]) -> bool {
    has_other_passwords(profile, earlier) || is_any_raised(profile, earlier)
}

/// Returns the files that failed by a cause that no longer applies.
pub(crate) fn lifted(
    profile: &Profile,
    earlier: &[Profile],
    snapshot: &dyn Source,
) -> Result<Vec<FileKey>, ken_engine::Error> {
    let mut files = snapshot.files().with_values(Field::Is, &["failed"])?;
    let mut failed = Ok(());
    files.retain(|key| {
        let lifted = failures_of(*key, snapshot);
        match lifted {
            Ok(failures) => failures.iter().any(|f| lifts(profile, earlier, &f.cause)),
            Err(error) => {
                failed = Err(error);
                false
            }
        }
    });
    failed.map(|()| files)
}

fn failures_of(key: FileKey, snapshot: &dyn Source) -> Result<Vec<Failure>, ken_engine::Error> {
    let mut failures = Vec::new();
    for address in snapshot.files().documents_of(key)? {
        failures.extend(snapshot.document(address)?.document.failure);
    }
    Ok(failures)
}

/// Returns whether the cause of a failure applied in some earlier extraction profile, and does not
/// now. A failure in an earlier format does not say which limit was reached, so it may be any.
fn lifts(profile: &Profile, earlier: &[Profile], cause: &Cause) -> bool {
    match cause {
        Cause::Password { .. } => has_other_passwords(profile, earlier),
        Cause::Limit { limit, .. } | Cause::TimedOut { limit, .. } => {
            // A text that is too large to be parsed as a whole is read up to the limit of text.
            let is_start_read = limit.setting == Setting::MaxFileBytes;
            limit.set_by != SetBy::Helper
                && (is_raised(limit.setting, profile, earlier)
                    || is_start_read && is_raised(Setting::MaxTextBytes, profile, earlier))
        }
        Cause::Other { reason, .. } => match reason {
            Reason::Encrypted => has_other_passwords(profile, earlier),
            Reason::Limit | Reason::TimedOut => is_any_raised(profile, earlier),
            _ => false,
        },
        _ => false,
    }
}

fn has_other_passwords(profile: &Profile, earlier: &[Profile]) -> bool {
    let others = |known: &Profile| known.passwords != profile.passwords;
    profile.passwords != 0 && earlier.iter().any(others)
}

fn is_any_raised(profile: &Profile, earlier: &[Profile]) -> bool {
    let mut settings = profile.limits.keys();
    settings.any(|setting| is_raised(*setting, profile, earlier))
}

fn is_raised(setting: Setting, profile: &Profile, earlier: &[Profile]) -> bool {
    let now = profile.limits.get(&setting);
    let then = earlier
        .iter()
        .filter_map(|known| known.limits.get(&setting));
    now.is_some_and(|now| then.min().is_some_and(|then| then < now))
}

#[cfg(test)]
mod tests {
    use ken_core::{Encryption, Limit};
    use ken_extract::FORMATS;

    use super::*;

    fn current() -> Profile {
        let formats = FORMATS.iter().map(|f| (f.name.to_owned(), f.version));
        Profile {
            formats: formats.collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn changed_extractors_are_recognised_by_version() {
        let now = current();
        let mut earlier = now.clone();
        assert!(Changed::of(&now, &[earlier.clone()], None).is_empty());
        earlier.formats.insert("PDF".to_owned(), 0);
        let profiles = [earlier.clone()];
        let changed = Changed::of(&now, &profiles, None);
        assert!(changed.reads("application/pdf") && !changed.reads("text/plain"));
        assert!(!changed.reads(detect::UNKNOWN.media_type));
        earlier.formats.remove("PDF");
        let profiles = [earlier];
        assert!(Changed::of(&now, &profiles, None).reads(detect::UNKNOWN.media_type));
    }

    #[test]
    fn other_own_headers_change_mail() {
        let now = current();
        let header = ken_core::CustomField {
            field: Field::Custom1,
            name: "project".to_owned(),
            header: "X-Project".to_owned(),
        };
        let earlier = [Profile {
            headers: vec![header],
            ..now.clone()
        }];
        let changed = Changed::of(&now, &earlier, None);
        assert!(changed.reads("message/rfc822") && changed.reads("application/vnd.ms-outlook"));
        assert!(!changed.reads("text/plain"));
    }

    #[test]
    fn a_raised_limit_and_other_passwords_lift_what_failed_by_them() {
        let with = |most: u64, passwords: u16| Profile {
            limits: [(Setting::MaxPages, most), (Setting::MaxDepth, 8)].into(),
            passwords,
            ..Profile::default()
        };
        let reached = |setting, set_by| {
            Cause::limit(Limit {
                setting,
                in_force: 5,
                set_by,
            })
        };
        let pages = reached(Setting::MaxPages, SetBy::Settings);
        let lowered = reached(Setting::MaxPages, SetBy::Memory(64 << 20));
        let by_row = reached(Setting::MaxPages, SetBy::Helper);
        let depth = reached(Setting::MaxDepth, SetBy::Settings);
        let locked = Cause::Password { tried: true };
        let how = Encryption::Key;
        let raised = with(9, 0);
        assert!(lifts(&raised, &[with(5, 0)], &pages));
        assert!(lifts(&raised, &[with(5, 0)], &lowered), "more memory");
        assert!(!lifts(&raised, &[with(5, 0)], &by_row), "of the helper");
        assert!(!lifts(&raised, &[with(5, 0)], &depth), "another limit");
        assert!(!lifts(&raised, &[with(12, 0)], &pages), "lowered");
        assert!(!lifts(&raised, &[Profile::default()], &pages), "not known");
        assert!(!lifts(&raised, &[with(5, 0)], &locked));
        assert!(lifts(&with(5, 3), &[with(5, 2)], &locked));
        let sealed = Cause::Encrypted { how };
        assert!(!lifts(&with(5, 3), &[with(5, 2)], &sealed), "no password");
        assert!(
            !lifts(&with(5, 0), &[with(5, 2)], &locked),
            "there are none"
        );
        assert!(may_lift(&raised, &[with(5, 0)]) && !may_lift(&raised, &[with(9, 0)]));
    }

    #[test]
    fn a_file_of_which_the_start_was_read_is_lifted_by_the_limit_of_text() {
        let with = |most: u64| Profile {
            limits: [(Setting::MaxFileBytes, 10), (Setting::MaxTextBytes, most)].into(),
            ..Profile::default()
        };
        let limit = Limit {
            setting: Setting::MaxFileBytes,
            in_force: 10,
            set_by: SetBy::Settings,
        };
        assert!(lifts(&with(9), &[with(5)], &Cause::limit(limit)));
        assert!(!lifts(&with(5), &[with(5)], &Cause::limit(limit)));
    }

    #[test]
    fn a_message_of_an_earlier_format_is_lifted_by_any_limit() {
        let with = |most: u64| Profile {
            limits: [(Setting::MaxPages, most)].into(),
            ..Profile::default()
        };
        for (reason, expected) in [
            (Reason::Limit, true),
            (Reason::TimedOut, true),
            (Reason::Malformed, false),
            (Reason::Encrypted, false),
        ] {
            let text = "only the first pages".to_owned();
            let cause = Cause::Other { reason, text };
            assert_eq!(lifts(&with(9), &[with(5)], &cause), expected);
            assert!(!lifts(&with(5), &[with(5)], &cause));
        }
    }
}
