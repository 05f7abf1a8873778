//! `ken index`: what it prints, which files it takes, and when it refuses.

use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::crash::{Tree, documents};
use crate::samples::{fixture, mbox};
use crate::world::{Run, World, assert_counts};

#[test]
fn a_run_ends_with_a_summary() {
    let world = World::new();
    world.write("a.txt", "one");
    world.write("b.txt", "three");
    world.write("broken.pdf", "%PDF-1.4 x");
    let run = world.ken(["index", "docs"]);
    assert_eq!(run.code, 0);
    let lines = run.lines();
    assert_eq!(lines[0], "3 added, 0 changed, 0 moved, 0 gone, 0 unchanged");
    assert!(
        lines[1].starts_with("3 documents, 1 failed; 18 B in "),
        "{}",
        lines[1]
    );
    assert_eq!(
        run.err,
        "ken: some files could not be read; ken status --failed lists them\n"
    );

    let run = world.ken(["index", "--quiet"]);
    assert_eq!((run.code, run.text(), run.err.as_str()), (0, "", ""));
}

#[test]
fn json_has_the_documented_keys() {
    let world = World::new();
    world.write("a.txt", "one");
    let summary = world.index_docs();
    let keys: Vec<_> = summary
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "added",
            "bytes",
            "changed",
            "committed",
            "documents",
            "errors",
            "event",
            "failed",
            "gone",
            "interrupted",
            "kept",
            "moved",
            "recognised",
            "seconds",
            "stale",
            "unchanged",
            "v"
        ]
    );
    assert_counts(&summary, &[("added", 1)]);
    assert_eq!(summary["committed"], true);
    assert_eq!(summary["bytes"], 3);
}

#[test]
fn a_dry_run_reports_and_writes_nothing() {
    let world = World::new();
    let path = world.write("a.txt", "one");
    let run = world.ken(["index", "--dry-run", "docs"]);
    assert_eq!(
        run.text(),
        format!(
            "added {}\n1 added, 0 changed, 0 moved, 0 gone (dry run: nothing was written), 0 unchanged\n",
            path.display()
        )
    );
    assert!(!world.home().join("data").exists());

    world.index_docs();
    let before = world.data_files();
    world.write("b.txt", "two");
    world.rename("a.txt", "c.txt");
    let run = world.ken(["index", "--dry-run", "--json"]);
    let changes: Vec<_> = run
        .objects()
        .iter()
        .filter_map(|o| o["change"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(changes.len(), 2, "{}", run.text());
    assert!(changes.contains(&"added".to_owned()) && changes.contains(&"moved".to_owned()));
    assert_counts(&run.summary(), &[("added", 1), ("moved", 1)]);
    assert_eq!(run.summary()["committed"], false);
    assert_eq!(world.data_files(), before);
    assert_eq!(world.found("*"), ["a.txt"]);
}

#[test]
fn ignore_rules_hold_unless_an_option_says_otherwise() {
    let world = World::new();
    world.write(".gitignore", "git.txt\n");
    world.write(".ignore", "plain.txt\n");
    world.write(".kenignore", "own.txt\n/sub/deep/\n");
    for name in ["git.txt", "plain.txt", "own.txt", "kept.txt", ".hidden.txt"] {
        world.write(name, "x");
    }
    world.write("sub/deep/no.txt", "x");
    world.write("sub/kept.txt", "x");
    world.write("marked/.noindex", "");
    world.write("marked/no.txt", "x");
    // This is not a git repository, so .gitignore does not count, as with ripgrep.
    let summary = world.index_docs();
    assert_eq!(world.found("*"), ["git.txt", "kept.txt", "sub/kept.txt"]);
    assert_counts(&summary, &[("added", 3)]);

    fs_err::create_dir(world.docs().join(".git")).unwrap();
    world.index(&[]);
    assert_eq!(world.found("*"), ["kept.txt", "sub/kept.txt"]);

    world.index(&["--hidden", "docs"]);
    let found = world.found("*");
    assert!(found.contains(&".hidden.txt".to_owned()), "{found:?}");
    assert!(!found.contains(&"own.txt".to_owned()), "{found:?}");

    world.index(&["--no-ignore", "docs"]);
    assert_eq!(
        world.found("*"),
        [
            "git.txt",
            "kept.txt",
            "own.txt",
            "plain.txt",
            "sub/deep/no.txt",
            "sub/kept.txt"
        ]
    );
}

#[test]
fn gits_global_ignore_file_counts_where_there_is_one() {
    let world = World::new();
    fs_err::create_dir(world.docs().join(".git")).unwrap();
    world.write("a.txt", "x");
    world.write("a.log", "x");
    let run = world.ken(["index", "docs"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "none is no error");
    assert_eq!(world.found("*"), ["a.log", "a.txt"]);
    let file = world.home().join("config/git/ignore");
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    fs_err::write(file, "*.log\n").unwrap();
    world.index(&[]);
    assert_eq!(world.found("*"), ["a.txt"]);
}

#[test]
fn roots_are_added_and_forgotten() {
    let world = World::new();
    world.write("one/a.txt", "x");
    world.write("two/b.txt", "x");
    world.write("three.txt", "x");
    assert_counts(
        &world.index(&["docs/one", "docs/three.txt"]),
        &[("added", 2)],
    );
    assert_counts(
        &world.index(&["docs/two"]),
        &[("added", 1), ("unchanged", 2)],
    );
    assert_eq!(world.found("*"), ["one/a.txt", "three.txt", "two/b.txt"]);

    let summary = world.index(&["--forget", "docs/one"]);
    assert_counts(&summary, &[("gone", 1), ("unchanged", 2)]);
    assert_eq!(world.found("*"), ["three.txt", "two/b.txt"]);
    assert!(world.docs().join("one/a.txt").exists());

    // A root that no longer exists is kept until it is forgotten.
    fs_err::remove_dir_all(world.docs().join("two")).unwrap();
    let run = world.ken(["index", "--json"]);
    assert_counts(&run.summary(), &[("unchanged", 1), ("kept", 1)]);
    assert!(
        run.err
            .contains("is absent; what the index knows of it is kept"),
        "{}",
        run.err
    );
    assert_eq!(world.found("*"), ["three.txt", "two/b.txt"]);
    world.index(&["--forget", "docs/two"]);
    assert_eq!(world.found("*"), ["three.txt"]);

    let run = world.ken(["index", "--forget", "docs/one"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("is not a root of the index\nhint: ken status"),
        "{}",
        run.err
    );
}

#[test]
fn a_path_that_a_root_finds_anyway_is_no_root() {
    let world = World::new();
    world.write("one/a.txt", "one");
    world.write(".kenignore", "drafts\n");
    world.write("drafts/b.txt", "two");
    world.index_docs();
    let roots = || {
        let status = world.ken(["status", "--json"]).objects().remove(0);
        let roots = status["roots"].as_array().unwrap().clone();
        let path = |root: &Value| root["path"].as_str().unwrap().to_owned();
        roots.iter().map(path).collect::<Vec<_>>()
    };
    let docs = world.docs();
    let docs = docs.to_str().unwrap();

    world.write("one/a.txt", "one changed");
    assert_counts(&world.index(&["docs/one/a.txt"]), &[("changed", 1)]);
    world.index(&["docs/one"]);
    assert_eq!(roots(), [docs]);
    world.index(&["--forget", "docs"]);
    world.index(&["docs/one", "docs"]);
    assert_eq!(roots(), [docs], "in any order");
    // The rules of the root leave it out; with other options it is another root.
    world.index(&["docs/drafts"]);
    world.index(&["--hidden", "docs/one"]);
    assert_eq!(
        roots(),
        [
            docs.to_owned(),
            format!("{docs}/drafts"),
            format!("{docs}/one")
        ]
    );
}

#[test]
fn status_names_a_root_that_is_absent() {
    let world = World::new();
    world.write("a.txt", "one");
    world.index_docs();
    assert!(!world.ken(["status"]).text().contains("absent"));
    fs_err::remove_dir_all(world.docs()).unwrap();
    let status = world.ken(["status"]);
    let status = status.text();
    assert!(
        status.contains("docs (absent; what is known of it is kept)\n"),
        "{status}"
    );
    let status = world.ken(["status", "--json"]).objects().remove(0);
    assert_eq!(status["roots"][0]["unavailable"], "absent");
}

#[test]
fn everything_is_read_again_when_asked() {
    let world = World::new();
    world.write("a.txt", "one");
    world.write("three.mbox", fixture("mail/three.mbox"));
    world.index_docs();
    let before = world.found("*");
    let summary = world.index(&["--full"]);
    assert_counts(&summary, &[("changed", 2)]);
    assert_eq!(world.found("*"), before);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let world = World::new();
    world.write("a.txt", "one");
    let missing = world.home().join("missing");
    for (args, message) in [
        (
            &["index"][..],
            "ken: the index has no roots yet\nhint: name a folder: ken index ~/Documents\n",
        ),
        (
            &["index", "missing"],
            "ken: cannot index \"missing\": no such file or directory\n",
        ),
        (&["index", "--forget", "docs"], "is not a root of the index"),
        (&["--data", "docs/a.txt/x", "index", "docs"], "a.txt/x"),
        (
            &["index", "--memory", "much", "docs"],
            "ken: \"much\" is not a size\n",
        ),
    ] {
        let run = world.ken(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains(message), "{args:?}: {}", run.err);
        assert!(run.out.is_empty(), "{args:?}: {}", run.text());
    }
    assert!(!missing.exists());
}

#[test]
fn the_index_may_lie_below_a_root() {
    let world = World::new();
    world.write("a.txt", "one");
    for _ in 0..2 {
        world.index(&["."]);
    }
    assert_eq!(world.found("dir:docs"), ["a.txt"]);
    assert_eq!(world.hits("*").len(), 1);
    assert_counts(&world.index(&[]), &[("unchanged", 1)]);
}

#[test]
fn threads_and_memory_do_not_change_the_answers() {
    let world = World::new();
    for name in ["archive/folders.zip", "mail/three.mbox", "sample.docx"] {
        world.add_fixture(name);
    }
    world.index_docs();
    let expected = world.found("*");
    for args in [
        &["--threads", "1"][..],
        &["--threads", "7"],
        &["--memory", "20M"],
        &["--set", "threads=3", "--set", "memory=\"1M\""],
    ] {
        world.index(&[args, &["--full"]].concat());
        assert_eq!(world.found("*"), expected, "{args:?}");
    }
}

#[test]
fn a_second_run_waits_for_the_first() {
    let world = World::new();
    world.write("a.txt", "one");
    fs_err::create_dir_all(world.data()).unwrap();
    let lock = File::create(world.data().join("ken.lock")).unwrap();
    lock.lock().unwrap();
    let mut waiting = world.spawn(["index", "--json", "docs"]);
    // The message about waiting comes within about a second.
    let mut line = String::new();
    let mut out = std::io::BufReader::new(waiting.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let object: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&object["event"], &object["waiting"]),
        (&"progress".into(), &true.into())
    );
    assert_eq!(waiting.try_wait().unwrap(), None);
    lock.unlock().unwrap();
    std::io::Read::read_to_string(&mut out, &mut line).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(world.found("one"), ["a.txt"]);
}

#[test]
fn runs_at_once_all_end_well() {
    let world = World::new();
    for number in 0..60 {
        world.write(format!("{number}.txt"), format!("otter {number}"));
    }
    let runs: Vec<_> = (0..4)
        .map(|_| world.spawn(["index", "--json", "docs"]))
        .collect();
    let mut added = 0;
    for run in runs {
        let run = Run::of_child(run);
        assert_eq!(run.code, 0, "{}", run.err);
        added += run.summary()["added"].as_u64().unwrap();
    }
    assert_eq!(added, 60);
    assert_eq!(world.hits("otter").len(), 60);
}

#[test]
fn readers_see_whole_commits_while_a_run_writes() {
    let world = World::new();
    for number in 0..150 {
        world.write(format!("{number}.txt"), "otter first");
    }
    world.index_docs();
    for number in 0..150 {
        world.write(format!("{number}.txt"), "otter second time");
    }
    let mut run = world.spawn(["index", "--json", "--set", "commit_seconds=1"]);
    while run.try_wait().unwrap().is_none() {
        let search = world.ken(["search", "-c", "otter first OR otter second"]);
        assert_eq!(search.code, 0, "{}", search.err);
    }
    assert_eq!(Run::of_child(run).code, 0);
    assert_eq!(world.hits("otter second").len(), 150);
    assert!(world.hits("otter AND first").is_empty());
}

#[test]
fn a_trace_shows_what_threads_do() {
    let world = World::new();
    for number in 0..30 {
        world.write(format!("{number}.txt"), "otter ".repeat(2000));
    }
    let run = world.ken([
        "index",
        "-q",
        "--trace",
        "trace.json",
        "--threads=2",
        "docs",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let text = fs_err::read_to_string(world.home().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    // Short stages are recorded together.
    let count = |name: &str| -> u64 {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        let events = events.filter(|event| event["name"] == name);
        events
            .map(|event| event["args"]["times"].as_u64().unwrap_or(1))
            .sum()
    };
    assert_eq!(
        (count("extract"), count("index"), count("walk")),
        (30, 30, 1)
    );
    assert!(count("commit") > 0 && count("waiting") > 0 && count("cores") > 0);
    let nowhere = world.ken(["index", "--trace", "none/trace.json"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("none/trace.json"), "{}", nowhere.err);
}

#[test]
fn all_arrangements_of_threads_make_the_same_index() {
    let mut tree = Tree::new(7, 60);
    tree.world.ken(["--data", "one", "index", "-q", "docs"]);
    let arrangements: [&[&str]; 6] = [
        &["--extract-threads=0"],
        &[
            "--extract-threads=1",
            "--index-threads=1",
            "--queue-bytes=1k",
        ],
        &["--extract-threads=3", "--index-threads=2"],
        &["--extract-threads=3", "--segment-builders=1"],
        &[
            "--extract-threads=0",
            "--index-threads=2",
            "--segment-builders=1",
        ],
        &["--threads=4"],
    ];
    for round in 0..2 {
        for (number, how) in arrangements.iter().enumerate() {
            let data = format!("data{number}");
            let args = ["--data", &data, "index", "-q", "--commit-bytes=5k", "docs"];
            let run = tree.world.ken(args.iter().chain(*how));
            assert_eq!(run.code, 0, "{how:?}: {}", run.err);
            if round == 0 {
                let found = documents(&tree.world, &data);
                assert_eq!(found, documents(&tree.world, "one"), "{how:?}");
            }
        }
        tree.edit();
    }
    let _ = fs_err::remove_dir_all(tree.world.home().join("one"));
    for data in ["one", "data0", "data1", "data2", "data3", "data4", "data5"] {
        tree.world.ken(["--data", data, "index", "-q", "docs"]);
        let found = documents(&tree.world, data);
        assert_eq!(found, documents(&tree.world, "one"), "{data}");
    }
}

#[test]
fn without_a_terminal_others_go_first() {
    let world = World::new();
    for number in 0..400 {
        world.write(
            format!("{number}.mbox"),
            mbox(&vec!["otter".to_owned(); 50]),
        );
    }
    // Fields 19 and 41, counted after the name in parentheses, which is the second: the nice value, and the
    // scheduling class, of which 5 is SCHED_IDLE. See proc_pid_stat(5).
    let class = |stat: &str| {
        let text = fs_err::read_to_string(stat).unwrap();
        let (_, fields) = text.rsplit_once(") ").unwrap();
        let fields: Vec<_> = fields.split(' ').map(str::to_owned).collect();
        (fields[16].clone(), fields[38].clone())
    };
    let own = class("/proc/self/stat");
    let lowest = ("19".to_owned(), "5".to_owned());
    for (how, expected) in [(&["docs"][..], lowest), (&["--fast", "--full"], own)] {
        let mut command = world.command(["index", "--threads", "1", "-q"].iter().chain(how));
        command.env_remove("KEN_FAST");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = command.spawn().unwrap();
        let stat = format!("/proc/{}/stat", run.id());
        let deadline = Instant::now() + Duration::from_secs(60);
        while class(&stat) != expected {
            assert!(Instant::now() < deadline, "{how:?}: {:?}", class(&stat));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Run::of_child(run).code, 0);
    }
}

#[test]
fn indexing_can_be_paused() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    world.write("b.txt", "otter");
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    let status = world.ken(["status"]);
    assert!(
        status
            .text()
            .contains("paused     until ken index --resume\n")
    );
    let run = world.spawn(["index", "--json"]);
    std::thread::sleep(Duration::from_millis(300));
    // A dry run waits for no other run.
    assert_eq!(world.hits("otter").len(), 1);
    assert!(
        world
            .ken(["index", "--dry-run"])
            .text()
            .starts_with("added")
    );
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    assert_counts(
        &Run::of_child(run).summary(),
        &[("added", 1), ("unchanged", 1)],
    );
    assert_eq!(world.hits("otter").len(), 2);

    let again = world.ken(["index", "--resume"]);
    assert_eq!(
        (again.code, again.err.as_str()),
        (0, "ken: indexing was not paused\n")
    );
    assert_eq!(world.ken(["index", "--pause=1d"]).code, 0);
    let until = &world.ken(["status", "--json"]).objects()[0]["paused_until"];
    assert!(until.as_str().unwrap().ends_with('Z'), "{until}");
    assert_eq!(world.ken(["index", "--pause=1s"]).code, 0);
    world.index(&[]);
    let wrong = world.ken(["index", "--pause=soon"]);
    assert_eq!((wrong.code, wrong.err.contains("--pause=soon")), (2, true));
}
