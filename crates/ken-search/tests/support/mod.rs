//! The time, the folder and the analysis of the test cases; the analysis is that of the index.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::Field;
use ken_search::plan::Context;

/// The analysis of the index.
pub(crate) fn analyze(field: Field, text: &str, each: &mut dyn FnMut(&str, u32, Range<usize>)) {
    ken_index::analysis::analyze(field, text, each);
}

/// Returns noon of a day in March, in Berlin.
#[allow(dead_code)] // not every test asks
pub(crate) fn context() -> Context {
    Context {
        now: "2026-03-15T12:00:00Z".parse::<Timestamp>().unwrap(),
        zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
        month_first: false,
        home: Some("/home/anna".into()),
        cwd: "/srv/work".into(),
        mail_root: None,
        own_addresses: vec!["^anna@example".into(), "@b".into()],
        roots: vec!["/home/anna/Documents".into(), "/srv/mail.mbox".into()],
        analyze,
        synonyms: Default::default(),
    }
}
