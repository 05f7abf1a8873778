//! Tests that the table is complete and unambiguous, and that the last flag of a group counts.

use std::collections::HashSet;

use ken_grep::format::Mode;
use ken_grep::pattern::{Case, Engine, LineEnd};
use ken_grep::worker::Binary;
use proptest::prelude::*;

use super::*;
use crate::commands::grep::typed::Around;

/// All long flags of ripgrep 15.2.
const RIPGREP: &str = "after-context auto-hybrid-regex before-context binary block-buffered byte-offset \
    case-sensitive color colors column context context-separator count count-matches crlf debug \
    dfa-size-limit encoding engine field-context-separator field-match-separator file files \
    files-with-matches files-without-match fixed-strings follow generate glob glob-case-insensitive heading \
    help hidden hostname-bin hyperlink-format iglob ignore-case ignore-file ignore-file-case-insensitive \
    include-zero invert-match json line-buffered line-number line-regexp max-columns max-columns-preview \
    max-count max-depth max-filesize maxdepth mmap multiline multiline-dotall no-config no-filename \
    no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages \
    no-ignore-parent no-ignore-vcs no-line-number no-messages no-pcre2-unicode no-require-git no-unicode \
    null null-data one-file-system only-matching passthrough passthru path-separator pcre2 pcre2-version \
    pre pre-glob pretty quiet regex-size-limit regexp replace search-zip smart-case sort sort-files sortr \
    stats stop-on-nonmatch text threads trace trim type type-add type-clear type-list type-not unrestricted \
    version vimgrep with-filename word-regexp";

/// All flags of ripgrep 15.2 that cancel another.
const NEGATIONS: &str = "ignore ignore-dot ignore-exclude ignore-files ignore-global ignore-messages \
    ignore-parent ignore-vcs messages no-auto-hybrid-regex no-binary no-block-buffered no-byte-offset \
    no-column no-context-separator no-crlf no-encoding no-fixed-strings no-follow no-glob-case-insensitive \
    no-heading no-hidden no-ignore-file-case-insensitive no-include-zero no-invert-match no-json \
    no-line-buffered no-max-columns-preview no-mmap no-multiline no-multiline-dotall no-one-file-system \
    no-pcre2 no-pre no-search-zip no-sort-files no-stats no-text no-trim pcre2-unicode require-git unicode";

fn typed(line: &str) -> Typed {
    let mut typed = Typed::default();
    let words = line.split(' ').map(OsString::from).collect();
    read(words, &mut typed).unwrap();
    typed
}

#[test]
fn every_flag_of_ripgrep_is_known() {
    let own = ["help", "version"];
    for name in RIPGREP.split_ascii_whitespace() {
        assert!(
            own.contains(&name) || find(name).is_ok_and(|(_, on)| on),
            "{name}"
        );
    }
    for name in NEGATIONS.split_ascii_whitespace() {
        assert!(find(name).is_ok_and(|(_, on)| !on), "{name}");
    }
    let letters = "ABCEFHILMNPSTUVabcdefghijlmnopqrstuvwxz.0";
    for letter in letters.chars().filter(|letter| !"hV".contains(*letter)) {
        assert!(all().any(|flag| flag.short == Some(letter)), "-{letter}");
    }
}

#[test]
fn no_name_means_two_flags() {
    let mut names = HashSet::new();
    let mut letters = HashSet::new();
    for flag in all() {
        for name in [Some(flag.long), flag.negation, flag.alias]
            .into_iter()
            .flatten()
        {
            assert!(names.insert(name), "{name}");
        }
        assert!(
            flag.short.is_none_or(|letter| letters.insert(letter)),
            "{}",
            flag.long
        );
    }
}

#[test]
fn the_last_flag_of_a_kind_counts() {
    assert_eq!(typed("-i -s x").case, Case::Sensitive);
    assert_eq!(typed("-s -S x").case, Case::Smart);
    assert_eq!(
        typed("-c -l x").action,
        Action::Search(Mode::FilesWithMatches)
    );
    assert_eq!(
        typed("-l --json --no-json x").action,
        Action::Search(Mode::Lines)
    );
    assert_eq!(typed("-c --no-json x").action, Action::Search(Mode::Count));
    assert_eq!(typed("-P --engine=default x").engine, Engine::Regex);
    assert_eq!(typed("--crlf --null-data x").line_end, LineEnd::Nul);
    assert_eq!(typed("--null-data --no-crlf x").line_end, LineEnd::Nul);
    assert_eq!(typed("--pre cat -z x").preprocessor, None);
    assert!(!typed("-z --pre cat x").search_zip);
    assert!(!typed("--stop-on-nonmatch -U x").stop_on_nonmatch);
    assert_eq!(typed("-uuu --no-binary x").binary, Binary::Usual);
    assert!(typed("-uuu --no-hidden x").no_ignore_vcs);
}

#[test]
fn one_side_counts_more_than_both() {
    let lines = |before, after, both| Around::Lines {
        before,
        after,
        both,
    };
    assert_eq!(typed("-A1 -C2 x").around, lines(None, Some(1), Some(2)));
    assert_eq!(typed("-C2 -B0 x").around, lines(Some(0), None, Some(2)));
    assert_eq!(typed("-C2 --passthru x").around, Around::All);
    assert_eq!(typed("--passthru -A1 x").around, lines(None, Some(1), None));
}

proptest! {
    /// Any arguments give a search or an error message.
    #[test]
    fn no_command_line_panics(words in proptest::collection::vec("(-{0,2}[a-zA-Z.0-9=\\\\{}-]{0,12}|\\PC{0,6})", 0..8)) {
        let words = words.into_iter().map(OsString::from).collect();
        let _ = read(words, &mut Typed::default());
    }
}
