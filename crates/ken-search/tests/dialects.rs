//! Tests `docs/dialects.md` and the table of `docs/query.md`: each operator of Recoll, mu and notmuch has the meaning
//! of the form next to it in ken's language, and unsupported operators are refused.

#![allow(clippy::disallowed_methods)] // tests read files of the repository

mod support;

use std::path::Path;

use ken_search::parse::{Syntax, Tree, recoll_words, without_forms};
use ken_search::plan::plan;
use proptest::prelude::*;

const DIALECTS: [(&str, Syntax); 3] = [
    ("Recoll", Syntax::Recoll),
    ("mu", Syntax::Mu),
    ("notmuch", Syntax::Notmuch),
];

/// A line of a table: queries, their meanings, and the line itself.
struct Row {
    syntax: Syntax,
    queries: Vec<String>,
    ken: Option<String>,
    refused: bool,
    line: String,
}

fn code(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn document(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns the cells of a line of a table.
fn cells(inside: &str) -> Vec<String> {
    let inside = inside.replace("\\|", "\u{1}");
    let cells = inside.split('|');
    cells.map(|cell| cell.replace('\u{1}', "|")).collect()
}

fn rows() -> Vec<Row> {
    let text = document("dialects.md");
    let mut rows = Vec::new();
    let mut syntax = None;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            syntax = DIALECTS
                .iter()
                .find(|(name, _)| *name == title)
                .map(|(_, of)| *of);
        }
        let Some(inside) = line.strip_prefix("| `") else {
            continue;
        };
        let cells = cells(&format!("`{inside}"));
        rows.push(Row {
            syntax: syntax.expect("a table below the title of a program"),
            queries: code(&cells[0]),
            ken: code(&cells[1]).pop(),
            refused: cells[1].trim() == "—",
            line: line.to_owned(),
        });
    }
    rows
}

/// Returns the tree of ken's form, with what the languages of mail programs add.
fn expected(row: &Row, ken: &str) -> Tree {
    let tree = Syntax::Ken
        .parse(ken)
        .unwrap_or_else(|e| panic!("{}\n{}", row.line, e.report()));
    if row.syntax == Syntax::Recoll || ken.contains("type:message") {
        return tree;
    }
    // Other conditions on a message do not apply to its parts; words match in parts too.
    let says_more = |word: &str| {
        let word = word.trim_start_matches('(');
        let name = word.split_once(':').map_or("", |(name, _)| name);
        let is_field = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        word.starts_with('-') || is_field && name != "body" || word == "XOR" || word == "*"
    };
    let is_words = !ken.split(' ').any(says_more);
    let messages = if is_words {
        "type:message"
    } else {
        "type:message -is:attachment"
    };
    let messages = Syntax::Ken.parse(messages).unwrap();
    match tree {
        Tree::All => messages,
        tree => Tree::and(vec![tree, messages]),
    }
}

fn problem(row: &Row, query: &str) -> Option<String> {
    let read = row.syntax.parse(query);
    match (read, &row.ken, row.refused) {
        (Err(error), None, true) if !error.message.is_empty() => None,
        (Ok(tree), _, true) => Some(format!("is understood as {tree}")),
        (Err(error), ..) => Some(error.report()),
        (Ok(tree), Some(ken), false) => {
            let expected = expected(row, ken);
            (tree != expected).then(|| format!("is        {tree}\nshould be {expected}"))
        }
        // Without a form, the same query has the same meaning.
        (Ok(tree), None, false) => {
            let same = expected(row, query);
            (tree != same).then(|| format!("is        {tree}\nshould be {same}"))
        }
    }
}

#[test]
fn every_operator_means_what_the_manual_says() {
    let rows = rows();
    let mut wrong = String::new();
    for row in &rows {
        assert!(!row.queries.is_empty(), "{}", row.line);
        for query in &row.queries {
            if let Some(problem) = problem(row, query) {
                wrong.push_str(&format!("\n{}\n{query}\n{problem}\n", row.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for (name, syntax) in DIALECTS {
        let n_rows = rows.iter().filter(|row| row.syntax == syntax).count();
        assert!(n_rows > 30, "{name}: {n_rows}");
    }
}

/// Returns the lines of one table of `docs/query.md`, as cells.
fn table(header: &str) -> Vec<Vec<String>> {
    let text = document("query.md");
    let lines = text.lines().skip_while(|line| *line != header).skip(2);
    let lines = lines.take_while(|line| line.starts_with("| "));
    lines.map(|line| cells(&line[2..])).collect()
}

/// Returns what a query asks the index for; mail programs do not stem words as ken does.
fn asked(syntax: Syntax, tree: Tree) -> String {
    let tree = match syntax {
        Syntax::Mu | Syntax::Notmuch => without_forms(tree),
        _ => tree,
    };
    plan(&tree, &support::context()).to_string()
}

#[test]
fn every_operator_stands_beside_that_of_ken() {
    let mut wrong = String::new();
    let mut n_queries = [0; 3];
    for cells in table("| ken | Recoll | mu | notmuch |") {
        let kens = code(&cells[0]);
        for (number, (_, syntax)) in DIALECTS.iter().enumerate() {
            for (index, query) in code(&cells[number + 1]).into_iter().enumerate() {
                // Several forms of ken's language mean one query of the program each.
                let ken = if kens.len() > 1 {
                    &kens[index]
                } else {
                    &kens[0]
                };
                let row = Row {
                    syntax: *syntax,
                    queries: Vec::new(),
                    ken: None,
                    refused: false,
                    line: cells.join("|"),
                };
                let expected = asked(*syntax, expected(&row, ken));
                match syntax.parse(&query).map(|tree| asked(*syntax, tree)) {
                    Ok(found) if found == expected => {}
                    Ok(found) => wrong.push_str(&format!("\n{query}\n{found}\n{expected}\n")),
                    Err(error) => wrong.push_str(&error.report()),
                }
                n_queries[number] += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_queries.iter().all(|n| *n > 40), "{n_queries:?}");
}

#[test]
fn what_is_left_out_is_refused() {
    let rows = table("| of | left out | why, and what to write |");
    assert!(rows.len() > 8);
    for cells in rows {
        let known = DIALECTS.iter().find(|(name, _)| *name == cells[0].trim());
        let (_, syntax) = known.expect("the name of a program");
        for query in code(&cells[1]) {
            let read = syntax.parse(&query);
            assert!(read.is_err(), "{query} is understood as {read:?}");
        }
    }
}

/// The names of mu's, notmuch's and Recoll's fields, from their manuals; but `folder`, for which ken's language has no
/// form.
#[test]
fn every_field_has_a_line() {
    let rows = table("| ken | Recoll | mu | notmuch |");
    let left_out = table("| of | left out | why, and what to write |");
    for (number, names) in [
        "title subject caption author from recipient to keyword filename fn ext text dir date mime \
         format type rclcat issub size containerfilename cfn rclmd5 rclbes",
        "bcc h body b cc c changed k date d embed e file j flag g from f language a maildir m list v \
         msgid i mime y path l prio p references r size z subject s tag x thread w to t label q recip \
         contact related",
        "body from to subject attachment mimetype tag is id mid thread path date lastmod query property \
         sexp",
    ]
    .iter()
    .enumerate()
    {
        let own = rows.iter().map(|cells| &cells[number + 1]);
        let named = |cells: &&Vec<String>| cells[0].trim() == DIALECTS[number].0;
        let others = left_out.iter().filter(named).map(|cells| &cells[1]);
        let queries: Vec<String> = own.chain(others).flat_map(|cell| code(cell)).collect();
        for name in names.split(' ') {
            let has = |query: &String| {
                let mut words = query.split([' ', '(', '-', '{', '"']);
                words.any(|word| {
                    let rest = word.strip_prefix(name);
                    rest.is_some_and(|rest| rest.starts_with([':', '<', '>', '=']))
                })
            };
            assert!(queries.iter().any(has), "{} of {}", name, DIALECTS[number].0);
        }
    }
}

/// Operators without a form in ken's language.
#[test]
fn what_only_a_dialect_says_is_understood() {
    for (syntax, query, tree) in [
        (Syntax::Recoll, "^floors", r#"(start unstemmed "floors")"#),
        (Syntax::Recoll, "floors$", r#"(end unstemmed "floors")"#),
        (
            Syntax::Mu,
            "maildir:/^.lists/",
            r#"(maildir (regex "^.lists"))"#,
        ),
        (
            Syntax::Notmuch,
            "folder:/^lists$/",
            r#"(maildir (regex "^lists$"))"#,
        ),
        (
            Syntax::Notmuch,
            "folder:\"/lists.dev/\"",
            r#"(maildir (regex "lists.dev"))"#,
        ),
        (
            Syntax::Notmuch,
            "path:/inbox.cur/",
            r#"(dir (regex "inbox.cur"))"#,
        ),
        (
            Syntax::Notmuch,
            "path:lists/a.b",
            r#"(dir (regex "^lists/a\\.b$"))"#,
        ),
        (Syntax::Notmuch, "path:\"\"", r#"(dir (regex "^$"))"#),
        (
            Syntax::Notmuch,
            "folder:Inbox",
            r#"(or (maildir "/Inbox") (dir (regex "^Inbox$")))"#,
        ),
        (
            Syntax::Notmuch,
            "folder:\"\"",
            r#"(or (maildir "/") (dir (regex "^$")))"#,
        ),
        (
            Syntax::Notmuch,
            "from:\"/Bob B/\"",
            r#"(author (whole "Bob B"))"#,
        ),
        (
            Syntax::Notmuch,
            "subject:\"\"",
            r#"(not (title (prefix "")))"#,
        ),
        (Syntax::Notmuch, "to:/bob/", r#"(to (regex "bob"))"#),
        (
            Syntax::Mu,
            "s:/^a.*b/",
            r#"(or (title (regex "^a.*b")) (title (whole "^a.*b")))"#,
        ),
        (
            Syntax::Mu,
            "/a.b/",
            r#"(or (regex "a.b") (title (whole "a.b")) (author (whole "a.b"))"#,
        ),
        (Syntax::Mu, "body:/a.b/", r#"(and (body (regex "a.b"))"#),
        (Syntax::Mu, "size:2m..1k", "(size [1024 2097152])"),
        (
            Syntax::Mu,
            r"maildir:/Sent\ Items",
            r#"(maildir "/Sent Items")"#,
        ),
        (Syntax::Mu, r#"s:a\"b"#, r#"(phrase "a\"b")"#),
        (Syntax::Mu, r"tag:\\a", r#"(tag "\\a")"#),
    ] {
        let found = syntax
            .parse(query)
            .unwrap_or_else(|e| panic!("{}", e.report()));
        assert!(found.to_string().contains(tree), "{query}: {found}");
    }
}

#[test]
fn mistakes_are_marked() {
    for (syntax, query, part) in [
        (Syntax::Recoll, "a (b", "("),
        (Syntax::Recoll, "a )", ")"),
        (Syntax::Recoll, "a -(b)", "-("),
        (Syntax::Recoll, "OR a", "OR"),
        (Syntax::Recoll, "a AND", ""),
        (Syntax::Recoll, "a \"b c", "\""),
        (Syntax::Recoll, "\"a b\"z", "z"),
        (Syntax::Recoll, "size>big", "big"),
        (Syntax::Recoll, "a size:10", "10"),
        (Syntax::Recoll, "type:poem", "poem"),
        (Syntax::Recoll, "date:never", "never"),
        (Syntax::Recoll, "title:", "title:"),
        (Syntax::Mu, "a (b", "("),
        (Syntax::Mu, "a) b", ")"),
        (Syntax::Mu, "é \"b", "\""),
        (Syntax::Mu, "x flag:unripe", "flag:unripe"),
        (Syntax::Mu, "prio:urgent", "prio:urgent"),
        (Syntax::Mu, "date:2025..never", "date:2025..never"),
        (Syntax::Notmuch, "a or", ""),
        (Syntax::Notmuch, "a and and b", "and"),
        (Syntax::Notmuch, "x lastmod:1..", "lastmod:"),
        (Syntax::Notmuch, "thread:{a", "{"),
        (Syntax::Notmuch, "a near (b c)", "a near (b c)"),
    ] {
        let error = syntax.parse(query).expect_err(query);
        assert_eq!(&query[error.at.clone()], part, "{query}: {error}");
    }
}

#[test]
fn deep_and_long_queries_are_refused() {
    for (_, syntax) in DIALECTS {
        for piece in ["(", "not ", "body:(", "a xor ", "-", "a "] {
            let query = format!("{}a", piece.repeat(5000));
            let _ = syntax.parse(&query);
        }
        assert!(
            syntax
                .parse(&format!("{}a{}", "(".repeat(99), ")".repeat(99)))
                .is_err()
        );
        assert!(syntax.parse(&"a ".repeat(2000)).is_err());
        assert!(syntax.parse(&"a".repeat(70_000)).is_err());
    }
}

proptest! {
    #[test]
    fn no_query_panics(query in "[ab:\"()/*^$~{}<>=.,!@é0-9 -]{0,24}|(and|or|not|NEAR|date:|size:|from:|mime:|[ (\")/a]){0,12}|date:([0-9]{1,4}|[-_/.,:+!éa]|pm|noon|jul|fri|24:00){0,12}|[\"\\\\^$ éa*]{0,12}|date:5pm_[+][0-9é:]{1,4}") {
        for (_, syntax) in DIALECTS {
            if let Err(error) = syntax.parse(&query) {
                let _ = error.report();
            }
        }
        if let Err(error) = recoll_words(&query) {
            let _ = error.report();
        }
    }
}
