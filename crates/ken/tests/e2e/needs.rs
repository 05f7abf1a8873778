//! Needs of a test: a program, a permission, or a property of the file system.
//!
//! A test whose need is missing says so on standard error and does nothing more. If `KEN_TEST_REQUIRE` lists the
//! need, or is `all`, the test fails instead; `scripts/test` sets it. `KEN_TEST_ALLOW_MISSING` lists what a
//! machine cannot have: such tests are left out all the same. The unit tests of ken-walk and ken-pipeline include
//! this file too.

use std::io::Write;

/// Returns whether a test can run, given whether its need is met.
#[track_caller]
#[allow(clippy::disallowed_methods, reason = "tests read the environment")]
pub(crate) fn met(need: &str, is_there: bool) -> bool {
    let list = |variable| std::env::var(variable).unwrap_or_default();
    if !is_there {
        let is_required = is_required(
            need,
            &list("KEN_TEST_REQUIRE"),
            &list("KEN_TEST_ALLOW_MISSING"),
        );
        assert!(
            !is_required,
            "{need} is missing; scripts/setup installs what can be installed, and \
             KEN_TEST_ALLOW_MISSING={need} leaves this test out"
        );
        // Not by a macro: the output of tests that pass is hidden.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: {need} is missing");
    }
    is_there
}

/// Returns whether a test must fail if its need is not met.
fn is_required(need: &str, required: &str, may_be_missing: &str) -> bool {
    let lists = |list: &str, name: &str| list.split(',').any(|listed| listed.trim() == name);
    (lists(required, need) || lists(required, "all")) && !lists(may_be_missing, need)
}

#[test]
fn what_is_required_and_not_there_fails() {
    for (required, may_be_missing, expected) in [
        ("", "", false),
        ("all", "", true),
        ("mu, ptrace", "", true),
        ("mu", "", false),
        ("all", "mount,ptrace", false),
        ("ptrace", "ptrace", false),
        ("all", "all", true),
    ] {
        let found = is_required("ptrace", required, may_be_missing);
        assert_eq!(found, expected, "{required:?} {may_be_missing:?}");
    }
}
