//! Tests that ken's walk and that of the crate `ignore`, which ripgrep uses, find the same files in
//! random trees with random ignore files.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::WalkBuilder;
use ken_core::Root;
use ken_walk::{Progress, Visitor, WalkOptions, root_at, walk};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Tree {
    files: Vec<String>,
    rules: Vec<(String, &'static str, Vec<String>)>,
    repositories: Vec<String>,
}

fn folder() -> impl Strategy<Value = String> {
    vec(prop::sample::select(vec!["a", "b", ".h", "c d"]), 0..4).prop_map(|parts| parts.join("/"))
}

fn file() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["x.c", "x.o", ".y", "b", "Z.log", "e f"]);
    (folder(), name).prop_map(|(folder, name)| format!("f/{folder}/{name}"))
}

fn pattern() -> impl Strategy<Value = String> {
    let body = prop::sample::select(vec![
        "*", "*.o", "x.*", "a", "b", "a/b", "**/b", "a/**", "a/**/b", ".h", ".*", ".y", "[xZ].*",
        "f", "f/a", "c d", "e\\ f", "?", "Z.log", "*/*",
    ]);
    let edges = (any::<bool>(), any::<bool>(), any::<bool>());
    (body, edges).prop_map(|(body, (negated, anchored, folder_only))| {
        let bang = if negated { "!" } else { "" };
        let start = if anchored { "/" } else { "" };
        let end = if folder_only { "/" } else { "" };
        format!("{bang}{start}{body}{end}")
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let name = prop::sample::select(vec![
        ".ignore",
        ".gitignore",
        ".kenignore",
        ".git/info/exclude",
    ]);
    let folder = prop_oneof![
        1 => Just(String::new()),
        3 => Just("f".to_owned()),
        2 => folder().prop_map(|path| format!("f/{path}")),
    ];
    let rules = (folder.clone(), name, vec(pattern(), 1..6));
    let fields = (vec(file(), 1..25), vec(rules, 0..8), vec(folder, 0..3));
    fields.prop_map(|(files, rules, repositories)| Tree {
        files,
        rules,
        repositories,
    })
}

/// Creates the tree; names that are taken by an entry of another kind are skipped.
fn make(tree: &Tree, top: &Path) {
    for repository in &tree.repositories {
        fs_err::create_dir_all(top.join(repository).join(".git")).ok();
    }
    let rules = tree.rules.iter();
    let rules = rules.map(|(folder, name, lines)| (format!("{folder}/{name}"), lines.join("\n")));
    let files = tree.files.iter().map(|file| (file.clone(), String::new()));
    for (name, content) in rules.chain(files) {
        let path = top.join(name.trim_start_matches('/'));
        if fs_err::create_dir_all(path.parent().unwrap()).is_ok() {
            fs_err::write(path, content).ok();
        }
    }
}

fn by_ripgrep(root: &Root) -> Vec<PathBuf> {
    let hidden = root.hidden;
    let walk = WalkBuilder::new(&root.path)
        .hidden(!root.hidden)
        .git_global(false)
        .add_custom_ignore_filename(".kenignore")
        // ken leaves it out even where a rule takes it back.
        .filter_entry(move |entry| hidden || entry.file_name() != ".git")
        .build();
    let files = walk
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = files.map(ignore::DirEntry::into_path).collect();
    files.sort();
    files
}

fn by_ken(root: &Root) -> Vec<PathBuf> {
    let files = Mutex::new(Vec::new());
    let visitor = Visitor {
        file: &|path, _| files.lock().unwrap().push(path.to_path_buf()),
        skipped: None,
        recorder: None,
    };
    let roots = std::slice::from_ref(root);
    walk(
        roots,
        &WalkOptions::default(),
        &Progress::default(),
        visitor,
    );
    let mut files = files.into_inner().unwrap();
    files.sort();
    files
}

#[test]
fn a_store_of_versions_stays_out_when_a_rule_takes_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("f");
    for name in [".git", ".hg", ".svn", ".bzr", ".jj", "src", ".config"] {
        fs_err::create_dir_all(top.join(name)).unwrap();
        fs_err::write(top.join(name).join("a"), "").unwrap();
    }
    fs_err::write(top.join(".ignore"), "/*\n!/*/\n").unwrap();
    let root = root_at(&top).unwrap();
    assert_eq!(
        by_ken(&root),
        [root.path.join(".config/a"), root.path.join("src/a")]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]
    #[test]
    fn finds_what_ripgrep_finds(tree in tree(), hidden in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        make(&tree, folder.path());
        let top = folder.path().join("f");
        prop_assume!(top.is_dir());
        let mut root = root_at(&top).unwrap();
        root.hidden = hidden;
        prop_assert_eq!(by_ken(&root), by_ripgrep(&root));
    }
}
