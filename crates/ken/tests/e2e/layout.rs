//! The workspace's own rules: crate edges, who may speak, and that the documents are true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use ken_core::{FIELDS, MESSAGE_STATES, StateSource};

use crate::world::World;

/// Each crate with the crates of the workspace that it may use.
pub(crate) const EDGES: &[(&str, &[&str])] = &[
    (
        "ken",
        &[
            "api", "cluster", "desktop", "mcp", "web", "tui", "server", "pipeline", "search",
            "grep", "extract", "index", "engine", "watch", "walk", "mail", "private", "core",
        ],
    ),
    (
        "ken-server",
        &[
            "pipeline", "search", "index", "engine", "mail", "private", "core",
        ],
    ),
    (
        "ken-pipeline",
        &[
            "walk", "extract", "index", "engine", "mail", "ngram", "private", "core",
        ],
    ),
    ("ken-search", &["index", "engine", "mail", "core"]),
    ("ken-grep", &["index", "engine", "walk", "ngram", "core"]),
    ("ken-extract", &["mail", "private", "core"]),
    ("ken-index", &["conformance", "engine", "private", "core"]),
    ("ken-conformance", &["engine", "core"]),
    (
        "ken-cluster",
        &["index", "engine", "mail", "conformance", "core"],
    ),
    ("ken-engine", &["core"]),
    ("ken-watch", &["walk", "core"]),
    ("ken-walk", &["private", "core"]),
    ("ken-mail", &["core"]),
    ("ken-ngram", &["private", "core"]),
    ("ken-mcp", &["api", "search", "engine", "walk", "core"]),
    (
        "ken-web",
        &["api", "search", "engine", "extract", "mail", "walk", "core"],
    ),
    ("ken-desktop", &["search", "core"]),
    ("ken-tui", &["api", "search", "engine", "core"]),
    ("ken-api", &["private", "core"]),
    ("ken-private", &[]),
    ("ken-core", &[]),
];

/// Returns the root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    fs_err::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

fn read(path: &str) -> String {
    fs_err::read_to_string(workspace().join(path)).unwrap()
}

#[test]
fn crates_use_only_those_that_they_may() {
    let folders = fs_err::read_dir(workspace().join("crates")).unwrap();
    let crates: BTreeSet<_> = folders
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<_> = EDGES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(crates, known);
    for (name, allowed) in EDGES {
        let manifest: toml::Table = read(&format!("crates/{name}/Cargo.toml")).parse().unwrap();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = manifest.get(section) else {
                continue;
            };
            for dependency in dependencies.as_table().unwrap().keys() {
                let Some(other) = dependency.strip_prefix("ken-") else {
                    continue;
                };
                assert!(allowed.contains(&other), "{name} may not use ken-{other}");
            }
        }
    }
}

#[test]
fn the_diagram_of_the_crates_is_true() {
    let text = read("ARCHITECTURE.md");
    let diagram = text.split("```mermaid\ngraph TD\n").nth(1).unwrap();
    let drawn: BTreeSet<_> = diagram
        .lines()
        .map_while(|line| line.trim().split_once(" --> "))
        .collect();
    let allowed: BTreeSet<_> = EDGES
        .iter()
        .flat_map(|(name, uses)| {
            uses.iter()
                .map(|used| (name.trim_start_matches("ken-"), *used))
        })
        .filter(|(_, used)| *used != "core")
        .collect();
    assert_eq!(drawn, allowed);
}

/// Returns all source files of a crate.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn libraries_neither_print_nor_read_the_environment() {
    const FORBIDDEN: [&str; 8] = [
        "println!(",
        "eprintln!(",
        "print!(",
        "dbg!(",
        "env::var",
        "env::home_dir",
        "process::exit",
        "io::stdout()",
    ];
    for (name, _) in EDGES.iter().filter(|(name, _)| *name != "ken") {
        for file in sources(&workspace().join("crates").join(name).join("src")) {
            let text = fs_err::read_to_string(&file).unwrap();
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

#[test]
fn no_crate_includes_what_its_package_lacks() {
    for entry in fs_err::read_dir(workspace().join("crates")).unwrap() {
        let package = entry.unwrap().path();
        for file in sources(&package.join("src")) {
            let text = fs_err::read_to_string(&file).unwrap();
            let depth = file.strip_prefix(&package).unwrap().components().count() - 1;
            let included = text
                .split("include_str!(\"")
                .skip(1)
                .chain(text.split("include_bytes!(\"").skip(1));
            for path in included {
                let n_up = path.split("../").take_while(|part| part.is_empty()).count();
                let path = path.split('"').next().unwrap_or_default();
                assert!(n_up <= depth, "{}: {path}", file.display());
            }
        }
    }
}

#[test]
fn one_writer_leads_to_the_terminal() {
    let folder = workspace().join("crates/ken/src");
    for file in sources(&folder) {
        let text = fs_err::read_to_string(&file).unwrap();
        let asks = [".is_terminal()", ".as_fd()"];
        for stream in ["io::stdout()", "io::stderr()"] {
            let mut uses = text.split(stream).skip(1);
            let only_asks = uses.all(|rest| asks.iter().any(|ask| rest.starts_with(ask)));
            let is_writer = file.ends_with("output/terminal.rs");
            assert!(only_asks || is_writer, "{}: {stream}", file.display());
        }
    }
}

#[test]
fn nothing_is_decided_by_a_message() {
    const FORBIDDEN: [&str; 6] = [
        "message.contains(",
        "message.starts_with(",
        "message.ends_with(",
        "to_string().contains(",
        "to_string().starts_with(",
        "to_string().ends_with(",
    ];
    for (name, _) in EDGES {
        for file in sources(&workspace().join("crates").join(name).join("src")) {
            let text = fs_err::read_to_string(&file).unwrap();
            let is_test = file.ends_with("tests.rs");
            let code = text.split("mod tests {").next().unwrap();
            for word in FORBIDDEN.iter().filter(|_| !is_test) {
                assert!(!code.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (name, _) in EDGES {
        for file in sources(&workspace().join("crates").join(name)) {
            let text = fs_err::read_to_string(&file).unwrap();
            assert!(text.starts_with("//! "), "{}", file.display());
        }
    }
}

/// Returns whether a file below a folder contains a word.
fn is_named(folder: &Path, word: &str) -> bool {
    let texts = sources(folder).into_iter();
    let mut texts = texts.map(|file| fs_err::read_to_string(file).unwrap());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    texts.any(|text| text.split(|c| !is_word(c)).any(|found| found == word))
}

#[test]
fn every_dependency_is_used() {
    let workspace_manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let known = workspace_manifest["workspace"]["dependencies"]
        .as_table()
        .unwrap();
    let mut unused: BTreeSet<_> = known.keys().cloned().collect();
    for (name, _) in EDGES {
        let folder = workspace().join("crates").join(name);
        let manifest: toml::Table = read(&format!("crates/{name}/Cargo.toml")).parse().unwrap();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = manifest.get(section).and_then(toml::Value::as_table);
            for dependency in dependencies.into_iter().flat_map(toml::Table::keys) {
                unused.remove(dependency);
                // The library of this crate has another name.
                let library = dependency.replace("md-5", "md5").replace('-', "_");
                assert!(
                    is_named(&folder, &library),
                    "{name} does not use {dependency}"
                );
            }
        }
    }
    unused.retain(|name| !name.starts_with("ken-"));
    assert_eq!(unused, BTreeSet::new(), "no crate uses these");
}

#[test]
fn the_site_has_every_page() {
    let summary = read("docs/SUMMARY.md");
    let page = |name: &str| assert!(summary.contains(&format!("]({name})")), "{name}");
    for folder in ["docs", "docs/internals"] {
        for entry in fs_err::read_dir(workspace().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_page = path.extension().is_some_and(|extension| extension == "md");
            let name = path.strip_prefix(workspace().join("docs")).unwrap();
            if is_page && name != Path::new("SUMMARY.md") {
                page(name.to_str().unwrap());
            }
        }
    }
    page("decisions/README.md");
}

/// Returns the texts in backquotes of a Markdown text, outside of code blocks.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .collect()
}

/// Returns the paths of the workspace's own documents, including those in `docs/`.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![workspace().join("docs")];
    let mut files: Vec<_> = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"]
        .iter()
        .map(|name| workspace().join(name))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn paths_in_the_documents_exist() {
    const TOP: [&str; 7] = [
        "crates/", "docs/", "bench/", "fuzz/", "cases/", "scripts/", "python/",
    ];
    for document in documents() {
        let text = fs_err::read_to_string(&document).unwrap();
        for name in quoted(&text) {
            let is_path = TOP.iter().any(|folder| name.starts_with(folder));
            if is_path && !name.contains(['*', '{', '<', ' ', '…']) {
                let path = workspace().join(name.split([':', '#']).next().unwrap());
                assert!(path.exists(), "{} names {name}", document.display());
            }
        }
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if !target.is_empty() && !target.contains("://") {
                let path = document.parent().unwrap().join(target);
                assert!(path.exists(), "{} links {target}", document.display());
            }
        }
    }
}

/// The first pages that people read stay short.
#[test]
fn documents_stay_short() {
    for document in documents() {
        let length = fs_err::metadata(&document).unwrap().len();
        let relative = document.strip_prefix(workspace()).unwrap();
        let limit = match relative.to_str().unwrap() {
            "ARCHITECTURE.md" => 15_000,
            "README.md" => 8_000,
            name if name.starts_with("docs/internals/") => 6_000,
            _ => continue,
        };
        assert!(length <= limit, "{}: {length}", relative.display());
    }
}

#[test]
fn figures_in_the_documents_are_those_of_the_stored_runs() {
    let run = Command::new("python3")
        .arg(workspace().join("bench/tables"))
        .arg("--check")
        .output()
        .expect("python3, which scripts/setup installs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn every_command_and_field_is_in_the_documents() {
    let world = World::new();
    let run = world.ken(["--help"]);
    let commands = run.text().split("Commands:\n").nth(1).unwrap();
    // A line that continues the description of a command is indented further.
    let commands = commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|command| !command.is_empty());
    let mut documents = read("README.md");
    for entry in fs_err::read_dir(workspace().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push_str(&fs_err::read_to_string(path).unwrap());
        }
    }
    let mut n_commands = 0;
    for command in commands.filter(|command| *command != "help") {
        assert!(documents.contains(&format!("ken {command}")), "{command}");
        n_commands += 1;
    }
    assert!(n_commands >= 7, "{}", run.text());
    for info in FIELDS {
        assert!(
            documents.contains(&format!("`{}`", info.name)),
            "{}",
            info.name
        );
        assert!(documents.contains(info.description), "{}", info.name);
    }
}

/// Returns the section of a document with this heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(&format!("\n## {heading}\n")).unwrap() + 1;
    let end = text[start..]
        .find("\n## ")
        .map_or(text.len(), |end| start + end);
    &text[start..end]
}

#[test]
fn every_key_of_json_is_in_the_documents() {
    let world = World::new();
    world.add_fixture("archive/encrypted.zip");
    world.write(".hidden", "x");
    let document = read("docs/json.md");
    let common = &document[..document.find("\n## ").unwrap()];
    for (heading, args) in [
        ("index", &["index", "--json", "docs", "--dry-run"][..]),
        ("index", &["index", "--json", "docs"]),
        ("search", &["search", "--json", "open OR secret"]),
        ("status", &["status", "--json"]),
        ("status", &["status", "--json", "--failed"]),
        (
            "status",
            &["status", "--json", "--why", "docs/encrypted.zip"],
        ),
        ("extract", &["extract", "--json", "docs/encrypted.zip"]),
        ("walk", &["walk", "--json", "--explain", "docs"]),
    ] {
        let section = section(&document, &format!("ken {heading} --json"));
        let objects = world.ken(args).objects();
        assert!(!objects.is_empty(), "{args:?}");
        for key in objects
            .iter()
            .flat_map(|object| object.as_object().unwrap().keys())
        {
            let key = format!("`{key}`");
            let is_known = [section, common].iter().any(|text| text.contains(&key));
            assert!(is_known || key == "`event`", "{args:?}: {key}");
        }
    }
}

/// A state that is spelled in a second file would be a second table.
#[test]
fn states_of_messages_are_named_in_one_table() {
    let is_stored = |source| matches!(source, StateSource::FileName | StateSource::States);
    let rows = MESSAGE_STATES.iter().filter(|row| is_stored(row.source));
    let literals: Vec<String> = rows.map(|row| format!("\"{}\"", row.name)).collect();
    let folders = fs_err::read_dir(workspace().join("crates")).unwrap();
    for path in folders.flat_map(|folder| sources(&folder.unwrap().path().join("src"))) {
        let text = fs_err::read_to_string(&path).unwrap();
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        if path.ends_with("tests.rs") || path.ends_with("ken-core/src/state.rs") {
            continue;
        }
        for literal in &literals {
            assert!(
                !shipped.contains(literal),
                "{literal} in {}",
                path.display()
            );
        }
    }
}
