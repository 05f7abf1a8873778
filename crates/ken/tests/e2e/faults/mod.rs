//! A kill, or a loss of power, at each step that a program takes on the disk.
//!
//! All changes of the data folder are recorded from outside. The test recreates the state after each of them:
//! all of it, as after a kill, or less, as after a loss of power. From there the next run must end with the
//! answers of a fresh index. Until then all files of the index are whole, no document is there twice, and
//! `ken grep` prints what a scan prints.
//!
//! `KEN_TEST_STATES` sets how many of these states are tried, and `KEN_TEST_SEED` which ones.

mod circumstances;
mod disk;
mod passing;
mod resources;
mod trace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::crash::{Tree, documents, number};
use crate::needs;
use disk::{Disk, LOSSES, Loss};
pub(crate) use resources::may_mount;
use trace::Step;

/// The number of states that are tried if the variable is not set.
const STATES: u64 = 40;
const FILES: usize = 40;
/// The number of commits: many, so that there are segments to merge.
const INDEX: [&str; 5] = ["index", "--commit-bytes=3k", "--threads=2", "-q", "docs"];

/// Ends a thread when this is dropped, also when a test fails, which would otherwise wait for the thread for ever.
struct Ending<'e>(&'e AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Harness {
    tree: Tree,
    seed: u64,
    /// The answers of a fresh index, by the log of tags next to it.
    fresh: HashMap<Vec<u8>, Vec<Value>>,
}

impl Harness {
    fn new() -> Self {
        let seed = number("KEN_TEST_SEED", 1);
        Self {
            tree: Tree::new(seed, FILES),
            seed,
            fresh: HashMap::new(),
        }
    }

    fn data(&self) -> PathBuf {
        self.tree.world.home().join("data")
    }

    fn log(&self) -> Vec<u8> {
        fs_err::read(self.data().join("tags")).unwrap_or_default()
    }

    /// Runs a command, then tries this many of the states that it went through, and restores the last one.
    fn try_states(&mut self, args: &[&str], states: u64) {
        let world = &self.tree.world;
        let data = self.data();
        let mut disk = Disk::of(&data);
        let was_there = data.join("index/meta.json").exists();
        let command = world.command(["--data", "data"].iter().chain(args));
        let (output, steps) = trace::run(&command, &data);
        assert!(output.status.success(), "{output:?}");
        println!("{args:?}: {} steps", steps.len());
        self.fresh.clear();
        let promised = self.log();

        let mut chosen: Vec<usize> = (0..states)
            .map(|_| self.tree.random.usize(..steps.len()))
            .collect();
        chosen.sort_unstable();
        for (number, step) in steps.iter().enumerate() {
            while chosen.first() == Some(&number) {
                chosen.remove(0);
                self.try_one(&disk, &steps[..number], args, was_there);
            }
            disk.take(step);
        }
        for loss in LOSSES {
            disk.write(loss, &mut self.tree.random);
            assert_eq!(
                self.log(),
                promised,
                "{args:?} ended, then {loss:?} was lost"
            );
            self.assert_converges(
                &format!("{args:?} ended, then {loss:?} was lost"),
                was_there,
            );
        }
        disk.write(Loss::None, &mut self.tree.random);
    }

    fn try_one(&mut self, disk: &Disk, before: &[Step], args: &[&str], was_there: bool) {
        let loss = LOSSES[self.tree.random.usize(..LOSSES.len())];
        disk.write(loss, &mut self.tree.random);
        let n_steps = before.len();
        let fault = format!(
            "KEN_TEST_SEED={}: {args:?}, {loss:?} lost after step {n_steps}, {:?}",
            self.seed,
            before.last()
        );
        let fault: String = fault.chars().take(500).collect();
        self.assert_readable(&fault, was_there);
        self.assert_converges(&fault, was_there);
    }

    /// Asserts that there is a whole index with each document once, or no index if there was none before.
    fn assert_readable(&self, fault: &str, was_there: bool) {
        let world = &self.tree.world;
        let check = world.ken(["--data", "data", "check", "--json"]);
        if check.code == 2 {
            let is_missing = check.err.contains("there is no index");
            assert!(is_missing && !was_there, "{fault}: {}", check.err);
        } else {
            let summary = check.objects().pop().unwrap();
            assert_eq!(summary["index"]["damaged"], 0, "{fault}: {}", check.text());
            assert_eq!(summary["doubled"], 0, "{fault}");
            let search = world.ken(["--data", "data", "search", "otter"]);
            assert!(search.code < 2, "{fault}: {}", search.err);
        }
        self.assert_grep_is_exact(&[], fault);
    }

    fn assert_grep_is_exact(&self, how: &[&str], fault: &str) {
        let grep = |how: &[&str]| {
            let args = [
                "--data",
                "data",
                "grep",
                "-c",
                "--sort=path",
                "heron crane",
                "docs",
            ];
            let run = self.tree.world.ken(args.iter().chain(how));
            assert!(run.code < 2, "{fault}: {}", run.err);
            run.out
        };
        assert!(
            grep(how) == grep(&["--no-index"]),
            "{fault}: grep {how:?} misses lines"
        );
    }

    /// Asserts that the next run ends with the answers of a fresh index.
    fn assert_converges(&mut self, fault: &str, knows_roots: bool) {
        let index = |data: &str, knows_roots: bool| {
            // An index that existed knows its roots by itself.
            let n_args = INDEX.len() - usize::from(knows_roots);
            let args = ["--data", data].into_iter().chain(INDEX).take(2 + n_args);
            let run = self.tree.world.ken(args);
            assert_eq!(run.code, 0, "{fault}: {}", run.err);
        };
        index("data", knows_roots);
        let log = self.log();
        let expected = self.fresh.entry(log).or_insert_with_key(|log| {
            let fresh = self.tree.world.home().join("fresh");
            let _ = fs_err::remove_dir_all(&fresh);
            fs_err::create_dir(&fresh).unwrap();
            fs_err::write(fresh.join("tags"), log).unwrap();
            index("fresh", false);
            documents(&self.tree.world, "fresh")
        });
        let found = documents(&self.tree.world, "data");
        for (found, expected) in found.iter().zip(expected.iter()) {
            assert_eq!(found, expected, "{fault}");
        }
        assert_eq!(found.len(), expected.len(), "{fault}");
        self.assert_grep_is_exact(&["--trust-index"], fault);
    }
}

#[test]
fn every_step_may_be_the_last() {
    if !needs::met("ptrace", trace::is_possible()) {
        return;
    }
    let states = number("KEN_TEST_STATES", STATES);
    let mut harness = Harness::new();
    harness.try_states(&INDEX, states * 3 / 8);
    harness.try_states(&["mail", "tag", "+wet", "otter"], states / 8);
    harness.tree.edit();
    // Documents wait between threads, and are committed later than the deletion of the documents that they replace.
    let apart = [
        "--extract-threads=2",
        "--index-threads=2",
        "--commit-bytes=3k",
        "-q",
    ];
    harness.try_states(&[&["index", "docs"][..], &apart].concat(), states / 4);
    while harness.tree.names.len() > FILES / 8 {
        let name = harness.tree.names.pop().unwrap();
        harness.tree.world.remove(&name);
    }
    harness.try_states(&INDEX, states / 8);
    harness.try_states(&["index", "--full", "-q"], states / 8);
}
