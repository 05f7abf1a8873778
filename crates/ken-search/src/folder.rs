//! `dir:` → a phrase of folder names.
//!
//! The index holds a path as one term for each folder, as it stands, after a `/` for the root;
//! so an absolute path is a phrase that starts with `/`, any other one that may stand anywhere.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use ken_core::{Field, Glob, GlobPart, Pattern, Plan, Span, escape_bytes};

use crate::plan::{Context, span_of};

/// Returns the plan for a folder as it is written in a query: `/home/a`, `~/docs`, `./src`,
/// `projects/ken`, `proj*/src`.
pub(crate) fn plan(glob: &Glob, context: &Context) -> Plan {
    let mut parts = components(glob);
    let mut names: Vec<Pattern> = Vec::new();
    let first = parts.first().and_then(Glob::literal);
    match (first, &context.home) {
        (Some("~"), Some(home)) => {
            push(&mut names, home);
            parts.remove(0);
        }
        (Some("." | ".."), _) => push(&mut names, &context.cwd),
        // An absolute path starts with an empty name.
        (Some(""), _) if parts.len() > 1 => names.push(Pattern::Term("/".to_owned())),
        _ => {}
    }
    // `dir:src/*` asks for anything below `src`, as `dir:src` does.
    while matches!(parts.last().and_then(Glob::prefix), Some("")) {
        parts.pop();
    }
    for part in parts {
        match (part.literal(), part.prefix()) {
            (Some("" | "."), _) => {}
            (Some(".."), _) => up(&mut names),
            (Some(name), _) => names.push(Pattern::Term(name.to_owned())),
            (_, Some(prefix)) => names.push(Pattern::Prefix(prefix.to_owned())),
            _ => names.push(Pattern::Glob(part)),
        }
    }
    let field = Field::Dir;
    match span_of((0..).zip(names).collect()) {
        None => Plan::All,
        Some(Span::Match(pattern)) => Plan::Match { field, pattern },
        Some(span) => Plan::Span { field, span },
    }
}

/// Splits a pattern at its slashes.
fn components(glob: &Glob) -> Vec<Glob> {
    let mut parts = vec![Glob(Vec::new())];
    for part in &glob.0 {
        let GlobPart::Literal(text) = part else {
            if let Some(last) = parts.last_mut() {
                last.push(part.clone());
            }
            continue;
        };
        for (number, name) in text.split('/').enumerate() {
            if number > 0 {
                parts.push(Glob(Vec::new()));
            }
            if let Some(last) = parts.last_mut() {
                last.push(GlobPart::Literal(name.to_owned()));
            }
        }
    }
    parts
}

/// Walks a path from the root, without asking the disk: links are not followed.
fn push(names: &mut Vec<Pattern>, path: &Path) {
    for component in path.components() {
        match component {
            Component::RootDir => {
                names.clear();
                names.push(Pattern::Term("/".to_owned()));
            }
            Component::ParentDir => up(names),
            Component::Normal(name) => {
                names.push(Pattern::Term(escape_bytes(name.as_bytes()).into_owned()));
            }
            _ => {}
        }
    }
}

fn up(names: &mut Vec<Pattern>) {
    if names
        .last()
        .is_some_and(|name| *name != Pattern::Term("/".to_owned()))
    {
        names.pop();
    }
}
