//! `dir:` → a phrase of folder names.
//!
//! The index holds a path as one term for each folder, as it stands, after a `/` for the root;
//! so an absolute path is a phrase that starts with `/`, any other one that may stand anywhere.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use ken_core::{Field, Plan, escape_bytes};

use crate::plan::{Context, phrase};

/// Returns the plan for a folder as it is written in a query: `/home/a`, `~/docs`, `./src`,
/// `projects/ken`.
pub(crate) fn plan(text: &str, prefix_last: bool, context: &Context) -> Plan {
    let mut names = Vec::new();
    let rest = match (text, text.split_once('/'), &context.home) {
        ("~", _, Some(home)) => {
            push(&mut names, home);
            ""
        }
        (_, Some(("~", rest)), Some(home)) => {
            push(&mut names, home);
            rest
        }
        ("." | "..", _, _) | (_, Some(("." | "..", _)), _) => {
            push(&mut names, &context.cwd);
            text
        }
        _ => text,
    };
    push(&mut names, Path::new(OsStr::new(rest)));
    // `dir:src/*` asks for anything below `src`, as `dir:src` does.
    let prefix_last = prefix_last && !text.ends_with('/');
    let terms = (0..).zip(names).collect();
    phrase(Field::Dir, terms, prefix_last).unwrap_or(Plan::All)
}

/// Walks a path from where `names` are, without asking the disk: links are not followed.
fn push(names: &mut Vec<String>, path: &Path) {
    for component in path.components() {
        match component {
            Component::RootDir => {
                names.clear();
                names.push("/".to_owned());
            }
            Component::ParentDir if names.last().is_some_and(|name| name != "/") => {
                names.pop();
            }
            Component::Normal(name) => names.push(escape_bytes(name.as_bytes()).into_owned()),
            _ => {}
        }
    }
}
