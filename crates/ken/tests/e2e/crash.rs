//! Runs that are killed or stopped: the next one ends with the answers of a fresh index.
//!
//! `KEN_TEST_KILLS` sets the number of kills, and `KEN_TEST_SEED` the moments and the edits.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::samples::{fixture, mbox, pdf, tar};
use crate::world::{Run, World};
use fastrand::Rng;

/// The number of kills if the variable is not set.
const KILLS: u64 = 18;
/// The numbers of files and folders of the tree, and the words in the files.
const FILES: usize = 300;
const FOLDERS: usize = 7;
const WORDS: [&str; 8] = [
    "otter", "stoat", "marten", "badger", "beaver", "lynx", "heron", "crane",
];

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// A tree of files that changes at random.
pub(crate) struct Tree {
    pub(crate) world: World,
    pub(crate) random: Rng,
    /// The approximate number of files.
    size: usize,
    pub(crate) names: Vec<String>,
    /// The number from which new names are made.
    next: usize,
}

impl Tree {
    pub(crate) fn new(seed: u64, size: usize) -> Self {
        let mut tree = Self {
            world: World::new(),
            random: Rng::with_seed(seed),
            size,
            names: Vec::new(),
            next: 0,
        };
        for _ in 0..size {
            tree.add();
        }
        tree
    }

    fn sentence(&mut self) -> String {
        let length = 2 + self.random.usize(..200);
        let words = (0..length).map(|_| WORDS[self.random.usize(..WORDS.len())]);
        words.collect::<Vec<_>>().join(" ")
    }

    fn several(&mut self) -> Vec<String> {
        let count = 1 + self.random.usize(..12);
        (0..count).map(|_| self.sentence()).collect()
    }

    /// Returns an extension and content that fits it.
    fn content(&mut self) -> (&'static str, Vec<u8>) {
        match self.random.usize(..10) {
            0 => ("mbox", mbox(&self.several()).into_bytes()),
            1 => {
                let texts = self.several();
                let names: Vec<_> = (0..texts.len()).map(|n| format!("in/{n}.txt")).collect();
                let members: Vec<_> = names
                    .iter()
                    .zip(&texts)
                    .map(|(n, t)| (&n[..], &t[..]))
                    .collect();
                ("tar", tar(&members))
            }
            2 => ("pdf", pdf(&self.sentence(), "Nobody", &[&self.sentence()])),
            3 => ("pdf", b"%PDF-1.4 broken".to_vec()),
            4 => ("docx", fixture("sample.docx")),
            5 => ("zip", fixture("archive/folders.zip")),
            6 => ("md", format!("# {}\n\nText", self.sentence()).into_bytes()),
            _ => ("txt", self.sentence().into_bytes()),
        }
    }

    fn new_name(&mut self, extension: &str) -> String {
        self.next += 1;
        format!("{}/{}.{extension}", self.random.usize(..FOLDERS), self.next)
    }

    fn add(&mut self) {
        let (extension, content) = self.content();
        let name = self.new_name(extension);
        self.world.write(&name, content);
        self.names.push(name);
    }

    /// Adds messages to a mailbox.
    fn append(&mut self, name: &str) {
        let path = self.world.docs().join(name);
        let mut content = fs_err::read(&path).unwrap();
        content.extend(mbox(&self.several()).into_bytes());
        self.world.write(name, content);
    }

    /// Writes a sidecar next to a file, or changes the existing one.
    fn add_sidecar(&mut self, of: &str) {
        let name = format!("{of}.xmp");
        let content = crate::sidecar::xmp(&self.sentence());
        self.world.write(&name, content);
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Lets some folders give other fields than before.
    fn configure(&mut self) {
        let mut settings = String::new();
        for folder in 0..self.random.usize(..FOLDERS) {
            let author = WORDS[self.random.usize(..WORDS.len())];
            settings.push_str(&format!(
                "[[folder]]\npath = \"~/docs/{folder}\"\nfields.author = \"{author}\"\n"
            ));
        }
        self.world.configure(&settings);
    }

    /// Changes, moves, deletes or adds some files; now and then changes the settings too.
    pub(crate) fn edit(&mut self) {
        if self.random.usize(..3) == 0 {
            self.configure();
        }
        for _ in 0..1 + self.random.usize(..self.size / 4) {
            let at = self.random.usize(..self.names.len());
            let name = self.names[at].clone();
            let extension = name.rsplit('.').next().unwrap().to_owned();
            match self.random.usize(..6) {
                5 if extension == "mbox" => self.append(&name),
                0 => {
                    let (_, content) = self.content();
                    self.world.write(&name, content);
                }
                1 => {
                    let new = self.new_name(&extension);
                    self.world.rename(&name, &new);
                    self.names[at] = new;
                }
                2 if self.names.len() > self.size / 2 => {
                    self.world.remove(&name);
                    self.names.swap_remove(at);
                }
                3 => self.add_sidecar(&name),
                _ => self.add(),
            }
        }
    }
}

const INDEX: [&str; 6] = [
    "index",
    "--json",
    "--set",
    "commit_seconds=0.02",
    "--threads=3",
    "docs",
];

/// Returns what a user sees of an index: all documents, and the answers to some queries.
fn answers(world: &World, data: &str) -> (Vec<Value>, Vec<BTreeSet<String>>) {
    let hits = |query: &str| hits(world, data, query);
    let documents = documents(world, data);
    let queries = WORDS.into_iter().chain([
        "otter stoat -lynx",
        "\"heron crane\"",
        "type:message beaver",
        "is:failed",
        "is:member",
        "dir:3",
        "title:badger*",
        "author:heron",
        "keywords:lynx",
        "size:>1k",
        "quokkaberg OR stalagtoad",
    ]);
    let locations = |query| hits(query).iter().map(|hit| world.location(hit)).collect();
    (documents, queries.map(locations).collect())
}

/// Returns all documents of an index, in an order that does not depend on the index.
pub(crate) fn documents(world: &World, data: &str) -> Vec<Value> {
    let hits = hits(world, data, "*").into_iter();
    let mut documents: Vec<Value> = hits.map(without_rank).collect();
    documents.sort_by_key(Value::to_string);
    documents
}

fn hits(world: &World, data: &str, query: &str) -> Vec<Value> {
    let args = ["search", "--json", "-n0", "--sort=path", "--", query];
    let run = world.ken(["--data", data].into_iter().chain(args));
    assert!(run.code < 2, "{query}: {}", run.err);
    let mut hits = run.objects();
    hits.retain(|object| object["path"].is_string());
    hits
}

/// Removes what depends on the order of hits, or on the index: each names its documents in its own way.
fn without_rank(mut hit: Value) -> Value {
    let hit: &mut Map<String, Value> = hit.as_object_mut().unwrap();
    for key in ["id", "rank", "score"] {
        hit.remove(key);
    }
    Value::Object(std::mem::take(hit))
}

fn index(world: &World, data: &str) -> Run {
    let run = world.ken(["--data", data].into_iter().chain(INDEX));
    assert_eq!(run.code, 0, "{}", run.err);
    run
}

/// Asserts that the index gives the answers of a fresh one.
pub(crate) fn assert_converged(world: &World, seed: u64) {
    let fresh = world.home().join("fresh");
    let _ = fs_err::remove_dir_all(&fresh);
    index(world, "fresh");
    let (documents, locations) = answers(world, "data");
    let (expected_documents, expected_locations) = answers(world, "fresh");
    for (document, expected) in documents.iter().zip(&expected_documents) {
        assert_eq!(document, expected, "KEN_TEST_SEED={seed}");
    }
    assert_eq!(
        documents.len(),
        expected_documents.len(),
        "KEN_TEST_SEED={seed}"
    );
    assert_eq!(locations, expected_locations, "KEN_TEST_SEED={seed}");
}

#[test]
fn a_killed_run_converges() {
    let seed = number("KEN_TEST_SEED", 1);
    let mut tree = Tree::new(seed, FILES);
    let mut killed = 0;
    // The last moment for a kill. It follows the length of the runs, so that about half of them are
    // killed before their end, on a fast machine and on a busy one.
    let mut latest_us = 200_000;
    while killed < number("KEN_TEST_KILLS", KILLS) {
        let full = (killed % 3 == 0).then_some("--full");
        let args = ["--data", "data"].into_iter().chain(INDEX).chain(full);
        let mut run = tree.world.spawn(args);
        let moment = Duration::from_micros(tree.random.usize(..latest_us) as u64);
        std::thread::sleep(moment);
        if run.try_wait().unwrap().is_some() {
            latest_us = (latest_us * 3 / 4).max(1_000);
            tree.edit();
            continue;
        }
        run.kill().unwrap();
        run.wait().unwrap();
        latest_us = latest_us * 5 / 4;
        killed += 1;
        // The next run usually finds another tree, and now and then the same.
        if killed % 3 != 0 {
            tree.edit();
        }
        if killed % 6 == 0 {
            index(&tree.world, "data");
            assert_converged(&tree.world, seed);
            tree.edit();
        }
    }
    index(&tree.world, "data");
    assert_converged(&tree.world, seed);
    let again = index(&tree.world, "data").summary();
    assert_eq!(again["committed"], false);
    assert_eq!(again["unchanged"], tree.names.len());
}

#[test]
fn updates_give_the_answers_of_a_fresh_index() {
    let seed = number("KEN_TEST_SEED", 2);
    let mut tree = Tree::new(seed, FILES);
    for _ in 0..6 {
        index(&tree.world, "data");
        tree.edit();
    }
    index(&tree.world, "data");
    assert_converged(&tree.world, seed);
}

/// Sends a signal as a terminal would.
fn signal(process: u32, name: &str) {
    let status = Command::new("/bin/sh")
        .args(["-c", &format!("kill -{name} {process}")])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn roots_that_were_not_seen_to_the_end_are_not_trusted() {
    let world = World::new();
    let other = world.home().join("other");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("first.txt"), "otter").unwrap();
    world.index(&["other"]);
    for number in 0..300 {
        world.write(
            format!("{number}.mbox"),
            mbox(&vec!["stoat".to_owned(); 100]),
        );
    }
    let run = world.spawn(["index", "--threads", "1", "docs"]);
    wait_until_it_writes(&world);
    signal(run.id(), "INT");
    let run = Run::of_child(run);
    assert_eq!(run.code, 130, "{}", run.err);
    let found = |how| {
        world
            .ken(["grep", "--sort", "path", how, "-c", "stoat", "docs"])
            .out
    };
    let all = found("--no-index");
    assert!(found("--trust-index") == all);
    world.index(&[]);
    assert!(found("--trust-index") == all);
}

#[test]
fn an_interrupted_run_commits_what_is_done() {
    for name in ["INT", "TERM"] {
        let world = World::new();
        world.write("first.txt", "otter");
        world.index_docs();
        // Enough files that the run cannot end before the signal.
        for number in 0..300 {
            world.write(
                format!("{number}.mbox"),
                mbox(&vec!["stoat".to_owned(); 100]),
            );
        }
        let run = world.spawn(["index", "--threads", "1"]);
        wait_until_it_writes(&world);
        signal(run.id(), name);
        let run = Run::of_child(run);
        assert_eq!(run.code, 130, "{name}: {}", run.err);
        assert!(
            run.err.contains(
                "ken: stopped; the work so far is committed, and ken index continues from here\n"
            ),
            "{}",
            run.err
        );
        let status = world.ken(["status", "--json"]).objects().remove(0);
        let done = status["files"].as_u64().unwrap();
        assert!((1..301).contains(&done), "{done} files");
        assert_eq!(
            world.found("otter"),
            ["first.txt"],
            "nothing is taken for gone"
        );
        // A file of which only parts were read has no document.
        let boxes = world.hits("type:archive ext:mbox").len();
        assert_eq!(world.hits("stoat").len(), boxes * 100);

        let rest = world.index(&[]);
        assert_eq!(rest["unchanged"], done);
        assert_eq!(world.hits("stoat").len(), 300 * 100);
    }
}

/// Waits until a run builds a segment.
fn wait_until_it_writes(world: &World) {
    let before = world.data_files().len();
    let deadline = Instant::now() + Duration::from_secs(60);
    while world.data_files().len() == before {
        assert!(Instant::now() < deadline, "the run writes nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
}
