//! The texts of ken, word for word: help, messages, and pages of results.
//!
//! A change of wording is a diff of these texts. `UPDATE_EXPECT=1 cargo test -p ken-cli --test e2e snapshots`
//! renews them; docs/decisions/0052-inline-snapshots.md says why they are kept this way.

mod help;
mod messages;
mod results;

use regex_automata::meta::Regex;

use crate::world::World;

/// Runs ken and returns what a user sees: the command, standard output, standard error, and an exit code
/// that is not 0.
fn shown(world: &World, arguments: &[&str]) -> String {
    let run = world.ken(arguments);
    let mut text = format!("$ ken {}\n{}{}", arguments.join(" "), run.text(), run.err);
    if run.code != 0 {
        text.push_str(&format!("[exit code {}]\n", run.code));
    }
    filtered(world, &text)
}

/// Texts that differ between runs or machines, and their replacements.
const FILTERS: [(&str, &str); 14] = [
    (r"complete   2\S+ \S+ \+0000", "complete   [TIME]"),
    (r#""completed":"[^"]*""#, r#""completed":"[TIME]""#),
    (
        r"index      \S+ kB in \d+ segments?",
        "index      [SIZE] in [N] segments",
    ),
    (
        r"index      \d+ files, \S+ kB",
        "index      [N] files, [SIZE]",
    ),
    (
        r#""bytes":\d+,"damaged":0,"files":\d+"#,
        r#""bytes":[N],"damaged":0,"files":[N]"#,
    ),
    (r#""bytes":\d+"#, r#""bytes":[N]"#),
    (r#""segments":\d+"#, r#""segments":[N]"#),
    (r"sandbox    .*", "sandbox    [SANDBOX]"),
    (r#""sandbox":\{[^}]*\}"#, r#""sandbox":{}"#),
    (r"\bafter \d+(\.\d+)? s\b", "after [TIME]"),
    (r"\bin \d+(\.\d+)? s, \S+ \w?B/s", "in [TIME]"),
    // Scores: newer files score higher, so scores fall from day to day.
    (r"\b\d+\.\d{4}\b", "[N]"),
    (r#""score":[0-9.]+"#, r#""score":[N]"#),
    // They are hashes with keys that each index has chosen.
    (r#""id":"(?:[0-9a-f]{16}){1,2}""#, r#""id":"[ID]""#),
];

/// Replaces the home folder, and the texts of [`FILTERS`].
fn filtered(world: &World, text: &str) -> String {
    let mut text = text.replace(world.home().to_str().unwrap(), "[HOME]");
    for (pattern, shown) in FILTERS {
        let regex = Regex::new(pattern).unwrap();
        let found: Vec<_> = regex.find_iter(&text).map(|found| found.range()).collect();
        for range in found.into_iter().rev() {
            text.replace_range(range, shown);
        }
    }
    let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}
