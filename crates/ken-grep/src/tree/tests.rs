//! This walk and that of `ignore` find the same files, and say the same of bad rules, in random trees with
//! random ignore files and options.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::WalkState;
use proptest::collection::vec;
use proptest::prelude::*;

use super::Tree;
use crate::Observer;
use crate::input::Input;
use crate::narrow::Narrow;
use crate::run::Tally;
use crate::walk::{TypeChange, WalkOptions};

#[derive(Clone, Debug)]
struct Plan {
    files: Vec<String>,
    rules: Vec<(String, &'static str, Vec<String>)>,
    repositories: Vec<(String, &'static str)>,
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
        "f", "f/a", "c d", "e\\ f", "?", "Z.log", "*/*", "X.C", "[", "f/**/x.c",
    ]);
    let edges = (any::<bool>(), any::<bool>(), any::<bool>());
    (body, edges).prop_map(|(body, (negated, anchored, folder_only))| {
        let bang = if negated { "!" } else { "" };
        let start = if anchored { "/" } else { "" };
        let end = if folder_only { "/" } else { "" };
        format!("{bang}{start}{body}{end}")
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let name = prop::sample::select(vec![
        ".rgignore",
        ".ignore",
        ".gitignore",
        ".git/info/exclude",
    ]);
    let place = prop_oneof![
        1 => Just(String::new()),
        3 => Just("f".to_owned()),
        2 => folder().prop_map(|path| format!("f/{path}")),
    ];
    let rules = (place.clone(), name, vec(pattern(), 1..6));
    let mark = prop::sample::select(vec![".git/info", ".jj"]);
    let repositories = vec((place, mark), 0..3);
    let fields = (vec(file(), 1..25), vec(rules, 0..8), repositories);
    fields.prop_map(|(files, rules, repositories)| Plan {
        files,
        rules,
        repositories,
    })
}

fn options() -> impl Strategy<Value = WalkOptions> {
    let bools = (any::<[bool; 8]>(), any::<bool>());
    let globs = prop_oneof![
        4 => Just(Vec::new()),
        1 => vec((pattern(), any::<bool>()), 1..3),
    ];
    let types = prop::sample::select(vec![None, None, Some(true), Some(false)]);
    (bools, globs, types).prop_map(|((bools, named), globs, types)| {
        let [
            hidden,
            dot,
            exclude,
            git,
            parents,
            require_git,
            any_case,
            more,
        ] = bools;
        WalkOptions {
            hidden,
            dot_ignore: dot || more,
            git_exclude: exclude || more,
            git_global: false,
            git: git || more,
            parents,
            require_git,
            ignore_case_insensitive: any_case,
            ignore_files: if named {
                vec!["more".into()]
            } else {
                Vec::new()
            },
            // A bad glob is another test.
            globs: globs
                .into_iter()
                .filter(|(glob, _)| !glob.contains('['))
                .collect(),
            types: types
                .map(|select| match select {
                    true => TypeChange::Select("c".to_owned()),
                    false => TypeChange::Negate("c".to_owned()),
                })
                .into_iter()
                .collect(),
            threads: 3,
            more_threads: 2,
            ..WalkOptions::default()
        }
    })
}

/// Makes the tree; names that are already taken by the other sort are passed over.
fn make(plan: &Plan, top: &Path) {
    for (place, mark) in &plan.repositories {
        fs_err::create_dir_all(top.join(place).join(mark)).ok();
    }
    let rules = plan.rules.iter();
    let rules = rules.map(|(folder, name, lines)| (format!("{folder}/{name}"), lines.join("\n")));
    let files = plan.files.iter().map(|file| (file.clone(), String::new()));
    for (name, content) in rules.chain(files) {
        let path = top.join(name.trim_start_matches('/'));
        if fs_err::create_dir_all(path.parent().unwrap()).is_ok() {
            fs_err::write(path, content).ok();
        }
    }
    fs_err::write(top.join("more"), "x.o\n!.y\n").unwrap();
}

/// What a walk tells.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Observer for Told {
    fn failed(&self, message: &str) {
        self.0.lock().unwrap().push(format!("failed: {message}"));
    }
    fn bad_rule(&self, message: &str) {
        self.0.lock().unwrap().push(format!("rule: {message}"));
    }
}

type Outcome = (Vec<PathBuf>, Vec<String>);

fn outcome(files: Mutex<Vec<PathBuf>>, told: Told) -> Outcome {
    let (mut files, mut told) = (files.into_inner().unwrap(), told.0.into_inner().unwrap());
    files.sort();
    told.sort();
    (files, told)
}

fn by_ignore(walk: &WalkOptions) -> Outcome {
    let (files, told) = (Mutex::new(Vec::new()), Told::default());
    walk.build(&told).unwrap().build_parallel().run(|| {
        Box::new(|found| {
            let input = Input::new(found, false, &told);
            files
                .lock()
                .unwrap()
                .extend(input.map(|input| input.path().to_path_buf()));
            WalkState::Continue
        })
    });
    outcome(files, told)
}

fn by_tree(walk: &WalkOptions) -> Outcome {
    let (files, told) = (Mutex::new(Vec::new()), Told::default());
    walk.build(&told).unwrap();
    let narrow = Narrow::nothing();
    let tree = Tree::new(walk, &narrow, &told, false).unwrap();
    assert!(Tree::knows(walk) && tree.others().is_none());
    let tally = Tally::new(false);
    tree.run(&tally, || {
        |input: Input| {
            files.lock().unwrap().push(input.path().to_path_buf());
            WalkState::Continue
        }
    });
    let outcome = outcome(files, told);
    assert_eq!(tally.summary().files, outcome.0.len() as u64);
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]
    #[test]
    fn finds_what_ripgrep_finds(plan in plan(), options in options(), deeper in folder()) {
        let folder = tempfile::tempdir().unwrap();
        make(&plan, folder.path());
        let top = folder.path().join("f").join(&deeper);
        prop_assume!(top.is_dir());
        let walk = WalkOptions {
            paths: vec![top],
            working_folder: folder.path().to_path_buf(),
            ignore_files: options.ignore_files.iter().map(|file| folder.path().join(file)).collect(),
            ..options
        };
        prop_assert_eq!(by_tree(&walk), by_ignore(&walk));
    }
}

#[test]
fn many_files_of_one_folder_are_shared_out() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..100 {
        fs_err::write(folder.path().join(number.to_string()), "").unwrap();
    }
    let walk = WalkOptions {
        paths: vec![folder.path().to_path_buf()],
        ..WalkOptions::default()
    };
    assert_eq!(by_tree(&walk), by_ignore(&walk));
    let narrow = Narrow::nothing();
    let told = Told::default();
    let tree = Tree::new(&walk, &narrow, &told, false).unwrap();
    let n_found = Mutex::new(0);
    tree.run(&Tally::new(false), || {
        |_| {
            *n_found.lock().unwrap() += 1;
            WalkState::Quit
        }
    });
    assert!((1..=12).contains(&*n_found.lock().unwrap()));
}

/// In tests every folder counts as one for which a disk was waited for.
#[test]
fn threads_that_wait_call_as_many_as_may_come() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs_err::create_dir(folder.path().join(number.to_string())).unwrap();
    }
    for (more_threads, most) in [(0, 2), (3, 5)] {
        let walk = WalkOptions {
            paths: vec![folder.path().to_path_buf()],
            threads: 2,
            more_threads,
            ..WalkOptions::default()
        };
        let n_visitors = || {
            let narrow = Narrow::nothing();
            let told = Told::default();
            let tree = Tree::new(&walk, &narrow, &told, false).unwrap();
            let n_visitors = std::cell::Cell::new(0);
            tree.run(&Tally::new(false), || {
                n_visitors.set(n_visitors.get() + 1);
                |_| WalkState::Continue
            });
            n_visitors.get()
        };
        // On a busy machine those that came may walk all before the last one is called.
        let comes = (0..100).any(|_| {
            let n = n_visitors();
            assert!(n <= most, "{n} of {most}");
            n == most
        });
        assert!(comes, "{most}");
    }
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_walked() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    fs_err::write(folder.path().join("file"), "").unwrap();
    let walk = WalkOptions {
        paths: vec![folder.path().to_path_buf(), gone],
        ..WalkOptions::default()
    };
    let narrow = Narrow::nothing();
    let told = Told::default();
    let tree = Tree::new(&walk, &narrow, &told, false).unwrap();
    let others = tree.others().unwrap();
    assert_eq!(others.paths, walk.paths[1..]);
}
