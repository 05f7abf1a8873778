//! Tests of the walk on real trees: what it reports, and what it leaves out and why.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use fs_err::os::unix::fs::symlink;
use ken_core::Root;
use ken_walk::{
    Availability, EntryOrder, Progress, Skip, Verdict, Visitor, WalkOptions, WalkSummary, explain,
    root_at, walk,
};
use rustix::fs::{CWD, Mode};

struct Tree {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

struct Found {
    files: Vec<String>,
    skipped: BTreeMap<String, Skip>,
    summary: WalkSummary,
}

impl Tree {
    /// Creates a tree of files with their content.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = fs_err::canonicalize(folder.path()).unwrap();
        for (name, content) in files {
            let file = path.join(name);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, content).unwrap();
        }
        Self {
            _folder: folder,
            path,
        }
    }

    fn root(&self, path: &str) -> Root {
        root_at(&self.path.join(path)).unwrap()
    }

    /// Scans the tree with default options.
    fn files(&self) -> Vec<String> {
        self.walk(&[self.root("")], &WalkOptions::default()).files
    }

    fn walk(&self, roots: &[Root], options: &WalkOptions) -> Found {
        let files = Mutex::new(Vec::new());
        let skipped = Mutex::new(BTreeMap::new());
        let name = |path: &Path| {
            let path = path.strip_prefix(&self.path).unwrap();
            path.to_string_lossy().into_owned()
        };
        let visitor = Visitor {
            file: &|path, _| files.lock().unwrap().push(name(path)),
            skipped: Some(&|path, reason| {
                skipped.lock().unwrap().insert(name(path), reason);
            }),
            recorder: None,
        };
        let summary = walk(roots, options, &Progress::default(), visitor);
        let mut files = files.into_inner().unwrap();
        files.sort();
        let found = Found {
            files,
            skipped: skipped.into_inner().unwrap(),
            summary,
        };
        self.assert_explained(&found, roots, options);
        found
    }

    /// Asserts that a walk towards each path treats it like the whole walk.
    fn assert_explained(&self, found: &Found, roots: &[Root], options: &WalkOptions) {
        let explained = |name: &str| explain(roots, options, &self.path.join(name));
        for name in found.files.iter().filter(|name| !name.contains('\u{fffd}')) {
            let verdict = explained(name);
            assert!(
                matches!(verdict, Some(Verdict::File(_))),
                "{name}: {verdict:?}"
            );
        }
        for (name, reason) in found
            .skipped
            .iter()
            .filter(|(_, skip)| **skip != Skip::Root)
        {
            for inside in [name.clone(), format!("{name}/deep/inside")] {
                match explained(&inside) {
                    Some(Verdict::LeftOut { at, skip }) => {
                        assert_eq!((at, &skip), (self.path.join(name), reason), "{inside}");
                    }
                    other => panic!("{inside}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn ignore_files_hold_as_in_ripgrep() {
    let tree = Tree::new(&[
        (".ignore", "*.log\n!keep.log\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("sub/.kenignore", "!a.log\n/secret\n"),
        ("sub/a.log", ""),
        ("sub/secret/x", ""),
        ("plain/.gitignore", "*.o\n"),
        ("plain/x.o", ""),
        ("repo/.git/config", ""),
        ("repo/.git/info/exclude", "excluded\n"),
        ("repo/.gitignore", "*.o\n"),
        ("repo/deep/x.o", ""),
        ("repo/excluded", ""),
        ("repo/x.c", ""),
    ]);
    let found = tree.walk(&[tree.root("")], &WalkOptions::default());
    assert_eq!(
        found.files,
        ["keep.log", "plain/x.o", "repo/x.c", "sub/a.log"]
    );
    let Some(Skip::Ignored { file, pattern }) = found.skipped.get("repo/deep/x.o") else {
        panic!("not ignored: {:?}", found.skipped);
    };
    assert!(file.ends_with("repo/.gitignore"));
    assert_eq!(pattern, "*.o");
    assert_eq!(found.skipped["repo/.git"], Skip::Hidden);

    let mut root = tree.root("");
    root.no_ignore = true;
    let all = tree.walk(&[root], &WalkOptions::default());
    assert_eq!(all.files.len(), 8);
}

#[test]
fn ignore_files_above_the_root_hold_and_global_ones_in_repositories() {
    let tree = Tree::new(&[
        (".ignore", "/outer/a\n"),
        ("global", "*.bak\n"),
        ("outer/a", ""),
        ("outer/b", ""),
        ("outer/x.bak", ""),
        ("outer/repo/.git/HEAD", ""),
        ("outer/repo/x.bak", ""),
    ]);
    let options = WalkOptions {
        global_ignore: Some(tree.path.join("global")),
        ..WalkOptions::default()
    };
    let found = tree.walk(&[tree.root("outer")], &options);
    assert_eq!(found.files, ["outer/b", "outer/x.bak"]);
}

#[test]
fn a_global_ignore_file_that_is_not_there_is_no_error() {
    let tree = Tree::new(&[("a", "")]);
    let options = WalkOptions {
        global_ignore: Some(tree.path.join("none")),
        ..WalkOptions::default()
    };
    let found = tree.walk(&[tree.root("")], &options);
    assert_eq!(found.files, ["a"]);
    assert_eq!(found.summary.n_errors, 0, "{:?}", found.summary.errors);
}

#[test]
fn linked_work_trees_use_the_exclude_file_of_their_repository() {
    let tree = Tree::new(&[
        ("main/.git/info/exclude", "*.tmp\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("w/x.tmp", ""),
        ("w/x.c", ""),
    ]);
    let linked = tree.path.join("main/.git/worktrees/w");
    let line = format!("gitdir: {}\n", linked.display());
    fs_err::write(tree.path.join("w/.git"), line).unwrap();
    assert_eq!(tree.files(), ["w/x.c"]);
}

#[test]
fn hidden_files_count_only_when_asked() {
    let tree = Tree::new(&[(".a", ""), (".b/c", ""), ("d", "")]);
    assert_eq!(tree.files(), ["d"]);
    let mut root = tree.root("");
    root.hidden = true;
    let all = tree.walk(&[root], &WalkOptions::default());
    assert_eq!(all.files, [".a", ".b/c", "d"]);
}

#[test]
fn marked_and_excluded_folders_are_left_out() {
    let tree = Tree::new(&[
        ("a/.noindex", ""),
        ("a/b/c", ""),
        ("data/index", ""),
        ("data2", ""),
    ]);
    let options = WalkOptions {
        excluded: vec![tree.path.join("data")],
        ..WalkOptions::default()
    };
    let found = tree.walk(&[tree.root("")], &options);
    assert_eq!(found.files, ["data2"]);
    assert_eq!(found.skipped["a"], Skip::Marked);
    assert_eq!(found.skipped["data"], Skip::Excluded);
}

#[test]
fn a_maildir_holds_messages_in_two_folders() {
    let tree = Tree::new(&[
        ("m/cur/1", ""),
        ("m/new/2", ""),
        ("m/tmp/3", ""),
        ("m/loose", ""),
        ("tmp/4", ""),
    ]);
    let mut root = tree.root("");
    let found = tree.walk(&[root.clone()], &WalkOptions::default());
    assert_eq!(found.files, ["m/cur/1", "m/loose", "m/new/2", "tmp/4"]);
    assert_eq!(found.skipped["m/tmp"], Skip::Undelivered);
    root.strict_maildirs = true;
    let found = tree.walk(&[root], &WalkOptions::default());
    assert_eq!(found.files, ["m/cur/1", "m/new/2", "tmp/4"]);
    assert_eq!(found.skipped["m/loose"], Skip::Loose);
}

#[test]
fn special_files_are_never_opened() {
    let tree = Tree::new(&[("a", "")]);
    // Opening any of these for reading would wait for ever.
    for name in ["fifo", ".gitignore", ".ignore"] {
        rustix::fs::mkfifoat(CWD, tree.path.join(name), Mode::RUSR | Mode::WUSR).unwrap();
    }
    let socket = |name: &str| UnixListener::bind(tree.path.join(name)).unwrap();
    let _sockets = ["socket", ".kenignore"].map(socket);
    let found = tree.walk(&[tree.root("")], &WalkOptions::default());
    assert_eq!(found.files, ["a"]);
    assert_eq!(found.skipped["fifo"], Skip::Special);
    assert_eq!(found.skipped["socket"], Skip::Special);
    assert_eq!(found.summary.n_errors, 0);
    let fifo = tree.walk(&[tree.root("fifo")], &WalkOptions::default());
    assert_eq!(fifo.files.len(), 0);
}

#[test]
fn links_are_followed_only_when_asked_and_loops_end() {
    let tree = Tree::new(&[("top/a/b/file", ""), ("elsewhere/x", "")]);
    symlink(tree.path.join("top"), tree.path.join("top/a/b/loop")).unwrap();
    symlink("../elsewhere", tree.path.join("top/link")).unwrap();
    symlink("a/b/file", tree.path.join("top/alias")).unwrap();
    symlink("nowhere", tree.path.join("top/dangling")).unwrap();
    let mut root = tree.root("top");
    let found = tree.walk(&[root.clone()], &WalkOptions::default());
    assert_eq!(found.files, ["top/a/b/file"]);
    assert_eq!(found.skipped["top/link"], Skip::Link);
    root.follow_links = true;
    let found = tree.walk(&[root.clone()], &WalkOptions::default());
    assert_eq!(found.files, ["top/a/b/file", "top/alias", "top/link/x"]);
    assert_eq!(found.skipped["top/a/b/loop"], Skip::Loop);
    assert_eq!(found.skipped["top/dangling"], Skip::Link);
    assert_eq!(found.summary.n_errors, 0);
    root.one_file_system = true;
    assert_eq!(tree.walk(&[root], &WalkOptions::default()).files.len(), 3);
}

#[test]
fn nested_roots_are_walked_once_with_their_own_options() {
    let tree = Tree::new(&[
        ("a/x", ""),
        ("a/inner/.hidden", ""),
        ("a/inner/y", ""),
        ("a/.cache/z", ""),
        ("a/single", ""),
    ]);
    let mut inner = tree.root("a/inner");
    inner.hidden = true;
    let hidden = tree.root("a/.cache");
    let roots = [tree.root("a"), inner, hidden, tree.root("a/single")];
    let found = tree.walk(&roots, &WalkOptions::default());
    let expected = [
        "a/.cache/z",
        "a/inner/.hidden",
        "a/inner/y",
        "a/single",
        "a/x",
    ];
    assert_eq!(found.files, expected);
    assert_eq!(found.skipped["a/inner"], Skip::Root);
    assert_eq!(found.summary.files, 5);
}

#[test]
fn names_that_are_not_utf8_come_through_unchanged() {
    let tree = Tree::new(&[]);
    let file = tree.path.join(OsStr::from_bytes(b"caf\xe9"));
    fs_err::write(&file, "12345").unwrap();
    let seen = Mutex::new(Vec::new());
    let visitor = Visitor {
        file: &|path, stamp| seen.lock().unwrap().push((path.to_path_buf(), stamp.size)),
        skipped: None,
        recorder: None,
    };
    let progress = Progress::default();
    walk(
        &[tree.root("")],
        &WalkOptions::default(),
        &progress,
        visitor,
    );
    assert_eq!(seen.into_inner().unwrap(), [(file, 5)]);
    assert_eq!(progress.bytes.into_inner(), 5);
}

#[test]
fn what_vanishes_or_cannot_be_read_is_counted_and_the_walk_goes_on() {
    let tree = Tree::new(&[("a/1", ""), ("b/1", ""), ("c/1", "")]);
    // The first folder to be walked removes the others while they wait.
    let visitor = Visitor {
        file: &|path, _| {
            for name in ["a", "b", "c"] {
                let folder = tree.path.join(name);
                if !path.starts_with(&folder) {
                    fs_err::remove_dir_all(folder).ok();
                }
            }
        },
        skipped: None,
        recorder: None,
    };
    let roots = [tree.root("")];
    let summary = walk(
        &roots,
        &WalkOptions::default(),
        &Progress::default(),
        visitor,
    );
    assert_eq!(summary.files, 1);
    assert_eq!(summary.n_errors, 2);
    assert_eq!(summary.incomplete.len(), 2);
    assert!(!summary.cancelled);
    assert!(summary.errors[0].path().starts_with(&tree.path));
}

#[test]
fn bad_ignore_files_are_reported_and_their_good_lines_hold() {
    let long = "#".repeat(1 << 21);
    let tree = Tree::new(&[
        (".ignore", "a{b\n*.x\n"),
        ("1.x", ""),
        ("2", ""),
        ("large/.ignore", &long),
        ("large/3", ""),
    ]);
    let found = tree.walk(&[tree.root("")], &WalkOptions::default());
    assert_eq!(found.files, ["2", "large/3"]);
    assert_eq!(found.summary.n_errors, 2);
    assert!(found.summary.incomplete.is_empty());
}

#[test]
fn roots_that_are_not_there_are_named() {
    let tree = Tree::new(&[("gone/x", ""), ("file", "")]);
    fs_err::create_dir(tree.path.join("empty")).unwrap();
    let mut roots = [tree.root("gone"), tree.root("empty"), tree.root("file")];
    roots[1].mounted = true;
    fs_err::remove_dir_all(tree.path.join("gone")).unwrap();
    let found = tree.walk(&roots, &WalkOptions::default());
    assert_eq!(found.files, ["file"]);
    let expected = [
        (tree.path.join("gone"), Availability::Absent),
        (tree.path.join("empty"), Availability::Unmounted),
    ];
    assert_eq!(found.summary.unavailable, expected);
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let names: Vec<String> = (0..2000)
        .map(|n| format!("{}/{}/{n}", n % 7, n % 31))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let tree = Tree::new(&files);
    let one = tree.files();
    assert_eq!(one.len(), 2000);
    let options = WalkOptions {
        threads: 5,
        ..WalkOptions::default()
    };
    let five = tree.walk(&[tree.root("")], &options);
    assert_eq!(five.files, one);
    assert_eq!(five.summary.bytes, 2000);
}

#[test]
fn a_large_folder_is_looked_at_by_several_threads() {
    let tree = Tree::new(&[(".ignore", "3*\n"), ("folder/below.txt", "")]);
    for number in 0..5000 {
        fs_err::write(tree.path.join(number.to_string()), "").unwrap();
    }
    let walk = |threads, order| {
        let options = WalkOptions {
            threads,
            order,
            ..WalkOptions::default()
        };
        let found = Mutex::new((BTreeSet::new(), HashSet::new()));
        let visitor = Visitor {
            file: &|path, _| {
                let mut found = found.lock().unwrap();
                assert!(found.0.insert(path.to_path_buf()), "only once");
                found.1.insert(std::thread::current().id());
                drop(found);
                // Long enough for the other threads to come.
                std::thread::sleep(std::time::Duration::from_micros(10));
            },
            skipped: None,
            recorder: None,
        };
        walk(&[tree.root("")], &options, &Progress::default(), visitor);
        let (files, ids) = found.into_inner().unwrap();
        (files, ids.len())
    };
    let (alone, _) = walk(1, EntryOrder::Inode);
    // 3, 30 to 39, 300 to 399, 3000 to 3999 are left out.
    assert_eq!(alone.len(), 5000 - 1111 + 1);
    let (together, n_threads) = walk(4, EntryOrder::Inode);
    assert_eq!(together, alone);
    assert!(n_threads > 1);
    let (in_order, n_threads) = walk(4, EntryOrder::Path);
    assert_eq!(in_order, alone);
    assert!(n_threads <= 2, "the folder and the one below it");
}

#[test]
fn a_cancelled_walk_stops_before_its_next_file() {
    let tree = Tree::new(&[("1", ""), ("2", ""), ("3/4", "")]);
    let progress = Progress::default();
    let visitor = Visitor {
        file: &|_, _| progress.cancelled.store(true, Ordering::Relaxed),
        skipped: None,
        recorder: None,
    };
    let summary = walk(
        &[tree.root("")],
        &WalkOptions::default(),
        &progress,
        visitor,
    );
    assert_eq!(summary.files, 1);
    assert!(summary.cancelled);
}

#[test]
fn files_deleted_during_the_walk_are_no_errors() {
    let tree = Tree::new(&[("a", ""), ("b", ""), ("c", "")]);
    let visitor = Visitor {
        file: &|path, _| {
            for name in ["a", "b", "c"] {
                fs_err::remove_file(path.with_file_name(name)).unwrap_or_default();
            }
        },
        skipped: None,
        recorder: None,
    };
    let options = WalkOptions::default();
    let summary = walk(&[tree.root("")], &options, &Progress::default(), visitor);
    assert_eq!((summary.files, summary.n_errors), (1, 0));
    assert!(summary.incomplete.is_empty());
}

#[test]
fn what_is_excluded_may_be_named_through_a_link() {
    let tree = Tree::new(&[("a", ""), ("data/b", "")]);
    symlink(&tree.path, tree.path.join("link")).unwrap();
    let options = WalkOptions {
        excluded: vec![tree.path.join("link/data")],
        ..WalkOptions::default()
    };
    assert_eq!(tree.walk(&[tree.root("")], &options).files, ["a"]);
}

#[test]
fn a_path_that_is_no_file_of_the_walk_is_explained() {
    let tree = Tree::new(&[("sub/a.txt", ""), ("other/b.txt", "")]);
    let explained = |roots: &[&str], name: &str| {
        let roots: Vec<_> = roots.iter().map(|name| tree.root(name)).collect();
        explain(&roots, &WalkOptions::default(), &tree.path.join(name))
    };
    assert!(explained(&["sub"], "other/b.txt").is_none());
    assert!(matches!(explained(&[""], "sub"), Some(Verdict::Folder)));
    assert!(matches!(explained(&["sub"], "sub"), Some(Verdict::Folder)));
    assert!(matches!(
        explained(&["", "sub"], "sub"),
        Some(Verdict::Folder)
    ));
    let none = explained(&[""], "sub/none.txt");
    assert!(matches!(none, Some(Verdict::Absent)), "{none:?}");
    let below_file = explained(&[""], "sub/a.txt/b");
    assert!(
        matches!(below_file, Some(Verdict::Absent)),
        "{below_file:?}"
    );
    let gone = Root::new(tree.path.join("gone"));
    let verdict = explain(&[gone], &WalkOptions::default(), &tree.path.join("gone/x"));
    let absent = Availability::Absent;
    assert!(matches!(verdict, Some(Verdict::Unavailable(state)) if state == absent));
}
