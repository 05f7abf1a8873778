//! An updater whose process is killed in a batch.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;

/// The folder of the child process that [`a_killed_updater_leaves_the_old_or_the_new_state`] kills.
const FOLDER: &str = "KEN_TEST_UPDATER";
/// The files that each batch of the child changes.
const N_FILES: usize = 40;

/// Writes versions of all files, each in one batch, for ever. Says which one is done.
#[test]
fn child_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let options = UpdaterOptions {
        batching: Batching::AT_ONCE,
        ..UpdaterOptions::new(options(&folder.join("data"), 64 << 20))
    };
    let updater = Updater::start(options, |_| ());
    for version in 1.. {
        let changes = write_version(&folder, version);
        let ticket = updater.submit(changes);
        updater.wait(ticket, Instant::now() + LONG).unwrap();
        println!("\ndone {version}");
    }
}

fn write_version(folder: &Path, version: u32) -> Vec<PathChange> {
    let write = |number| {
        let path = folder.join(format!("docs/{number}.txt"));
        fs_err::write(&path, format!("version {version} ")).unwrap();
        PathChange::Touched(path)
    };
    (0..N_FILES).map(write).collect()
}

/// Runs the child until it has done some versions and a while longer, and kills it. Returns the last version that it said
/// was done.
fn killed(folder: &Path, n_versions: u32, delay: Duration) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "updater::tests::killed::child_that_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut done = lines.filter_map(|line| line.unwrap().strip_prefix("done ")?.parse().ok());
    let seen = done.by_ref().take(n_versions as usize).last();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    done.last().or(seen).unwrap()
}

#[test]
fn a_killed_updater_leaves_the_old_or_the_new_state() {
    for round in 0..6 {
        let world = World::new(Batching::AT_ONCE, LONG);
        // A batch takes some tens of milliseconds.
        let done = killed(
            world.folder.path(),
            1 + round % 3,
            Duration::from_millis(30 * u64::from(round)),
        );
        let texts = world.texts("data");
        assert_eq!(texts.len(), N_FILES);
        let mut versions: Vec<&str> = texts.values().map(|text| text.trim()).collect();
        versions.dedup();
        let allowed = [done, done + 1].map(|version| format!("version {version}"));
        assert!(
            versions.len() == 1 && allowed.iter().any(|of| of == versions[0]),
            "{versions:?} after {done}"
        );
        let changes = write_version(world.folder.path(), u32::MAX);
        world.settle(world.updater.submit(changes));
        world.check("fresh");
    }
}
