//! Contacts in the formats of Emacs programs, for `ken mail contacts` and `mu cfind`, in mu's forms.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The first lines of a file of BBDB.
pub(super) const BBDB_HEAD: &str = ";; -*-coding: utf-8-emacs;-*-\n;;; file-version: 6\n";

/// Returns a line of Wanderlust's address file.
pub(super) fn wl(name: &str, address: &str) -> String {
    format!("{address} \"{}\" \"{name}\"\n", nickname(name))
}

/// Returns the entry of org-contacts.
pub(super) fn org(name: &str, address: &str) -> String {
    format!("* {name}\n:PROPERTIES:\n:EMAIL: {address}\n:END:\n\n")
}

/// Returns the entry of BBDB; `seen` in seconds since 1970-01-01 UTC.
pub(super) fn bbdb(name: &str, address: &str, seen: i64) -> String {
    let lisp = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let (first, last) = name.rsplit_once(' ').unwrap_or((name, ""));
    let (first, last, address) = (lisp(first), lisp(last), lisp(address));
    let (created, seen) = (day(Timestamp::now().as_second()), day(seen));
    format!(
        "[\"{first}\" \"{last}\" nil nil nil nil (\"{address}\") \
         ((creation-date . \"{created}\") (time-stamp . \"{seen}\")) nil]\n"
    )
}

/// Returns a short name: the first name, and the first letter of the last.
pub(super) fn nickname(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().unwrap_or_default();
    let last = words.next_back().and_then(|word| word.chars().next());
    let nickname = first.chars().chain(last);
    nickname.filter(|c| c.is_alphanumeric()).collect()
}

fn day(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%d")
        .to_string()
}
