//! Modules of a crate use each other in one direction only, without circles.
//!
//! Source files are read as text: paths that begin with `crate`, `self` or `super` are edges between modules, and names
//! that a module re-exports count for the module that defines them. The modules in one folder are compared with each
//! other, folder by folder; a folder counts as one module among those beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::layout::{EDGES, sources, workspace};

/// The names from a crate's root to a module or to an item in it.
type Names = Vec<String>;

/// The modules of a crate.
#[derive(Default)]
struct Modules {
    /// The code of each module, without comments and tests.
    code: BTreeMap<Names, String>,
    /// For each module the names that it re-exports, and their targets.
    exports: BTreeMap<Names, BTreeMap<String, Names>>,
}

#[test]
fn modules_have_no_circles() {
    for (name, _) in EDGES {
        let circles = Modules::read(&workspace().join("crates").join(name).join("src")).circles();
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

#[test]
fn circles_are_found() {
    let modules = Modules::of(&[
        ("lib.rs", "mod a; mod b; mod c; pub use b::Thing;"),
        (
            "a.rs",
            "use std::io;\nuse crate::{Thing, c::{self, Other}};",
        ),
        ("b/mod.rs", "mod low; mod high; pub use self::low::Thing;"),
        ("b/low.rs", "pub struct Thing; // see super::high::up"),
        (
            "b/high.rs",
            "use super::Thing;\n#[cfg(test)]\nmod tests { use crate::a; }",
        ),
        ("c.rs", "fn f() { crate::b::high::up() }"),
    ]);
    assert_eq!(modules.circles(), Vec::<String>::new());
    let modules = Modules::of(&[
        ("lib.rs", "mod a; mod b; pub use b::Thing;"),
        ("a.rs", "use crate::{Error, Thing};"),
        (
            "b/mod.rs",
            "mod low; mod high; pub struct Thing; pub(crate) use high::up as top;",
        ),
        ("b/low.rs", "use super::top;"),
        ("b/high.rs", "fn up() { super::low::f(); crate::a::f() }"),
    ]);
    assert_eq!(modules.circles(), ["a b", "b: high low"]);
}

impl Modules {
    fn read(src: &Path) -> Self {
        let mut modules = Self::default();
        for file in sources(src) {
            let text = fs_err::read_to_string(&file).unwrap();
            modules.add(file.strip_prefix(src).unwrap(), &text);
        }
        modules
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let mut modules = Self::default();
        for (path, text) in files {
            modules.add(Path::new(path), text);
        }
        modules
    }

    fn add(&mut self, path: &Path, text: &str) {
        let path = path.with_extension("");
        let mut module: Names = path
            .iter()
            .map(|name| name.to_str().unwrap().into())
            .collect();
        if module.iter().any(|name| name == "tests" || name == "bin") {
            return;
        }
        module.pop_if(|name| ["mod", "lib", "main"].contains(&name.as_str()));
        let code = without_comments_and_tests(text);
        self.exports.insert(module.clone(), exports(&module, &code));
        self.code.insert(module, code);
    }

    /// Returns the circles of each folder, as its name and the modules that are in one circle.
    fn circles(&self) -> Vec<String> {
        let mut uses: BTreeMap<Names, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, code) in &self.code {
            for path in paths(module, code) {
                let used = self.resolved(path);
                let n_common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
                let Some(user) = module.get(n_common) else {
                    continue;
                };
                let is_module = |end| self.code.contains_key(&used[..end]);
                if let Some(other) = used.get(n_common).filter(|_| is_module(n_common + 1)) {
                    let folder = uses.entry(module[..n_common].to_vec()).or_default();
                    folder
                        .entry(user.clone())
                        .or_default()
                        .insert(other.clone());
                }
            }
        }
        let mut found = Vec::new();
        for (folder, uses) in &uses {
            let prefix = match folder.join("::") {
                folder if folder.is_empty() => folder,
                folder => format!("{folder}: "),
            };
            let circles = circles_among(uses).into_iter();
            found.extend(circles.map(|circle| format!("{prefix}{}", circle.join(" "))));
        }
        found
    }

    /// Follows re-exports to the module that defines what a path names.
    fn resolved(&self, mut path: Names) -> Names {
        // More steps mean a circle of re-exports.
        for _ in 0..8 {
            let export = (0..path.len()).find_map(|at| {
                let names = self.exports.get(&path[..at])?;
                let target = names.get(&path[at])?;
                Some(target.iter().chain(&path[at + 1..]).cloned().collect())
            });
            match export {
                Some(next) if next != path => path = next,
                _ => break,
            }
        }
        path
    }
}

/// Returns the groups of modules that use each other, directly or not.
fn circles_among(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut waiting: Vec<&String> = uses[from].iter().collect();
        while let Some(next) = waiting.pop() {
            if reached.insert(next.clone()) {
                waiting.extend(uses.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let all: BTreeMap<&String, BTreeSet<String>> = uses
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let mut circles = BTreeSet::new();
    for (module, reached) in &all {
        let returns = |other: &&String| all.get(other).is_some_and(|of| of.contains(*module));
        let circle: Vec<String> = reached.iter().filter(returns).cloned().collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// Returns the code of a file up to its tests, without earlier items that are for tests only.
fn without_comments_and_tests(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.push_str(line);
            code.push('\n');
        } else if lines
            .next()
            .is_some_and(|item| item.starts_with("mod tests {"))
        {
            break;
        }
    }
    code
}

/// Returns what a module re-exports, by name.
fn exports(module: &[String], code: &str) -> BTreeMap<String, Names> {
    let mut exports = BTreeMap::new();
    for start in ["pub use ", "pub(crate) use ", "pub(super) use "] {
        for (at, _) in code.match_indices(start) {
            for (path, name) in leaves(&code[at + start.len()..]) {
                exports.extend(absolute(module, &path).map(|path| (name, path)));
            }
        }
    }
    exports
}

/// Returns the paths within the crate that the code names, from the crate's root.
fn paths(module: &[String], code: &str) -> Vec<Names> {
    let mut paths = Vec::new();
    for start in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|before| before.is_alphanumeric() || "_:$".contains(before)) {
                continue;
            }
            let leaves = leaves(&code[at..]).into_iter();
            paths.extend(leaves.filter_map(|(path, _)| absolute(module, &path)));
        }
    }
    paths.retain(|path| !path.is_empty());
    paths
}

/// Returns a path from the crate's root. A relative path begins at a child of the module.
fn absolute(module: &[String], path: &[String]) -> Option<Names> {
    let n_super = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        _ => (
            &module[..module.len().checked_sub(n_super)?],
            &path[n_super..],
        ),
    };
    let rest = rest.iter().filter(|name| *name != "self");
    Some(base.iter().chain(rest).cloned().collect())
}

/// Returns the paths of a tree such as `a::{b, c::d as e}`, each with the name that it introduces.
fn leaves(tree: &str) -> Vec<(Names, String)> {
    let (mut path, mut rest) = (Names::new(), tree);
    loop {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(after) if after.starts_with('{') => {
                let inner = in_braces(after).into_iter().flat_map(leaves);
                let whole = inner.map(|(below, name)| ([path.clone(), below].concat(), name));
                return whole.collect();
            }
            Some(after) if after.starts_with(is_name) => rest = after,
            _ => break,
        }
    }
    let name = match rest.strip_prefix(" as ") {
        Some(name) => name.split([',', ';', '}', '\n']).next().unwrap_or_default(),
        None => path.last().map_or("", String::as_str),
    };
    let name = name.to_owned();
    vec![(path, name)]
}

/// Returns the parts of the list in braces at the start of the text.
fn in_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 1);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && letter == ',' {
            parts.push(text[start..at].trim());
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
