//! What holds for every query: no panic, and printing keeps the meaning.

mod support;

use ken_core::{Bound, FIELDS, Field, FieldKind, Kind};
use ken_search::parse::{Clause, Tree, Unit, Value, When, parse};
use ken_search::plan::plan;
use proptest::prelude::*;

/// Characters that mean something, and a few of every sort that do not.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            3 => prop::sample::select("()\"*\\-:<>=.|&/~ \tAORNDTé東\u{301}\u{a0}0_".chars().collect::<Vec<_>>())
                .prop_map(String::from),
            1 => prop::sample::select(vec![
                " OR ", " AND ", "NOT ", "||", "&&", "title:", "date:", "size>", "dir:", "type:",
                "ext:", "msgid:", "..", "2025-01", "7d", "10k", "mail", "\"", "is:", "foo:", "://",
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

fn words() -> impl Strategy<Value = Value> {
    prop_oneof![
        word().prop_map(Value::Word),
        Just("OR".to_owned()).prop_map(Value::Word),
        word().prop_map(Value::Prefix),
        (word(), any::<bool>())
            .prop_filter("quotes hold something", |(text, _)| !text.trim().is_empty())
            .prop_map(|(text, prefix_last)| Value::Phrase { text, prefix_last }),
    ]
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        (1..=9999_i16).prop_map(When::Year),
        (1..=9999_i16, 1..=12_i8).prop_map(|(year, month)| When::Month(year, month)),
        (1..=9999_i16, 1..=12_i8, 1..=28_i8)
            .prop_map(|(y, m, d)| When::Day(jiff::civil::Date::new(y, m, d).unwrap())),
        Just(When::Today),
        Just(When::Yesterday),
        (
            0..=9999_u16,
            prop::sample::select(vec![Unit::Days, Unit::Weeks, Unit::Months, Unit::Years])
        )
            .prop_map(|(count, unit)| When::Ago(count, unit)),
    ]
}

fn numbers() -> impl Strategy<Value = (Bound<i64>, Bound<i64>)> {
    (0..i64::MAX, 0..i64::MAX, 0..7).prop_map(|(a, b, form)| bounds(a.min(b), a.max(b), form))
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
        (_, FieldKind::Text) => words().boxed(),
        (_, FieldKind::Keyword) => "[a-z*\\\\ é][a-z*\\\\ é.]{0,4}[a-z]"
            .prop_map(Value::Word)
            .boxed(),
        (_, FieldKind::Path) => {
            prop_oneof![word().prop_map(Value::Word), word().prop_map(Value::Prefix)].boxed()
        }
        (_, FieldKind::Date) => (when(), when(), 0..7)
            .prop_map(|(a, b, form)| bounds(a, b, form))
            .prop_map(|(from, to)| Value::Dates(from, to))
            .boxed(),
        (_, FieldKind::Size | FieldKind::Number) => numbers()
            .prop_map(|(from, to)| Value::Numbers(from, to))
            .boxed(),
    }
}

fn clause() -> impl Strategy<Value = Tree> {
    let fields: Vec<Field> = FIELDS.iter().map(|info| info.field).collect();
    let field_clause = prop::sample::select(fields).prop_flat_map(|field| {
        value(field).prop_map(move |value| Clause {
            field: Some(field),
            value,
        })
    });
    let plain = words().prop_map(|value| Clause { field: None, value });
    prop_oneof![plain, field_clause].prop_map(Tree::Clause)
}

fn tree() -> impl Strategy<Value = Tree> {
    prop_oneof![8 => clause(), 1 => Just(Tree::All)].prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::and),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::or),
            inner.prop_map(Tree::not),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_tree_or_a_mistake_with_a_place(query in text()) {
        match parse(&query) {
            Ok(tree) => {
                let printed = tree.to_query();
                prop_assert_eq!(parse(&printed), Ok(tree.clone()), "{}", printed);
                plan(&tree, &support::context());
            }
            Err(error) => {
                prop_assert!(query.get(error.at.clone()).is_some(), "{:?}", error.at);
                prop_assert!(error.report().contains('^'));
            }
        }
    }

    #[test]
    fn a_printed_tree_parses_to_itself(tree in tree()) {
        let printed = tree.to_query();
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
