//! Turns values of folder fields into plans: `dir:` into a phrase of folder names, `root:` into that of a root,
//! `path:` into a pattern of whole paths.
//!
//! Case and diacritics do not count in the names that a query writes. The index holds one term for each folder of a path, unchanged, after a `/` for the root of the file system. So an
//! absolute path is a phrase that starts with `/`, and any other path may match anywhere.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use ken_core::{Field, Folders, Glob, GlobPart, Pattern, Plan, Span, escape_bytes};

use regex_automata::meta::Regex;

use crate::context::Context;
use crate::spans::span_of;

/// Returns the plan for the value of `dir:`, `path:`, `root:` or `maildir:`.
pub(crate) fn field(field: Field, glob: &Glob, context: &Context) -> Plan {
    match field {
        Field::Path => whole_path(glob, context),
        Field::Root => root(glob, context),
        Field::Maildir => maildir(glob, context),
        _ => plan(glob, context),
    }
}

/// Returns the plan for whole paths that hold a text or match a pattern. The pattern may begin at any folder.
fn whole_path(glob: &Glob, context: &Context) -> Plan {
    let mut pattern = Glob(Vec::new());
    let absolute = at_home(glob, context);
    let glob = absolute.as_ref().unwrap_or(glob);
    let is_text = glob.literal().is_some();
    let begins = match glob.0.first() {
        Some(GlobPart::Literal(text)) => text.starts_with('/'),
        first => matches!(first, None | Some(GlobPart::Many)),
    };
    if is_text || !begins {
        pattern.push(GlobPart::Many);
    }
    if !is_text && !begins {
        pattern.push(GlobPart::Literal("/".to_owned()));
    }
    glob.0.iter().for_each(|part| pattern.push(part.clone()));
    if is_text {
        pattern.push(GlobPart::Many);
    }
    let field = Field::Path;
    match pattern.prefix() {
        Some("") => Plan::All,
        _ => Plan::Match {
            field,
            pattern: Pattern::Glob(pattern),
        },
    }
}

/// Returns the pattern with a `~` or `.` at its beginning replaced by the folder.
fn at_home(glob: &Glob, context: &Context) -> Option<Glob> {
    let (GlobPart::Literal(text), rest) = glob.0.split_first()? else {
        return None;
    };
    let (folder, below) = match text.strip_prefix("~/").zip(context.home.as_ref()) {
        Some((below, home)) => (home, below),
        None => (&context.cwd, text.strip_prefix("./")?),
    };
    let below = Path::new(folder).join(below);
    let mut glob = Glob(Vec::new());
    let text = escape_bytes(below.as_os_str().as_bytes()).into_owned();
    glob.push(GlobPart::Literal(text));
    rest.iter().for_each(|part| glob.push(part.clone()));
    Some(glob)
}

/// Returns the plan for the documents in a root. The value is the last component of the root or its path.
fn root(glob: &Glob, context: &Context) -> Plan {
    let glob = at_home(glob, context).unwrap_or_else(|| glob.clone());
    let Ok(regex) = Regex::new(&glob.to_regex()) else {
        return Plan::Nothing;
    };
    let is_meant = |root: &&PathBuf| {
        let path = escape_bytes(root.as_os_str().as_bytes());
        let name = path.rsplit('/').next().unwrap_or(&path);
        regex.is_match(&*path) || regex.is_match(name)
    };
    let mut plans = Vec::new();
    for root in context.roots.iter().filter(is_meant) {
        let mut names = Vec::new();
        push(&mut names, root);
        plans.push(within(names));
        let path = GlobPart::Literal(escape_bytes(root.as_os_str().as_bytes()).into_owned());
        // A root may be a file; the documents inside it belong to the root too.
        let mut inside = Glob(vec![path.clone()]);
        inside.push(GlobPart::Literal("|".to_owned()));
        inside.push(GlobPart::Many);
        for glob in [Glob(vec![path]), inside] {
            let pattern = Pattern::Glob(glob);
            plans.push(Plan::Match {
                field: Field::Path,
                pattern,
            });
        }
    }
    match plans.len() {
        0 => Plan::Nothing,
        _ => Plan::Or(plans),
    }
}

/// Returns the plan for the messages in the `cur` and `new` of a mail folder. A value that ends in `*` includes all
/// folders below. A `/` at the beginning means the folder of all mail.
fn maildir(glob: &Glob, context: &Context) -> Plan {
    let mut folder = Glob(Vec::new());
    let mut parts = glob.0.as_slice();
    if let Some((GlobPart::Literal(text), rest)) = parts.split_first()
        && let Some(below) = text.strip_prefix('/')
    {
        if let Some(root) = &context.mail_root {
            let root = escape_bytes(root.as_os_str().as_bytes());
            folder.push(GlobPart::Literal(format!("{root}/")));
        }
        folder.push(GlobPart::Literal(below.trim_end_matches('/').to_owned()));
        parts = rest;
    }
    parts.iter().for_each(|part| folder.push(part.clone()));
    if folder.0.last() == Some(&GlobPart::Many) {
        return plan(&folder, context);
    }
    let is_any = folder.0.is_empty();
    let folders = ["/cur", "/new"].map(|name| {
        let mut folder = folder.clone();
        let name = if is_any { &name[1..] } else { name };
        folder.push(GlobPart::Literal(name.to_owned()));
        plan(&folder, context)
    });
    Plan::Or(folders.to_vec())
}

/// Returns the plan for folders in whose name a regular expression matches. The name starts at the folder of all mail;
/// a `maildir` is named without its `cur` and `new`.
pub(crate) fn matching(field: Field, regex: &str, mail_root: Option<&Path>) -> Plan {
    let escaped = |root: &Path| escape_bytes(root.as_os_str().as_bytes()).into_owned();
    Plan::Match {
        field,
        pattern: Pattern::Folder(Folders {
            expression: regex.to_owned(),
            all_mail: mail_root.map(escaped),
            is_maildir: field == Field::Maildir,
        }),
    }
}

/// Returns the plan for a folder as a query writes it: `/home/a`, `~/docs`, `./src`, `projects/ken`, `proj*/src`.
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
    // `dir:src/*` asks for everything below `src`, as `dir:src` does.
    while matches!(parts.last().and_then(Glob::prefix), Some("")) {
        parts.pop();
    }
    for part in parts {
        match (part.literal(), part.prefix()) {
            (Some("" | "."), _) => {}
            (Some(".."), _) => up(&mut names),
            _ if has_letters(&part) => names.push(Pattern::Name(part)),
            (Some(name), _) => names.push(Pattern::Term(name.to_owned())),
            (_, Some(prefix)) => names.push(Pattern::Prefix(prefix.to_owned())),
            _ => names.push(Pattern::Glob(part)),
        }
    }
    within(names)
}

/// Returns the plan for everything below a folder, whose names must be the same to the letter.
pub fn below(folder: &Path) -> Plan {
    let mut names = Vec::new();
    push(&mut names, folder);
    within(names)
}

fn has_letters(glob: &Glob) -> bool {
    let is_letter = |part: &GlobPart| match part {
        GlobPart::Literal(text) => text.chars().any(char::is_alphabetic),
        _ => false,
    };
    glob.0.iter().any(is_letter)
}

/// Returns the plan for everything below the folders with these names, one in the other.
fn within(names: Vec<Pattern>) -> Plan {
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

/// Adds the names of a path from the root, without asking the disk: links are not followed.
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
