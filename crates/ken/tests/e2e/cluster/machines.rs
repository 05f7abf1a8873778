//! Several machines with one index in a cluster: each has a data folder of its own.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Both, PATIENCE, comparable};
use crate::world::{Run, assert_counts};

/// Returns the names of what a machine finds.
#[track_caller]
fn found(both: &Both, data: &str, query: &str) -> Vec<String> {
    let run = both.on(data, &["search", "--json", "--sort", "path", "--", query]);
    assert!(run.code < 2, "{}", run.err);
    let docs = format!("{}/", both.world.docs().display());
    let hits = run.objects().into_iter();
    let paths = hits.filter_map(|hit| Some(hit["path"].as_str()?.to_owned()));
    paths.map(|path| path.replace(&docs, "")).collect()
}

#[test]
fn tags_are_those_of_all_machines() {
    let both = Both::new();
    both.fill();
    let on = |data: &str, arguments: &[&str]| {
        let run = both.on(data, arguments);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}");
        run
    };
    on("a", &["index", "docs"]);
    let tag = |data: &str, arguments: &[&str]| {
        let run = both.on(data, &[&["tag"], arguments].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    };
    tag("a", &["+town", "budget"]);
    tag("b", &["+old", "bridge"]);
    tag("b", &["-town", "name:main.rs"]);
    let town = ["budget.txt", "notes/budgets.md"];
    let old = found(&both, "a", "bridge");
    for data in ["a", "b", "c"] {
        assert_eq!(found(&both, data, "tag:town"), town);
        assert_eq!(found(&both, data, "tag:old"), old);
    }
    // Whichever machine reads a file again, and from wherever: it has the tags of all of them.
    for (data, arguments) in [
        ("b", &["index"][..]),
        ("a", &["index", "--full"]),
        ("c", &["index", "--full"]),
    ] {
        on(data, arguments);
        assert_eq!(found(&both, "a", "tag:town"), town, "{arguments:?}");
        assert_eq!(found(&both, "a", "tag:old"), old, "{arguments:?}");
    }
    both.world
        .write("notes/budgets.md", "# Budgets\n\nThree budgets");
    both.world.rename("budget.txt", "notes/moved.txt");
    let run = on("c", &["index", "--json"]);
    assert_counts(
        &run.summary(),
        &[("changed", 1), ("moved", 1), ("unchanged", 6)],
    );
    on("b", &["index", "--full"]);
    assert_eq!(
        found(&both, "b", "tag:town"),
        ["notes/budgets.md", "notes/moved.txt"]
    );
    assert!(!both.world.home().join("a/tags").exists());
    // A quiet run brings nothing in, on any machine.
    let run = on("a", &["index", "--json"]);
    assert_eq!(run.summary()["committed"], false);
}

#[test]
fn tags_move_to_the_cluster_and_back() {
    let both = Both::new();
    both.fill();
    let embedded = "--set=engine.kind=embedded";
    let of_folder = |arguments: &[&str]| both.there(&[&[embedded], arguments].concat());
    let done = |run: crate::world::Run| assert_eq!(run.code, 0, "{}", run.err);
    done(of_folder(&["index", "docs"]));
    done(of_folder(&["tag", "+town", "budget"]));
    done(of_folder(&["index", "--move-to", "opensearch"]));
    done(both.on("b", &["tag", "+old", "bridge"]));
    done(both.on("b", &["index", "--full"]));
    assert_eq!(found(&both, "b", "tag:town").len(), 3);
    fs_err::remove_dir_all(both.world.home().join("other/index")).unwrap();
    done(both.there(&["index", "--move-to", "embedded"]));
    // Each line is there once.
    let log = fs_err::read_to_string(both.world.home().join("other/tags")).unwrap();
    let of_town = log.lines().filter(|line| line.contains("+town"));
    assert_eq!(of_town.count(), 3, "{log}");
    done(of_folder(&["index", "--full"]));
    for tag in ["tag:town", "tag:old"] {
        let run = of_folder(&["search", "--count", tag]);
        let count = both.on("b", &["search", "--count", tag]);
        assert_eq!(run.text(), count.text());
        assert_ne!(run.text().trim(), "0");
    }
}

/// The files that machines share, in folders of their own.
const N_FILES: usize = 500;

/// A machine whose run is under way.
pub(super) struct Machine(Option<Child>);

impl Machine {
    /// Starts `ken index` on the machine with a data folder.
    pub(super) fn start(both: &Both, data: &str) -> Self {
        Self::start_with(both, data, &[])
    }

    /// The same with more options.
    pub(super) fn start_with(both: &Both, data: &str, more: &[&str]) -> Self {
        let of_cluster = ["--config", "cluster.toml", "--data", data];
        let index = ["index", "--json", "--threads", "1", "docs"];
        let arguments = of_cluster.iter().chain(&index).chain(more);
        Self(Some(both.world.spawn(arguments)))
    }

    pub(super) fn signal(&self, signal: &str) {
        let pid = self.0.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }

    pub(super) fn end(mut self) -> Run {
        Run::of_child(self.0.take().unwrap())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until the root document is as it is expected.
#[track_caller]
pub(super) fn wait_for(both: &Both, what: &str, is_so: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    loop {
        let root = both.node.root();
        if root.as_ref().is_some_and(&is_so) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: {root:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(super) fn n_offered(root: &Value) -> usize {
    root["work"]["offered"].as_array().map_or(0, Vec::len)
}

pub(super) fn n_claimed(root: &Value) -> usize {
    let leases = root["leases"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    leases
        .iter()
        .filter(|lease| !lease["share"].is_null())
        .count()
}

/// Returns a world of many files, and the machine whose run has begun to share them, and is stopped.
fn sharing() -> (Both, Machine) {
    sharing_with(&[])
}

/// The same with more options of the run.
fn sharing_with(more: &[&str]) -> (Both, Machine) {
    sharing_over(Both::new(), more)
}

pub(super) fn sharing_over(both: Both, more: &[&str]) -> (Both, Machine) {
    both.fill();
    for n in 0..N_FILES {
        let text = format!(
            "The weir number{n} of the river is old. {}",
            "stone ".repeat(6 + n % 50)
        );
        both.world.write(format!("weirs/{}/{n}.txt", n % 7), text);
    }
    both.world.index(&["docs"]);
    let run = Machine::start_with(&both, "a", more);
    wait_for(&both, "a share", |root| n_offered(root) > 0);
    run.signal("-STOP");
    (both, run)
}

/// Compares the index with that of the embedded engine: each document is there once.
#[track_caller]
fn assert_whole(both: &Both) {
    for query in [
        "weir",
        "bridge",
        "stone",
        "number77",
        "type:message",
        "dir:weirs",
    ] {
        let order = ["--sort", "path", "--limit", "1000", "--group", "none"];
        let arguments = [&["search", "--json"], &order[..], &["--", query]].concat();
        let (here, there) = (both.world.ken(&arguments), both.there(&arguments));
        let (here, there) = (comparable(here.text()), comparable(there.text()));
        let differs = here.iter().zip(&there).find(|(here, there)| here != there);
        assert_eq!((differs, here.len()), (None, there.len()), "{query}");
    }
    let status = |run: Run| run.objects().remove(0);
    let (here, there) = (
        both.world.ken(["status", "--json"]),
        both.there(&["status", "--json"]),
    );
    let (here, there) = (status(here), status(there));
    for name in ["documents", "files", "types", "roots", "failed"] {
        assert_eq!(here[name], there[name], "{name}");
    }
    let again = both.on("c", &["index", "--json"]);
    let n_all = N_FILES as u64 + 8;
    assert_counts(&again.summary(), &[("unchanged", n_all)]);
}

#[test]
fn machines_share_a_run() {
    let (both, run) = sharing();
    let helper = Machine::start(&both, "b");
    wait_for(&both, "no share", |root| {
        n_offered(root) + n_claimed(root) == 0
    });
    let state = both.on("c", &["status"]);
    assert!(state.text().contains("writer"), "{}", state.text());
    assert!(
        state.text().contains("; the whole run: "),
        "{}",
        state.text()
    );
    run.signal("-CONT");
    let (run, helped) = (run.end(), helper.end());
    assert_eq!(
        (run.code, helped.code),
        (0, 0),
        "{} {}",
        run.err,
        helped.err
    );
    assert_counts(
        &run.summary(),
        &[("added", N_FILES as u64 + 8), ("changed", 0)],
    );
    let n_helped = helped.summary()["added"].as_u64().unwrap();
    assert!(n_helped > 0, "{}", helped.err);
    assert!(
        helped.err.contains("another machine had the run"),
        "{}",
        helped.err
    );
    assert_eq!(
        run.summary()["documents"].as_u64(),
        Some(N_FILES as u64 + 8)
    );
    assert_whole(&both);
}

#[test]
fn a_machine_that_waits_says_who_has_the_run() {
    let (both, run) = sharing();
    let of_cluster = ["--config", "cluster.toml", "--data", "b"];
    let index = ["index", "--threads", "1", "docs"];
    let waiting = Machine(Some(both.world.spawn(of_cluster.iter().chain(&index))));
    wait_for(&both, "no share", |root| {
        n_offered(root) + n_claimed(root) == 0
    });
    // It writes a line every five seconds.
    std::thread::sleep(Duration::from_secs(9));
    run.signal("-CONT");
    assert_eq!(run.end().code, 0);
    let waited = waiting.end();
    let says = "waiting for the run of another machine, ";
    assert!(waited.err.contains(says), "{}", waited.err);
    assert!(waited.err.contains("documents written"), "{}", waited.err);
}

#[test]
fn a_machine_that_sleeps_over_its_share_changes_nothing() {
    let (both, run) = sharing();
    let helper = Machine::start(&both, "b");
    wait_for(&both, "a claim", |root| n_claimed(root) > 0);
    helper.signal("-STOP");
    run.signal("-CONT");
    // The lease is over after half a minute, and this machine does the share.
    let run = run.end();
    assert_eq!(run.code, 0, "{}", run.err);
    assert_counts(&run.summary(), &[("added", N_FILES as u64 + 8)]);
    assert_whole(&both);
    helper.signal("-CONT");
    let helped = helper.end();
    assert_eq!(helped.code, 0, "{}", helped.err);
    assert_counts(&helped.summary(), &[("added", 0)]);
    assert_whole(&both);
}

#[test]
fn a_run_whose_machine_dies_is_done_by_another() {
    let (both, run) = sharing();
    let helper = Machine::start(&both, "b");
    wait_for(&both, "no share", |root| {
        n_offered(root) + n_claimed(root) == 0
    });
    run.signal("-KILL");
    let helped = helper.end();
    assert_eq!(helped.code, 0, "{}", helped.err);
    // What it had done as a helper is a part of the index.
    let n_added = helped.summary()["added"].as_u64().unwrap();
    assert!((1..N_FILES as u64 + 8).contains(&n_added), "{n_added}");
    assert_whole(&both);
}

/// The machine that has them reads the files that were left, and no others again, although it was to read all.
#[test]
fn a_file_that_a_machine_has_not_is_read_by_the_one_that_has_it() {
    let (both, run) = sharing_over(Both::over_fake(), &["--full"]);
    // The helper has none of the files of its shares. Those that the run itself reads stay as they are.
    let shared = both.node.as_fake().shared_files("archive");
    assert!(!shared.is_empty());
    let away = both.world.home().join("away");
    fs_err::create_dir(&away).unwrap();
    for (n, path) in shared.iter().enumerate() {
        fs_err::rename(path, away.join(n.to_string())).unwrap();
    }
    let helper = Machine::start(&both, "b");
    wait_for(&both, "no share", |root| {
        n_offered(root) + n_claimed(root) == 0
    });
    for (n, path) in shared.iter().enumerate() {
        fs_err::rename(away.join(n.to_string()), path).unwrap();
    }
    run.signal("-CONT");
    let (run, helped) = (run.end(), helper.end());
    assert_eq!(
        (run.code, helped.code),
        (0, 0),
        "{} {}",
        run.err,
        helped.err
    );
    let n_all = N_FILES as u64 + 8;
    let n_helped = helped.summary()["added"].as_u64().unwrap();
    assert!(n_helped <= n_all - shared.len() as u64, "{n_helped}");
    assert_counts(&run.summary(), &[("added", n_all), ("changed", 0)]);
    assert_eq!(run.summary()["documents"], n_all, "none is read twice");
    assert_whole(&both);
}

#[test]
fn a_machine_that_notes_no_rights_helps_no_run_that_does() {
    let enforce = "--set=access.enforce=true";
    let (both, run) = sharing_with(&[enforce]);
    let helper = Machine::start(&both, "b").end();
    assert_eq!(helper.code, 2, "{}", helper.err);
    assert!(
        helper.err.contains("access.enforce is off"),
        "{}",
        helper.err
    );
    assert_eq!(n_claimed(&both.node.root().unwrap()), 0);
    let helper = Machine::start_with(&both, "c", &[enforce]);
    wait_for(&both, "no share", |root| {
        n_offered(root) + n_claimed(root) == 0
    });
    run.signal("-CONT");
    assert_eq!((run.end().code, helper.end().code), (0, 0));
    let again = both.on("a", &[enforce, "index", "--json"]);
    assert_counts(&again.summary(), &[("unchanged", N_FILES as u64 + 8)]);
}

#[test]
fn an_index_gets_more_shards_without_a_look_at_the_files() {
    let both = Both::new();
    both.fill();
    both.index(&["docs"]);
    let done = |run: &Run| assert_eq!(run.code, 0, "{}", run.err);
    done(&both.there(&["tag", "+town", "budget"]));
    done(&both.world.ken(["tag", "+town", "budget"]));
    // A copy that read files would find nothing.
    let hidden = both.world.home().join("hidden");
    fs_err::rename(both.world.docs(), &hidden).unwrap();
    let run = both.there(&["index", "--json", "--shards", "3"]);
    done(&run);
    assert_eq!(run.summary()["documents"], 8);
    fs_err::rename(hidden, both.world.docs()).unwrap();
    let root = both.node.root().unwrap();
    let documents = root["documents"].as_str().unwrap();
    assert!(documents.starts_with(&format!("{}-documents-", both.node.name())));
    for query in [
        "bridge",
        "tag:town",
        "\"the old one\"",
        "dir:notes",
        "type:message",
    ] {
        both.same(&["search", "--json", "--sort", "path", "--", query]);
    }
    assert_counts(&both.index(&[]), &[("unchanged", 8)]);
    both.world.write("new.txt", "A new bridge");
    assert_counts(&both.index(&[]), &[("added", 1), ("unchanged", 8)]);
    both.same(&["search", "--paths", "--sort", "path", "bridge"]);
    let here = both.world.ken(["index", "--shards", "3"]);
    assert!(here.err.contains("has no shards"), "{}", here.err);
}

#[test]
fn an_index_of_another_schema_is_filled_anew_without_a_look_at_the_files() {
    let both = Both::over_fake();
    both.fill();
    both.index(&["docs"]);
    both.node.as_fake().change_root("archive", |root| {
        root["schema"]["mapping"] = "another".into()
    });
    for arguments in [
        &["search", "bridge"][..],
        &["index"],
        &["show", "docs/budget.txt"],
    ] {
        let run = both.there(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        for part in ["filled by another version of ken", "ken index --shards N"] {
            assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
        }
    }
    let hidden = both.world.home().join("hidden");
    fs_err::rename(both.world.docs(), &hidden).unwrap();
    let run = both.there(&["index", "--json", "--shards", "1"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    fs_err::rename(hidden, both.world.docs()).unwrap();
    both.same(&["search", "--paths", "--sort", "path", "bridge"]);
    assert_counts(&both.index(&[]), &[("unchanged", 8)]);
}
