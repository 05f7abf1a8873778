//! Tests fragments of bodies: the stretch that is chosen, the highlights, and the reported position.

mod support;

use ken_core::Field;
use std::cell::Cell;

use ken_search::parse::parse;
use ken_search::plan::plan;
use ken_search::snippet::{Finder, Fragment, Settings, TermMatcher, TermTest, matchers};
use proptest::prelude::*;

fn wanted(query: &str) -> Vec<TermMatcher> {
    matchers(
        &plan(&parse(query).unwrap(), &support::context()),
        Field::Body,
    )
}

fn all(body: &str, query: &str, settings: Settings) -> Vec<Fragment> {
    Finder::new(wanted(query), support::analyze).fragments(body, settings)
}

fn best(body: &str, query: &str) -> Fragment {
    all(body, query, Settings::default()).remove(0)
}

/// Returns the text with brackets around highlights and dots where it was cut.
fn shown(fragment: &Fragment) -> String {
    let mut text = fragment.text.clone();
    for highlight in fragment.highlights.iter().rev() {
        text.insert(highlight.end, ']');
        text.insert(highlight.start, '[');
    }
    let dots = |cut| if cut { "…" } else { "" };
    format!(
        "{}{text}{}",
        dots(fragment.cut_start),
        dots(fragment.cut_end)
    )
}

/// Returns this many bytes of words that match nothing.
fn filler(bytes: usize) -> String {
    "lorem ipsum dolor sit amet\n".repeat(bytes / 27 + 1)
}

#[test]
fn matchers_leave_out_what_is_excluded_or_filters() {
    let exact = |term: &str| TermMatcher::Term(TermTest::Exact(term.into()));
    assert_eq!(
        wanted("budget -draft ext:pdf title:x budget"),
        [exact("budget")]
    );
    assert_eq!(
        wanted("body:a OR pre*"),
        [
            exact("a"),
            TermMatcher::Term(TermTest::Prefix("pre".into()))
        ]
    );
    assert_eq!(wanted("author:* body:*"), []);
}

#[test]
fn words_are_highlighted_as_they_were_found() {
    for (query, body, expected) in [
        ("cafe", "Le Café est là.", "Le [Café] est là."),
        ("café", "the CAFE\u{301} opens", "the [CAFE\u{301}] opens"),
        (
            "header",
            "call parseHTTPHeader() now",
            "call parseHTTP[Header]() now",
        ),
        (
            "parseHTTPHeader",
            "call parseHTTPHeader() now",
            "call [parseHTTPHeader]() now",
        ),
        ("budg*", "budgets and budgies", "[budgets] and [budgies]"),
        (
            "\"annual report\"",
            "report annual, annual  report",
            "report annual, [annual report]",
        ),
        (
            "\"annual rep\"*",
            "the annual\nreporting",
            "the [annual reporting]",
        ),
        ("京都", "東京都へ行く", "東[京都]へ行く"),
        ("東京都", "東京都へ行く", "[東京都]へ行く"),
        ("foo-bar", "foo_x foo bar", "foo_x [foo bar]"),
        ("a", "a\tb\u{1}c\r\n\r\n a", "[a] bc [a]"),
        ("nothing", "  some text ", "some text"),
    ] {
        assert_eq!(shown(&best(body, query)), expected, "{query}");
    }
}

#[test]
fn the_densest_stretch_wins() {
    let far = filler(3_000);
    let body = format!("alpha {far} beta alpha {far} alpha x beta gamma {far} alpha alpha alpha");
    let fragment = best(&body, "alpha beta gamma");
    assert!(
        shown(&fragment).contains("[alpha] x [beta] [gamma]"),
        "{}",
        shown(&fragment)
    );
    assert!(fragment.cut_start && fragment.cut_end);
    assert!(fragment.text.chars().count() <= 200);
    assert!(fragment.text.chars().count() > 150);
}

#[test]
fn rare_terms_are_found_behind_many_frequent_ones() {
    let body = format!(
        "{} needle {}",
        "the inner thing ".repeat(200_000),
        filler(1_000)
    );
    let fragment = best(&body, "the needle in");
    assert!(
        shown(&fragment).contains("[needle]"),
        "{}",
        shown(&fragment)
    );
}

#[test]
fn terms_are_found_in_every_spelling_in_large_bodies() {
    for (query, spelling) in [
        ("etude", "Étude"),
        ("naive", "NAÏVE"),
        ("résumé", "re\u{301}sume\u{301}"),
        ("élan", "ELAN"),
        ("привет", "ПРИВЕТ"),
        ("東京", "東京"),
        ("header", "HTTPHeader"),
        ("value", "some_value"),
        ("x86", "X86"),
        ("字", "字典"),
    ] {
        for end in ["é ", "e "] {
            let body = format!("{} {spelling} {}{end}", filler(100_000), filler(100_000));
            let fragment = best(&body, query);
            assert_eq!(fragment.highlights.len(), 1, "{query} {spelling} {end}");
        }
    }
}

#[test]
fn pages_and_lines_are_those_of_the_first_match() {
    let body = "one\ntwo\u{c}three\nfour alpha\u{c}five";
    let fragment = best(body, "alpha");
    assert_eq!(shown(&fragment), "three four [alpha]");
    assert_eq!((fragment.page, fragment.line), (Some(2), 3));
    assert!(!fragment.cut_start && !fragment.cut_end, "pages are whole");
    let fragment = best("alpha\nbeta", "beta");
    assert_eq!((fragment.page, fragment.line), (None, 2));
}

#[test]
fn of_a_pair_the_character_is_highlighted() {
    for (body, query, expected) in [
        ("全文検索エンジンの索引", "索", "全文検[索]エンジンの[索]引"),
        ("検索\n引擎", "索", "検[索] 引擎"),
        ("カ\u{3099}イト", "ガ", "[カ\u{3099}]イト"),
        ("全文検索", "\"検索\"", "全文[検索]"),
        ("Яблоко и я", "я*", "[Яблоко] и [я]"),
    ] {
        assert_eq!(shown(&best(body, query)), expected, "{query}");
    }
}

#[test]
fn phrases_over_a_page_break_are_highlighted_to_its_end() {
    let fragment = best("an annual \u{c} report", "\"annual report\"");
    assert_eq!(shown(&fragment), "an [annual]");
}

#[test]
fn several_fragments_do_not_overlap() {
    let far = filler(1_000);
    let body = format!("alpha {far} alpha beta {far} beta");
    let settings = Settings {
        length: 100,
        count: 5,
    };
    let found = all(&body, "alpha beta", settings);
    assert_eq!(found.len(), 3);
    assert!(shown(&found[0]).contains("[alpha] [beta]"));
    for (number, one) in found.iter().enumerate() {
        for other in &found[..number] {
            assert!(one.at.end <= other.at.start || other.at.end <= one.at.start);
        }
    }
}

#[test]
fn texts_without_spaces_are_cut_between_characters() {
    let body = format!("{}東京{}", "大".repeat(5_000), "阪".repeat(5_000));
    let fragment = best(&body, "東京");
    assert_eq!(fragment.text.chars().count(), 200);
    assert_eq!(fragment.highlights.len(), 1);
    assert!(fragment.cut_start && fragment.cut_end);
}

#[test]
fn blank_bodies_have_no_fragment() {
    assert_eq!(all("", "a", Settings::default()), []);
    assert_eq!(all(" \n\u{c} ", "a", Settings::default()), []);
    let none = Settings {
        length: 200,
        count: 0,
    };
    assert_eq!(all("a", "a", none), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fragments_are_sound(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("alpha".to_owned()), Just("Bêta ".to_owned()), Just(" ".to_owned()),
                Just("\u{c}".to_owned()), Just("東京".to_owned()), any::<char>().prop_map(String::from),
                (0..300_usize).prop_map(|count| "filler ".repeat(count)),
            ],
            0..60,
        ),
        length in 0..80_usize,
    ) {
        let body = pieces.concat();
        let settings = Settings { length, count: 3 };
        for fragment in all(&body, "alpha OR beta* OR \"東京 alpha\"", settings) {
            prop_assert!(body.get(fragment.at.clone()).is_some());
            prop_assert!(fragment.line >= 1);
            let mut end = 0;
            for highlight in &fragment.highlights {
                prop_assert!(highlight.start >= end && highlight.start < highlight.end);
                prop_assert!(fragment.text.get(highlight.clone()).is_some());
                end = highlight.end;
            }
        }
    }
}

#[test]
fn a_search_for_all_matches_ends_when_it_is_told_to() {
    let finder = Finder::new(wanted("otter"), support::analyze);
    let n_found = |body: &str, n_questions: usize| {
        let n_asked = Cell::new(0);
        let is_over = || {
            n_asked.set(n_asked.get() + 1);
            n_asked.get() > n_questions
        };
        let mut n_found = 0;
        finder.all(body, 120, &is_over, &mut |_| {
            n_found += 1;
            true
        });
        (n_found, n_asked.get())
    };
    let filler = "x ".repeat(500);
    let frequent = format!("otter {filler}").repeat(100);
    assert_eq!(n_found(&frequent, usize::MAX).0, 100);
    let (n, _) = n_found(&frequent, 10);
    assert!((1..20).contains(&n), "{n}");
    // Where nothing is found, the text is left too.
    let foreign = "été ".repeat(100_000);
    assert_eq!(n_found(&foreign, 2), (0, 3));
}
