//! Tests that this walk and that of `ignore` find the same files, and report the same bad rules, in
//! random trees with random ignore files and options.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use ignore::{DirEntry, WalkBuilder, WalkState};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Patience, Tree};
use crate::Observer;
use crate::input::Input;
use crate::prefilter::Prefilter;
use crate::tally::Tally;
use crate::walk::{self, Sort, SortKey, TypeChange, WalkOptions};

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
    let folder = prop_oneof![
        1 => Just(String::new()),
        3 => Just("f".to_owned()),
        2 => folder().prop_map(|path| format!("f/{path}")),
    ];
    let rules = (folder.clone(), name, vec(pattern(), 1..6));
    let mark = prop::sample::select(vec![".git/info", ".jj"]);
    let repositories = vec((folder, mark), 0..3);
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
            // Bad globs have another test.
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

/// Creates the tree; names that are taken by an entry of another kind are skipped.
fn make(plan: &Plan, top: &Path) {
    for (folder, mark) in &plan.repositories {
        fs_err::create_dir_all(top.join(folder).join(mark)).ok();
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

/// The messages of a walk.
#[derive(Default)]
struct Reported(Mutex<Vec<String>>);

impl Observer for Reported {
    fn failed(&self, message: &str) {
        self.0.lock().unwrap().push(format!("failed: {message}"));
    }
    fn bad_rule(&self, message: &str) {
        self.0.lock().unwrap().push(format!("rule: {message}"));
    }
}

type Outcome = (Vec<PathBuf>, Vec<String>);

fn outcome(files: Mutex<Vec<PathBuf>>, reported: Reported) -> Outcome {
    let (mut files, mut reported) = (
        files.into_inner().unwrap(),
        reported.0.into_inner().unwrap(),
    );
    files.sort();
    reported.sort();
    (files, reported)
}

/// Creates the walk that ripgrep makes with these options.
fn ripgrep(walk: &WalkOptions, reported: &Reported) -> WalkBuilder {
    let mut builder = WalkBuilder::new(&walk.paths[0]);
    for path in &walk.paths[1..] {
        builder.add(path);
    }
    for path in &walk.ignore_files {
        if let Some(error) = builder.add_ignore(path) {
            reported.bad_rule(&error.to_string());
        }
    }
    builder
        .max_depth(walk.max_depth)
        .follow_links(walk.follow)
        .max_filesize(walk.max_filesize)
        .same_file_system(walk.one_file_system)
        .overrides(walk::overrides(&walk.working_folder, &walk.globs).unwrap())
        .types(walk::types(&walk.types).unwrap())
        .hidden(!walk.hidden)
        .parents(walk.parents)
        .ignore(walk.dot_ignore)
        .git_global(walk.git && walk.git_global)
        .git_ignore(walk.git)
        .git_exclude(walk.git && walk.git_exclude)
        .require_git(walk.require_git)
        .ignore_case_insensitive(walk.ignore_case_insensitive)
        .current_dir(&walk.working_folder);
    if walk.dot_ignore {
        builder.add_custom_ignore_filename(".rgignore");
    }
    if walk.sorted_by_walk() {
        builder.sort_by_file_name(std::ffi::OsStr::cmp);
    }
    builder
}

/// Returns what ripgrep searches among the results of its walk.
fn searched(found: Result<DirEntry, ignore::Error>, reported: &Reported) -> Option<PathBuf> {
    let entry = found
        .map_err(|error| reported.failed(&error.to_string()))
        .ok()?;
    if let Some(error) = entry.error() {
        reported.bad_rule(&error.to_string());
    }
    let is_named = entry.depth() == 0 && !entry.path().is_dir();
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    (is_named || is_file).then(|| entry.into_path())
}

fn by_ignore(walk: &WalkOptions) -> Outcome {
    let (files, reported) = (Mutex::new(Vec::new()), Reported::default());
    ripgrep(walk, &reported).build_parallel().run(|| {
        Box::new(|found| {
            files.lock().unwrap().extend(searched(found, &reported));
            WalkState::Continue
        })
    });
    outcome(files, reported)
}

fn by_tree(walk: &WalkOptions) -> Outcome {
    let (files, reported) = (Mutex::new(Vec::new()), Reported::default());
    let prefilter = Prefilter::nothing();
    let tree = Tree::new(walk, &prefilter, &reported, false).unwrap();
    let tally = Tally::new(false);
    tree.run(&tally, || {
        |input: Input| {
            files.lock().unwrap().push(input.path().to_path_buf());
            WalkState::Continue
        }
    });
    let outcome = outcome(files, reported);
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
    let prefilter = Prefilter::nothing();
    let reported = Reported::default();
    let tree = Tree::new(&walk, &prefilter, &reported, false).unwrap();
    let n_found = Mutex::new(0);
    tree.run(&Tally::new(false), || {
        |_| {
            *n_found.lock().unwrap() += 1;
            WalkState::Quit
        }
    });
    assert!((1..=12).contains(&*n_found.lock().unwrap()));
}

#[test]
fn threads_that_wait_call_as_many_as_may_come() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs_err::create_dir(folder.path().join(number.to_string())).unwrap();
    }
    let prefilter = Prefilter::nothing();
    // Every folder counts as one that waited for a disk.
    let none = Patience {
        entry: Duration::ZERO,
        interval: Duration::ZERO,
        least_percent: u32::MAX,
    };
    for (more_threads, most) in [(0, 2), (3, 5)] {
        let walk = WalkOptions {
            paths: vec![folder.path().to_path_buf()],
            threads: 2,
            more_threads,
            ..WalkOptions::default()
        };
        let n_visitors = || {
            let reported = Reported::default();
            let mut tree = Tree::new(&walk, &prefilter, &reported, false).unwrap();
            tree.patience = none;
            let n_visitors = std::cell::Cell::new(0);
            tree.run(&Tally::new(false), || {
                n_visitors.set(n_visitors.get() + 1);
                |_| WalkState::Continue
            });
            n_visitors.get()
        };
        // On a busy machine, the running threads may finish the walk before the last one is called.
        let comes = (0..100).any(|_| {
            let n = n_visitors();
            assert!(n <= most, "{n} of {most}");
            n == most
        });
        assert!(comes, "{most}");
    }
}

#[test]
fn what_is_not_there_is_reported_and_the_rest_walked() {
    let folder = tempfile::tempdir().unwrap();
    let (file, gone) = (folder.path().join("file"), folder.path().join("gone"));
    fs_err::write(&file, "").unwrap();
    let walk = WalkOptions {
        paths: vec![folder.path().to_path_buf(), gone, file],
        ..WalkOptions::default()
    };
    let (files, reported) = by_tree(&walk);
    assert_eq!((files.len(), reported.len()), (2, 1), "{reported:?}");
    assert_eq!((files, reported), by_ignore(&walk));
}

/// Returns a tree with links, one of which leads back, and a folder above the searched one.
fn linked() -> tempfile::TempDir {
    use fs_err::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, size) in [
        ("f/a/b/deep", 10),
        ("f/a/large", 3000),
        ("f/z", 0),
        ("out/x", 5),
    ] {
        fs_err::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs_err::write(path(name), vec![b'x'; size]).unwrap();
    }
    symlink(path("out"), path("f/a/to_folder")).unwrap();
    symlink(path("f/z"), path("f/a/b/to_file")).unwrap();
    symlink(path("f/a"), path("f/a/b/back")).unwrap();
    symlink(path("f"), path("f/a/b/to_top")).unwrap();
    symlink(path("none"), path("f/broken")).unwrap();
    folder
}

#[test]
fn links_depth_and_size_are_ripgreps() {
    let folder = linked();
    let top = folder.path().join("f");
    for follow in [false, true] {
        for max_depth in [None, Some(0), Some(1), Some(2)] {
            for (max_filesize, one_file_system) in [(None, false), (Some(100), true)] {
                let walk = WalkOptions {
                    paths: vec![top.clone(), top.join("z"), top.join("a/to_folder")],
                    follow,
                    max_depth,
                    max_filesize,
                    one_file_system,
                    ..WalkOptions::default()
                };
                assert_eq!(by_tree(&walk), by_ignore(&walk), "{walk:?}");
            }
        }
    }
}

#[test]
fn one_thread_goes_in_ripgreps_order() {
    let folder = linked();
    let by_name = Sort {
        key: SortKey::Path,
        reverse: false,
    };
    let (a, z) = (folder.path().join("f/a"), folder.path().join("f/z"));
    for sort in [None, Some(by_name)] {
        let walk = WalkOptions {
            paths: vec![z.clone(), a.clone(), folder.path().join("f")],
            threads: 1,
            sort,
            ..WalkOptions::default()
        };
        let (mut files, reported, prefilter) =
            (Vec::new(), Reported::default(), Prefilter::nothing());
        let tree = Tree::new(&walk, &prefilter, &reported, false).unwrap();
        tree.run_in_order(&Tally::default(), |input| {
            files.push(input.path().to_path_buf());
            WalkState::Continue
        });
        let found = ripgrep(&walk, &reported).build();
        let expected: Vec<_> = found
            .filter_map(|found| searched(found, &reported))
            .collect();
        assert_eq!(files, expected);
    }
}

/// Issue 35: a FIFO stopped the walk, and a giant file was read as a whole.
#[test]
fn strange_ignore_files_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs_err::create_dir_all(path("git/.git")).unwrap();
    fs_err::create_dir(path("large")).unwrap();
    for name in [".rgignore", ".ignore", ".gitignore"] {
        let name = path(&format!("git/{name}"));
        rustix::fs::mkfifoat(rustix::fs::CWD, name, rustix::fs::Mode::RWXU).unwrap();
    }
    fs_err::write(path("git/file"), "").unwrap();
    fs_err::write(path("large/file"), "").unwrap();
    fs_err::write(path("large/.ignore"), "file\n".repeat(1 << 18)).unwrap();
    let walk = WalkOptions {
        paths: vec![folder.path().to_path_buf()],
        ..WalkOptions::default()
    };
    let (files, reported) = by_tree(&walk);
    assert_eq!(files, [path("git/file"), path("large/file")]);
    let large = path("large/.ignore");
    let expected = format!("rule: {}: ignore file larger than 1 MiB", large.display());
    assert_eq!(reported, [expected]);
}

/// Decided in docs/decisions: files that are left out of the index are searched as in ripgrep.
#[test]
fn the_ignore_file_of_the_index_is_none_of_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs_err::write(path(".kenignore"), "kept\n").unwrap();
    fs_err::write(path(".rgignore"), "left\n").unwrap();
    fs_err::write(path("kept"), "").unwrap();
    fs_err::write(path("left"), "").unwrap();
    let walk = WalkOptions {
        paths: vec![folder.path().to_path_buf()],
        ..WalkOptions::default()
    };
    assert_eq!(by_tree(&walk).0, [path("kept")]);
    assert_eq!(by_tree(&walk), by_ignore(&walk));
}
