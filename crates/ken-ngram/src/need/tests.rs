//! Tests of what is needed, and that every matching text has it.

use proptest::prelude::*;
use proptest::sample::select;
use regex_automata::meta::{Config, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};

use super::*;

fn parsed(pattern: &str) -> Hir {
    let mut parser = ParserBuilder::new().utf8(false).multi_line(true).build();
    parser.parse(pattern).unwrap()
}

fn need(pattern: &str) -> Need {
    Need::of(&parsed(pattern))
}

fn bytes(text: &str) -> Need {
    Need::Bytes(text.as_bytes().to_vec())
}

#[test]
fn what_ascii_lacks_is_reported() {
    for pattern in [r"\p{Greek}", "Jürgen|Müller", "(?i)MÜLLER", "a.*ж"] {
        assert!(need(pattern).is_beyond_ascii(), "{pattern}");
    }
    // The Kelvin sign folds to k, and an alternative without a need removes all needs.
    for pattern in ["frob", "ü|frob", "ü?", r"\w+", "(?i)k", "[α-ωa]x"] {
        assert!(!need(pattern).is_beyond_ascii(), "{pattern}");
    }
}

#[test]
fn literals_are_joined_across_what_is_known() {
    assert_eq!(need("frobnicate"), bytes("frobnicate"));
    assert_eq!(need(r"\bfrob(nicate)\("), bytes("frobnicate("));
    assert_eq!(
        need("frobs?x"),
        Need::Any(vec![bytes("frobsx"), bytes("frobx")])
    );
    assert_eq!(
        need("kmalloc.*GFP_X"),
        Need::All(vec![bytes("kmalloc"), bytes("GFP_X")])
    );
    assert_eq!(
        need("qux(zip|zap)+jaw"),
        Need::All(vec![
            Need::Any(vec![bytes("quxzap"), bytes("quxzip")]),
            Need::Any(vec![bytes("zapjaw"), bytes("zipjaw")]),
        ])
    );
}

#[test]
fn what_may_be_anything_needs_nothing() {
    for pattern in ["", ".*", "a", r"\w+", "frob|.", "(frob)?", "(frob)*", "the"] {
        assert_eq!(need(pattern), Need::Anything, "{pattern}");
    }
    assert_eq!(need("[a&&b]"), Need::Nothing);
}

#[test]
fn letters_that_ignore_case_have_all_their_forms() {
    let Need::Any(forms) = need("(?i)kqz") else {
        panic!("a choice");
    };
    assert_eq!(forms.len(), 3 * 2 * 2, "K also is the sign of the kelvin");
    assert!(forms.contains(&bytes("\u{212a}qz")));
    assert!(need("(?i)frobnicate_everything_at_once") != Need::Anything);
}

#[test]
fn what_is_too_much_to_join_is_joined_in_part() {
    let dates = need("[0-9]{4}-[0-9]{2}-[0-9]{2}");
    let parts = |need: &Need| match need {
        Need::All(needs) => needs.clone(),
        need => vec![need.clone()],
    };
    let has = |text: &str| {
        let all = parts(&dates);
        all.iter()
            .any(|need| matches!(need, Need::Any(any) if any.contains(&bytes(text))))
    };
    for text in ["1-23", "-23-", "3-45"] {
        assert!(has(text), "{text}");
    }
    assert!(size(&dates).0 < 4 << 10, "{} strings", size(&dates).0);
    let years = need(r"\b(19|20)[0-9]{2}-");
    assert!(
        parts(&years)
            .iter()
            .any(|need| matches!(need, Need::Any(any) if any.len() == 200))
    );
}

#[test]
fn classes_of_a_script_need_their_first_bytes() {
    assert!(matches!(need(r"\p{Greek}"), Need::Any(_)));
    assert_eq!(need(r"\p{Greek}?"), Need::Anything);
}

#[test]
fn wide_classes_are_of_ascii_or_somewhere_is_another_character() {
    for (wide, ascii) in [
        (r"x\d-\d\d", "x[0-9]-[0-9]{2}"),
        (r"xqv\d+q\dz", "xqv[0-9]+q[0-9]z"),
    ] {
        let (Need::Any(any), ascii) = (need(wide), need(ascii)) else {
            panic!("{wide}: a choice");
        };
        assert!(any.contains(&ascii), "{wide}");
        let others = any.into_iter().filter(|need| *need != ascii);
        assert!(Need::Any(others.collect()).is_beyond_ascii(), "{wide}");
    }
    let text = "x१-23".as_bytes();
    assert!(holds(&need(r"x\d-\d\d"), text) && !holds(&need("x[0-9]-[0-9]{2}"), text));
    assert_eq!(need(r"\d"), Need::Anything);
    assert_eq!(need(r"\w\w-\w\w"), Need::Anything);
}

/// Returns the number of strings in a need, and the depth of the deepest.
fn size(need: &Need) -> (usize, usize) {
    match need {
        Need::All(needs) | Need::Any(needs) => {
            let sizes = needs.iter().map(size);
            sizes.fold((0, 1), |(n, depth), (more, below)| {
                (n + more, depth.max(below + 1))
            })
        }
        _ => (1, 0),
    }
}

#[test]
fn a_need_grows_with_its_expression_only() {
    let choices = |n: usize, end: &str| {
        let choices = (0..n).map(|number| format!("qxz{number}{end}"));
        size(&need(&choices.collect::<Vec<_>>().join("|")))
    };
    // Strings, and their beginnings and ends.
    assert!(choices(3000, "").0 <= 3100 && choices(3000, "").1 <= 2);
    let (n, depth) = choices(300, "[^a]*wvk");
    assert!(n <= 1000 && depth <= 3, "{n} strings, {depth} deep");
    let nested = (0..7).fold("[a-h]{4}".to_owned(), |inner, _| format!("({inner}){{4}}"));
    let (n, _) = size(&need(&nested));
    assert!(n < 10_000, "{n} strings");
}

#[test]
fn a_need_is_bounded_whatever_the_expression() {
    let row = |part: &str, n: usize| need(&part.repeat(n));
    for part in [
        "(zq[a-h][a-h])",
        "([a-h]{4})",
        r"(x\d\dy)",
        "(?i:qwertz.)",
        "qx.*",
    ] {
        for n in [10, 1000, 5000] {
            let n_strings = row(part, n).n_strings();
            assert!(n_strings < 1 << 19, "{part} {n} times: {n_strings} strings");
        }
    }
    // The rest is not read, but what precedes it is still needed.
    assert!(row("([a-h]{4})", 5000).n_strings() > 0);
    let words = (0..100_000).map(|n| parsed(&format!("word{n}")));
    assert_eq!(
        Need::of_any(&words.collect::<Vec<_>>()).n_strings(),
        100_000
    );
    let words: Vec<_> = (0..3000).map(|n| format!("(?i:{n}wordx)y*")).collect();
    assert!(matches!(need(&words.join("|")), Need::Anything));
    let words: Vec<_> = words.iter().map(|word| parsed(word)).collect();
    assert!(matches!(Need::of_any(&words), Need::Anything));
}

#[test]
fn characters_in_groups_are_somewhere_too() {
    for pattern in [
        r"\d?(\p{Greek})xqz",
        r"\d?(?:ab|\p{Greek})xqz",
        r"\d?(?:\p{Greek})+xqz",
        r"(?:\d(\p{Greek}|z))xqz",
    ] {
        for text in ["1αxqz", "१ωxqz"] {
            assert!(holds(&need(pattern), text.as_bytes()), "{pattern}");
        }
        for text in ["1xqy", "1αxqy"] {
            assert!(!holds(&need(pattern), text.as_bytes()), "{pattern}");
        }
    }
}

#[test]
fn several_expressions_share_what_is_not_ascii() {
    let patterns = [r"frobnicate\d", r"quuxify\d", r"zorkmid\d"].map(parsed);
    let need = Need::of_any(&patterns);
    let alone = patterns.iter().map(|of| Need::of(of).n_strings());
    let n_pairs = wide::pairs(&patterns).len();
    assert!(n_pairs > 50);
    assert_eq!(need.n_strings() + 2 * n_pairs, alone.sum::<usize>());
    for text in ["frobnicate1", "zorkmid9", "quuxify१"] {
        assert!(holds(&need, text.as_bytes()), "{text}");
    }
    assert!(!holds(&need, b"frobnicate zorkmid"));
    assert_eq!(Need::of_any(&[]), Need::Nothing);
}

/// Returns whether the bytes of a text contain what is needed.
fn holds(need: &Need, text: &[u8]) -> bool {
    match need {
        Need::Anything => true,
        Need::Nothing => false,
        Need::Bytes(bytes) => memchr::memmem::find(text, bytes).is_some(),
        Need::All(needs) => needs.iter().all(|need| holds(need, text)),
        Need::Any(needs) => needs.iter().any(|need| holds(need, text)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn texts_that_match_hold_what_is_needed(
        pattern in r"(\(\?i\))?([a-c]{1,4}|\[a-d\]|\.|\\w|\\b|(\(ab\|c[d-e]?\|\)|[kS]|ß|\[x-zß-ö\]|\\p\{Greek\}|\\d|\\d-|(abc|\[b-e\]))(\*|\+|\?|\{2\}|\{2,5\}|)){0,6}",
        text in r"([a-eA-E]|abc|cd|kK|ſ|\x{212a}|[x-z]|ß|α|[0-9]|१|-| |\n){0,12}",
    ) {
        let Ok(regex) = regex_automata::meta::Regex::new(&pattern) else { return Ok(()) };
        if regex.is_match(text.as_bytes()) {
            prop_assert!(holds(&need(&pattern), text.as_bytes()));
        }
    }

    #[test]
    fn texts_made_of_a_pattern_hold_what_is_needed(
        pattern in pattern(),
        choices in prop::collection::vec(any::<u32>(), 64),
        around in (select(AROUND), select(AROUND)),
    ) {
        let Ok(expression) = ParserBuilder::new().utf8(false).multi_line(true).build().parse(&pattern) else {
            return Ok(());
        };
        let mut text = around.0.as_bytes().to_vec();
        if !append_match(&expression, &mut choices.into_iter().cycle(), &mut text) {
            return Ok(());
        }
        text.extend(around.1.as_bytes());
        let regex = Regex::builder().configure(Config::new().utf8_empty(false)).build_from_hir(&expression);
        // Borders are not considered where the text is made.
        if regex.is_ok_and(|regex| regex.is_match(&text)) {
            prop_assert!(holds(&Need::of(&expression), &text), "{:?}", String::from_utf8_lossy(&text));
        }
    }
}

const AROUND: &[&str] = &["", "x", " ", "\n", "a b", "é", "1"];

/// Generates patterns, nested, with wide classes in every position.
fn pattern() -> impl Strategy<Value = String> {
    let atoms = [
        "a",
        "b",
        "xqz",
        "q-",
        "the",
        "ß",
        "(?i:ks)",
        ".",
        r"\w",
        r"\b",
        r"\d",
        r"\D",
        r"\p{Greek}",
        r"[\x{80}-\x{2ff}]",
        r"[\p{Nd}\p{Greek}]",
        "[a-f]",
        "[0-9]",
        r"(?-u:[\x80-\xff])",
        "kelvin",
        "$",
    ];
    let atom = select(atoms.to_vec()).prop_map(str::to_owned);
    atom.prop_recursive(4, 32, 4, |part| {
        let row = prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat());
        let often = select(vec!["*", "+", "?", "{2}", "{5}", "{0,2}", "{2,3}"]);
        prop_oneof![
            row.clone(),
            row.clone().prop_map(|row| format!("({row})")),
            (row.clone(), row.clone()).prop_map(|(one, other)| format!("(?:{one}|{other})")),
            (row, often).prop_map(|(row, often)| format!("(?:{row}){often}")),
        ]
    })
}

/// Appends a text that the expression matches, apart from its borders; returns whether there is
/// one.
fn append_match(
    expression: &Hir,
    choices: &mut impl Iterator<Item = u32>,
    text: &mut Vec<u8>,
) -> bool {
    let mut choose = |n: usize| choices.next().unwrap_or_default() as usize % n.max(1);
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            text.extend(&literal.0);
            true
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            // ASCII as often as all other characters.
            let range = choose(2) * choose(ranges.len());
            let character = ranges.get(range).map(|range| {
                let n = range.end() as usize - range.start() as usize + 1;
                char::from_u32(range.start() as u32 + choose(n) as u32).unwrap_or(range.start())
            });
            text.extend(character.map(String::from).unwrap_or_default().bytes());
            character.is_some()
        }
        HirKind::Class(Class::Bytes(class)) => {
            let range = class.ranges().get(choose(class.ranges().len()));
            let byte = range.map(|range| {
                range.start() + choose(usize::from(range.end() - range.start()) + 1) as u8
            });
            text.extend(byte);
            byte.is_some()
        }
        HirKind::Capture(capture) => append_match(&capture.sub, choices, text),
        HirKind::Concat(parts) => parts.iter().all(|part| append_match(part, choices, text)),
        HirKind::Alternation(parts) => {
            let part = choose(parts.len());
            append_match(&parts[part], choices, text)
        }
        HirKind::Repetition(repetition) => {
            let more = repetition.max.unwrap_or(u32::MAX) - repetition.min;
            let n = repetition.min as usize + choose(more.min(3) as usize + 1);
            (0..n).all(|_| text.len() < 2000 && append_match(&repetition.sub, choices, text))
        }
    }
}
