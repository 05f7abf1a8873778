//! Tests what holds for every query: parsing does not panic, and printing keeps the meaning.

mod support;

use ken_core::{Bound, FIELDS, Field, FieldKind, FieldNames, Glob, GlobPart, Kind};
use ken_search::parse::{
    Ago, Boost, Clause, Modifiers, Names, Nearness, Phrase, Piece, Precision, Tree, Unit, Value,
    When, parse, parse_lenient,
};
use ken_search::plan::plan;
use proptest::prelude::*;

/// Characters with a meaning, and a few of each kind without one.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            3 => prop::sample::select("()\"*\\-:<>=.|&/~ \tAORNDTé東\u{301}\u{a0}0_".chars().collect::<Vec<_>>())
                .prop_map(String::from),
            1 => prop::sample::select(vec![
                " OR ", " AND ", "NOT ", "||", "&&", "title:", "date:", "size>", "dir:", "type:",
                "ext:", "msgid:", "..", " XOR ", " NEAR/3 ", " ADJ ", "^2", "~1", "[ab]", "/x/", "\"~2", "\"Cl2.5", "\"po", "2025-01", "7d", "last month", "P1Y", "@1", "may", "3 days ago", "T10:30", "10k", "mail", "\"", "is:", "foo:", "query:x", "dc:title:", "://",
            ]).prop_map(String::from),
            1 => any::<char>().prop_map(String::from),
        ],
        0..24,
    )
    .prop_map(|pieces| pieces.concat())
}

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            any::<char>(),
            prop::sample::select("abAORND()\"*\\-:<>=.|& \t/é".chars().collect::<Vec<_>>()),
        ],
        1..8,
    )
    .prop_map(String::from_iter)
}

fn glob_part() -> impl Strategy<Value = GlobPart> {
    let range = prop::sample::select(vec![('a', 'm'), ('n', 'o'), ('0', '9')]);
    prop_oneof![
        3 => word().prop_map(GlobPart::Literal),
        2 => Just(GlobPart::Many),
        1 => Just(GlobPart::One),
        1 => (any::<bool>(), prop::collection::vec(range, 1..3))
            .prop_map(|(negated, ranges)| GlobPart::Class { negated, ranges }),
    ]
}

/// Patterns as the parser makes them: neither words nor prefixes, with visible wildcards.
fn glob() -> impl Strategy<Value = Glob> {
    prop::collection::vec(glob_part(), 0..4).prop_map(|parts| {
        let mut glob = Glob(vec![GlobPart::Literal("x".into()), GlobPart::Many]);
        for part in parts {
            if matches!(part, GlobPart::Class { .. }) {
                // Brackets are a wildcard only next to a letter.
                glob.push(GlobPart::Literal("k".into()));
            }
            glob.push(part);
        }
        glob.push(GlobPart::Literal("z".into()));
        // In a URL `?` is an ordinary character, so no query has such a pattern.
        for part in &mut glob.0 {
            if let GlobPart::Literal(text) = part
                && text.contains("://")
            {
                *text = text.replace('/', "_");
            }
        }
        glob
    })
}

fn nearness() -> impl Strategy<Value = Nearness> {
    (0..1000_u32, any::<bool>()).prop_map(|(slop, ordered)| Nearness { slop, ordered })
}

fn phrase() -> impl Strategy<Value = Phrase> {
    let pieces = prop_oneof![
        3 => word()
            .prop_filter("quotes hold something", |text| !text.trim().is_empty())
            .prop_map(|text| vec![Piece::Text(text)]),
        1 => ("[a-z]{1,3}( [a-z\"*?]{1,3})?", glob(), "[a-z]{1,3}").prop_map(|(a, glob, b)| {
            // A pattern in a phrase has no space.
            let parts = glob.0.into_iter().map(|part| match part {
                GlobPart::Literal(text) => {
                    GlobPart::Literal(text.replace(char::is_whitespace, "_"))
                }
                part => part,
            });
            let glob = Glob(parts.collect());
            vec![Piece::Text(a), Piece::Glob(glob), Piece::Gap, Piece::Text(b)]
        }),
    ];
    (pieces, any::<bool>(), prop::option::of(nearness())).prop_map(|(pieces, prefix_last, near)| {
        Phrase {
            pieces,
            prefix_last,
            near,
        }
    })
}

fn words() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => word().prop_map(Value::Word),
        1 => prop::sample::select(vec!["OR", "and", "Xor", "NOT", "near", "NEAR/5"])
            .prop_map(|word| Value::Word(word.to_owned())),
        1 => word().prop_map(Value::Prefix),
        1 => glob().prop_map(Value::Glob),
        1 => (word(), 1..=2_u8).prop_map(|(word, distance)| Value::Fuzzy(word, distance)),
        1 => prop::sample::select(vec!["a.b", "^x", "a/b|c", "(d|e)+$", "\\w{2}"])
            .prop_map(|regex| Value::Regex(regex.to_owned())),
        2 => phrase().prop_map(Value::Phrase),
    ]
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        (1..=9999_i16).prop_map(When::Year),
        (1..=9999_i16, 1..=12_i8).prop_map(|(year, month)| When::Month(year, month)),
        (1..=9999_i16, 1..=12_i8, 1..=28_i8)
            .prop_map(|(y, m, d)| When::Day(jiff::civil::Date::new(y, m, d).unwrap())),
        (1..=9999_i16, 1..=52_i8).prop_map(|(year, week)| {
            let monday = jiff::civil::Weekday::Monday;
            When::Week(
                jiff::civil::ISOWeekDate::new(year, week, monday)
                    .unwrap()
                    .date(),
            )
        }),
        (0..=23_i8, 0..=59_i8, 0..=59_i8).prop_map(|(hour, minute, second)| {
            let time = jiff::civil::datetime(2025, 3, 30, hour, minute, second, 0);
            When::Time(time, Precision::Second)
        }),
        Just(When::Time(
            jiff::civil::datetime(99, 1, 2, 3, 0, 0, 0),
            Precision::Hour
        )),
        Just(When::Time(
            jiff::civil::datetime(99, 1, 2, 3, 4, 0, 0),
            Precision::Minute
        )),
        (-999_999_999_999..999_999_999_999_i64).prop_map(When::Second),
        prop::sample::select(vec![
            When::Now,
            When::Today,
            When::Yesterday,
            When::Tomorrow
        ]),
        (
            -1..=1_i8,
            prop::sample::select(vec![Unit::Day, Unit::Week, Unit::Month, Unit::Year])
        )
            .prop_map(|(count, unit)| When::Relative(count, unit)),
        (1..=12_i8).prop_map(When::NamedMonth),
        (1..=12_i8, 1..=28_i8).prop_map(|(month, day)| When::NamedDay(month, day)),
        (0..7_i8).prop_map(|number| {
            When::Weekday(jiff::civil::Weekday::from_monday_zero_offset(number).unwrap())
        }),
        prop::array::uniform7(0..=9999_u16).prop_map(
            |[years, months, weeks, days, hours, minutes, seconds]| When::Ago(Ago {
                years,
                months,
                weeks,
                days,
                hours,
                minutes,
                seconds,
            })
        ),
    ]
}

fn numbers() -> impl Strategy<Value = (Bound<i64>, Bound<i64>)> {
    (0..i64::MAX, 0..i64::MAX, 0..7).prop_map(|(a, b, form)| bounds(a.min(b), a.max(b), form))
}

fn terms() -> impl Strategy<Value = Value> {
    ("[aÄ0][bü_-]{0,2}", "[bß9]", 0..3).prop_map(|(a, b, form)| match form {
        0 => Value::Terms(Bound::Included(a), Bound::Unbounded),
        1 => Value::Terms(Bound::Unbounded, Bound::Included(b)),
        _ => Value::Terms(
            Bound::Included("Aa".into()),
            Bound::Included(b.replace('9', "c")),
        ),
    })
}

fn bounds<T>(a: T, b: T, form: i32) -> (Bound<T>, Bound<T>) {
    match form {
        0 => (Bound::Included(a), Bound::Included(b)),
        1 => (Bound::Included(a), Bound::Unbounded),
        2 => (Bound::Excluded(a), Bound::Unbounded),
        3 => (Bound::Unbounded, Bound::Included(b)),
        4 => (Bound::Unbounded, Bound::Excluded(b)),
        _ => (Bound::Unbounded, Bound::Unbounded),
    }
}

fn value(field: Field) -> BoxedStrategy<Value> {
    match (field, field.info().kind) {
        (Field::Type, _) => prop::sample::select(Kind::ALL.to_vec())
            .prop_map(|(_, name)| Value::Word(name.into()))
            .boxed(),
        (Field::Is, _) => Just(Value::Word("failed".into())).boxed(),
        (Field::Prio, _) => Just(Value::Word("high".into())).boxed(),
        // A field name would mean that field with any value.
        (Field::Has, _) => prop::sample::select(vec!["attachment", "pdf", "image", "text/x-a"])
            .prop_map(|value| Value::Word(value.into()))
            .boxed(),
        (_, FieldKind::Text) => prop_oneof![9 => words(), 1 => terms()].boxed(),
        (_, FieldKind::Keyword) => "[a-z*\\\\ é][a-z*\\\\ é.]{0,4}[a-z]"
            .prop_map(Value::Word)
            .boxed(),
        (_, FieldKind::Path) => {
            prop_oneof![word().prop_map(Value::Word), word().prop_map(Value::Prefix)].boxed()
        }
        (_, FieldKind::Date) => (when(), when(), 0..7)
            .prop_map(|(a, b, form)| bounds(a, b, form))
            .prop_filter("ranges begin before they end", |ends| match ends {
                (Bound::Included(from), Bound::Included(to)) => !from.is_after(*to),
                _ => true,
            })
            .prop_map(|(from, to)| Value::Dates(from, to))
            .boxed(),
        (_, FieldKind::Size | FieldKind::Number) => numbers()
            .prop_map(|(from, to)| Value::Numbers(from, to))
            .boxed(),
    }
}

fn modifiers() -> impl Strategy<Value = Modifiers> {
    any::<[bool; 5]>().prop_map(
        |[case, diacritics, unstemmed, no_synonyms, expand]| Modifiers {
            case,
            diacritics,
            unstemmed,
            no_synonyms,
            expand,
            ..Modifiers::default()
        },
    )
}

/// Returns the clause with those modifiers that it can have.
fn modified(field: Option<Field>, value: Value, modifiers: Modifiers) -> Clause {
    let mut clause = Clause::new(field, value);
    let is_text = field.is_none_or(|field| field.info().kind == FieldKind::Text);
    match &clause.value {
        Value::Phrase(_) if is_text => clause.modifiers = modifiers,
        Value::Word(word) if is_text && word.starts_with(char::is_uppercase) => {
            clause.modifiers.unstemmed = true;
        }
        _ => {}
    }
    clause
}

fn clause() -> impl Strategy<Value = Tree> {
    // The members of a thread are not a clause.
    let fields = FIELDS.iter().map(|info| info.field);
    let fields: Vec<Field> = fields.filter(|field| *field != Field::Thread).collect();
    let field_clause = prop::sample::select(fields).prop_flat_map(|field| {
        (value(field), modifiers())
            .prop_map(move |(value, modifiers)| modified(Some(field), value, modifiers))
    });
    let plain =
        (words(), modifiers()).prop_map(|(value, modifiers)| modified(None, value, modifiers));
    prop_oneof![plain, field_clause].prop_map(Tree::Clause)
}

/// What a NEAR can join: words without a field, or alternatives of them.
fn text_clause() -> impl Strategy<Value = Tree> {
    let plain = || {
        (words(), modifiers())
            .prop_map(|(value, modifiers)| Tree::Clause(modified(None, value, modifiers)))
    };
    prop_oneof![
        3 => plain(),
        1 => (plain(), plain()).prop_map(|(a, b)| Tree::or(vec![a, b])),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    prop_oneof![8 => clause(), 1 => Just(Tree::All)].prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::and),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::or),
            inner.clone().prop_map(Tree::not),
            inner.clone().prop_map(|tree| Tree::Thread(Box::new(tree))),
            inner.clone().prop_map(|tree| Tree::Part(Box::new(tree))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Xor(Box::new(a), Box::new(b))),
            (inner, 1..1_000_000_u32)
                .prop_map(|(tree, boost)| Tree::Boost(Box::new(tree), Boost(boost))),
            (prop::collection::vec(text_clause(), 2..4), nearness())
                .prop_map(|(parts, nearness)| Tree::Near(parts, nearness)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_tree_or_a_mistake_with_a_position(query in text()) {
        match parse(&query) {
            Ok(tree) => {
                let printed = tree.to_query(&FieldNames::TABLE);
                prop_assert_eq!(parse(&printed), Ok(tree.clone()), "{}", printed);
                plan(&tree, &support::context());
            }
            Err(error) => {
                prop_assert!(query.get(error.at.clone()).is_some(), "{:?}", error.at);
                let lenient = parse_lenient(&query, Names::default());
                prop_assert!(!lenient.left_out.is_empty());
                if let Some(tree) = lenient.tree {
                    plan(&tree, &support::context());
                }
                prop_assert!(query.is_empty() || error.report().contains('^'));
            }
        }
    }

    #[test]
    fn a_printed_tree_parses_to_itself(tree in tree()) {
        let printed = tree.to_query(&FieldNames::TABLE);
        prop_assert_eq!(parse(&printed), Ok(tree), "{}", printed);
    }
}

#[test]
fn hostile_queries_end_quickly() {
    for piece in [
        "(", "-(", "NOT ", "title:(", "a OR ", "\"", "\\", "*", "a ", "a:", "|| ", "x\u{301}",
    ] {
        for count in [10, 1_000, 30_000] {
            if let Err(error) = parse(&piece.repeat(count)) {
                error.report();
            }
        }
    }
}

#[test]
fn size_and_depth_are_limited() {
    for (query, message) in [
        ("(".repeat(65), "nested too deeply"),
        ("-(".repeat(40), "nested too deeply"),
        ("a ".repeat(1025), "more than 1024 words"),
        ("a".repeat((64 << 10) + 1), "longer than 64 KiB"),
    ] {
        let error = parse(&query).unwrap_err();
        assert!(error.message.contains(message), "{error}");
    }
    assert!(parse(&"a ".repeat(1024)).is_ok());
    assert!(parse(&format!("{}a{}", "(".repeat(63), ")".repeat(63))).is_ok());
}
