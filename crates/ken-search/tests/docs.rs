//! Tests that the manual's table of fields is the program's, and that its examples are queries.

#![allow(clippy::disallowed_methods)] // tests read files of the repository

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ken_core::{FIELDS, FieldInfo, FieldKind};
use ken_search::parse::parse;

const START: &str = "<!-- fields: made from the table of fields by a test; \
                     UPDATE_DOCS=1 cargo test -p ken-search --test docs -->\n";
const END: &str = "<!-- end of fields -->";

fn manual() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/query.md")
}

fn table() -> String {
    let mut table =
        String::from("| field | other names | holds | takes | example |\n|---|---|---|---|---|\n");
    for info in FIELDS {
        row(&mut table, info);
    }
    table
}

fn row(table: &mut String, info: &FieldInfo) {
    let aliases: Vec<String> = info
        .aliases
        .iter()
        .map(|alias| format!("`{alias}`"))
        .collect();
    let takes = match info.kind {
        FieldKind::Text => "text",
        FieldKind::Keyword => "keyword",
        FieldKind::Path => "folder",
        FieldKind::Date => "date",
        FieldKind::Size => "size",
        FieldKind::Number => "number",
    };
    writeln!(
        table,
        "| `{}` | {} | {} | {takes} | `{}` |",
        info.name,
        aliases.join(", "),
        info.description,
        info.example
    )
    .unwrap();
}

#[test]
fn the_manual_has_the_table_of_fields() {
    let text = std::fs::read_to_string(manual()).unwrap();
    let (before, rest) = text.split_once(START).expect("start of the table");
    let (committed, after) = rest.split_once(END).expect("end of the table");
    let table = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(manual(), format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        committed, table,
        "docs/query.md is old: run UPDATE_DOCS=1 cargo test -p ken-search --test docs"
    );
}

#[test]
fn every_example_of_a_field_is_a_query() {
    for info in FIELDS {
        let tree = parse(info.example).unwrap_or_else(|error| panic!("{}", error.report()));
        assert!(tree.to_string().starts_with(&format!("({} ", info.name)));
    }
}

/// Tests every piece of code in the first column of a table.
#[test]
fn every_query_of_the_manual_is_one() {
    let text = std::fs::read_to_string(manual()).unwrap();
    let (before, rest) = text.split_once(START).expect("start of the table");
    let (_, after) = rest.split_once(END).expect("end of the table");
    let mut queries = 0;
    for line in before.lines().chain(after.lines()) {
        let Some((column, _)) = line.strip_prefix("| ").and_then(|l| l.split_once(" | ")) else {
            continue;
        };
        for query in column.replace("\\|", "|").split('`').skip(1).step_by(2) {
            parse(query).unwrap_or_else(|error| panic!("{}", error.report()));
            queries += 1;
        }
    }
    assert!(queries > 30, "{queries}");
}
