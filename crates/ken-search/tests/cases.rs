//! Tests `cases/query/*.toml`: each query gives a tree and a plan, or a mistake and its position.
//!
//! A new case can be written as its query alone: the test prints the values that a case leaves out.

#![allow(clippy::disallowed_methods)] // tests read files of the repository

mod support;

use std::path::Path;

use ken_core::{FIELDS, FieldNames};
use ken_search::parse::{Names, QueryError, Saved, Tree, parse, parse_lenient, parse_with};
use ken_search::plan::plan;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Saved queries, by name.
    #[serde(default)]
    queries: Saved,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    query: String,
    #[serde(skip)]
    saved: Saved,
    /// The tree as an s-expression.
    tree: Option<String>,
    /// The plan as an s-expression.
    plan: Option<String>,
    /// A part of the message.
    error: Option<String>,
    /// The text at the position of the mistake.
    at: Option<String>,
    /// A part of the hint.
    hint: Option<String>,
    /// What `--lenient` reads of a query with a mistake, as an s-expression.
    lenient: Option<String>,
    /// What `--lenient` leaves out.
    left_out: Option<Vec<String>>,
}

impl Case {
    fn names(&self) -> Names<'_> {
        Names {
            saved: &self.saved,
            ..Names::default()
        }
    }
}

fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/query");
    let mut cases = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let file: File = toml::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            for mut case in file.case {
                case.saved.clone_from(&file.queries);
                cases.push((name.clone(), case));
            }
        }
    }
    cases
}

fn check(case: &Case) -> Result<(), String> {
    match (parse_with(&case.query, case.names()), &case.error) {
        (Ok(tree), None) => check_tree(case, &tree),
        (Err(error), Some(expected)) => check_error(case, &error, expected),
        (Ok(tree), Some(_)) => Err(format!("is understood as {tree}")),
        (Err(error), None) => Err(error.report()),
    }
}

fn check_tree(case: &Case, tree: &Tree) -> Result<(), String> {
    let plan = plan(tree, &support::context()).to_string();
    let tree_differs = same("tree", case.tree.as_deref(), &tree.to_string());
    let plan_differs = same("plan", case.plan.as_deref(), &plan);
    let differ = [tree_differs, plan_differs]
        .into_iter()
        .filter_map(Result::err);
    let differ: Vec<String> = differ.collect();
    if !differ.is_empty() {
        return Err(differ.join("\n"));
    }
    let query = tree.to_query(&FieldNames::TABLE);
    match parse(&query) {
        Ok(again) if again == *tree => Ok(()),
        Ok(again) => Err(format!("prints as {query:?}, which is {again}")),
        Err(error) => Err(format!("prints as {query:?}: {}", error.report())),
    }
}

fn same(what: &str, expected: Option<&str>, actual: &str) -> Result<(), String> {
    match expected {
        Some(expected) if expected == actual => Ok(()),
        Some(expected) => Err(format!(
            "{what}\n  is       {actual}\n  should be {expected}"
        )),
        None => Err(format!("{what} = '''{actual}'''")),
    }
}

fn check_error(case: &Case, error: &QueryError, expected: &str) -> Result<(), String> {
    let source = &case.query[error.at.clone()];
    let right = error.message.contains(expected)
        && case.at.as_deref() == Some(source)
        && case
            .hint
            .as_deref()
            .is_none_or(|hint| error.hint.as_deref().unwrap_or("").contains(hint));
    if !right {
        return Err(format!("at {source:?}: {}", error.report()));
    }
    let lenient = parse_lenient(&case.query, case.names());
    let tree = lenient
        .tree
        .map_or("nothing".to_owned(), |tree| tree.to_string());
    let left_out: Vec<String> = lenient.left_out.into_iter().map(|left| left.text).collect();
    let left_out_right = case
        .left_out
        .as_ref()
        .is_none_or(|expected| *expected == left_out);
    match &case.lenient {
        Some(expected) if *expected != tree || !left_out_right => {
            Err(format!("lenient = '''{tree}'''\nleft_out = {left_out:?}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn every_case_holds() {
    let cases = cases();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    let mut wrong = String::new();
    for (file, case) in &cases {
        if let Err(problem) = check(case) {
            wrong.push_str(&format!("\n{file}: {}\n{problem}\n", case.query));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_name_of_every_field_has_a_case() {
    let cases = cases();
    for info in FIELDS {
        for name in std::iter::once(&info.name).chain(info.aliases) {
            let start = format!("{name}:");
            assert!(
                cases.iter().any(|(_, case)| case.query.contains(&start)),
                "no case asks for {start}"
            );
        }
    }
}
